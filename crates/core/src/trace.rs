//! W3C trace context: what of it is taken from a submission, and how an attempt goes on with it.
//!
//! A job carries the context of whoever submitted it. Its first attempt, if it begins soon, is part of what the submitter
//! did, and is a child of its span. Everything later is not: a retry, a job that was delayed, waited long, or was made by a
//! schedule begins a trace of its own, with a link to the submitter's. Otherwise a trace would stay open for hours or
//! days, and whoever decides by the whole of it what to keep (tail sampling) would have decided long before.

use std::fmt;
use std::time::Duration;

use crate::limits;

/// An attempt that begins within this of the submission is part of the submitter's trace. Collectors that sample by
/// the whole trace wait 30 s by default: this leaves most of it to the handler.
pub const PROMPT: Duration = Duration::from_secs(10);

/// Members of a `tracestate` at most, as the standard says.
const MEMBERS: usize = 32;
/// Bytes of a key or of a value of a `tracestate`.
const MEMBER_BYTES: usize = 256;
/// Bytes of a `traceparent` of the version that is understood.
const PARENT_BYTES: usize = 55;

/// A span somewhere, as a `traceparent` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Its trace; not zero.
    pub trace_id: u128,
    /// The span itself; not zero.
    pub span_id: u64,
    /// Bit 0: it is recorded.
    pub flags: u8,
}

impl Parent {
    /// Reads a `traceparent`; nothing if it is none. Of a later version only what this one has is read, as the standard
    /// asks.
    #[must_use]
    pub fn parse(text: &str) -> Option<Parent> {
        let bytes = text.as_bytes();
        let lower_hex = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
        let known = bytes.get(..PARENT_BYTES)?;
        let shaped = known.iter().enumerate().all(|(at, b)| match at {
            2 | 35 | 52 => *b == b'-',
            _ => lower_hex(b),
        });
        let version = text.get(..2)?;
        let rest = &bytes[PARENT_BYTES..];
        let ends_well =
            if version == "00" { rest.is_empty() } else { matches!(rest.first(), None | Some(b'-')) };
        if !shaped || !ends_well || version == "ff" {
            return None;
        }
        let trace_id = u128::from_str_radix(text.get(3..35)?, 16).ok()?;
        let span_id = u64::from_str_radix(text.get(36..52)?, 16).ok()?;
        let flags = u8::from_str_radix(text.get(53..55)?, 16).ok()?;
        (trace_id != 0 && span_id != 0).then_some(Parent { trace_id, span_id, flags })
    }
}

impl fmt::Display for Parent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

/// What a job carries of its submitter's trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The submitter's span.
    pub parent: Parent,
    /// What tracing systems add to it, opaque; empty if nothing.
    pub state: String,
}

impl TraceContext {
    /// Reads both headers as the standard says: without a valid `traceparent` there is nothing, and a `tracestate` that
    /// is not valid is left out. Neither is ever an error.
    #[must_use]
    pub fn read(traceparent: Option<&str>, tracestate: Option<&str>) -> Option<TraceContext> {
        let parent = Parent::parse(traceparent?.trim())?;
        let state = tracestate.map(str::trim).filter(|state| is_tracestate(state)).unwrap_or_default();
        Some(TraceContext { parent, state: state.to_owned() })
    }
}

/// How an attempt's span stands to the submitter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// In the same trace, below it.
    Child,
    /// In a trace of its own, with a link to it.
    LinkedRoot,
}

/// What of a job's story decides the relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Story {
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// From the submission to the beginning of this attempt.
    pub waited: Duration,
    /// A schedule made the job.
    pub occurrence: bool,
}

impl Story {
    /// The one rule: only a first, prompt attempt that somebody asked for is a child.
    #[must_use]
    pub fn relation(self) -> Relation {
        if self.attempt <= 1 && self.waited <= PROMPT && !self.occurrence {
            Relation::Child
        } else {
            Relation::LinkedRoot
        }
    }
}

/// `key=value` between commas, within the bounds of the standard.
fn is_tracestate(text: &str) -> bool {
    let members: Vec<&str> = text.split(',').map(str::trim).filter(|member| !member.is_empty()).collect();
    text.len() <= limits::TRACESTATE_BYTES
        && !members.is_empty()
        && members.len() <= MEMBERS
        && members.iter().all(|member| {
            member.split_once('=').is_some_and(|(key, value)| is_state_key(key) && is_state_value(value))
        })
}

fn is_state_key(key: &str) -> bool {
    let first = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let other = |b: u8| first(b) || matches!(b, b'_' | b'-' | b'*' | b'/' | b'@');
    key.len() <= MEMBER_BYTES && key.bytes().next().is_some_and(first) && key.bytes().all(other)
}

fn is_state_value(value: &str) -> bool {
    let allowed = |b: u8| (b' '..=b'~').contains(&b) && b != b',' && b != b'=';
    !value.is_empty() && value.len() <= MEMBER_BYTES && value.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    /// The cases that every SDK shares; the Python SDK reads the same file.
    #[derive(Deserialize)]
    struct Cases {
        prompt_ms: u64,
        relation: Vec<RelationCase>,
        traceparent: Vec<ParentCase>,
        tracestate: Vec<StateCase>,
    }

    #[derive(Deserialize)]
    struct RelationCase {
        name: String,
        attempt: u32,
        waited_ms: u64,
        occurrence: bool,
        relation: String,
    }

    #[derive(Deserialize)]
    struct ParentCase {
        given: String,
        taken: Option<String>,
    }

    #[derive(Deserialize)]
    struct StateCase {
        given: String,
        taken: bool,
    }

    fn cases() -> Cases {
        serde_json::from_str(include_str!("trace/cases.json")).expect("the table of cases")
    }

    #[test]
    fn only_a_first_prompt_attempt_is_a_child() {
        let cases = cases();
        assert_eq!(Duration::from_millis(cases.prompt_ms), PROMPT);
        for case in cases.relation {
            let waited = Duration::from_millis(case.waited_ms);
            let story = Story { attempt: case.attempt, waited, occurrence: case.occurrence };
            let wanted = match case.relation.as_str() {
                "child" => Relation::Child,
                "linked_root" => Relation::LinkedRoot,
                other => panic!("no such relation: {other}"),
            };
            assert_eq!(story.relation(), wanted, "{}", case.name);
        }
    }

    #[test]
    fn a_traceparent_is_taken_as_the_standard_says() {
        for case in cases().traceparent {
            let taken = Parent::parse(&case.given).map(|parent| parent.to_string());
            assert_eq!(taken, case.taken, "{}", case.given);
        }
    }

    #[test]
    fn a_tracestate_is_taken_within_its_bounds_or_left_out() {
        for case in cases().tracestate {
            let read = TraceContext::read(Some(PARENT), Some(&case.given)).expect("the parent is valid");
            assert_eq!(!read.state.is_empty(), case.taken, "{}", case.given);
        }
        let member = format!("a={}", "x".repeat(MEMBER_BYTES));
        assert!(is_tracestate(&member));
        assert!(!is_tracestate(&format!("{member}x")));
        let longest = format!("{member},b={}", "x".repeat(limits::TRACESTATE_BYTES - member.len() - 3));
        assert_eq!((longest.len(), is_tracestate(&longest)), (limits::TRACESTATE_BYTES, true));
        assert!(!is_tracestate(&format!("{longest}x")));
        let many = |n: usize| (0..n).map(|i| format!("k{i}=v")).collect::<Vec<_>>().join(",");
        assert!(is_tracestate(&many(MEMBERS)) && !is_tracestate(&many(MEMBERS + 1)));
    }

    #[test]
    fn without_a_parent_there_is_no_context() {
        assert_eq!(TraceContext::read(None, Some("a=b")), None);
        assert_eq!(TraceContext::read(Some("rubbish"), Some("a=b")), None);
    }
}
