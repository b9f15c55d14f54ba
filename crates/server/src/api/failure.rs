//! Failures of one cause, as a group.

use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::name::Kind;
use ganger_core::{JobId, Wall};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::duration;
use crate::service::{FailuresSeen, Recent};

/// A group of failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
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
    /// What it did in the window of the list. Absent of a single group, and of a window longer than seven days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<RecentBody>,
}

/// What a group of failures did in a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecentBody {
    /// Attempts that failed so in the window.
    pub count: u64,
    /// The same for each step of the window, the oldest first.
    pub trend: Vec<u64>,
    /// What part of its kind's attempts that is, of those that started in the window: 0 to 1. Absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
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
            recent: None,
        }
    }
}

impl From<Recent> for RecentBody {
    fn from(recent: Recent) -> RecentBody {
        RecentBody { count: recent.count(), trend: recent.trend, share: recent.share }
    }
}

/// Groups of failures, the last seen first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FailuresBody {
    /// The groups.
    pub items: Vec<FailureBody>,
    /// The window in whole steps. Absent if it is longer than seven days: failures are not counted over time for longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowBody>,
}

/// A window that ends now, widened to whole steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WindowBody {
    /// When it begins.
    #[schema(value_type = String, format = DateTime)]
    pub from: Wall,
    /// When its last step ends, which counts what has happened so far.
    #[schema(value_type = String, format = DateTime)]
    pub to: Wall,
    /// How long a step lasts, such as `5m`.
    pub step: String,
}

impl From<FailuresSeen> for FailuresBody {
    fn from(seen: FailuresSeen) -> FailuresBody {
        let item = |(group, recent): (FailureGroup, Option<Recent>)| FailureBody {
            recent: recent.map(RecentBody::from),
            ..FailureBody::from(group)
        };
        FailuresBody {
            items: seen.groups.into_iter().map(item).collect(),
            window: seen.window.map(|window| WindowBody {
                from: window.from(),
                to: window.to(),
                step: duration::format(window.step()),
            }),
        }
    }
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
