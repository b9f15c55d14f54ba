//! Migrations of the schema: numbered files, up and down, each in one transaction with its number.
//!
//! A server migrates up when it starts, one server at a time. A database from a newer version is refused, for
//! this binary does not know what its tables mean; so is one whose migrations are not those of this binary.

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::Client;

use super::connection::Connector;
use super::error::{Failure, plain};
use super::pooler;
use crate::schema::{self, Migration};
use crate::store::StoreError;

pub use crate::schema::{Status, Step};

/// Longest wait for another server's migration.
const TURN: Duration = Duration::from_secs(120);

/// In order, without gaps.
const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "initial",
        up: include_str!("migrations/0001_initial.up.sql"),
        down: include_str!("migrations/0001_initial.down.sql"),
    },
    Migration {
        version: 2,
        name: "doors",
        up: include_str!("migrations/0002_doors.up.sql"),
        down: include_str!("migrations/0002_doors.down.sql"),
    },
    Migration {
        version: 3,
        name: "failures_and_documents",
        up: include_str!("migrations/0003_failures_and_documents.up.sql"),
        down: include_str!("migrations/0003_failures_and_documents.down.sql"),
    },
    Migration {
        version: 4,
        name: "minutes",
        up: include_str!("migrations/0004_minutes.up.sql"),
        down: include_str!("migrations/0004_minutes.down.sql"),
    },
    Migration {
        version: 5,
        name: "closed_keys",
        up: include_str!("migrations/0005_closed_keys.up.sql"),
        down: include_str!("migrations/0005_closed_keys.down.sql"),
    },
    Migration {
        version: 6,
        name: "dependencies",
        up: include_str!("migrations/0006_dependencies.up.sql"),
        down: include_str!("migrations/0006_dependencies.down.sql"),
    },
    Migration {
        version: 7,
        name: "schedules",
        up: include_str!("migrations/0007_schedules.up.sql"),
        down: include_str!("migrations/0007_schedules.down.sql"),
    },
    Migration {
        version: 8,
        name: "effect_marks",
        up: include_str!("migrations/0008_effect_marks.up.sql"),
        down: include_str!("migrations/0008_effect_marks.down.sql"),
    },
    Migration {
        version: 9,
        name: "total_times",
        up: include_str!("migrations/0009_total_times.up.sql"),
        down: include_str!("migrations/0009_total_times.down.sql"),
    },
    Migration {
        version: 10,
        name: "failure_trends",
        up: include_str!("migrations/0010_failure_trends.up.sql"),
        down: include_str!("migrations/0010_failure_trends.down.sql"),
    },
    Migration {
        version: 11,
        name: "plain_answers",
        up: include_str!("migrations/0011_plain_answers.up.sql"),
        down: include_str!("migrations/0011_plain_answers.down.sql"),
    },
    Migration {
        version: 12,
        name: "internal_functions",
        up: include_str!("migrations/0012_internal_functions.up.sql"),
        down: include_str!("migrations/0012_internal_functions.down.sql"),
    },
];

/// The version that this binary works with.
#[must_use]
pub fn latest() -> u32 {
    schema::latest(MIGRATIONS)
}

/// Where the schema of a database stands. It only looks.
///
/// # Errors
/// If the database cannot be reached.
pub async fn status(url: &str) -> Result<Status, StoreError> {
    let connection = Connector::new(url)?.plain(&[]).await?;
    let version = version(&connection.client).await?;
    Ok(Status::at(version, MIGRATIONS))
}

/// Brings a database to the newest version, or to `to`. Returns the version.
///
/// # Errors
/// If the database cannot be reached, is newer than this binary, or a migration fails; then the schema stays where the
/// last whole migration brought it.
pub async fn up(url: &str, to: Option<u32>) -> Result<u32, StoreError> {
    let connector = Connector::new(url)?;
    pooler::refuse(&connector).await?;
    climb(&connector, to.unwrap_or_else(latest)).await
}

/// Takes a database back to a version. Data that only later versions can hold is lost; version 0 is empty. Returns the
/// version.
///
/// # Errors
/// As for [`up`].
pub async fn down(url: &str, to: u32) -> Result<u32, StoreError> {
    let connector = Connector::new(url)?;
    pooler::refuse(&connector).await?;
    let connection = connector.migrator().await?;
    let client = &connection.client;
    let from = known_version(client).await?;
    for migration in MIGRATIONS.iter().rev().filter(|m| m.version > to && m.version <= from) {
        step(client, migration, Direction::Down).await?;
    }
    version(client).await
}

/// Brings a database up to a version.
pub(super) async fn climb(connector: &Connector, to: u32) -> Result<u32, StoreError> {
    let connection = connector.plain(&[]).await?;
    connector.check(&connection.client).await?;
    if known_version(&connection.client).await? >= to {
        return Ok(to);
    }
    drop(connection);
    let connection = connector.migrator().await?;
    let client = &connection.client;
    // Again, now that it is our turn.
    let from = known_version(client).await?;
    for migration in MIGRATIONS.iter().filter(|m| m.version > from && m.version <= to) {
        step(client, migration, Direction::Up).await?;
    }
    version(client).await
}

/// Checks that a database has the newest version.
pub(super) async fn check(connector: &Connector) -> Result<(), StoreError> {
    let connection = connector.plain(&[]).await?;
    connector.check(&connection.client).await?;
    let found = known_version(&connection.client).await?;
    if found < latest() {
        return Err(StoreError::Failed(format!(
            "the database has schema version {found} and this ganger needs {}; run `ganger migrate up`",
            latest()
        )));
    }
    Ok(())
}

/// Waits for our turn, which lasts as long as the connection, and makes the place where migrations are remembered.
pub(super) async fn prepare(client: &Client) -> Result<(), StoreError> {
    let preparing = client.batch_execute(
        "SELECT pg_advisory_lock(1196314183, 1);
         CREATE SCHEMA IF NOT EXISTS ganger;
         CREATE TABLE IF NOT EXISTS ganger.migration (
             version    integer     NOT NULL PRIMARY KEY,
             name       text        NOT NULL,
             checksum   bytea       NOT NULL,
             applied_at timestamptz NOT NULL DEFAULT clock_timestamp());",
    );
    timeout(TURN, preparing)
        .await
        .map_err(|_| StoreError::Unavailable("another server is migrating the database".into()))?
        .map_err(|error| plain("cannot prepare the database for migration", &error))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// The version of a database, unless it is newer than this binary, or other than it.
async fn known_version(client: &Client) -> Result<u32, StoreError> {
    let found = version(client).await?;
    if found > latest() {
        return Err(StoreError::Failed(format!(
            "the database has schema version {found} and this ganger knows up to {}; use the ganger that migrated \
             it, or a newer one",
            latest()
        )));
    }
    for migration in MIGRATIONS.iter().filter(|m| m.version <= found) {
        let version = i32::try_from(migration.version).unwrap_or(i32::MAX);
        let same = client
            .query_opt(
                "SELECT checksum = sha256(convert_to($2, 'UTF8')) FROM ganger.migration WHERE version = $1",
                &[&version, &migration.up],
            )
            .await
            .map_err(|error| plain("cannot read the schema version", &error))?;
        if same.is_none_or(|row| !row.get::<_, bool>(0)) {
            return Err(StoreError::Failed(format!(
                "the database was not migrated to version {} ({}) by a ganger like this one; its schema is another",
                migration.version, migration.name
            )));
        }
    }
    Ok(found)
}

async fn version(client: &Client) -> Result<u32, StoreError> {
    let read = async {
        let there: bool =
            client.query_one("SELECT to_regclass('ganger.migration') IS NOT NULL", &[]).await?.get(0);
        if !there {
            return Ok(0);
        }
        let row = client.query_one("SELECT coalesce(max(version), 0) FROM ganger.migration", &[]).await?;
        Ok::<_, Failure>(u32::try_from(row.get::<_, i32>(0)).unwrap_or(0))
    };
    read.await.map_err(|failure| failure.into_error("cannot read the schema version"))
}

async fn step(client: &Client, migration: &Migration, direction: Direction) -> Result<(), StoreError> {
    let version = i32::try_from(migration.version).unwrap_or(i32::MAX);
    let run = async {
        client.batch_execute("BEGIN").await?;
        match direction {
            Direction::Up => {
                client.batch_execute(migration.up).await?;
                client
                    .execute(
                        "INSERT INTO ganger.migration (version, name, checksum)
                         VALUES ($1, $2, sha256(convert_to($3, 'UTF8')))",
                        &[&version, &migration.name, &migration.up],
                    )
                    .await?;
            }
            Direction::Down => {
                client.batch_execute(migration.down).await?;
                client.execute("DELETE FROM ganger.migration WHERE version = $1", &[&version]).await?;
            }
        }
        client.batch_execute("COMMIT").await?;
        Ok::<_, Failure>(())
    };
    let done = run.await;
    if done.is_err() {
        // The connection is closed after an error in any case; this only makes it sooner.
        let _ = client.batch_execute("ROLLBACK").await;
    }
    let name = migration.name;
    done.map_err(|failure| {
        failure.into_error(&format!("cannot migrate through version {version} ({name})"))
    })?;
    tracing::debug!(version, "migrated the schema through version {version}");
    Ok(())
}
