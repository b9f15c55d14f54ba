//! What transactions of users do: submit jobs, and end the job they work on.

use ganger_core::change::{Applied, AttemptRecord, End, Submission};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;
use ganger_core::sabotage::{self, Bug};
use ganger_core::{Fence, JobId, Wall};

use super::state::MemoryState;
use crate::shared::InboxRow;

/// What came of ending a job from within its handler's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a lost lease means that the whole transaction must be rolled back"]
pub enum Completed {
    /// The job has succeeded.
    Ended,
    /// The job has no open transactional lease of that fence; nothing was changed.
    LeaseLost,
}

impl MemoryState {
    /// A user's transaction submits a job, and commits. Returns the number of its row.
    pub fn enqueue(&mut self, job: JobId, request: String) -> i64 {
        self.roll_back();
        self.last_row += 1;
        let row = self.last_row;
        self.inbox.put(row, InboxRow { row, job, request });
        self.keep();
        row
    }

    /// The oldest rows of the inbox.
    #[must_use]
    pub fn inbox(&self, limit: usize) -> Vec<InboxRow> {
        self.inbox.values().take(limit).cloned().collect()
    }

    /// A handler ends its job with a result, in a transaction of its own that commits at this moment.
    pub fn complete(&mut self, job: JobId, fence: Fence, result: &str, at: Wall) -> Completed {
        self.roll_back();
        let completed = self.try_complete(job, fence, result, at);
        match completed {
            Some(()) => self.keep(),
            None => self.roll_back(),
        }
        completed.map_or(Completed::LeaseLost, |()| Completed::Ended)
    }

    fn try_complete(&mut self, job: JobId, fence: Fence, result: &str, at: Wall) -> Option<()> {
        let open = *self.leases.get(&job)?;
        if open.fence != fence && !sabotage::active(Bug::CompleteByJobId) {
            return None;
        }
        let assignment = self.assignments.get(&open.assignment)?;
        let (session, leased_at) = (assignment.session, assignment.at);
        let (_, lease) = assignment.fenced().find(|(given, _)| *given == open.fence)?;
        if !lease.transactional {
            return None;
        }
        let worker = self.sessions.get(&session)?.as_ref()?.worker.name.clone();
        let live = self.live.get(&job)?;
        let (before, queue) = (live.job.standing, live.job.queue.clone());
        let number = before.attempt + 1;
        let record = AttemptRecord {
            number,
            outcome: Outcome::Ok,
            error: None,
            worker,
            session,
            threads: lease.threads,
            leased_at,
            started_at: leased_at,
            ended_at: at,
            fence,
        };
        let keep = self.queues.get(&queue).copied().unwrap_or_default().retention.keeps_finished();
        let end = End { state: State::Succeeded, at, result: Some(result.to_owned()), reason: None, keep };
        self.end_lease(job, open.assignment);
        self.live.change(&job, |live| live.job.last_fence = Some(fence));
        self.attempts.put((job, number), record);
        let standing = Standing { attempt: number, burnt: before.burnt + 1, lost: 0 };
        self.make_final(job, Some(standing), &end).ok()?;
        // The leader learns of it late, and the row may not be kept so long.
        self.settle(job, State::Succeeded);
        self.elsewhere.put(job, ());
        Some(())
    }

    /// Takes the row of a submission out of the inbox, if it has one. Tells whether it was there.
    pub(super) fn leave_inbox(&mut self, submission: &Submission) -> bool {
        let Some(inbox) = &submission.inbox else { return true };
        let there = self.inbox.take(&inbox.row).is_some() || sabotage::active(Bug::InboxRowTwice);
        if !there {
            self.not_created.extend(submission.jobs.iter().map(|job| job.id));
        }
        there
    }

    /// The leader comes to end an attempt whose job its handler has ended.
    pub(super) fn ended_elsewhere(&mut self, job: JobId) -> Applied {
        self.elsewhere.take(&job);
        let found = self.finals.get(&job).map(|job| job.end.state);
        Applied::EndedElsewhere { state: found.unwrap_or(State::Succeeded), kept: found.is_some() }
    }
}
