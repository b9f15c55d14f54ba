//! What is found: histograms of matches, and saved views.

use std::collections::BTreeMap;

use ganger_core::Wall;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ScanBody;
use crate::service::{Bucket, Histogram};

/// Matches over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistogramBody {
    /// Jobs that match, of all that were looked at.
    pub matched: u64,
    /// Length of each interval.
    pub step_ms: u64,
    /// The intervals, the oldest first. Those without a match are there too.
    pub buckets: Vec<BucketBody>,
    /// How much was looked at, from the newest on.
    pub scan: ScanBody,
}

impl From<Histogram> for HistogramBody {
    fn from(histogram: Histogram) -> HistogramBody {
        let bucket = |bucket: Bucket| BucketBody {
            at: bucket.at,
            count: bucket.count,
            states: bucket.states.iter().map(|(state, n)| (state.as_str().to_owned(), *n)).collect(),
        };
        let matched = usize::try_from(histogram.matched).unwrap_or(usize::MAX);
        HistogramBody {
            matched: histogram.matched,
            step_ms: u64::try_from(histogram.step.as_millis()).unwrap_or(u64::MAX),
            buckets: histogram.buckets.into_iter().map(bucket).collect(),
            scan: ScanBody::new(histogram.survey.examined, matched, histogram.survey.complete),
        }
    }
}

/// One interval of a histogram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BucketBody {
    /// Its first moment; it ends where the next begins.
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
    /// Jobs taken in during it.
    pub count: u64,
    /// The same by state; states without a job are left out.
    pub states: BTreeMap<String, u64>,
}

/// A saved view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ViewBody {
    /// Its name.
    pub name: String,
    /// Its filter.
    pub query: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it was last set.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Wall,
}

/// What a view is set to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ViewPut {
    /// Its filter.
    pub query: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Every saved view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ViewsBody {
    /// The views, by name.
    pub items: Vec<ViewBody>,
}
