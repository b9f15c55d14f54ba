//! Who leads, and where to listen to what happens.

use std::sync::Arc;

use tokio::sync::{broadcast, watch};

use super::{Run, Service};
use crate::accelerator::Accelerator;
use crate::coordinator_thread::Phase;

impl Service {
    /// Events from now on. A receiver that is too slow is told how many it missed.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Arc<Run>> {
        match self.0.events.upgrade() {
            Some(events) => events.subscribe(),
            // The leader has ended: a channel that is closed says so.
            None => broadcast::channel(1).1,
        }
    }

    /// What the coordinator's thread is doing.
    #[must_use]
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.0.phase.clone()
    }

    /// Whether this server leads.
    #[must_use]
    pub fn leads(&self) -> bool {
        matches!(*self.0.phase.borrow(), Phase::Leading(_))
    }

    /// Whether this server knows what happens: it leads, or hears of whoever does.
    #[must_use]
    pub fn knows_events(&self) -> bool {
        self.leads() || self.0.accelerator.as_ref().is_some_and(Accelerator::feed_is_up)
    }

    /// Resolves when whoever listens here must go elsewhere: it led and is deposed, or it does not hear the leader any more.
    pub async fn knows_events_no_more(&self) {
        let mut phase = self.0.phase.clone();
        if self.leads() {
            // An error means that the leader has ended.
            let _ = phase.wait_for(|phase| !matches!(phase, Phase::Leading(_))).await;
        } else if let Some(accelerator) = &self.0.accelerator {
            accelerator.feed_ends().await;
        }
    }
}
