//! What a leader compares its memory with: pages of the live jobs as a store has them.

use super::{Assignment, Change, Lease, LiveJob};
use crate::dependency::Edge;
use crate::ids::JobId;
use crate::job::State;
use crate::lease::Term;
use crate::schedule::ledger::ScheduleChange;

/// Which live jobs a leader wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveQuery {
    /// Those after this one, in the order of their ids.
    pub after: Option<JobId>,
    /// At most so many.
    pub limit: usize,
    /// Jobs of which it wants to know whether they are live.
    pub sought: Vec<JobId>,
}

/// Live jobs, read in one snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LivePage {
    /// The term of that moment.
    pub term: Term,
    /// Number of the last batch that the snapshot holds.
    pub batch: u64,
    /// The jobs, by id.
    pub jobs: Vec<LiveJob>,
    /// Assignments that name one of the jobs. The lease may have ended, as in a [`super::Snapshot`].
    pub assignments: Vec<Assignment>,
    /// The edges of those that are blocked.
    pub edges: Vec<Edge>,
    /// Parents of those edges that are not settled, and that are not live: how they ended. `None` if nothing is known of
    /// them any more.
    pub ended: Vec<(JobId, Option<State>)>,
    /// Those of the jobs sought that are not live, and how they ended. `None` if they are not kept.
    pub gone: Vec<(JobId, Option<State>)>,
}

impl Change {
    /// The leases that it gives: none, unless it is an assignment.
    #[must_use]
    pub fn leases(&self) -> &[Lease] {
        if let Change::Assign(assignment) = self { &assignment.leases } else { &[] }
    }

    /// Names the jobs about which a store says something else once the change is written: those themselves, and those
    /// whose edges it settles.
    pub fn touches(&self, mut job: impl FnMut(JobId)) {
        match self {
            Change::Submit(submission) => submission.jobs.iter().for_each(|new| job(new.id)),
            Change::Assign(assignment) => assignment.leases.iter().for_each(|lease| job(lease.job)),
            Change::End(end) => job(end.job),
            Change::Finish(finish) => job(finish.job),
            Change::CancelWanted(id) | Change::RunNow(id, _) | Change::Settle(id, _) => job(*id),
            Change::Replay(replay) => job(replay.job),
            Change::Mark(mark) => job(mark.job),
            Change::Delete(jobs) => jobs.iter().copied().for_each(job),
            Change::Schedule(change) => match &**change {
                ScheduleChange::Fire(firing) => firing.jobs.iter().for_each(|new| job(new.id)),
                ScheduleChange::Put(..) | ScheduleChange::Delete(_) => {}
            },
            // Final jobs, which are in no memory.
            Change::PurgeDead { .. } | Change::Prune { .. } => {}
            Change::OpenSession(_)
            | Change::CloseSession(..)
            | Change::PutQueue(..)
            | Change::PutKind(..)
            | Change::CloseKey(_)
            | Change::Log(_)
            | Change::Failed(_)
            | Change::PutDocument(_) => {}
        }
    }
}
