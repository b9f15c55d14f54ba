//! From a row of the store's inbox to a job, by the rules of a submission.
//!
//! Nobody waits for an answer. So a row that cannot be understood becomes a job all the same, with as much of it as can be
//! read, and with the reason for which it is dead.

use ganger_core::Wall;
use ganger_core::change::NewJob;
use ganger_core::coordinator::port::InboxJob;
use ganger_core::job::JobSpec;
use ganger_core::limits;
use ganger_core::name::{Kind, QueueName};
use ganger_store::shared::InboxRow;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::intake::{self, Context};

/// The kind of a job whose own cannot be read.
const INVALID: &str = "invalid";

/// What can be read of a request that is not valid.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Remains {
    kind: Option<serde_json::Value>,
    queue: Option<serde_json::Value>,
    payload: Option<Box<RawValue>>,
}

/// The job that a row asks for.
pub(crate) fn from_inbox(row: InboxRow, now: Wall) -> InboxJob {
    let InboxRow { row, job: id, request } = row;
    // A command may be run for whoever shows the token, which no row can carry.
    let context =
        Context { now, traceparent: None, tracestate: None, exec_allowed: false, queues: None, items: None };
    let (spec, refused) = match intake::job(&request, "", context) {
        Ok(spec) => (spec, None),
        Err(problem) => {
            let mut reason = problem.detail;
            reason.truncate(reason.floor_char_boundary(limits::ERROR_BYTES));
            (what_remains(&request), Some(reason))
        }
    };
    let (created_at, due_at) = (Wall::default(), Wall::default());
    InboxJob { row, job: NewJob { id, seq: 0, created_at, due_at, spec }, refused }
}

fn what_remains(request: &str) -> JobSpec {
    let remains: Remains = serde_json::from_str(request).unwrap_or_default();
    let name = |value: Option<serde_json::Value>| value.and_then(|v| v.as_str().map(str::to_owned));
    let kind = name(remains.kind).and_then(|kind| kind.parse::<Kind>().ok());
    let kind = kind.unwrap_or_else(|| INVALID.parse().expect("seven letters are a name"));
    let mut spec = JobSpec::new(kind);
    let queue = name(remains.queue).and_then(|queue| queue.parse::<QueueName>().ok());
    spec.queue = queue.unwrap_or_default();
    if let Some(payload) = remains.payload.filter(|payload| payload.get().len() <= limits::PAYLOAD_BYTES) {
        spec.payload = payload.get().to_owned();
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::JobId;

    fn read(request: &str) -> InboxJob {
        from_inbox(InboxRow { row: 7, job: JobId::new(1, [1; 10]), request: request.into() }, Wall(1))
    }

    #[test]
    fn a_valid_row_is_the_job_that_rest_would_make_of_it() {
        let got = read(r#"{"kind": "mail", "queue": "q", "payload": { "a" : 1.0 }}"#);
        assert_eq!((got.row, got.refused), (7, None));
        assert_eq!((got.job.spec.kind.as_str(), got.job.spec.queue.as_str()), ("mail", "q"));
        assert_eq!(got.job.spec.payload, r#"{ "a" : 1.0 }"#);
    }

    #[test]
    fn what_is_not_valid_keeps_what_can_be_read_and_says_why() {
        let got = read(r#"{"kind": "mail", "queue": "q", "payload": [1], "threads": 0, "tip": 1}"#);
        assert_eq!((got.job.spec.kind.as_str(), got.job.spec.queue.as_str()), ("mail", "q"));
        assert_eq!(got.job.spec.payload, "[1]");
        assert!(got.refused.is_some_and(|why| why.contains("threads")));
        for request in ["", "[]", "{", r#"{"kind": 7}"#, r#"{"kind": "not a name"}"#, "\u{0}"] {
            let got = read(request);
            assert_eq!(got.job.spec.kind.as_str(), INVALID, "{request}");
            assert!(got.refused.is_some_and(|why| !why.is_empty()), "{request}");
        }
    }

    #[test]
    fn a_row_is_committed_already_and_cannot_be_buffered() {
        assert_eq!(read(r#"{"kind": "mail", "durability": "durable"}"#).refused, None);
        let refused = read(r#"{"kind": "mail", "durability": "buffered"}"#).refused;
        assert!(refused.is_some_and(|why| why.contains("durability")));
    }

    #[test]
    fn no_row_can_run_a_command() {
        assert!(read(r#"{"kind": "exec"}"#).refused.is_some_and(|why| why.contains("exec")));
    }
}
