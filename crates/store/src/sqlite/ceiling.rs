//! What SQLite itself can do on a disk: the raw ceiling that a benchmark stands beside.
//!
//! Ending a job must move its row from the live jobs to the final ones, durably. Here a plain loop does only
//! that, over the same schema, settings and statements as the store, with nothing around it: no leases, no
//! counters, no term, no threads, nobody who waits. No scheduler on this schema can end jobs faster.

use std::path::Path;
use std::time::Duration;

use ganger_core::change::AttemptRecord;
use ganger_core::outcome::Outcome;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::dir::DataDir;
use super::error::Failure;
use super::{codec, connection, migrate, sql};
use crate::store::StoreError;

/// When the jobs were made, for all that the disk cares.
const CREATED_AT: Wall = Wall(1_750_000_000_000_000);
/// Rows per transaction while the jobs are laid out.
const PRELOAD: usize = 1_000;

/// What [`ceiling`] measures.
#[derive(Clone, Debug)]
pub struct CeilingOptions<'a> {
    /// How many jobs.
    pub jobs: usize,
    /// How many end in one transaction.
    pub batch: usize,
    /// The kind of each.
    pub kind: &'a str,
    /// The queue of each.
    pub queue: &'a str,
    /// The payload of each, as JSON.
    pub payload: &'a str,
}

/// What [`ceiling`] found.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// How many jobs were ended.
    pub jobs: usize,
    /// How long that took.
    pub took: Duration,
    /// How long it took to insert them before, 1,000 in a transaction.
    pub inserted: Duration,
    /// How long each commit took, without the statements before it.
    pub commits: Vec<Duration>,
    /// How long each transaction took, from its begin to the end of its commit.
    pub transactions: Vec<Duration>,
}

/// Lays out live jobs in a fresh directory, then moves them to the final ones as fast as SQLite can. `elapsed`
/// is a running stopwatch.
///
/// # Errors
/// If the directory is in use, or the disk fails or is full.
pub fn ceiling(
    dir: &Path,
    options: &CeilingOptions<'_>,
    elapsed: &dyn Fn() -> Duration,
) -> Result<Ceiling, StoreError> {
    let dir = DataDir::lock(dir)?;
    let mut conn = connection::writer(&dir.create_database()?)?;
    migrate::climb(&mut conn, migrate::latest())?;
    let ids: Vec<[u8; 16]> = (0..options.jobs).map(nth_job).collect();
    lay_out(&conn, options, &ids, elapsed)
        .and_then(|inserted| {
            end_all(&conn, options, &ids, elapsed).map(|found| Ceiling { inserted, ..found })
        })
        .map_err(Failure::while_writing)
}

fn lay_out(
    conn: &Connection,
    options: &CeilingOptions<'_>,
    ids: &[[u8; 16]],
    elapsed: &dyn Fn() -> Duration,
) -> Result<Duration, Failure> {
    let began = elapsed();
    for (nth, ids) in ids.chunks(PRELOAD).enumerate() {
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut insert = conn.prepare_cached(sql::INSERT_JOB)?;
        for (at, id) in ids.iter().enumerate() {
            let seq = (nth * PRELOAD + at) as i64;
            let none = None::<&str>;
            insert.execute((
                id,
                seq,
                options.kind,
                options.queue,
                0,
                CREATED_AT.0,
                None::<i64>,
                CREATED_AT.0,
                none,
                none,
                options.payload,
            ))?;
        }
        conn.prepare_cached("COMMIT")?.execute([])?;
    }
    let inserted = elapsed().saturating_sub(began);
    // The jobs of a running server have mostly left the log, too.
    conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))?;
    Ok(inserted)
}

fn end_all(
    conn: &Connection,
    options: &CeilingOptions<'_>,
    ids: &[[u8; 16]],
    elapsed: &dyn Fn() -> Duration,
) -> Result<Ceiling, Failure> {
    let term = Term { number: 1, id: 1 };
    let none = None::<&str>;
    let began = elapsed();
    let (mut commits, mut transactions) = (Vec::new(), Vec::new());
    let mut seq = 0;
    for ids in ids.chunks(options.batch.max(1)) {
        let start = elapsed();
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut end = conn.prepare_cached(sql::END_JOB)?;
        let mut delete = conn.prepare_cached(sql::DELETE_JOB)?;
        for id in ids {
            seq += 1;
            let fence = Fence { term, seq };
            end.execute(params![
                id,
                0,
                CREATED_AT.0 + seq.cast_signed(),
                1,
                1,
                0,
                codec::fence_key(fence),
                none,
                codec::encode_attempt(&record(fence)),
                "null",
            ])?;
            delete.execute([id])?;
        }
        let applied = elapsed();
        conn.prepare_cached("COMMIT")?.execute([])?;
        let committed = elapsed();
        commits.push(committed.saturating_sub(applied));
        transactions.push(committed.saturating_sub(start));
    }
    let took = elapsed().saturating_sub(began);
    Ok(Ceiling { jobs: ids.len(), took, inserted: Duration::ZERO, commits, transactions })
}

/// Ids grow as those of a server do.
fn nth_job(nth: usize) -> [u8; 16] {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&(nth as u64).to_be_bytes());
    codec::job_key(JobId::new(CREATED_AT.0.unsigned_abs() / 1_000 + nth as u64 / 64, random))
}

/// An attempt that ended well.
fn record(fence: Fence) -> AttemptRecord {
    AttemptRecord {
        number: 1,
        outcome: Outcome::Ok,
        error: None,
        worker: "worker".into(),
        session: SessionId::from_uuid(Uuid::from_u128(1)),
        threads: 1,
        leased_at: CREATED_AT,
        started_at: CREATED_AT,
        ended_at: CREATED_AT,
        fence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_moved_and_every_commit_is_timed() {
        let dir = tempfile::tempdir().unwrap();
        let ticks = std::cell::Cell::new(0);
        let elapsed = || {
            ticks.set(ticks.get() + 1);
            Duration::from_micros(ticks.get())
        };
        let options =
            CeilingOptions { jobs: 2_500, batch: 1_000, kind: "noop", queue: "q", payload: "\"x\"" };
        let found = ceiling(dir.path(), &options, &elapsed).unwrap();
        assert_eq!((found.jobs, found.commits.len(), found.transactions.len()), (2_500, 3, 3));
        assert!(found.took > Duration::ZERO && found.inserted > Duration::ZERO);
        assert!(found.commits.iter().all(|took| !took.is_zero()));
        let conn = connection::reader(&dir.path().join(super::super::dir::DATABASE)).unwrap();
        let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM job"), 0);
        assert_eq!(count("SELECT count(*) FROM job_final WHERE state = 0 AND payload IS NOT NULL"), 2_500);
    }
}
