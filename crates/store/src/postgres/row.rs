//! Rows of the database as values of the model, and new jobs as rows.

use std::collections::HashMap;
use std::sync::Arc;

use ganger_core::change::{Assignment, AttemptRecord, End, LiveJob, NewJob};
use ganger_core::dependency::{self, Edge, OnDead};
use ganger_core::job::{JobOptions, JobSpec, State};
use ganger_core::name::{Kind, QueueName};
use ganger_core::rules::Standing;
use ganger_core::schedule::ledger::Fate;
use ganger_core::{Fence, JobId, SessionId, Wall};
use tokio_postgres::Row;
use uuid::Uuid;

use super::error::Failure;
use super::pipeline::{Param, param};
use super::plan::FinalFact;
use super::{codec, options};
use crate::occurrence;
use crate::read::{LeaseView, StoredJob};

/// Columns that `find_jobs` and `find_finals` have in common, by position.
pub(super) mod column {
    pub(in crate::postgres) const ID: usize = 0;
    pub(in crate::postgres) const SEQ: usize = 1;
    pub(in crate::postgres) const KIND: usize = 2;
    pub(in crate::postgres) const QUEUE: usize = 3;
    pub(in crate::postgres) const PRIORITY: usize = 4;
    pub(in crate::postgres) const CREATED_AT: usize = 5;
    pub(in crate::postgres) const RUN_AT: usize = 6;
    pub(in crate::postgres) const DUE_AT: usize = 7;
    pub(in crate::postgres) const CANCEL_WANTED: usize = 8;
    /// And burnt and lost.
    pub(in crate::postgres) const ATTEMPT: usize = 9;
    pub(in crate::postgres) const LAST_FENCE: usize = 12;
    pub(in crate::postgres) const UNIQUE_KEY: usize = 13;
    pub(in crate::postgres) const TAGS: usize = 15;
    pub(in crate::postgres) const OPTIONS: usize = 16;
    pub(in crate::postgres) const PAYLOAD: usize = 17;
    pub(in crate::postgres) const LAST_ATTEMPT: usize = 18;
    /// Of a live job.
    pub(in crate::postgres) const RETRYING: usize = 19;
    /// Of a final one.
    pub(in crate::postgres) const STATE: usize = 19;
    pub(in crate::postgres) const FINISHED_AT: usize = 20;
    pub(in crate::postgres) const RESULT: usize = 21;
    pub(in crate::postgres) const REASON: usize = 22;
}

/// A new job as a row.
pub(super) struct NewRow<'b> {
    pub(super) id: Uuid,
    pub(super) seq: i64,
    pub(super) created_at: Wall,
    pub(super) due_at: Wall,
    pub(super) run_at: Option<i64>,
    pub(super) unique_for: Option<i64>,
    pub(super) priority: i16,
    pub(super) cancel_wanted: bool,
    pub(super) kind: &'b str,
    pub(super) queue: &'b str,
    pub(super) unique_key: Option<&'b str>,
    pub(super) tags: Option<String>,
    pub(super) options: Option<String>,
    pub(super) payload: Option<&'b [u8]>,
}

impl<'b> NewRow<'b> {
    /// With its payload, unless that is kept elsewhere.
    pub(super) fn of(new: &'b NewJob, payload: Option<&'b [u8]>) -> Result<NewRow<'b>, Failure> {
        let own = &new.spec.options;
        Ok(NewRow {
            id: new.id.uuid(),
            seq: new.seq.cast_signed(),
            created_at: new.created_at,
            due_at: new.due_at,
            run_at: new.spec.run_at.map(|at| at.0),
            unique_for: options::encode_unique_for(own),
            priority: new.spec.priority.into(),
            cancel_wanted: false,
            kind: new.spec.kind.as_str(),
            queue: new.spec.queue.as_str(),
            unique_key: own.unique_key.as_deref(),
            tags: options::encode_tags(own),
            options: options::encode(own)?,
            payload,
        })
    }

    /// The arrays of `insert_jobs`.
    pub(super) fn columns(rows: &[NewRow<'b>]) -> Vec<Param<'b>> {
        vec![
            param(rows.iter().map(|row| row.id).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.seq).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.created_at.0).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.due_at.0).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.run_at).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.unique_for).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.priority).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.cancel_wanted).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.kind).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.queue).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.unique_key).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.tags.clone()).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.options.clone()).collect::<Vec<_>>()),
            param(rows.iter().map(|row| row.payload).collect::<Vec<_>>()),
        ]
    }
}

/// The id in a column.
pub(super) fn job_id(row: &Row, index: usize) -> Result<JobId, Failure> {
    Ok(JobId::from_uuid(row.try_get(index)?))
}

/// The fence in a column.
pub(super) fn fence(row: &Row, index: usize) -> Result<Option<Fence>, Failure> {
    let bytes: Option<&[u8]> = row.try_get(index)?;
    Ok(bytes.and_then(codec::fence))
}

/// The text in a column of bytes.
pub(super) fn utf8(row: &Row, index: usize) -> Result<String, Failure> {
    String::from_utf8(row.try_get(index)?).map_err(|error| Failure::unreadable("a text", error))
}

/// The text in a column of bytes, if there is one.
fn utf8_or_none(row: &Row, index: usize) -> Result<Option<String>, Failure> {
    let bytes: Option<Vec<u8>> = row.try_get(index)?;
    bytes.map(String::from_utf8).transpose().map_err(|error| Failure::unreadable("a text", error))
}

/// A job and its payload, if the row has both and they can be read.
pub(super) fn payload(row: &Row) -> Option<(JobId, String)> {
    let id: Uuid = row.try_get::<_, Option<Uuid>>(0).ok()??;
    Some((JobId::from_uuid(id), utf8_or_none(row, 1).ok()??))
}

/// A name in a column.
pub(super) fn name<N: std::str::FromStr>(row: &Row, index: usize) -> Result<N, Failure>
where
    N::Err: std::fmt::Display,
{
    row.try_get::<_, &str>(index)?.parse().map_err(|error| Failure::unreadable("a name", error))
}

/// The final state in a column.
pub(super) fn final_state(row: &Row, index: usize) -> Result<State, Failure> {
    let code: i16 = row.try_get(index)?;
    codec::final_state(code).ok_or_else(|| Failure::unreadable("a final state", code))
}

/// An attempt as stored.
pub(super) fn attempt(bytes: &[u8]) -> Result<AttemptRecord, Failure> {
    codec::decode_attempt(bytes).ok_or_else(|| Failure::unreadable("an attempt", "malformed"))
}

/// A row of `load_assignments` or `find_assignments`.
pub(super) fn assignment(row: &Row) -> Result<Assignment, Failure> {
    let leases = codec::decode_leases(row.try_get(3)?)
        .ok_or_else(|| Failure::unreadable("the leases of an assignment", "malformed"))?;
    let first =
        fence(row, 0)?.ok_or_else(|| Failure::unreadable("the fence of an assignment", "malformed"))?;
    let session = SessionId::from_uuid(row.try_get(1)?);
    Ok(Assignment { session, first, at: Wall(row.try_get(2)?), leases })
}

/// What became of an occurrence, from the columns that begin here.
pub(super) fn fate(row: &Row, first: usize) -> Result<Fate, Failure> {
    let state: &str = row.try_get(first)?;
    let (job, why) = (row.try_get(first + 1)?, row.try_get(first + 2)?);
    occurrence::fate(state, job, why, row.try_get(first + 3)?, row.try_get(first + 4)?)
        .ok_or_else(|| Failure::unreadable("an occurrence", state))
}

/// Finds names and options that were seen before, so that a million jobs of one kind share one text.
#[derive(Default)]
pub(super) struct Interner {
    kinds: HashMap<String, Kind>,
    queues: HashMap<String, QueueName>,
    default_options: Arc<JobOptions>,
}

fn interned<N: Clone + std::str::FromStr>(
    seen: &mut HashMap<String, N>,
    row: &Row,
    index: usize,
) -> Result<N, Failure>
where
    N::Err: std::fmt::Display,
{
    let text: &str = row.try_get(index)?;
    if let Some(known) = seen.get(text) {
        return Ok(known.clone());
    }
    let parsed: N = name(row, index)?;
    seen.insert(text.to_owned(), parsed.clone());
    Ok(parsed)
}

/// A row of `load_jobs`.
pub(super) fn live_job(row: &Row, interner: &mut Interner) -> Result<LiveJob, Failure> {
    let (unique_key, tags, own): (Option<&str>, Option<&str>, Option<&str>) =
        (row.try_get(13)?, row.try_get(15)?, row.try_get(16)?);
    let options = if unique_key.is_none() && tags.is_none() && own.is_none() {
        Arc::clone(&interner.default_options)
    } else {
        Arc::new(options::decode(own, unique_key, tags)?)
    };
    Ok(LiveJob {
        id: job_id(row, 0)?,
        kind: interned(&mut interner.kinds, row, 1)?,
        queue: interned(&mut interner.queues, row, 2)?,
        priority: priority(row, 3)?,
        seq: row.try_get::<_, i64>(4)?.cast_unsigned(),
        created_at: Wall(row.try_get(5)?),
        due_at: Wall(row.try_get(6)?),
        retrying: row.try_get(7)?,
        cancel_wanted: row.try_get(8)?,
        standing: standing(row, 9)?,
        last_fence: fence(row, 12)?,
        options,
    })
}

/// A row of `know_finals`.
pub(super) fn final_fact(row: &Row) -> Result<FinalFact, Failure> {
    let last_attempt: Option<Vec<u8>> = row.try_get(12)?;
    let record = last_attempt.as_deref().map(attempt).transpose()?;
    let carried = record.as_ref().map(|record| record.fence);
    let job = LiveJob {
        id: job_id(row, 0)?,
        kind: name(row, 1)?,
        queue: name(row, 2)?,
        priority: priority(row, 3)?,
        seq: 0,
        created_at: Wall(row.try_get(4)?),
        due_at: Wall(0),
        retrying: false,
        cancel_wanted: false,
        standing: Standing { attempt: row.try_get::<_, i32>(5)?.cast_unsigned(), burnt: 0, lost: 0 },
        last_fence: fence(row, 6)?.or(carried),
        options: Arc::new(options::decode(row.try_get(10)?, row.try_get(7)?, row.try_get(9)?)?),
    };
    let last_attempt = record.map(|record| record.number).zip(last_attempt);
    Ok(FinalFact { job, state: final_state(row, 11)?, last_attempt })
}

/// A row of `find_edges`, `list_parents` or `list_children`.
pub(super) fn edge(row: &Row) -> Result<Edge, Failure> {
    let (code, ended): (i16, Option<i16>) = (row.try_get(2)?, row.try_get(3)?);
    let on_dead = OnDead::from_code(code.into()).ok_or_else(|| Failure::unreadable("an edge", code))?;
    let ended = ended.and_then(codec::final_state);
    Ok(Edge { child: job_id(row, 0)?, parent: job_id(row, 1)?, on_dead, ended })
}

/// A row of `find_jobs`.
pub(super) fn stored_live(row: &Row, state: State, lease: Option<LeaseView>) -> Result<StoredJob, Failure> {
    Ok(StoredJob { lease, ..stored(row, state)? })
}

/// A row of `find_finals`.
pub(super) fn stored_final(row: &Row) -> Result<StoredJob, Failure> {
    let state = final_state(row, column::STATE)?;
    let end = End {
        state,
        at: Wall(row.try_get(column::FINISHED_AT)?),
        result: utf8_or_none(row, column::RESULT)?,
        reason: utf8_or_none(row, column::REASON)?,
        keep: true,
    };
    Ok(StoredJob { end: Some(end), ..stored(row, state)? })
}

fn stored(row: &Row, state: State) -> Result<StoredJob, Failure> {
    let id = job_id(row, column::ID)?;
    let payload = utf8_or_none(row, column::PAYLOAD)?
        .ok_or_else(|| Failure::unreadable("a payload", format_args!("{id} has none")))?;
    let own = options::decode(
        row.try_get(column::OPTIONS)?,
        row.try_get(column::UNIQUE_KEY)?,
        row.try_get(column::TAGS)?,
    )?;
    let last_attempt: Option<&[u8]> = row.try_get(column::LAST_ATTEMPT)?;
    Ok(StoredJob {
        id,
        spec: JobSpec {
            kind: name(row, column::KIND)?,
            queue: name(row, column::QUEUE)?,
            priority: priority(row, column::PRIORITY)?,
            run_at: row.try_get::<_, Option<i64>>(column::RUN_AT)?.map(Wall),
            payload,
            depends_on: Vec::new(),
            options: own,
        },
        state,
        seq: row.try_get::<_, i64>(column::SEQ)?.cast_unsigned(),
        created_at: Wall(row.try_get(column::CREATED_AT)?),
        due_at: dependency::unparked(Wall(row.try_get(column::DUE_AT)?)),
        standing: standing(row, column::ATTEMPT)?,
        cancel_wanted: row.try_get(column::CANCEL_WANTED)?,
        lease: None,
        last_attempt: last_attempt.map(attempt).transpose()?,
        end: None,
    })
}

fn priority(row: &Row, index: usize) -> Result<i8, Failure> {
    let number: i16 = row.try_get(index)?;
    i8::try_from(number).map_err(|error| Failure::unreadable("a priority", error))
}

/// Three columns: attempt, burnt, lost.
fn standing(row: &Row, index: usize) -> Result<Standing, Failure> {
    let number = |index| row.try_get::<_, i32>(index).map(i32::cast_unsigned);
    Ok(Standing { attempt: number(index)?, burnt: number(index + 1)?, lost: number(index + 2)? })
}
