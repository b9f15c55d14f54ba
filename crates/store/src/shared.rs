//! What a store has that several servers share: an election, a list of the servers, and an inbox for jobs that users'
//! own transactions submit.
//!
//! At any time one server leads. It renews its row in the store; whoever finds the row not renewed for
//! longer than the leader's TTL, by the store's own clock, may take over. That the leader resigned, or
//! that its connection is closed, only lets others notice sooner: taking over from a leader that still
//! lives is safe, because from the bump of the term on it can write nothing, and the next leader waits
//! out what the old one may have told workers.

use std::time::Duration;

use async_trait::async_trait;
use ganger_core::{JobId, Term, Wall};

use crate::store::{CommitError, StoreError};

/// A server that has not said for so long that it lives is not shown any more.
pub const SERVER_FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// A store that several servers share.
#[async_trait]
pub trait SharedStore: Send + Sync + 'static {
    /// Stands for leadership. If nobody leads any more (the row was not renewed for the TTL that it was
    /// taken with, its leader resigned, or the connection of its leader is closed), or if the leader is this very
    /// server, a new term begins as with [`crate::Store::take_over`]. Otherwise nothing changes.
    async fn stand(&self, candidate: &Candidate, more_than: u64) -> Result<Election, StoreError>;

    /// The leader of this term is still there. [`CommitError::TermLost`] if another term has begun.
    async fn renew(&self, term: Term) -> Result<(), CommitError>;

    /// The leader of this term leads no more: whoever stands next takes over at once. The term stays over,
    /// nothing more can be written in it.
    async fn resign(&self, term: Term) -> Result<(), CommitError>;

    /// Returns when the leader of this term seems to be gone: a hint to stand now. May return early or for
    /// no reason, but not in a hot loop; may also never return where nothing can be noticed.
    async fn vacated(&self, term: Term);

    /// This server lives. Repeated every few seconds; a server that stopped doing so is
    /// forgotten after [`SERVER_FORGOTTEN_AFTER`].
    async fn announce(&self, server: &ServerRecord) -> Result<(), StoreError>;

    /// This server has stopped in good order, and need not be shown any more.
    async fn withdraw(&self, server: &str) -> Result<(), StoreError>;

    /// Who leads and who is there.
    async fn cluster(&self) -> Result<ClusterView, StoreError>;

    /// What users' transactions submitted and nobody has taken in yet, oldest first, at most so many rows.
    async fn inbox(&self, limit: usize) -> Result<Vec<InboxRow>, StoreError>;

    /// Returns when something may have been submitted: a hint to look into the inbox. May return early or for no
    /// reason, but not in a hot loop; may also be late, so whoever waits looks by itself now and then.
    async fn inbox_woken(&self);

    /// Settings of the database that break a promise, each in a sentence for people. Empty if all is well.
    async fn dangers(&self) -> Result<Vec<String>, StoreError>;
}

/// A server that would lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name, which no other server has.
    pub server: String,
    /// Where other servers and workers reach it, such as `http://10.0.0.7:8080`.
    pub address: String,
    /// Without a renewal for so long, others may take over.
    pub ttl: Duration,
}

/// What came of standing for leadership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Election {
    /// The candidate leads in this term.
    Leads(Term),
    /// Another one does.
    Follows(LeaderView),
}

/// A job that a user's transaction submitted inside the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxRow {
    /// Its number. Rows are seen when their transactions commit, so numbers may come out of order.
    pub row: i64,
    /// The id that the transaction was told.
    pub job: JobId,
    /// The request, as the body of a submission.
    pub request: String,
}

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderView {
    /// Its term.
    pub term: Term,
    /// Its name.
    pub server: String,
    /// Where it is reached.
    pub address: String,
    /// When its term began.
    pub since: Wall,
    /// How long ago it renewed its row.
    pub renewed_ago: Duration,
    /// The last batch of its term.
    pub batch: u64,
}

/// A server of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRecord {
    /// Its name, which no other server has.
    pub name: String,
    /// Where it is reached.
    pub address: String,
    /// Version of its software.
    pub version: String,
    /// When it started.
    pub started_at: Wall,
}

/// A server of the cluster as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerView {
    /// What it says about itself.
    pub server: ServerRecord,
    /// How long ago it said so.
    pub seen_ago: Duration,
}

/// The cluster as the store knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterView {
    /// Who leads, or led last and has neither resigned nor been replaced.
    pub leader: Option<LeaderView>,
    /// Every server, by name.
    pub servers: Vec<ServerView>,
}
