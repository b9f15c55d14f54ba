//! The whole, in numbers; what this server can do; whether it is well.

use std::collections::BTreeMap;

use ganger_core::Wall;
use ganger_core::coordinator::view::Stats;
use ganger_core::event::WorkerState;
use ganger_core::limits;
use ganger_core::name::{Kind, QueueName};
use ganger_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CountsBody, duration};
use crate::about::About;
use crate::auth::Auth;
use crate::service::Check;

/// The whole, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsBody {
    /// The leader's term.
    pub term: u64,
    /// All jobs by state.
    pub jobs: CountsBody,
    /// Queued jobs that do not start as things are: their queue is paused, or no connected worker fits.
    #[serde(default)]
    pub cannot_start: u64,
    /// Jobs by queue and kind.
    pub by_kind: Vec<KindStatsBody>,
    /// Workers by state.
    #[schema(value_type = std::collections::BTreeMap<String, usize>)]
    pub workers: BTreeMap<WorkerState, usize>,
    /// Threads of all workers.
    pub threads: u64,
    /// Threads in use.
    pub threads_used: u64,
    /// Changes that wait to be written.
    pub store_backlog: usize,
    /// Why nothing can be written at present, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_trouble: Option<String>,
    /// How things are, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictBody>,
}

/// How things are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VerdictBody {
    /// How bad the worst of it is: `ok`, `watch` or `bad`.
    pub severity: String,
    /// One sentence.
    pub text: String,
    /// What is not as it should be, the worst first; at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingBody>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindingBody {
    /// How bad it is: `watch` or `bad`.
    pub severity: String,
    /// What it is, for people.
    pub text: String,
    /// The queue it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub queue: Option<QueueName>,
}

impl From<Verdict> for VerdictBody {
    fn from(verdict: Verdict) -> VerdictBody {
        let findings = verdict.findings.into_iter().map(|finding| FindingBody {
            severity: finding.severity.as_str().into(),
            text: finding.text,
            queue: finding.queue,
        });
        VerdictBody {
            severity: verdict.severity.as_str().into(),
            text: verdict.text,
            findings: findings.collect(),
        }
    }
}

/// Jobs of one queue and kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KindStatsBody {
    /// The queue.
    #[schema(value_type = String)]
    pub queue: QueueName,
    /// The kind.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// By state.
    pub jobs: CountsBody,
}

impl From<Stats> for StatsBody {
    fn from(stats: Stats) -> StatsBody {
        let mut jobs = CountsBody::default();
        let mut by_kind = Vec::with_capacity(stats.counts.len());
        for (queue, kind, counts) in stats.counts {
            jobs.add(counts.into());
            by_kind.push(KindStatsBody { queue, kind, jobs: counts.into() });
        }
        StatsBody {
            term: stats.term.number,
            jobs,
            cannot_start: stats.cannot_start,
            by_kind,
            workers: stats.workers.into_iter().collect(),
            threads: stats.threads,
            threads_used: stats.threads_used,
            store_backlog: stats.backlog,
            store_trouble: stats.store_trouble,
            verdict: None,
        }
    }
}

/// What this server is and allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CapabilitiesBody {
    /// Always `ganger`.
    pub product: String,
    /// Version of the server.
    pub version: String,
    /// Versions of the API it speaks.
    pub api: Vec<String>,
    /// What people call this installation, such as `production`, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Whether callers are asked who they are.
    pub auth: bool,
    /// Whether people can make themselves users, at `POST /signup`.
    pub signup: bool,
    /// The bounds on what a client can send.
    pub limits: LimitsBody,
}

impl CapabilitiesBody {
    /// Those of a server of that version.
    #[must_use]
    pub fn new(version: &str, about: &About, auth: &Auth) -> CapabilitiesBody {
        CapabilitiesBody {
            product: "ganger".into(),
            version: version.into(),
            api: vec!["v1".into()],
            environment: about.label.clone(),
            auth: auth.is_required(),
            signup: auth.has_signup(),
            limits: LimitsBody::default(),
        }
    }
}

/// The bounds on what a client can send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitsBody {
    /// Largest payload.
    pub payload_bytes: usize,
    /// Largest result.
    pub result_bytes: usize,
    /// Longest error text kept.
    pub error_bytes: usize,
    /// Log text kept of one attempt.
    pub log_bytes: usize,
    /// Deepest nesting of JSON.
    pub json_depth: usize,
    /// Most jobs in one batch.
    pub batch_jobs: usize,
    /// Largest batch.
    pub batch_bytes: usize,
    /// Longest name of a queue or a kind.
    pub name_bytes: usize,
    /// Most tags of a job.
    pub tags: usize,
    /// Longest tag.
    pub tag_bytes: usize,
    /// Most labels of a worker, or required by a job.
    pub labels: usize,
    /// Longest unique key or idempotency key.
    pub key_bytes: usize,
    /// Most threads of a job.
    pub threads: u16,
    /// Most attempts of a job.
    pub attempts: u32,
    /// Most rows of a page.
    pub page: usize,
    /// Longest delay, timeout or uniqueness window.
    pub longest: String,
    /// How long an idempotency key is remembered.
    pub idempotency_kept: String,
}

impl Default for LimitsBody {
    fn default() -> LimitsBody {
        LimitsBody {
            payload_bytes: limits::PAYLOAD_BYTES,
            result_bytes: limits::RESULT_BYTES,
            error_bytes: limits::ERROR_BYTES,
            log_bytes: limits::LOG_BYTES,
            json_depth: limits::JSON_DEPTH,
            batch_jobs: limits::BATCH_JOBS,
            batch_bytes: limits::BATCH_BYTES,
            name_bytes: limits::NAME_BYTES,
            tags: limits::TAGS,
            tag_bytes: limits::TAG_BYTES,
            labels: limits::LABELS,
            key_bytes: limits::KEY_BYTES,
            threads: limits::THREADS,
            attempts: limits::ATTEMPTS,
            page: limits::PAGE_MAX,
            longest: duration::format(limits::LONGEST),
            idempotency_kept: duration::format(limits::IDEMPOTENCY_KEPT),
        }
    }
}

/// Whether the server is ready, check by check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadyBody {
    /// Every check is well.
    pub ready: bool,
    /// The checks.
    pub checks: Vec<CheckBody>,
    /// What time it is on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub now: Option<Wall>,
}

impl From<&Check> for CheckBody {
    fn from(check: &Check) -> CheckBody {
        CheckBody {
            name: check.name.into(),
            ok: check.trouble.is_none(),
            detail: check.trouble.clone().unwrap_or_else(|| check.detail.clone()),
            warning: check.warning.clone(),
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CheckBody {
    /// What was checked.
    pub name: String,
    /// Whether it is well.
    pub ok: bool,
    /// Detail for people; what is wrong, if something is.
    pub detail: String,
    /// A promise that may be broken although it is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}
