//! Keeps the log bounded when readers keep it from starting over.
//!
//! SQLite checkpoints by itself after a commit that leaves the log large (`connection.rs`), and starts it over
//! once no reader needs it. Under many reads there may always be one. So beyond a bound the writer
//! asks for a moment without readers: reads are short, and while that moment is awaited new ones start
//! from the database itself. A backup is a long read; it only delays this.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::ahead::Ahead;
use super::connection::{BUSY, LOG_BYTES};
use super::dir;

/// Beyond this the writer insists.
const BOUND_BYTES: u64 = 256 << 20;
/// It does so again after this much more.
const STEP_BYTES: u64 = 64 << 20;
/// The longest wait for readers; the next commit waits with it.
const PATIENCE: Duration = Duration::from_millis(100);

/// Watches the size of the log.
#[derive(Debug)]
pub(super) struct Checkpoints {
    log: PathBuf,
    bound: u64,
    step: u64,
    /// Size at which to insist next.
    due: u64,
    ahead: Ahead,
}

impl Checkpoints {
    /// For the log of this database.
    pub(super) fn new(database: &Path) -> Checkpoints {
        Checkpoints::bounded(database, BOUND_BYTES, STEP_BYTES)
    }

    fn bounded(database: &Path, bound: u64, step: u64) -> Checkpoints {
        Checkpoints {
            log: dir::beside(database, "-wal"),
            bound,
            step,
            due: bound,
            ahead: Ahead::until(LOG_BYTES),
        }
    }

    /// Called between transactions, and told whether the last one was written. The log file keeps its size until the first commit after
    /// it started over.
    pub(super) fn after_commit(&mut self, conn: &Connection, written: bool) {
        let size = dir::size(&self.log);
        if size < self.due {
            if written {
                self.ahead.after_commit(&self.log, size);
            }
            self.due = self.due.min(size.max(self.bound - self.step) + self.step);
            return;
        }
        self.due = size + self.step;
        match restart(conn) {
            Ok(true) => {}
            Ok(false) => tracing::warn!(bytes = size, "the log of the database is long: readers hold it"),
            Err(error) => tracing::warn!(%error, bytes = size, "cannot shorten the log of the database"),
        }
    }
}

/// Brings everything into the database and lets the log start over; `false` if readers were in the way.
fn restart(conn: &Connection) -> rusqlite::Result<bool> {
    conn.busy_timeout(PATIENCE)?;
    let blocked = conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, bool>(0));
    conn.busy_timeout(BUSY)?;
    Ok(!blocked?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection;

    fn fill(conn: &Connection) {
        conn.execute("INSERT INTO t VALUES (zeroblob(300000))", []).unwrap();
    }

    /// It may have left a part of a page at the end of the log.
    #[test]
    fn nothing_is_written_behind_a_commit_that_failed() {
        let (_dir, database, conn) = connection::scratch();
        let log = dir::beside(&database, "-wal");
        let mut checkpoints = Checkpoints::new(&database);
        for (written, grows) in [(false, false), (true, true)] {
            let size = dir::size(&log);
            checkpoints.after_commit(&conn, written);
            assert_eq!(dir::size(&log) > size, grows);
        }
    }

    /// A long read holds the log; once it is over, the log starts over and its file shrinks.
    #[test]
    fn a_log_that_a_reader_held_is_shortened_once_it_lets_go() {
        let (_dir, database, conn) = connection::scratch();
        conn.pragma_update(None, "journal_size_limit", 0).unwrap();
        let mut checkpoints = Checkpoints::bounded(&database, 1 << 20, 1 << 19);
        let log = dir::beside(&database, "-wal");

        let reader = connection::reader(&database).unwrap();
        let snapshot = reader.unchecked_transaction().unwrap();
        let _: i64 = snapshot.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        for _ in 0..10 {
            fill(&conn);
            checkpoints.after_commit(&conn, true);
        }
        assert!(dir::size(&log) > 2 << 20);
        snapshot.finish().unwrap();
        let held = dir::size(&log);
        for _ in 0..4 {
            fill(&conn);
            checkpoints.after_commit(&conn, true);
        }
        assert!(dir::size(&log) < held / 2, "{} of {held}", dir::size(&log));
        for _ in 0..20 {
            fill(&conn);
            checkpoints.after_commit(&conn, true);
            assert!(dir::size(&log) < 2 << 20);
        }
    }
}
