//! Why a call did not succeed.

use ganger_core::coordinator::port::Refusal;
use ganger_core::document::DocumentError;
use ganger_core::filter::FilterError;
use ganger_core::fingerprint::Fingerprint;
use ganger_core::job::{SpecError, State};
use ganger_core::operation::OperationState;
use ganger_core::{JobId, OperationId, SessionId};
use ganger_store::StoreError;

/// Why a call did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no such job, or retention removed it.
    #[error("there is no job {0}")]
    NoSuchJob(JobId),
    /// The job's state does not allow it.
    #[error("job {0} is {state}", state = .1.as_str())]
    WrongState(JobId, State),
    /// The coordinator refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no such saved view.
    #[error("there is no view `{0}`")]
    NoSuchView(String),
    /// There is no such bulk operation, or it was over long ago.
    #[error("there is no operation {0}")]
    NoSuchOperation(OperationId),
    /// There is no such group of failures, or it was not seen for long.
    #[error("there is no failure group {0}")]
    NoSuchFailure(Fingerprint),
    /// There is no such worker.
    #[error("there is no worker {0}")]
    NoSuchWorker(SessionId),
    /// The bulk operation is over.
    #[error("operation {0} is {state}", state = .1.as_str())]
    OperationOver(OperationId, OperationState),
    /// Something that was asked for is out of bounds.
    #[error(transparent)]
    Invalid(#[from] SpecError),
    /// The filter in that field cannot be understood.
    #[error("{1}")]
    Filter(&'static str, Box<FilterError>),
    /// More documents of a sort than are kept.
    #[error("there are {1} {0} already, the most that are kept")]
    TooMany(&'static str, usize),
    /// The key of a bulk operation came before with another request.
    #[error("this Idempotency-Key came before with another body")]
    KeyReused,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The server is stopping or has no leader; the same call may succeed elsewhere or later.
    #[error("the server is not ready: {0}")]
    NotReady(String),
    /// The answer of a write did not come in time; it may or may not have happened.
    #[error("the outcome is unknown: {0}")]
    Unknown(String),
}

/// What a call comes to.
pub type Answer<T> = Result<T, ServiceError>;

impl From<DocumentError> for ServiceError {
    fn from(error: DocumentError) -> ServiceError {
        SpecError::new("document", error.to_string()).into()
    }
}
