//! Real workers: those of the SDK, with threads, and handlers that take their time.

use std::time::Duration;

use ganger_worker::{Ctx, Job, JobError, Worker, WorkerHandle};

use super::tally::{Tally, Timed};
use super::{LEAVING, Orders, TIMED};
use crate::clock::Stopwatch;
use crate::failure::Fallible;
use crate::local_worker::{stop_all, worker_failure};

const JOB: Job<Timed, ()> = Job::new(TIMED);

/// Workers that are connected.
pub(super) struct Hands(Vec<WorkerHandle>);

/// Connects them all.
pub(super) async fn connect(orders: &Orders, tally: &Tally) -> Fallible<Hands> {
    let mut hands = Vec::new();
    for nth in 0..orders.workers {
        let tally = tally.clone();
        let worker = Worker::connect(&orders.url)
            .name(format!("bench-{nth}"))
            .threads(orders.threads)
            .queues(orders.queues.iter().cloned())
            .handle(&JOB, move |ctx, job| run(ctx, job, tally.clone()));
        hands.push(worker.start().await.map_err(|error| worker_failure(&error))?);
    }
    for worker in &hands {
        worker.opened().await.map_err(|error| worker_failure(&error))?;
    }
    Ok(Hands(hands))
}

impl Hands {
    /// Finishes what they hold, and leaves.
    pub(super) async fn leave(self) -> Fallible<()> {
        stop_all(&self.0, LEAVING).await.map(drop)
    }
}

async fn run(ctx: Ctx, job: Timed, tally: Tally) -> Result<(), JobError> {
    tally.started(Some(job));
    let watch = Stopwatch::start();
    if job.ms > 0 {
        ctx.unless_cancelled(tokio::time::sleep(Duration::from_millis(job.ms.into()))).await?;
    }
    tally.ran(watch.elapsed().as_micros() as u64, ctx.threads());
    Ok(())
}
