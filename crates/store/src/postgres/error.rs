//! What PostgreSQL says, in the words of the store contract.

use tokio_postgres::error::SqlState;

use crate::store::StoreError;

/// The term is over (`ganger.assert_term`).
const TERM_OVER: &str = "ZG001";
/// Another batch was the last one (`ganger.begin_batch`).
const BATCH_NUMBER: &str = "ZG002";
/// A statement met other rows than expected (`ganger.expect`).
const UNEXPECTED: &str = "ZG003";

/// A statement that failed, or a batch that contradicts what is stored.
#[derive(Debug)]
pub(super) enum Failure {
    /// PostgreSQL could not do it, or could not be reached.
    Sql(tokio_postgres::Error),
    /// It must not be done.
    Refused(StoreError),
    /// No answer within the bound.
    Late,
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        Failure::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Refused(error)
    }
}

impl From<tokio::time::error::Elapsed> for Failure {
    fn from(_: tokio::time::error::Elapsed) -> Failure {
        Failure::Late
    }
}

impl Failure {
    /// A value in the database that this binary cannot read.
    pub(super) fn unreadable(what: &str, detail: impl std::fmt::Display) -> Failure {
        Failure::Refused(StoreError::Failed(format!("cannot read {what} from the database: {detail}")))
    }

    /// The error of a call that changed nothing.
    pub(super) fn into_error(self, operation: &str) -> StoreError {
        match self {
            Failure::Sql(error) => plain(operation, &error),
            Failure::Refused(error) => error,
            Failure::Late => StoreError::Unavailable(format!("{operation}: the database does not answer")),
        }
    }

    /// Whether the server itself said that the statement failed, so that its transaction certainly did. Where the
    /// connection was lost, what was sent may still have been done.
    pub(super) fn is_certain(&self) -> bool {
        match self {
            Failure::Sql(error) => error.as_db_error().is_some(),
            Failure::Refused(_) => true,
            Failure::Late => false,
        }
    }

    /// Whether another term has begun.
    pub(super) fn is_term_over(&self) -> bool {
        self.has_code(TERM_OVER)
    }

    /// The number of the last batch, if it is not the one before.
    pub(super) fn last_batch(&self) -> Option<u64> {
        let Failure::Sql(error) = self else { return None };
        let db = error.as_db_error().filter(|db| db.code().code() == BATCH_NUMBER)?;
        db.detail()?.parse().ok()
    }

    /// Whether rows were not as the leader believed.
    pub(super) fn is_contradiction(&self) -> bool {
        self.has_code(UNEXPECTED) || self.has_code(SqlState::UNIQUE_VIOLATION.code())
    }

    /// Whether a day has no table for its final jobs.
    pub(super) fn is_missing_day(&self) -> bool {
        // A check violation of no constraint: no partition for the row.
        let Failure::Sql(error) = self else { return false };
        error
            .as_db_error()
            .is_some_and(|db| *db.code() == SqlState::CHECK_VIOLATION && db.constraint().is_none())
    }

    /// Whether a lock was not to be had in time.
    pub(super) fn is_lock_timeout(&self) -> bool {
        self.has_code(SqlState::LOCK_NOT_AVAILABLE.code())
    }

    fn has_code(&self, code: &str) -> bool {
        match self {
            Failure::Sql(error) => error.code().is_some_and(|found| found.code() == code),
            Failure::Refused(_) | Failure::Late => false,
        }
    }
}

/// What a failed statement comes to, for people.
pub(super) fn plain(operation: &str, error: &tokio_postgres::Error) -> StoreError {
    let Some(db) = error.as_db_error() else {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        return StoreError::Unavailable(format!("{operation}: {error}{cause}"));
    };
    let text = format!("{operation}: {} ({})", db.message(), db.code().code());
    match &db.code().code()[..2] {
        _ if *db.code() == SqlState::DISK_FULL => StoreError::Full(text),
        // Connections, transactions that lost a race, resources, interventions, failures of the system, and a
        // server that became a standby: all of them may be over soon.
        "08" | "25" | "40" | "53" | "55" | "57" | "58" => StoreError::Unavailable(text),
        _ => StoreError::Failed(text),
    }
}
