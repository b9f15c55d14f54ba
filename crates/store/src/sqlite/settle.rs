//! Makes what the log holds as safe as it looks.
//!
//! A sync that failed leaves pages that can be read and are not on the disk; the kernel counts them as
//! clean, and no later sync writes them. The process that saw it fail writes the same place of the log
//! again (`transaction.rs`). But if that process was killed, the next one finds a whole batch at the end of the
//! log, and whatever it added behind would be lost with it when the power fails: a log is read up to the
//! first gap. So before anyone builds on a log it is written over with what it holds, and synced.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use super::{dir, error};
use crate::store::StoreError;

/// Bytes written over at a time.
const CHUNK: usize = 1 << 20;

/// Writes the log over and syncs it and its name.
pub(super) fn settle(conn: &Connection, database: &Path) -> Result<(), StoreError> {
    let operation = format!("cannot make the log of {} safe", database.display());
    // Opens the log, and keeps everyone else from writing to it meanwhile.
    conn.execute_batch("BEGIN IMMEDIATE").map_err(|error| error::writing(&operation, &error))?;
    let written = write_over(&dir::beside(database, "-wal"))
        .and_then(|()| dir::sync_dir(database.parent().unwrap_or(Path::new("."))));
    conn.execute_batch("ROLLBACK").map_err(|error| error::writing(&operation, &error))?;
    written.map_err(|error| StoreError::Unavailable(format!("{operation}: {error}")))
}

fn write_over(log: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(log)?;
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    // Ends with the file: nobody can append to it now.
    loop {
        let read = file.read_at(&mut chunk, at)?;
        if read == 0 {
            return file.sync_all();
        }
        file.write_all_at(&chunk[..read], at)?;
        at += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection;

    /// The log as a killed process leaves it, larger than one chunk, while someone else reads.
    #[test]
    fn a_log_that_was_written_over_holds_what_it_held() {
        let (_dir, database, conn) = connection::scratch();
        for n in 0..8 {
            conn.execute("INSERT INTO t VALUES (?1 || hex(zeroblob(200000)))", [n]).unwrap();
        }
        let log = dir::beside(&database, "-wal");
        let before = std::fs::read(&log).unwrap();
        assert!(before.len() > 2 * CHUNK && !before.len().is_multiple_of(CHUNK));
        let reader = connection::reader(&database).unwrap();
        let snapshot = reader.unchecked_transaction().unwrap();
        let rows = || -> i64 { snapshot.query_row("SELECT count(*) FROM t", [], |r| r.get(0)).unwrap() };
        assert_eq!(rows(), 8);
        let second = connection::writer(&database).unwrap();
        assert!(std::fs::read(&log).unwrap() == before, "the log changed");
        second.execute("INSERT INTO t VALUES (8)", []).unwrap();
        assert_eq!(rows(), 8);
        assert_eq!(conn.query_row("SELECT count(*) FROM t", [], |r| r.get::<_, i64>(0)).unwrap(), 9);
    }
}
