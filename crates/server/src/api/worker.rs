//! Workers and what they hold.

use ganger_core::coordinator::view::WorkerView;
use ganger_core::event::WorkerState;
use ganger_core::job::State;
use ganger_core::name::{Kind, Labels, QueueName};
use ganger_core::{JobId, SessionId, Wall};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every worker, lost ones of the last hour included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkersBody {
    /// The workers.
    pub items: Vec<WorkerBody>,
}

/// A worker: one life of a worker process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkerBody {
    /// Its session.
    #[schema(value_type = String, example = "wrk_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    pub id: SessionId,
    /// A name for people; not an identity.
    pub name: String,
    /// available, busy, draining, unavailable, lost or gone.
    #[schema(value_type = String)]
    pub state: WorkerState,
    /// Queues it serves; empty means all.
    #[schema(value_type = Vec<String>)]
    pub queues: Vec<QueueName>,
    /// Kinds it handles; empty means all.
    #[schema(value_type = Vec<String>)]
    pub kinds: Vec<Kind>,
    /// Its capacity.
    pub threads: u16,
    /// Threads in use, those of stuck handlers included.
    pub threads_used: u16,
    /// Handlers that were told to stop and did not.
    pub stuck: usize,
    /// Its labels.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub labels: Labels,
    /// Version of its software.
    pub version: String,
    /// It lives inside the server process.
    pub local: bool,
    /// When its session began.
    #[schema(value_type = String, format = DateTime)]
    pub opened_at: Wall,
    /// How long ago it was last heard.
    pub silent_ms: u64,
    /// What it holds.
    pub leases: Vec<LeaseBody>,
    /// How it left, if it is lost or gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftBody>,
}

/// How a worker left, and what became of what it held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftBody {
    /// When that was decided.
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
    /// Why, for people.
    pub why: String,
    /// How many jobs it held.
    pub held: usize,
    /// The first hundred of them, and where each is now. Not in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<HeldBody>,
}

/// A job that a worker held when it left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeldBody {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// Where it is now; absent if it is not kept any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub state: Option<State>,
}

/// A lease that a worker holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseBody {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// Which attempt.
    pub attempt: u32,
    /// Threads granted.
    pub threads: u16,
    /// Proof of the lease.
    pub fence: String,
    /// When it was given.
    #[schema(value_type = String, format = DateTime)]
    pub since: Wall,
}

impl From<WorkerView> for WorkerBody {
    fn from(view: WorkerView) -> WorkerBody {
        let leases = view.leases.iter().map(|lease| LeaseBody {
            job: lease.job,
            attempt: lease.attempt,
            threads: lease.threads,
            fence: lease.fence.to_string(),
            since: lease.since,
        });
        WorkerBody {
            id: view.session,
            state: view.state,
            threads: view.worker.threads,
            threads_used: view.used,
            stuck: view.stuck,
            opened_at: view.opened_at,
            silent_ms: u64::try_from(view.silent.as_millis()).unwrap_or(u64::MAX),
            leases: leases.collect(),
            left: view.left.map(|left| LeftBody {
                at: left.at,
                why: left.why.told(),
                held: left.held,
                jobs: Vec::new(),
            }),
            name: view.worker.name,
            queues: view.worker.queues,
            kinds: view.worker.kinds,
            labels: view.worker.labels,
            version: view.worker.version,
            local: view.worker.local,
        }
    }
}
