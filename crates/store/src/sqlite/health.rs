//! How the database is doing, for `/readyz` and metrics.

use std::path::{Path, PathBuf};

use ganger_core::disk::Disk;

use super::{dir, migrate};
use crate::store::StoreError;

/// What a store is, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreInfo {
    /// `sqlite`.
    pub kind: &'static str,
    /// The file it keeps everything in.
    pub database: PathBuf,
    /// Version of its schema.
    pub schema: u32,
    /// Version of the database engine.
    pub engine: &'static str,
}

/// Sizes that an operator watches, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// The database file.
    pub database_bytes: u64,
    /// Its log, which a checkpoint empties.
    pub log_bytes: u64,
    /// What an unprivileged process may still write to that disk.
    pub free_bytes: u64,
}

/// The version of SQLite that is compiled in.
#[must_use]
pub fn engine() -> &'static str {
    rusqlite::version()
}

pub(super) fn info(database: &Path) -> StoreInfo {
    StoreInfo { kind: "sqlite", database: database.into(), schema: migrate::latest(), engine: engine() }
}

pub(super) fn health(database: &Path) -> Result<Health, StoreError> {
    let (free_bytes, _) = room(database)?;
    let log_bytes = dir::size(&dir::beside(database, "-wal"));
    Ok(Health { database_bytes: dir::size(database), log_bytes, free_bytes })
}

pub(super) fn disk(database: &Path) -> Result<Disk, StoreError> {
    let (free_bytes, total_bytes) = room(database)?;
    let used_bytes = dir::size(database) + dir::size(&dir::beside(database, "-wal"));
    Ok(Disk { free_bytes, total_bytes, used_bytes })
}

/// What is free and what there is.
fn room(path: &Path) -> Result<(u64, u64), StoreError> {
    let disk = rustix::fs::statvfs(path).map_err(|error| {
        StoreError::Unavailable(format!("cannot ask for the free space of {}: {error}", path.display()))
    })?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Ok((bytes(disk.f_bavail), bytes(disk.f_blocks)))
}
