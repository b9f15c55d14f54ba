//! A job as it is shown: what was asked for, where it stands, how its attempts went.

use ganger_core::change::AttemptRecord;
use ganger_core::fingerprint::Fingerprint;
use ganger_core::job::{Fallback, State};
use ganger_core::name::{Kind, Labels, QueueName};
use ganger_core::outcome::Outcome;
use ganger_core::retry::RetryPolicy;
use ganger_core::{JobId, SessionId, Wall};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{HumanDuration, OriginBody, Timeout};

/// A job.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct JobBody {
    /// Its identity, for ever.
    #[schema(value_type = String, example = "job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    pub id: JobId,
    /// What picks its handler.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// The lane it waits in.
    #[schema(value_type = String)]
    pub queue: QueueName,
    /// scheduled, blocked, queued, running, retrying, succeeded, dead or cancelled.
    #[schema(value_type = String)]
    pub state: State,
    /// Larger runs first.
    pub priority: i8,
    /// When it was taken in.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Wall,
    /// When it may run, or last might.
    #[schema(value_type = String, format = DateTime)]
    pub run_at: Wall,
    /// When its last or present attempt was given to a worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Wall>,
    /// When it became final.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Wall>,
    /// It dies if it has not started by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Wall>,
    /// Number of its last or present attempt; 0 before the first.
    pub attempt: u32,
    /// Attempts that count against `max_attempts`; a replay sets it back to 0.
    pub attempts_used: u32,
    /// Attempts allowed in all.
    pub max_attempts: u32,
    /// Workers lost in a row before it is quarantined.
    pub max_lost: u32,
    /// Threads it wants.
    pub threads: u16,
    /// The least it accepts.
    pub min_threads: u16,
    /// What happens when no worker is wide enough.
    #[schema(value_type = String)]
    pub fallback: Fallback,
    /// Threads its last or present attempt was granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_granted: Option<u16>,
    /// Labels its worker must carry.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub require: Labels,
    /// Delays between attempts.
    pub retry: RetryBody,
    /// Longest run of one attempt, or `none`.
    #[schema(value_type = String, example = "1h")]
    pub timeout: Timeout,
    /// At most one live job of its kind has this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// How long the key is held after success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_for: Option<HumanDuration>,
    /// Jobs of its queue with the same key share the limits of the queue's keys, and wait while the key is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Whose job it is: within equal priority the owners of a queue's jobs take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_key: Option<String>,
    /// The share of its owner, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_weight: Option<u16>,
    /// For finding it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Trace of whoever submitted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// What tracing systems added to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// The schedule that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<OriginBody>,
    /// Name of the worker of its last or present attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// How far its handler said it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<ProgressBody>,
    /// A person asked for it to stop; its worker was told.
    #[serde(default)]
    pub cancel_requested: bool,
    /// Error of its last recorded attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The group of failures that its last recorded attempt belongs to, if that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "9f86d081884c7d65")]
    pub failure: Option<Fingerprint>,
    /// Why it died or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it waited, ready to run, before its last attempt; so far, if it waits now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_time_ms: Option<u64>,
    /// How long its last attempt ran; so far, if it runs now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_time_ms: Option<u64>,
    /// From intake to its end, or to now.
    pub total_time_ms: u64,
    /// Its input, byte for byte. Lists omit it unless asked to include it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub payload: Option<Box<RawValue>>,
    /// What its handler returned. Lists omit it unless asked to include it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub result: Option<Box<RawValue>>,
}

/// A value that is there, be it `null`: a result of `null` is not the same as no result.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(d).map(Some)
}

/// A retry policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RetryBody {
    /// Delay after the first failure.
    #[schema(example = "1s")]
    pub base: HumanDuration,
    /// What the delay is multiplied with after each further failure.
    pub factor: f64,
    /// The delay, before jitter, never exceeds this.
    #[schema(example = "1h")]
    pub max: HumanDuration,
    /// Random addition, as a fraction of the delay.
    pub jitter: f64,
}

impl From<&RetryPolicy> for RetryBody {
    fn from(policy: &RetryPolicy) -> RetryBody {
        RetryBody {
            base: policy.base.into(),
            factor: policy.factor,
            max: policy.max.into(),
            jitter: policy.jitter,
        }
    }
}

/// How far a handler said it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProgressBody {
    /// From 0 to 1.
    pub fraction: f32,
    /// In words.
    #[serde(default)]
    pub note: String,
}

/// One page of jobs, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct JobPage {
    /// The jobs.
    pub items: Vec<JobBody>,
    /// Give it back as `cursor`, with the same filters, for the next page.
    #[serde(default)]
    pub next_cursor: Option<String>,
    /// How much was looked at.
    pub scan: ScanBody,
}

/// How much a list looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScanBody {
    /// `index`: only rows that match were looked at. `bounded`: others too, up to 100,000 of them.
    pub mode: ScanMode,
    /// Rows that were looked at.
    pub examined: usize,
    /// Whether every row that could match was; if not, the next page continues the search.
    pub complete: bool,
}

/// How rows were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScanMode {
    /// Only rows that match were looked at.
    Index,
    /// Others too, within a bound.
    Bounded,
}

impl ScanBody {
    /// So many rows were looked at, of which so many matched.
    #[must_use]
    pub fn new(examined: usize, matched: usize, complete: bool) -> ScanBody {
        // One more than a page holds tells whether there is a next one.
        let mode = if examined <= matched + 1 { ScanMode::Index } else { ScanMode::Bounded };
        ScanBody { mode, examined, complete }
    }
}

/// Every recorded attempt of a job, first to last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttemptsBody {
    /// The attempts.
    pub items: Vec<AttemptBody>,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttemptBody {
    /// From 1; never reused.
    pub attempt: u32,
    /// ok, error, timeout, lost, released or cancelled.
    #[schema(value_type = String)]
    pub outcome: Outcome,
    /// Why, where there is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Name of its worker.
    pub worker: String,
    /// The worker's session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// Threads it was granted.
    pub threads: u16,
    /// When the lease was given.
    #[schema(value_type = String, format = DateTime)]
    pub leased_at: Wall,
    /// When the handler began.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Wall,
    /// When the end was recorded.
    #[schema(value_type = String, format = DateTime)]
    pub ended_at: Wall,
    /// How long the handler ran.
    pub execution_time_ms: u64,
    /// Proof of the lease under which it ran.
    pub fence: String,
}

impl From<AttemptRecord> for AttemptBody {
    fn from(record: AttemptRecord) -> AttemptBody {
        let ran = record.ended_at.since(record.started_at);
        AttemptBody {
            attempt: record.number,
            outcome: record.outcome,
            error: record.error,
            worker: record.worker,
            session: record.session,
            threads: record.threads,
            leased_at: record.leased_at,
            started_at: record.started_at,
            ended_at: record.ended_at,
            execution_time_ms: u64::try_from(ran.as_millis()).unwrap_or(u64::MAX),
            fence: record.fence.to_string(),
        }
    }
}

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CancelBody {
    /// The job.
    #[schema(value_type = String)]
    pub id: JobId,
    /// It never starts again.
    pub cancelled: bool,
    /// It runs still: its worker was told to stop it, and it is cancelled when it has.
    #[serde(default)]
    pub requested: bool,
}
