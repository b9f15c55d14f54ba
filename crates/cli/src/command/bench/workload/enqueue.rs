//! `enqueue`: how fast jobs are taken in, so many per request, through either door.

use std::time::Duration;

use ganger_store::redis::ingest::BUFFER_JOBS;

use crate::command::bench::door::{Door, Wanted};
use crate::command::bench::intake::{self, Way};
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{ceiling, drain, per_second};
use crate::failure::Fallible;

/// Jobs per request, and how many times as many jobs as one by one.
const SIZES: [(u64, u64); 4] = [(1, 1), (10, 5), (100, 10), (1_000, 20)];
/// However slow the disk, no size takes longer than this.
const BOUND: Duration = Duration::from_secs(15);

pub(super) async fn run(stage: &mut Stage<'_>) -> Fallible<Measured> {
    stage.hire().await?;
    let (single, connections) = (stage.sizes.single, stage.sizes.connections);
    let largest = single * SIZES[SIZES.len() - 1].1;
    let ceiling = ceiling::measure(stage, largest, 1_000).await?;
    let mut measured = Measured::default();
    for door in [Door::Rest, Door::Grpc] {
        for (per_request, times) in SIZES {
            let way = Way { door, per_request, connections, buffered: false, bound: Some(BOUND) };
            let row = one(stage, way, single * times, &mut measured).await?;
            let share = row.rate() / ceiling.inserts_per_second.max(1.0);
            measured.rows.push(row.value("share_of_ceiling", share));
        }
    }
    if stage.target.buffers() {
        for door in [Door::Rest, Door::Grpc] {
            for (per_request, times) in [SIZES[0], SIZES[3]] {
                let way = Way { door, per_request, connections, buffered: true, bound: Some(BOUND) };
                // Into a buffer that is full jobs are taken in as durable, and it is drained more slowly than they come.
                let jobs = (single * times).min(BUFFER_JOBS as u64);
                let row = one(stage, way, jobs, &mut measured).await?;
                measured.rows.push(row);
            }
        }
    }
    let row = |door: Door, per_request: u64| {
        let mut rows = measured.rows.iter();
        let found =
            rows.find(|row| row.params["door"] == door.name() && row.params["per_request"] == per_request);
        found.map(Row::rate).unwrap_or_default()
    };
    measured.notes.push(format!(
        "over gRPC instead of REST: {:.2} times as many one by one, {:.2} times as many by the thousand",
        row(Door::Grpc, 1) / row(Door::Rest, 1).max(1.0),
        row(Door::Grpc, 1_000) / row(Door::Rest, 1_000).max(1.0),
    ));
    measured.settings = Settings::default().with("single", single).with("connections", connections);
    measured.ceiling = Some(ceiling);
    Ok(measured)
}

/// One size through one door, into a queue of its own; then they are run and looked up.
async fn one(stage: &Stage<'_>, way: Way, jobs: u64, measured: &mut Measured) -> Fallible<Row> {
    let Way { door, per_request, connections, buffered, .. } = way;
    let name = if buffered { "buffered" } else { "enqueue" };
    let queue = format!("bench.{name}.{}.{per_request}", door.name());
    let what = if buffered { ", buffered by Redis" } else { "" };
    stage.note(&format!("{jobs} jobs over {}, {per_request} per request{what}", door.label()));
    stage.pause(&queue, true).await?;
    let before = stage.spent().await?;
    let watch = crate::clock::Stopwatch::start();
    let came = intake::enqueue(stage, way, 0..jobs, |_| Wanted::noop(&queue)).await?;
    let jobs = came.jobs();
    let mut stored = came.took;
    if buffered {
        // What it cost is reckoned until all of them are in the store.
        drain::until(stage, &queue, jobs, "have come into the store", |counts| counts.queued).await?;
        stored = watch.elapsed();
    }
    let spent = stage.since(&before).await?;
    let label = format!("enqueue, {per_request} per request, {}{what}", door.label());
    let mut row = Row::new(name, label)
        .ran(jobs, came.took)
        .spent(&spent)
        .times("request", &came.requests)
        .param("door", door.name())
        .param("per_request", per_request)
        .param("connections", connections);
    if buffered {
        row = row.value("stored_per_second", per_second(jobs, stored));
    }
    drain::drain(stage, &queue, jobs, jobs).await?;
    let expected = Expected::once(came.ids.into_iter().map(|(_, id)| id));
    measured.looked_up(verify::all(stage, &queue, expected).await?);
    Ok(row)
}
