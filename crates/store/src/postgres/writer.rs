//! One batch, one transaction: the guard of the term, the order of batches, all or nothing.
//!
//! What can go wrong, and why it is harmless:
//! - A statement fails (a contradiction, a full disk): the server says so, the transaction is rolled back and nothing was
//!   written.
//! - The connection is lost, or the answer is late: the transaction may have been committed, may not, or may still be
//!   under way. The answer is *unknown*. Sent again, the batch waits for the row of its number, which the other one holds
//!   while it is under way, and finds the number taken, or is applied.
//! - What was sent may also still lie in some buffer and be executed later. So a batch in doubt stays so until it is
//!   committed, or contradicts what is stored (then the other one does as well): a full disk does not settle it.
//! - The leader was deposed: the guard fails, and everything after it.
//! - Whoever waits for the commit goes away in the middle: the connection goes with it, and what is remembered too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ganger_core::Term;
use ganger_core::change::{Applied, Batch, Change};
use tokio::sync::Mutex;
use tokio_postgres::Row;

use super::connection::{Connection, Connector};
use super::error::Failure;
use super::known::{Known, term_params};
use super::pipeline::{Pipeline, param};
use super::plan::{self, Course, Facts, Segment, Taken, Wanted};
use super::{minutes, removal, sql};
use crate::store::{CommitError, StoreError};
use crate::{outcomes, refusal};

/// The way to write.
#[derive(Debug)]
pub(super) struct Writer {
    connector: Connector,
    state: Mutex<State>,
}

/// What lasts from one batch to the next.
#[derive(Debug, Default)]
struct State {
    connection: Option<Connection>,
    known: Option<Known>,
    /// A batch whose outcome is unknown.
    doubt: Option<(Term, u64)>,
}

/// Why a batch was not committed.
enum Stop {
    TermLost,
    /// It contradicts what is stored. That is certain, whatever happened before.
    Contradiction(StoreError),
    /// This attempt certainly failed.
    Failed(StoreError),
    /// It may have been committed.
    Unknown(String),
    /// Another batch than the one before it was the last; perhaps it was this one.
    Numbered(u64),
    /// A day on which a job finishes has no table.
    MissingDay,
}

impl Writer {
    pub(super) fn new(connector: Connector) -> Writer {
        Writer { connector, state: Mutex::default() }
    }

    /// Applies a batch.
    pub(super) async fn commit(&self, term: Term, batch: &Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        let mut state = self.state.lock().await;
        let this = (term, batch.number);
        let in_doubt = state.doubt == Some(this);
        // Taken out while the batch is under way: if nobody waits for it any more, they are gone. Only an attempt
        // that ends in good order puts them back.
        let (connection, known) = (state.connection.take(), state.known.take());
        state.doubt = Some(this);
        let connection = match connection.filter(|connection| !connection.is_closed()) {
            Some(open) => Ok(open),
            None => self.connector.writer(sql::WRITES).await,
        };
        let connection = match connection {
            Ok(connection) => connection,
            Err(error) => {
                state.known = known;
                state.doubt = in_doubt.then_some(this);
                return Err(if in_doubt {
                    CommitError::Unknown(error.to_string())
                } else {
                    CommitError::Refused(error)
                });
            }
        };
        let mut attempt =
            Attempt { connection: &connection, broken: AtomicBool::new(false), known, term, batch };
        let outcome = attempt.run().await;
        let (known, broken) = (attempt.known, attempt.broken.into_inner());
        let (error, doubt) = match outcome {
            Ok(outcomes) => {
                *state = State { connection: Some(connection), known, doubt: None };
                return Ok(outcomes);
            }
            Err(Stop::TermLost) => (CommitError::TermLost, false),
            Err(Stop::Contradiction(error)) => (CommitError::Refused(error), false),
            Err(Stop::Failed(error)) if in_doubt => (CommitError::Unknown(error.to_string()), true),
            Err(Stop::Failed(error)) => (CommitError::Refused(error), false),
            Err(Stop::Numbered(last)) => (CommitError::Refused(refusal::number(batch.number, last)), false),
            Err(Stop::MissingDay) => {
                let why = "a day has no table for the jobs that finish on it, and gets none";
                (CommitError::Refused(StoreError::Unavailable(why.into())), false)
            }
            Err(Stop::Unknown(why)) => (CommitError::Unknown(why), true),
        };
        state.doubt = doubt.then_some(this);
        if !broken && !doubt {
            (state.connection, state.known) = (Some(connection), known);
        }
        Err(error)
    }
}

/// A batch on its way.
struct Attempt<'a> {
    connection: &'a Connection,
    /// The connection must not be used again.
    broken: AtomicBool,
    known: Option<Known>,
    term: Term,
    batch: &'a Batch,
}

impl<'a> Attempt<'a> {
    async fn run(&mut self) -> Result<Vec<Applied>, Stop> {
        let mut known = match self.known.take().filter(|known| known.term == self.term) {
            Some(known) => known,
            None => match Known::load(self.connection, self.term).await {
                Ok(known) => known,
                Err(failure) => return Err(self.before_commit(failure).await),
            },
        };
        if let Err(failure) = known.make_days(self.connection, self.batch).await {
            return Err(self.before_commit(failure).await);
        }
        let outcome = match self.apply(&mut known).await {
            Err(Stop::MissingDay) => {
                known.days.clear();
                match known.make_days(self.connection, self.batch).await {
                    Ok(()) => self.apply(&mut known).await,
                    Err(failure) => Err(self.before_commit(failure).await),
                }
            }
            other => other,
        };
        self.known = Some(known);
        match outcome {
            Err(Stop::Numbered(last)) if last == self.batch.number && last > 0 => self.answer_again().await,
            other => other,
        }
    }

    async fn apply(&self, known: &mut Known) -> Result<Vec<Applied>, Stop> {
        if plan::is_plain(&self.batch.changes) {
            let outcome = self.at_once(known).await;
            known.leases.roll_back();
            // What was believed may turn out otherwise. Then the rows are read, which also tells exactly what
            // contradicts what.
            if !matches!(outcome, Err(Stop::Contradiction(_))) {
                return outcome;
            }
        }
        let outcome = self.with_care(known).await;
        known.leases.roll_back();
        outcome
    }

    /// The number was taken before: the same outcomes again.
    async fn answer_again(&self) -> Result<Vec<Applied>, Stop> {
        let mut pipeline = Pipeline::new(self.connection);
        pipeline.command("BEGIN");
        pipeline.add(sql::ASSERT_TERM, term_params(self.term)).map_err(refused)?;
        let batch = pipeline.add(sql::READ_BATCH, vec![]).map_err(refused)?;
        pipeline.command("COMMIT");
        let answers = self.send(pipeline).await?;
        let decode = |found: &Row| -> Result<Vec<Applied>, Failure> {
            Ok(outcomes::decode(self.batch, found.try_get(1)?)?)
        };
        let found = answers[batch].first().map(decode);
        found.unwrap_or(Ok(Vec::new())).map_err(refused)
    }

    /// Everything in one round trip, on the leader's word.
    async fn at_once(&self, known: &mut Known) -> Result<Vec<Applied>, Stop> {
        let mut course = Course::new(known);
        let mut segment = Segment::new(Facts::default());
        let mut answers = Vec::with_capacity(self.batch.changes.len());
        for change in &self.batch.changes {
            match segment.take(&mut course, change) {
                Ok(Taken::Done(applied)) => answers.push(applied),
                Ok(Taken::After | Taken::Apart) | Err(_) => {
                    return Err(Stop::Contradiction(StoreError::Failed(String::new())));
                }
            }
        }
        self.check_closed(&course)?;
        let mut pipeline = Pipeline::new(self.connection);
        let filled = self.begin(&mut pipeline).and_then(|()| segment.write(&mut pipeline));
        filled.and_then(|()| self.finish(&mut pipeline, &answers, course.last_seq)).map_err(refused)?;
        match self.send_last(pipeline).await {
            Ok(()) => {
                course.keep();
                Ok(answers)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Reads what the changes touch, then writes; segment by segment, in one transaction.
    async fn with_care(&self, known: &mut Known) -> Result<Vec<Applied>, Stop> {
        let mut course = Course::new(known);
        let mut answers = Vec::with_capacity(self.batch.changes.len());
        let mut rest = &self.batch.changes[..];
        let mut pipeline = Pipeline::new(self.connection);
        self.begin(&mut pipeline).map_err(refused)?;
        // Bounded: each round takes at least one change.
        loop {
            let places = Wanted::by(rest).add_to(&mut pipeline).map_err(refused)?;
            let read = self.send(pipeline).await?;
            let facts = match Facts::read_from(&read, &places) {
                Ok(facts) => facts,
                Err(failure) => return Err(self.before_commit(failure).await),
            };
            course.inbox.extend(&facts.inbox);
            let mut segment = Segment::new(facts);
            let mut apart = None;
            while let Some((change, after)) = rest.split_first() {
                match segment.take(&mut course, change) {
                    Ok(Taken::Done(applied)) => answers.push(applied),
                    Ok(Taken::After) => break,
                    Ok(Taken::Apart) => apart = Some(change),
                    Err(failure) => return Err(self.contradicted(failure).await),
                }
                rest = after;
                if apart.is_some() {
                    break;
                }
            }
            pipeline = Pipeline::new(self.connection);
            segment.write(&mut pipeline).map_err(refused)?;
            if let Some(change) = apart {
                self.send(pipeline).await?;
                answers.push(self.remove(&mut course, change).await?);
                pipeline = Pipeline::new(self.connection);
            }
            if rest.is_empty() {
                break;
            }
        }
        if let Err(stop) = self.check_closed(&course) {
            self.roll_back().await;
            return Err(stop);
        }
        self.finish(&mut pipeline, &answers, course.last_seq).map_err(refused)?;
        self.send_last(pipeline).await?;
        course.keep();
        Ok(answers)
    }

    async fn remove(&self, course: &mut Course<'_>, change: &Change) -> Result<Applied, Stop> {
        let removed = match change {
            Change::PurgeDead { queue, limit } => removal::purge_dead(self.connection, queue, *limit).await,
            Change::Delete(jobs) => removal::delete(self.connection, jobs).await,
            Change::Prune { now, limit } => {
                removal::prune(self.connection, &mut course.known.days, *now, *limit).await
            }
            Change::Submit(_)
            | Change::Assign(_)
            | Change::End(_)
            | Change::Finish(_)
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
            | Change::Schedule(_) => Ok(Vec::new()),
        };
        match removed {
            Ok(tallies) => Ok(Applied::Removed(tallies)),
            Err(failure) => Err(self.before_commit(failure).await),
        }
    }

    fn begin(&self, pipeline: &mut Pipeline<'a>) -> Result<(), Failure> {
        pipeline.command("BEGIN");
        let mut params = term_params(self.term);
        params.push(param(self.batch.number.cast_signed()));
        pipeline.add(sql::BEGIN_BATCH, params).map(drop)
    }

    fn finish(&self, pipeline: &mut Pipeline<'a>, answers: &[Applied], last_seq: u64) -> Result<(), Failure> {
        minutes::add(pipeline, self.batch, answers)?;
        let outcomes = outcomes::encode(self.batch, answers)?;
        let params =
            vec![param(self.batch.number.cast_signed()), param(outcomes), param(last_seq.cast_signed())];
        pipeline.add(sql::ADVANCE_BATCH, params)?;
        pipeline.command("COMMIT");
        Ok(())
    }

    /// Sends a part of the transaction that is not its last.
    async fn send(&self, pipeline: Pipeline<'a>) -> Result<Vec<Vec<Row>>, Stop> {
        if pipeline.is_empty() {
            return Ok(Vec::new());
        }
        match pipeline.run().await {
            Ok(answers) => Ok(answers),
            Err((_, failure)) => Err(self.before_commit(failure).await),
        }
    }

    /// Sends the last part of the transaction, which ends with COMMIT.
    async fn send_last(&self, pipeline: Pipeline<'a>) -> Result<(), Stop> {
        let commit = pipeline.len() - 1;
        match pipeline.run().await {
            Ok(_) => Ok(()),
            // What the server says about COMMIT itself may be said after it was done.
            Err((place, failure)) if place == commit || !failure.is_certain() => {
                Err(Stop::Unknown(failure.into_error("the commit was not answered").to_string()))
            }
            Err((_, failure)) => Err(self.classify(failure)),
        }
    }

    /// A statement failed before COMMIT was sent: nothing was written, whatever the reason.
    async fn before_commit(&self, failure: Failure) -> Stop {
        self.roll_back().await;
        self.classify(failure)
    }

    /// A change contradicts what was read.
    async fn contradicted(&self, failure: Failure) -> Stop {
        self.roll_back().await;
        match failure {
            Failure::Refused(error) => Stop::Contradiction(error),
            Failure::Sql(_) | Failure::Late => self.classify(failure),
        }
    }

    /// What a failure that left nothing behind comes to.
    fn classify(&self, failure: Failure) -> Stop {
        if !failure.is_certain() {
            self.broken.store(true, Ordering::Relaxed);
        }
        if failure.is_term_over() {
            return Stop::TermLost;
        }
        if let Some(last) = failure.last_batch() {
            return Stop::Numbered(last);
        }
        if failure.is_missing_day() {
            return Stop::MissingDay;
        }
        if failure.is_contradiction() {
            return Stop::Contradiction(failure.into_error("the rows are not as the leader says"));
        }
        Stop::Failed(failure.into_error("cannot write to the database"))
    }

    fn check_closed(&self, course: &Course<'_>) -> Result<(), Stop> {
        for change in &self.batch.changes {
            if let Change::CloseSession(id, _) = change
                && let Some(fence) = course.known.leases.of_session(*id)
            {
                return Err(Stop::Contradiction(refusal::closed_with_lease(*id, fence)));
            }
        }
        Ok(())
    }

    /// Leaves no transaction open.
    async fn roll_back(&self) {
        let mut pipeline = Pipeline::new(self.connection);
        pipeline.command("ROLLBACK");
        if pipeline.run().await.is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
    }
}

fn refused(failure: Failure) -> Stop {
    Stop::Failed(failure.into_error("cannot write to the database"))
}
