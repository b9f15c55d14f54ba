//! What the database tells: a snapshot for a new leader, jobs by id, payloads, attempts, logs.

use ganger_core::change::{AttemptRecord, KeyClosure, Snapshot, Tally};
use ganger_core::dependency::{self, Edge};
use ganger_core::document::Collection;
use ganger_core::fingerprint::trend::{Trend, Window};
use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::ids::ScheduleId;
use ganger_core::name::Kind;
use ganger_core::schedule::ledger::Occurrence;
use ganger_core::{JobId, Wall};
use rusqlite::{Connection, OptionalExtension, Row};

use super::error::Failure;
use super::row::{self, Interner, column};
use super::{codec, sql};
use crate::leased::Leased;
use crate::read::{LeaseView, Related, StoredJob, live_state};

/// Up to so many jobs are looked for among the leases one by one; beyond, all leases are read.
const SEARCHED_LEASES: usize = 8;

/// Everything a new leader needs.
pub(super) fn load(conn: &Connection) -> Result<Snapshot, Failure> {
    let mut snapshot = Snapshot::default();
    let mut interner = Interner::new();
    each(conn, sql::LOAD_JOBS, |found| {
        snapshot.jobs.push(row::live_job(found, &mut interner)?);
        Ok(())
    })?;
    load_edges(conn, &mut snapshot)?;
    each(conn, sql::LOAD_SESSIONS, |found| {
        let text = row::text(found, 0)?.unwrap_or_default();
        let record = serde_json::from_str(text).map_err(|error| Failure::unreadable("a session", error))?;
        snapshot.sessions.push(record);
        Ok(())
    })?;
    each(conn, sql::LOAD_ASSIGNMENTS, |found| {
        snapshot.assignments.push(row::assignment(found)?);
        Ok(())
    })?;
    each(conn, sql::LOAD_QUEUES, |found| {
        let text = row::text(found, 1)?.unwrap_or_default();
        let settings =
            serde_json::from_str(text).map_err(|error| Failure::unreadable("queue settings", error))?;
        snapshot.queues.push((row::name(found, 0)?, settings));
        Ok(())
    })?;
    each(conn, sql::LOAD_KINDS, |found| {
        let text = row::text(found, 1)?.unwrap_or_default();
        let settings =
            serde_json::from_str(text).map_err(|error| Failure::unreadable("kind settings", error))?;
        snapshot.kinds.push((row::name(found, 0)?, settings));
        Ok(())
    })?;
    each(conn, sql::LOAD_CLOSED_KEYS, |found| {
        let until = Some(Wall(found.get(2)?));
        snapshot.closed.push(KeyClosure { queue: row::name(found, 0)?, key: found.get(1)?, until });
        Ok(())
    })?;
    each(conn, sql::LOAD_MARKS, |found| {
        let fence = row::fence(found, 1)?.ok_or_else(|| Failure::unreadable("a mark", "not a fence"))?;
        snapshot.marks.push((row::job_id(found, 0)?, fence));
        Ok(())
    })?;
    each(conn, sql::LOAD_SCHEDULES, |found| {
        let unreadable = |error| Failure::unreadable("a schedule", error);
        let record = serde_json::from_str(row::text(found, 0)?.unwrap_or_default()).map_err(unreadable)?;
        let standing = serde_json::from_str(row::text(found, 1)?.unwrap_or_default()).map_err(unreadable)?;
        snapshot.schedules.push((record, standing));
        Ok(())
    })?;
    each(conn, sql::LOAD_COUNTERS, |found| {
        let code = found.get(2)?;
        snapshot.finals.push(Tally {
            queue: row::name(found, 0)?,
            kind: row::name(found, 1)?,
            state: codec::final_state(code).ok_or_else(|| Failure::unreadable("a final state", code))?,
            count: found.get::<_, i64>(3)?.cast_unsigned(),
        });
        Ok(())
    })?;
    each(conn, sql::LOAD_LAST_SEQ, |found| {
        snapshot.last_seq = found.get::<_, i64>(0)?.cast_unsigned();
        Ok(())
    })?;
    Ok(snapshot)
}

/// The edges of blocked jobs, and those of their parents that ended without them knowing.
pub(super) fn load_edges(conn: &Connection, snapshot: &mut Snapshot) -> Result<(), Failure> {
    let mut edges = conn.prepare_cached(sql::FIND_EDGES)?;
    let mut ended = conn.prepare_cached(sql::FIND_ENDED)?;
    for job in snapshot.jobs.iter().filter(|job| dependency::is_parked(job.due_at)) {
        let key = codec::job_key(job.id);
        let mut rows = edges.query([key])?;
        while let Some(found) = rows.next()? {
            snapshot.edges.push(row::edge(found)?);
        }
        let mut rows = ended.query([key])?;
        while let Some(found) = rows.next()? {
            let code: Option<i64> = found.get(1)?;
            snapshot.ended.push((row::job_id(found, 0)?, code.and_then(codec::final_state)));
        }
    }
    snapshot.ended.sort_unstable();
    snapshot.ended.dedup();
    Ok(())
}

/// The edges between a job and its parents, or its children.
pub(super) fn related(
    conn: &Connection,
    id: JobId,
    of: Related,
    after: Option<JobId>,
    limit: usize,
) -> Result<Vec<Edge>, Failure> {
    let mut statement = conn.prepare_cached(match of {
        Related::Parents => sql::LIST_PARENTS,
        Related::Children => sql::LIST_CHILDREN,
    })?;
    // Smaller than every id.
    let after = after.map_or_else(Vec::new, |id| codec::job_key(id).to_vec());
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((codec::job_key(id), after, limit))?;
    let mut edges = Vec::new();
    while let Some(found) = rows.next()? {
        edges.push(row::edge(found)?);
    }
    Ok(edges)
}

/// Jobs by id, live or final, in the order of `ids`.
pub(super) fn jobs(conn: &Connection, ids: &[JobId], now: Wall) -> Result<Vec<StoredJob>, Failure> {
    let leases = if ids.len() <= SEARCHED_LEASES { search_leased(conn, ids)? } else { load_leased(conn)? };
    let mut live = conn.prepare_cached(sql::FIND_JOB)?;
    let mut finals = conn.prepare_cached(sql::FIND_FINAL)?;
    let mut jobs = Vec::with_capacity(ids.len());
    for id in ids {
        let mut rows = live.query([codec::job_key(*id)])?;
        if let Some(found) = rows.next()? {
            let lease = lease_of_row(&leases, found)?;
            let state = live_row_state(found, lease.is_some(), now)?;
            jobs.push(row::stored_live(conn, found, state, lease)?);
            continue;
        }
        let mut rows = finals.query([codec::job_key(*id)])?;
        if let Some(found) = rows.next()? {
            jobs.push(row::stored_final(conn, found, final_row_state(found)?)?);
        }
    }
    Ok(jobs)
}

/// Payloads of live jobs, in the order of `ids`.
pub(super) fn payloads(conn: &Connection, ids: &[JobId]) -> Result<Vec<Option<String>>, Failure> {
    let mut inline = conn.prepare_cached(sql::FIND_INLINE_PAYLOAD)?;
    let mut payloads = Vec::with_capacity(ids.len());
    for id in ids {
        let found: Option<Option<String>> =
            inline.query_row([codec::job_key(*id)], |row| row.get(0)).optional()?;
        payloads.push(match found {
            Some(Some(payload)) => Some(payload),
            Some(None) => Some(row::large_payload(conn, *id)?),
            None => None,
        });
    }
    Ok(payloads)
}

/// Every recorded attempt of a job, first to last.
pub(super) fn attempts(conn: &Connection, id: JobId) -> Result<Vec<AttemptRecord>, Failure> {
    let key = codec::job_key(id);
    let mut attempts = Vec::new();
    let mut earlier = conn.prepare_cached(sql::LIST_ATTEMPTS)?;
    let mut rows = earlier.query([key])?;
    while let Some(found) = rows.next()? {
        attempts.push(row::attempt(&found.get::<_, Vec<u8>>(0)?)?);
    }
    let last: Option<Option<Vec<u8>>> =
        conn.prepare_cached(sql::FIND_LAST_ATTEMPT)?.query_row([key], |row| row.get(0)).optional()?;
    if let Some(bytes) = last.flatten() {
        attempts.push(row::attempt(&bytes)?);
    }
    Ok(attempts)
}

/// What an attempt logged.
pub(super) fn log(conn: &Connection, id: JobId, attempt: u32) -> Result<String, Failure> {
    let text: Option<String> = conn
        .prepare_cached(sql::FIND_LOG)?
        .query_row((codec::job_key(id), attempt), |row| row.get(0))
        .optional()?;
    Ok(text.unwrap_or_default())
}

/// Groups of failures that were seen since, the last seen first.
pub(super) fn failures(
    conn: &Connection,
    since: Wall,
    kind: Option<&Kind>,
    limit: usize,
) -> Result<Vec<FailureGroup>, Failure> {
    let mut statement = conn.prepare_cached(sql::LIST_FAILURES)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((since.0, kind.map(Kind::as_str), limit))?;
    let mut groups = Vec::new();
    while let Some(found) = rows.next()? {
        groups.push(failure_group(found)?);
    }
    Ok(groups)
}

/// How often the failures of groups came in the steps of a window.
pub(super) fn failure_trends(
    conn: &Connection,
    groups: &[Fingerprint],
    window: Window,
) -> Result<Vec<Trend>, Failure> {
    let mut statement = conn.prepare_cached(sql::LIST_FAILURE_TRENDS)?;
    let (first, end, buckets) = (window.first(), window.end(), window.buckets_per_step());
    let mut trends = Vec::new();
    for group in groups {
        let rows = statement.query_map((group.0.cast_signed(), first, end, buckets), |found| {
            Ok((found.get(0)?, found.get::<_, i64>(1)?.cast_unsigned()))
        })?;
        let counted: Vec<(i64, u64)> = rows.collect::<Result<_, _>>()?;
        trends.extend(window.trend(*group, counted));
    }
    Ok(trends)
}

/// One group of failures.
pub(super) fn failure(conn: &Connection, fingerprint: Fingerprint) -> Result<Option<FailureGroup>, Failure> {
    let mut statement = conn.prepare_cached(sql::FIND_FAILURE)?;
    let mut rows = statement.query((fingerprint.0.cast_signed(),))?;
    rows.next()?.map(failure_group).transpose()
}

fn failure_group(found: &Row<'_>) -> Result<FailureGroup, Failure> {
    Ok(FailureGroup {
        fingerprint: Fingerprint(found.get::<_, i64>(0)?.cast_unsigned()),
        kind: row::name(found, 1)?,
        count: found.get::<_, i64>(2)?.cast_unsigned(),
        first_at: Wall(found.get(3)?),
        last_at: Wall(found.get(4)?),
        job: row::job_id(found, 5)?,
        error: found.get(6)?,
    })
}

/// The documents of a collection, by name.
pub(super) fn documents(conn: &Connection, collection: Collection) -> Result<Vec<(String, String)>, Failure> {
    let mut statement = conn.prepare_cached(sql::LIST_DOCUMENTS)?;
    let rows = statement.query_map([collection.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The ledger of a schedule, newest first, from before an instant on.
pub(super) fn occurrences(
    conn: &Connection,
    schedule: ScheduleId,
    before: Option<Wall>,
    limit: usize,
) -> Result<Vec<Occurrence>, Failure> {
    let mut statement = conn.prepare_cached(sql::LIST_OCCURRENCES)?;
    let before = before.map_or(i64::MAX, |before| before.0);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((schedule.uuid().into_bytes(), before, limit))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (cause, fate) = (row::text(row, 7)?.unwrap_or_default(), Some(row::fate(row, 0)?));
        let one = crate::occurrence::occurrence(row.get(5)?, row.get(6)?, cause, fate);
        found.push(one.ok_or_else(|| Failure::unreadable("an occurrence", cause))?);
    }
    Ok(found)
}

/// All leases.
pub(super) fn load_leased(conn: &Connection) -> Result<Leased, Failure> {
    let mut leased = Leased::default();
    each(conn, sql::LOAD_ASSIGNMENTS, |found| {
        leased.add(&row::assignment(found)?, |_| true);
        Ok(())
    })?;
    Ok(leased)
}

/// The leases of a few jobs.
fn search_leased(conn: &Connection, ids: &[JobId]) -> Result<Leased, Failure> {
    let mut leased = Leased::default();
    let mut assignments = conn.prepare_cached(sql::FIND_ASSIGNMENTS)?;
    for id in ids {
        let mut rows = assignments.query([codec::job_key(*id)])?;
        while let Some(found) = rows.next()? {
            leased.add(&row::assignment(found)?, |job| job == *id);
        }
    }
    Ok(leased)
}

/// The open lease of the live job in a row.
pub(super) fn lease_of_row(leased: &Leased, found: &Row<'_>) -> Result<Option<LeaseView>, Failure> {
    Ok(leased.of(row::job_id(found, column::ID)?, row::fence(found, column::LAST_FENCE)?))
}

/// The state of a live job from its row.
pub(super) fn live_row_state(
    found: &Row<'_>,
    leased: bool,
    now: Wall,
) -> Result<ganger_core::job::State, Failure> {
    Ok(live_state(leased, found.get(column::RETRYING)?, Wall(found.get(column::DUE_AT)?), now))
}

/// The state of a final job from its row.
pub(super) fn final_row_state(found: &Row<'_>) -> Result<ganger_core::job::State, Failure> {
    let code = found.get(column::STATE)?;
    codec::final_state(code).ok_or_else(|| Failure::unreadable("a final state", code))
}

fn each(
    conn: &Connection,
    sql: &str,
    mut work: impl FnMut(&Row<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(found) = rows.next()? {
        work(found)?;
    }
    Ok(())
}
