//! One round: jobs are enqueued, drained, and compared with the raw ceiling of the same moment.
//!
//! Machines have neighbours, and their speed changes within seconds. So the drain and the ceiling follow each other at
//! once, this is done several times, and the round in the middle is the one that is told.

use super::ceiling::{self, Ceiling};
use super::meter::Meter;
use super::report::{Drain, Intake};
use super::{drain, intake, job, pause, wrong};
use crate::failure::Fallible;
use crate::output::Out;

/// What a round measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Enqueued in batches.
    pub(super) bulk: Intake,
    /// Run.
    pub(super) drain: Drain,
    /// What the database itself can do.
    pub(super) ceiling: Ceiling,
}

impl Round {
    /// Runs one, in a queue that has no jobs yet.
    pub(super) async fn run(meter: &Meter<'_>, queue: &str, jobs: u64, out: Out) -> Fallible<Round> {
        pause(meter.client, queue, true).await?;
        let (bulk, ids) = intake::bulk(meter, &job(queue), jobs).await?;
        out.note("draining them");
        let drain = drain::drain(meter, queue, jobs).await?;
        out.note(&format!("measuring the raw ceiling of {}", meter.target.database()));
        let directory = meter.processes.path();
        let ceiling = ceiling::measure(meter.target, directory, jobs, drain.jobs_per_commit()).await?;
        out.note("looking every one of them up");
        drain::verify(meter.client, queue, ids).await?;
        Ok(Round { bulk, drain, ceiling })
    }

    /// The drain as a part of the ceiling.
    pub(super) fn share(&self) -> f64 {
        self.drain.jobs_per_second / self.ceiling.jobs_per_second.max(1.0)
    }

    /// The one whose share is in the middle.
    pub(super) fn median(mut rounds: Vec<Round>) -> Fallible<Round> {
        rounds.sort_by(|one, other| one.share().total_cmp(&other.share()));
        let middle = rounds.len().saturating_sub(1) / 2;
        rounds.get(middle).copied().ok_or_else(|| wrong("there was no round".into()))
    }
}
