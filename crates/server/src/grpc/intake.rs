//! From a submission on the wire to checked jobs.

use std::borrow::Cow;

use ganger_core::change::Idempotency;
use ganger_core::job::{JobOptions, JobSpec};
use ganger_core::trace::TraceContext;
use ganger_core::{Wall, limits};
use ganger_proto::v1;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tonic::metadata::MetadataMap;

use super::status::not_valid;
use crate::auth;
use crate::http::problem::{Code, Problem};
use crate::relay;

/// The idempotency key of a call.
pub(super) enum Key {
    None,
    /// This client chose it.
    OfClient(String, String),
    /// A standby did.
    OfRelay(String),
}

impl Key {
    /// The key in the message, or else the one in the headers.
    pub(super) fn of(message: &str, metadata: &MetadataMap) -> Key {
        if !message.is_empty() {
            return Key::OfClient(auth::caller(metadata.as_ref()).into(), message.into());
        }
        relay::key::given(metadata.as_ref()).map_or(Key::None, Key::OfRelay)
    }
}

/// Reads one job and checks everything that the wire cannot.
pub(super) fn job(wire: v1::NewJob, exec_allowed: bool, queues: Option<&str>) -> Result<JobSpec, Problem> {
    let spec = JobSpec::try_from(wire).map_err(|error| not_valid(&error))?;
    auth::in_queues(queues, &spec.queue)?;
    if crate::http::json_depth(&spec.payload) > limits::JSON_DEPTH {
        let detail = format!("field `payload` is nested deeper than {} levels", limits::JSON_DEPTH);
        return Err(Problem::new(Code::ValidationFailed, detail));
    }
    if let Err(error) = serde_json::from_str::<&RawValue>(&spec.payload) {
        let detail = format!("field `payload` is not JSON: {error}");
        return Err(Problem::new(Code::ValidationFailed, detail));
    }
    if spec.kind.as_str() == "exec" && !exec_allowed {
        let detail = "a job of kind `exec` runs a command on a worker, and this call has not the right token";
        return Err(Problem::new(Code::ExecNotAllowed, detail));
    }
    Ok(spec)
}

/// The trace of a call.
pub(super) fn trace(metadata: &MetadataMap) -> Option<TraceContext> {
    let said = |name: &str| metadata.get(name).and_then(|value| value.to_str().ok());
    TraceContext::read(said("traceparent"), said("tracestate"))
}

/// The key of a call. Its fingerprint is taken from what was understood, because the wire does not promise an order.
pub(super) fn keyed(key: Key, fingerprint: [u8; 32], now: Wall) -> Result<Option<Idempotency>, Problem> {
    let (scope, key) = match key {
        Key::None => return Ok(None),
        Key::OfRelay(key) => return Ok(Some(relay::key::idempotency(key, fingerprint, now))),
        Key::OfClient(caller, key) => (caller, key),
    };
    if key.len() > limits::KEY_BYTES || key.chars().any(char::is_control) {
        let detail = format!("must be at most {} bytes without control characters", limits::KEY_BYTES);
        return Err(Problem::parameter("idempotency_key", detail));
    }
    let until = now + limits::IDEMPOTENCY_KEPT;
    Ok(Some(Idempotency { scope, key, fingerprint, until }))
}

/// What tells one call from another under the same key.
pub(super) fn fingerprint(call: &str, said: &impl Serialize) -> Result<[u8; 32], Problem> {
    let text = serde_json::to_vec(said)
        .map_err(|error| Problem::new(Code::ValidationFailed, format!("the call cannot be read: {error}")))?;
    let mut hash = Sha256::new();
    hash.update(call.as_bytes());
    hash.update([0]);
    hash.update(text);
    Ok(hash.finalize().into())
}

/// The same for jobs. Their traces do not count: the same call, made again, may well be part of another one.
pub(super) fn fingerprint_of_jobs(call: &str, jobs: &[JobSpec]) -> Result<[u8; 32], Problem> {
    let mut hash = Sha256::new();
    hash.update(call.as_bytes());
    for job in jobs {
        let options = without_trace(&job.options);
        let said = (&job.kind, &job.queue, job.priority, job.run_at, &job.payload, &options, &job.depends_on);
        let text = serde_json::to_vec(&said).map_err(|error| {
            Problem::new(Code::ValidationFailed, format!("a job cannot be read: {error}"))
        })?;
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    Ok(hash.finalize().into())
}

/// Most carry none, and are not copied.
fn without_trace(options: &JobOptions) -> Cow<'_, JobOptions> {
    if options.traceparent.is_none() && options.tracestate.is_none() {
        return Cow::Borrowed(options);
    }
    Cow::Owned(JobOptions { traceparent: None, tracestate: None, ..options.clone() })
}
