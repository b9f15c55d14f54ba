//! Submitting jobs: one, a batch, a stream of lines.

use ganger_core::dependency::OnDead;
use ganger_core::job::{Fallback, State};
use ganger_core::name::{Kind, Labels, QueueName};
use ganger_core::{JobId, Wall};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{FieldProblem, HumanDuration, ProblemBody, Timeout};

/// How safe a job is to be before its submission is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// In the store.
    #[default]
    Durable,
    /// In a buffer in Redis, and from there in the store as soon as it can be. Lost if Redis loses it before.
    Buffered,
}

/// A job as a client asks for it. Only `kind` is required.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewJobRequest {
    /// Picks the handler.
    #[schema(required = true)]
    pub kind: String,
    /// The lane it waits in; `default` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Its input: any JSON, kept byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub payload: Option<Box<RawValue>>,
    /// −128 to 127; larger runs first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i8>,
    /// Earliest moment to run. Not together with `delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub run_at: Option<Wall>,
    /// How long from now until it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "5m")]
    pub delay: Option<HumanDuration>,
    /// It dies if it has not started by then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Wall>,
    /// Threads it wants, all or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// The least it accepts when no worker is wide enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_threads: Option<u16>,
    /// What to do when no worker could ever hold all its threads: `widest` or `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub fallback: Option<Fallback>,
    /// Labels its worker must carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    pub require: Option<Labels>,
    /// Attempts allowed in all, the first included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Delays between attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryRequest>,
    /// Longest run of one attempt, or `"none"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "30s")]
    pub timeout: Option<Timeout>,
    /// At most one live job of its kind with this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// How long the unique key is held after success, or after a death as `delivery unknown`; `forever` if without an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "1h")]
    pub unique_for: Option<HumanDuration>,
    /// Jobs of its queue with the same key share the limits of the queue's keys, and wait while the key is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Whose job it is: within equal priority the owners of a queue's jobs take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_key: Option<String>,
    /// The share of its owner, from 1 to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_weight: Option<u16>,
    /// For finding it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// W3C `traceparent` of whoever submits it; the header of that name does as well. One that is not valid is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The `tracestate` that belongs to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// Workers lost in a row before it is quarantined as dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lost: Option<u32>,
    /// `buffered` is answered with 202 as soon as Redis has the job, also while the store cannot be written; the server must
    /// allow it. It can be read once it is in the store. A request with an `Idempotency-Key`, a job with a `unique_key` or of more than 64 KiB, and every job
    /// while Redis is away is taken in as `durable` all the same: the answer says which. Not within a batch or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Jobs that must be final before it may run: it is `blocked` until then. Up to 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<ParentRequest>>,
}

/// A job that another one waits for: its id alone, or with what to do if it dies or is cancelled. Within a batch `#0` is the
/// first job of `jobs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ParentRequest {
    /// If it dies or is cancelled, so is the job that waits.
    Id(String),
    /// With a policy.
    On {
        /// Its id.
        job: String,
        /// `cancel` (the default), `run` or `wait` until it is replayed and succeeds.
        #[serde(default)]
        #[schema(value_type = String, example = "run")]
        on_dead: OnDead,
    },
}

/// A retry policy as a client gives it; what is left out keeps its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryRequest {
    /// Delay after the first failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "1s")]
    pub base: Option<HumanDuration>,
    /// What the delay is multiplied with after each further failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// The delay, before jitter, never exceeds this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "1h")]
    pub max: Option<HumanDuration>,
    /// Random addition, as a fraction of the delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f64>,
}

/// The receipt of a submission. The same `Idempotency-Key` gives the same receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubmittedBody {
    /// The job, for ever.
    #[schema(value_type = String, example = "job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    pub id: JobId,
    /// Its kind.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// Its queue.
    #[schema(value_type = String)]
    pub queue: QueueName,
    /// Where it was when it was taken in; of a deduplicated one, where it is.
    #[schema(value_type = String)]
    pub state: State,
    /// Its priority.
    pub priority: i8,
    /// Attempts made so far.
    pub attempt: u32,
    /// Attempts allowed in all.
    pub max_attempts: u32,
    /// The unique key was held: this is the job that holds it, and nothing new exists.
    pub deduplicated: bool,
    /// How safe the job is at this moment.
    #[serde(default)]
    pub durability: Durability,
}

/// Up to 1,000 jobs in one request.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest {
    /// The jobs, in order.
    pub jobs: Vec<NewJobRequest>,
    /// All or none: one bad job refuses the whole batch. So it is where jobs refer to each other, or there is a `callback`.
    #[serde(default)]
    pub atomic: bool,
    /// As for a single job, for all of them.
    #[serde(default)]
    pub durability: Durability,
    /// A job that runs once all of `jobs` are final, however they end. Its result comes last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<NewJobRequest>,
}

/// What became of each job of a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BatchBody {
    /// One per job, in the order of the request.
    pub results: Vec<BatchResult>,
    /// The same, counted.
    pub summary: BatchSummary,
    /// How safe the jobs are at this moment.
    #[serde(default)]
    pub durability: Durability,
}

/// What became of one job of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BatchResult {
    /// Position in the request, from 0.
    pub index: usize,
    /// What a request with this job alone would have been answered: 201, 202, 200 or an error.
    pub status: u16,
    /// The job that answers the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub id: Option<JobId>,
    /// Its unique key was held by that job.
    #[serde(default)]
    pub deduplicated: bool,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemBody>,
}

/// A batch, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BatchSummary {
    /// New jobs.
    pub created: usize,
    /// Jobs whose unique key was held.
    pub deduplicated: usize,
    /// Jobs that were refused.
    pub failed: usize,
}

/// What became of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportBody {
    /// New jobs.
    pub accepted: u64,
    /// Jobs whose unique key was held.
    pub deduplicated: u64,
    /// Lines that were refused.
    pub rejected: u64,
    /// The first hundred refusals.
    pub errors: Vec<ImportError>,
}

/// A line of an import that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportError {
    /// From 1.
    pub line: u64,
    /// The stable name of the problem.
    pub code: String,
    /// What is wrong, for people.
    pub detail: String,
    /// What is wrong with which field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}
