//! Looking at a database from outside. Nothing is changed: not even the schema needs to be there.

use ganger_core::Wall;
use tokio::time::timeout;

use super::connection::{ANSWER, Connection, Connector};
use super::error::Failure;
use super::sql::{self, Sql};
use super::{danger, pooler, url};
use crate::inspect::{Clocks, PgReport, TRIES, Times};
use crate::store::StoreError;

/// Looks at the database at this address.
///
/// # Errors
/// It cannot be reached, is too old, is behind a pooler that does not keep sessions, or does not answer.
pub async fn inspect(url: &str, clocks: Clocks<'_>) -> Result<PgReport, StoreError> {
    let connector = Connector::new(url)?;
    pooler::refuse(&connector).await?;
    let connection = connector.plain(&[]).await?;
    connector.check(&connection.client).await?;
    let looking = timeout(ANSWER * 3, look(&connection, clocks));
    looking
        .await
        .unwrap_or(Err(Failure::Late))
        .map_err(|failure| failure.into_error("cannot look at the database"))
}

/// Whether an address can only mean this machine.
#[must_use]
pub fn is_local(url: &str) -> bool {
    url::Address::parse(url).is_ok_and(|address| address.is_local())
}

async fn look(connection: &Connection, clocks: Clocks<'_>) -> Result<PgReport, Failure> {
    let reads = measure(connection, sql::PROBE_READ, clocks).await?;
    let before = (clocks.now)();
    let clock = connection.client.query_one(sql::READ_CLOCK.text, &[]).await?;
    let after = (clocks.now)();
    let between = before.0 + (after.0 - before.0) / 2;
    let ahead_micros = clock.try_get::<_, i64>(0)? - Wall(between).0;
    let mut dangers = Vec::new();
    for found in connection.client.query(sql::READ_SETTINGS.text, &[]).await? {
        dangers.extend(danger(found.try_get(0)?, found.try_get(1)?));
    }
    let row = connection.client.query_one(sql::INSPECT.text, &[]).await?;
    let count = |index| row.try_get::<_, i32>(index).map(i32::cast_unsigned);
    let read_only = row.try_get(1)?;
    // A copy cannot commit, and need not be asked to.
    let commits =
        if read_only { Times::default() } else { measure(connection, sql::PROBE_COMMIT, clocks).await? };
    Ok(PgReport {
        version: row.try_get(0)?,
        ahead_micros,
        encrypted: row.try_get(5)?,
        read_only,
        connections: count(2)?,
        connections_max: count(3)?.saturating_sub(count(4)?),
        autovacuum: row.try_get::<_, &str>(6)? == "on",
        bytes: row.try_get::<_, i64>(7)?.cast_unsigned(),
        dangers,
        reads,
        commits,
    })
}

async fn measure(connection: &Connection, statement: Sql, clocks: Clocks<'_>) -> Result<Times, Failure> {
    let prepared = connection.client.prepare(statement.text).await?;
    let mut times = Vec::with_capacity(TRIES);
    for _ in 0..TRIES {
        let began = (clocks.elapsed)();
        connection.client.query(&prepared, &[]).await?;
        times.push((clocks.elapsed)().saturating_sub(began));
    }
    Ok(Times::new(times))
}
