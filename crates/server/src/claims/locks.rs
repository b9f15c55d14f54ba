//! One request at a time for each claim: a newer stream would close the one that still waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ganger_core::SessionId;
use tokio::sync::OwnedMutexGuard;

/// A lock for each session that is in use.
#[derive(Clone, Debug, Default)]
pub(super) struct Locks(Arc<Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>>);

/// Held until dropped.
#[derive(Debug)]
pub(super) struct Locked {
    locks: Locks,
    session: SessionId,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Locks {
    /// Waits for its turn.
    pub(super) async fn lock(&self, session: SessionId) -> Locked {
        let lock = self.table().entry(session).or_default().clone();
        // From here on dropped with everything else if the caller gives up waiting.
        let mut locked = Locked { locks: self.clone(), session, guard: None };
        locked.guard = Some(lock.lock_owned().await);
        locked
    }

    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>> {
        // Every change is one insertion or removal.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.guard = None;
        let mut table = self.locks.table();
        // Nobody else waits for it or holds it: the table's is the last.
        if table.get(&self.session).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            table.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lock_is_held_by_one_and_forgotten_after_the_last() {
        let locks = Locks::default();
        let session = SessionId::new(1, [1; 10]);
        let first = locks.lock(session).await;
        let mut second = Box::pin(locks.lock(session));
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        drop(second.await);
        assert!(locks.table().is_empty());
    }
}
