//! Leases given and ended, and jobs that become final.

use ganger_core::change::{After, Applied, Assignment, AttemptEnd, End, Finish};
use ganger_core::job::State;
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId};

use super::{Again, Course, Ended, Segment};
use crate::postgres::codec;
use crate::postgres::error::Failure;
use crate::refusal;

/// What the last attempt leaves behind.
pub(super) struct Last {
    pub(super) standing: Standing,
    /// Unless its record carries it.
    pub(super) fence: Option<Fence>,
    pub(super) record: Option<Vec<u8>>,
}

/// Whether a job can be given a lease.
enum Leasable {
    /// It is live, and ended this lease last.
    Live(Option<Fence>),
    /// The leader says so; the database will check it.
    Believed,
    /// A submission of this batch named it and had nothing new to create: the lease is over from the start.
    Void,
}

impl<'b> Segment<'b> {
    pub(super) fn assign(
        &mut self,
        course: &mut Course<'_>,
        assignment: &'b Assignment,
    ) -> Result<Applied, Failure> {
        if !self.is_open(course, assignment.session) {
            return Err(refusal::session_not_open(assignment.session).into());
        }
        if assignment.leases.is_empty() || course.known.leases.has_assignment(assignment.first) {
            return Err(refusal::assignment_known(assignment.first).into());
        }
        let mut void = 0;
        for (fence, lease) in assignment.fenced() {
            match self.leasable(course, lease.job)? {
                Leasable::Live(Some(last)) if last >= fence => {
                    return Err(refusal::fence_not_later(lease.job, fence).into());
                }
                Leasable::Live(_) => {}
                Leasable::Believed => self.leasable.push((lease.job, fence)),
                Leasable::Void => {
                    void += 1;
                    continue;
                }
            }
            if let Some(held) = course.known.leases.of_job(lease.job) {
                return Err(refusal::leased("assign", lease.job, held.fence).into());
            }
            course.known.leases.open(assignment, lease.job, fence);
            if lease.transactional {
                self.transactional.push((fence, lease, assignment));
            }
            self.touched.entry(lease.job).or_default().assigned = true;
        }
        if void < assignment.leases.len() {
            self.assignments.push(assignment);
        }
        Ok(Applied::Done)
    }

    pub(super) fn end_attempt(
        &mut self,
        course: &mut Course<'_>,
        end: &'b AttemptEnd,
    ) -> Result<Applied, Failure> {
        if self.facts.read && !self.facts.jobs.contains_key(&end.job) {
            if end.transactional {
                return Ok(self.ended_elsewhere(course, end));
            }
            return Err(refusal::not_live("end an attempt of", end.job).into());
        }
        match course.known.leases.of_job(end.job) {
            Some(open) if open.fence == end.fence && open.assignment == end.assignment => {}
            Some(_) | None => return Err(refusal::not_the_lease(end.job, end.fence).into()),
        }
        self.over.extend(course.known.leases.close(end.job));
        let record = end.record.as_ref().map(codec::encode_attempt);
        match &end.after {
            After::Again { due_at, retrying, standing } => {
                if let (Some(attempt), Some(bytes)) = (&end.record, record) {
                    self.attempts.push((end.job, attempt.number, bytes));
                }
                // What a patch said about the due time is overruled; what it said about stopping stays.
                self.touched.entry(end.job).or_default().again = Some(self.agains.len());
                self.agains.push(Again {
                    job: end.job,
                    fence: end.fence,
                    due_at: *due_at,
                    retrying: *retrying,
                    standing: *standing,
                    cancel_wanted: false,
                });
            }
            After::Final { standing, end: how } => {
                let carried = end.record.as_ref().is_some_and(|record| record.fence == end.fence);
                let fence = (!carried).then_some(end.fence);
                let last = Last { standing: *standing, fence, record };
                self.make_final(end.job, how, Some(last))?;
            }
        }
        Ok(Applied::Done)
    }

    /// The job is gone: its handler has ended it. What is left of its lease goes, and it is counted.
    fn ended_elsewhere(&mut self, course: &mut Course<'_>, end: &AttemptEnd) -> Applied {
        if course.known.leases.of_job(end.job).is_some_and(|open| open.fence == end.fence) {
            self.over.extend(course.known.leases.close(end.job));
        }
        self.elsewhere.push(end.job);
        let state = self.facts.finals.get(&end.job).map(|job| job.state);
        Applied::EndedElsewhere { state: state.unwrap_or(State::Succeeded), kept: state.is_some() }
    }

    pub(super) fn finish(&mut self, course: &mut Course<'_>, finish: &'b Finish) -> Result<Applied, Failure> {
        if self.facts.read && !self.facts.jobs.contains_key(&finish.job) {
            return Err(refusal::not_live("finish", finish.job).into());
        }
        if let Some(held) = course.known.leases.of_job(finish.job) {
            return Err(refusal::leased("finish", finish.job, held.fence).into());
        }
        self.make_final(finish.job, &finish.end, None)?;
        Ok(Applied::Done)
    }

    fn make_final(&mut self, job: JobId, end: &'b End, last: Option<Last>) -> Result<(), Failure> {
        if !end.state.is_final() {
            return Err(refusal::not_final(job, end.state).into());
        }
        self.release(job, end);
        self.touched.entry(job).or_default().over = true;
        self.ended.push(Ended { job, end, last });
        Ok(())
    }

    fn leasable(&self, course: &Course<'_>, job: JobId) -> Result<Leasable, Failure> {
        let touch = self.touched.get(&job).copied().unwrap_or_default();
        if touch.created.is_some() {
            return Ok(Leasable::Live(None));
        }
        if let Some(again) = touch.again.and_then(|at| self.agains.get(at)) {
            return Ok(Leasable::Live(Some(again.fence)));
        }
        if !self.facts.read {
            return Ok(Leasable::Believed);
        }
        match self.facts.jobs.get(&job) {
            Some(fact) => Ok(Leasable::Live(fact.last_fence)),
            None if course.not_created.contains(&job) && !self.facts.finals.contains_key(&job) => {
                Ok(Leasable::Void)
            }
            None => Err(refusal::not_live("assign", job).into()),
        }
    }
}
