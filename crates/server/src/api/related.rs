//! The jobs that a job waits for, and those that wait for it.

use ganger_core::JobId;
use ganger_core::dependency::OnDead;
use ganger_core::job::State;
use ganger_core::name::{Kind, QueueName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A job, and how it is related to the one that was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RelatedBody {
    /// The other job.
    #[schema(value_type = String)]
    pub id: JobId,
    /// Where it is now; nothing if it is not kept any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub state: Option<State>,
    /// Its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub kind: Option<Kind>,
    /// Its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub queue: Option<QueueName>,
    /// What the child does if the parent dies or is cancelled: `cancel`, `run` or `wait`.
    #[schema(value_type = String)]
    pub on_dead: OnDead,
    /// How the parent ended, once the child need not wait for it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub settled: Option<State>,
}

/// What a job waits for and what waits for it: the first fifty of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RelationsBody {
    /// Those that it waits for, or waited for.
    pub parents: RelatedPage,
    /// Those that wait for it, or waited.
    pub children: RelatedPage,
}

/// A page of related jobs, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RelatedPage {
    /// The jobs.
    pub items: Vec<RelatedBody>,
    /// Where the next page begins; nothing at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
