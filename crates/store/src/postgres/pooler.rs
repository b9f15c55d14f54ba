//! Refuses a pooler that gives each transaction another session.
//!
//! A connection of ours keeps things in its session: prepared statements, settings, the lock of the term. Behind such a
//! pooler they are missing in the next transaction, or are left to strangers. Most of it would seem to work: a server
//! would start, be ready, and fail now and then; and the lock of a term would outlive its leader. So the server looks
//! once, before it keeps anything.
//!
//! Two connections are open at the same time. Straight to the database, or behind a pooler by session, each has a
//! session of its own for as long as it lives. Whatever else is seen proves that somebody stands between. The reverse is
//! not proven: a pooler that is busy may happen to give twice what it gave before. So each is asked several times, twice in
//! a row because a pooler may give its sessions out in turn.

use tokio::time::timeout;
use tokio_postgres::SimpleQueryMessage;

use super::connection::{ANSWER, Connection, Connector};
use super::error::Failure;
use super::sql;
use crate::store::StoreError;

/// How often both are asked.
const ROUNDS: usize = 2;

/// Refuses an address at which sessions are not kept.
pub(super) async fn refuse(connector: &Connector) -> Result<(), StoreError> {
    let (one, other) = tokio::try_join!(connector.bare(), connector.bare())?;
    let looking = timeout(ANSWER, keeps_sessions(&one, &other)).await.unwrap_or(Err(Failure::Late));
    if looking.map_err(|failure| failure.into_error("cannot ask the database for its session"))? {
        return Ok(());
    }
    Err(StoreError::Failed(
        "a pooler in front of the database gives each transaction another session, and what a server keeps in its \
         session is lost: prepared statements, settings, the lock of the leader; connect to the database directly, \
         or let the pooler pool by session (pgbouncer: pool_mode = session)"
            .into(),
    ))
}

/// Whether two open connections have a session each, always the same.
async fn keeps_sessions(one: &Connection, other: &Connection) -> Result<bool, Failure> {
    let (first, second) = (session(one).await?, session(other).await?);
    if first == second {
        return Ok(false);
    }
    for _ in 0..ROUNDS {
        for (connection, before) in [(one, &first), (one, &first), (other, &second), (other, &second)] {
            if session(connection).await? != *before {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Which session answers. In one message, for it must not need one that lasts.
async fn session(connection: &Connection) -> Result<Vec<Option<String>>, Failure> {
    let answer = connection.client.simple_query(sql::IDENTIFY_SESSION.text).await?;
    let row = answer
        .iter()
        .find_map(|message| if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None });
    let row = row.ok_or_else(|| Failure::unreadable("the session", "there is no row"))?;
    Ok((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
}
