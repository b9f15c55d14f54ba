//! The next jobs of a queue.

use ganger_core::coordinator::view::QueueHead;
use ganger_core::name::{Kind, QueueName};
use ganger_core::{JobId, Wall};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{GateBody, QueueAheadBody};

/// The next jobs of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeadBody {
    /// The queue.
    #[schema(value_type = String)]
    pub queue: QueueName,
    /// The jobs, in the order in which they would start if nothing held them back.
    pub items: Vec<HeadJobBody>,
    /// Whether the order is certain. It is not where tenants have jobs of several kinds, or where there are very many tenants.
    pub exact: bool,
    /// Jobs of other queues that start before the first of these, as the turns of the queues are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_queues: Vec<QueueAheadBody>,
}

/// One of the next jobs of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeadJobBody {
    /// The job.
    #[schema(value_type = String)]
    pub id: JobId,
    /// Its kind.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// Its priority.
    pub priority: i8,
    /// Number of the attempt that is next.
    pub attempt: u32,
    /// Since when it could run.
    #[schema(value_type = String, format = DateTime)]
    pub ready_since: Wall,
    /// What holds it back, if anything does: the first gate that is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<GateBody>,
}

impl From<QueueHead> for HeadBody {
    fn from(head: QueueHead) -> HeadBody {
        let items = head.items.into_iter().map(|item| HeadJobBody {
            id: item.job,
            kind: item.kind,
            priority: item.priority,
            attempt: item.attempt,
            ready_since: item.ready_since,
            held: item.held.map(|gate| GateBody {
                gate: gate.gate.to_owned(),
                closed: gate.closed,
                evidence: gate.evidence,
            }),
        });
        let other_queues = head.others.into_iter().map(QueueAheadBody::from).collect();
        HeadBody { queue: head.queue, items: items.collect(), exact: head.exact, other_queues }
    }
}
