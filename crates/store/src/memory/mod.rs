//! The store in memory: the shortest correct one.
//!
//! [`MemoryState`] is synchronous and deterministic, for the simulator and as the model that other
//! stores are compared with. [`MemoryStore`] is the same behind the [`Store`] contract. It forgets
//! everything when it is dropped; a server never runs on it, but for tests of several servers in one process
//! it can be shared as PostgreSQL is ([`MemoryStore::for_cluster`]).

mod apply;
mod documents;
mod edges;
mod elsewhere;
mod failures;
mod keys;
mod ledger;
mod live;
mod marks;
mod minutes;
mod reads;
mod removal;
mod schedules;
mod shared;
mod state;
mod table;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
use ganger_core::{JobId, Now, Term, Wall};

use crate::memory::shared::Cluster;
use crate::read::{ListQuery, Page, Related, StoredJob};
use crate::shared::SharedStore;
use crate::store::{CommitError, Store, StoreError};

pub use elsewhere::Completed;
pub use state::MemoryState;

/// [`MemoryState`] behind a lock.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<MemoryState>>,
    /// The election, if several servers share the store.
    cluster: Option<Arc<Cluster>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// An empty store for several servers of one process, and the clock that rules their election.
    #[must_use]
    pub fn for_cluster(clock: impl Fn() -> Now + Send + Sync + 'static) -> MemoryStore {
        let state = Arc::default();
        let cluster = Some(Arc::new(Cluster::new(Arc::clone(&state), clock)));
        MemoryStore { state, cluster }
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        // A panic in the middle of a batch leaves its old values in the tables; the next commit
        // begins by taking them back.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<MemoryState> for MemoryStore {
    fn from(state: MemoryState) -> MemoryStore {
        MemoryStore { state: Arc::new(Mutex::new(state)), cluster: None }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        Ok(self.state().take_over(server, more_than, rand::random()))
    }

    async fn load(&self) -> Result<Snapshot, StoreError> {
        Ok(self.state().load())
    }

    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError> {
        Ok(self.state().live(query))
    }

    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        self.state().commit(term, &batch)
    }

    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError> {
        Ok(self.state().jobs(ids, now))
    }

    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError> {
        Ok(self.state().payloads(ids))
    }

    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError> {
        Ok(self.state().list(query, now))
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        Ok(self.state().attempts(id))
    }

    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError> {
        Ok(self.state().log(id, attempt))
    }

    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError> {
        Ok(self.state().failures(since, kind, limit))
    }

    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError> {
        Ok(self.state().failure_trends(groups, window))
    }

    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError> {
        Ok(self.state().failure(fingerprint))
    }

    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError> {
        Ok(self.state().occurrences(schedule, before, limit))
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError> {
        Ok(self.state().documents(collection))
    }

    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError> {
        Ok(self.state().timeline(span))
    }

    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        Ok(self.state().related(id, of, after, limit))
    }

    async fn backup(&self, _to: &Path) -> Result<(), StoreError> {
        Err(StoreError::Failed("a store in memory cannot be backed up".into()))
    }

    fn shared(&self) -> Option<Arc<dyn SharedStore>> {
        self.cluster.clone().map(|cluster| cluster as Arc<dyn SharedStore>)
    }
}
