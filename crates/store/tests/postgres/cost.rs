//! What a job costs the database.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ganger_core::change::Change;
use ganger_core::job::State;
use ganger_store::postgres::{CeilingOptions, ceiling};
use ganger_store::testing::{Durability, Postgres};

use crate::support::{Leader, NOW, connect, fresh, open, submission};

const PAYLOAD_BYTES: usize = 100;

fn payload() -> String {
    format!("\"{}\"", "x".repeat(PAYLOAD_BYTES - 2))
}

async fn wal(client: &tokio_postgres::Client) -> i64 {
    let position = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint";
    client.query_one(position, &[]).await.unwrap().get(0)
}

/// Taken in, leased and ended, in batches as a busy server makes them.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_a_hundred_bytes_costs_less_than_a_kilobyte_of_log_over_its_life() {
    const JOBS: usize = 20_000;
    const BATCH: usize = 250;
    // A cluster of its own: what others write would be counted too.
    let cluster = Postgres::start_with(Durability::None);
    let url = cluster.migrated_database().await;
    let store = open(&url).await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    client.batch_execute("CHECKPOINT").await.unwrap();
    let before = wal(&client).await;
    for _ in 0..JOBS / BATCH {
        let jobs = (0..BATCH).map(|_| leader.new_job(&payload())).collect();
        let ids = leader.submit_all(jobs).await;
        leader.run(&ids, State::Succeeded, NOW).await;
    }
    let per_job = (wal(&client).await - before) / i64::try_from(JOBS).unwrap();
    eprintln!("{per_job} bytes of log per job");
    assert!(per_job <= 1_024, "{per_job} bytes of log per job");
}
