//! Failures of one cause, as a group.

use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::name::Kind;
use ganger_core::{JobId, Wall};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A group of failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailureBody {
    /// Its name. The filter `failure:<fingerprint>` finds its jobs.
    #[schema(value_type = String, example = "9f86d081884c7d65")]
    pub fingerprint: Fingerprint,
    /// The kind of its jobs.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// Attempts that failed so, since the first.
    pub count: u64,
    /// When the first of them ended.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Wall,
    /// When the last one ended.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Wall,
    /// The error of the last one, shortened.
    pub error: String,
    /// The job of the last one.
    #[schema(value_type = String)]
    pub job: JobId,
}

impl From<FailureGroup> for FailureBody {
    fn from(group: FailureGroup) -> FailureBody {
        FailureBody {
            fingerprint: group.fingerprint,
            kind: group.kind,
            count: group.count,
            first_at: group.first_at,
            last_at: group.last_at,
            error: group.error,
            job: group.job,
        }
    }
}

/// Groups of failures, the last seen first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailuresBody {
    /// The groups.
    pub items: Vec<FailureBody>,
}

/// What to do with the dead jobs of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GroupRequest {
    /// Only tell what would be done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Jobs per second, 1 to 10,000; 500 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// Why, for whoever looks later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
