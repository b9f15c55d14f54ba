//! `threads`: jobs of 1 to 16 threads, the wider the rarer: how well the threads are filled, and how long the widest wait.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use crate::clock::Stopwatch;
use crate::command::bench::crew::{Crew, Orders, TIMED, Timed};
use crate::command::bench::door::Wanted;
use crate::command::bench::open_loop::{self, Offer};
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{drain, intake, wrong};
use crate::failure::Fallible;

/// How wide jobs are. The nth is as frequent as 1/n: Zipf.
const WIDTHS: [u16; 5] = [1, 2, 4, 8, 16];
/// How many workers, and how wide each is: the widest job fills one.
const WORKERS: u64 = 4;
const THREADS: u16 = 16;
/// How long each job runs. Too long to be prefetched.
const RUN_MS: u32 = 25;
/// Jobs that wait at once.
const JOBS: u64 = 4_000;
/// The load of the open loop, as a part of all threads.
const LOAD: f64 = 0.7;
const PACKED: &str = "bench.threads.packed";
const OPEN: &str = "bench.threads.open";

pub(super) async fn run(stage: &Stage<'_>) -> Fallible<Measured> {
    let mut measured = Measured::default();
    let mut crew = Crew::start(stage, &Orders::real(stage, WORKERS, THREADS)).await?;
    packed(stage, &mut crew, &mut measured).await?;
    open(stage, &mut crew, &mut measured).await?;
    crew.stop(stage).await?;
    measured.settings =
        Settings::default().with("jobs", stage.sizes.jobs(JOBS)).with("seconds", stage.sizes.seconds);
    Ok(measured)
}

/// Everything waits already: how well are the threads filled?
async fn packed(stage: &Stage<'_>, crew: &mut Crew, measured: &mut Measured) -> Fallible<()> {
    let jobs = stage.sizes.jobs(JOBS).min(JOBS);
    let widths = widths(jobs);
    stage.note(&format!("{jobs} jobs of 1 to 16 threads for {WORKERS} workers of {THREADS}"));
    stage.pause(PACKED, true).await?;
    let came = intake::fill(stage, 0..jobs, |nth| job(PACKED, width(&widths, nth), 0)).await?;
    crew.take(stage).await?;
    let drained = drain::drain(stage, PACKED, jobs, jobs).await?;
    let busy = crew.take(stage).await?.busy as f64 / 1e6;
    let threads = f64::from(THREADS) * WORKERS as f64;
    let utilisation = busy / (threads * drained.took.as_secs_f64()).max(1e-9);
    let expected = Expected::once(came.ids.into_iter().map(|(_, id)| id));
    measured.looked_up(verify::all(stage, PACKED, expected).await?);
    measured.notes.push(format!("packed: {:.1}% of the threads' time is used", utilisation * 100.0));
    measured.rows.push(
        drained
            .row("packed", format!("1 to 16 threads each, {WORKERS} workers of {THREADS}"))
            .param("workers", WORKERS)
            .param("threads_each", THREADS)
            .value("utilisation", utilisation),
    );
    Ok(())
}

/// By a schedule, with threads to spare: how long does each width wait?
async fn open(stage: &Stage<'_>, crew: &mut Crew, measured: &mut Measured) -> Fallible<()> {
    let lasts = Duration::from_secs(stage.sizes.seconds);
    let busy = f64::from(RUN_MS) / 1e3 * mean_width();
    let per_second = LOAD * f64::from(THREADS) * WORKERS as f64 / busy;
    let widths = widths((per_second * lasts.as_secs_f64()) as u64 + 1);
    stage.note(&format!(
        "the same by a schedule, {per_second:.0} jobs/s: {:.0}% of the threads",
        LOAD * 100.0
    ));
    let sent =
        open_loop::offer(stage, Offer { per_second, lasts }, |nth, at| job(OPEN, width(&widths, nth), at.0))
            .await?;
    let (mut taken, watch) = (crew.take(stage).await?, Stopwatch::start());
    let jobs = sent.ids.len() as u64;
    while taken.started < jobs {
        if watch.left_of(drain::STUCK).is_zero() {
            return Err(wrong(format!("{} of {jobs} jobs of {OPEN} have started", taken.started)));
        }
        tokio::time::sleep(drain::LOOK).await;
        taken.add(crew.take(stage).await?);
    }
    drain::until(stage, OPEN, jobs, "have ended", |counts| counts.succeeded).await?;
    measured.looked_up(verify::all(stage, OPEN, Expected::once(sent.ids)).await?);
    for width in WIDTHS {
        let times = taken.starts(Some(width.into()))?;
        let mut row = Row::new("wait", format!("wait of jobs of {width} threads")).times("wait", &times);
        row.jobs = Some(times.len());
        measured.rows.push(row.param("width", width).param("load", LOAD));
    }
    Ok(())
}

fn job(queue: &str, width: u16, at: i64) -> Wanted {
    let payload = Timed { at, class: width.into(), ms: RUN_MS }.payload();
    Wanted { kind: TIMED, queue: queue.into(), payload, threads: width, ..Wanted::default() }
}

/// How often each width comes, of 1 in all.
fn parts() -> [f64; WIDTHS.len()] {
    let sum: f64 = (1..=WIDTHS.len()).map(|nth| 1.0 / nth as f64).sum();
    std::array::from_fn(|nth| 1.0 / (nth + 1) as f64 / sum)
}

fn mean_width() -> f64 {
    parts().iter().zip(WIDTHS).map(|(part, width)| part * f64::from(width)).sum()
}

/// So many widths, the same in every run.
fn widths(jobs: u64) -> Vec<u16> {
    let mut random = StdRng::seed_from_u64(8);
    let parts = parts();
    let mut pick = || {
        let mut left = random.random::<f64>();
        for (part, width) in parts.iter().zip(WIDTHS) {
            left -= part;
            if left < 0.0 {
                return width;
            }
        }
        WIDTHS[0]
    };
    (0..jobs).map(|_| pick()).collect()
}

fn width(widths: &[u16], nth: u64) -> u16 {
    usize::try_from(nth).ok().and_then(|nth| widths.get(nth)).copied().unwrap_or(WIDTHS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wider_a_job_the_rarer_it_is() {
        let widths = widths(10_000);
        let counts = WIDTHS.map(|width| widths.iter().filter(|w| **w == width).count());
        assert!(counts.is_sorted_by(|wide, narrow| wide > narrow), "{counts:?}");
        let mean = widths.iter().map(|w| f64::from(*w)).sum::<f64>() / 1e4;
        assert!((mean - mean_width()).abs() < 0.2, "{mean} and {}", mean_width());
    }
}
