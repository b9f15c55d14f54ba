//! Keys of queues that are closed for a while.

use ganger_core::Wall;
use ganger_core::change::{Applied, KeyClosure};

use super::state::MemoryState;

impl MemoryState {
    pub(super) fn close_key(&mut self, closure: &KeyClosure) -> Applied {
        let key = (closure.queue.clone(), closure.key.clone());
        match closure.until {
            Some(until) => self.closed_keys.put(key, until),
            None => drop(self.closed_keys.take(&key)),
        }
        Applied::Done
    }

    pub(super) fn closed_keys(&self) -> Vec<KeyClosure> {
        let closed = self.closed_keys.iter();
        closed
            .map(|((queue, key), until)| KeyClosure {
                queue: queue.clone(),
                key: key.clone(),
                until: Some(*until),
            })
            .collect()
    }

    /// Forgets keys that are open again since.
    pub(super) fn prune_closed_keys(&mut self, now: Wall) {
        let over: Vec<_> =
            self.closed_keys.iter().filter(|(_, until)| **until <= now).map(|(key, _)| key.clone()).collect();
        for key in over {
            self.closed_keys.take(&key);
        }
    }
}
