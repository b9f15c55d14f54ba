//! Users, tokens and signing keys as they were read last.
//!
//! A request that finds them fresh costs no question to the store. Whoever finds them stale reads them again, one at a time;
//! the others go on with what there is. A change made by this server makes them stale at once. What another server was told a moment
//! ago is not known yet: so before somebody is taken for a stranger, it is read again, by all who wait for it at once.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use ganger_core::Mono;
use ganger_core::access::{Token, User};
use ganger_core::document::Collection;
use ganger_store::{Store, StoreError};
use serde::de::DeserializeOwned;

use super::SigningKey;

/// What was read so recently is taken as it is.
pub(crate) const FRESH: Duration = Duration::from_secs(5);
/// And so long if the store does not answer.
const BELIEVED: Duration = Duration::from_secs(60);
/// For strangers it is read no more often than this.
const READ_AGAIN: Duration = Duration::from_millis(100);
/// And no more often than this for those for whom nobody hurries.
const FRESH_WITHOUT_HURRY: Duration = Duration::from_secs(1);
/// A token's last use is written down if the one before is so long ago.
pub(crate) const USED_WITHIN: Duration = Duration::from_secs(60);

/// Everything that recognising needs, at one moment.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) users: BTreeMap<String, User>,
    pub(crate) tokens: BTreeMap<String, Token>,
    pub(crate) keys: BTreeMap<String, SigningKey>,
    /// Whose login it is.
    pub(crate) logins: HashMap<String, String>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    known: RwLock<Known>,
    loading: tokio::sync::Mutex<()>,
    /// Whoever waits for a change is woken.
    changed: tokio::sync::Notify,
}

#[derive(Debug, Default)]
struct Known {
    seen: Option<(Arc<Seen>, Mono)>,
    /// Grows with each change, so that what was read before one is not taken for what holds after it.
    changes: u64,
    stale: bool,
}

impl Directory {
    /// What is known, not older than it may be.
    ///
    /// # Errors
    /// The store does not answer, and what was read before is too old.
    pub(crate) async fn seen(&self, store: &dyn Store, now: Mono) -> Result<Arc<Seen>, StoreError> {
        self.seen_within(store, now, FRESH).await
    }

    /// The same, no older than this.
    async fn seen_within(
        &self,
        store: &dyn Store,
        now: Mono,
        age: Duration,
    ) -> Result<Arc<Seen>, StoreError> {
        if let Some(fresh) = self.no_older_than(now, age) {
            return Ok(fresh);
        }
        let _one_at_a_time = match self.loading.try_lock() {
            Ok(lock) => lock,
            // Somebody is reading already. What was changed must be seen; what only grew old will do for once.
            Err(_) => match self.no_older_than(now, BELIEVED) {
                Some(old) => return Ok(old),
                None => self.loading.lock().await,
            },
        };
        if let Some(fresh) = self.no_older_than(now, age) {
            return Ok(fresh);
        }
        let changes = self.known().changes;
        match read(store).await {
            Ok(seen) => {
                let seen = Arc::new(seen);
                self.keep(&seen, now, changes);
                Ok(seen)
            }
            Err(error) => self.no_older_than(now, BELIEVED).ok_or(error),
        }
    }

    /// What is known, read no earlier than it is asked for; without hurry, not much earlier. `None` if the store does not answer.
    pub(crate) async fn latest(
        &self,
        store: &dyn Store,
        clock: impl Fn() -> Mono,
        hurry: bool,
    ) -> Option<Arc<Seen>> {
        let asked = clock();
        if !hurry {
            return self.seen_within(store, asked, FRESH_WITHOUT_HURRY).await.ok();
        }
        let _one_at_a_time = self.loading.lock().await;
        let last = self.known().seen.clone();
        if let Some((seen, at)) = last {
            if at >= asked && !self.known().stale {
                return Some(seen);
            }
            tokio::time::sleep(READ_AGAIN.saturating_sub(clock().since(at))).await;
        }
        let (began, changes) = (clock(), self.known().changes);
        let seen = Arc::new(read(store).await.ok()?);
        self.keep(&seen, began, changes);
        Some(seen)
    }

    /// Something was changed: it is read again before anybody is recognised.
    pub(crate) fn changed(&self) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.changes += 1;
        known.stale = true;
        drop(known);
        self.changed.notify_waiters();
    }

    /// Resolves when something is changed by this server.
    pub(crate) async fn next_change(&self) {
        self.changed.notified().await;
    }

    /// What was read from that moment on, when so many changes were known of.
    fn keep(&self, seen: &Arc<Seen>, began: Mono, changes: u64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.changes == changes {
            *known = Known { seen: Some((seen.clone(), began)), changes, stale: false };
        }
    }

    fn known(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_older_than(&self, now: Mono, age: Duration) -> Option<Arc<Seen>> {
        let known = self.known();
        let (seen, at) = known.seen.as_ref()?;
        (!known.stale && now.since(*at) < age).then(|| seen.clone())
    }
}

/// Reads everything.
pub(crate) async fn read(store: &dyn Store) -> Result<Seen, StoreError> {
    let users: BTreeMap<String, User> = collection(store, Collection::User).await?;
    let logins =
        users.iter().flat_map(|(name, user)| user.logins.iter().map(|l| (l.id.clone(), name.clone())));
    Ok(Seen {
        logins: logins.collect(),
        tokens: collection(store, Collection::Token).await?,
        keys: collection(store, Collection::SigningKey).await?,
        users,
    })
}

async fn collection<T: DeserializeOwned>(
    store: &dyn Store,
    collection: Collection,
) -> Result<BTreeMap<String, T>, StoreError> {
    let read = |(name, body): (String, String)| match serde_json::from_str(&body) {
        Ok(value) => Some((name, value)),
        Err(error) => {
            // One that cannot be read lets nobody in, and keeps nobody else out.
            tracing::error!("the {} `{name}` cannot be read: {error}", collection.as_str());
            None
        }
    };
    Ok(store.documents(collection).await?.into_iter().filter_map(read).collect())
}
