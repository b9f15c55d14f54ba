//! Connections to the database, each with the settings that the promises rest on.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{error, settle};
use crate::store::StoreError;

/// Statements kept prepared per connection: all of them.
const PREPARED: usize = 128;
/// How long to wait for another connection's lock. Ours never wait for each other; a person with the
/// `sqlite3` shell may make us.
pub(super) const BUSY: Duration = Duration::from_secs(5);
/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;
/// Pages of log after which a commit also checkpoints.
const CHECKPOINT_PAGES: u32 = 8192;
/// How long the log is then: 32 MiB.
pub(super) const LOG_BYTES: u64 = CHECKPOINT_PAGES as u64 * PAGE_BYTES;
/// The log file is cut back to this after a checkpoint.
const LOG_FILE_BYTES: u32 = 64 << 20;
/// Pages kept by the writer. Jobs come and go in the order of their ids, so few are enough; and at every commit that
/// balanced a tree SQLite walks over all of them.
const WRITER_CACHE_KIB: i64 = 16 << 10;
/// `PRAGMA synchronous` reads this when it is FULL.
const SYNCHRONOUS_FULL: i64 = 2;

/// The connection that writes. There is one. What the log holds is safe before it is handed out.
pub(super) fn writer(database: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open(database, flags, -WRITER_CACHE_KIB)
        .and_then(|conn| {
            conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
            conn.pragma_update(None, "journal_size_limit", LOG_FILE_BYTES)?;
            Ok(conn)
        })
        .map_err(|error| error::reading(&opening(database), &error))
        .and_then(|conn| checked(conn, database))
        .and_then(|conn| settle::settle(&conn, database).map(|()| conn))
}

/// A connection that only reads.
pub(super) fn reader(database: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open(database, flags, -8_192).map_err(|error| error::reading(&opening(database), &error))
}

/// Refuses a file whose pages do not fit together.
pub(super) fn check_integrity(conn: &Connection, database: &Path) -> Result<(), StoreError> {
    let damaged = |detail: &str| {
        StoreError::Failed(format!(
            "the database {} is damaged ({detail}); move it away and restore a backup with `ganger restore`",
            database.display()
        ))
    };
    let found: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| damaged(&error.to_string()))?;
    if found == "ok" { Ok(()) } else { Err(damaged(&found)) }
}

fn open(database: &Path, flags: OpenFlags, cache: i64) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(database, flags)?;
    conn.busy_timeout(BUSY)?;
    if !flags.contains(OpenFlags::SQLITE_OPEN_READ_ONLY) {
        conn.pragma_update(None, "journal_mode", "WAL")?;
    }
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "cache_size", cache)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.set_prepared_statement_cache_capacity(PREPARED);
    Ok(conn)
}

/// A setting that did not take would break a promise silently, so each is read back.
fn checked(conn: Connection, database: &Path) -> Result<Connection, StoreError> {
    let synchronous: i64 = conn
        .pragma_query_value(None, "synchronous", |row| row.get(0))
        .map_err(|error| error::reading(&opening(database), &error))?;
    let journal: String = conn
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .map_err(|error| error::reading(&opening(database), &error))?;
    if synchronous != SYNCHRONOUS_FULL || journal != "wal" {
        return Err(StoreError::Failed(format!(
            "the database {} cannot be used safely: synchronous is {synchronous} (2 is needed) and the journal is \
             {journal} (wal is needed); a network file system cannot hold it",
            database.display()
        )));
    }
    Ok(conn)
}

fn opening(database: &Path) -> String {
    format!("cannot open the database {}", database.display())
}

/// A database of its own with a table, and the connection that writes to it.
#[cfg(test)]
pub(super) fn scratch() -> (tempfile::TempDir, std::path::PathBuf, Connection) {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("test.db");
    std::fs::write(&database, []).unwrap();
    let conn = writer(&database).unwrap();
    conn.execute_batch("CREATE TABLE t (x)").unwrap();
    (dir, database, conn)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system without locks or shared memory, such as some network ones: SQLite then keeps the old
    /// journal and does not say so by itself. Asked to do without locks, it treats any file so.
    #[test]
    fn a_file_that_cannot_have_a_log_is_refused_and_the_reason_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("test.db");
        std::fs::write(&database, []).unwrap();
        for without in ["nolock=1", "vfs=unix-none", "vfs=unix-dotfile"] {
            let uri = format!("file:{}?{without}", database.display());
            let refused = writer(Path::new(&uri)).unwrap_err();
            assert!(matches!(refused, StoreError::Failed(_)), "{refused:?}");
            let why = refused.to_string();
            assert!(why.contains("cannot be used safely") && why.contains("the journal is delete"), "{why}");
            assert!(why.contains("wal is needed") && why.contains("network file system"), "{why}");
        }
        assert!(writer(&database).is_ok(), "the same file as everyone else opens it");
    }

    #[test]
    fn a_connection_that_would_not_wait_for_the_disk_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("test.db");
        std::fs::write(&database, []).unwrap();
        for (setting, reads) in [("OFF", 0), ("NORMAL", 1)] {
            let conn = writer(&database).unwrap();
            conn.pragma_update(None, "synchronous", setting).unwrap();
            let why = checked(conn, &database).unwrap_err().to_string();
            assert!(why.contains(&format!("synchronous is {reads} (2 is needed)")), "{why}");
        }
    }
}
