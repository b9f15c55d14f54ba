//! The contract of a store.

use std::path::Path;
use std::sync::Arc;

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
use ganger_core::sending::Heard;
use ganger_core::timeline::{Span, Timeline};
use ganger_core::{JobId, Term, Wall};

use crate::read::{ListQuery, Page, Related, StoredJob};
use crate::shared::SharedStore;

/// Durable memory with one writer: the leader of a term.
///
/// A store decides nothing about scheduling. It guards three things by itself, inside its own
/// transaction: the term (a deposed leader changes nothing), the order of batches (each number
/// once), and the ledgers of idempotency and unique keys.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Begins a new term, larger than every earlier one and than `more_than`, with a fresh random id.
    /// From its commit on every batch of an earlier term is refused.
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError>;

    /// What a leader needs to begin, in one consistent snapshot. Called after [`Store::take_over`].
    async fn load(&self) -> Result<Snapshot, StoreError>;

    /// Live jobs as a leader compares them with its memory, in one consistent snapshot that begins after the call. It
    /// holds every batch that was durable by then, and says which was the last.
    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError>;

    /// Applies a batch in one transaction and answers each change, in order, once it is durable.
    ///
    /// A batch whose number was already applied in this term is answered with its outcomes again.
    ///
    /// The next batch may be given before this one is answered; the order is that in which the futures are first polled. It
    /// is applied only if this one was. If this one's outcome is unknown, either the next is not applied, or this one is
    /// answered again all the same.
    ///
    /// The leader waits for it on the thread that decides everything: what takes long before or after the wait for
    /// the disk belongs on a thread or a task of the store.
    ///
    /// A batch that contradicts what is stored is refused whole, for it shows a bug in the leader: a job
    /// id that exists; a lease for a session that is not open, or for a job that is not live, is leased, or
    /// has ended a later lease; the end of a lease that is not the job's open one; the finish of a job
    /// that is not live or is leased; a session closed while a lease of it goes on.
    ///
    /// One lease without a live job is no contradiction, for only the store could know better. A leader may
    /// lease a job in the batch that submits it. If a [`Change::Submit`](ganger_core::change::Change::Submit)
    /// *earlier in the same batch* named the job and did not create it (a key reused, an answer given again, a
    /// unique key held), and there is no job of that id, live or final, then its lease is **void**: it is
    /// accepted, is ended from the start, and holds neither its session nor its assignment. An assignment
    /// all of whose leases are void leaves nothing behind; one that has others is kept whole, void leases
    /// included, because a fence follows from its position, and goes away with the last of the others. The
    /// assignment is answered with [`Applied::Done`] either way. In every other respect (session, emptiness, a
    /// first fence given before) it is checked like any other, and every other lease of it too.
    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError>;

    /// The same, for a leader that does not have the payloads of all the jobs that the batch leases: a store that looks at their rows anyway
    /// asks which are wanted, and brings along what is at hand there. The rest is read with [`Store::payloads`].
    async fn commit_and_bring(
        &self,
        term: Term,
        batch: Arc<Batch>,
        _wanted: &Wanted<'_>,
    ) -> Result<Committed, CommitError> {
        self.commit(term, batch).await.map(Committed::from)
    }

    /// Jobs by id, live or final, without those that do not exist. The order is that of `ids`.
    /// `now` tells scheduled from queued.
    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError>;

    /// Payloads by id, in the order of `ids`; `None` where there is no such live job.
    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError>;

    /// Jobs that match, newest first, at most one page of them.
    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError>;

    /// Every recorded attempt of a job, first to last. Empty if there is no such job.
    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError>;

    /// What an attempt logged: the last [`ganger_core::limits::LOG_BYTES`] of it.
    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError>;

    /// Groups of failures that were seen at this moment or later, of a kind or of all, the last seen first, at most so many.
    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError>;

    /// How often the failures of groups came in the steps of a window, in the order of `groups`, without those of which there were none.
    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError>;

    /// One group of failures.
    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError>;

    /// The documents of a collection with their names, in the order of those.
    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError>;

    /// What happened over time, from the buckets of minutes that are kept ([`ganger_core::limits::MINUTES_KEPT`]).
    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError>;

    /// The edges between a job and its parents, or its children: at most so many, in the order of the other job's id, from
    /// the one after `after` on. An edge is known as long as its child is.
    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError>;

    /// The firing ledger of a schedule, newest instant first, from before an instant on, at most so many.
    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError>;

    /// Writes a consistent copy to a new file while work goes on.
    async fn backup(&self, to: &Path) -> Result<(), StoreError>;

    /// The disk that it writes to; `None` where that is not a disk of this machine.
    async fn disk(&self) -> Result<Option<Disk>, StoreError> {
        Ok(None)
    }

    /// What only a store has that several servers share; `None` where one process has it to itself.
    fn shared(&self) -> Option<Arc<dyn SharedStore>> {
        None
    }
}

/// Tells which payloads are wanted. A question, for finding out is in vain where nobody brings any.
pub type Wanted<'a> = dyn Fn() -> Vec<JobId> + Send + Sync + 'a;

/// A batch that is durable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// The answer to each change, in order.
    pub applied: Vec<Applied>,
    /// Payloads of jobs that it leases.
    pub payloads: Vec<(JobId, String)>,
}

/// With nothing that came along.
impl From<Vec<Applied>> for Committed {
    fn from(applied: Vec<Applied>) -> Committed {
        Committed { applied, payloads: Vec::new() }
    }
}

/// What the answer to one copy of a batch says about it.
#[must_use]
pub fn heard(answer: &Result<Vec<Applied>, CommitError>) -> Heard {
    match answer {
        Ok(_) => Heard::Written,
        Err(CommitError::TermLost) => Heard::TermLost,
        Err(CommitError::Refused(StoreError::Failed(_))) => Heard::Contradicted,
        Err(CommitError::Refused(StoreError::Full(_) | StoreError::Unavailable(_))) => Heard::Refused,
        Err(CommitError::Unknown(_)) => Heard::Nothing,
    }
}

/// A read or an administrative call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached or cannot serve now; it may later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The disk is full; nothing was changed.
    #[error("{full}: {0}", full = StoreError::DISK_IS_FULL)]
    Full(String),
    /// It cannot be done, and trying again will not help.
    #[error("{0}")]
    Failed(String),
}

impl StoreError {
    /// How every text about a full disk begins, also where only the text is left of the error.
    pub const DISK_IS_FULL: &str = "the disk is full";
}

/// A commit did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A later term has begun. The caller must stop leading.
    #[error("the term is over: another leader has begun")]
    TermLost,
    /// Certainly not applied. The batch may be changed or dropped.
    #[error("{0}")]
    Refused(StoreError),
    /// The answer was lost. The same batch must be sent again until it is settled.
    #[error("the outcome of the commit is unknown: {0}")]
    Unknown(String),
}
