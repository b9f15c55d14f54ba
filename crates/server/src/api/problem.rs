//! How a refusal looks: RFC 9457 `application/problem+json`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request did not succeed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemBody {
    /// Where the code is explained, on this server: `/problems/<code>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The sort of problem, in words that never change.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// The stable name of the problem, for programs.
    pub code: String,
    /// This occurrence, for people.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What is wrong with which part of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// Whether the same request may succeed later.
    #[serde(default)]
    pub retryable: bool,
    /// Names the request in the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Of a filter that cannot be understood: the byte at which it stops making sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// What could stand there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
}

/// What is wrong with one part of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldProblem {
    /// JSON pointer into the body, or `?name` for a query parameter.
    pub pointer: String,
    /// What is wrong there, and the limit.
    pub detail: String,
}

impl FieldProblem {
    /// A problem at that place.
    #[must_use]
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> FieldProblem {
        FieldProblem { pointer: pointer.into(), detail: detail.into() }
    }
}
