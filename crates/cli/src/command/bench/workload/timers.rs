//! `timers`: how late jobs start that were told when to run: a million, spread evenly over a minute.

use std::time::Duration;

use ganger_core::Wall;

use super::round;
use crate::clock;
use crate::command::bench::crew::{Crew, Orders, TIMED, Timed};
use crate::command::bench::door::Wanted;
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{drain, intake, per_second};
use crate::failure::Fallible;

/// How many jobs, unless the user says so.
const JOBS: u64 = 1_000_000;
/// Over how long they are spread, at the rate of a million; fewer jobs come as often, over less time.
const OVER: Duration = Duration::from_secs(60);
/// At least so long.
const LEAST: Duration = Duration::from_secs(2);
/// Jobs that show how fast they are taken in.
const TRIAL: u64 = 10_000;
/// The first is due so much later than they are reckoned to be all there: twice as long, and this.
const MARGIN: Duration = Duration::from_secs(3);
const QUEUE: &str = "bench.timers";

pub(super) async fn run(stage: &Stage<'_>) -> Fallible<Measured> {
    let jobs = stage.sizes.jobs(JOBS);
    let over = Duration::from_secs_f64(OVER.as_secs_f64() * jobs as f64 / JOBS as f64).max(LEAST);
    let mut measured = Measured::default();
    let mut crew = Crew::start(stage, &Orders::light(stage, 1, stage.sizes.threads, TIMED)).await?;
    let trial = jobs.min(TRIAL);
    let tried =
        intake::fill(stage, 0..trial, |_| job("bench.timers.trial", clock::now() + OVER * 60)).await?;
    let reckoned = Duration::from_secs_f64(jobs as f64 / per_second(trial, tried.took)) * 2 + MARGIN;
    let first = clock::now() + reckoned;
    let due = |nth: u64| first + Duration::from_secs_f64(over.as_secs_f64() * nth as f64 / jobs as f64);
    stage.note(&format!("enqueueing {jobs} jobs that are due over {over:?}, from {reckoned:.0?} on"));
    let before = stage.spent().await?;
    let came = intake::fill(stage, 0..jobs, |nth| job(QUEUE, due(nth))).await?;
    let spent = stage.since(&before).await?;
    measured.rows.push(round::bulk(&came, &spent));
    if clock::now() > first {
        measured.notes.push("the intake took longer than reckoned: the first jobs were due before".into());
    }
    tokio::time::sleep(first.since(clock::now())).await;
    stage.note("running them");
    let before = stage.spent().await?;
    drain::until(stage, QUEUE, jobs, "have ended", |counts| counts.succeeded).await?;
    let took = clock::now().since(first);
    let spent = stage.since(&before).await?;
    let taken = crew.take(stage).await?;
    crew.stop(stage).await?;
    let ids = came.ids.into_iter().map(|(_, id)| id);
    measured.looked_up(verify::all(stage, QUEUE, Expected::once(ids)).await?);
    let late = taken.starts(None)?;
    measured.notes.push(format!(
        "late: {:.2} ms at p50, {:.2} ms at p99",
        late.value_at_quantile(0.5) as f64 / 1e3,
        late.value_at_quantile(0.99) as f64 / 1e3
    ));
    let due_per_second = jobs as f64 / over.as_secs_f64();
    let row = Row::new("timers", format!("due over {over:.0?}, one light worker"))
        .ran(jobs, took)
        .spent(&spent)
        .times("late", &late)
        .param("over_seconds", over.as_secs_f64())
        .value("due_per_second", due_per_second);
    measured.rows.push(row);
    measured.settings = Settings::default().with("jobs", jobs).with("threads", stage.sizes.threads);
    Ok(measured)
}

fn job(queue: &str, at: Wall) -> Wanted {
    let payload = Timed { at: at.0, class: 0, ms: 0 }.payload();
    Wanted { kind: TIMED, queue: queue.into(), payload, run_at: Some(at), ..Wanted::default() }
}
