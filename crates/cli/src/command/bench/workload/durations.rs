//! `durations`: how much of its threads a worker keeps busy with jobs that take 1, 10 and 100 ms.

use crate::command::bench::crew::{Crew, Orders, TIMED, Timed};
use crate::command::bench::door::Wanted;
use crate::command::bench::report::Measured;
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{drain, intake};
use crate::failure::Fallible;

/// How long a handler runs.
const RUNS: [u32; 3] = [1, 10, 100];
/// What the jobs of one length take together, if no thread ever waits.
const SECONDS: u64 = 5;

pub(super) async fn run(stage: &Stage<'_>) -> Fallible<Measured> {
    let mut measured = Measured::default();
    let threads = stage.sizes.threads;
    let mut crew = Crew::start(stage, &Orders::real(stage, 1, threads)).await?;
    for ms in RUNS {
        let usual = u64::from(threads) * SECONDS * 1_000 / u64::from(ms);
        let jobs = stage.sizes.jobs(usual).min(usual);
        let queue = format!("bench.duration.{ms}");
        stage.note(&format!("{jobs} jobs of {ms} ms on {threads} threads"));
        stage.pause(&queue, true).await?;
        let payload = Timed { at: 0, class: 0, ms }.payload();
        let wanted = Wanted { kind: TIMED, queue: queue.clone(), payload, ..Wanted::default() };
        let came = intake::fill(stage, 0..jobs, |_| wanted.clone()).await?;
        crew.take(stage).await?;
        let drained = drain::drain(stage, &queue, jobs, jobs).await?;
        let busy = crew.take(stage).await?.busy as f64 / 1e6;
        let efficiency = busy / (f64::from(threads) * drained.took.as_secs_f64()).max(1e-9);
        measured.notes.push(format!("jobs of {ms} ms: {:.1}% of the threads' time", efficiency * 100.0));
        let expected = Expected::once(came.ids.into_iter().map(|(_, id)| id));
        measured.looked_up(verify::all(stage, &queue, expected).await?);
        measured.rows.push(
            drained
                .row("duration", format!("jobs of {ms} ms, one worker of {threads} threads"))
                .param("run_ms", ms)
                .param("threads", threads)
                .value("efficiency", efficiency),
        );
    }
    crew.stop(stage).await?;
    measured.settings = Settings::default().with("threads", threads);
    Ok(measured)
}
