//! Live events: the leader publishes its own, a standby listens and feeds whoever listens to it.
//!
//! A standby whose feed is up can serve `/v1/events` by itself; while it is not up, such a call is passed on to the leader.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::event::Event;
use ganger_store::redis::events::{Heard, MESSAGE_EVENTS, WORD_EVERY};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::watch;

use super::Accelerator;
use super::finals::leading;
use crate::coordinator_thread::{self, Phase};
use crate::service::{Run, Service};

// A run is published whole.
const _: () = assert!(coordinator_thread::RUN <= MESSAGE_EVENTS);

/// Wait before another attempt to listen.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// What a standby hears of the leader.
#[derive(Clone, Debug)]
pub enum Fed {
    /// Something happened. The numbers are the leader's.
    Events(Arc<Run>),
    /// Events were missed: so many, or nobody knows how many.
    Dropped(Option<u64>),
}

impl Accelerator {
    /// What is heard of another leader from now on.
    #[must_use]
    pub fn fed(&self) -> broadcast::Receiver<Fed> {
        self.0.fed.subscribe()
    }

    /// Whether another leader is heard.
    #[must_use]
    pub fn feed_is_up(&self) -> bool {
        *self.0.feed_is_up.borrow()
    }

    /// Resolves when no other leader is heard.
    pub async fn feed_ends(&self) {
        // This handle keeps the other end, so the wait can only end with an answer.
        let _ = self.0.feed_is_up.subscribe().wait_for(|up| !up).await;
    }
}

/// While this server leads its events are published, in batches, and its silence too.
pub(super) async fn publish(accelerator: Accelerator, service: Service) {
    let mut events = service.events();
    let mut phase = service.phase();
    // Of the next event; zero while it is not known.
    let mut next = 0;
    let mut waiting: Option<Arc<Run>> = None;
    loop {
        let Ok(term) = leading(&mut phase).await else { return };
        let first = match waiting.take() {
            Some(run) => Some(run),
            None => match tokio::time::timeout(WORD_EVERY, events.recv()).await {
                Ok(Ok(run)) => Some(run),
                // What was missed is missing in the numbers.
                Ok(Err(RecvError::Lagged(_))) => continue,
                Ok(Err(RecvError::Closed)) => return,
                Err(_) => None,
            },
        };
        let batch = match first {
            Some(run) => {
                let (batch, rest) = gather(run, &mut events);
                waiting = rest;
                batch
            }
            None => Vec::new(),
        };
        let first = batch.first().map_or(next, |run| run.first);
        let told: Vec<&Event> = batch.iter().flat_map(|run| &run.events).collect();
        next = first + told.len() as u64;
        accelerator.redis().publish(term, first, &told).await;
    }
}

/// What is there already and follows without a gap; and the first that does not.
fn gather(first: Arc<Run>, events: &mut broadcast::Receiver<Arc<Run>>) -> (Vec<Arc<Run>>, Option<Arc<Run>>) {
    let mut next = first.next();
    let mut room = MESSAGE_EVENTS.saturating_sub(first.events.len());
    let mut batch = vec![first];
    loop {
        match events.try_recv() {
            Ok(run) if run.first == next && run.events.len() <= room => {
                next = run.next();
                room -= run.events.len();
                batch.push(run);
            }
            Ok(run) => return (batch, Some(run)),
            Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => return (batch, None),
        }
    }
}

/// While another server leads this one listens.
pub(super) async fn listen(accelerator: Accelerator, service: Service) {
    let mut phase = service.phase();
    loop {
        if phase.wait_for(|phase| matches!(phase, Phase::Following(_))).await.is_err() {
            return;
        }
        let mut until = phase.clone();
        tokio::select! {
            () = hear(&accelerator) => {}
            _ = until.wait_for(|phase| !matches!(phase, Phase::Following(_))) => {}
        }
        accelerator.0.feed_is_up.send_replace(false);
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

/// Listens until no leader is heard any more.
async fn hear(accelerator: &Accelerator) {
    let Some(mut subscription) = accelerator.redis().subscribe().await else { return };
    let (fed, up): (_, &watch::Sender<bool>) = (&accelerator.0.fed, &accelerator.0.feed_is_up);
    let mut heard_before = false;
    while let Some(heard) = subscription.next().await {
        if !heard_before {
            // Nobody knows what was told before: whoever listened to an earlier feed missed it.
            let _ = fed.send(Fed::Dropped(None));
            up.send_replace(true);
            heard_before = true;
        }
        match heard {
            Heard::Dropped(missed) => {
                let _ = fed.send(Fed::Dropped(missed));
            }
            Heard::Events { first, events, .. } => {
                if !events.is_empty() {
                    // Nobody may be listening.
                    let _ = fed.send(Fed::Events(Arc::new(Run { first, events })));
                }
            }
        }
    }
}
