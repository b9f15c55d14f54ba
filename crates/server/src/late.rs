//! A shared store that could not be opened yet.
//!
//! A server whose database is away starts all the same: it lives, says why it is not ready, and opens the store when
//! a call finds it there. The election calls every second or so, so nothing else needs to try.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::BoxFuture;
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
use ganger_store::read::{ListQuery, Page, Related, StoredJob};
use ganger_store::shared::{Candidate, ClusterView, Election, InboxRow, ServerRecord, SharedStore};
use ganger_store::{CommitError, Committed, Store, StoreError, Wanted};
use tokio::sync::Mutex;

/// Opens a store.
pub type Open = Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> + Send + Sync>;

/// Opens the store when it is first called, and again until that succeeds. Clones are the same store.
#[derive(Clone)]
pub struct LateStore(Arc<Inner>);

struct Inner {
    open: Open,
    /// One call opens at a time; the others are refused meanwhile.
    opening: Mutex<()>,
    store: OnceLock<(Arc<dyn Store>, Arc<dyn SharedStore>)>,
}

impl LateStore {
    /// A store that several servers share, and how to open it.
    #[must_use]
    pub fn new(open: Open) -> LateStore {
        LateStore(Arc::new(Inner { open, opening: Mutex::new(()), store: OnceLock::new() }))
    }

    async fn opened(&self) -> Result<&(Arc<dyn Store>, Arc<dyn SharedStore>), StoreError> {
        if let Some(opened) = self.0.store.get() {
            return Ok(opened);
        }
        let Ok(_opening) = self.0.opening.try_lock() else {
            return Err(StoreError::Unavailable("it is being opened".into()));
        };
        let store = (self.0.open)().await?;
        let shared = store.shared();
        let shared = shared.ok_or_else(|| StoreError::Failed("several servers cannot share it".into()))?;
        Ok(self.0.store.get_or_init(|| (store, shared)))
    }

    async fn store(&self) -> Result<&dyn Store, StoreError> {
        self.opened().await.map(|(store, _)| store.as_ref())
    }

    async fn cluster_of(&self) -> Result<&dyn SharedStore, StoreError> {
        self.opened().await.map(|(_, shared)| shared.as_ref())
    }
}

#[async_trait]
impl Store for LateStore {
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        self.store().await?.take_over(server, more_than).await
    }

    async fn load(&self) -> Result<Snapshot, StoreError> {
        self.store().await?.load().await
    }

    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError> {
        self.store().await?.live(query).await
    }

    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        self.store().await.map_err(CommitError::Refused)?.commit(term, batch).await
    }

    async fn commit_and_bring(
        &self,
        term: Term,
        batch: Arc<Batch>,
        wanted: &Wanted<'_>,
    ) -> Result<Committed, CommitError> {
        self.store().await.map_err(CommitError::Refused)?.commit_and_bring(term, batch, wanted).await
    }

    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError> {
        self.store().await?.jobs(ids, now).await
    }

    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError> {
        self.store().await?.payloads(ids).await
    }

    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError> {
        self.store().await?.list(query, now).await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.store().await?.attempts(id).await
    }

    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError> {
        self.store().await?.log(id, attempt).await
    }

    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError> {
        self.store().await?.failures(since, kind, limit).await
    }

    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError> {
        self.store().await?.failure_trends(groups, window).await
    }

    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError> {
        self.store().await?.failure(fingerprint).await
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError> {
        self.store().await?.documents(collection).await
    }

    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError> {
        self.store().await?.timeline(span).await
    }

    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        self.store().await?.related(id, of, after, limit).await
    }

    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError> {
        self.store().await?.occurrences(schedule, before, limit).await
    }

    async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        self.store().await?.backup(to).await
    }

    fn shared(&self) -> Option<Arc<dyn SharedStore>> {
        Some(Arc::new(self.clone()))
    }
}

#[async_trait]
impl SharedStore for LateStore {
    async fn stand(&self, candidate: &Candidate, more_than: u64) -> Result<Election, StoreError> {
        self.cluster_of().await?.stand(candidate, more_than).await
    }

    async fn renew(&self, term: Term) -> Result<(), CommitError> {
        self.cluster_of().await.map_err(CommitError::Refused)?.renew(term).await
    }

    async fn resign(&self, term: Term) -> Result<(), CommitError> {
        self.cluster_of().await.map_err(CommitError::Refused)?.resign(term).await
    }

    async fn vacated(&self, term: Term) {
        match self.cluster_of().await {
            Ok(shared) => shared.vacated(term).await,
            // Nothing can be noticed where nothing can be seen.
            Err(_) => std::future::pending().await,
        }
    }

    async fn announce(&self, server: &ServerRecord) -> Result<(), StoreError> {
        self.cluster_of().await?.announce(server).await
    }

    async fn withdraw(&self, server: &str) -> Result<(), StoreError> {
        self.cluster_of().await?.withdraw(server).await
    }

    async fn cluster(&self) -> Result<ClusterView, StoreError> {
        self.cluster_of().await?.cluster().await
    }

    async fn inbox(&self, limit: usize) -> Result<Vec<InboxRow>, StoreError> {
        self.cluster_of().await?.inbox(limit).await
    }

    async fn inbox_woken(&self) {
        match self.cluster_of().await {
            Ok(shared) => shared.inbox_woken().await,
            Err(_) => std::future::pending().await,
        }
    }

    async fn dangers(&self) -> Result<Vec<String>, StoreError> {
        self.cluster_of().await?.dangers().await
    }
}

impl fmt::Debug for LateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateStore").field("opened", &self.0.store.get().is_some()).finish()
    }
}
