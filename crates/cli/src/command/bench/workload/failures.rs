//! `failures`: how fast jobs are run of which one in ten fails at first and is tried again.

use crate::command::bench::door::Wanted;
use crate::command::bench::drain::Drained;
use crate::command::bench::report::Measured;
use crate::command::bench::sizes::{PAYLOAD_BYTES, Settings};
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{ceiling, drain, intake};
use crate::failure::Fallible;

/// How many jobs, unless the user says so.
const JOBS: u64 = 200_000;
/// One of so many fails.
const EVERY: u64 = 10;
const WELL: &str = "bench.failures.none";
const ILL: &str = "bench.failures.some";

pub(super) async fn run(stage: &mut Stage<'_>) -> Fallible<Measured> {
    stage.hire().await?;
    let jobs = stage.sizes.jobs(JOBS);
    let mut measured = Measured::default();
    stage.note(&format!("{jobs} jobs that succeed"));
    let well = all(stage, WELL, jobs, 0, &mut measured).await?;
    stage.note(&format!("{jobs} jobs of which one in {EVERY} fails at first"));
    let ill = all(stage, ILL, jobs, EVERY, &mut measured).await?;
    let ceiling = ceiling::measure(stage, jobs, well.jobs_per_commit()).await?;
    let of_ceiling = |drained: &Drained| drained.rate() / ceiling.jobs_per_second.max(1.0);
    let share = ill.rate() / well.rate().max(1.0);
    measured.notes.push(format!(
        "with one failure in {EVERY}: {:.0}% of the drain without, {:.0}% of the raw ceiling",
        share * 100.0,
        of_ceiling(&ill) * 100.0
    ));
    measured.rows = vec![
        well.row("drain", "drain, no failures").value("share_of_ceiling", of_ceiling(&well)),
        ill.row("failures", "drain, 10% fail once and are tried again after 100 ms")
            .param("failing", 1.0 / EVERY as f64)
            .value("share_of_ceiling", of_ceiling(&ill))
            .value("share_of_drain", share)
            .value("attempts_per_job", 1.0 + 1.0 / EVERY as f64),
    ];
    measured.ceiling = Some(ceiling);
    measured.settings = Settings::default().with("jobs", jobs).with("threads", stage.sizes.threads);
    Ok(measured)
}

/// Enqueues, runs and looks up jobs of which every so many fails once; none, if that is 0.
async fn all(
    stage: &Stage<'_>,
    queue: &str,
    jobs: u64,
    every: u64,
    measured: &mut Measured,
) -> Fallible<Drained> {
    let fails = |nth: u64| every > 0 && nth.is_multiple_of(every);
    stage.pause(queue, true).await?;
    let came =
        intake::fill(stage, 0..jobs, |nth| if fails(nth) { failing(queue) } else { Wanted::noop(queue) });
    let came = came.await?;
    let drained = drain::drain(stage, queue, jobs, jobs).await?;
    let expected = Expected::at(came.ids.into_iter().map(|(nth, id)| (id, 1 + u32::from(fails(nth)))));
    measured.looked_up(verify::all(stage, queue, expected).await?);
    Ok(drained)
}

fn failing(queue: &str) -> Wanted {
    let head = "{\"times\":1,\"message\":\"";
    let payload = format!("{head}{}\"}}", "x".repeat(PAYLOAD_BYTES - head.len() - 2));
    Wanted { kind: "fail", queue: queue.into(), payload, retried_soon: true, ..Wanted::default() }
}
