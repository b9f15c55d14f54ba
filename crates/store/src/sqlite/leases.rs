//! The open leases, as the writer remembers them.
//!
//! The database knows every assignment, but not which of its leases have ended: that follows from the
//! jobs (a lease has ended if its job is no longer live, or remembers this fence or a later one).
//! The writer is the only one who writes, so it keeps the answer at hand: ending an attempt needs no
//! lookup, and an assignment's row is written once and deleted once, never updated.

use std::collections::HashMap;
use std::sync::Arc;

use ganger_core::change::Assignment;
use ganger_core::{Fence, JobId, SessionId};
use rusqlite::{Connection, Statement};

use super::error::Failure;
use super::{codec, row, sql};

/// Leases that have not ended.
#[derive(Debug, Default)]
pub(super) struct Leases {
    by_job: HashMap<JobId, OpenLease>,
    /// Per assignment its session and how many of its leases are open.
    assignments: HashMap<Fence, (SessionId, usize)>,
    /// Open leases per session.
    sessions: HashMap<SessionId, usize>,
    /// The sort of the job that was looked at last: the next is mostly of the same.
    last_sort: Option<Arc<Sort>>,
}

/// One lease that has not ended.
#[derive(Clone, Debug)]
pub(super) struct OpenLease {
    /// The assignment it belongs to.
    pub(super) assignment: Fence,
    /// Its own fence.
    pub(super) fence: Fence,
    /// What its job will be counted as.
    pub(super) sort: Arc<Sort>,
}

/// What never changes about a job and is needed when it ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) queue: String,
    pub(super) kind: String,
    /// Whether it has a unique key.
    pub(super) unique: bool,
}

/// A job that a lease is for.
pub(super) struct Leasable {
    /// The fence it last ended under.
    pub(super) last_fence: Option<[u8; 24]>,
    pub(super) sort: Arc<Sort>,
}

impl Leases {
    /// Works them out from the database.
    pub(super) fn load(conn: &Connection) -> Result<Leases, Failure> {
        let mut leases = Leases::default();
        let mut assignments = conn.prepare_cached(sql::LOAD_ASSIGNMENTS)?;
        let mut find = conn.prepare_cached(sql::FIND_LEASABLE)?;
        let mut rows = assignments.query([])?;
        while let Some(found) = rows.next()? {
            let assignment = row::assignment(found)?;
            for (fence, lease) in assignment.fenced() {
                let Some(job) = leases.find(&mut find, lease.job)? else { continue };
                // The bytes of fences compare as fences do.
                if job.last_fence.is_none_or(|last| last < codec::fence_key(fence)) {
                    leases.open(&assignment, lease.job, fence, job.sort);
                }
            }
        }
        Ok(leases)
    }

    /// Looks at a live job.
    pub(super) fn find(&mut self, find: &mut Statement<'_>, job: JobId) -> Result<Option<Leasable>, Failure> {
        let mut rows = find.query([codec::job_key(job)])?;
        let Some(found) = rows.next()? else { return Ok(None) };
        let (queue, kind) =
            (row::text(found, 1)?.unwrap_or_default(), row::text(found, 2)?.unwrap_or_default());
        let unique = found.get(3)?;
        let same = |sort: &&Arc<Sort>| sort.queue == queue && sort.kind == kind && sort.unique == unique;
        let sort = match self.last_sort.as_ref().filter(same) {
            Some(sort) => Arc::clone(sort),
            None => {
                let sort = Arc::new(Sort { queue: queue.to_owned(), kind: kind.to_owned(), unique });
                Arc::clone(self.last_sort.insert(sort))
            }
        };
        Ok(Some(Leasable { last_fence: found.get(0)?, sort }))
    }

    /// The open lease of a job.
    pub(super) fn of_job(&self, job: JobId) -> Option<&OpenLease> {
        self.by_job.get(&job)
    }

    /// Whether an assignment has open leases.
    pub(super) fn has_assignment(&self, first: Fence) -> bool {
        self.assignments.contains_key(&first)
    }

    /// An open lease of a session, if it has one.
    pub(super) fn of_session(&self, session: SessionId) -> Option<Fence> {
        self.sessions.get(&session)?;
        let held = |lease: &&OpenLease| {
            self.assignments.get(&lease.assignment).is_some_and(|(holder, _)| *holder == session)
        };
        self.by_job.values().filter(held).map(|lease| lease.fence).min()
    }

    /// A lease begins.
    pub(super) fn open(&mut self, assignment: &Assignment, job: JobId, fence: Fence, sort: Arc<Sort>) {
        self.by_job.insert(job, OpenLease { assignment: assignment.first, fence, sort });
        self.assignments.entry(assignment.first).or_insert((assignment.session, 0)).1 += 1;
        *self.sessions.entry(assignment.session).or_default() += 1;
    }

    /// The lease of a job ends. Returns it, and whether it was the last one of its assignment.
    pub(super) fn close(&mut self, job: JobId) -> Option<(OpenLease, bool)> {
        let lease = self.by_job.remove(&job)?;
        let (session, left) = self.assignments.get_mut(&lease.assignment)?;
        *left -= 1;
        let (session, over) = (*session, *left == 0);
        if let Some(count) = self.sessions.get_mut(&session) {
            *count -= 1;
            if *count == 0 {
                self.sessions.remove(&session);
            }
        }
        if over {
            self.assignments.remove(&lease.assignment);
        }
        Some((lease, over))
    }
}
