//! The embedded store: one SQLite file in a data directory that one process uses.
//!
//! One thread writes, each batch in one transaction (`writer.rs`, `transaction.rs`); a bounded pool reads,
//! each read in one snapshot (`readers.rs`). SQL lies in `sql/`, one operation per file. The schema and
//! why it is shaped so: `migrations/0001_initial.up.sql`.

mod ahead;
mod apply;
mod backup;
mod ceiling;
mod checkpoint;
mod codec;
mod connection;
mod counts;
mod dir;
mod documents;
mod error;
mod health;
mod inspect;
mod leases;
mod list;
mod live;
pub mod migrate;
mod minutes;
mod options;
mod readers;
mod reads;
mod row;
mod settle;
mod sql;
mod transaction;
mod writer;

use std::path::{Path, PathBuf};
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
use ganger_core::timeline::{Span, Timeline};
use ganger_core::{JobId, Term, Wall};

use self::dir::DataDir;
use self::readers::Readers;
use self::writer::Writer;
use crate::read::{ListQuery, Page, Related, StoredJob};
use crate::store::{CommitError, Store, StoreError};

pub use backup::{RestoreOptions, Restored, backup_dir, restore};
pub use ceiling::{Ceiling, CeilingOptions, ceiling};
pub use documents::put_documents;
pub use health::{Health, StoreInfo, engine};
pub use inspect::inspect;

/// How to open a [`SqliteStore`].
#[derive(Clone, Copy, Debug)]
pub struct SqliteOptions {
    /// Connections that only read.
    pub readers: usize,
    /// Whether to look through the file for damage first. Takes time in proportion to its size.
    pub check: bool,
    /// The database may not grow beyond so many pages of 4 KiB; `None` leaves it to the disk.
    pub max_pages: Option<u32>,
}

impl Default for SqliteOptions {
    fn default() -> SqliteOptions {
        SqliteOptions { readers: 4, check: true, max_pages: None }
    }
}

/// A store in a data directory.
#[derive(Debug)]
pub struct SqliteStore {
    database: PathBuf,
    // Dropped in this order: the last connection to close is the writer's, which empties the log.
    readers: Readers,
    writer: Writer,
}

impl SqliteStore {
    /// Opens the store in a directory, which is made if there is none, and migrates its schema.
    ///
    /// # Errors
    /// If another process uses the directory, the database is damaged or newer than this binary, or
    /// the file system cannot keep the promises.
    pub fn open(dir: &Path, options: SqliteOptions) -> Result<SqliteStore, StoreError> {
        let dir = DataDir::lock(dir)?;
        let database = dir.create_database()?;
        let mut conn = connection::writer(&database)?;
        if options.check {
            connection::check_integrity(&conn, &database)?;
        }
        migrate::climb(&mut conn, migrate::latest())?;
        if let Some(pages) = options.max_pages {
            conn.pragma_update(None, "max_page_count", pages)
                .map_err(|error| error::writing("cannot limit the size of the database", &error))?;
        }
        let readers = Readers::open(&database, options.readers)?;
        let writer = Writer::start(conn, dir)?;
        Ok(SqliteStore { database, readers, writer })
    }

    /// What this store is.
    #[must_use]
    pub fn info(&self) -> StoreInfo {
        health::info(&self.database)
    }

    /// How it is doing.
    ///
    /// # Errors
    /// If the file system does not answer.
    pub fn health(&self) -> Result<Health, StoreError> {
        health::health(&self.database)
    }

    /// Changes the size beyond which the database may not grow, while it is open.
    ///
    /// # Errors
    /// If the writer has stopped.
    pub async fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        self.writer.limit_pages(pages).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        self.writer.take_over(server, more_than).await
    }

    async fn load(&self) -> Result<Snapshot, StoreError> {
        self.readers.read(reads::load).await
    }

    async fn live(&self, query: &LiveQuery) -> Result<LivePage, StoreError> {
        let query = query.clone();
        self.readers.read(move |conn| live::live(conn, &query)).await
    }

    async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        self.writer.commit(term, batch).await
    }

    async fn jobs(&self, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, StoreError> {
        let ids = ids.to_vec();
        self.readers.read(move |conn| reads::jobs(conn, &ids, now)).await
    }

    async fn payloads(&self, ids: &[JobId]) -> Result<Vec<Option<String>>, StoreError> {
        let ids = ids.to_vec();
        self.readers.read(move |conn| reads::payloads(conn, &ids)).await
    }

    async fn list(&self, query: &ListQuery, now: Wall) -> Result<Page, StoreError> {
        let query = query.clone();
        self.readers.read(move |conn| list::list(conn, &query, now)).await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.readers.read(move |conn| reads::attempts(conn, id)).await
    }

    async fn log(&self, id: JobId, attempt: u32) -> Result<String, StoreError> {
        self.readers.read(move |conn| reads::log(conn, id, attempt)).await
    }

    async fn failures(
        &self,
        since: Wall,
        kind: Option<&Kind>,
        limit: usize,
    ) -> Result<Vec<FailureGroup>, StoreError> {
        let kind = kind.cloned();
        self.readers.read(move |conn| reads::failures(conn, since, kind.as_ref(), limit)).await
    }

    async fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Result<Vec<Trend>, StoreError> {
        let groups = groups.to_vec();
        self.readers.read(move |conn| reads::failure_trends(conn, &groups, window)).await
    }

    async fn failure(&self, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, StoreError> {
        self.readers.read(move |conn| reads::failure(conn, fingerprint)).await
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<(String, String)>, StoreError> {
        self.readers.read(move |conn| reads::documents(conn, collection)).await
    }

    async fn timeline(&self, span: &Span) -> Result<Timeline, StoreError> {
        let span = span.clone();
        self.readers.read(move |conn| minutes::timeline(conn, &span)).await
    }

    async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        self.readers.read(move |conn| reads::related(conn, id, of, after, limit)).await
    }

    async fn occurrences(
        &self,
        schedule: ScheduleId,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, StoreError> {
        self.readers.read(move |conn| reads::occurrences(conn, schedule, before, limit)).await
    }

    async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let (database, to) = (self.database.clone(), to.to_path_buf());
        tokio::task::spawn_blocking(move || backup::backup(&database, &to))
            .await
            .map_err(|_| StoreError::Unavailable("the backup was interrupted".into()))?
    }

    async fn disk(&self) -> Result<Option<Disk>, StoreError> {
        let database = self.database.clone();
        // A disk that hangs must not hold up the runtime.
        tokio::task::spawn_blocking(move || health::disk(&database))
            .await
            .map_err(|_| StoreError::Unavailable("the question for the disk was interrupted".into()))?
            .map(Some)
    }
}
