//! How many workers a queue could use.

use std::time::Duration;

use ganger_core::limits;
use ganger_core::name::QueueName;
use ganger_core::scaling::{Bounds, Load, MOST_WORKERS, Scaling};

use super::{Answer, Service};
use crate::http::problem::Problem;

/// What an autoscaler is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueScaling {
    /// The queue.
    pub queue: QueueName,
    /// What it has to do.
    pub load: Load,
    /// How long the first job in line has been ready.
    pub oldest_ready: Option<Duration>,
    /// How many workers would do.
    pub scaling: Scaling,
}

impl Service {
    /// How many workers a queue could use, by what runs and what waits at this moment.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn scaling(&self, queue: QueueName, bounds: Bounds) -> Answer<QueueScaling> {
        let name = queue.clone();
        let (load, oldest_ready) = self.look(move |c, now| c.load_of(&name, bounds, now)).await?;
        Ok(QueueScaling { queue, load, oldest_ready, scaling: load.scaling(bounds) })
    }
}

/// What whoever asks says of his workers, if it can be.
///
/// # Errors
/// A number is out of its bounds.
pub fn bounds(max: Option<u64>, threads_per_worker: Option<u64>) -> Result<Bounds, Problem> {
    let mut bounds = Bounds::default();
    let refused = |name: &str, value: u64, low: u64, high: u64| {
        Problem::parameter(name, format!("is {value}, allowed are {low} to {high}"))
    };
    if let Some(max) = max {
        let fits = u32::try_from(max).ok().filter(|max| *max <= MOST_WORKERS);
        bounds.max = fits.ok_or_else(|| refused("max", max, 0, MOST_WORKERS.into()))?;
    }
    if let Some(threads) = threads_per_worker {
        let fits = u16::try_from(threads).ok().filter(|threads| (1..=limits::THREADS).contains(threads));
        let refused = || refused("threads_per_worker", threads, 1, limits::THREADS.into());
        bounds.threads_per_worker = Some(fits.ok_or_else(refused)?);
    }
    Ok(bounds)
}
