//! Who writes next, while batches are sent before those in front of them are answered.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ganger_core::Term;
use tokio::sync::Notify;

/// A batch, by its term and number.
type Which = (Term, u64);

/// The batches that are not settled yet.
#[derive(Debug, Default)]
pub(super) struct Order {
    batches: Mutex<Batches>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Batches {
    /// Each, and whether it was sent and is not answered.
    unsettled: BTreeMap<Which, bool>,
    /// Those that nobody waited for to the end.
    abandoned: Vec<Which>,
}

/// The place of a batch, until it is settled.
pub(super) struct Place<'o> {
    order: &'o Order,
    batch: Which,
    settled: bool,
}

impl Order {
    /// A batch comes in.
    pub(super) fn join(&self, batch: Which) -> Place<'_> {
        self.batches().unsettled.insert(batch, false);
        Place { order: self, batch, settled: false }
    }

    /// The batches that somebody went away from before they were settled, since this was asked last.
    pub(super) fn abandoned(&self) -> Vec<Which> {
        std::mem::take(&mut self.batches().abandoned)
    }

    fn batches(&self) -> MutexGuard<'_, Batches> {
        // Nothing that holds it can panic in between.
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Whether everything before it was sent, so that it may be sent too.
    pub(super) fn may_follow(&self) -> bool {
        self.order.batches().unsettled.range(..self.batch).all(|(_, sent)| *sent)
    }

    /// It is sent.
    pub(super) fn sent(&self) {
        self.order.batches().unsettled.insert(self.batch, true);
    }

    /// It is answered, for better or worse.
    pub(super) fn answered(&self) {
        self.order.batches().unsettled.insert(self.batch, false);
        self.order.changed.notify_waiters();
    }

    /// Waits until everything before it is settled, and nothing that was sent is unanswered.
    pub(super) async fn turn(&self) {
        loop {
            // Listens before it looks: nothing changes unheard in between.
            let mut changed = pin!(self.order.changed.notified());
            changed.as_mut().enable();
            let first = |unsettled: &BTreeMap<Which, bool>| {
                unsettled.range(..self.batch).next().is_none() && unsettled.values().all(|sent| !sent)
            };
            if first(&self.order.batches().unsettled) {
                return;
            }
            changed.await;
        }
    }

    /// It is settled.
    pub(super) fn leave(mut self) {
        self.settled = true;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut batches = self.order.batches();
        batches.unsettled.remove(&self.batch);
        if !self.settled {
            batches.abandoned.push(self.batch);
        }
        drop(batches);
        self.order.changed.notify_waiters();
    }
}
