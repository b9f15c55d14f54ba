//! The store of a cluster: one PostgreSQL that several servers share.
//!
//! One connection writes, each batch in one transaction (`writer.rs`, with what it writes worked out in `plan/`); a
//! bounded pool reads, each read in one snapshot (`readers.rs`); one connection is for the election (`election.rs`). SQL
//! lies in `sql/`, one operation per file. The schema and why it is shaped so: `migrations/0001_initial.up.sql`.

mod ceiling;
mod codec;
mod connection;
mod copy;
mod documents;
mod election;
mod error;
mod inbox;
mod inspect;
mod known;
mod leases;
mod list;
mod live;
pub mod migrate;
mod minutes;
mod options;
mod order;
mod pipeline;
mod plan;
mod pooler;
mod readers;
mod reads;
mod removal;
mod row;
mod scratch;
mod sql;
mod tls;
mod transaction;
mod url;
mod watch;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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

use self::connection::Connector;
use self::election::{Elections, Look};
use self::inbox::Doorbell;
use self::readers::Readers;
use self::watch::Watch;
use self::writer::Writer;
use crate::read::{ListQuery, Page, Related, StoredJob};
use crate::shared::{Candidate, ClusterView, Election, InboxRow, ServerRecord, ServerView, SharedStore};
use crate::store::{CommitError, Committed, Store, StoreError, Wanted};

pub use ceiling::{Ceiling, CeilingOptions, ceiling};
pub use documents::put_documents;
pub use inspect::{inspect, is_local};
pub use scratch::Scratch;

/// How to open a [`PgStore`].
#[derive(Clone)]
pub struct PgOptions {
    /// Where the database is: `postgres://user:password@host:port/database`. With `sslmode=verify-full` and
    /// `sslrootcert` its connections are secured.
    pub url: String,
    /// Connections that only read.
    pub readers: usize,
    /// Whether to migrate the schema up first. If not, it must be what this binary knows.
    pub migrate: bool,
}

impl PgOptions {
    /// The defaults, for this database.
    #[must_use]
    pub fn new(url: impl Into<String>) -> PgOptions {
        PgOptions { url: url.into(), readers: 8, migrate: true }
    }
}

impl std::fmt::Debug for PgOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the address, which may contain a password.
        f.debug_struct("PgOptions").field("readers", &self.readers).field("migrate", &self.migrate).finish()
    }
}

/// A store in PostgreSQL.
#[derive(Clone, Debug)]
pub struct PgStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    readers: Readers,
    writer: Writer,
    elections: Elections,
    watch: Watch,
    doorbell: Doorbell,
}

impl PgStore {
    /// Opens the store, and migrates its schema if asked to.
    ///
    /// # Errors
    /// If the database cannot be reached, is older than PostgreSQL 13, is behind a pooler that does not keep sessions, or has a
    /// schema that is newer than this binary.
    pub async fn connect(options: &PgOptions) -> Result<PgStore, StoreError> {
        let connector = Connector::new(&options.url)?;
        pooler::refuse(&connector).await?;
        if options.migrate {
            migrate::climb(&connector, migrate::latest()).await?;
        } else {
            migrate::check(&connector).await?;
        }
        let store = PgStore(Arc::new(Inner {
            readers: Readers::new(&connector, options.readers)?,
            writer: Writer::new(connector.clone()),
            elections: Elections::new(connector.clone()),
            watch: Watch::new(connector.clone()),
            doorbell: Doorbell::new(connector),
        }));
        for danger in store.dangers().await? {
            tracing::warn!("{danger}");
        }
        Ok(store)
    }
}

#[async_trait]
impl Store for PgStore {
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        self.0.elections.take_over(server, more_than).await
    }

    async fn load(&self) -> Result<Snapshot, StoreError> {
        self.0.readers.load(async |db| reads::load(db).await).await
    }

    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError> {
        self.0.readers.read(async |db| live::live(db, query).await).await
    }

    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        self.commit_and_bring(term, batch, &Vec::new).await.map(|committed| committed.applied)
    }

    async fn commit_and_bring(
        &self,
        term: Term,
        batch: Arc<Batch>,
        wanted: &Wanted<'_>,
    ) -> Result<Committed, CommitError> {
        self.0.writer.commit(term, &batch, &wanted()).await
    }

    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError> {
        self.0.readers.read(async |db| reads::jobs(db, ids, now).await).await
    }

    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError> {
        self.0.readers.read(async |db| reads::payloads(db, ids).await).await
    }

    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError> {
        self.0.readers.read(async |db| list::list(db, query, now).await).await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.0.readers.read(async |db| reads::attempts(db, id).await).await
    }

    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError> {
        self.0.readers.read(async |db| reads::log(db, id, attempt).await).await
    }

    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError> {
        self.0.readers.read(async |db| reads::failures(db, since, kind, limit).await).await
    }

    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError> {
        self.0.readers.read(async |db| reads::failure_trends(db, groups, window).await).await
    }

    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError> {
        self.0.readers.read(async |db| reads::failure(db, fingerprint).await).await
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError> {
        self.0.readers.read(async |db| reads::documents(db, collection).await).await
    }

    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError> {
        self.0.readers.read(async |db| minutes::timeline(db, span).await).await
    }

    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        self.0.readers.read(async |db| reads::related(db, id, of, after, limit).await).await
    }

    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError> {
        self.0.readers.read(async |db| reads::occurrences(db, schedule, before, limit).await).await
    }

    async fn backup(&self, _to: &Path) -> Result<(), StoreError> {
        Err(StoreError::Failed(
            "jobs in PostgreSQL are backed up with its own tools: pg_dump --schema=ganger, or a base backup of the \
             cluster"
                .into(),
        ))
    }

    fn shared(&self) -> Option<Arc<dyn SharedStore>> {
        Some(Arc::new(self.clone()))
    }
}

#[async_trait]
impl SharedStore for PgStore {
    async fn stand(&self, candidate: &Candidate, more_than: u64) -> Result<Election, StoreError> {
        self.0.elections.stand(candidate, more_than).await
    }

    async fn renew(&self, term: Term) -> Result<(), CommitError> {
        self.0.elections.renew(term).await
    }

    async fn resign(&self, term: Term) -> Result<(), CommitError> {
        self.0.elections.resign(term).await
    }

    async fn vacated(&self, term: Term) {
        self.0.watch.vacated(term).await;
    }

    async fn announce(&self, server: &ServerRecord) -> Result<(), StoreError> {
        self.0.elections.announce(server).await
    }

    async fn withdraw(&self, server: &str) -> Result<(), StoreError> {
        self.0.elections.withdraw(server).await
    }

    async fn cluster(&self) -> Result<ClusterView, StoreError> {
        self.0
            .readers
            .read(async |db| {
                let mut view = ClusterView::default();
                for found in reads::query(db, sql::SHOW_LEADER, &[]).await? {
                    let look = Look::of(&found)?;
                    view.leader = (!look.resigned).then_some(look.view);
                }
                for found in reads::query(db, sql::LIST_SERVERS, &[&election::forgotten_micros()]).await? {
                    let server = ServerRecord {
                        name: found.try_get(0)?,
                        address: found.try_get(1)?,
                        version: found.try_get(2)?,
                        started_at: Wall(found.try_get(3)?),
                    };
                    let seen_ago = Duration::from_micros(found.try_get::<_, i64>(4)?.cast_unsigned());
                    view.servers.push(ServerView { server, seen_ago });
                }
                Ok(view)
            })
            .await
    }

    async fn inbox(&self, limit: usize) -> Result<Vec<InboxRow>, StoreError> {
        self.0.readers.look(async |db| inbox::read(db, limit).await).await
    }

    async fn inbox_woken(&self) {
        self.0.doorbell.rung().await;
    }

    async fn dangers(&self) -> Result<Vec<String>, StoreError> {
        self.0
            .readers
            .read(async |db| {
                let mut dangers = Vec::new();
                for found in reads::query(db, sql::READ_SETTINGS, &[]).await? {
                    dangers.extend(danger(found.try_get(0)?, found.try_get(1)?));
                }
                Ok(dangers)
            })
            .await
    }
}

/// What a setting of the database breaks, if it does.
fn danger(name: &str, setting: &str) -> Option<String> {
    let (lost, how) = match (name, setting) {
        ("fsync" | "full_page_writes", "on") => return None,
        ("fsync", _) => ("a crash of its machine can lose or damage every job", "fsync = on"),
        ("full_page_writes", _) => ("a crash of its machine can damage every job", "full_page_writes = on"),
        ("synchronous_commit", "off") => {
            ("a crash of the database loses jobs that were already acknowledged", "synchronous_commit = on")
        }
        _ => return None,
    };
    Some(format!("the database runs with {name} = {setting}: {lost}; set {how}"))
}

/// See [`crate::testing::writer`].
#[cfg(feature = "testing")]
pub(crate) fn writer_for_tests() -> (&'static str, Vec<(&'static str, &'static str)>) {
    (connection::WRITER, sql::WRITES.iter().map(|sql| (sql.name, sql.text)).collect())
}

/// See [`crate::testing::reader`].
#[cfg(feature = "testing")]
pub(crate) fn reader_for_tests() -> &'static str {
    connection::READER
}
