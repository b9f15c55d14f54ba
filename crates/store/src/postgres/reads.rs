//! What the database tells: a snapshot for a new leader, jobs by id, payloads, attempts, logs.

use std::collections::HashMap;

use futures::{TryStreamExt, pin_mut};
use ganger_core::change::{AttemptRecord, KeyClosure, Snapshot, Tally};
use ganger_core::dependency::{self, Edge};
use ganger_core::document::Collection;
use ganger_core::fingerprint::trend::{Trend, Window};
use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::ids::ScheduleId;
use ganger_core::job::State;
use ganger_core::name::Kind;
use ganger_core::schedule::ledger::Occurrence;
use ganger_core::{JobId, Wall};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::error::Failure;
use super::row::{self, Interner, column};
use super::sql::{self, Sql};
use super::{codec, readers};
use crate::leased::Leased;
use crate::read::{Related, StoredJob, live_state};

/// Up to so many jobs are looked for among the leases one by one; beyond, all leases are read.
const SEARCHED_LEASES: usize = 8;

/// Everything a new leader needs.
pub(super) async fn load(db: &readers::Snapshot<'_>) -> Result<Snapshot, Failure> {
    let mut snapshot = Snapshot::default();
    let mut interner = Interner::default();
    let statement = db.prepare_cached(sql::LOAD_JOBS.text).await?;
    let none: [&(dyn ToSql + Sync); 0] = [];
    let rows = db.query_raw(&statement, none).await?;
    pin_mut!(rows);
    while let Some(found) = rows.try_next().await? {
        snapshot.jobs.push(row::live_job(&found, &mut interner)?);
    }
    load_edges(db, &mut snapshot).await?;
    for found in query(db, sql::LOAD_SESSIONS, &[]).await? {
        let record = serde_json::from_str(found.try_get(0)?)
            .map_err(|error| Failure::unreadable("a session", error))?;
        snapshot.sessions.push(record);
    }
    for found in query(db, sql::LOAD_ASSIGNMENTS, &[]).await? {
        snapshot.assignments.push(row::assignment(&found)?);
    }
    for found in query(db, sql::LOAD_QUEUES, &[]).await? {
        let settings = serde_json::from_str(found.try_get(1)?)
            .map_err(|error| Failure::unreadable("queue settings", error))?;
        snapshot.queues.push((row::name(&found, 0)?, settings));
    }
    for found in query(db, sql::LOAD_KINDS, &[]).await? {
        let settings = serde_json::from_str(found.try_get(1)?)
            .map_err(|error| Failure::unreadable("kind settings", error))?;
        snapshot.kinds.push((row::name(&found, 0)?, settings));
    }
    for found in query(db, sql::LOAD_CLOSED_KEYS, &[]).await? {
        let until = Some(Wall(found.try_get(2)?));
        snapshot.closed.push(KeyClosure { queue: row::name(&found, 0)?, key: found.try_get(1)?, until });
    }
    for found in query(db, sql::LOAD_MARKS, &[]).await? {
        let fence = row::fence(&found, 1)?.ok_or_else(|| Failure::unreadable("a mark", "not a fence"))?;
        snapshot.marks.push((JobId::from_uuid(found.try_get(0)?), fence));
    }
    for found in query(db, sql::LOAD_SCHEDULES, &[]).await? {
        let unreadable = |error| Failure::unreadable("a schedule", error);
        let record = serde_json::from_str(found.try_get(0)?).map_err(unreadable)?;
        let standing = serde_json::from_str(found.try_get(1)?).map_err(unreadable)?;
        snapshot.schedules.push((record, standing));
    }
    for found in query(db, sql::LOAD_COUNTERS, &[]).await? {
        snapshot.finals.push(Tally {
            queue: row::name(&found, 0)?,
            kind: row::name(&found, 1)?,
            state: row::final_state(&found, 2)?,
            count: found.try_get::<_, i64>(3)?.cast_unsigned(),
        });
    }
    for found in query(db, sql::LOAD_LAST_SEQ, &[]).await? {
        snapshot.last_seq = found.try_get::<_, i64>(0)?.cast_unsigned();
    }
    Ok(snapshot)
}

/// The edges of blocked jobs, and those of their parents that ended without them knowing.
pub(super) async fn load_edges(db: &readers::Snapshot<'_>, snapshot: &mut Snapshot) -> Result<(), Failure> {
    let blocked = snapshot.jobs.iter().filter(|job| dependency::is_parked(job.due_at));
    let blocked: Vec<Uuid> = blocked.map(|job| job.id.uuid()).collect();
    if blocked.is_empty() {
        return Ok(());
    }
    for found in query(db, sql::FIND_EDGES, &[&blocked]).await? {
        snapshot.edges.push(row::edge(&found)?);
    }
    for found in query(db, sql::FIND_ENDED, &[&blocked]).await? {
        let code: Option<i16> = found.try_get(1)?;
        snapshot.ended.push((row::job_id(&found, 0)?, code.and_then(codec::final_state)));
    }
    Ok(())
}

/// The edges between a job and its parents, or its children.
pub(super) async fn related(
    db: &readers::Snapshot<'_>,
    id: JobId,
    of: Related,
    after: Option<JobId>,
    limit: usize,
) -> Result<Vec<Edge>, Failure> {
    let statement = match of {
        Related::Parents => sql::LIST_PARENTS,
        Related::Children => sql::LIST_CHILDREN,
    };
    let (after, limit) = (after.map(|id| id.uuid()), i64::try_from(limit).unwrap_or(i64::MAX));
    query(db, statement, &[&id.uuid(), &after, &limit]).await?.iter().map(row::edge).collect()
}

/// Jobs by id, live or final, in the order of `ids`.
pub(super) async fn jobs(
    db: &readers::Snapshot<'_>,
    ids: &[JobId],
    now: Wall,
) -> Result<Vec<StoredJob>, Failure> {
    let leased =
        if ids.len() <= SEARCHED_LEASES { search_leased(db, ids).await? } else { load_leased(db).await? };
    jobs_with(db, ids, &leased, now).await
}

/// Jobs by id, with leases that were read before.
pub(super) async fn jobs_with(
    db: &readers::Snapshot<'_>,
    ids: &[JobId],
    leased: &Leased,
    now: Wall,
) -> Result<Vec<StoredJob>, Failure> {
    let keys: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let mut jobs = HashMap::new();
    for found in query(db, sql::FIND_JOBS, &[&keys]).await? {
        let lease = leased.of(row::job_id(&found, column::ID)?, row::fence(&found, column::LAST_FENCE)?);
        let due_at = Wall(found.try_get(column::DUE_AT)?);
        let state = live_state(lease.is_some(), found.try_get(column::RETRYING)?, due_at, now);
        let job = row::stored_live(&found, state, lease)?;
        jobs.insert(job.id, job);
    }
    if ids.iter().any(|id| !jobs.contains_key(id)) {
        for found in query(db, sql::FIND_FINALS, &[&keys]).await? {
            let job = row::stored_final(&found)?;
            jobs.insert(job.id, job);
        }
    }
    Ok(ids.iter().filter_map(|id| jobs.get(id).cloned()).collect())
}

/// Payloads of live jobs, in the order of `ids`.
pub(super) async fn payloads(
    db: &readers::Snapshot<'_>,
    ids: &[JobId],
) -> Result<Vec<Option<String>>, Failure> {
    let keys: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let mut payloads = HashMap::new();
    for found in query(db, sql::FIND_PAYLOADS, &[&keys]).await? {
        payloads.insert(row::job_id(&found, 0)?, row::utf8(&found, 1)?);
    }
    Ok(ids.iter().map(|id| payloads.get(id).cloned()).collect())
}

/// Every recorded attempt of a job, first to last.
pub(super) async fn attempts(db: &readers::Snapshot<'_>, id: JobId) -> Result<Vec<AttemptRecord>, Failure> {
    let last = query(db, sql::FIND_LAST_ATTEMPT, &[&id.uuid()]).await?;
    if last.is_empty() {
        return Ok(Vec::new());
    }
    let mut attempts = Vec::new();
    for found in query(db, sql::LIST_ATTEMPTS, &[&id.uuid()]).await?.iter().chain(&last) {
        let bytes: Option<&[u8]> = found.try_get(0)?;
        if let Some(bytes) = bytes {
            attempts.push(row::attempt(bytes)?);
        }
    }
    Ok(attempts)
}

/// What an attempt logged.
pub(super) async fn log(db: &readers::Snapshot<'_>, id: JobId, attempt: u32) -> Result<String, Failure> {
    let found = query(db, sql::FIND_LOG, &[&id.uuid(), &attempt.cast_signed()]).await?;
    found.first().map_or_else(|| Ok(String::new()), |found| row::utf8(found, 0))
}

/// Groups of failures that were seen since, the last seen first.
pub(super) async fn failures(
    db: &readers::Snapshot<'_>,
    since: Wall,
    kind: Option<&Kind>,
    limit: usize,
) -> Result<Vec<FailureGroup>, Failure> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let kind = kind.map(Kind::as_str);
    query(db, sql::LIST_FAILURES, &[&since.0, &kind, &limit]).await?.iter().map(failure_group).collect()
}

/// How often the failures of groups came in the steps of a window.
pub(super) async fn failure_trends(
    db: &readers::Snapshot<'_>,
    groups: &[Fingerprint],
    window: Window,
) -> Result<Vec<Trend>, Failure> {
    let names: Vec<i64> = groups.iter().map(|group| group.0.cast_signed()).collect();
    let (first, end, buckets) = (window.first(), window.end(), window.buckets_per_step());
    let mut counted: HashMap<Fingerprint, Vec<(i64, u64)>> = HashMap::new();
    for found in query(db, sql::LIST_FAILURE_TRENDS, &[&names, &first, &end, &buckets]).await? {
        let group = Fingerprint(found.try_get::<_, i64>(0)?.cast_unsigned());
        let count = found.try_get::<_, i64>(2)?.cast_unsigned();
        counted.entry(group).or_default().push((found.try_get(1)?, count));
    }
    let trend = |group: &Fingerprint| window.trend(*group, counted.remove(group)?);
    Ok(groups.iter().filter_map(trend).collect())
}

/// One group of failures.
pub(super) async fn failure(
    db: &readers::Snapshot<'_>,
    fingerprint: Fingerprint,
) -> Result<Option<FailureGroup>, Failure> {
    let found = query(db, sql::FIND_FAILURE, &[&fingerprint.0.cast_signed()]).await?;
    found.first().map(failure_group).transpose()
}

fn failure_group(found: &Row) -> Result<FailureGroup, Failure> {
    Ok(FailureGroup {
        fingerprint: Fingerprint(found.try_get::<_, i64>(0)?.cast_unsigned()),
        kind: row::name(found, 1)?,
        count: found.try_get::<_, i64>(2)?.cast_unsigned(),
        first_at: Wall(found.try_get(3)?),
        last_at: Wall(found.try_get(4)?),
        job: row::job_id(found, 5)?,
        error: row::utf8(found, 6)?,
    })
}

/// The ledger of a schedule, newest first, from before an instant on.
pub(super) async fn occurrences(
    db: &readers::Snapshot<'_>,
    schedule: ScheduleId,
    before: Option<Wall>,
    limit: usize,
) -> Result<Vec<Occurrence>, Failure> {
    let (before, limit) =
        (before.map_or(i64::MAX, |before| before.0), i64::try_from(limit).unwrap_or(i64::MAX));
    let mut rows = Vec::new();
    for found in query(db, sql::LIST_OCCURRENCES, &[&schedule.uuid(), &before, &limit]).await? {
        let (cause, fate): (&str, _) = (found.try_get(7)?, Some(row::fate(&found, 0)?));
        let one = crate::occurrence::occurrence(found.try_get(5)?, found.try_get(6)?, cause, fate);
        rows.push(one.ok_or_else(|| Failure::unreadable("an occurrence", cause))?);
    }
    Ok(rows)
}

/// The documents of a collection, by name.
pub(super) async fn documents(
    db: &readers::Snapshot<'_>,
    collection: Collection,
) -> Result<Vec<(String, String)>, Failure> {
    let rows = query(db, sql::LIST_DOCUMENTS, &[&collection.as_str()]).await?;
    rows.iter().map(|found| Ok((found.try_get(0)?, found.try_get(1)?))).collect()
}

/// All leases.
pub(super) async fn load_leased(db: &readers::Snapshot<'_>) -> Result<Leased, Failure> {
    let mut leased = Leased::default();
    for found in query(db, sql::LOAD_ASSIGNMENTS, &[]).await? {
        leased.add(&row::assignment(&found)?, |_| true);
    }
    Ok(leased)
}

/// The leases of a few jobs.
async fn search_leased(db: &readers::Snapshot<'_>, ids: &[JobId]) -> Result<Leased, Failure> {
    let mut leased = Leased::default();
    for id in ids {
        let key = id.uuid().into_bytes();
        for found in query(db, sql::FIND_ASSIGNMENTS, &[&key.as_slice()]).await? {
            leased.add(&row::assignment(&found)?, |job| job == *id);
        }
    }
    Ok(leased)
}

/// Runs a prepared read.
pub(super) async fn query(
    db: &impl deadpool_postgres::GenericClient,
    sql: Sql,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Failure> {
    let statement = db.prepare_cached(sql.text).await?;
    Ok(db.query(&statement, params).await?)
}

/// The state of a live job whose row was scanned.
pub(super) fn scanned_state(found: &Row, leased: &Leased, now: Wall) -> Result<State, Failure> {
    let lease = leased.of(row::job_id(found, 0)?, row::fence(found, 4)?);
    Ok(live_state(lease.is_some(), found.try_get(3)?, Wall(found.try_get(2)?), now))
}
