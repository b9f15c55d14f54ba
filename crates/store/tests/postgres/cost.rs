//! What a job costs the database.

use std::time::Duration;

use ganger_core::change::Change;
use ganger_core::job::State;
use ganger_store::postgres::{CeilingOptions, ceiling};
use ganger_store::testing::{Durability, Postgres};

use crate::support::{Leader, NOW, connect, fresh, open};

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

#[tokio::test(flavor = "multi_thread")]
async fn the_ceiling_moves_every_row_and_is_measured_in_an_empty_database() {
    let (_, url) = fresh().await;
    let started = tokio::time::Instant::now();
    let elapsed = || started.elapsed();
    let payload = payload();
    let options = CeilingOptions { jobs: 2_500, batch: 1_000, kind: "noop", queue: "q", payload: &payload };
    let found = ceiling(&url, &options, &elapsed).await.unwrap();
    assert_eq!((found.jobs, found.transactions.len()), (2_500, 3));
    assert!(found.took > Duration::ZERO && found.wal_bytes > 2_500 * 100);
    let client = connect(&url).await;
    let count = |table: &'static str| {
        let client = &client;
        async move {
            let count = format!("SELECT count(*) FROM ganger.{table}");
            client.query_one(&count, &[]).await.unwrap().get::<_, i64>(0)
        }
    };
    assert_eq!((count("job").await, count("job_history").await), (0, 2_500));
    assert!(ceiling(&url, &options, &elapsed).await.unwrap_err().to_string().contains("without jobs"));
}

/// Prints how fast a leader by hand drains beside the ceiling of the same database; for a release build.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a benchmark"]
async fn a_drain_beside_the_ceiling() {
    const JOBS: usize = 100_000;
    let payload = payload();
    let cluster = Postgres::start();
    for batch in [64, 256, 1_024] {
        let started = tokio::time::Instant::now();
        let options = CeilingOptions { jobs: JOBS, batch, kind: "noop", queue: "default", payload: &payload };
        let url = cluster.migrated_database().await;
        let found = ceiling(&url, &options, &|| started.elapsed()).await.unwrap();
        let raw = JOBS as f64 / found.took.as_secs_f64();
        let wal_per_job = found.wal_bytes / JOBS as u64;

        let url = cluster.migrated_database().await;
        let store = open(&url).await;
        let mut leader = Leader::begin(&store).await;
        let started = tokio::time::Instant::now();
        let mut ids = Vec::new();
        for _ in 0..JOBS / 1_000 {
            let jobs = (0..1_000).map(|_| leader.new_job(&payload)).collect();
            ids.extend(leader.submit_all(jobs).await);
        }
        let enqueue = JOBS as f64 / started.elapsed().as_secs_f64();
        let client = connect(&url).await;
        client.batch_execute("VACUUM ANALYZE ganger.job").await.unwrap();
        let before = wal(&client).await;
        let started = tokio::time::Instant::now();
        let mut ends: Vec<Change> = Vec::new();
        // As a busy server does: each batch ends some jobs and gives leases on the next.
        for jobs in ids.chunks(batch) {
            let assignments: Vec<_> = jobs.chunks(256).map(|jobs| leader.assignment(jobs)).collect();
            let next = assignments.iter().flat_map(|a| leader.ends(a, State::Succeeded, NOW)).collect();
            let mut changes = std::mem::replace(&mut ends, next);
            changes.extend(assignments.into_iter().map(Change::Assign));
            leader.commit(changes).await;
        }
        leader.commit(ends).await;
        let drain = JOBS as f64 / started.elapsed().as_secs_f64();
        let log = (wal(&client).await - before) / JOBS as i64;
        eprintln!(
            "batch {batch}: enqueue {enqueue:.0}/s, drain {drain:.0}/s ({log} B log), ceiling {raw:.0}/s \
             ({wal_per_job} B log): {:.0} %",
            100.0 * drain / raw
        );
    }
}
