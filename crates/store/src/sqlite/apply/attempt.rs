//! Leases given and ended, and jobs that become final.

use ganger_core::change::{After, Applied, Assignment, AttemptEnd, End, Finish};
use ganger_core::job::State;
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId};
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{OptionalExtension, Row, Statement, params};

use super::Work;
use crate::refusal;
use crate::sqlite::error::Failure;
use crate::sqlite::row::column;
use crate::sqlite::{codec, row, sql};

impl Work<'_> {
    pub(super) fn assign(&mut self, assignment: &Assignment) -> Result<Applied, Failure> {
        let open: Option<bool> = self
            .conn
            .prepare_cached(sql::FIND_SESSION)?
            .query_row([codec::session_key(assignment.session)], |row| {
                Ok(row.get_ref(0)?.as_str_or_null()?.is_some())
            })
            .optional()?;
        if open != Some(true) {
            return Err(refusal::session_not_open(assignment.session).into());
        }
        if assignment.leases.is_empty() || self.leases.has_assignment(assignment.first) {
            return Err(refusal::assignment_known(assignment.first).into());
        }
        let mut last_fence = self.conn.prepare_cached(sql::LAST_FENCE)?;
        let mut void = 0;
        for (fence, lease) in assignment.fenced() {
            let last: Option<Option<[u8; 24]>> =
                last_fence.query_row([codec::job_key(lease.job)], |row| row.get(0)).optional()?;
            let Some(last) = last else {
                if self.is_void(lease.job)? {
                    void += 1;
                    continue;
                }
                return Err(refusal::not_live("assign", lease.job).into());
            };
            if last.is_some_and(|last| last >= codec::fence_key(fence)) {
                return Err(refusal::fence_not_later(lease.job, fence).into());
            }
            if let Some(held) = self.leases.of_job(lease.job) {
                return Err(refusal::leased("assign", lease.job, held.fence).into());
            }
            self.leases.open(assignment, lease.job, fence);
        }
        if void == assignment.leases.len() {
            return Ok(Applied::Done);
        }
        self.execute(
            sql::INSERT_ASSIGNMENT,
            (
                codec::fence_key(assignment.first),
                codec::session_key(assignment.session),
                assignment.at.0,
                codec::encode_leases(&assignment.leases),
            ),
        )
    }

    /// Whether a lease on a job that is not live is void: a submission of this batch named the job, and there
    /// was nothing new to create.
    fn is_void(&mut self, job: JobId) -> Result<bool, Failure> {
        let named = self.not_created.contains(&job);
        Ok(named
            && !self.prepared.job_is_final.query_row([codec::job_key(job)], |row| row.get::<_, bool>(0))?)
    }

    pub(super) fn end_attempt(&mut self, end: &AttemptEnd) -> Result<Applied, Failure> {
        match self.leases.of_job(end.job) {
            Some(open) if open.fence == end.fence && open.assignment == end.assignment => {}
            Some(_) => return Err(refusal::not_the_lease(end.job, end.fence).into()),
            None if self.is_live(end.job)? => return Err(refusal::not_the_lease(end.job, end.fence).into()),
            // It cannot happen here, but an end of such a lease means the same in every store.
            None if end.transactional => return self.ended_elsewhere(end.job),
            None => return Err(refusal::not_live("end an attempt of", end.job).into()),
        }
        if let Some(over) = self.leases.close(end.job) {
            self.execute(sql::DELETE_ASSIGNMENT, [codec::fence_key(over)])?;
        }
        let id = codec::job_key(end.job);
        let record = end.record.as_ref().map(codec::encode_attempt);
        match &end.after {
            After::Again { due_at, retrying, standing } => {
                if let (Some(attempt), Some(bytes)) = (&end.record, record) {
                    self.execute(sql::INSERT_ATTEMPT, (id, attempt.number, bytes))?;
                }
                let (fence, s) = (codec::fence_key(end.fence), standing);
                self.execute(sql::JOB_AGAIN, (id, due_at.0, retrying, s.attempt, s.burnt, s.lost, fence))
            }
            After::Final { standing, end: how } => {
                let last = Last { standing: *standing, fence: end.fence, record };
                self.make_final(end.job, Some(last), how)
            }
        }
    }

    fn ended_elsewhere(&mut self, job: JobId) -> Result<Applied, Failure> {
        let mut found = self.conn.prepare_cached(sql::FIND_FINAL_STATE)?;
        let code: Option<i64> = found.query_row([codec::job_key(job)], |row| row.get(0)).optional()?;
        let state = code.and_then(codec::final_state);
        Ok(Applied::EndedElsewhere { state: state.unwrap_or(State::Succeeded), kept: state.is_some() })
    }

    pub(super) fn finish(&mut self, finish: &Finish) -> Result<Applied, Failure> {
        if let Some(held) = self.leases.of_job(finish.job) {
            return Err(refusal::leased("finish", finish.job, held.fence).into());
        }
        if !self.is_live(finish.job)? {
            return Err(refusal::not_live("finish", finish.job).into());
        }
        self.make_final(finish.job, None, &finish.end)
    }

    /// Moves a live job to the final ones, or out of the store if it is not to be kept.
    fn make_final(&mut self, job: JobId, last: Option<Last>, end: &End) -> Result<Applied, Failure> {
        let id = codec::job_key(job);
        let state = codec::state_code(end.state).ok_or_else(|| refusal::not_final(job, end.state))?;
        let mut rows = self.prepared.find_job.query([id])?;
        let Some(live) = rows.next()? else { return Err(refusal::not_live("end", job).into()) };
        if end.keep {
            insert_final(&mut self.prepared.insert_final, live, state, last, end)?;
            let (queue, kind) = (row::text(live, column::QUEUE)?, row::text(live, column::KIND)?);
            self.counts.add(queue.unwrap_or_default(), kind.unwrap_or_default(), end.state, 1);
        }
        let owned = |index| row::text(live, index).map(|text| text.map(str::to_owned));
        let unique = match owned(column::UNIQUE_KEY)? {
            Some(key) => Some((key, owned(column::KIND)?.unwrap_or_default(), owned(column::OPTIONS)?)),
            None => None,
        };
        let large_payload = row::text(live, column::PAYLOAD)?.is_none();
        drop(rows);
        self.prepared.delete_job.execute([id])?;
        if let Some((key, kind, options)) = unique {
            self.release_unique(&kind, &key, options.as_deref(), job, end)?;
        }
        if !end.keep {
            self.forget_traces(job, large_payload)?;
        }
        Ok(Applied::Done)
    }
}

/// Writes a final row out of a live one. A job that ends without a lease keeps the standing and the fence
/// it had.
fn insert_final(
    insert: &mut Statement<'_>,
    live: &Row<'_>,
    state: i64,
    last: Option<Last>,
    end: &End,
) -> Result<(), Failure> {
    let own = |index| live.get_ref(index).map(ToSqlOutput::Borrowed);
    let (attempt, burnt, lost, fence, record) = match last {
        Some(Last { standing: s, fence, record }) => {
            let number = |n: u32| ToSqlOutput::from(n);
            let fence = ToSqlOutput::Owned(Value::Blob(codec::fence_key(fence).into()));
            (number(s.attempt), number(s.burnt), number(s.lost), fence, record)
        }
        None => {
            (own(column::ATTEMPT)?, own(column::BURNT)?, own(column::LOST)?, own(column::LAST_FENCE)?, None)
        }
    };
    insert.execute(params![
        own(column::ID)?,
        state,
        own(column::SEQ)?,
        own(column::KIND)?,
        own(column::QUEUE)?,
        own(column::PRIORITY)?,
        own(column::CREATED_AT)?,
        own(column::RUN_AT)?,
        own(column::DUE_AT)?,
        end.at.0,
        own(column::CANCEL_WANTED)?,
        attempt,
        burnt,
        lost,
        fence,
        own(column::UNIQUE_KEY)?,
        own(column::OPTIONS)?,
        end.reason,
        record,
        own(column::PAYLOAD)?,
        end.result,
    ])?;
    Ok(())
}

/// What the last attempt leaves behind.
struct Last {
    standing: Standing,
    fence: Fence,
    record: Option<Vec<u8>>,
}
