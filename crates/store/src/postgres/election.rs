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
use crate::shared::{Candidate, Election, LeaderView, SERVER_FORGOTTEN_AFTER, ServerRecord};
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
const SOON: Duration = Duration::from_secs(2);
/// So many calls in a row without an answer, and the connection is given up.
const TOO_LATE: u32 = 2;
/// How long a leader that was made without an election may be silent.
const DEFAULT_TTL: Duration = Duration::from_secs(5);

/// The election.
#[derive(Debug)]
pub(super) struct Elections {
    connector: Connector,
    seat: Mutex<Option<Seat>>,
}

/// The connection, and what it holds.
#[derive(Debug)]
struct Seat {
    connection: Connection,
    /// The number of the term whose lock it holds.
    locked: Option<u64>,
    /// Calls in a row that were not answered in time.
    late: u32,
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
        Elections { connector, seat: Mutex::new(None) }
    }

    /// Stands for leadership. While another leads this is one statement.
    pub(super) async fn stand(&self, candidate: &Candidate, more_than: u64) -> Result<Election, StoreError> {
        self.elect(candidate, more_than, Vacancy::Needed).await
    }

    /// Begins a term, whoever leads.
    pub(super) async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        let candidate = Candidate { server: server.into(), address: String::new(), ttl: DEFAULT_TTL };
        match self.elect(&candidate, more_than, Vacancy::NotNeeded).await? {
            Election::Leads(term) => Ok(term),
            Election::Follows(_) => Err(StoreError::Unavailable("cannot begin a term".into())),
        }
    }

    /// The leader of this term is still there.
    pub(super) async fn renew(&self, term: Term) -> Result<(), CommitError> {
        let renewing = async {
            let mut place = self.seat.lock().await;
            let seat = self.sit(&mut place).await.map_err(CommitError::Refused)?;
            seat.late += 1;
            let mut pipeline = Pipeline::new(&seat.connection);
            // On a new connection the lock of the term may still be the old one's, which nobody has missed yet.
            let lock = match seat.locked {
                Some(locked) if locked == term.number => None,
                Some(_) | None => Some(add_number(&mut pipeline, sql::LOCK_TERM, term.number)?),
            };
            let renew = pipeline.add(sql::RENEW, term_params(term)).map_err(lost)?;
            let answers = pipeline.run().await.map_err(|(_, failure)| lost(failure))?;
            seat.late = 0;
            let taken = |at: usize| answers[at].first().is_some_and(|found| found.get(0));
            if lock.is_some_and(taken) {
                seat.locked = Some(term.number);
            }
            Ok(!answers[renew].is_empty())
        };
        let renewed = timeout(SOON, renewing).await;
        match renewed {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(CommitError::TermLost),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(CommitError::Unknown("the renewal was not answered in time".into())),
        }
    }

    /// The leader of this term leads no more.
    pub(super) async fn resign(&self, term: Term) -> Result<(), CommitError> {
        let mut place = self.seat.lock().await;
        self.sit(&mut place).await.map_err(CommitError::Refused)?;
        // Taken away while a transaction is open: if nobody waits for it any more, it goes with its connection.
        let Some(mut seat) = place.take() else { return Err(CommitError::Unknown("no connection".into())) };
        let resigned = resign(&seat.connection, term).await;
        seat.locked = None;
        match resigned {
            Ok(true) => {
                *place = Some(seat);
                Ok(())
            }
            Ok(false) => {
                *place = Some(seat);
                Err(CommitError::TermLost)
            }
            Err(failure) => Err(lost(failure)),
        }
    }

    /// A server lives.
    pub(super) async fn announce(&self, server: &ServerRecord) -> Result<(), StoreError> {
        let params: Vec<Param<'_>> = vec![
            param(server.name.as_str()),
            param(server.address.as_str()),
            param(server.version.as_str()),
            param(server.started_at.0),
            param(forgotten_micros()),
        ];
        self.one(sql::ANNOUNCE, params, "cannot announce this server").await
    }

    /// A server stopped in good order.
    pub(super) async fn withdraw(&self, server: &str) -> Result<(), StoreError> {
        self.one(sql::WITHDRAW, vec![param(server)], "cannot withdraw this server").await
    }

    async fn elect(
        &self,
        candidate: &Candidate,
        more_than: u64,
        vacancy: Vacancy,
    ) -> Result<Election, StoreError> {
        let mut place = self.seat.lock().await;
        let seat = self.sit(&mut place).await?;
        let cannot = |failure: Failure| failure.into_error("cannot stand for leadership");
        let seen = look(&seat.connection, &candidate.server).await.map_err(cannot)?;
        if vacancy == Vacancy::Needed && !seen.vacant {
            return Ok(Election::Follows(seen.view));
        }
        // Taken away while a transaction is open.
        let Some(mut seat) = place.take() else { return Ok(Election::Follows(seen.view)) };
        let stood = stand(&mut seat, candidate, more_than, vacancy).await;
        if !stood.as_ref().is_err_and(|failure| !failure.is_certain()) {
            *place = Some(seat);
        }
        stood.map_err(cannot)
    }

    async fn one(&self, sql: Sql, params: Vec<Param<'_>>, operation: &str) -> Result<(), StoreError> {
        let asking = async {
            let mut place = self.seat.lock().await;
            let seat = self.sit(&mut place).await?;
            seat.late += 1;
            ask(&seat.connection, sql, params).await?;
            seat.late = 0;
            Ok::<_, Failure>(())
        };
        let asked = timeout(SOON, asking).await.unwrap_or(Err(Failure::Late));
        asked.map_err(|failure| failure.into_error(operation))
    }

    /// The connection, opened again if it is closed or was late too often. One that was late once is kept, for
    /// closing it would tell everyone that its leader is gone.
    async fn sit<'s>(&self, place: &'s mut Option<Seat>) -> Result<&'s mut Seat, StoreError> {
        if place.as_ref().is_some_and(|seat| seat.connection.is_closed() || seat.late >= TOO_LATE) {
            *place = None;
        }
        match place {
            Some(seat) => Ok(seat),
            None => {
                let connection = self.connector.plain(STATEMENTS).await?;
                Ok(place.insert(Seat { connection, locked: None, late: 0 }))
            }
        }
    }
}

/// After so long a server that did not say that it lives is forgotten.
pub(super) fn forgotten_micros() -> i64 {
    i64::try_from(micros(SERVER_FORGOTTEN_AFTER)).unwrap_or(i64::MAX)
}

/// What a renewal or resignation comes to whose answer is not there.
fn lost(failure: Failure) -> CommitError {
    CommitError::Unknown(failure.into_error("the election was not answered").to_string())
}

fn add_number(pipeline: &mut Pipeline<'_>, sql: Sql, number: u64) -> Result<usize, CommitError> {
    pipeline.add(sql, vec![param(number.cast_signed())]).map_err(lost)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Vacancy {
    Needed,
    NotNeeded,
}

async fn stand(
    seat: &mut Seat,
    candidate: &Candidate,
    more_than: u64,
    vacancy: Vacancy,
) -> Result<Election, Failure> {
    let mut last = None;
    for _ in 0..TRIES {
        let tried = take_term(seat, candidate, more_than, vacancy).await;
        if tried.is_err() {
            let mut pipeline = Pipeline::new(&seat.connection);
            pipeline.command("ROLLBACK");
            pipeline.run().await.map_err(|(_, failure)| failure)?;
        }
        match tried {
            Err(failure) if failure.is_lock_timeout() => {
                // Somebody sleeps in the middle of a transaction, or several stand at once.
                ask(&seat.connection, sql::END_GUARDS, vec![]).await?;
                last = Some(failure);
            }
            Err(failure) => return Err(failure),
            Ok(Election::Leads(term)) => {
                ask(&seat.connection, sql::MAKE_DAYS, vec![param(Vec::<i32>::new())]).await?;
                return Ok(Election::Leads(term));
            }
            Ok(Election::Follows(view)) => return Ok(Election::Follows(view)),
        }
    }
    Err(last.unwrap_or(Failure::Late))
}

/// One transaction: the guard, another look, and a new term if the old one is still vacant.
async fn take_term(
    seat: &mut Seat,
    candidate: &Candidate,
    more_than: u64,
    vacancy: Vacancy,
) -> Result<Election, Failure> {
    let mut pipeline = Pipeline::new(&seat.connection);
    pipeline.command("BEGIN");
    pipeline.command("SET LOCAL lock_timeout = '1s'");
    pipeline.add(sql::LOCK_GUARD, vec![])?;
    let place = pipeline.add(sql::LOOK_LEADER, vec![param(candidate.server.as_str())])?;
    let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    let seen = looked(&answers[place])?;
    let mut pipeline = Pipeline::new(&seat.connection);
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
    if let Some(before) = seat.locked {
        // The lock of an earlier term means nothing any more.
        pipeline.add(sql::UNLOCK_TERM, vec![param(before.cast_signed())])?;
    }
    let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    let Some(found) = answers[place].first() else {
        return Err(Failure::unreadable("the leader", "there is no row"));
    };
    let number = found.try_get::<_, i64>(0)?.cast_unsigned();
    seat.locked = found.try_get::<_, bool>(1)?.then_some(number);
    Ok(Election::Leads(Term { number, id }))
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
