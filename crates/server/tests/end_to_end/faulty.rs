//! A store that fails on demand, in every way a store may.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
use ganger_store::read::{ListQuery, Page, Related, StoredJob};
use ganger_store::{CommitError, MemoryStore, Store, StoreError};
use tokio::sync::watch;

/// How the next commits fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Nothing is written.
    Full,
    /// It is written, and the answer is lost.
    AnswerLost,
    /// It is not written, and nobody can tell.
    Vanished,
    /// It does not come back until the fault is over.
    Hangs,
    /// Another leader has begun.
    TermLost,
}

pub struct FaultyStore {
    inner: MemoryStore,
    fault: watch::Sender<Fault>,
    commits: AtomicUsize,
    reads_fail: AtomicBool,
}

impl FaultyStore {
    pub fn new() -> Arc<FaultyStore> {
        Arc::new(FaultyStore {
            inner: MemoryStore::new(),
            fault: watch::Sender::default(),
            commits: AtomicUsize::new(0),
            reads_fail: AtomicBool::new(false),
        })
    }

    /// How commits fail from now on.
    pub fn commits(&self, fault: Fault) {
        self.fault.send_replace(fault);
        self.commits.store(0, Ordering::Relaxed);
    }

    /// Commits that were tried since the last change of the fault.
    pub fn tried(&self) -> usize {
        self.commits.load(Ordering::Relaxed)
    }

    /// Whether reads of jobs and payloads fail from now on.
    pub fn reads_fail(&self, fail: bool) {
        self.reads_fail.store(fail, Ordering::Relaxed);
    }

    fn readable(&self) -> Result<(), StoreError> {
        match self.reads_fail.load(Ordering::Relaxed) {
            true => Err(StoreError::Unavailable("a test wants it so".into())),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        self.inner.take_over(server, more_than).await
    }

    async fn load(&self) -> Result<Snapshot, StoreError> {
        self.inner.load().await
    }

    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError> {
        self.inner.live(query).await
    }

    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        let fault = *self.fault.borrow();
        self.commits.fetch_add(1, Ordering::Relaxed);
        match fault {
            Fault::None => self.inner.commit(term, batch).await,
            Fault::Full => Err(CommitError::Refused(StoreError::Full("a test wants it so".into()))),
            Fault::AnswerLost => {
                self.inner.commit(term, batch).await?;
                Err(CommitError::Unknown("a test wants it so".into()))
            }
            Fault::Vanished => Err(CommitError::Unknown("a test wants it so".into())),
            Fault::Hangs => {
                let mut fault = self.fault.subscribe();
                let _ = fault.wait_for(|fault| *fault != Fault::Hangs).await;
                self.inner.commit(term, batch).await
            }
            Fault::TermLost => {
                self.fault.send_replace(Fault::None);
                Err(CommitError::TermLost)
            }
        }
    }

    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError> {
        self.readable()?;
        self.inner.jobs(ids, now).await
    }

    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError> {
        self.readable()?;
        self.inner.payloads(ids).await
    }

    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError> {
        self.inner.list(query, now).await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.inner.attempts(id).await
    }

    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError> {
        self.inner.log(id, attempt).await
    }

    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError> {
        self.inner.failures(since, kind, limit).await
    }

    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError> {
        self.inner.failure_trends(groups, window).await
    }

    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError> {
        self.inner.failure(fingerprint).await
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError> {
        self.inner.documents(collection).await
    }

    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError> {
        self.inner.timeline(span).await
    }

    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        self.inner.related(id, of, after, limit).await
    }

    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError> {
        self.inner.occurrences(schedule, before, limit).await
    }

    async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        self.inner.backup(to).await
    }
}
