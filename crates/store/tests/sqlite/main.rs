//! What only a store on a disk must do: survive, refuse, be copied, run out of room.

#![cfg(feature = "sqlite")]

mod backup;
mod disk_full;
mod migrations;
mod opening;

use std::path::Path;
use std::sync::Arc;

use ganger_core::change::{Applied, Batch, Change, Intake, NewJob, Submission, Submitted};
use ganger_core::job::JobSpec;
use ganger_core::{JobId, Term, Wall};
use ganger_store::{CommitError, SqliteOptions, SqliteStore, Store};

const NOW: Wall = Wall(1_700_000_000_000_000);

fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, SqliteOptions::default()).unwrap()
}

/// Why a directory could not be opened.
fn refusal(dir: &Path) -> String {
    SqliteStore::open(dir, SqliteOptions::default()).unwrap_err().to_string()
}

fn job(number: u64, payload: String) -> NewJob {
    let mut spec = JobSpec::new("noop".parse().unwrap());
    spec.payload = payload;
    let id = JobId::new(NOW.unix_millis() + number, [1; 10]);
    NewJob { id, seq: number, created_at: NOW, due_at: NOW, spec }
}

/// Submits one job as the batch of that number.
async fn submit(store: &SqliteStore, term: Term, number: u64, payload: String) -> Result<JobId, CommitError> {
    let job = job(number, payload);
    let id = job.id;
    let changes = vec![Change::Submit(Submission { idempotency: None, jobs: vec![job], inbox: None })];
    let outcomes = store.commit(term, Arc::new(Batch::new(number, changes))).await?;
    assert_eq!(outcomes, [Applied::Submitted(Submitted::Accepted(vec![Intake::Created(id)]))]);
    Ok(id)
}

/// Ids of every job, newest first.
async fn ids(store: &SqliteStore) -> Vec<JobId> {
    ganger_store::conformance::dump(store, NOW).await.jobs.iter().map(|job| job.id).collect()
}
