//! Statements sent one after the other without waiting for answers: one round trip for all of them.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures::TryStreamExt;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connection::{ANSWER, Connection};
use super::error::Failure;
use super::sql::Sql;

/// A parameter that a statement takes with it.
pub(super) type Param<'a> = Box<dyn ToSql + Sync + Send + 'a>;

pub(super) type Answer = Result<Vec<Row>, tokio_postgres::Error>;
type Step<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Statements that will be sent together, in this order.
///
/// Each is answered on its own, and a failed one leaves the transaction failed: the statements after it fail too, and
/// COMMIT then rolls back. So a transaction sent like this happened if and only if none of its statements failed.
pub(super) struct Pipeline<'a> {
    connection: &'a Connection,
    steps: Vec<Step<'a>>,
    /// The statement whose rows are brought along.
    brings: Option<usize>,
    /// The end of a transaction that is one statement, which says nothing of its own when it commits.
    stroke: Option<Arc<AtomicBool>>,
}

/// Which failure leaves open whether a transaction was committed.
pub(super) enum Commit {
    /// That of the statement of this place, which is COMMIT.
    Place(usize),
    /// Any, once the only statement is known to have been executed.
    Executed(Arc<AtomicBool>),
}

impl Commit {
    /// Whether a failure in this place is one of the commit itself.
    pub(super) fn is_at(&self, place: usize) -> bool {
        match self {
            Commit::Place(commit) => place == *commit,
            Commit::Executed(executed) => executed.load(Ordering::Relaxed),
        }
    }
}

/// Boxes a parameter.
pub(super) fn param<'a>(value: impl ToSql + Sync + Send + 'a) -> Param<'a> {
    Box::new(value)
}

impl<'a> Pipeline<'a> {
    pub(super) fn new(connection: &'a Connection) -> Pipeline<'a> {
        Pipeline { connection, steps: Vec::new(), brings: None, stroke: None }
    }

    pub(super) fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Where its transaction is committed.
    pub(super) fn commit(&self) -> Commit {
        match &self.stroke {
            Some(executed) => Commit::Executed(Arc::clone(executed)),
            None => Commit::Place(self.steps.len().saturating_sub(1)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds a prepared statement. Returns its place among the answers.
    pub(super) fn add(&mut self, sql: Sql, params: Vec<Param<'a>>) -> Result<usize, Failure> {
        let statement = self.connection.statement(sql)?.clone();
        let client = &self.connection.client;
        self.steps.push(Box::pin(async move {
            let params: Vec<&(dyn ToSql + Sync)> =
                params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect();
            client.query(&statement, &params).await
        }));
        Ok(self.steps.len() - 1)
    }

    /// Adds a prepared statement whose rows whoever waits for the transaction wants to see.
    pub(super) fn bring(&mut self, sql: Sql, params: Vec<Param<'a>>) -> Result<(), Failure> {
        self.brings = Some(self.add(sql, params)?);
        Ok(())
    }

    /// Which statement brings rows along, if one does.
    pub(super) fn brings(&self) -> Option<usize> {
        self.brings
    }

    /// Adds a prepared statement that is a transaction of its own, and everything that is sent.
    pub(super) fn stroke(&mut self, sql: Sql, params: Vec<Param<'a>>) -> Result<(), Failure> {
        let statement = self.connection.statement(sql)?.clone();
        let client = &self.connection.client;
        let executed = Arc::new(AtomicBool::new(false));
        self.stroke = Some(Arc::clone(&executed));
        self.steps.push(Box::pin(async move {
            let params = params.iter().map(|param| &**param as &(dyn ToSql + Sync));
            let mut rows = pin!(client.query_raw(&statement, params).await?);
            loop {
                let row = rows.as_mut().try_next().await;
                // The server counts rows when a statement is done, and commits after that.
                executed.store(rows.rows_affected().is_some(), Ordering::Relaxed);
                match row {
                    Ok(Some(_)) => {}
                    Ok(None) => return Ok(Vec::new()),
                    Err(error) => return Err(error),
                }
            }
        }));
        Ok(())
    }

    /// Adds something else that is sent when it is first polled.
    pub(super) fn step(&mut self, step: impl Future<Output = Answer> + Send + 'a) {
        self.steps.push(Box::pin(step));
    }

    /// Adds a command without parameters or rows, such as BEGIN.
    pub(super) fn command(&mut self, text: &'static str) {
        let client = &self.connection.client;
        self.steps.push(Box::pin(async move { client.batch_execute(text).await.map(|()| Vec::new()) }));
    }

    /// Sends everything and waits for every answer: the rows of each statement, or the first failure with its place.
    pub(super) async fn run(self) -> Result<Vec<Vec<Row>>, (usize, Failure)> {
        let mut steps = self.steps;
        let mut answers: Vec<Option<Answer>> = steps.iter().map(|_| None).collect();
        // A step is sent when it is polled first; each round polls them in order.
        let all = poll_fn(|context| {
            let mut waiting = false;
            for (step, answer) in steps.iter_mut().zip(&mut answers) {
                if answer.is_none() {
                    match step.as_mut().poll(context) {
                        Poll::Ready(answered) => *answer = Some(answered),
                        Poll::Pending => waiting = true,
                    }
                }
            }
            if waiting { Poll::Pending } else { Poll::Ready(()) }
        });
        if timeout(ANSWER, all).await.is_err() {
            return Err((0, Failure::Late));
        }
        let mut rows = Vec::with_capacity(answers.len());
        for (place, answer) in answers.into_iter().enumerate() {
            match answer {
                Some(Ok(found)) => rows.push(found),
                Some(Err(error)) => return Err((place, error.into())),
                None => return Err((place, Failure::Late)),
            }
        }
        Ok(rows)
    }
}
