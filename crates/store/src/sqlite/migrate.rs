//! Migrations of the schema: numbered files, up and down, each in one transaction with its number.
//!
//! A server migrates up when it starts. A database from a newer version is refused, for this binary
//! does not know what its tables mean.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::dir::{self, DATABASE, DataDir};
use super::{connection, error};
use crate::schema::{self, Migration};
use crate::store::StoreError;

pub use crate::schema::{Status, Step};

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
        name: "cheaper_ends",
        up: include_str!("migrations/0002_cheaper_ends.up.sql"),
        down: include_str!("migrations/0002_cheaper_ends.down.sql"),
    },
    Migration {
        version: 3,
        name: "kinds",
        up: include_str!("migrations/0003_kinds.up.sql"),
        down: include_str!("migrations/0003_kinds.down.sql"),
    },
    Migration {
        version: 4,
        name: "failures_and_documents",
        up: include_str!("migrations/0004_failures_and_documents.up.sql"),
        down: include_str!("migrations/0004_failures_and_documents.down.sql"),
    },
    Migration {
        version: 5,
        name: "minutes",
        up: include_str!("migrations/0005_minutes.up.sql"),
        down: include_str!("migrations/0005_minutes.down.sql"),
    },
    Migration {
        version: 6,
        name: "closed_keys",
        up: include_str!("migrations/0006_closed_keys.up.sql"),
        down: include_str!("migrations/0006_closed_keys.down.sql"),
    },
    Migration {
        version: 7,
        name: "dependencies",
        up: include_str!("migrations/0007_dependencies.up.sql"),
        down: include_str!("migrations/0007_dependencies.down.sql"),
    },
    Migration {
        version: 8,
        name: "schedules",
        up: include_str!("migrations/0008_schedules.up.sql"),
        down: include_str!("migrations/0008_schedules.down.sql"),
    },
    Migration {
        version: 9,
        name: "effect_marks",
        up: include_str!("migrations/0009_effect_marks.up.sql"),
        down: include_str!("migrations/0009_effect_marks.down.sql"),
    },
    Migration {
        version: 10,
        name: "total_times",
        up: include_str!("migrations/0010_total_times.up.sql"),
        down: include_str!("migrations/0010_total_times.down.sql"),
    },
    Migration {
        version: 11,
        name: "failure_trends",
        up: include_str!("migrations/0011_failure_trends.up.sql"),
        down: include_str!("migrations/0011_failure_trends.down.sql"),
    },
];

/// The version that this binary works with.
#[must_use]
pub fn latest() -> u32 {
    schema::latest(MIGRATIONS)
}

/// Where the schema of the database in a data directory stands. It only looks, so a server may be using
/// it; where there is no database, none is made.
///
/// # Errors
/// If the file cannot be read.
pub fn status(dir: &Path) -> Result<Status, StoreError> {
    let database = dir::whole(dir)?.join(DATABASE);
    let version = if database.exists() { version(&connection::reader(&database)?)? } else { 0 };
    Ok(Status::at(version, MIGRATIONS))
}

/// Brings the database in a data directory to the newest version, or to `to`. Returns the version.
///
/// # Errors
/// If the directory is in use, the database is newer than this binary, or a migration fails; then the
/// schema stays where the last whole migration brought it.
pub fn up(dir: &Path, to: Option<u32>) -> Result<u32, StoreError> {
    with_database(dir, |conn| climb(conn, to.unwrap_or_else(latest)))
}

/// Takes the database in a data directory back to a version. Data that only later versions can hold is
/// lost; version 0 is empty. Returns the version.
///
/// # Errors
/// As for [`up`].
pub fn down(dir: &Path, to: u32) -> Result<u32, StoreError> {
    with_database(dir, |conn| {
        let from = known_version(conn)?;
        for migration in MIGRATIONS.iter().rev().filter(|m| m.version > to && m.version <= from) {
            step(conn, migration.down, migration.version - 1, migration.name)?;
        }
        version(conn)
    })
}

/// Brings an open database up to a version.
pub(super) fn climb(conn: &mut Connection, to: u32) -> Result<u32, StoreError> {
    let from = known_version(conn)?;
    for migration in MIGRATIONS.iter().filter(|m| m.version > from && m.version <= to) {
        step(conn, migration.up, migration.version, migration.name)?;
    }
    let now = version(conn)?;
    // A database that was made just now has nothing to tell.
    if from > 0 && from < now {
        tracing::info!(from, to = now, "migrated the schema from version {from} to {now}");
    }
    Ok(now)
}

/// The version of an open database, unless it is newer than this binary.
pub(super) fn known_version(conn: &Connection) -> Result<u32, StoreError> {
    let found = version(conn)?;
    if found > latest() {
        return Err(StoreError::Failed(format!(
            "the database has schema version {found} and this ganger knows up to {}; use the ganger that wrote \
             it, or a newer one",
            latest()
        )));
    }
    Ok(found)
}

fn version(conn: &Connection) -> Result<u32, StoreError> {
    let read = || -> rusqlite::Result<u32> {
        let there: bool = conn.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version')",
            [],
            |row| row.get(0),
        )?;
        if !there {
            return Ok(0);
        }
        let version =
            conn.query_row("SELECT version FROM schema_version", [], |row| row.get(0)).optional()?;
        Ok(version.unwrap_or(0))
    };
    read().map_err(|error| error::reading("cannot read the schema version", &error))
}

fn step(conn: &mut Connection, sql: &str, version: u32, name: &str) -> Result<(), StoreError> {
    let run = |conn: &mut Connection| -> rusqlite::Result<()> {
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(
            "CREATE TABLE IF NOT EXISTS schema_version (
                 one INTEGER PRIMARY KEY CONSTRAINT there_is_one_version CHECK (one = 1),
                 version INTEGER NOT NULL) STRICT;",
        )?;
        transaction.execute_batch(sql)?;
        transaction
            .execute("INSERT OR REPLACE INTO schema_version (one, version) VALUES (1, ?1)", [version])?;
        transaction.commit()
    };
    run(conn)
        .map_err(|error| error::writing(&format!("cannot migrate to version {version} ({name})"), &error))?;
    tracing::debug!(version, "migrated the schema to version {version}");
    Ok(())
}

fn with_database<T>(
    dir: &Path,
    work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let dir = DataDir::lock(dir)?;
    let mut conn = connection::writer(&dir.create_database()?)?;
    work(&mut conn)
}
