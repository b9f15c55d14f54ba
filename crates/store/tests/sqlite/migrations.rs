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

/// A person looks at the history a version later, and a version earlier again.
#[test]
fn final_jobs_survive_the_rebuilding_of_their_table() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(migrate::up(dir.path(), Some(1)), Ok(1));
    let conn = rusqlite::Connection::open(dir.path().join("ganger.db")).unwrap();
    let insert = |id: u8, state: i64| {
        conn.execute(
            "INSERT INTO job_final VALUES (?1, ?2, 7, 'k', 'q', 0, 1, NULL, 2, 3, 0, 1, 1, 0, NULL, 'u', NULL,
                                           'why', x'01', '1', '2')",
            (vec![id; 16], state),
        )
    };
    for state in 0..3u8 {
        assert_eq!(insert(state, state.into()), Ok(1));
    }
    let before = finals(&conn);
    for version in [2, 1] {
        let moved =
            if version == 2 { migrate::up(dir.path(), Some(2)) } else { migrate::down(dir.path(), 1) };
        assert_eq!(moved, Ok(version));
        assert_eq!(finals(&conn), before);
        for not_final in [-1, 3] {
            let refused = insert(9, not_final).unwrap_err().to_string();
            assert!(refused.contains("final_is_succeeded_dead_or_cancelled"), "{refused}");
        }
    }
}

/// A group that was counted before there were buckets has one with the last of its failures.
#[test]
fn a_group_from_before_is_known_to_have_been_seen_last() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(migrate::up(dir.path(), Some(10)), Ok(10));
    let conn = rusqlite::Connection::open(dir.path().join("ganger.db")).unwrap();
    let insert = "INSERT INTO failure (fingerprint, kind, count, first_at, last_at, job, error)
                  VALUES (-7, 'k', 12, 1, 1700000000000000, zeroblob(16), 'boom')";
    assert_eq!(conn.execute(insert, []), Ok(1));
    assert_eq!(migrate::up(dir.path(), None), Ok(migrate::latest()));
    let rows = "SELECT fingerprint, bucket, count FROM failure_trend";
    let row: (i64, i64, i64) =
        conn.query_row(rows, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert_eq!(row, (-7, 5_666_666, 1));
    assert_eq!(migrate::down(dir.path(), 10), Ok(10));
    assert!(!tables(dir.path()).contains(&"failure_trend".to_owned()));
}

/// Every column of every final job, and the indexes.
fn finals(conn: &rusqlite::Connection) -> Vec<String> {
    let mut rows = conn.prepare("SELECT * FROM job_final ORDER BY id").unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        (0..21).map(|at| row.get_ref(at).map(|value| format!("{value:?} "))).collect::<Result<String, _>>()
    };
    let mut found: Vec<String> = rows.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap();
    let mut indexes = conn
        .prepare(
            "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'job_final' ORDER BY name",
        )
        .unwrap();
    let indexes = indexes.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
    found.extend(indexes.map(|sql| format!("{:?}", sql.unwrap())));
    found
}

fn tables(dir: &std::path::Path) -> Vec<String> {
    let conn = rusqlite::Connection::open(dir.join("ganger.db")).unwrap();
    let mut names =
        conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}
