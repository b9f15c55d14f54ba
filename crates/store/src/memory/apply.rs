//! What each change does. The shortest telling of it; every other store must come to the same.

use ganger_core::change::{
    After, Applied, Assignment, AttemptEnd, Change, End, Finish, Intake, LiveJob, LogLines, NewJob, Replay,
    Replayed, SessionRecord, Submission, Submitted,
};
use ganger_core::dependency;
use ganger_core::job::State;
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId, SessionId, Wall};

use super::state::{Answer, Final, Live, MemoryState, OpenLease};
use crate::log::append_log;
use crate::refusal;
use crate::store::StoreError;

impl MemoryState {
    pub(super) fn apply(&mut self, change: &Change) -> Result<Applied, StoreError> {
        match change {
            Change::Submit(submission) if !self.leave_inbox(submission) => Ok(Applied::Taken),
            Change::Submit(submission) => self.submit(submission),
            Change::Assign(assignment) => self.assign(assignment),
            Change::End(end) => self.end_attempt(end),
            Change::Finish(finish) => self.finish(finish),
            Change::CancelWanted(id) => {
                self.live.change(id, |live| live.job.cancel_wanted = true);
                Ok(Applied::Done)
            }
            Change::RunNow(id, at) => {
                self.live.change(id, |live| live.job.due_at = live.job.due_at.min(*at));
                Ok(Applied::Done)
            }
            Change::Settle(parent, state) => Ok(self.settle(*parent, *state)),
            Change::Replay(replay) => Ok(Applied::Replayed(self.replay(*replay))),
            Change::OpenSession(record) => Ok(self.open_session(record)),
            Change::CloseSession(id, _) => Ok(self.close_session(*id)),
            Change::PutQueue(name, settings) => {
                self.queues.put(name.clone(), *settings);
                Ok(Applied::Done)
            }
            Change::PutKind(name, settings) => {
                self.kinds.put(name.clone(), *settings);
                Ok(Applied::Done)
            }
            Change::CloseKey(closure) => Ok(self.close_key(closure)),
            Change::Mark(mark) => Ok(self.mark(mark)),
            Change::Log(lines) => Ok(self.append(lines)),
            Change::Failed(seen) => Ok(self.count_failure(seen)),
            Change::PutDocument(document) => Ok(self.put_document(document)),
            Change::Schedule(change) => self.change_schedule(change),
            Change::Delete(jobs) => Ok(Applied::Removed(self.delete(jobs))),
            Change::PurgeDead { queue, limit } => Ok(Applied::Removed(self.purge_dead(queue, *limit))),
            Change::Prune { now, limit } => Ok(Applied::Removed(self.prune(*now, *limit))),
        }
    }

    /// A closed session has no leases left at the end of the batch that closed it.
    pub(super) fn check_no_leases(&self, id: SessionId) -> Result<(), StoreError> {
        let of_session = |lease: &&OpenLease| {
            self.assignments.get(&lease.assignment).is_some_and(|assignment| assignment.session == id)
        };
        match self.leases.values().filter(of_session).map(|lease| lease.fence).min() {
            Some(fence) => Err(refusal::closed_with_lease(id, fence)),
            None => Ok(()),
        }
    }

    fn submit(&mut self, submission: &Submission) -> Result<Applied, StoreError> {
        let now = submission.jobs.first().map_or(Wall(0), |job| job.created_at);
        if let Some(key) = &submission.idempotency
            && let Some(answer) = self.idempotency.get(&(key.scope.clone(), key.key.clone()))
            && answer.until > now
        {
            self.not_created.extend(submission.jobs.iter().map(|job| job.id));
            return Ok(Applied::Submitted(if answer.fingerprint == key.fingerprint {
                Submitted::Replayed(answer.intake.clone())
            } else {
                Submitted::KeyReused
            }));
        }
        if let Some((parent, place)) = self.missing_parent(&submission.jobs) {
            self.not_created.extend(submission.jobs.iter().map(|job| job.id));
            return Ok(Applied::Submitted(Submitted::NoParent(parent, place)));
        }
        if let Some(reason) = submission.inbox.as_ref().and_then(|inbox| inbox.refused.as_ref()) {
            let dead = submission.jobs.iter().map(|job| self.take_in_dead(job, reason));
            return Ok(Applied::Submitted(Submitted::Accepted(dead.collect::<Result<_, _>>()?)));
        }
        let intake = submission.jobs.iter().map(|job| self.take_in(job)).collect::<Result<Vec<_>, _>>()?;
        if let Some(key) = &submission.idempotency {
            let answer = Answer { fingerprint: key.fingerprint, until: key.until, intake: intake.clone() };
            self.idempotency.put((key.scope.clone(), key.key.clone()), answer);
        }
        let ended = self.link(submission, &intake);
        Ok(dependency::answer(Submitted::Accepted(intake), ended))
    }

    pub(super) fn take_in(&mut self, new: &NewJob) -> Result<Intake, StoreError> {
        if let Some(holder) = self.unique_holder(&new.spec.kind, &new.spec.options, new.created_at) {
            self.not_created.insert(new.id);
            return Ok(Intake::Duplicate(holder));
        }
        let live = self.new_row(new)?;
        self.hold_unique(&new.spec.kind, &new.spec.options, new.id, None);
        self.live.put(new.id, live);
        Ok(Intake::Created(new.id))
    }

    /// A job that cannot be run: it is dead from the start, and holds no unique key.
    fn take_in_dead(&mut self, new: &NewJob, reason: &str) -> Result<Intake, StoreError> {
        let was = self.new_row(new)?;
        let end = End {
            state: State::Dead,
            at: new.created_at,
            result: None,
            reason: Some(reason.to_owned()),
            keep: true,
        };
        self.finals.put(new.id, Final { was, end });
        Ok(Intake::Created(new.id))
    }

    fn new_row(&mut self, new: &NewJob) -> Result<Live, StoreError> {
        if self.live.contains_key(&new.id) || self.finals.contains_key(&new.id) {
            return Err(refusal::id_taken(new.id));
        }
        self.last_seq = self.last_seq.max(new.seq);
        Ok(Live {
            job: LiveJob::from(new),
            run_at: new.spec.run_at,
            payload: new.spec.payload.as_str().into(),
        })
    }

    fn assign(&mut self, assignment: &Assignment) -> Result<Applied, StoreError> {
        if !self.sessions.get(&assignment.session).is_some_and(Option::is_some) {
            return Err(refusal::session_not_open(assignment.session));
        }
        if assignment.leases.is_empty() || self.assignments.contains_key(&assignment.first) {
            return Err(refusal::assignment_known(assignment.first));
        }
        let mut void = 0;
        for (fence, lease) in assignment.fenced() {
            let Some(live) = self.live.get(&lease.job) else {
                if self.not_created.contains(&lease.job) && !self.finals.contains_key(&lease.job) {
                    void += 1;
                    continue;
                }
                return Err(refusal::not_live("assign", lease.job));
            };
            if live.job.last_fence.is_some_and(|last| last >= fence) {
                return Err(refusal::fence_not_later(lease.job, fence));
            }
            if let Some(held) = self.leases.get(&lease.job) {
                return Err(refusal::leased("assign", lease.job, held.fence));
            }
            self.leases.put(lease.job, OpenLease { assignment: assignment.first, fence });
        }
        if void < assignment.leases.len() {
            self.assignments.put(assignment.first, assignment.clone());
        }
        Ok(Applied::Done)
    }

    fn end_attempt(&mut self, end: &AttemptEnd) -> Result<Applied, StoreError> {
        if !self.live.contains_key(&end.job) {
            if end.transactional {
                return Ok(self.ended_elsewhere(end.job));
            }
            return Err(refusal::not_live("end an attempt of", end.job));
        }
        match self.leases.get(&end.job) {
            Some(open) if open.fence == end.fence && open.assignment == end.assignment => {}
            Some(_) | None => return Err(refusal::not_the_lease(end.job, end.fence)),
        }
        self.end_lease(end.job, end.assignment);
        if let Some(record) = &end.record {
            self.attempts.put((end.job, record.number), record.clone());
        }
        self.live.change(&end.job, |live| live.job.last_fence = Some(end.fence));
        match &end.after {
            After::Again { due_at, retrying, standing } => self.live.change(&end.job, |live| {
                live.job.due_at = *due_at;
                live.job.retrying = *retrying;
                live.job.standing = *standing;
            }),
            After::Final { standing, end: how } => self.make_final(end.job, Some(*standing), how)?,
        }
        Ok(Applied::Done)
    }

    /// The lease of a job is over, and with the last one its assignment.
    pub(super) fn end_lease(&mut self, job: JobId, of: Fence) {
        self.leases.take(&job);
        let over = self.assignments.get(&of).is_some_and(|assignment| {
            assignment.leases.iter().all(|l| self.leases.get(&l.job).is_none_or(|open| open.assignment != of))
        });
        if over {
            self.assignments.take(&of);
        }
    }

    fn finish(&mut self, finish: &Finish) -> Result<Applied, StoreError> {
        if !self.live.contains_key(&finish.job) {
            return Err(refusal::not_live("finish", finish.job));
        }
        if let Some(held) = self.leases.get(&finish.job) {
            return Err(refusal::leased("finish", finish.job, held.fence));
        }
        self.make_final(finish.job, None, &finish.end)?;
        Ok(Applied::Done)
    }

    pub(super) fn make_final(
        &mut self,
        id: JobId,
        standing: Option<Standing>,
        end: &End,
    ) -> Result<(), StoreError> {
        if !end.state.is_final() {
            return Err(refusal::not_final(id, end.state));
        }
        let mut was = self.live.take(&id).ok_or_else(|| refusal::not_live("end", id))?;
        if let Some(standing) = standing {
            was.job.standing = standing;
        }
        self.release_unique(&was.job, end);
        if end.keep {
            self.finals.put(id, Final { was, end: end.clone() });
        } else {
            self.forget_traces(id);
        }
        Ok(())
    }

    fn replay(&mut self, replay: Replay) -> Replayed {
        let Some(found) = self.finals.get(&replay.job) else {
            let live = self.live.contains_key(&replay.job);
            return if live { Replayed::NotFinal } else { Replayed::NotFound };
        };
        let (mut live, was) = (found.was.clone(), found.end.state);
        let job = &mut live.job;
        if let Some(holder) = self.unique_holder(&job.kind, &job.options, replay.at)
            && holder != replay.job
        {
            return Replayed::UniqueHeld(holder);
        }
        self.hold_unique(&job.kind, &job.options, replay.job, None);
        job.seq = replay.seq;
        job.due_at = replay.at;
        job.retrying = false;
        job.cancel_wanted = false;
        job.standing = Standing { attempt: job.standing.attempt, burnt: 0, lost: 0 };
        let answer = Box::new(job.clone());
        self.last_seq = self.last_seq.max(replay.seq);
        self.finals.take(&replay.job);
        self.live.put(replay.job, live);
        Replayed::Live(answer, was)
    }

    fn open_session(&mut self, record: &SessionRecord) -> Applied {
        if matches!(self.sessions.get(&record.id), Some(None)) {
            return Applied::SessionEverClosed;
        }
        self.sessions.put(record.id, Some(record.clone()));
        Applied::Done
    }

    fn close_session(&mut self, id: SessionId) -> Applied {
        let claim = matches!(self.sessions.get(&id), Some(Some(record)) if record.worker.claim);
        if claim {
            self.sessions.take(&id);
        } else {
            self.sessions.put(id, None);
        }
        Applied::Done
    }

    fn append(&mut self, lines: &LogLines) -> Applied {
        if self.live.contains_key(&lines.job) {
            let key = (lines.job, lines.attempt);
            let mut text = self.logs.get(&key).cloned().unwrap_or_default();
            append_log(&mut text, &lines.text);
            self.logs.put(key, text);
        }
        Applied::Done
    }
}
