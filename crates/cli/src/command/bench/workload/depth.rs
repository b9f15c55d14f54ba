//! `depth`: what jobs that wait cost those that run: rate, latency at half the load, and memory, with 10,000 to millions
//! waiting behind.

use std::time::Duration;

use ganger_core::JobId;

use super::steady::Steady;
use crate::command::bench::crew::{Crew, LATER, Orders, TIMED, Timed};
use crate::command::bench::door::Wanted;
use crate::command::bench::drain::{self, Drained, Drains};
use crate::command::bench::intake;
use crate::command::bench::open_loop::Offer;
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::failure::Fallible;
use crate::humane::grouped;

/// Jobs that are run from the front of those that wait, unless the user says so: enough for some seconds.
const JOBS: u64 = 200_000;
/// The load, as a part of the rate with the fewest waiting.
const LOAD: f64 = 0.5;
/// Both sorts of jobs are in one queue: those that wait are of a kind that the worker at hand does not run.
const QUEUE: &str = "bench.depth";

pub(super) async fn run(stage: &Stage<'_>) -> Fallible<Measured> {
    let jobs = stage.sizes.jobs(JOBS);
    let lasts = Duration::from_secs(stage.sizes.seconds);
    let mut measured = Measured::default();
    let mut ids: Vec<JobId> = Vec::new();
    let mut rates = Vec::new();
    for waiting in stage.sizes.waiting() {
        stage.note(&format!("{} jobs wait", grouped(waiting)));
        fill(stage, waiting / 2, &mut ids).await?;
        let half = stage.resident();
        fill(stage, waiting, &mut ids).await?;
        measured.rows.push(memory(stage, waiting, half));
        let mut drains = Drains::default();
        for _ in 0..stage.sizes.rounds_per_level() {
            fill(stage, waiting + jobs, &mut ids).await?;
            drains.push(from_the_front(stage, jobs, &mut measured).await?);
        }
        let row = drains.row("drain_at_depth", format!("drain, {} waiting behind", grouped(waiting)))?;
        rates.push(row.rate());
        let share = row.rate() / rates[0].max(1.0);
        measured.rows.push(row.param("waiting", waiting).value("share_of_first", share));
        let per_second = stage.sizes.rate.map_or(rates[0] * LOAD, |rate| rate as f64);
        let mut crew = Crew::start(stage, &Orders::light(stage, 1, stage.sizes.threads, TIMED)).await?;
        let steady = Steady::run(stage, &mut crew, QUEUE, Offer { per_second, lasts }).await?;
        crew.stop(stage).await?;
        ids.extend(&steady.ids);
        measured.notes.extend(steady.fell_behind(per_second));
        let label = format!("steady, {per_second:.0} jobs/s, {} waiting behind", grouped(waiting));
        let row = steady.row("steady_at_depth", label)?;
        measured.rows.push(row.param("waiting", waiting).param("offered_per_second", per_second.round()));
    }
    stage.note("looking up what has run");
    measured.looked_up(verify::ended(stage, QUEUE, Expected::once(ids)).await?);
    if let [first, .., last] = rates.as_slice() {
        let share = last / first.max(1.0) * 100.0;
        measured.notes.push(format!("with the most waiting: {share:.0}% of the rate with the fewest"));
    }
    measured.settings = Settings::default()
        .with("jobs", jobs)
        .with("rounds", stage.sizes.rounds_per_level())
        .with("waiting", stage.sizes.waiting())
        .with("seconds", stage.sizes.seconds)
        .with("threads", stage.sizes.threads);
    Ok(measured)
}

/// Enqueues as many as are missing until so many wait.
async fn fill(stage: &Stage<'_>, waiting: u64, ids: &mut Vec<JobId>) -> Fallible<()> {
    let there = drain::live(&stage.counts(QUEUE).await?);
    let payload = Timed { at: 0, class: 0, ms: 0 }.payload();
    let later = Wanted { kind: LATER, queue: QUEUE.into(), payload, ..Wanted::default() };
    let came = intake::fill(stage, there..waiting.max(there), |_| later.clone()).await?;
    ids.extend(came.ids.into_iter().map(|(_, id)| id));
    Ok(())
}

/// Runs so many of those that wait.
async fn from_the_front(stage: &Stage<'_>, jobs: u64, measured: &mut Measured) -> Fallible<Drained> {
    stage.pause(QUEUE, true).await?;
    let crew = Crew::start(stage, &Orders::light(stage, 1, stage.sizes.threads, LATER)).await?;
    let held = drain::live(&stage.counts(QUEUE).await?);
    let drained = drain::drain_from_rest(stage, QUEUE, held, jobs, measured).await?;
    stage.pause(QUEUE, true).await?;
    drain::until(stage, QUEUE, 1, "have come to rest", |counts| u64::from(counts.running == 0)).await?;
    crew.stop(stage).await?;
    stage.pause(QUEUE, false).await?;
    Ok(drained)
}

/// What each of the second half of them costs. The first ones also fill the cache of payloads, which is bounded.
fn memory(stage: &Stage<'_>, waiting: u64, half: u64) -> Row {
    let resident = stage.resident();
    let each = resident.saturating_sub(half) as f64 / (waiting - waiting / 2) as f64;
    Row::new("memory", format!("memory, {} waiting", grouped(waiting)))
        .param("waiting", waiting)
        .value("bytes_per_queued_job", each)
        .value("resident_bytes", resident as f64)
}
