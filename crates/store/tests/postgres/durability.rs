//! `kill -9` of the database in the middle of commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::Batch;
use ganger_store::testing::Postgres;
use ganger_store::{CommitError, Store};
use tokio::time::{sleep, timeout};

use crate::support::{Leader, open, submission};

/// How often the database is killed, and how many batches are committed between.
const KILLS: usize = 3;
const BETWEEN: usize = 40;
const LONG: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_batch_is_there_after_the_database_was_killed() {
    let mut cluster = Postgres::start();
    let url = cluster.migrated_database().await;
    let store = open(&url).await;
    let mut leader = Leader::begin(&store).await;
    let committed = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&committed);
    let writing = tokio::spawn(async move {
        let mut acknowledged: Vec<JobId> = Vec::new();
        while acknowledged.len() < (KILLS + 1) * BETWEEN {
            let job = leader.new_job("null");
            let id = job.id;
            let batch = Arc::new(Batch::new(leader.number + 1, vec![submission(vec![job])]));
            // As a leader does: the same batch until it is settled.
            loop {
                match leader.store.commit(leader.term, Arc::clone(&batch)).await {
                    Ok(_) => break,
                    Err(CommitError::TermLost) => panic!("nobody else leads"),
                    Err(CommitError::Refused(_) | CommitError::Unknown(_)) => {
                        sleep(Duration::from_millis(20)).await;
                    }
                }
            }
            leader.number += 1;
            acknowledged.push(id);
            counter.store(acknowledged.len(), Ordering::Relaxed);
        }
        acknowledged
    });
    for kill in 1..=KILLS {
        let reached = async {
            while committed.load(Ordering::Relaxed) < kill * BETWEEN {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(LONG, reached).await.unwrap();
        cluster.kill();
        cluster.restart();
    }
    let mut acknowledged = timeout(LONG, writing).await.unwrap().unwrap();
    let mut stored: Vec<JobId> =
        open(&url).await.load().await.unwrap().jobs.iter().map(|job| job.id).collect();
    acknowledged.sort_unstable();
    stored.sort_unstable();
    assert_eq!(stored, acknowledged);
}
