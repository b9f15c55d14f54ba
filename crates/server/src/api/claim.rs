//! What a worker over plain HTTP sends: the bodies of a claim and of the reports of a lease. All of them may be left out.

use ganger_core::name::Kind;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::HumanDuration;

/// What a claim asks for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClaimRequest {
    /// Most jobs, from 1 to 64; 1 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 64)]
    pub max: Option<u16>,
    /// How long the jobs are held without a report, from `1s` to `1h`; `30s` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "30s")]
    pub lease: Option<HumanDuration>,
    /// How long to wait for a job, at most `1m`; `5s` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "5s")]
    pub wait: Option<HumanDuration>,
    /// Kinds that the caller can run; all if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, max_items = 256)]
    pub kinds: Option<Vec<Kind>>,
    /// A name for people; `http` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    pub worker: Option<String>,
}

/// How a job succeeded.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompleteRequest {
    /// What came of it: any JSON up to 1 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub result: Option<Box<RawValue>>,
}

/// How a job failed. At most one of `fatal`, `retry_after`, `throttled` and `cancelled`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FailRequest {
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "smtp: 451")]
    pub error: Option<String>,
    /// Trying again is pointless: the job is dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fatal: Option<bool>,
    /// Try again after this, not by the retry policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "10s")]
    pub retry_after: Option<HumanDuration>,
    /// Close the job's `concurrency_key` for so long; no attempt is burnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "30s")]
    pub throttled: Option<HumanDuration>,
    /// It stopped because it was asked to (`cancel_requested`): the job is cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<bool>,
}

/// How a job is handed back.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReleaseRequest {
    /// Whether its work was begun; true if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<bool>,
}

/// An extension has nothing to say.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExtendRequest {}

/// How far a job is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgressRequest {
    /// From 0 to 1; 0 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub fraction: Option<f32>,
    /// In words; longer than 1 KiB is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a job logs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogRequest {
    /// Lines. The last 64 KiB of each attempt are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
