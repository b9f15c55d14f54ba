//! Reading what a program sent: names, ids, moments and limits, each refused by the name of its field.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use ganger_core::name::QueueName;
use ganger_core::{Wall, limits};
use ganger_proto::convert::{duration_from_wire, moment_from_wire};
use prost_types::Timestamp;
use tonic::{Request, Status};

use super::status::not_valid;
use crate::auth::Asking;
use crate::http::problem::{Code, Problem};
use crate::service::ServiceError;

/// A refusal is answered as it is everywhere.
impl From<Problem> for Status {
    fn from(problem: Problem) -> Status {
        super::status::status(problem)
    }
}

impl From<ServiceError> for Status {
    fn from(error: ServiceError) -> Status {
        super::status::status(error)
    }
}

/// Who asks.
pub(super) fn asking<T>(request: &Request<T>) -> Result<Asking, Problem> {
    let found = request.extensions().get::<Asking>().cloned();
    // A door without a porter lets nobody in.
    found.ok_or_else(|| Problem::new(Code::Unauthenticated, "nobody found out who asks"))
}

/// The queue that a request names, which must be among those of whoever asks.
pub(super) fn own_queue<T>(request: &Request<T>, text: &str) -> Result<QueueName, Problem> {
    let queue = named("queue", text)?;
    asking(request)?.must_see(&queue)?;
    Ok(queue)
}

/// A text that names something.
pub(super) fn named<T: FromStr<Err: Display>>(field: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|error| Problem::new(Code::InvalidParameter, format!("field `{field}`: {error}")))
}

/// The same, or nothing if it is empty.
pub(super) fn named_if<T: FromStr<Err: Display>>(field: &str, text: &str) -> Result<Option<T>, Problem> {
    if text.is_empty() { Ok(None) } else { named(field, text).map(Some) }
}

/// A text, or nothing if it is empty.
pub(super) fn given(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// How many, at most so many; zero is the usual number.
pub(super) fn count(field: &str, value: u32, usual: usize, most: usize) -> Result<usize, Problem> {
    match usize::try_from(value).unwrap_or(usize::MAX) {
        0 => Ok(usual),
        value if value <= most => Ok(value),
        value => Err(Problem::parameter(field, format!("is {value}, allowed are 1 to {most}"))),
    }
}

/// How many rows a page has.
pub(super) fn limit(value: u32, most: usize) -> Result<usize, Problem> {
    count("limit", value, limits::PAGE_DEFAULT, most)
}

/// A moment, if it is given.
pub(super) fn moment(field: &'static str, at: Option<Timestamp>) -> Result<Option<Wall>, Problem> {
    at.map(|at| moment_from_wire(field, at)).transpose().map_err(|error| not_valid(&error))
}

/// A duration, if it is given.
pub(super) fn duration(
    field: &'static str,
    long: Option<prost_types::Duration>,
) -> Result<Option<Duration>, Problem> {
    long.map(|long| duration_from_wire(field, long)).transpose().map_err(|error| not_valid(&error))
}

/// The part of a message that must be there.
pub(super) fn required<T>(field: &str, part: Option<T>) -> Result<T, Problem> {
    part.ok_or_else(|| Problem::new(Code::ValidationFailed, format!("field `{field}` is missing")))
}
