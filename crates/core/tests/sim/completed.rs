//! What must hold of what users' transactions do.

use ganger_core::change::{Applied, AttemptEnd, End, Intake};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId};

use crate::checker::{Checker, LeaseFate};
use crate::store::short;

impl Checker {
    /// A handler ended its job in its own transaction: it must have held the lease at that moment.
    pub(crate) fn completed(&mut self, job: JobId, fence: Fence, end: Option<End>) {
        let Some(record) = self.jobs.get_mut(&job) else {
            self.fail(format!("{} is completed, which is not there", short(job)));
            return;
        };
        let held = record.lease.take().map(|(held, _)| held);
        let Standing { attempt, burnt, .. } = record.standing;
        record.standing = Standing { attempt: attempt + 1, burnt: burnt + 1, lost: 0 };
        self.require(held == Some(fence), || {
            format!("P2: {} is completed under {fence}, held is {held:?}", short(job))
        });
        self.fates.insert(fence, LeaseFate::Over);
        self.elsewhere.insert(fence);
        self.completions.ended += 1;
        match end {
            Some(end) => {
                let own = end.state == State::Succeeded && end.result == Some(fence.to_string());
                self.require(own, || format!("P3: {} is completed under {fence} as {end:?}", short(job)));
                self.became_final(job, &end);
            }
            None => self.fail(format!("{} is completed but not final", short(job))),
        }
    }

    /// A handler was told that it had lost its lease. The kind may have been marked after it was given.
    pub(crate) fn lease_lost(&mut self, job: JobId, fence: Fence) {
        let held = self.jobs.get(&job).and_then(|record| record.lease).map(|(held, _)| held);
        let transactional = self.transactional.contains(&fence);
        self.completions.refused += u64::from(transactional);
        self.require(held != Some(fence) || !transactional, || {
            format!("{} holds its lease {fence}, but cannot complete", short(job))
        });
    }

    /// The leader comes to end an attempt whose job is gone: its handler must have ended it.
    pub(crate) fn ended_elsewhere(&mut self, end: &AttemptEnd, applied: &Applied) {
        let (job, fence) = (end.job, end.fence);
        let known = self.elsewhere.remove(&fence);
        self.require(known, || format!("{} is said to have ended elsewhere under {fence}", short(job)));
        let outcome = end.record.as_ref().map(|record| record.outcome);
        self.completions.otherwise += u64::from(outcome != Some(Outcome::Ok));
        let ended = self.jobs.get(&job).and_then(|record| record.end.as_ref()).map(|end| end.state);
        let told = Applied::EndedElsewhere { state: State::Succeeded, kept: true };
        self.require(ended == Some(State::Succeeded) && *applied == told, || {
            format!("{} ended elsewhere as {ended:?}, told is {applied:?}", short(job))
        });
    }

    /// A client's transaction has submitted a job.
    pub(crate) fn enqueued(&mut self, job: JobId) {
        self.enqueued.insert(job);
    }

    /// A row of the inbox is gone. Its job is there, or another one answers for it.
    pub(crate) fn left_the_inbox(&mut self, job: JobId, intake: Intake, dead: bool) {
        let waited = self.enqueued.remove(&job);
        self.require(waited, || format!("{} comes out of the inbox, but was not in it", short(job)));
        self.completions.taken_in += u64::from(intake == Intake::Created(job) && !dead);
        self.completions.taken_in_dead += u64::from(dead);
    }
}
