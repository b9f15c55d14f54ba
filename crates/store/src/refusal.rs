//! The texts of refused batches. Each is a contradiction between what the leader believes and what is
//! stored: a bug, so it is loud, and the same in every store.

use ganger_core::job::State;
use ganger_core::name::ScheduleName;
use ganger_core::{Fence, JobId, SessionId};

use crate::store::StoreError;

pub(crate) fn not_live(operation: &str, job: JobId) -> StoreError {
    StoreError::Failed(format!("cannot {operation} {job}: it is not live"))
}

pub(crate) fn leased(operation: &str, job: JobId, fence: Fence) -> StoreError {
    StoreError::Failed(format!("cannot {operation} {job}: it is leased under {fence}"))
}

pub(crate) fn not_the_lease(job: JobId, fence: Fence) -> StoreError {
    StoreError::Failed(format!("cannot end an attempt of {job}: {fence} is not its open lease"))
}

pub(crate) fn fence_not_later(job: JobId, fence: Fence) -> StoreError {
    StoreError::Failed(format!("cannot assign {job}: it has ended a lease later than {fence}"))
}

pub(crate) fn assignment_known(first: Fence) -> StoreError {
    StoreError::Failed(format!("cannot assign under {first}: it is empty, or was given before"))
}

pub(crate) fn session_not_open(session: SessionId) -> StoreError {
    StoreError::Failed(format!("cannot assign to {session}: the session is not open"))
}

pub(crate) fn closed_with_lease(session: SessionId, fence: Fence) -> StoreError {
    StoreError::Failed(format!("cannot close {session}: its lease {fence} has not ended"))
}

pub(crate) fn schedule_name_taken(name: &ScheduleName) -> StoreError {
    StoreError::Failed(format!("cannot keep schedule `{name}`: another has that name"))
}

pub(crate) fn id_taken(job: JobId) -> StoreError {
    StoreError::Failed(format!("cannot submit {job}: there is a job of that id"))
}

pub(crate) fn number(number: u64, last: u64) -> StoreError {
    StoreError::Failed(format!("batch {number} cannot follow batch {last}"))
}

pub(crate) fn not_final(job: JobId, state: State) -> StoreError {
    StoreError::Failed(format!("cannot end {job}: {} is not a final state", state.as_str()))
}
