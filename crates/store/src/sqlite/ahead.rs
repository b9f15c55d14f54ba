//! Keeps room in the log ahead of small commits.
//!
//! A commit that makes the log longer has its new length made durable as well, which the file system writes to a journal of its own: such
//! a sync takes half as long again. A log that was as long as it gets is written over from its beginning, and its commits pay for
//! nothing but themselves; until then, after each start, it is lengthened here by many commits at once.
//!
//! What lies behind the last commit is never read as one: zeros have no checksum that fits. They are appended, so that whatever
//! somebody else wrote meanwhile stays; and never behind a commit that failed, for it may have left a part of a page that zeros would
//! complete.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// By so much.
const CHUNK: usize = 1 << 20;
/// Written at once. The kernel would keep larger pieces as such, and count all of one for each commit that touches a part of it.
const PIECE: usize = 4 << 10;
/// A commit that takes more of it than one in so many has the disk to wait for, not the journal.
const COMMITS: u64 = 8;

/// What is known of the length of the log.
#[derive(Debug)]
pub(super) struct Ahead {
    /// A log of this length starts over by itself.
    enough: u64,
    /// After the last commit, with the room that was made.
    length: u64,
}

impl Ahead {
    /// For a log that starts over at this length.
    pub(super) fn until(enough: u64) -> Ahead {
        Ahead { enough, length: 0 }
    }

    /// Called after a commit that succeeded, with the length that the log has now. It grows beyond what is known only if there was no room.
    pub(super) fn after_commit(&mut self, log: &Path, length: u64) {
        let grown = length.saturating_sub(self.length);
        self.length = length;
        if grown == 0 || grown > CHUNK as u64 / COMMITS || length >= self.enough {
            return;
        }
        match lengthen(log) {
            Ok(()) => self.length += CHUNK as u64,
            // SQLite will say so itself, of a commit that needs the room.
            Err(error) => tracing::debug!(%error, "cannot make room in the log of the database"),
        }
    }
}

fn lengthen(log: &Path) -> io::Result<()> {
    let mut log = OpenOptions::new().append(true).open(log)?;
    (0..CHUNK / PIECE).try_for_each(|_| log.write_all(&[0; PIECE]))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::{connection, dir};

    /// Half of what counts as small.
    const SMALL: usize = CHUNK / COMMITS as usize / 2;

    fn commit(conn: &Connection, bytes: usize) {
        conn.execute("INSERT INTO t VALUES (randomblob(?1))", [u32::try_from(bytes).unwrap()]).unwrap();
    }

    #[test]
    fn small_commits_find_room_in_the_log_and_large_ones_make_their_own() {
        let (_dir, database, conn) = connection::scratch();
        let log = dir::beside(&database, "-wal");
        let mut ahead = Ahead::until(3 << 20);
        let mut after = || {
            ahead.after_commit(&log, dir::size(&log));
            dir::size(&log)
        };

        commit(&conn, SMALL);
        let made = dir::size(&log) + CHUNK as u64;
        assert_eq!(after(), made, "room for the next ones");
        for _ in 0..5 {
            commit(&conn, SMALL);
            assert_eq!(after(), made, "they are written into it");
        }
        commit(&conn, 2 * CHUNK);
        let grown = dir::size(&log);
        assert!(grown > made);
        assert_eq!(after(), grown, "a large one is followed by none");
        commit(&conn, CHUNK);
        let full = after();
        assert!(full > 3 << 20);
        commit(&conn, SMALL);
        let longer = dir::size(&log);
        assert!(longer > full);
        assert_eq!(after(), longer, "a log that starts over at its next commit needs no room");
    }

    /// A process that was killed leaves its log with the room behind it.
    #[test]
    fn what_was_committed_is_found_before_the_room_and_nothing_in_it() {
        let (dir, database, conn) = connection::scratch();
        let left = dir.path().join("left.db");
        let mut ahead = Ahead::until(u64::MAX);
        for _ in 0..100 {
            commit(&conn, SMALL);
            ahead.after_commit(&dir::beside(&database, "-wal"), dir::size(&dir::beside(&database, "-wal")));
        }
        std::fs::copy(&database, &left).unwrap();
        std::fs::copy(dir::beside(&database, "-wal"), dir::beside(&left, "-wal")).unwrap();
        let next = connection::writer(&left).unwrap();
        connection::check_integrity(&next, &left).unwrap();
        let count = |conn: &Connection| -> u32 {
            conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count(&next), 100);
        commit(&next, SMALL);
        assert_eq!(count(&next), 101);
    }
}
