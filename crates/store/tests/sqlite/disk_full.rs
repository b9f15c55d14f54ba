//! A full disk: refused clearly, read on, recovered by itself.
//!
//! The limit on pages takes the same way through SQLite as a disk without room (`SQLITE_FULL`).

use ganger_core::JobId;
use ganger_store::{CommitError, SqliteOptions, SqliteStore, Store, StoreError};

use crate::{ids, open, submit};

const LIMIT: u32 = 200;
/// More batches than could ever fit.
const TOO_MANY: u64 = 2_000;

#[tokio::test]
async fn a_full_disk_refuses_writes_serves_reads_and_recovers_without_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let options = SqliteOptions { max_pages: Some(LIMIT), ..SqliteOptions::default() };
    let store = SqliteStore::open(dir.path(), options).unwrap();
    let term = store.take_over("a", 0).await.unwrap();
    let large = || format!("\"{}\"", "x".repeat(10_000));

    let mut acknowledged: Vec<JobId> = Vec::new();
    let mut number = 0;
    let error = loop {
        assert!(number < TOO_MANY, "the disk never was full");
        match submit(&store, term, number + 1, large()).await {
            Ok(id) => acknowledged.push(id),
            Err(error) => break error,
        }
        number += 1;
    };
    assert!(matches!(&error, CommitError::Refused(StoreError::Full(_))), "{error:?}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    acknowledged.reverse();

    // It stays refused, says so each time, and reads go on.
    for _ in 0..3 {
        let again = submit(&store, term, number + 1, large()).await;
        assert!(matches!(again, Err(CommitError::Refused(StoreError::Full(_)))), "{again:?}");
    }
    assert_eq!(ids(&store).await, acknowledged);
    assert!(store.load().await.is_ok());

    // Room returns: the same number serves, without a reopen, and nothing acknowledged is lost.
    store.limit_pages(LIMIT * 2).await.unwrap();
    let id = submit(&store, term, number + 1, large()).await.unwrap();
    acknowledged.insert(0, id);
    assert_eq!(ids(&store).await, acknowledged);
    drop(store);
    assert_eq!(ids(&open(dir.path())).await, acknowledged);
}
