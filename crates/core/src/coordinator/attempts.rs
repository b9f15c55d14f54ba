//! The end of attempts: reports, timeouts, cancels, losses.
//!
//! A report counts only under the fence of the job's present lease. What ends an attempt is decided
//! once, by [`crate::rules::after_attempt`]; the job moves when that is committed.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::{After, AttemptEnd, AttemptRecord, Change, End, Finish};
use crate::coordinator::effect::Effect;
use crate::coordinator::port::Output;
use crate::coordinator::table::Phase;
use crate::coordinator::{Coordinator, LeaseEntry, Timer};
use crate::event::Event;
use crate::fingerprint::FailureSeen;
use crate::ids::SessionId;
use crate::job::State;
use crate::lease::Fence;
use crate::message::{AttemptReport, CancelWhy, ToWorker};
use crate::outcome::{Outcome, Report};
use crate::reason::Reason;
use crate::rules::{self, Death, Ending, Next, Standing};
use crate::sabotage::{self, Bug};
use crate::session::HELD_AT_MOST;
use crate::time::{Now, Wall, micros};

/// Weight of the newest run in a class's mean run time.
const NEWEST_WEIGHS: f64 = 0.1;

/// A message that a worker acts on was not under way for longer, whatever its TTL.
const LONGEST_UNDER_WAY: Duration = Duration::from_secs(15);

/// An attempt whose end is being committed.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) job: u32,
    pub(crate) session: SessionId,
    pub(crate) fence: Fence,
    /// Number of the attempt, whether or not it counts.
    pub(crate) attempt: u32,
    pub(crate) outcome: Option<(Outcome, u32)>,
    pub(crate) reason: Reason,
    pub(crate) worker: std::sync::Arc<str>,
    pub(crate) ran: Duration,
    pub(crate) waited: Duration,
    pub(crate) after: Moved,
}

/// Where a job goes once the end of its attempt is durable.
#[derive(Clone, Debug)]
pub(crate) enum Moved {
    Again { due_at: Wall, retrying: bool, standing: Standing },
    Final { state: State, kept: bool },
}

impl Coordinator {
    pub(crate) fn results(
        &mut self,
        now: Now,
        slot: u32,
        reports: Vec<AttemptReport>,
        out: &mut Vec<Output>,
    ) {
        let (mut dropped, mut freed) = (Vec::new(), 0);
        for mut report in reports {
            let current = self.jobs.slot(report.job).and_then(|job| match self.jobs.get(job).phase {
                Phase::Leased(lease) => Some(lease),
                Phase::Blocked | Phase::Waiting(_) | Phase::Ready(_) | Phase::Ending | Phase::Leaving => None,
            });
            let by_id = sabotage::active(Bug::CompletionByJobId);
            // The fence proves the lease, and a lease belongs to one session: nobody reports for another.
            let mine = current.filter(|lease| {
                let lease = self.leases.get(*lease);
                by_id || (lease.fence == report.fence && lease.session == slot)
            });
            if let Some(lease) = mine {
                self.observe_run(lease, &report);
                let result = take_result(&mut report.report);
                let holder = self.leases.get(lease).session;
                let threads =
                    self.decide_end(now, lease, &Ending::Reported(&report.report), report.ran, result);
                // Only a seeded bug ends the lease of another.
                if holder == slot {
                    freed += threads;
                } else {
                    self.use_threads(holder, -threads);
                }
                continue;
            }
            let ending = self.sessions.get(slot).holds.is_ending(report.fence);
            if let Some((_, threads)) = self.sessions.get_mut(slot).stuck.remove(&report.fence) {
                freed += i32::from(threads);
                // Acknowledged with the end that is being committed: the next leader would send it again.
                if !ending {
                    dropped.push(report.fence);
                }
            } else if !ending {
                if !self.recorded.contains(report.fence) {
                    let session = self.sessions.get(slot).id;
                    out.push(Output::Event(Event::LeaseLost {
                        job: report.job,
                        fence: report.fence,
                        session,
                    }));
                }
                dropped.push(report.fence);
            }
        }
        // All at once: nothing is dispatched in between, and the fleet would sort the worker in anew for each.
        if freed > 0 {
            self.use_threads(slot, -freed);
        }
        if !dropped.is_empty() {
            self.send(slot, ToWorker::Ack(dropped), out);
        }
    }

    /// Decides the end of a lease that nobody reported.
    pub(crate) fn end_lease(&mut self, now: Now, slot: u32, ending: &Ending<'_>) {
        let holder = self.leases.get(slot).session;
        let threads = self.decide_end(now, slot, ending, Duration::ZERO, None);
        if threads > 0 {
            self.use_threads(holder, -threads);
        }
    }

    /// Decides the end of a lease, and tells how many threads its holder has free by that: none if its worker has not said so
    /// and may still run it. What a handler returned comes beside the report, which is only looked at.
    fn decide_end(
        &mut self,
        now: Now,
        slot: u32,
        ending: &Ending<'_>,
        ran: Duration,
        result: Option<String>,
    ) -> i32 {
        let random = self.next_random();
        let lease = self.leases.remove(slot);
        if let Some(timer) = lease.timer {
            self.timers.cancel(timer);
        }
        let entry = self.jobs.get(lease.job);
        let profile = self.jobs.profile_of(entry);
        let rule = if lease.mark.stands { rules::after_marked_attempt } else { rules::after_attempt };
        let (standing, next) = rule(entry.standing, &profile.allowance, ending, entry.cancel_wanted, random);
        let record = self.record(now, &lease, ending, ran);
        let waited = now.wall.since(entry.due_at).saturating_sub(ran);
        let next = self.close_its_key(now, lease.job, ending, next);
        let entry = self.jobs.get(lease.job);
        let (after, moved) = self.after(now, &lease, standing, next, result);
        let session = self.sessions.get(lease.session);
        let ended = Ended {
            job: lease.job,
            session: session.id,
            fence: lease.fence,
            attempt: lease.attempt,
            outcome: record.as_ref().map(|r| (r.outcome, r.number)),
            reason: Reason::of(ending),
            worker: session.name.clone(),
            ran,
            waited,
            after: moved,
        };
        let change = AttemptEnd {
            job: entry.id,
            fence: lease.fence,
            assignment: lease.assignment,
            transactional: lease.transactional,
            record,
            after,
        };
        self.lease_over(lease.job);
        self.count_failure(lease.job, change.record.as_ref());
        self.jobs.get_mut(lease.job).phase = Phase::Ending;
        self.sessions.get_mut(lease.session).holds.ends(lease.fence);
        // A worker that never heard of the lease runs nothing under it.
        let stuck = matches!(ending, Ending::TimedOut | Ending::CancelledUnderGrace) && lease.committed;
        if stuck {
            let session = self.sessions.get_mut(lease.session);
            session.stuck.insert(lease.fence, (change.job, lease.threads));
        }
        let freed = if stuck { 0 } else { i32::from(lease.threads) };
        if sabotage::active(Bug::ExpiryBeforeCommit) && *ending == Ending::Lost {
            self.attempt_ended(now, ended, &mut BTreeMap::new(), &mut Vec::new());
            self.commits.push(Change::End(change), Effect::Nothing);
            return freed;
        }
        self.end_with_mark(change, ended, &lease);
        freed
    }

    /// A handler asked for its key to be closed: that holds whatever becomes of its job, which waits in its place, or
    /// alone if it has no key.
    fn close_its_key(&mut self, now: Now, job: u32, ending: &Ending<'_>, next: Next) -> Next {
        let Ending::Reported(Report::Throttled(long)) = ending else { return next };
        let closed = self.close_key_of(now, job, *long);
        match next {
            Next::Throttled(_) if closed => Next::Requeue,
            Next::Throttled(long) => Next::Later(long),
            next @ (Next::Succeeded
            | Next::Cancelled
            | Next::Dead(_)
            | Next::Retry(_)
            | Next::Requeue
            | Next::Later(_)) => next,
        }
    }

    /// The group of a failure counts it, in the commit that ends its attempt. One that did not fail costs nothing.
    fn count_failure(&mut self, job: u32, record: Option<&AttemptRecord>) {
        let Some(record) = record else { return };
        let entry = self.jobs.get(job);
        let kind = &self.classes.get(entry.class).key.kind;
        let error = record.error.as_deref();
        if let Some(seen) = FailureSeen::of(kind, entry.id, record.outcome, error, record.ended_at) {
            self.commits.push(Change::Failed(Box::new(seen)), Effect::Failed(job));
        }
    }

    /// The job whose end is about to be written never was: neither was its attempt.
    pub(crate) fn take_back_end(&mut self, job: u32) {
        if sabotage::active(Bug::EndOfVanishedKept) {
            return;
        }
        if !sabotage::active(Bug::FailureOfVanishedKept) {
            self.commits.take_back(|effect| matches!(effect, Effect::Failed(of) if *of == job));
        }
        let of_job = |effect: &Effect| matches!(effect, Effect::End(ended) if ended.job == job);
        if let Some(Effect::End(ended)) = self.commits.take_back(of_job)
            && let Some(slot) = self.sessions.slot(ended.session)
        {
            self.sessions.get_mut(slot).holds.remove(ended.fence);
        }
    }

    /// What is kept about the attempt; nothing if its handler never began.
    fn record(
        &self,
        now: Now,
        lease: &LeaseEntry,
        ending: &Ending<'_>,
        ran: Duration,
    ) -> Option<AttemptRecord> {
        let (outcome, error) = match ending {
            Ending::Reported(Report::Released { started: false }) => return None,
            // Neither comes with words of its own, and a person who looks at a dead job wants some.
            Ending::Reported(report @ Report::Released { started: true }) => {
                (report.outcome(), Some("its worker stopped before it ended".to_owned()))
            }
            Ending::Reported(report @ Report::Timeout) => {
                (report.outcome(), Some("ran longer than its timeout".to_owned()))
            }
            Ending::Reported(report) => (report.outcome(), report.error().map(str::to_owned)),
            Ending::Lost => (Outcome::Lost, Some("its worker was lost".to_owned())),
            Ending::TimedOut => (Outcome::Timeout, Some("did not stop within the grace".to_owned())),
            Ending::CancelledUnderGrace => {
                (Outcome::Cancelled, Some("did not stop within the grace".to_owned()))
            }
        };
        let session = self.sessions.get(lease.session);
        // A worker cannot have started before it was given the lease, whatever its clock says.
        let started_at = if ran.is_zero() { lease.leased_at } else { (now.wall - ran).max(lease.leased_at) };
        Some(AttemptRecord {
            number: self.jobs.get(lease.job).standing.attempt + 1,
            outcome,
            error,
            worker: session.worker.name.clone(),
            session: session.id,
            threads: lease.threads,
            leased_at: lease.leased_at,
            started_at,
            ended_at: now.wall,
            fence: lease.fence,
        })
    }

    fn after(
        &self,
        now: Now,
        lease: &LeaseEntry,
        standing: Standing,
        next: Next,
        result: Option<String>,
    ) -> (After, Moved) {
        let entry = self.jobs.get(lease.job);
        let again = |due_at, retrying| {
            (After::Again { due_at, retrying, standing }, Moved::Again { due_at, retrying, standing })
        };
        let over = |state, result, reason: Option<String>| {
            let kept = self.keeps(lease.job, state);
            let end = End { state, at: now.wall, result, reason, keep: kept };
            (After::Final { standing, end }, Moved::Final { state, kept })
        };
        match next {
            Next::Requeue => again(entry.due_at, entry.retrying),
            Next::Retry(delay) => again(now.wall + delay, true),
            Next::Later(delay) | Next::Throttled(delay) => again(now.wall + delay, false),
            Next::Succeeded => over(State::Succeeded, result, None),
            Next::Cancelled => over(State::Cancelled, None, Some("cancelled while it ran".to_owned())),
            Next::Dead(death) => over(State::Dead, None, Some(death.reason().to_owned())),
        }
    }

    /// Whether a final job of this queue stays in the history. Dead ones always do, and those that others wait for.
    fn keeps(&self, job: u32, state: State) -> bool {
        let queue = &self.classes.get(self.jobs.get(job).class).key.queue;
        let retention = self.queues.get(queue).map(|q| q.settings.retention).unwrap_or_default();
        // Whoever waits for it may want to read its result.
        let awaited = self.dependencies.is_parent(self.jobs.get(job).id);
        state == State::Dead || retention.keeps_finished() || awaited
    }

    /// The end is durable: the job moves, and its worker may forget it.
    pub(crate) fn attempt_ended(
        &mut self,
        now: Now,
        ended: Ended,
        acks: &mut BTreeMap<SessionId, Vec<Fence>>,
        out: &mut Vec<Output>,
    ) {
        if let Some(slot) = self.sessions.slot(ended.session) {
            self.sessions.get_mut(slot).holds.remove(ended.fence);
            self.close_if_claim_is_done(now, slot);
            acks.entry(ended.session).or_default().push(ended.fence);
        }
        if !matches!(ended.outcome, Some((Outcome::Lost, _))) {
            self.recorded.insert(ended.fence);
        }
        out.extend(self.attempt_told(now.wall, &ended));
        let job = ended.job;
        if sabotage::active(Bug::EndCountedTwice) {
            self.lease_over(job);
        }
        if sabotage::active(Bug::SettledByAnyAttempt) {
            self.parent_ended(now, self.jobs.get(job).id, State::Succeeded, out);
        }
        match ended.after {
            Moved::Again { due_at, retrying, standing } => {
                let entry = self.jobs.get_mut(job);
                entry.due_at = due_at;
                entry.retrying = retrying;
                entry.standing = standing;
                if entry.cancel_wanted {
                    self.finish(now, job, State::Cancelled, "cancelled while it ran", None);
                } else {
                    self.make_runnable(now, job);
                    out.push(self.job_event(job, self.jobs.get(job).counted, now.wall));
                }
            }
            Moved::Final { state, kept } => {
                let at = now.wall;
                if let Some((_, number)) = ended.outcome {
                    self.jobs.get_mut(job).standing.attempt = number;
                }
                self.leave(now, job, state, kept, at, out);
            }
        }
    }

    /// Decides that a job without a lease ends.
    pub(crate) fn finish(
        &mut self,
        now: Now,
        job: u32,
        state: State,
        reason: &str,
        ticket: Option<crate::coordinator::port::Ticket>,
    ) {
        let keep = self.keeps(job, state);
        let end = End { state, at: now.wall, result: None, reason: Some(reason.to_owned()), keep };
        self.jobs.get_mut(job).phase = Phase::Leaving;
        let id = self.jobs.get(job).id;
        self.commits.push(Change::Finish(Finish { job: id, end }), Effect::Finish { job, ticket });
    }

    pub(crate) fn expire_job(&mut self, now: Now, job: u32) {
        self.withdraw(job);
        self.finish(now, job, State::Dead, Death::Expired.reason(), None);
    }

    pub(crate) fn finished(&mut self, now: Now, job: u32, end: &End, out: &mut Vec<Output>) {
        self.leave(now, job, end.state, end.keep, end.at, out);
    }

    /// The job is final: it leaves memory.
    pub(crate) fn leave(
        &mut self,
        now: Now,
        job: u32,
        state: State,
        kept: bool,
        at: Wall,
        out: &mut Vec<Output>,
    ) {
        out.push(self.job_event(job, state, at));
        let entry = self.drop_job(job);
        let key = &self.classes.get(entry.class).key;
        if kept {
            self.counters.shift(&key.queue, &key.kind, entry.counted, state);
        } else {
            self.counters.sub(&key.queue, &key.kind, entry.counted, 1);
        }
        self.progress.remove(&entry.id);
        self.dependencies.forget(entry.id);
        self.parent_ended(now, entry.id, state, out);
        self.schedules.job_left(entry.id);
    }

    /// A lease ran into its timeout, or its grace is over.
    pub(crate) fn lease_timer(&mut self, now: Now, slot: u32, out: &mut Vec<Output>) {
        let Some(lease) = self.leases.find(slot) else { return };
        if !self.is_resumed(lease.session) {
            // Whoever is not heard cannot be told to stop: the session resumes and is told, or it expires.
            self.leases.get_mut(slot).timer = None;
            return;
        }
        match lease.stopping {
            None => self.stop(now, slot, CancelWhy::Timeout, out),
            Some(CancelWhy::Cancelled) => {
                self.end_lease(now, slot, &Ending::CancelledUnderGrace);
            }
            Some(CancelWhy::Timeout | CancelWhy::Lapsed | CancelWhy::LeaseLost | CancelWhy::Draining) => {
                self.end_lease(now, slot, &Ending::TimedOut);
            }
        }
    }

    /// Tells the worker to stop a handler, and gives it the grace.
    pub(crate) fn stop(&mut self, now: Now, slot: u32, why: CancelWhy, out: &mut Vec<Output>) {
        let grace = self.timers.insert(now.mono + self.options.grace, Timer::Lease(slot));
        let lease = self.leases.get_mut(slot);
        if let Some(timer) = lease.timer.replace(grace) {
            self.timers.cancel(timer);
        }
        let lease = self.leases.get_mut(slot);
        lease.stopping = Some(why);
        let (session, fence, committed) = (lease.session, lease.fence, lease.committed);
        let job = self.jobs.get(lease.job).id;
        if committed && self.is_resumed(session) {
            self.send(session, ToWorker::Cancel { job, fence, why }, out);
        }
    }

    /// Arms the timeout of a lease whose worker hears of it now. The worker stops the handler by its own clock;
    /// the leader is for handlers that do not obey. What is sent now may be read as late as the worker lives
    /// without an answer, and be held for a while: the timeout counts from then.
    pub(crate) fn arm_timeout(&mut self, now: Now, slot: u32) {
        let lease = self.leases.get(slot);
        let Some(timeout) = self.jobs.profile_of(self.jobs.get(lease.job)).timeout else { return };
        let read = self.sessions.get(lease.session).worker.ttl.min(LONGEST_UNDER_WAY);
        let begun = read + HELD_AT_MOST + self.options.slack;
        let timer = self.timers.insert(now.mono + begun + timeout, Timer::Lease(slot));
        if let Some(older) = self.leases.get_mut(slot).timer.replace(timer) {
            self.timers.cancel(older);
        }
    }

    fn observe_run(&mut self, lease: u32, report: &AttemptReport) {
        if matches!(report.report, Report::Released { started: false }) {
            return;
        }
        let class = self.jobs.get(self.leases.get(lease).job).class;
        let mean = &mut self.classes.get_mut(class).mean_run;
        let ran = micros(report.ran) as f64;
        *mean = Some(mean.map_or(ran, |m| m + NEWEST_WEIGHS * (ran - m)));
    }

    /// The slot of a session's lease that it may know of and that has not ended.
    pub(crate) fn lease_of(&self, session: u32, fence: Fence) -> Option<u32> {
        let slot = self.sessions.get(session).holds.lease(fence)?;
        self.leases.find(slot).filter(|lease| lease.fence == fence && lease.committed).map(|_| slot)
    }

    fn close_if_claim_is_done(&mut self, now: Now, slot: u32) {
        let entry = self.sessions.get(slot);
        if entry.worker.claim && entry.holds.is_empty() && self.is_resumed(slot) {
            self.goodbye(now, slot);
        }
    }
}

/// What a handler returned. It may be long, and is moved: nobody needs it in its report any more.
fn take_result(report: &mut Report) -> Option<String> {
    match report {
        Report::Ok(result) => Some(std::mem::take(result)),
        Report::Error(_)
        | Report::Fatal(_)
        | Report::RetryAfter(..)
        | Report::Snooze(_)
        | Report::Throttled(_)
        | Report::Timeout
        | Report::Cancelled
        | Report::Released { .. } => None,
    }
}
