//! One round: jobs are enqueued, drained, and compared with the raw ceiling of the same moment.
//!
//! Machines have neighbours, and their speed changes within seconds. So the drain and the ceiling follow each other at
//! once, this is done several times, and the round in the middle is the one that is told.

use crate::command::bench::ceiling::{self, Ceiling};
use crate::command::bench::door::Wanted;
use crate::command::bench::drain::{self, Drained};
use crate::command::bench::intake::{self, Came};
use crate::command::bench::meter::Spent;
use crate::command::bench::report::{Row, Verified};
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::wrong;
use crate::failure::Fallible;

/// What a round measured.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) bulk: Row,
    pub(super) drain: Drained,
    pub(super) ceiling: Ceiling,
    pub(super) verified: Verified,
}

impl Round {
    /// Runs one, in a queue that has no jobs yet.
    pub(super) async fn run(stage: &Stage<'_>, queue: &str, jobs: u64) -> Fallible<Round> {
        stage.prepare(queue).await?;
        let before = stage.spent().await?;
        let came = intake::fill(stage, 0..jobs, |_| Wanted::noop(queue)).await?;
        let bulk = bulk(&came, &stage.since(&before).await?);
        stage.note("draining them");
        let drain = drain::drain(stage, queue, jobs, jobs).await?;
        let ceiling = ceiling::measure(stage, jobs, drain.jobs_per_commit()).await?;
        stage.note("looking every one of them up");
        let verified = if stage.sizes.keeps() {
            let expected = Expected::once(came.ids.into_iter().map(|(_, id)| id));
            Verified { jobs: verify::all(stage, queue, expected).await?, ..Verified::default() }
        } else {
            verify::counted(stage, queue, jobs).await?
        };
        Ok(Round { bulk, drain, ceiling, verified })
    }

    /// The drain as a part of the ceiling.
    pub(super) fn share(&self) -> f64 {
        self.drain.rate() / self.ceiling.jobs_per_second.max(1.0)
    }

    /// The one whose share is in the middle.
    pub(super) fn median(mut rounds: Vec<Round>) -> Fallible<Round> {
        rounds.sort_by(|one, other| one.share().total_cmp(&other.share()));
        let middle = rounds.len().saturating_sub(1) / 2;
        if middle < rounds.len() {
            Ok(rounds.swap_remove(middle))
        } else {
            Err(wrong("there was no round".into()))
        }
    }
}

/// How fast a queue was filled.
pub(super) fn bulk(came: &Came, spent: &Spent) -> Row {
    Row::new("bulk_enqueue", "bulk enqueue, batches of 1,000")
        .ran(came.jobs(), came.took)
        .spent(spent)
        .times("request", &came.requests)
}
