//! Leases given and ended, and jobs that become final.

use std::sync::Arc;

use ganger_core::change::{After, Applied, Assignment, AttemptEnd, End, Finish};
use ganger_core::job::State;
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId};
use rusqlite::{OptionalExtension, params};

use super::Work;
use crate::refusal;
use crate::sqlite::error::Failure;
use crate::sqlite::leases::Sort;
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
        let mut void = 0;
        for (fence, lease) in assignment.fenced() {
            let Some(job) = self.leases.find(&mut self.prepared.find_leasable, lease.job)? else {
                if self.is_void(lease.job)? {
                    void += 1;
                    continue;
                }
                return Err(refusal::not_live("assign", lease.job).into());
            };
            if job.last_fence.is_some_and(|last| last >= codec::fence_key(fence)) {
                return Err(refusal::fence_not_later(lease.job, fence).into());
            }
            if let Some(held) = self.leases.of_job(lease.job) {
                return Err(refusal::leased("assign", lease.job, held.fence).into());
            }
            self.leases.open(assignment, lease.job, fence, job.sort);
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
        let closed = self.leases.close(end.job);
        if let Some((lease, true)) = &closed {
            self.execute(sql::DELETE_ASSIGNMENT, [codec::fence_key(lease.assignment)])?;
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
                let sort = closed.map(|(lease, _)| lease.sort);
                self.make_final(end.job, Some(last), sort, how)
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
        self.make_final(finish.job, None, None, &finish.end)
    }

    /// Moves a live job to the final ones, or out of the store if it is not to be kept. What its lease knows of it is
    /// enough for one that is kept and has no unique key; the rows of others are read.
    fn make_final(
        &mut self,
        job: JobId,
        last: Option<Last>,
        sort: Option<Arc<Sort>>,
        end: &End,
    ) -> Result<Applied, Failure> {
        let id = codec::job_key(job);
        let state = codec::state_code(end.state).ok_or_else(|| refusal::not_final(job, end.state))?;
        let live = match sort.filter(|sort| end.keep && !sort.unique) {
            Some(sort) => Live { sort, unique: None, large_payload: false },
            None => self.read_live(job)?,
        };
        if end.keep {
            // A job that ends without a lease keeps the standing and the fence it had.
            let standing = last.as_ref().map(|last| last.standing);
            self.prepared.end_job.execute(params![
                id,
                state,
                end.at.0,
                standing.map(|standing| standing.attempt),
                standing.map(|standing| standing.burnt),
                standing.map(|standing| standing.lost),
                last.as_ref().map(|last| codec::fence_key(last.fence)),
                end.reason,
                last.as_ref().and_then(|last| last.record.as_deref()),
                end.result,
            ])?;
            self.counts.add(&live.sort.queue, &live.sort.kind, end.state, 1);
        }
        if self.prepared.delete_job.execute([id])? == 0 {
            return Err(refusal::not_live("end", job).into());
        }
        if let Some((key, options)) = live.unique {
            self.release_unique(&live.sort.kind, &key, options.as_deref(), job, end)?;
        }
        if !end.keep {
            self.forget_traces(job, live.large_payload)?;
        }
        Ok(Applied::Done)
    }

    fn read_live(&self, job: JobId) -> Result<Live, Failure> {
        let mut find = self.conn.prepare_cached(sql::FIND_JOB)?;
        let mut rows = find.query([codec::job_key(job)])?;
        let Some(live) = rows.next()? else { return Err(refusal::not_live("end", job).into()) };
        let owned = |index| row::text(live, index).map(|text| text.map(str::to_owned));
        let (queue, kind) =
            (owned(column::QUEUE)?.unwrap_or_default(), owned(column::KIND)?.unwrap_or_default());
        let options = owned(column::OPTIONS)?;
        let unique = owned(column::UNIQUE_KEY)?.map(|key| (key, options));
        Ok(Live {
            sort: Arc::new(Sort { queue, kind, unique: unique.is_some() }),
            unique,
            large_payload: row::text(live, column::PAYLOAD)?.is_none(),
        })
    }
}

/// What must be known of a live job to end it.
struct Live {
    sort: Arc<Sort>,
    /// Its unique key, and its options, which say how long that is held.
    unique: Option<(String, Option<String>)>,
    large_payload: bool,
}

/// What the last attempt leaves behind.
struct Last {
    standing: Standing,
    fence: Fence,
    record: Option<Vec<u8>>,
}
