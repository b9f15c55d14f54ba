//! What each change writes. The order of the checks and every answer are those of the store in memory.

mod attempt;
mod edges;
mod prepared;
mod removal;
mod replay;
mod schedule;
mod session;
mod submit;
mod unique;

use std::cell::Cell;
use std::collections::HashSet;

use ganger_core::JobId;
use ganger_core::change::{Applied, Change, EffectMark, KeyClosure, LogLines};
use ganger_core::document::Document;
use rusqlite::{Connection, OptionalExtension};

pub(super) use self::prepared::Prepared;
use super::counts::Counts;
use super::error::Failure;
use super::leases::Leases;
use super::{codec, sql};
use crate::log::append_log;
use crate::seen::Seen;

/// An open transaction and what it has gathered so far.
pub(super) struct Work<'t> {
    pub(super) conn: &'t Connection,
    pub(super) leases: &'t mut Leases,
    pub(super) prepared: Prepared<'t>,
    pub(super) counts: Counts,
    /// The largest intake sequence among the new jobs.
    pub(super) last_seq: u64,
    /// Failures, written once per batch and group.
    pub(super) failures: Seen,
    /// Jobs that submissions named and did not create.
    pub(super) not_created: HashSet<JobId>,
    /// Whether any job has parents; looked up when it matters.
    pub(super) any_edge: Cell<Option<bool>>,
}

impl Work<'_> {
    pub(super) fn apply(&mut self, change: &Change) -> Result<Applied, Failure> {
        match change {
            // There is no inbox here that its row could still be in.
            Change::Submit(submission) if submission.inbox.is_some() => {
                self.not_created.extend(submission.jobs.iter().map(|job| job.id));
                Ok(Applied::Taken)
            }
            Change::Submit(submission) => self.submit(submission),
            Change::Assign(assignment) => self.assign(assignment),
            Change::End(end) => self.end_attempt(end),
            Change::Finish(finish) => self.finish(finish),
            Change::CancelWanted(id) => self.execute(sql::CANCEL_WANTED, [codec::job_key(*id)]),
            Change::RunNow(id, at) => self.execute(sql::RUN_NOW, (codec::job_key(*id), at.0)),
            Change::Settle(parent, state) => self.settle(*parent, *state),
            Change::Replay(replay) => self.replay(*replay).map(Applied::Replayed),
            Change::OpenSession(record) => self.open_session(record),
            Change::CloseSession(id, _) => self.close_session(*id),
            Change::PutQueue(name, settings) => {
                let text =
                    serde_json::to_string(settings).map_err(|e| Failure::unreadable("queue settings", e))?;
                self.execute(sql::PUT_QUEUE, (name.as_str(), text))
            }
            // The database is this process's own: no handler has a transaction in it.
            Change::PutKind(_, settings) if settings.transactional => Ok(Applied::NoTransactions),
            Change::PutKind(name, settings) => {
                let text =
                    serde_json::to_string(settings).map_err(|e| Failure::unreadable("kind settings", e))?;
                self.execute(sql::PUT_KIND, (name.as_str(), text))
            }
            Change::CloseKey(KeyClosure { queue, key, until: Some(until) }) => {
                self.execute(sql::CLOSE_KEY, (queue.as_str(), key, until.0))
            }
            Change::CloseKey(KeyClosure { queue, key, until: None }) => {
                self.execute(sql::OPEN_KEY, (queue.as_str(), key))
            }
            Change::Mark(EffectMark { job, fence, stands: true }) => {
                self.execute(sql::PUT_MARK, (codec::job_key(*job), codec::fence_key(*fence)))
            }
            Change::Mark(EffectMark { job, fence, stands: false }) => {
                self.execute(sql::TAKE_MARK, (codec::job_key(*job), codec::fence_key(*fence)))
            }
            Change::Log(lines) => self.append(lines),
            Change::Failed(seen) => {
                self.failures.add(seen);
                Ok(Applied::Done)
            }
            Change::PutDocument(Document { collection, key, body: Some(body) }) => {
                self.execute(sql::PUT_DOCUMENT, (collection.as_str(), key, body))
            }
            Change::PutDocument(Document { collection, key, body: None }) => {
                self.execute(sql::DELETE_DOCUMENT, (collection.as_str(), key))
            }
            Change::Schedule(change) => self.change_schedule(change),
            Change::Delete(jobs) => self.delete(jobs).map(Applied::Removed),
            Change::PurgeDead { queue, limit } => self.purge_dead(queue, *limit).map(Applied::Removed),
            Change::Prune { now, limit } => self.prune(*now, *limit).map(Applied::Removed),
        }
    }

    /// Runs a statement that changes what there is, if it is there.
    fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<Applied, Failure> {
        self.conn.prepare_cached(sql)?.execute(params)?;
        Ok(Applied::Done)
    }

    /// Writes the failures that were counted, and begins anew.
    pub(super) fn write_failures(&mut self) -> Result<(), Failure> {
        let Seen { groups, trends } = std::mem::take(&mut self.failures);
        for group in groups.into_values() {
            self.execute(
                sql::ADD_FAILURES,
                (
                    group.fingerprint.0.cast_signed(),
                    group.kind.as_str(),
                    group.count.cast_signed(),
                    group.first_at.0,
                    group.last_at.0,
                    codec::job_key(group.job),
                    group.error,
                ),
            )?;
        }
        for ((group, bucket), count) in trends {
            let count = count.cast_signed();
            self.execute(sql::ADD_FAILURE_TRENDS, (group.0.cast_signed(), bucket, count))?;
        }
        Ok(())
    }

    fn is_live(&self, id: JobId) -> Result<bool, Failure> {
        Ok(self.conn.prepare_cached(sql::JOB_IS_LIVE)?.query_row([codec::job_key(id)], |row| row.get(0))?)
    }

    fn append(&self, lines: &LogLines) -> Result<Applied, Failure> {
        if !self.is_live(lines.job)? {
            return Ok(Applied::Done);
        }
        let key = codec::job_key(lines.job);
        let text: Option<String> = self
            .conn
            .prepare_cached(sql::FIND_LOG)?
            .query_row((key, lines.attempt), |row| row.get(0))
            .optional()?;
        let mut text = text.unwrap_or_default();
        append_log(&mut text, &lines.text);
        self.execute(sql::PUT_LOG, (key, lines.attempt, text))
    }

    /// Forgets what was kept beside the row of a job.
    fn forget_traces(&self, id: JobId, large_payload: bool) -> Result<(), Failure> {
        let key = codec::job_key(id);
        self.execute(sql::DELETE_ATTEMPTS, [key])?;
        self.execute(sql::DELETE_LOGS, [key])?;
        if large_payload {
            self.execute(sql::DELETE_PAYLOAD, [key])?;
        }
        self.forget_edges(id)
    }
}
