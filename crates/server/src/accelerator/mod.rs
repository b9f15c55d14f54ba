//! What Redis does for the server, in front of what it does anyway.
//!
//! Every call here has a way without Redis, and takes it when Redis is away. What each role may and may not do is said in
//! [`ganger_store::redis`]; this is where the server asks it:
//!
//! ```text
//!  submit with a key ─▶ intake ─▶ the coordinator, whose store has the ledger     read of one job ─▶ finals ─▶ the store
//!  submit as buffered ─▶ buffer ═▶ drain (leader only) ─▶ the coordinator         events: leader ═▶ feed of a standby
//! ```

mod buffer;
mod drain;
mod feed;
mod finals;
mod intake;
mod measures;
mod told;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ganger_core::JobId;
use ganger_store::redis::Redis;
use tokio::sync::{broadcast, watch};
use tokio::task::AbortHandle;

pub use buffer::Taken;
pub use feed::Fed;
pub(crate) use measures::Measures;
pub use measures::Seen;

use crate::service::Service;

/// Runs of another leader's events kept for a listener that is slow.
const FED: usize = 2_048;

/// A handle on Redis and what the server does with it. Cheap to clone.
#[derive(Clone)]
pub struct Accelerator(Arc<Inner>);

struct Inner {
    redis: Redis,
    /// Jobs may be submitted as buffered.
    allow_buffered: bool,
    /// Buffered jobs that are being submitted at this moment: an id must not be submitted twice at once.
    submitting: Mutex<HashSet<JobId>>,
    fed: broadcast::Sender<Fed>,
    feed_is_up: watch::Sender<bool>,
}

/// The tasks that run beside the server. They end when this is dropped.
#[derive(Debug, Default)]
pub struct Tasks(Vec<AbortHandle>);

impl Accelerator {
    /// Uses this Redis.
    #[must_use]
    pub fn new(redis: Redis, allow_buffered: bool) -> Accelerator {
        Accelerator(Arc::new(Inner {
            redis,
            allow_buffered,
            submitting: Mutex::default(),
            fed: broadcast::channel(FED).0,
            feed_is_up: watch::channel(false).0,
        }))
    }

    /// Starts what runs beside the server: vouching, publishing and draining while it leads, listening while it follows.
    #[must_use]
    pub fn start(&self, service: &Service) -> Tasks {
        let tasks = [
            tokio::spawn(finals::vouch(self.clone(), service.clone())),
            tokio::spawn(feed::publish(self.clone(), service.clone())),
            tokio::spawn(feed::listen(self.clone(), service.clone())),
            tokio::spawn(drain::drain(self.clone(), service.clone())),
        ];
        Tasks(tasks.iter().map(tokio::task::JoinHandle::abort_handle).collect())
    }

    /// Whether jobs may be submitted as buffered.
    #[must_use]
    pub fn allows_buffered(&self) -> bool {
        self.0.allow_buffered
    }

    fn redis(&self) -> &Redis {
        &self.0.redis
    }

    fn submitting(&self) -> std::sync::MutexGuard<'_, HashSet<JobId>> {
        // A panic while the lock is held leaves whole ids, never half of one.
        self.0.submitting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accelerator").field("redis", &self.0.redis).finish_non_exhaustive()
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}
