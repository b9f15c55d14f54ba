//! One batch, one transaction: the guard of the term, the order of batches, all or nothing.
//!
//! What can go wrong, and why it is harmless:
//! - A statement fails (disk full, a contradiction): the transaction is rolled back; the caller may drop or
//!   change the batch.
//! - COMMIT fails because the disk is full: SQLite had no room for the frame that makes the
//!   transaction count, so it does not; refused.
//! - COMMIT fails otherwise (a failed sync): the batch is whole in the log, and whether the disk has it nobody
//!   knows. It does not count in this process; the next one would believe it (`settle.rs`). The answer is
//!   *unknown*. Sent again, the batch is written over the same place of the log, every page of it anew, so
//!   that a sync which then succeeds proves that it is there. Opening the database again instead would read
//!   from the page cache what the disk may not have.

use std::cell::Cell;
use std::collections::HashSet;

use ganger_core::Term;
use ganger_core::change::{Applied, Batch, Change};
use rusqlite::Connection;

use super::apply::{Prepared, Work};
use super::counts::Counts;
use super::error::{self, Failure};
use super::leases::Leases;
use super::{minutes, sql};
use crate::seen::Seen;
use crate::store::{CommitError, StoreError};
use crate::{outcomes, refusal};

/// Why a batch was not applied, before anyone tried to commit it.
enum Stop {
    TermLost,
    Failure(Failure),
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Failure(error.into())
    }
}

/// What the transaction came to.
enum Step {
    /// Applied, and to be committed.
    Apply(Vec<Applied>),
    /// This number was taken before; nothing is to be written.
    Known(Vec<Applied>),
}

/// Begins a term.
pub(super) fn take_over(conn: &Connection, server: &str, more_than: u64) -> Result<Term, StoreError> {
    let bump = || -> Result<Term, Failure> {
        begin(conn)?;
        let (last, _) = read_leader(conn)?;
        let term = Term { number: last.number.max(more_than) + 1, id: rand::random() };
        conn.prepare_cached(sql::TAKE_OVER)?.execute((
            term.number.cast_signed(),
            term.id.cast_signed(),
            server,
        ))?;
        conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(term)
    };
    bump().map_err(|failure| {
        roll_back(conn);
        failure.while_writing()
    })
}

/// Applies a batch. `leases` is emptied when it no longer tells the truth.
pub(super) fn commit(
    conn: &Connection,
    leases: &mut Option<Leases>,
    term: Term,
    batch: &Batch,
) -> Result<Vec<Applied>, CommitError> {
    match apply(conn, leases, term, batch) {
        Ok(Step::Known(outcomes)) => {
            roll_back(conn);
            Ok(outcomes)
        }
        Ok(Step::Apply(outcomes)) => match conn.prepare_cached("COMMIT").and_then(|mut c| c.execute([])) {
            Ok(_) => Ok(outcomes),
            Err(error) => {
                *leases = None;
                roll_back(conn);
                Err(if error::is_full(&error) {
                    CommitError::Refused(error::writing("cannot commit", &error))
                } else {
                    CommitError::Unknown(error.to_string())
                })
            }
        },
        Err(stop) => {
            *leases = None;
            roll_back(conn);
            Err(match stop {
                Stop::TermLost => CommitError::TermLost,
                Stop::Failure(failure) => CommitError::Refused(failure.while_writing()),
            })
        }
    }
}

fn apply(conn: &Connection, leases: &mut Option<Leases>, term: Term, batch: &Batch) -> Result<Step, Stop> {
    begin(conn)?;
    let (current, last) = read_leader(conn)?;
    if current != term {
        return Err(Stop::TermLost);
    }
    if batch.number == last && last > 0 {
        let text: Option<String> =
            conn.prepare_cached(sql::READ_OUTCOMES)?.query_row([], |row| row.get(0))?;
        return Ok(Step::Known(outcomes::decode(batch, text.as_deref())?));
    }
    if batch.number != last + 1 {
        return Err(Stop::from(refusal::number(batch.number, last)));
    }
    let leases = match leases {
        Some(leases) => leases,
        None => leases.insert(Leases::load(conn)?),
    };
    let prepared = Prepared::new(conn)?;
    let (counts, not_created) = (Counts::default(), HashSet::new());
    let failures = Seen::default();
    let any_edge = Cell::new(None);
    let mut work = Work { conn, leases, prepared, counts, last_seq: 0, failures, not_created, any_edge };
    let mut answers = Vec::with_capacity(batch.changes.len());
    for change in &batch.changes {
        answers.push(work.apply(change)?);
    }
    for change in &batch.changes {
        if let Change::CloseSession(id, _) = change
            && let Some(fence) = work.leases.of_session(*id)
        {
            return Err(Stop::from(refusal::closed_with_lease(*id, fence)));
        }
    }
    work.write_failures()?;
    work.counts.write(conn)?;
    minutes::add(conn, batch, &answers)?;
    conn.prepare_cached(sql::ADVANCE_BATCH)?.execute((
        batch.number.cast_signed(),
        outcomes::encode(batch, &answers)?,
        work.last_seq.cast_signed(),
    ))?;
    Ok(Step::Apply(answers))
}

fn begin(conn: &Connection) -> rusqlite::Result<()> {
    conn.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop)
}

/// Leaves no transaction open, whatever happened.
fn roll_back(conn: &Connection) {
    if !conn.is_autocommit()
        && let Err(error) = conn.execute_batch("ROLLBACK")
    {
        // SQLite has then rolled back by itself; if not, the next BEGIN says so.
        tracing::warn!(%error, "cannot roll back");
    }
}

/// The present term and its last batch.
pub(super) fn read_leader(conn: &Connection) -> Result<(Term, u64), Failure> {
    Ok(conn.prepare_cached(sql::READ_LEADER)?.query_row([], |row| {
        let term =
            Term { number: row.get::<_, i64>(0)?.cast_unsigned(), id: row.get::<_, i64>(1)?.cast_unsigned() };
        Ok((term, row.get::<_, i64>(2)?.cast_unsigned()))
    })?)
}
