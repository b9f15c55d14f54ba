//! New jobs, jobs that come back, and the ledgers of idempotency and unique keys.

use ganger_core::change::{Applied, End, Intake, LogLines, NewJob, Replay, Replayed, Submission, Submitted};
use ganger_core::dependency;
use ganger_core::rules::Standing;
use ganger_core::{JobId, Wall};

use super::facts::{Answer, Holder};
use super::{Course, Created, Revived, Segment};
use crate::log::append_log;
use crate::postgres::error::Failure;
use crate::refusal;

impl<'b> Segment<'b> {
    pub(super) fn submit(
        &mut self,
        course: &mut Course<'_>,
        submission: &'b Submission,
    ) -> Result<Applied, Failure> {
        let now = submission.jobs.first().map_or(Wall(0), |job| job.created_at);
        if let Some(key) = &submission.idempotency
            && let Some(answer) = self.facts.answers.get(&(key.scope.clone(), key.key.clone()))
            && answer.until > now
        {
            course.not_created.extend(submission.jobs.iter().map(|job| job.id));
            return Ok(Applied::Submitted(if answer.fingerprint == key.fingerprint {
                Submitted::Replayed(answer.intake.clone())
            } else {
                Submitted::KeyReused
            }));
        }
        if let Some((parent, place)) = self.missing_parent(&submission.jobs) {
            course.not_created.extend(submission.jobs.iter().map(|job| job.id));
            return Ok(Applied::Submitted(Submitted::NoParent(parent, place)));
        }
        let mut intake = Vec::with_capacity(submission.jobs.len());
        for job in &submission.jobs {
            intake.push(self.take_in(course, job)?);
        }
        if let Some(key) = &submission.idempotency {
            let place = (key.scope.clone(), key.key.clone());
            let answer =
                Answer { fingerprint: key.fingerprint.into(), until: key.until, intake: intake.clone() };
            self.facts.answers.insert(place.clone(), answer);
            self.answers.entry(place).or_insert(now);
        }
        let ended = self.link(submission, &intake);
        Ok(dependency::answer(Submitted::Accepted(intake), ended))
    }

    /// Whether the submission comes from elsewhere, or its row of the inbox was there until now. If it cannot be run,
    /// its job is dead from the start.
    pub(super) fn leave_inbox(&mut self, course: &mut Course<'_>, submission: &'b Submission) -> bool {
        let Some(inbox) = &submission.inbox else { return true };
        if !course.inbox.remove(&inbox.row) {
            course.not_created.extend(submission.jobs.iter().map(|job| job.id));
            return false;
        }
        if let Some(reason) = &inbox.refused {
            let dead = submission.jobs.iter().map(|job| (job.id, job.created_at, reason.as_str()));
            self.stillborn.extend(dead);
        }
        true
    }

    pub(super) fn take_in(&mut self, course: &mut Course<'_>, new: &'b NewJob) -> Result<Intake, Failure> {
        let unique_key = new.spec.options.unique_key.as_deref();
        if let Some(key) = unique_key
            && let Some(holder) = self.holder(new.spec.kind.as_str(), key, new.created_at)
        {
            course.not_created.insert(new.id);
            return Ok(Intake::Duplicate(holder));
        }
        // Whatever else touched a job of this id in the segment has made the submission wait.
        let taken = self.touched.contains_key(&new.id)
            || self.facts.jobs.contains_key(&new.id)
            || self.facts.finals.contains_key(&new.id);
        if taken {
            return Err(refusal::id_taken(new.id).into());
        }
        if !self.facts.read && course.known.largest.is_some_and(|largest| new.id <= largest) {
            self.suspects.push(new.id);
        }
        if let Some(key) = unique_key {
            self.hold(new.spec.kind.as_str(), key, new.id);
        }
        course.last_seq = course.last_seq.max(new.seq);
        course.largest = course.largest.max(Some(new.id));
        self.touched.entry(new.id).or_default().created = Some(self.created.len());
        self.created.push(Created { new, due_at: new.due_at, cancel_wanted: false });
        Ok(Intake::Created(new.id))
    }

    pub(super) fn replay(&mut self, course: &mut Course<'_>, replay: Replay) -> Replayed {
        let Some(found) = self.facts.finals.get(&replay.job) else {
            let live = self.facts.jobs.contains_key(&replay.job);
            return if live { Replayed::NotFinal } else { Replayed::NotFound };
        };
        let (mut job, was, last_attempt) = (found.job.clone(), found.state, found.last_attempt.clone());
        if let Some(key) = job.options.unique_key.clone() {
            match self.holder(job.kind.as_str(), &key, replay.at) {
                Some(holder) if holder != replay.job => return Replayed::UniqueHeld(holder),
                Some(_) | None => self.hold(job.kind.as_str(), &key, replay.job),
            }
        }
        job.seq = replay.seq;
        job.due_at = replay.at;
        job.standing = Standing { attempt: job.standing.attempt, burnt: 0, lost: 0 };
        course.last_seq = course.last_seq.max(replay.seq);
        if let Some((number, bytes)) = last_attempt {
            self.attempts.push((replay.job, number, bytes));
        }
        self.touched.entry(replay.job).or_default().revived = true;
        self.revived.push(Revived { replay, last_fence: job.last_fence });
        Replayed::Live(Box::new(job), was)
    }

    /// Appends to the log of a live job's attempt.
    pub(super) fn append(&mut self, lines: &LogLines) -> Applied {
        let touch = self.touched.get(&lines.job).copied().unwrap_or_default();
        let live = touch.created.is_some() || touch.revived || self.facts.jobs.contains_key(&lines.job);
        if live && !touch.over {
            let place = (lines.job, lines.attempt);
            append_log(self.facts.logs.entry(place).or_default(), &lines.text);
            self.logs.insert(place);
        }
        Applied::Done
    }

    /// The job that holds a unique key at that moment.
    fn holder(&self, kind: &str, key: &str, now: Wall) -> Option<JobId> {
        let holder = self.facts.holders.get(&(kind.to_owned(), key.to_owned()))?;
        holder.until.is_none_or(|until| until > now).then_some(holder.job)
    }

    /// Gives a unique key to a live job.
    fn hold(&mut self, kind: &str, key: &str, job: JobId) {
        let place = (kind.to_owned(), key.to_owned());
        self.facts.holders.insert(place.clone(), Holder { job, until: None });
        self.holders.insert(place);
    }

    /// The job of these facts has ended: its key is held a while longer, or is free. The
    /// statement that ends the job writes it; here it is for the rest of the segment.
    pub(super) fn release(&mut self, job: JobId, end: &End) {
        let Some(fact) = self.facts.jobs.get(&job) else { return };
        let Some(key) = &fact.unique_key else { return };
        let place = (fact.kind.clone(), key.clone());
        match fact.unique_for.filter(|_| end.holds_key()) {
            Some(micros) => {
                let until = Some(Wall(end.at.0.saturating_add(micros)));
                self.facts.holders.insert(place, Holder { job, until });
            }
            None => drop(self.facts.holders.remove(&place)),
        }
    }
}
