//! One server's way to a store that several share: it can be cut, and restored.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use ganger_core::change::{Applied, AttemptRecord, Batch, LivePage, LiveQuery, Snapshot};
use ganger_core::dependency::Edge;
use ganger_core::document::Collection;
use ganger_core::fingerprint::trend::{Trend, Window};
use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::ids::ScheduleId;
use ganger_core::name::Kind;
use ganger_core::schedule::ledger::Occurrence;
use ganger_core::timeline::{Span, Timeline};
use ganger_core::{JobId, Term, Wall};
use ganger_server::clock::Clock;
use ganger_store::read::{ListQuery, Page, Related, StoredJob};
use ganger_store::shared::{Candidate, ClusterView, Election, InboxRow, ServerRecord, SharedStore};
use ganger_store::{CommitError, MemoryStore, Store, StoreError};
use tokio::sync::watch;

/// What passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    #[default]
    All,
    /// Everything but renewals.
    NoRenewals,
    /// Everything but loads, which are never answered.
    NoLoads,
    Nothing,
}

/// A server's way to the store. Clones are the same way.
#[derive(Clone)]
pub struct Link {
    store: Arc<MemoryStore>,
    passes: Arc<watch::Sender<Passes>>,
    dangers: Vec<String>,
}

/// A store for a cluster.
pub fn shared_store() -> Arc<MemoryStore> {
    let clock = Clock::start();
    Arc::new(MemoryStore::for_cluster(move || clock.now()))
}

impl Link {
    pub fn to(store: &Arc<MemoryStore>) -> Link {
        Link { store: store.clone(), passes: Arc::default(), dangers: Vec::new() }
    }

    /// The store's settings break this promise.
    pub fn dangerous(mut self, danger: &str) -> Link {
        self.dangers.push(danger.into());
        self
    }

    pub fn pass(&self, what: Passes) {
        self.passes.send_replace(what);
    }

    fn open(&self) -> Result<&MemoryStore, StoreError> {
        match *self.passes.borrow() {
            Passes::All | Passes::NoRenewals | Passes::NoLoads => Ok(&self.store),
            Passes::Nothing => Err(StoreError::Unavailable("the link is cut".into())),
        }
    }

    fn shared_store(&self) -> Result<Arc<dyn SharedStore>, StoreError> {
        Ok(self.open()?.shared().expect("a store for a cluster"))
    }
}

fn cut() -> CommitError {
    CommitError::Unknown("the link is cut".into())
}

#[async_trait]
impl Store for Link {
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        self.open()?.take_over(server, more_than).await
    }

    async fn load(&self) -> Result<Snapshot, StoreError> {
        let mut passes = self.passes.subscribe();
        let _ = passes.wait_for(|passes| *passes != Passes::NoLoads).await;
        self.open()?.load().await
    }

    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError> {
        self.open()?.live(query).await
    }

    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        self.open().map_err(|_| cut())?.commit(term, batch).await
    }

    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError> {
        self.open()?.jobs(ids, now).await
    }

    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError> {
        self.open()?.payloads(ids).await
    }

    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError> {
        self.open()?.list(query, now).await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.open()?.attempts(id).await
    }

    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError> {
        self.open()?.log(id, attempt).await
    }

    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError> {
        self.open()?.failures(since, kind, limit).await
    }

    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError> {
        self.open()?.failure_trends(groups, window).await
    }

    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError> {
        self.open()?.failure(fingerprint).await
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError> {
        self.open()?.documents(collection).await
    }

    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError> {
        self.open()?.timeline(span).await
    }

    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        self.open()?.related(id, of, after, limit).await
    }

    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError> {
        self.open()?.occurrences(schedule, before, limit).await
    }

    async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        self.open()?.backup(to).await
    }

    fn shared(&self) -> Option<Arc<dyn SharedStore>> {
        Some(Arc::new(self.clone()))
    }
}

#[async_trait]
impl SharedStore for Link {
    async fn stand(&self, candidate: &Candidate, more_than: u64) -> Result<Election, StoreError> {
        self.shared_store()?.stand(candidate, more_than).await
    }

    async fn renew(&self, term: Term) -> Result<(), CommitError> {
        if *self.passes.borrow() == Passes::NoRenewals {
            return Err(cut());
        }
        self.shared_store().map_err(|_| cut())?.renew(term).await
    }

    async fn resign(&self, term: Term) -> Result<(), CommitError> {
        self.shared_store().map_err(|_| cut())?.resign(term).await
    }

    async fn vacated(&self, term: Term) {
        match self.shared_store() {
            Ok(shared) => shared.vacated(term).await,
            Err(_) => std::future::pending().await,
        }
    }

    async fn announce(&self, server: &ServerRecord) -> Result<(), StoreError> {
        self.shared_store()?.announce(server).await
    }

    async fn withdraw(&self, server: &str) -> Result<(), StoreError> {
        self.shared_store()?.withdraw(server).await
    }

    async fn cluster(&self) -> Result<ClusterView, StoreError> {
        self.shared_store()?.cluster().await
    }

    async fn inbox(&self, limit: usize) -> Result<Vec<InboxRow>, StoreError> {
        self.shared_store()?.inbox(limit).await
    }

    async fn inbox_woken(&self) {
        match self.shared_store() {
            Ok(shared) => shared.inbox_woken().await,
            Err(_) => std::future::pending().await,
        }
    }

    async fn dangers(&self) -> Result<Vec<String>, StoreError> {
        self.open()?;
        Ok(self.dangers.clone())
    }
}
