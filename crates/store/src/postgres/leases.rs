//! The open leases, as the writer remembers them.
//!
//! The database knows every assignment, but not which of its leases have ended: that follows from the
//! jobs (a lease has ended if its job is no longer live, or remembers this fence or a later one).
//! The leader is the only one who writes, so it keeps the answer at hand: ending an attempt needs no
//! lookup, and an assignment's row is written once and deleted once, never updated. What a batch does here is taken back
//! if the batch is not committed.

use std::collections::HashMap;

use ganger_core::change::Assignment;
use ganger_core::{Fence, JobId, SessionId};

/// Leases that have not ended.
#[derive(Debug, Default)]
pub(super) struct Leases {
    by_job: HashMap<JobId, OpenLease>,
    /// Per assignment its session and how many of its leases are open.
    assignments: HashMap<Fence, (SessionId, usize)>,
    /// Open leases per session.
    sessions: HashMap<SessionId, usize>,
    /// What the batch under way did, oldest first.
    done: Vec<Done>,
}

/// One lease that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLease {
    /// The assignment it belongs to.
    pub(super) assignment: Fence,
    /// Its own fence.
    pub(super) fence: Fence,
    session: SessionId,
}

#[derive(Debug)]
enum Done {
    Opened(JobId),
    Closed(JobId, OpenLease),
}

impl Leases {
    /// Works them out from the assignments and the last fences of the jobs that are live.
    pub(super) fn of(assignments: &[Assignment], last: &HashMap<JobId, Option<Fence>>) -> Leases {
        let mut leases = Leases::default();
        for assignment in assignments {
            for (fence, lease) in assignment.fenced() {
                if last.get(&lease.job).is_some_and(|last| last.is_none_or(|last| last < fence)) {
                    leases.open(assignment, lease.job, fence);
                }
            }
        }
        leases.keep();
        leases
    }

    /// The open lease of a job.
    pub(super) fn of_job(&self, job: JobId) -> Option<OpenLease> {
        self.by_job.get(&job).copied()
    }

    /// Whether an assignment has open leases.
    pub(super) fn has_assignment(&self, first: Fence) -> bool {
        self.assignments.contains_key(&first)
    }

    /// An open lease of a session, if it has one.
    pub(super) fn of_session(&self, session: SessionId) -> Option<Fence> {
        self.sessions.get(&session)?;
        self.by_job.values().filter(|lease| lease.session == session).map(|lease| lease.fence).min()
    }

    /// A lease begins.
    pub(super) fn open(&mut self, assignment: &Assignment, job: JobId, fence: Fence) {
        let session = assignment.session;
        self.insert(job, OpenLease { assignment: assignment.first, fence, session });
        self.done.push(Done::Opened(job));
    }

    /// The lease of a job ends. Returns its assignment if that was the last one of it.
    pub(super) fn close(&mut self, job: JobId) -> Option<Fence> {
        let (lease, over) = self.remove(job)?;
        self.done.push(Done::Closed(job, lease));
        over.then_some(lease.assignment)
    }

    /// The batch under way was committed.
    pub(super) fn keep(&mut self) {
        self.done.clear();
    }

    /// The batch under way never was.
    pub(super) fn roll_back(&mut self) {
        while let Some(done) = self.done.pop() {
            match done {
                Done::Opened(job) => drop(self.remove(job)),
                Done::Closed(job, lease) => self.insert(job, lease),
            }
        }
    }

    fn insert(&mut self, job: JobId, lease: OpenLease) {
        self.by_job.insert(job, lease);
        self.assignments.entry(lease.assignment).or_insert((lease.session, 0)).1 += 1;
        *self.sessions.entry(lease.session).or_default() += 1;
    }

    /// The lease, and whether it was the last one of its assignment.
    fn remove(&mut self, job: JobId) -> Option<(OpenLease, bool)> {
        let lease = self.by_job.remove(&job)?;
        if let Some(count) = self.sessions.get_mut(&lease.session) {
            *count -= 1;
            if *count == 0 {
                self.sessions.remove(&lease.session);
            }
        }
        let (_, left) = self.assignments.get_mut(&lease.assignment)?;
        *left -= 1;
        let over = *left == 0;
        if over {
            self.assignments.remove(&lease.assignment);
        }
        Some((lease, over))
    }
}
