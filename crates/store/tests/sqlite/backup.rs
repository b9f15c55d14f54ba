//! Backups, made while work goes on, and put back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use ganger_store::sqlite::{RestoreOptions, restore};
use ganger_store::{Store, conformance};

use crate::{NOW, ids, open, submit};

#[tokio::test]
async fn a_backup_holds_everything_and_restores_into_an_empty_directory() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Arc::new(open(dir.path()));
    conformance::live_through(store.clone()).await;
    let before = conformance::dump(&*store, NOW).await;
    let copy = dir.path().join("copy.db");
    store.backup(&copy).await.unwrap();
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let target = other.path().join("new/data");
    let restored = restore(&copy, &target, RestoreOptions::default()).unwrap();
    assert_eq!(restored.replaced, None);
    assert_eq!(conformance::dump(&open(&target), NOW).await, before);
}

/// A copy taken under load is some moment of it: batches up to one, none after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_is_consistent() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Arc::new(open(dir.path()));
    let term = store.take_over("a", 0).await.unwrap();
    for number in 1..=20 {
        submit(&store, term, number, "1".into()).await.unwrap();
    }
    let copy = other.path().join("copy.db");
    let backup = {
        let (store, copy) = (store.clone(), copy.clone());
        tokio::spawn(async move { store.backup(&copy).await })
    };
    for number in 21..=120 {
        submit(&store, term, number, "1".into()).await.unwrap();
    }
    backup.await.unwrap().unwrap();
    let target = other.path().join("data");
    restore(&copy, &target, RestoreOptions::default()).unwrap();
    let (all, copied) = (ids(&store).await, ids(&open(&target)).await);
    assert!(copied.len() >= 20, "{}", copied.len());
    assert_eq!(copied, all[all.len() - copied.len()..]);
}

#[tokio::test]
async fn a_backup_never_replaces_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let copy = dir.path().join("copy.db");
    fs::write(&copy, "precious").unwrap();
    let why = store.backup(&copy).await.unwrap_err().to_string();
    assert!(why.contains("exists already"), "{why}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), "precious");
    let nowhere = dir.path().join("no/such/place.db");
    assert!(store.backup(&nowhere).await.is_err());
}

/// Fences given after the backup was made must stay below those given after it was restored.
#[tokio::test]
async fn a_restored_database_has_a_much_larger_term() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let term = store.take_over("a", 0).await.unwrap();
    let kept = submit(&store, term, 1, "1".into()).await.unwrap();
    let copy = dir.path().join("copy.db");
    store.backup(&copy).await.unwrap();
    for _ in 0..5 {
        store.take_over("a", 0).await.unwrap();
    }
    let later = store.take_over("b", 0).await.unwrap();

    let in_use = restore(&copy, dir.path(), RestoreOptions { force: true }).unwrap_err().to_string();
    assert!(in_use.contains("in use"), "{in_use}");
    drop(store);
    let there = restore(&copy, dir.path(), RestoreOptions::default()).unwrap_err().to_string();
    assert!(there.contains("--force"), "{there}");
    let restored = restore(&copy, dir.path(), RestoreOptions { force: true }).unwrap();
    assert!(restored.replaced.unwrap().exists());

    let store = open(dir.path());
    assert_eq!(ids(&store).await, [kept]);
    let next = store.take_over("a", 0).await.unwrap();
    assert!(next.number > later.number && next.number > term.number + 1000);
}

#[tokio::test]
async fn a_damaged_or_foreign_backup_is_refused_and_nothing_changes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let term = store.take_over("a", 0).await.unwrap();
    let kept = submit(&store, term, 1, "1".into()).await.unwrap();
    let copy = dir.path().join("copy.db");
    store.backup(&copy).await.unwrap();
    drop(store);
    let force = RestoreOptions { force: true };

    let mut bytes = fs::read(&copy).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&copy, &bytes).unwrap();
    let why = restore(&copy, dir.path(), force).unwrap_err().to_string();
    assert!(why.contains("damaged"), "{why}");
    let foreign = dir.path().join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let why = restore(&foreign, dir.path(), force).unwrap_err().to_string();
    assert!(why.contains("not a backup of ganger"), "{why}");
    assert!(restore(&dir.path().join("missing.db"), dir.path(), force).is_err());

    assert_eq!(ids(&open(dir.path())).await, [kept]);
}
