//! What SQLite says, in the words of the store contract.

use rusqlite::{ErrorCode, ffi};

use crate::store::StoreError;

/// A statement that failed, or a batch that contradicts what is stored.
#[derive(Debug)]
pub(super) enum Failure {
    /// SQLite could not do it.
    Sql(rusqlite::Error),
    /// It must not be done.
    Refused(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Refused(error)
    }
}

impl Failure {
    /// A value in the database that this binary cannot read.
    pub(super) fn unreadable(what: &str, detail: impl std::fmt::Display) -> Failure {
        Failure::Refused(StoreError::Failed(format!("cannot read {what} from the database: {detail}")))
    }

    /// The error of a read.
    pub(super) fn while_reading(self) -> StoreError {
        match self {
            Failure::Sql(error) => reading("cannot read from the database", &error),
            Failure::Refused(error) => error,
        }
    }

    /// The error of a write that was rolled back.
    pub(super) fn while_writing(self) -> StoreError {
        match self {
            Failure::Sql(error) => writing("cannot write to the database", &error),
            Failure::Refused(error) => error,
        }
    }
}

/// What a failed read comes to.
pub(super) fn reading(operation: &str, error: &rusqlite::Error) -> StoreError {
    let text = format!("{operation}: {error}");
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(text),
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::CannotOpen
            | ErrorCode::OperationInterrupted,
        ) => StoreError::Unavailable(text),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Failed(format!("{text}; the file is damaged, restore a backup with `ganger restore`"))
        }
        Some(_) | None => StoreError::Failed(text),
    }
}

/// What a failed write comes to. A disk that takes no more bytes says so in several ways (no space, over
/// quota, a shared-memory file that cannot grow); to the one who waits they are the same. A failed sync is
/// none of them.
pub(super) fn writing(operation: &str, error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMMAP) => {
            StoreError::Full(format!("{operation}: {error}"))
        }
        Some(_) | None => reading(operation, error),
    }
}

/// Whether the disk had no room, so that certainly nothing was committed.
pub(super) fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}
