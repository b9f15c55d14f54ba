//! What the writer remembers of a term, so that most batches need no reading.
//!
//! Only the leader of a term writes, and all its batches go through one writer: what it remembers stays true until the
//! term is over. It is read under the guard of the term, and read again whenever there was doubt about a batch.

use std::collections::{HashMap, HashSet};

use ganger_core::change::{After, Batch, Change, SessionRecord};
use ganger_core::job::State;
use ganger_core::{JobId, SessionId, Term};
use tokio_postgres::Row;
use uuid::Uuid;

use super::connection::Connection;
use super::error::Failure;
use super::leases::Leases;
use super::pipeline::{Pipeline, param};
use super::{codec, row, sql};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// What the writer remembers of a term.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) term: Term,
    pub(super) leases: Leases,
    /// Open sessions, and whether each is a claim.
    pub(super) open: HashMap<SessionId, bool>,
    /// No job has a larger id.
    pub(super) largest: Option<JobId>,
    /// Days whose final jobs have a table.
    pub(super) days: HashSet<i32>,
}

impl Known {
    /// Reads it.
    pub(super) async fn load(connection: &Connection, term: Term) -> Result<Known, Failure> {
        let mut pipeline = Pipeline::new(connection);
        pipeline.command("BEGIN");
        pipeline.add(sql::ASSERT_TERM, term_params(term))?;
        let assignments = pipeline.add(sql::LOAD_ASSIGNMENTS, vec![])?;
        let sessions = pipeline.add(sql::LOAD_SESSIONS, vec![])?;
        let largest = pipeline.add(sql::LARGEST_ID, vec![])?;
        let days = pipeline.add(sql::LIST_DAYS, vec![])?;
        let completed = pipeline.add(sql::LIST_COMPLETED, vec![])?;
        let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
        let given = answers[assignments].iter().map(row::assignment).collect::<Result<Vec<_>, _>>()?;
        let mut jobs: Vec<Uuid> =
            given.iter().flat_map(|assignment| &assignment.leases).map(|lease| lease.job.uuid()).collect();
        jobs.sort_unstable();
        jobs.dedup();
        let mut pipeline = Pipeline::new(connection);
        let fences = pipeline.add(sql::LAST_FENCES, vec![param(jobs)])?;
        let found = pipeline.run().await.map_err(|(_, failure)| failure)?;
        let mut last = HashMap::new();
        for found in &found[fences] {
            last.insert(row::job_id(found, 0)?, row::fence(found, 1)?);
        }
        let leases = Leases::of(&given, &last);
        let over: Vec<Vec<u8>> = given
            .iter()
            .filter(|assignment| !leases.has_assignment(assignment.first))
            .map(|assignment| codec::fence_key(assignment.first))
            .collect();
        settle(connection, &answers[completed], over).await?;
        let mut open = HashMap::new();
        for found in &answers[sessions] {
            let record: SessionRecord = serde_json::from_str(found.try_get(0)?)
                .map_err(|error| Failure::unreadable("a session", error))?;
            open.insert(record.id, record.worker.claim);
        }
        let text: Option<&str> =
            answers[largest].first().map(|found| found.try_get(0)).transpose()?.flatten();
        let largest = text
            .map(|text| Uuid::try_parse(text).map(JobId::from_uuid))
            .transpose()
            .map_err(|error| Failure::unreadable("an id", error))?;
        let days = answers[days].iter().map(|found| found.try_get(0)).collect::<Result<_, _>>()?;
        Ok(Known { term, leases, open, largest, days })
    }

    /// Whether the days on which jobs of a batch finish have tables.
    pub(super) fn has_days(&self, batch: &Batch) -> bool {
        finished_days(batch).all(|day| self.days.contains(&day))
    }

    /// Makes the tables of the days on which jobs of a batch finish, and a few ahead, where one is missing.
    pub(super) async fn make_days(&mut self, connection: &Connection, batch: &Batch) -> Result<(), Failure> {
        let mut missing: Vec<i32> = finished_days(batch).filter(|day| !self.days.contains(day)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing.sort_unstable();
        missing.dedup();
        let mut pipeline = Pipeline::new(connection);
        pipeline.add(sql::MAKE_DAYS, vec![param(missing)])?;
        let days = pipeline.add(sql::LIST_DAYS, vec![])?;
        let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
        self.days = answers[days].iter().map(|found| found.try_get(0)).collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// Ends the transaction that reads. What ended in transactions of users while another leader led is counted, and
/// assignments go of which nothing is left because of that: no end of theirs will come.
async fn settle(connection: &Connection, completed: &[Row], over: Vec<Vec<u8>>) -> Result<(), Failure> {
    let jobs = completed.iter().map(|found| found.try_get(0)).collect::<Result<Vec<Uuid>, _>>()?;
    let mut pipeline = Pipeline::new(connection);
    if !jobs.is_empty() {
        pipeline.add(sql::SETTLE_COMPLETED, vec![param(jobs)])?;
    }
    if !over.is_empty() {
        pipeline.add(sql::DELETE_ASSIGNMENTS, vec![param(over)])?;
    }
    pipeline.command("COMMIT");
    pipeline.run().await.map(drop).map_err(|(_, failure)| failure)
}

/// The parameters by which a statement knows its term.
pub(super) fn term_params<'p>(term: Term) -> Vec<super::pipeline::Param<'p>> {
    vec![param(term.number.cast_signed()), param(term.id.cast_signed())]
}

/// The day of a moment, counted from 1970.
pub(super) fn day_of(at: ganger_core::Wall) -> i32 {
    i32::try_from(at.0.div_euclid(DAY)).unwrap_or(if at.0 < 0 { i32::MIN } else { i32::MAX })
}

fn finished_days(batch: &Batch) -> impl Iterator<Item = i32> + '_ {
    let ends = batch.changes.iter().filter_map(|change| match change {
        Change::End(end) => match &end.after {
            After::Final { end, .. } => Some(end),
            After::Again { .. } => None,
        },
        Change::Finish(finish) => Some(&finish.end),
        Change::Submit(_)
        | Change::Assign(_)
        | Change::CancelWanted(_)
        | Change::RunNow(..)
        | Change::Settle(..)
        | Change::Replay(_)
        | Change::OpenSession(_)
        | Change::CloseSession(..)
        | Change::PutQueue(..)
        | Change::PutKind(..)
        | Change::CloseKey(_)
        | Change::Mark(_)
        | Change::Log(_)
        | Change::Failed(_)
        | Change::PutDocument(_)
        | Change::Schedule(_)
        | Change::Delete(_)
        | Change::PurgeDead { .. }
        | Change::Prune { .. } => None,
    });
    ends.filter(|end| end.keep && end.state != State::Dead).map(|end| day_of(end.at))
}
