//! A store that can be let go although many still hold it.
//!
//! Connections, streams and waiting calls keep a handle on the store for as long as they live, and some
//! outlive the server that they belong to by a moment. A stopped server must not: the data directory is
//! locked while its store is open, and whoever stopped us may want to start again at once.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use ganger_core::change::{Applied, AttemptRecord, Batch, LivePage, LiveQuery, Snapshot};
use ganger_core::dependency::Edge;
use ganger_core::disk::Disk;
use ganger_core::document::Collection;
use ganger_core::fingerprint::trend::{Trend, Window};
use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::ids::ScheduleId;
use ganger_core::name::Kind;
use ganger_core::schedule::ledger::Occurrence;
use ganger_core::timeline::{Span, Timeline};
use ganger_core::{JobId, Term, Wall};
use ganger_store::read::{ListQuery, Page, Related, StoredJob};
use ganger_store::shared::SharedStore;
use ganger_store::{CommitError, Committed, Store, StoreError, Wanted};

/// Passes every call on, until it is released.
pub struct ReleasableStore(RwLock<Option<Arc<dyn Store>>>);

impl ReleasableStore {
    /// Holds this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> ReleasableStore {
        ReleasableStore(RwLock::new(Some(store)))
    }

    /// Lets the store go. Calls that are under way finish; later ones are refused.
    pub async fn release(&self) {
        let store = self.0.write().unwrap_or_else(PoisonError::into_inner).take();
        // Closing may write, and must not hold up the others.
        let _ = tokio::task::spawn_blocking(move || drop(store)).await;
    }

    fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or_else(|| StoreError::Unavailable("the server has stopped".into()))
    }
}

#[async_trait]
impl Store for ReleasableStore {
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        self.store()?.take_over(server, more_than).await
    }

    async fn load(&self) -> Result<Snapshot, StoreError> {
        self.store()?.load().await
    }

    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError> {
        self.store()?.live(query).await
    }

    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        self.store().map_err(CommitError::Refused)?.commit(term, batch).await
    }

    async fn commit_and_bring(
        &self,
        term: Term,
        batch: Arc<Batch>,
        wanted: &Wanted<'_>,
    ) -> Result<Committed, CommitError> {
        self.store().map_err(CommitError::Refused)?.commit_and_bring(term, batch, wanted).await
    }

    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError> {
        self.store()?.jobs(ids, now).await
    }

    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError> {
        self.store()?.payloads(ids).await
    }

    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError> {
        self.store()?.list(query, now).await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.store()?.attempts(id).await
    }

    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError> {
        self.store()?.log(id, attempt).await
    }

    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError> {
        self.store()?.failures(since, kind, limit).await
    }

    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError> {
        self.store()?.failure_trends(groups, window).await
    }

    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError> {
        self.store()?.failure(fingerprint).await
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError> {
        self.store()?.documents(collection).await
    }

    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError> {
        self.store()?.timeline(span).await
    }

    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        self.store()?.related(id, of, after, limit).await
    }

    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError> {
        self.store()?.occurrences(schedule, before, limit).await
    }

    async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        self.store()?.backup(to).await
    }

    async fn disk(&self) -> Result<Option<Disk>, StoreError> {
        self.store()?.disk().await
    }

    fn shared(&self) -> Option<Arc<dyn SharedStore>> {
        self.store().ok()?.shared()
    }
}

impl std::fmt::Debug for ReleasableStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReleasableStore").field("held", &self.store().is_ok()).finish()
    }
}
