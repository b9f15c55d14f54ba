//! The parts that messages are made of: ids, fences, durations, bounded texts.

use std::time::Duration;

use ganger_core::limits;
use ganger_core::name::NameError;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};
use uuid::Uuid;

use super::DecodeError;
use crate::v1;

/// Reads a job id of 16 bytes.
///
/// # Errors
/// Names `job`.
pub fn job_id_from_wire(bytes: &[u8]) -> Result<JobId, DecodeError> {
    uuid("job", bytes).map(JobId::from_uuid)
}

/// Reads a session id of 16 bytes.
///
/// # Errors
/// Names `session`.
pub fn session_id_from_wire(bytes: &[u8]) -> Result<SessionId, DecodeError> {
    uuid("session", bytes).map(SessionId::from_uuid)
}

pub(super) fn uuid_to_wire(id: Uuid) -> Vec<u8> {
    id.into_bytes().to_vec()
}

fn uuid(field: &'static str, bytes: &[u8]) -> Result<Uuid, DecodeError> {
    Uuid::from_slice(bytes)
        .map_err(|_| DecodeError::bad(field, format_args!("has {} bytes, an id has 16", bytes.len())))
}

impl From<Term> for v1::Term {
    fn from(term: Term) -> v1::Term {
        v1::Term { number: term.number, id: term.id }
    }
}

impl From<v1::Term> for Term {
    fn from(term: v1::Term) -> Term {
        Term { number: term.number, id: term.id }
    }
}

impl From<Fence> for v1::Fence {
    fn from(fence: Fence) -> v1::Fence {
        v1::Fence { term: Some(fence.term.into()), seq: fence.seq }
    }
}

pub(super) fn fence(fence: Option<v1::Fence>) -> Result<Fence, DecodeError> {
    let fence = fence.ok_or(DecodeError::Missing("fence"))?;
    let term = fence.term.ok_or(DecodeError::Missing("fence.term"))?;
    Ok(Fence { term: term.into(), seq: fence.seq })
}

pub(super) fn name<N: std::str::FromStr<Err = NameError>>(
    field: &'static str,
    text: &str,
) -> Result<N, DecodeError> {
    text.parse().map_err(|error| DecodeError::bad(field, error))
}

pub(super) fn at_most(field: &'static str, size: usize, max: usize, unit: &str) -> Result<(), DecodeError> {
    if size <= max {
        Ok(())
    } else {
        Err(DecodeError::bad(field, format_args!("has {size} {unit}, the limit is {max}")))
    }
}

pub(super) fn threads(field: &'static str, value: u32) -> Result<u16, DecodeError> {
    match u16::try_from(value) {
        Ok(threads) if (1..=limits::THREADS).contains(&threads) => Ok(threads),
        Ok(_) | Err(_) => {
            Err(DecodeError::bad(field, format_args!("is {value}, allowed are 1 to {}", limits::THREADS)))
        }
    }
}

/// A duration as it travels. The longest one that the wire can carry is far beyond any bound of ours.
#[must_use]
pub fn duration_to_wire(d: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(d.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(d.subsec_nanos()).unwrap_or(0),
    }
}

/// Reads a duration.
///
/// # Errors
/// It is negative, not a duration at all, or longer than [`limits::LONGEST`].
pub fn duration(field: &'static str, d: prost_types::Duration) -> Result<Duration, DecodeError> {
    let read = Duration::try_from(d).map_err(|_| DecodeError::bad(field, "is negative or too long"))?;
    if read > limits::LONGEST {
        let days = limits::LONGEST.as_secs() / 86_400;
        return Err(DecodeError::bad(field, format_args!("is longer than {days} days")));
    }
    Ok(read)
}

/// The nearest duration within `0..=LONGEST`: for results, which must not be refused.
pub(super) fn duration_clamped(d: Option<prost_types::Duration>) -> Duration {
    let Some(d) = d else { return Duration::ZERO };
    if d.seconds < 0 {
        return Duration::ZERO;
    }
    Duration::try_from(d).unwrap_or(Duration::ZERO).min(limits::LONGEST)
}

/// A moment as it travels.
#[must_use]
pub fn moment_to_wire(at: Wall) -> prost_types::Timestamp {
    prost_types::Timestamp {
        seconds: at.0.div_euclid(1_000_000),
        nanos: i32::try_from(at.0.rem_euclid(1_000_000) * 1_000).unwrap_or(0),
    }
}

/// Reads a moment.
///
/// # Errors
/// It is none that could be shown as a date.
pub fn moment(field: &'static str, at: prost_types::Timestamp) -> Result<Wall, DecodeError> {
    let wrong = || DecodeError::bad(field, "is not a moment between the years -9999 and 9999");
    if !(0..1_000_000_000).contains(&at.nanos) {
        return Err(wrong());
    }
    let micros = at.seconds.checked_mul(1_000_000).and_then(|m| m.checked_add(i64::from(at.nanos / 1_000)));
    // What the clock of `core` cannot show as a date is not one.
    micros.map(Wall).filter(|w| w.to_string().parse::<Wall>().is_ok()).ok_or_else(wrong)
}

/// The longest beginning of at most `max` bytes that ends between characters.
pub(super) fn truncated(mut text: String, max: usize) -> String {
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
    }
    text
}

/// The longest end of at most `max` bytes that begins between characters.
pub(super) fn last_bytes(mut text: String, max: usize) -> String {
    if text.len() > max {
        let cut = text.ceil_char_boundary(text.len() - max);
        text.drain(..cut);
    }
    text
}
