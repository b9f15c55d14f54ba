//! What a server knows of itself and of the others, and how it tells them that it is there.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ganger_store::StoreError;
use ganger_store::shared::{ClusterView, ServerRecord, SharedStore};
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, error, warn};

use crate::store_health::StoreHealth;

/// How often a server says that it lives.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(5);
/// The settings of the database are looked at once in so many announcements.
const DANGERS_EVERY: u32 = 12;
/// Longest wait for the store.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Longest wait for the last word of a server that stops.
const WITHDRAW_WITHIN: Duration = Duration::from_secs(2);

/// A server's place among the others. Cheap to clone.
#[derive(Clone)]
pub struct Membership(Arc<Inner>);

struct Inner {
    server: ServerRecord,
    shared: Option<Arc<dyn SharedStore>>,
    health: StoreHealth,
    /// Nothing until the store has told.
    dangers: Mutex<Option<Vec<String>>>,
    /// The leader that does not recognise this server, and its words.
    refusal: Mutex<Option<(String, String)>>,
}

impl Membership {
    /// The place of this server. Without a shared store it is alone.
    #[must_use]
    pub fn new(
        server: ServerRecord,
        shared: Option<Arc<dyn SharedStore>>,
        health: StoreHealth,
    ) -> Membership {
        Membership(Arc::new(Inner {
            server,
            shared,
            health,
            dangers: Mutex::default(),
            refusal: Mutex::default(),
        }))
    }

    /// Itself.
    #[must_use]
    pub fn server(&self) -> &ServerRecord {
        &self.0.server
    }

    /// What several servers share, if they do.
    #[must_use]
    pub fn shared(&self) -> Option<Arc<dyn SharedStore>> {
        self.0.shared.clone()
    }

    /// Whether several servers may share the store.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.shared.is_some()
    }

    /// Whether the store answers.
    #[must_use]
    pub fn health(&self) -> &StoreHealth {
        &self.0.health
    }

    /// Settings of the database that break a promise, as they were last seen; `None` if they never were.
    #[must_use]
    pub fn dangers(&self) -> Option<Vec<String>> {
        self.0.dangers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why that leader does not recognise this server, if it does not.
    #[must_use]
    pub fn refusal(&self, leader: &str) -> Option<String> {
        let refusal = self.0.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        refusal.as_ref().filter(|(by, _)| by == leader).map(|(_, why)| why.clone())
    }

    /// That leader does not recognise this server; whether that is news.
    pub(crate) fn refused_by(&self, leader: &str, why: &str) -> bool {
        let now = Some((leader.to_owned(), why.to_owned()));
        let mut refusal = self.0.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *refusal, now.clone()) != now
    }

    /// The leader recognises this server; whether one did not before.
    pub(crate) fn recognised(&self) -> bool {
        self.0.refusal.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }

    /// Who leads and who is there; `None` where one process has the store to itself.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn cluster(&self) -> Result<Option<ClusterView>, StoreError> {
        let Some(shared) = &self.0.shared else { return Ok(None) };
        match tokio::time::timeout(ANSWER_WITHIN, shared.cluster()).await {
            Ok(view) => view.map(Some),
            Err(_) => Err(StoreError::Unavailable("it does not answer".into())),
        }
    }

    /// Looks at the settings of the database, where there is one; whether that came to anything.
    pub(crate) async fn look_for_dangers(&self) -> bool {
        let Some(shared) = &self.0.shared else { return true };
        match tokio::time::timeout(ANSWER_WITHIN, shared.dangers()).await {
            Ok(Ok(found)) => {
                let mut known = self.0.dangers.lock().unwrap_or_else(PoisonError::into_inner);
                let before = known.take().unwrap_or_default();
                for danger in found.iter().filter(|danger| !before.contains(danger)) {
                    error!("the database does not keep what it was given: {danger}");
                }
                *known = Some(found);
                return true;
            }
            Ok(Err(cause)) => debug!("cannot read the settings of the database: {cause}"),
            Err(_) => debug!("cannot read the settings of the database: it does not answer"),
        }
        false
    }
}

/// Tells the others that this server lives, until it is stopped or dropped.
#[derive(Debug)]
pub struct Presence {
    membership: Membership,
    _task: Option<AbortOnDropHandle<()>>,
}

impl Presence {
    /// Starts on the present runtime. A server that is alone has nobody to tell.
    #[must_use]
    pub fn start(membership: Membership) -> Presence {
        let task = membership.0.shared.clone().map(|shared| {
            let membership = membership.clone();
            AbortOnDropHandle::new(tokio::spawn(announce_all(membership, shared)))
        });
        Presence { membership, _task: task }
    }

    /// This server need not be shown any more.
    pub async fn stop(self) {
        let Presence { membership, _task: task } = self;
        drop(task);
        let Some(shared) = &membership.0.shared else { return };
        match tokio::time::timeout(WITHDRAW_WITHIN, shared.withdraw(&membership.server().name)).await {
            Ok(Ok(())) => {}
            Ok(Err(cause)) => debug!("cannot withdraw from the list of servers: {cause}"),
            Err(_) => debug!("cannot withdraw from the list of servers: the store does not answer"),
        }
    }
}

async fn announce_all(membership: Membership, shared: Arc<dyn SharedStore>) {
    let mut told = true;
    let mut until_look = 0_u32;
    loop {
        match tokio::time::timeout(ANSWER_WITHIN, shared.announce(membership.server())).await {
            Ok(Ok(())) => {
                told = true;
                if until_look > 0 || membership.look_for_dangers().await {
                    until_look = until_look.checked_sub(1).unwrap_or(DANGERS_EVERY - 1);
                }
            }
            // The first failure of a row is worth a line; the election speaks of the rest.
            failed @ (Ok(Err(_)) | Err(_)) => {
                if let (true, Ok(Err(cause))) = (told, failed) {
                    warn!("cannot tell the other servers that this one lives: {cause}");
                }
                told = false;
                // It may be another database, or one with other settings, when it is back.
                until_look = 0;
            }
        }
        tokio::time::sleep(ANNOUNCE_EVERY).await;
    }
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Membership").field("server", &self.0.server).finish_non_exhaustive()
    }
}
