//! From a submission on the wire to checked jobs.

use ganger_core::change::Idempotency;
use ganger_core::job::JobSpec;
use ganger_core::{Wall, limits};
use ganger_proto::v1;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::status::not_valid;
use crate::http::problem::{Code, Problem};

/// Reads one job and checks everything that the wire cannot.
pub(super) fn job(wire: v1::NewJob, exec_allowed: bool) -> Result<JobSpec, Problem> {
    let spec = JobSpec::try_from(wire).map_err(|error| not_valid(&error))?;
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

/// The key of a call; its fingerprint is taken from what was understood, because the wire does not
/// promise an order.
pub(super) fn idempotency(
    key: String,
    call: &str,
    jobs: &[JobSpec],
    now: Wall,
) -> Result<Option<Idempotency>, Problem> {
    if key.is_empty() {
        return Ok(None);
    }
    if key.len() > limits::KEY_BYTES || key.chars().any(char::is_control) {
        let detail = format!("must be at most {} bytes without control characters", limits::KEY_BYTES);
        return Err(Problem::parameter("idempotency_key", detail));
    }
    let mut hash = Sha256::new();
    hash.update(call.as_bytes());
    for job in jobs {
        let said = (&job.kind, &job.queue, job.priority, job.run_at, &job.payload, &job.options);
        let text = serde_json::to_vec(&said).map_err(|error| {
            Problem::new(Code::ValidationFailed, format!("a job cannot be read: {error}"))
        })?;
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    let fingerprint = hash.finalize().into();
    // Until tokens exist there is one caller: whoever reaches the server.
    let (scope, until) = ("anyone".into(), now + limits::IDEMPOTENCY_KEPT);
    Ok(Some(Idempotency { scope, key, fingerprint, until }))
}
