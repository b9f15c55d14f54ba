//! The open leases, as the writer remembers them.
//!
//! The database knows every assignment, but not which of its leases have ended: that follows from the
//! jobs (a lease has ended if its job is no longer live, or remembers this fence or a later one).
//! The writer is the only one who writes, so it keeps the answer at hand: ending an attempt needs no
//! lookup, and an assignment's row is written once and deleted once, never updated.

use std::collections::HashMap;

use ganger_core::change::Assignment;
use ganger_core::{Fence, JobId, SessionId};
use rusqlite::{Connection, OptionalExtension};

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
}

/// One lease that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLease {
    /// The assignment it belongs to.
    pub(super) assignment: Fence,
    /// Its own fence.
    pub(super) fence: Fence,
}

impl Leases {
    /// Works them out from the database.
    pub(super) fn load(conn: &Connection) -> Result<Leases, Failure> {
        let mut leases = Leases::default();
        let mut assignments = conn.prepare_cached(sql::LOAD_ASSIGNMENTS)?;
        let mut last_fence = conn.prepare_cached(sql::LAST_FENCE)?;
        let mut rows = assignments.query([])?;
        while let Some(found) = rows.next()? {
            let assignment = row::assignment(found)?;
            for (fence, lease) in assignment.fenced() {
                let last: Option<Option<[u8; 24]>> =
                    last_fence.query_row([codec::job_key(lease.job)], |row| row.get(0)).optional()?;
                // The bytes of fences compare as fences do.
                if last.is_some_and(|last| last.is_none_or(|last| last < codec::fence_key(fence))) {
                    leases.open(&assignment, lease.job, fence);
                }
            }
        }
        Ok(leases)
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
        let held = |lease: &&OpenLease| {
            self.assignments.get(&lease.assignment).is_some_and(|(holder, _)| *holder == session)
        };
        self.by_job.values().filter(held).map(|lease| lease.fence).min()
    }

    /// A lease begins.
    pub(super) fn open(&mut self, assignment: &Assignment, job: JobId, fence: Fence) {
        self.by_job.insert(job, OpenLease { assignment: assignment.first, fence });
        self.assignments.entry(assignment.first).or_insert((assignment.session, 0)).1 += 1;
        *self.sessions.entry(assignment.session).or_default() += 1;
    }

    /// The lease of a job ends. Returns its assignment if that was the last one of it.
    pub(super) fn close(&mut self, job: JobId) -> Option<Fence> {
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
        if !over {
            return None;
        }
        self.assignments.remove(&lease.assignment);
        Some(lease.assignment)
    }
}
