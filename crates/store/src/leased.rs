//! Leases as the assignments of a store name them, for readers.

use std::collections::HashMap;

use ganger_core::change::Assignment;
use ganger_core::{Fence, JobId};

use crate::read::LeaseView;

/// The latest lease per job. Whether it has ended, the job's row tells.
#[derive(Default)]
pub(crate) struct Leased(HashMap<JobId, (Fence, LeaseView)>);

impl Leased {
    /// Takes in the leases of an assignment, of those jobs that are wanted.
    pub(crate) fn add(&mut self, assignment: &Assignment, wanted: impl Fn(JobId) -> bool) {
        for (fence, lease) in assignment.fenced().filter(|(_, lease)| wanted(lease.job)) {
            let view = LeaseView {
                session: assignment.session,
                attempt: lease.attempt,
                threads: lease.threads,
                at: assignment.at,
            };
            let known = self.0.entry(lease.job).or_insert((fence, view));
            if known.0 < fence {
                *known = (fence, view);
            }
        }
    }

    /// Jobs that have, or had, one of these leases.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.0.keys().copied()
    }

    /// The open lease of a live job that last ended one under this fence.
    pub(crate) fn of(&self, job: JobId, last: Option<Fence>) -> Option<LeaseView> {
        let (fence, view) = self.0.get(&job)?;
        last.is_none_or(|last| last < *fence).then_some(*view)
    }
}
