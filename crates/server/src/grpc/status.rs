//! Refusals as gRPC statuses. The codes are those of REST, so that one page explains both.

use axum::http::StatusCode;
use ganger_proto::{DecodeError, v1};
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};

use crate::http::problem::{CODE, Code as ProblemCode, Problem};

/// A refusal as tonic wants it.
pub(super) fn status(problem: impl Into<Problem>) -> Status {
    let problem = problem.into();
    let mut status = Status::new(code(&problem), problem.detail);
    let metadata = status.metadata_mut();
    metadata.insert(CODE, MetadataValue::from_static(problem.code.as_str()));
    if let Some(seconds) = problem.after {
        metadata.insert("retry-after", MetadataValue::from(seconds));
    }
    status
}

/// A refusal as an item of a batch.
pub(super) fn item(problem: Problem) -> v1::Problem {
    v1::Problem { code: problem.code.as_str().into(), detail: problem.detail }
}

/// A field that cannot be understood.
pub(super) fn not_valid(error: &DecodeError) -> Problem {
    Problem::new(ProblemCode::ValidationFailed, error.to_string())
}

fn code(problem: &Problem) -> Code {
    if problem.code == ProblemCode::OutcomeUnknown {
        return Code::Unknown;
    }
    match problem.code.status() {
        StatusCode::BAD_REQUEST
        | StatusCode::UNPROCESSABLE_ENTITY
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::InvalidArgument,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => Code::PermissionDenied,
        StatusCode::NOT_FOUND => Code::NotFound,
        StatusCode::CONFLICT => Code::FailedPrecondition,
        StatusCode::TOO_MANY_REQUESTS => Code::ResourceExhausted,
        StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
        _ => Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_succeed_later_is_told_from_what_may_not_and_the_code_travels() {
        for (problem, expected) in [
            (ProblemCode::NotReady, Code::Unavailable),
            (ProblemCode::NoLeader, Code::Unavailable),
            (ProblemCode::RelayRefused, Code::Unauthenticated),
            (ProblemCode::Overloaded, Code::ResourceExhausted),
            (ProblemCode::OutcomeUnknown, Code::Unknown),
            (ProblemCode::NoSuchJob, Code::NotFound),
            (ProblemCode::WrongState, Code::FailedPrecondition),
            (ProblemCode::ValidationFailed, Code::InvalidArgument),
            (ProblemCode::ExecNotAllowed, Code::PermissionDenied),
            (ProblemCode::Internal, Code::Internal),
        ] {
            let status = status(Problem::new(problem, "x"));
            assert_eq!(status.code(), expected);
            assert_eq!(status.metadata().get(CODE).unwrap(), problem.as_str());
        }
    }
}
