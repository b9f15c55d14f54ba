//! `recovery`: how long it takes after `kill -9` of the server until it is ready, and until the next job is with a worker.

use std::time::Duration;

use ganger_core::Wall;

use crate::client::Call;
use crate::clock::{self, Stopwatch};
use crate::command::bench::crew::{Crew, Orders, TIMED, Timed};
use crate::command::bench::door::Wanted;
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{drain, intake, wrong};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// How many jobs wait, unless the user says so.
const JOBS: u64 = 1_000_000;
/// Fewer could all be with the workers when the server is killed, and nothing would be left to hand out.
const LEAST: u64 = 5_000;
/// So many have ended when the server is killed: it is at work.
const ENDED: u64 = 50;
/// Looks in a row at which no job has started: nothing is on its way any more.
const SILENT: u32 = 5;
const QUEUE: &str = "bench.recovery";

pub(super) async fn run(stage: &mut Stage<'_>) -> Fallible<Measured> {
    let jobs = stage.sizes.jobs(JOBS).max(LEAST);
    let mut measured = Measured::default();
    stage.note(&format!("{jobs} jobs wait"));
    stage.pause(QUEUE, true).await?;
    let payload = Timed { at: 0, class: 0, ms: 0 }.payload();
    let wanted = Wanted { kind: TIMED, queue: QUEUE.into(), payload, ..Wanted::default() };
    let came = intake::fill(stage, 0..jobs, |_| wanted.clone()).await?;
    let mut crew = Crew::start(stage, &Orders::light(stage, 1, stage.sizes.threads, TIMED)).await?;
    stage.pause(QUEUE, false).await?;
    drain::until(stage, QUEUE, ENDED, "have ended", |counts| counts.succeeded).await?;
    stage.note("kill -9, and start it again");
    stage.kill().await;
    // What was on its way to the workers when it died is not what it does after.
    let mut silent = 0;
    while silent < SILENT {
        tokio::time::sleep(drain::LOOK).await;
        silent = if crew.take(stage).await?.started == 0 { silent + 1 } else { 0 };
    }
    let (restarted_at, restarted) = (clock::now(), Stopwatch::start());
    stage.restart().await?;
    let ready = ready(stage, restarted).await?;
    let first = first_start(stage, &mut crew, restarted_at).await?;
    let resident = stage.resident();
    stage.note("running the rest");
    drain::until(stage, QUEUE, jobs, "have ended", |counts| counts.succeeded).await?;
    crew.stop(stage).await?;
    let expected = Expected::once(came.ids.into_iter().map(|(_, id)| id));
    measured.looked_up(verify::all(stage, QUEUE, expected).await?);
    measured.notes.push(format!(
        "started again after kill -9 it is ready in {:.2}s, and the next job is with a worker in {:.2}s",
        ready.as_secs_f64(),
        first.as_secs_f64()
    ));
    let row = Row::new("recovery", format!("kill -9 with {jobs} jobs waiting"));
    measured.rows.push(
        row.param("waiting", jobs)
            .value("ready_seconds", ready.as_secs_f64())
            .value("dispatch_seconds", first.as_secs_f64())
            .value("resident_bytes", resident as f64),
    );
    measured.settings = Settings::default().with("jobs", jobs).with("threads", stage.sizes.threads);
    Ok(measured)
}

/// How long after its restart the server says that it is ready.
async fn ready(stage: &Stage<'_>, restarted: Stopwatch) -> Fallible<Duration> {
    let call = Call::get("ask whether it is ready", "/readyz").once();
    while !restarted.left_of(drain::STUCK).is_zero() {
        // A client that never reached it gives up at once.
        let client = stage.another_client()?;
        let asked = client.send_for_any(&call).await;
        if asked.is_ok_and(|answer| answer.is_success()) {
            return Ok(restarted.elapsed());
        }
        tokio::time::sleep(drain::LOOK).await;
    }
    Err(wrong(format!("the server is not ready {:?} after it was started again", drain::STUCK)))
}

/// How long after the restart a worker has its next job.
async fn first_start(stage: &Stage<'_>, crew: &mut Crew, restarted_at: Wall) -> Fallible<Duration> {
    let watch = Stopwatch::start();
    while !watch.left_of(drain::STUCK).is_zero() {
        let first = crew.take(stage).await?.first_start.filter(|first| Wall(*first) >= restarted_at);
        if let Some(started) = first {
            return Ok(Wall(started).since(restarted_at));
        }
        tokio::time::sleep(drain::LOOK).await;
    }
    let waited = clock::now().since(restarted_at);
    let fix = "use more --jobs: perhaps all of them were with the workers when it was killed";
    Err(Failure::new(
        Exit::Failure,
        "no job has started after the restart",
        format!("waited {waited:.0?}"),
        fix,
    ))
}
