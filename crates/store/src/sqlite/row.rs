//! Rows of the database as values of the model.

use std::sync::Arc;

use ganger_core::change::{Assignment, AttemptRecord, End, LiveJob};
use ganger_core::dependency::{self, Edge, OnDead};
use ganger_core::job::{JobOptions, JobSpec, State};
use ganger_core::name::{Kind, QueueName};
use ganger_core::rules::Standing;
use ganger_core::schedule::ledger::Fate;
use ganger_core::{Fence, JobId, Wall};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};

use super::error::Failure;
use super::{codec, options, sql};
use crate::occurrence;
use crate::read::{LeaseView, StoredJob};

/// Columns that `find_job`, `find_final` and the lists have in common, by position.
pub(super) mod column {
    pub(in crate::sqlite) const ID: usize = 0;
    pub(in crate::sqlite) const SEQ: usize = 1;
    pub(in crate::sqlite) const KIND: usize = 2;
    pub(in crate::sqlite) const QUEUE: usize = 3;
    pub(in crate::sqlite) const PRIORITY: usize = 4;
    pub(in crate::sqlite) const CREATED_AT: usize = 5;
    pub(in crate::sqlite) const RUN_AT: usize = 6;
    pub(in crate::sqlite) const DUE_AT: usize = 7;
    pub(in crate::sqlite) const CANCEL_WANTED: usize = 8;
    pub(in crate::sqlite) const ATTEMPT: usize = 9;
    pub(in crate::sqlite) const BURNT: usize = 10;
    pub(in crate::sqlite) const LOST: usize = 11;
    pub(in crate::sqlite) const LAST_FENCE: usize = 12;
    pub(in crate::sqlite) const UNIQUE_KEY: usize = 13;
    pub(in crate::sqlite) const OPTIONS: usize = 14;
    pub(in crate::sqlite) const PAYLOAD: usize = 15;
    /// Of a live job.
    pub(in crate::sqlite) const RETRYING: usize = 16;
    /// Of a final one.
    pub(in crate::sqlite) const STATE: usize = 16;
}

/// The id in a column.
pub(super) fn job_id(row: &Row<'_>, index: usize) -> rusqlite::Result<JobId> {
    row.get(index).map(codec::job_id)
}

/// The text in a column, borrowed.
pub(super) fn text<'r>(row: &'r Row<'_>, index: usize) -> Result<Option<&'r str>, Failure> {
    let value = row.get_ref(index)?;
    value.as_str_or_null().map_err(|error| {
        Failure::Sql(rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
    })
}

/// The fence in a column.
pub(super) fn fence(row: &Row<'_>, index: usize) -> Result<Option<Fence>, Failure> {
    let bytes: Option<[u8; 24]> = row.get(index)?;
    Ok(bytes.and_then(|bytes| codec::fence(&bytes)))
}

/// A name in a column.
pub(super) fn name<N: std::str::FromStr>(row: &Row<'_>, index: usize) -> Result<N, Failure>
where
    N::Err: std::fmt::Display,
{
    let name = text(row, index)?.unwrap_or_default();
    name.parse().map_err(|error| Failure::unreadable("a name", error))
}

/// What became of an occurrence, from the columns that begin here.
pub(super) fn fate(row: &Row<'_>, first: usize) -> Result<Fate, Failure> {
    let job: Option<[u8; 16]> = row.get(first + 1)?;
    let (why, since, count) = (text(row, first + 2)?, row.get(first + 3)?, row.get(first + 4)?);
    let state = text(row, first)?.unwrap_or_default();
    occurrence::fate(state, job.map(uuid::Uuid::from_bytes), why, since, count)
        .ok_or_else(|| Failure::unreadable("an occurrence", state))
}

/// A row of `load_assignments`.
pub(super) fn assignment(row: &Row<'_>) -> Result<Assignment, Failure> {
    let bytes: Vec<u8> = row.get(3)?;
    let leases = codec::decode_leases(&bytes)
        .ok_or_else(|| Failure::unreadable("the leases of an assignment", "malformed"))?;
    let first =
        fence(row, 0)?.ok_or_else(|| Failure::unreadable("the fence of an assignment", "malformed"))?;
    Ok(Assignment { session: codec::session_id(row.get(1)?), first, at: Wall(row.get(2)?), leases })
}

/// A row of `find_edges`, `list_parents` or `list_children`.
pub(super) fn edge(row: &Row<'_>) -> Result<Edge, Failure> {
    let (code, ended): (i64, Option<i64>) = (row.get(2)?, row.get(3)?);
    let on_dead = OnDead::from_code(code).ok_or_else(|| Failure::unreadable("an edge", code))?;
    let ended = ended.and_then(codec::final_state);
    Ok(Edge { child: job_id(row, 0)?, parent: job_id(row, 1)?, on_dead, ended })
}

/// Finds names and options that were seen before, so that a million jobs of one kind share one text.
pub(super) struct Interner {
    kinds: std::collections::HashMap<String, Kind>,
    queues: std::collections::HashMap<String, QueueName>,
    default_options: Arc<JobOptions>,
}

impl Interner {
    pub(super) fn new() -> Interner {
        Interner {
            kinds: std::collections::HashMap::new(),
            queues: std::collections::HashMap::new(),
            default_options: Arc::default(),
        }
    }

    fn options(&self, row: &Row<'_>, unique_key: usize) -> Result<Arc<JobOptions>, Failure> {
        let (key, own) = (text(row, unique_key)?, text(row, unique_key + 1)?);
        if key.is_none() && own.is_none() {
            return Ok(Arc::clone(&self.default_options));
        }
        options::decode(own, key).map(Arc::new)
    }
}

fn interned<N: Clone + std::str::FromStr>(
    seen: &mut std::collections::HashMap<String, N>,
    row: &Row<'_>,
    index: usize,
) -> Result<N, Failure>
where
    N::Err: std::fmt::Display,
{
    let name = text(row, index)?.unwrap_or_default();
    if let Some(known) = seen.get(name) {
        return Ok(known.clone());
    }
    let parsed: N = name.parse().map_err(|error| Failure::unreadable("a name", error))?;
    seen.insert(name.to_owned(), parsed.clone());
    Ok(parsed)
}

/// A row of `load_jobs` or `load_job`.
pub(super) fn live_job(row: &Row<'_>, interner: &mut Interner) -> Result<LiveJob, Failure> {
    Ok(LiveJob {
        id: job_id(row, 0)?,
        kind: interned(&mut interner.kinds, row, 1)?,
        queue: interned(&mut interner.queues, row, 2)?,
        priority: row.get(3)?,
        seq: row.get::<_, i64>(4)?.cast_unsigned(),
        created_at: Wall(row.get(5)?),
        due_at: Wall(row.get(6)?),
        retrying: row.get(7)?,
        cancel_wanted: row.get(8)?,
        standing: Standing { attempt: row.get(9)?, burnt: row.get(10)?, lost: row.get(11)? },
        last_fence: fence(row, 12)?,
        options: interner.options(row, 13)?,
    })
}

/// A row of `find_job` or of a list of live jobs.
pub(super) fn stored_live(
    conn: &Connection,
    row: &Row<'_>,
    state: State,
    lease: Option<LeaseView>,
) -> Result<StoredJob, Failure> {
    let mut job = stored(conn, row, state)?;
    job.last_attempt = last_attempt_row(conn, job.id)?;
    job.lease = lease;
    Ok(job)
}

/// A row of `find_final` or of a list of final jobs.
pub(super) fn stored_final(conn: &Connection, row: &Row<'_>, state: State) -> Result<StoredJob, Failure> {
    let mut job = stored(conn, row, state)?;
    job.end =
        Some(End { state, at: Wall(row.get(17)?), result: row.get(18)?, reason: row.get(19)?, keep: true });
    job.last_attempt = match row.get::<_, Option<Vec<u8>>>(20)? {
        Some(bytes) => Some(attempt(&bytes)?),
        None => last_attempt_row(conn, job.id)?,
    };
    Ok(job)
}

/// An attempt as stored.
pub(super) fn attempt(bytes: &[u8]) -> Result<AttemptRecord, Failure> {
    codec::decode_attempt(bytes).ok_or_else(|| Failure::unreadable("an attempt", "malformed"))
}

/// The payload of a job whose row carries none.
pub(super) fn large_payload(conn: &Connection, id: JobId) -> Result<String, Failure> {
    let body: Option<String> = conn
        .prepare_cached(sql::FIND_PAYLOAD)?
        .query_row([codec::job_key(id)], |row| row.get(0))
        .optional()?;
    body.ok_or_else(|| Failure::unreadable("a payload", format_args!("{id} has none")))
}

fn stored(conn: &Connection, row: &Row<'_>, state: State) -> Result<StoredJob, Failure> {
    let id = job_id(row, column::ID)?;
    let payload = match row.get(column::PAYLOAD)? {
        Some(payload) => payload,
        None => large_payload(conn, id)?,
    };
    Ok(StoredJob {
        id,
        spec: JobSpec {
            kind: name(row, column::KIND)?,
            queue: name(row, column::QUEUE)?,
            priority: row.get(column::PRIORITY)?,
            run_at: row.get::<_, Option<i64>>(column::RUN_AT)?.map(Wall),
            payload,
            depends_on: Vec::new(),
            options: options::decode(text(row, column::OPTIONS)?, text(row, column::UNIQUE_KEY)?)?,
        },
        state,
        seq: row.get::<_, i64>(column::SEQ)?.cast_unsigned(),
        created_at: Wall(row.get(column::CREATED_AT)?),
        due_at: dependency::unparked(Wall(row.get(column::DUE_AT)?)),
        standing: Standing {
            attempt: row.get(column::ATTEMPT)?,
            burnt: row.get(column::BURNT)?,
            lost: row.get(column::LOST)?,
        },
        cancel_wanted: row.get(column::CANCEL_WANTED)?,
        lease: None,
        last_attempt: None,
        end: None,
    })
}

fn last_attempt_row(conn: &Connection, id: JobId) -> Result<Option<AttemptRecord>, Failure> {
    let bytes: Option<Vec<u8>> = conn
        .prepare_cached(sql::LAST_ATTEMPT)?
        .query_row([codec::job_key(id)], |row| row.get(0))
        .optional()?;
    bytes.as_deref().map(attempt).transpose()
}
