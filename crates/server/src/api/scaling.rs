//! How many workers a queue could use.

use ganger_core::name::QueueName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::service::QueueScaling;

/// How many workers a queue could use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScalingBody {
    /// The queue.
    #[schema(value_type = String)]
    pub queue: QueueName,
    /// Jobs that could start.
    pub ready: u64,
    /// Jobs that run.
    pub running: u64,
    /// How long the first job in line has been ready; 0 if there is none.
    pub oldest_ready_seconds: f64,
    /// Threads that would be in use if there were room for all.
    pub threads: u64,
    /// Threads of a worker that was reckoned with.
    pub threads_per_worker: u16,
    /// Workers that serve it.
    pub workers: u64,
    /// Workers that would hold those threads.
    pub desired_workers: u32,
}

impl From<QueueScaling> for ScalingBody {
    fn from(seen: QueueScaling) -> ScalingBody {
        ScalingBody {
            queue: seen.queue,
            ready: seen.load.ready,
            running: seen.load.running,
            // Thousandths are fine enough, and read better.
            oldest_ready_seconds: seen.oldest_ready.map_or(0.0, |age| age.as_millis() as f64 / 1000.0),
            threads: seen.scaling.threads,
            threads_per_worker: seen.scaling.threads_per_worker,
            workers: seen.load.workers,
            desired_workers: seen.scaling.desired_workers,
        }
    }
}
