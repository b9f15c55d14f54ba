//! The only place where protobuf meets `core`.
//!
//! Encoding cannot fail. Decoding takes what a stranger sent: it never panics, every bound is
//! checked, and the error names the field. Results are treated more gently than the rest, because a
//! result that is refused would be sent again for ever: an over-long text is cut, and a result that
//! cannot be kept becomes a fatal error of its attempt.

mod job;
mod parts;
mod schedule;
mod to_leader;
mod to_worker;

pub use parts::{
    duration as duration_from_wire, duration_to_wire, job_id_from_wire, moment as moment_from_wire,
    moment_to_wire, session_id_from_wire,
};
pub use schedule::{Named, schedule_from_wire, schedule_to_wire};
pub use to_leader::{NOTE_BYTES, TTL_DEFAULT, TTL_LONGEST, TTL_SHORTEST};

use std::time::Duration;

use ganger_core::message::{ToWorker, Work};
use ganger_core::trace::TraceContext;

/// A lease with what its handler needs and the protocol does not care about.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel {
    /// The lease.
    pub work: Work,
    /// JSON text, byte for byte as submitted.
    pub payload: String,
    /// What it carries of its submitter's trace.
    pub trace: Option<Box<Trace>>,
}

/// What a worker has to know of a trace to go on with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Of whoever submitted the job.
    pub context: TraceContext,
    /// From the submission until the lease was sent.
    pub waited: Duration,
    /// A schedule made the job.
    pub occurrence: bool,
}

/// What travels to a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Down {
    /// Leases with their payloads.
    Assign(Vec<Parcel>),
    /// Everything else. An assignment in here would travel with `null` payloads; decoding never
    /// makes one.
    Other(ToWorker),
}

/// A message that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A field that must be there is not. A `message` that is missing may be one of a later
    /// version of the protocol.
    #[error("field `{0}` is missing")]
    Missing(&'static str),
    /// A field is there and wrong.
    #[error("field `{field}` {problem}")]
    Bad {
        /// Which.
        field: &'static str,
        /// What is wrong, and the limit.
        problem: String,
    },
}

impl DecodeError {
    fn bad(field: &'static str, problem: impl std::fmt::Display) -> DecodeError {
        DecodeError::Bad { field, problem: problem.to_string() }
    }
}

impl From<DecodeError> for tonic::Status {
    fn from(error: DecodeError) -> tonic::Status {
        tonic::Status::invalid_argument(error.to_string())
    }
}

#[cfg(test)]
mod round_trip;
