//! What PostgreSQL itself can do: the raw ceiling that a benchmark stands beside.
//!
//! Ending a job must move its row from the live jobs to the final ones, durably. Here a plain loop does only that, over
//! the same tables, with the same rows and by the same arrays as the store, with nothing around it: no leases, no
//! counters, no term, nobody who waits. No scheduler on this schema can end jobs faster over one connection.

use std::time::Duration;

use ganger_core::change::{AttemptRecord, NewJob};
use ganger_core::job::JobSpec;
use ganger_core::outcome::Outcome;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::connection::{Connection, Connector};
use super::error::Failure;
use super::pipeline::{Param, Pipeline, param};
use super::row::NewRow;
use super::{codec, copy, migrate, sql};
use crate::store::StoreError;

/// When the jobs were made, for all that the database cares.
const CREATED_AT: Wall = Wall(1_750_000_000_000_000);
/// Rows per transaction while the jobs are laid out.
const PRELOAD: usize = 1_000;

/// What [`ceiling`] measures.
#[derive(Clone, Debug)]
pub struct CeilingOptions<'a> {
    /// How many jobs.
    pub jobs: usize,
    /// How many end in one transaction.
    pub batch: usize,
    /// The kind of each.
    pub kind: &'a str,
    /// The queue of each.
    pub queue: &'a str,
    /// The payload of each, as JSON.
    pub payload: &'a str,
}

/// What [`ceiling`] found.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// How many jobs were ended.
    pub jobs: usize,
    /// How long that took.
    pub took: Duration,
    /// How long it took to insert them before, 1,000 in a transaction.
    pub inserted: Duration,
    /// How long each transaction took.
    pub transactions: Vec<Duration>,
    /// What the database wrote to its log meanwhile, in bytes.
    pub wal_bytes: u64,
}

/// Lays out live jobs in a database without any, then moves them to the final ones as fast as PostgreSQL can. `elapsed` is
/// a running stopwatch.
///
/// # Errors
/// If the database cannot be reached, has jobs, or fails.
pub async fn ceiling(
    url: &str,
    options: &CeilingOptions<'_>,
    elapsed: &(dyn Fn() -> Duration + Sync),
) -> Result<Ceiling, StoreError> {
    let connector = Connector::new(url)?;
    migrate::climb(&connector, migrate::latest()).await?;
    let statements = [sql::COPY_JOBS, sql::MAKE_DAYS, sql::MOVE_JOBS, sql::WAL_POSITION, sql::LARGEST_ID];
    let connection = connector.writer(&statements).await?;
    let measuring = async {
        // What guards the writer against wrong beliefs about a table costs something, and a ceiling has no need of it. Without
        // hash joins it cannot walk an index either: each row is found by its key.
        let settings = "SET enable_indexscan = on; SET enable_indexonlyscan = on; SET enable_hashjoin = off";
        connection.client.batch_execute(settings).await?;
        if one(&connection, sql::LARGEST_ID, vec![]).await?.try_get::<_, Option<&str>>(0)?.is_some() {
            return Err(Failure::Refused(StoreError::Failed(
                "the ceiling is measured in a database without jobs, and this one has some".into(),
            )));
        }
        let inserted = lay_out(&connection, options, elapsed).await?;
        Ok(Ceiling { inserted, ..end_all(&connection, options, elapsed).await? })
    };
    measuring.await.map_err(|failure| failure.into_error("cannot measure the database"))
}

async fn lay_out(
    connection: &Connection,
    options: &CeilingOptions<'_>,
    elapsed: &(dyn Fn() -> Duration + Sync),
) -> Result<Duration, Failure> {
    let mut spec = JobSpec::new(options.kind.parse().map_err(|error| Failure::unreadable("a kind", error))?);
    spec.queue = options.queue.parse().map_err(|error| Failure::unreadable("a queue", error))?;
    spec.payload = options.payload.into();
    let jobs: Vec<NewJob> = (0..options.jobs)
        .map(|nth| NewJob {
            id: nth_job(nth),
            seq: nth as u64,
            created_at: CREATED_AT,
            due_at: CREATED_AT,
            spec: spec.clone(),
        })
        .collect();
    let day = vec![super::known::day_of(CREATED_AT)];
    one(connection, sql::MAKE_DAYS, vec![param(day)]).await?;
    let began = elapsed();
    for jobs in jobs.chunks(PRELOAD) {
        let rows = jobs.iter().map(|job| NewRow::of(job, Some(job.spec.payload.as_bytes())));
        let mut pipeline = Pipeline::new(connection);
        copy::jobs(&mut pipeline, rows.collect::<Result<_, _>>()?)?;
        pipeline.run().await.map_err(|(_, failure)| failure)?;
    }
    let inserted = elapsed().saturating_sub(began);
    // The jobs of a running server have been looked at by the vacuum, too. There is no checkpoint: after one every page
    // that is touched goes to the log in full, and a drain right after its jobs came in does not pay for that.
    if let Err(error) = connection.client.batch_execute("VACUUM ANALYZE ganger.job").await {
        tracing::debug!(%error, "cannot prepare the database for measuring");
    }
    Ok(inserted)
}

async fn end_all(
    connection: &Connection,
    options: &CeilingOptions<'_>,
    elapsed: &(dyn Fn() -> Duration + Sync),
) -> Result<Ceiling, Failure> {
    let ids: Vec<Uuid> = (0..options.jobs).map(|nth| nth_job(nth).uuid()).collect();
    let before = wal_position(connection).await?;
    let began = elapsed();
    let mut transactions = Vec::new();
    let mut seq = 0;
    for ids in ids.chunks(options.batch.max(1)) {
        let start = elapsed();
        let records: Vec<Vec<u8>> = ids
            .iter()
            .map(|_| {
                seq += 1;
                codec::encode_attempt(&record(Fence { term: Term { number: 1, id: u64::MAX / 3 }, seq }))
            })
            .collect();
        let params = vec![
            param(ids.to_vec()),
            param(vec![CREATED_AT.0 + 1; ids.len()]),
            param(records),
            param(vec![b"null".as_slice(); ids.len()]),
        ];
        one(connection, sql::MOVE_JOBS, params).await?;
        transactions.push(elapsed().saturating_sub(start));
    }
    let took = elapsed().saturating_sub(began);
    let wal_bytes = wal_position(connection).await?.saturating_sub(before);
    Ok(Ceiling { jobs: ids.len(), took, inserted: Duration::ZERO, transactions, wal_bytes })
}

/// How much the database has ever written to its log.
async fn wal_position(connection: &Connection) -> Result<u64, Failure> {
    Ok(one(connection, sql::WAL_POSITION, vec![]).await?.try_get::<_, i64>(0)?.cast_unsigned())
}

/// Runs a statement, each in a transaction of its own, and gives its first row.
async fn one(
    connection: &Connection,
    sql: sql::Sql,
    params: Vec<Param<'_>>,
) -> Result<tokio_postgres::Row, Failure> {
    let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| &**p as &(dyn ToSql + Sync)).collect();
    let mut rows = connection.client.query(connection.statement(sql)?, &params).await?;
    rows.pop().ok_or_else(|| Failure::unreadable("an answer", "there is none"))
}

/// Ids grow as those of a server do.
fn nth_job(nth: usize) -> JobId {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&(nth as u64).to_be_bytes());
    JobId::new(CREATED_AT.unix_millis() + nth as u64 / 64, random)
}

/// An attempt that ended well.
fn record(fence: Fence) -> AttemptRecord {
    AttemptRecord {
        number: 1,
        outcome: Outcome::Ok,
        error: None,
        worker: "worker".into(),
        session: SessionId::from_uuid(Uuid::from_u128(u128::MAX / 3)),
        threads: 1,
        leased_at: CREATED_AT,
        started_at: CREATED_AT,
        ended_at: CREATED_AT,
        fence,
    }
}
