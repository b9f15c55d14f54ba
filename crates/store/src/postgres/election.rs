//! Who leads: standing, renewing, resigning.
//!
//! One connection of its own, straight to the database, because it holds a lock for as long as it leads: the *lock of
//! the term*, by which others notice at once that it closed. The lock is a hint and no more. What makes a term begin or
//! end is the row, and what makes a takeover safe is the guard:
//!
//! - Every transaction of a leader holds the guard shared, and reads the row under it. Whoever takes over holds the guard
//!   exclusively while it changes the row. So no transaction of the old term is under way when the new one begins, and
//!   none can begin after.
//! - A leader that was stopped in the middle of a transaction holds the guard for as long as it sleeps. Whoever may take
//!   over by the row ends such connections; their transactions never were.
//! - A leader that only lost this connection still leads by its row; another may take over sooner than necessary, which
//!   is safe.
//! - The lock is named after the term, so that an old leader that wakes up holds a lock that means nothing.

use std::time::Duration;

use ganger_core::time::micros;
use ganger_core::{Term, Wall};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::Row;

use super::connection::{Connection, Connector};
use super::error::Failure;
use super::known::term_params;
use super::pipeline::{Param, Pipeline, param};
use super::sql::{self, Sql};
use crate::shared::{Candidate, Election, LeaderView, ServerRecord};
use crate::store::{CommitError, StoreError};

/// What the connection of the election needs.
const STATEMENTS: &[Sql] = &[
    sql::ANNOUNCE,
    sql::BEGIN_TERM,
    sql::END_GUARDS,
    sql::LOCK_GUARD,
    sql::LOCK_TERM,
    sql::LOOK_LEADER,
    sql::MAKE_DAYS,
    sql::RENEW,
    sql::RESIGN,
    sql::UNLOCK_TERM,
    sql::WITHDRAW,
];
/// How often the guard is tried for, each time for a second.
const TRIES: usize = 5;
/// Longest wait for a renewal: the leader must know soon whether it still leads.
const RENEWAL: Duration = Duration::from_secs(2);
/// How long a leader that was made without an election may be silent.
const DEFAULT_TTL: Duration = Duration::from_secs(5);

/// The election.
#[derive(Debug)]
pub(super) struct Elections {
    connector: Connector,
    connection: Mutex<Option<Connection>>,
}

/// The row of the leader.
pub(super) struct Look {
    pub(super) view: LeaderView,
    pub(super) resigned: bool,
    vacant: bool,
}

impl Look {
    /// A row of `look_leader`.
    pub(super) fn of(found: &Row) -> Result<Look, Failure> {
        let number = |index| found.try_get::<_, i64>(index).map(i64::cast_unsigned);
        let view = LeaderView {
            term: Term { number: number(0)?, id: number(1)? },
            server: found.try_get(2)?,
            address: found.try_get(3)?,
            since: Wall(found.try_get(4)?),
            renewed_ago: Duration::from_micros(number(5)?),
            batch: number(6)?,
        };
        Ok(Look { view, resigned: found.try_get(7)?, vacant: found.try_get(8)? })
    }
}

impl Elections {
    pub(super) fn new(connector: Connector) -> Elections {
        Elections { connector, connection: Mutex::new(None) }
    }

    /// Stands for leadership. While another leads this is one statement.
    pub(super) async fn stand(&self, candidate: &Candidate, more_than: u64) -> Result<Election, StoreError> {
        let mut held = self.connection.lock().await;
        let connection = self.take(&mut held).await?;
        let stood = stand(&connection, candidate, more_than, Vacancy::Needed).await;
        give_back(&mut held, connection, stood, "cannot stand for leadership")
    }

    /// Begins a term, whoever leads.
    pub(super) async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        let candidate = Candidate { server: server.into(), address: String::new(), ttl: DEFAULT_TTL };
        let mut held = self.connection.lock().await;
        let connection = self.take(&mut held).await?;
        let stood = stand(&connection, &candidate, more_than, Vacancy::NotNeeded).await;
        match give_back(&mut held, connection, stood, "cannot begin a term")? {
            Election::Leads(term) => Ok(term),
            Election::Follows(_) => Err(StoreError::Unavailable("cannot begin a term".into())),
        }
    }

    /// The leader of this term is still there.
    pub(super) async fn renew(&self, term: Term) -> Result<(), CommitError> {
        let renewing = async {
            let mut held = self.connection.lock().await;
            let fresh = held.as_ref().is_none_or(Connection::is_closed);
            let connection = self.take(&mut held).await.map_err(CommitError::Refused)?;
            let renewed = renew(&connection, term, fresh).await;
            let renewed = give_back(&mut held, connection, renewed, "cannot renew the term");
            renewed.map_err(|error| CommitError::Unknown(error.to_string()))
        };
        match timeout(RENEWAL, renewing).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(CommitError::TermLost),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(CommitError::Unknown("the renewal was not answered in time".into())),
        }
    }

    /// The leader of this term leads no more.
    pub(super) async fn resign(&self, term: Term) -> Result<(), CommitError> {
        let mut held = self.connection.lock().await;
        let connection = self.take(&mut held).await.map_err(CommitError::Refused)?;
        let resigned = resign(&connection, term).await;
        let resigned = give_back(&mut held, connection, resigned, "cannot resign");
        match resigned {
            Ok(true) => Ok(()),
            Ok(false) => Err(CommitError::TermLost),
            Err(error) => Err(CommitError::Unknown(error.to_string())),
        }
    }

    /// A server lives.
    pub(super) async fn announce(&self, server: &ServerRecord) -> Result<(), StoreError> {
        let params: Vec<Param<'_>> = vec![
            param(server.name.as_str()),
            param(server.address.as_str()),
            param(server.version.as_str()),
            param(server.started_at.0),
        ];
        self.one(sql::ANNOUNCE, params, "cannot announce this server").await
    }

    /// A server stopped in good order.
    pub(super) async fn withdraw(&self, server: &str) -> Result<(), StoreError> {
        self.one(sql::WITHDRAW, vec![param(server)], "cannot withdraw this server").await
    }

    async fn one(&self, sql: Sql, params: Vec<Param<'_>>, operation: &str) -> Result<(), StoreError> {
        let mut held = self.connection.lock().await;
        let connection = self.take(&mut held).await?;
        let done = ask(&connection, sql, params).await.map(drop);
        give_back(&mut held, connection, done, operation)
    }

    /// The connection, opened again if need be. Whoever takes it gives it back, unless something went wrong with it or
    /// nobody waits any more.
    async fn take(&self, held: &mut Option<Connection>) -> Result<Connection, StoreError> {
        match held.take().filter(|connection| !connection.is_closed()) {
            Some(open) => Ok(open),
            None => self.connector.plain(STATEMENTS).await,
        }
    }
}

/// Keeps a connection for the next call, unless it may be in the middle of something.
fn give_back<T>(
    held: &mut Option<Connection>,
    connection: Connection,
    outcome: Result<T, Failure>,
    operation: &str,
) -> Result<T, StoreError> {
    if outcome.as_ref().is_ok_and(|_| true) || outcome.as_ref().is_err_and(Failure::is_certain) {
        *held = Some(connection);
    }
    outcome.map_err(|failure| failure.into_error(operation))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Vacancy {
    Needed,
    NotNeeded,
}

async fn stand(
    connection: &Connection,
    candidate: &Candidate,
    more_than: u64,
    vacancy: Vacancy,
) -> Result<Election, Failure> {
    let seen = look(connection, &candidate.server).await?;
    if vacancy == Vacancy::Needed && !seen.vacant {
        return Ok(Election::Follows(seen.view));
    }
    let mut last = None;
    for _ in 0..TRIES {
        let tried = take_term(connection, candidate, more_than, vacancy).await;
        if tried.is_err() {
            let mut pipeline = Pipeline::new(connection);
            pipeline.command("ROLLBACK");
            pipeline.run().await.map_err(|(_, failure)| failure)?;
        }
        match tried {
            Err(failure) if failure.is_lock_timeout() => {
                // Somebody sleeps in the middle of a transaction, or several stand at once.
                ask(connection, sql::END_GUARDS, vec![]).await?;
                last = Some(failure);
            }
            Err(failure) => return Err(failure),
            Ok(Election::Leads(term)) => {
                ask(connection, sql::MAKE_DAYS, vec![param(Vec::<i32>::new())]).await?;
                return Ok(Election::Leads(term));
            }
            Ok(Election::Follows(view)) => return Ok(Election::Follows(view)),
        }
    }
    Err(last.unwrap_or(Failure::Late))
}

/// One transaction: the guard, another look, and a new term if the old one is still vacant.
async fn take_term(
    connection: &Connection,
    candidate: &Candidate,
    more_than: u64,
    vacancy: Vacancy,
) -> Result<Election, Failure> {
    let mut pipeline = Pipeline::new(connection);
    pipeline.command("BEGIN");
    pipeline.command("SET LOCAL lock_timeout = '1s'");
    pipeline.add(sql::LOCK_GUARD, vec![])?;
    let place = pipeline.add(sql::LOOK_LEADER, vec![param(candidate.server.as_str())])?;
    let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    let seen = looked(&answers[place])?;
    let mut pipeline = Pipeline::new(connection);
    if vacancy == Vacancy::Needed && !seen.vacant {
        pipeline.command("ROLLBACK");
        pipeline.run().await.map_err(|(_, failure)| failure)?;
        return Ok(Election::Follows(seen.view));
    }
    let id: u64 = rand::random();
    let place = pipeline.add(
        sql::BEGIN_TERM,
        vec![
            param(more_than.cast_signed()),
            param(id.cast_signed()),
            param(i64::try_from(micros(candidate.ttl)).unwrap_or(i64::MAX)),
            param(candidate.server.as_str()),
            param(candidate.address.as_str()),
        ],
    )?;
    pipeline.command("COMMIT");
    let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    let number: i64 = match answers[place].first() {
        Some(found) => found.try_get(0)?,
        None => return Err(Failure::unreadable("the leader", "there is no row")),
    };
    // The lock of the term before, if this connection held it, means nothing any more.
    let before = seen.view.term.number.cast_signed();
    ask(connection, sql::UNLOCK_TERM, vec![param(before)]).await?;
    Ok(Election::Leads(Term { number: number.cast_unsigned(), id }))
}

async fn renew(connection: &Connection, term: Term, fresh: bool) -> Result<bool, Failure> {
    let mut pipeline = Pipeline::new(connection);
    if fresh {
        pipeline.add(sql::LOCK_TERM, vec![param(term.number.cast_signed())])?;
    }
    let place = pipeline.add(sql::RENEW, term_params(term))?;
    let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    Ok(!answers[place].is_empty())
}

/// Waits for the transactions under way, so that nothing is written in the term afterwards.
async fn resign(connection: &Connection, term: Term) -> Result<bool, Failure> {
    let mut pipeline = Pipeline::new(connection);
    pipeline.command("BEGIN");
    pipeline.command("SET LOCAL lock_timeout = '5s'");
    pipeline.add(sql::LOCK_GUARD, vec![])?;
    let place = pipeline.add(sql::RESIGN, term_params(term))?;
    pipeline.command("COMMIT");
    pipeline.add(sql::UNLOCK_TERM, vec![param(term.number.cast_signed())])?;
    let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    Ok(!answers[place].is_empty())
}

async fn look(connection: &Connection, server: &str) -> Result<Look, Failure> {
    looked(&ask(connection, sql::LOOK_LEADER, vec![param(server)]).await?)
}

fn looked(rows: &[Row]) -> Result<Look, Failure> {
    match rows.first() {
        Some(found) => Look::of(found),
        None => Err(Failure::unreadable("the leader", "there is no row")),
    }
}

async fn ask(connection: &Connection, sql: Sql, params: Vec<Param<'_>>) -> Result<Vec<Row>, Failure> {
    let mut pipeline = Pipeline::new(connection);
    pipeline.add(sql, params)?;
    let mut answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    Ok(answers.pop().unwrap_or_default())
}
