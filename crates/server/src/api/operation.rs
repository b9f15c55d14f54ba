//! Bulk operations: what is asked for, how far it is, what it would do.

use std::collections::BTreeMap;

use ganger_core::operation::{Action, Operation, OperationState, Target};
use ganger_core::{JobId, OperationId, Wall};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ScanBody;
use crate::service::Preview;

/// A bulk operation as it is asked for: exactly one of `filter`, `ids` and `all`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OperationRequest {
    /// replay, cancel or delete.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub action: String,
    /// Which jobs, in the language of `GET /v1/jobs?q=`. Replay and delete concern final jobs, cancel live ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Which jobs, one by one; at most 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub ids: Option<Vec<JobId>>,
    /// Really all jobs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
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

/// A bulk operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OperationBody {
    /// Its identity.
    #[schema(value_type = String, example = "op_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    pub id: OperationId,
    /// replay, cancel or delete.
    #[schema(value_type = String)]
    pub action: Action,
    /// running, done or cancelled.
    #[schema(value_type = String)]
    pub state: OperationState,
    /// Its filter, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// How many jobs it names one by one, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<usize>,
    /// It is for all jobs.
    #[serde(default)]
    pub all: bool,
    /// Jobs per second, at the most.
    pub rate: u32,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who asked for it, if that is known: `user:…`, `token:…`, `anyone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How many jobs it was for when it was asked for; not there if they are too many to be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// When it was asked for. Jobs that came, or ended, later are left alone.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Wall,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Wall>,
    /// Rows looked at so far.
    pub examined: u64,
    /// Jobs to which it was done.
    pub done: u64,
    /// Jobs that were left alone.
    pub skipped: u64,
    /// The same by reason: live, final, changed, gone, unique_key_held, exec_not_allowed.
    pub skipped_by: BTreeMap<String, u64>,
}

impl From<Operation> for OperationBody {
    fn from(operation: Operation) -> OperationBody {
        let skipped = operation.skipped_in_all();
        let (filter, ids, all) = match operation.target {
            Target::Filter { text, .. } => (Some(text), None, false),
            Target::Ids(ids) => (None, Some(ids.len()), false),
            Target::All => (None, None, true),
        };
        OperationBody {
            id: operation.id,
            action: operation.action,
            state: operation.state,
            filter,
            ids,
            all,
            rate: operation.rate,
            reason: operation.reason,
            by: operation.by,
            total: operation.total,
            created_at: operation.created_at,
            finished_at: operation.finished_at,
            examined: operation.examined,
            done: operation.done,
            skipped,
            skipped_by: operation.skipped.iter().map(|(why, n)| (why.as_str().to_owned(), *n)).collect(),
        }
    }
}

/// Bulk operations, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OperationsBody {
    /// The operations.
    pub items: Vec<OperationBody>,
}

/// What a bulk operation would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewBody {
    /// Always true.
    pub dry_run: bool,
    /// Jobs that it would act upon; more, if the scan is not complete.
    pub matched: u64,
    /// Jobs named one by one that it would leave alone.
    pub skipped: u64,
    /// The matches by state.
    pub by_state: BTreeMap<String, u64>,
    /// The matches by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// The matches by queue.
    pub by_queue: BTreeMap<String, u64>,
    /// Some of them.
    #[schema(value_type = Vec<String>)]
    pub sample: Vec<JobId>,
    /// How much was looked at.
    pub scan: ScanBody,
}

impl From<Preview> for PreviewBody {
    fn from(preview: Preview) -> PreviewBody {
        let matched = usize::try_from(preview.matched).unwrap_or(usize::MAX);
        PreviewBody {
            dry_run: true,
            matched: preview.matched,
            skipped: preview.skipped,
            by_state: preview.by_state.iter().map(|(state, n)| (state.as_str().to_owned(), *n)).collect(),
            by_kind: preview.by_kind.iter().map(|(kind, n)| (kind.to_string(), *n)).collect(),
            by_queue: preview.by_queue.iter().map(|(queue, n)| (queue.to_string(), *n)).collect(),
            sample: preview.sample,
            scan: ScanBody::new(preview.survey.examined, matched, preview.survey.complete),
        }
    }
}
