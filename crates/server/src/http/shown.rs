//! A job as stored, turned into what is shown of it.

use std::borrow::Cow;
use std::time::Duration;

use ganger_core::fingerprint::Fingerprint;
use ganger_core::{Wall, redact};
use ganger_store::read::StoredJob;
use serde_json::value::RawValue;

use crate::api::{HumanDuration, JobBody, OriginBody, ProgressBody, RetryBody, Timeout};
use crate::auth::Asking;

/// Which of the larger parts of a job to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Include {
    /// Its input.
    pub(super) payload: bool,
    /// What it returned.
    pub(super) result: bool,
}

impl Include {
    /// Both.
    pub(super) const ALL: Include = Include { payload: true, result: true };

    /// What this caller may see.
    pub(super) fn of(asking: &Asking) -> Include {
        Include { payload: asking.reads_payloads(), result: asking.reads_payloads() }
    }
}

/// The body of a job at that moment. `worker` is the name of whoever runs it; without it, its session is shown.
pub(super) fn job(
    stored: StoredJob,
    progress: Option<(f32, String)>,
    worker: Option<String>,
    include: Include,
    now: Wall,
) -> JobBody {
    let times = Times::of(&stored, now);
    let last = stored.last_attempt;
    let lease = stored.lease;
    let o = stored.spec.options;
    let (finished_at, result, reason) = match stored.end {
        Some(end) => (Some(end.at), end.result, end.reason),
        None => (None, None, None),
    };
    let kind = stored.spec.kind;
    let failure = last.as_ref().and_then(|a| Fingerprint::of(kind.as_str(), a.outcome, a.error.as_deref()));
    let worker = lease.map(|l| worker.unwrap_or_else(|| l.session.to_string()));
    JobBody {
        id: stored.id,
        kind,
        queue: stored.spec.queue,
        state: stored.state,
        priority: stored.spec.priority,
        created_at: stored.created_at,
        run_at: stored.due_at,
        started_at: lease.map(|l| l.at).or_else(|| last.as_ref().map(|a| a.started_at)),
        finished_at,
        expires_at: o.expires_at,
        attempt: lease.map_or(stored.standing.attempt, |l| l.attempt),
        attempts_used: stored.standing.burnt,
        max_attempts: o.max_attempts,
        max_lost: o.max_lost,
        threads: o.threads,
        min_threads: o.min_threads,
        fallback: o.fallback,
        threads_granted: lease.map(|l| l.threads).or_else(|| last.as_ref().map(|a| a.threads)),
        require: o.require,
        retry: RetryBody::from(&o.retry),
        timeout: Timeout::from(o.timeout),
        unique_for: Some(HumanDuration(o.unique_for)).filter(|d| d.0 > Duration::ZERO),
        unique_key: o.unique_key,
        fair_weight: o.fair_key.as_ref().map(|_| o.fair_weight),
        concurrency_key: o.concurrency_key,
        fair_key: o.fair_key,
        tags: o.tags,
        traceparent: o.traceparent,
        tracestate: o.tracestate,
        schedule: o.schedule.map(|origin| OriginBody { name: origin.name, due_at: origin.due_at }),
        worker: worker.or_else(|| last.as_ref().map(|a| a.worker.clone())),
        progress: progress.map(|(fraction, note)| ProgressBody { fraction, note }),
        cancel_requested: stored.cancel_wanted,
        last_error: last.and_then(|a| a.error),
        failure,
        reason,
        queue_time_ms: times.queue.map(millis),
        execution_time_ms: times.execution.map(millis),
        total_time_ms: millis(times.total),
        payload: include.payload.then(|| raw(stored.spec.payload)),
        result: if include.result { result.map(raw) } else { None },
    }
}

/// The same where many jobs are shown: fields that are named like secrets are hidden.
pub(super) fn hidden(mut body: JobBody) -> JobBody {
    let hide = |text: Box<RawValue>| match redact::json(text.get()) {
        Cow::Owned(hidden) => raw(hidden),
        Cow::Borrowed(_) => text,
    };
    body.payload = body.payload.map(hide);
    body.result = body.result.map(hide);
    body
}

struct Times {
    queue: Option<Duration>,
    execution: Option<Duration>,
    total: Duration,
}

impl Times {
    fn of(stored: &StoredJob, now: Wall) -> Times {
        let ended = stored.end.as_ref().map_or(now, |end| end.at);
        Times { queue: stored.waited(now), execution: stored.ran(now), total: ended.since(stored.created_at) }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Stored JSON as it is. What is not JSON, which a store that was tampered with could hold, is shown as a
/// text rather than breaking the answer.
fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|error| {
        let note = serde_json::Value::String(format!("the stored text is not JSON: {error}"));
        serde_json::value::to_raw_value(&note).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::JobId;
    use ganger_core::change::End;
    use ganger_core::job::{JobSpec, State};
    use ganger_core::rules::Standing;

    fn stored() -> StoredJob {
        let mut spec = JobSpec::new("noop".parse().unwrap());
        spec.payload = "{ \"n\": 12345678901234567890 }".into();
        StoredJob {
            id: JobId::new(1, [0; 10]),
            spec,
            state: State::Queued,
            seq: 1,
            created_at: Wall(1_000_000),
            due_at: Wall(3_000_000),
            standing: Standing::default(),
            cancel_wanted: false,
            lease: None,
            last_attempt: None,
            end: None,
        }
    }

    #[test]
    fn a_payload_is_shown_byte_for_byte_and_only_where_asked_for() {
        let body = job(stored(), None, None, Include::ALL, Wall(5_000_000));
        let json = serde_json::to_string(&body).unwrap();
        assert!(json.contains("{ \"n\": 12345678901234567890 }"), "{json}");
        let read: JobBody = serde_json::from_str(&json).unwrap();
        assert_eq!(read.id, body.id);
        let bare = job(stored(), None, None, Include { payload: false, result: false }, Wall(5_000_000));
        assert!(bare.payload.is_none());
    }

    #[test]
    fn a_waiting_job_tells_how_long_it_has_been_ready() {
        let body = job(stored(), None, None, Include::ALL, Wall(5_000_000));
        assert_eq!(
            (body.queue_time_ms, body.execution_time_ms, body.total_time_ms),
            (Some(2000), None, 4000)
        );
    }

    #[test]
    fn a_job_cancelled_before_it_started_has_waited_until_then() {
        let mut job_ = stored();
        job_.state = State::Cancelled;
        let end =
            End { state: State::Cancelled, at: Wall(4_000_000), result: None, reason: None, keep: true };
        job_.end = Some(end);
        let body = job(job_, None, None, Include::ALL, Wall(99_000_000));
        assert_eq!((body.queue_time_ms, body.total_time_ms), (Some(1000), 3000));
    }
}
