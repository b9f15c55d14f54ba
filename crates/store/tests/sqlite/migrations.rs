//! The schema, up and down.

use ganger_store::sqlite::migrate;

use crate::{open, refusal};

#[test]
fn a_schema_goes_up_and_down_and_up_again() {
    let dir = tempfile::tempdir().unwrap();
    let status = migrate::status(dir.path()).unwrap();
    assert_eq!(status.version, 0);
    assert!(status.migrations.iter().all(|step| !step.applied));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "looking makes nothing");
    assert_eq!(migrate::up(dir.path(), None), Ok(migrate::latest()));
    assert_eq!(migrate::up(dir.path(), None), Ok(migrate::latest()));
    assert!(migrate::status(dir.path()).unwrap().migrations.iter().all(|step| step.applied));
    assert_eq!(migrate::down(dir.path(), 0), Ok(0));
    assert_eq!(tables(dir.path()), ["schema_version"]);
    assert_eq!(migrate::up(dir.path(), Some(1)), Ok(1));
    open(dir.path());
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let steps = migrate::status(dir.path()).unwrap().migrations;
    let versions: Vec<u32> = steps.iter().map(|step| step.version).collect();
    assert_eq!(versions, (1..=migrate::latest()).collect::<Vec<_>>());
}

#[test]
fn a_database_newer_than_the_binary_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let conn = rusqlite::Connection::open(dir.path().join("ganger.db")).unwrap();
    conn.execute("UPDATE schema_version SET version = 99", []).unwrap();
    drop(conn);
    for why in [
        refusal(dir.path()),
        migrate::up(dir.path(), None).unwrap_err().to_string(),
        migrate::down(dir.path(), 0).unwrap_err().to_string(),
    ] {
        assert!(why.contains("has schema version 99") && why.contains("newer"), "{why}");
    }
    assert_eq!(migrate::status(dir.path()).unwrap().version, 99);
}

#[test]
fn a_schema_in_use_can_be_looked_at_and_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let _store = open(dir.path());
    assert_eq!(migrate::status(dir.path()).unwrap().version, migrate::latest());
    assert!(migrate::down(dir.path(), 0).unwrap_err().to_string().contains("in use"));
}

fn tables(dir: &std::path::Path) -> Vec<String> {
    let conn = rusqlite::Connection::open(dir.join("ganger.db")).unwrap();
    let mut names =
        conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}
