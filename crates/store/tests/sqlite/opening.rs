//! Opening a data directory, and what survives closing it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use ganger_core::change::Batch;
use ganger_store::{CommitError, Store, conformance};

use crate::{NOW, ids, open, refusal, submit};

#[tokio::test]
async fn everything_survives_close_and_open() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(open(dir.path()));
    conformance::live_through(store.clone()).await;
    let before = conformance::dump(&*store, NOW).await;
    assert!(before.jobs.len() >= 4 && !before.snapshot.assignments.is_empty());
    drop(store);
    assert_eq!(conformance::dump(&open(dir.path()), NOW).await, before);
}

/// The process is replaced between a commit and its answer, and nobody else has led meanwhile.
#[tokio::test]
async fn a_batch_sent_again_after_a_reopen_is_answered_and_not_applied() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let term = store.take_over("a", 0).await.unwrap();
    let id = submit(&store, term, 1, "1".into()).await.unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(submit(&store, term, 1, "1".into()).await, Ok(id));
    assert_eq!(ids(&store).await, [id]);
    assert_eq!(store.commit(term, Arc::new(Batch::new(2, vec![]))).await, Ok(vec![]));
}

#[tokio::test]
async fn a_second_process_is_refused_and_told_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let why = refusal(dir.path());
    assert!(why.contains(&dir.path().display().to_string()), "{why}");
    assert!(why.contains("in use by another ganger process; stop that one"), "{why}");
    drop(store);
    open(dir.path());
}

#[test]
fn only_the_owner_can_look_inside() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("a/data");
    let _store = open(&dir);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    for file in ["ganger.db", "ganger.db-wal", "ganger.lock"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
}

/// SQLite reads such names as addresses; this one would name the file `data` and switch its locks off.
#[tokio::test]
async fn a_name_that_looks_like_an_address_is_a_name() {
    let parent = tempfile::tempdir().unwrap();
    // Every other test names its files from the root.
    std::env::set_current_dir(parent.path()).unwrap();
    fs::write("data", []).unwrap();
    let named = Path::new("file:data?nolock=1");
    let store = open(named);
    let term = store.take_over("a", 0).await.unwrap();
    let id = submit(&store, term, 1, "1".into()).await.unwrap();
    assert!(named.join("ganger.db").metadata().unwrap().len() > 0);
    let copy = Path::new("file:copy?mode=memory");
    store.backup(copy).await.unwrap();
    drop(store);
    ganger_store::sqlite::migrate::status(named).unwrap();
    ganger_store::sqlite::backup_dir(named, Path::new("file:again")).unwrap();
    let restored = Path::new("file:restored");
    ganger_store::sqlite::restore(copy, restored, Default::default()).unwrap();
    assert_eq!(ids(&open(restored)).await, [id]);
    assert_eq!(fs::metadata("data").unwrap().len(), 0);
}

#[tokio::test]
async fn a_damaged_file_is_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let term = store.take_over("a", 0).await.unwrap();
    for number in 1..=50 {
        submit(&store, term, number, format!("\"{}\"", "x".repeat(500))).await.unwrap();
    }
    drop(store);
    let database = dir.path().join("ganger.db");
    let mut bytes = fs::read(&database).unwrap();
    assert!(bytes.len() > 10 * 4096);
    // Every page but the first loses its header, as after a bad sector or a careless copy.
    for page in bytes.chunks_mut(4096).skip(1) {
        page[..64].fill(0xa5);
    }
    fs::write(&database, bytes).unwrap();
    let why = refusal(dir.path());
    assert!(why.contains("damaged") && why.contains("ganger restore"), "{why}");

    fs::write(&database, "this is not a database, but it is long enough to be asked whether it is one")
        .unwrap();
    let why = refusal(dir.path());
    assert!(why.contains("ganger restore"), "{why}");
}

#[tokio::test]
async fn its_size_and_the_free_space_can_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let term = store.take_over("a", 0).await.unwrap();
    submit(&store, term, 1, "1".into()).await.unwrap();
    let health = store.health().unwrap();
    assert!(health.log_bytes > 0 && health.free_bytes > 0);
    let info = store.info();
    assert_eq!((info.kind, info.database), ("sqlite", dir.path().join("ganger.db")));
    assert_eq!(info.schema, ganger_store::sqlite::migrate::latest());
}

/// A file that was removed can still be written to; what is acknowledged then is lost with the process.
#[tokio::test]
async fn nothing_is_acknowledged_once_the_database_was_removed_and_all_is_well_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let term = store.take_over("a", 0).await.unwrap();
    let first = submit(&store, term, 1, "1".into()).await.unwrap();
    let (database, aside) = (dir.path().join("ganger.db"), dir.path().join("aside"));
    fs::rename(&database, &aside).unwrap();
    let refused = submit(&store, term, 2, "2".into()).await.unwrap_err();
    assert!(matches!(refused, CommitError::Refused(_)), "{refused}");
    assert!(refused.to_string().contains("was removed while in use"), "{refused}");
    fs::write(&database, "another file").unwrap();
    let refused = submit(&store, term, 2, "2".into()).await.unwrap_err();
    assert!(refused.to_string().contains("was replaced while in use"), "{refused}");
    fs::rename(&aside, &database).unwrap();
    let second = submit(&store, term, 2, "2".into()).await.unwrap();
    assert_eq!(ids(&store).await.len(), 2);
    assert_ne!(first, second);
}

/// An existing directory that everybody may enter is not taken as it is.
#[test]
fn a_directory_that_others_can_enter_is_closed_to_them_or_refused() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("data");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    drop(open(&dir));
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    // Only root can give a directory away.
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    if std::os::unix::fs::chown(&dir, Some(65_534), None).is_ok() {
        let why = refusal(&dir);
        assert!(why.contains("everybody can write to it") && why.contains("chmod"), "{why}");
    }
}

#[test]
fn a_database_that_is_a_link_is_not_followed() {
    let parent = tempfile::tempdir().unwrap();
    let (dir, elsewhere) = (parent.path().join("data"), parent.path().join("elsewhere"));
    fs::create_dir(&dir).unwrap();
    fs::write(&elsewhere, "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, dir.join("ganger.db")).unwrap();
    let why = refusal(&dir);
    assert!(why.contains("symbolic link") && why.contains("--data"), "{why}");
    assert_eq!(fs::read(&elsewhere).unwrap(), b"", "nothing was written there");
}
