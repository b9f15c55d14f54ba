//! One batch, one transaction: the guard of the term, the order of batches, all or nothing.
//!
//! What can go wrong, and why it is harmless:
//! - A statement fails (a contradiction, a full disk): the server says so, the transaction is rolled back and nothing was
//!   written.
//! - The connection is lost, or the answer is late: the transaction may have been committed, may not, or may still be
//!   under way. The answer is *unknown*. Sent again, the batch waits for the row of its number, which the other one holds
//!   while it is under way, and finds the number taken, or is applied.
//! - The leader was deposed: the guard fails, and everything after it.

use std::sync::atomic::{AtomicBool, Ordering};

use ganger_core::change::{Applied, Batch, Change};
use ganger_core::{JobId, Term};
use tokio_postgres::Row;

use super::connection::Connection;
use super::error::Failure;
use super::known::{Known, term_params};
use super::pipeline::{Pipeline, param};
use super::plan::{self, Course, Facts, Segment, Taken, Wanted};
use super::{minutes, removal, row, sql};
use crate::store::{Committed, StoreError};
use crate::{outcomes, refusal};

/// Why a batch was not committed.
pub(super) enum Stop {
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

/// A batch on its way.
pub(super) struct Attempt<'a> {
    connection: &'a Connection,
    /// The connection must not be used again.
    broken: AtomicBool,
    pub(super) known: Option<Known>,
    term: Term,
    batch: &'a Batch,
    /// Jobs whose payloads are to be brought along.
    wanted: &'a [JobId],
    /// An earlier attempt may have been committed.
    in_doubt: bool,
    /// An earlier attempt contradicted what is stored.
    contradicted: bool,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        term: Term,
        batch: &'a Batch,
        wanted: &'a [JobId],
    ) -> Attempt<'a> {
        let (broken, known) = (AtomicBool::new(false), None);
        Attempt { connection, broken, known, term, batch, wanted, in_doubt: false, contradicted: false }
    }

    /// With what is known already, and what became of an earlier attempt: it may have been committed, or it
    /// contradicted what is stored.
    pub(super) fn knowing(self, known: Option<Known>, in_doubt: bool, contradicted: bool) -> Attempt<'a> {
        Attempt { known, in_doubt, contradicted, ..self }
    }

    /// Its batch, by term and number.
    pub(super) fn which(&self) -> (Term, u64) {
        (self.term, self.batch.number)
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    pub(super) async fn run(&mut self) -> Result<Committed, Stop> {
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
        match outcome {
            // What is known may be from before it was applied.
            Err(Stop::Numbered(last)) if self.may_be(last) => self.answer_again().await.map(Committed::from),
            other => {
                self.known = Some(known);
                other
            }
        }
    }

    async fn apply(&self, known: &mut Known) -> Result<Committed, Stop> {
        if !self.contradicted && plan::is_plain(&self.batch.changes) {
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
        outcome.map(Committed::from)
    }

    /// Whether this batch was applied if that one was the last. One in doubt may have been followed by another.
    fn may_be(&self, last: u64) -> bool {
        let this = self.batch.number;
        this > 0 && (last == this || (self.in_doubt && last == this + 1))
    }

    /// The number was taken before: the same outcomes again. Only a batch that comes to what is usual is followed by
    /// another before it is answered; of any other it is the last.
    async fn answer_again(&self) -> Result<Vec<Applied>, Stop> {
        let mut pipeline = Pipeline::new(self.connection);
        pipeline.command("BEGIN");
        pipeline.add(sql::ASSERT_TERM, term_params(self.term)).map_err(refused)?;
        let batch = pipeline.add(sql::READ_BATCH, vec![]).map_err(refused)?;
        pipeline.command("COMMIT");
        let answers = self.send(pipeline).await?;
        let decode = |found: &Row| -> Result<Vec<Applied>, Failure> {
            let last = found.try_get::<_, i64>(0)?.cast_unsigned();
            let kept = found.try_get::<_, Option<&str>>(1)?.filter(|_| last == self.batch.number);
            Ok(outcomes::decode(self.batch, kept)?)
        };
        let found = answers[batch].first().map(decode);
        found.unwrap_or(Ok(Vec::new())).map_err(refused)
    }

    /// Everything in one round trip, on the leader's word.
    async fn at_once(&self, known: &mut Known) -> Result<Committed, Stop> {
        let mut course = Course::new(known);
        let (pipeline, applied) = self.plan(&mut course)?;
        let payloads = self.send_last(pipeline).await?;
        course.keep();
        Ok(Committed { applied, payloads })
    }

    /// The same, believed before it is sent. `None` if the batch does not come to what is usual, or something has to be
    /// looked up.
    pub(super) fn believing(&self, known: &mut Known) -> Option<(Pipeline<'a>, Vec<Applied>)> {
        let mut course = Course::new(known);
        let planned = self.plan(&mut course).ok();
        let usual =
            |(_, answers): &(_, Vec<Applied>)| matches!(outcomes::encode(self.batch, answers), Ok(None));
        match planned.filter(usual) {
            Some(planned) => {
                course.keep();
                Some(planned)
            }
            None => {
                known.leases.roll_back();
                None
            }
        }
    }

    /// The whole transaction and its answers, without a look at any row.
    fn plan(&self, course: &mut Course<'_>) -> Result<(Pipeline<'a>, Vec<Applied>), Stop> {
        let mut segment = Segment::new(Facts::default()).wanting(self.wanted);
        let mut answers = Vec::with_capacity(self.batch.changes.len());
        for change in &self.batch.changes {
            match segment.take(course, change) {
                Ok(Taken::Done(applied)) => answers.push(applied),
                Ok(Taken::After | Taken::Apart) | Err(_) => {
                    return Err(Stop::Contradiction(StoreError::Failed(String::new())));
                }
            }
        }
        self.check_closed(course)?;
        let mut pipeline = Pipeline::new(self.connection);
        if segment.is_submission(&self.batch.changes) {
            self.stroke(&mut pipeline, segment, &answers, course.last_seq).map_err(refused)?;
            return Ok((pipeline, answers));
        }
        let filled = self.begin(&mut pipeline).and_then(|()| segment.write(&mut pipeline));
        filled.and_then(|()| self.finish(&mut pipeline, &answers, course.last_seq)).map_err(refused)?;
        Ok((pipeline, answers))
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

    /// The whole transaction as one statement.
    fn stroke(
        &self,
        pipeline: &mut Pipeline<'a>,
        segment: Segment<'a>,
        answers: &[Applied],
        last_seq: u64,
    ) -> Result<(), Failure> {
        let mut params = term_params(self.term);
        params.push(param(self.batch.number.cast_signed()));
        params.push(param(outcomes::encode(self.batch, answers)?));
        params.push(param(last_seq.cast_signed()));
        params.extend(segment.submission()?);
        params.extend(minutes::columns(self.batch, answers).0);
        pipeline.stroke(sql::SUBMIT_BATCH, params)
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

    /// Sends the last part of the transaction, with which it is committed. Tells the payloads that come along: those that cannot be read
    /// are left to whoever reads them alone, for the batch is durable.
    pub(super) async fn send_last(&self, pipeline: Pipeline<'a>) -> Result<Vec<(JobId, String)>, Stop> {
        let (commit, brings) = (pipeline.commit(), pipeline.brings());
        match pipeline.run().await {
            Ok(answers) => {
                let rows = brings.and_then(|place| answers.get(place)).map_or(&[][..], Vec::as_slice);
                Ok(rows.iter().filter_map(row::payload).collect())
            }
            // What the server says about a commit itself may be said after it was done.
            Err((place, failure)) if commit.is_at(place) || !failure.is_certain() => {
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
