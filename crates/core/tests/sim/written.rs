//! What each written change must respect.

use std::time::Duration;

use ganger_core::change::{
    After, Applied, Assignment, AttemptEnd, AttemptRecord, Change, End, Intake, Replayed, Submission,
    Submitted,
};
use ganger_core::dependency;
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;
use ganger_core::time::micros;
use ganger_core::{JobId, Wall};

use crate::checker::{Checker, LeaseFate, Record};
use crate::store::short;

impl Checker {
    /// One change was written.
    pub(crate) fn wrote(&mut self, change: &Change, applied: &Applied, at: Wall) {
        match change {
            Change::Submit(submission) => self.submitted(submission, applied),
            Change::Assign(assignment) => self.assigned(assignment),
            Change::End(end) if matches!(applied, Applied::EndedElsewhere { .. }) => {
                self.ended_elsewhere(end, applied);
            }
            Change::End(end) => self.ended(end, at),
            Change::Finish(finish) => {
                let leased = self.jobs.get(&finish.job).is_some_and(|record| record.lease.is_some());
                self.require(!leased, || format!("{} ends although it is leased", short(finish.job)));
                self.check_cancelled_child(finish.job, &finish.end);
                self.became_final(finish.job, &finish.end);
            }
            Change::CancelWanted(job) => {
                if let Some(record) = self.jobs.get_mut(job).filter(|record| record.end.is_none()) {
                    record.cancel_wanted = true;
                    record.cancelled.extend(record.lease.map(|(fence, _)| fence));
                }
            }
            Change::RunNow(job, at) => {
                self.check_release(*job);
                if let Some(record) = self.jobs.get_mut(job).filter(|record| record.end.is_none()) {
                    record.due_at = record.due_at.min(*at);
                }
            }
            Change::Replay(replay) => {
                if let Applied::Replayed(Replayed::Live(live, _)) = applied {
                    self.replayed(replay.job, live.due_at);
                }
            }
            Change::OpenSession(session) => {
                if *applied == Applied::Done {
                    let closed = self.sessions.insert(session.id, true) == Some(false);
                    self.require(!closed, || format!("{} is opened again", session.id));
                }
            }
            Change::CloseSession(session, _) => {
                self.sessions.insert(*session, false);
                let held = self.jobs.values().find(|r| r.lease.is_some_and(|(_, s)| s == *session));
                let held = held.map(|record| short(record.new.id));
                self.require(held.is_none(), || format!("{session} is closed and holds {held:?}"));
            }
            Change::PutQueue(queue, settings) => {
                self.queues_paused.insert(queue.clone(), settings.paused);
            }
            Change::CloseKey(closure) => self.key_closed(closure),
            Change::Mark(mark) => self.mark_written(*mark),
            Change::Schedule(change) => self.schedule_written(change, applied, at),
            Change::Delete(jobs) => self.deleted(jobs),
            Change::Settle(..)
            | Change::PutKind(..)
            | Change::Failed(_)
            | Change::Log(_)
            | Change::PutDocument(_)
            | Change::PurgeDead { .. }
            | Change::Prune { .. } => {}
        }
    }

    fn submitted(&mut self, submission: &Submission, applied: &Applied) {
        self.named.extend(submission.jobs.iter().map(|new| (new.id, false)));
        self.completions.taken_before += u64::from(*applied == Applied::Taken);
        let (Applied::Submitted(Submitted::Accepted(intakes))
        | Applied::Linked(Submitted::Accepted(intakes), _)) = applied
        else {
            return;
        };
        self.linked(submission, intakes);
        for (new, intake) in submission.jobs.iter().zip(intakes) {
            if submission.inbox.is_some() {
                self.left_the_inbox(new.id, *intake, submission.is_refused());
            }
            if *intake == Intake::Created(new.id) {
                self.named.insert(new.id, true);
                self.took_in(new, submission.is_refused());
                if submission.inbox.is_none() {
                    self.check_depth(new);
                }
            }
        }
        if submission.idempotency.is_some() {
            self.keyed.extend(submission.jobs.iter().map(|new| new.id));
        }
    }

    fn assigned(&mut self, assignment: &Assignment) {
        let session = assignment.session;
        let open = self.sessions.get(&session) == Some(&true);
        self.require(open, || format!("a lease is given to {session}, which is not open"));
        let before = self.joint.void;
        for (fence, lease) in assignment.fenced() {
            let void = self.named.get(&lease.job) == Some(&false) && !self.jobs.contains_key(&lease.job);
            let fate = if void { LeaseFate::Void } else { LeaseFate::Open };
            if lease.transactional {
                self.transactional.insert(fence);
            }
            self.marks.given(lease.job, fence);
            let known = self.fates.insert(fence, fate);
            self.require(known.is_none(), || format!("{fence} is given twice"));
            if void {
                self.joint.void += 1;
                continue;
            }
            let Some(record) = self.jobs.get_mut(&lease.job) else {
                self.fail(format!("a lease on {}, which is not there", short(lease.job)));
                continue;
            };
            let free = record.lease.is_none() && record.end.is_none();
            let blocked = dependency::is_parked(record.due_at);
            record.lease = Some((fence, session));
            if self.named.contains_key(&lease.job) {
                let unique = record.new.spec.options.unique_key.is_some();
                let keyed = unique || self.keyed.contains(&lease.job);
                let count = if keyed { &mut self.joint.keyed } else { &mut self.joint.keyless };
                *count += 1;
            }
            self.require(free, || format!("P2: {} gets a second lease", short(lease.job)));
            self.check_limits(lease.job, assignment.at);
            self.check_rates(lease.job, assignment.at);
            self.require(!blocked, || format!("{} gets a lease, but is blocked", short(lease.job)));
        }
        let void = usize::try_from(self.joint.void - before).unwrap_or(0);
        self.joint.mixed += u64::from(void > 0 && void < assignment.leases.len());
    }

    pub(crate) fn took_in(&mut self, new: &ganger_core::change::NewJob, dead: bool) {
        self.check_not_refused(new.id);
        let key = |r: &Record| (r.new.spec.kind.clone(), r.new.spec.options.unique_key.clone());
        let mine = (new.spec.kind.clone(), new.spec.options.unique_key.clone());
        let twin =
            self.jobs.values().find(|r| !dead && mine.1.is_some() && r.end.is_none() && key(r) == mine);
        if let Some(twin) = twin.map(|record| short(record.new.id)) {
            self.fail(format!("P8: {} and {twin} live under one unique key", short(new.id)));
        }
        let record = Record {
            due_at: new.due_at,
            new: new.clone(),
            standing: Standing::default(),
            lease: None,
            end: dead.then(|| End {
                state: State::Dead,
                at: new.created_at,
                result: None,
                reason: Some("it cannot be run".into()),
                keep: true,
            }),
            cancel_wanted: false,
            cancelled: Default::default(),
            started: Default::default(),
            released: Default::default(),
        };
        let there = self.jobs.insert(new.id, record).is_some();
        self.require(!there, || format!("{} is taken in twice", short(new.id)));
    }

    fn ended(&mut self, end: &AttemptEnd, at: Wall) {
        let (job, fence) = (end.job, end.fence);
        let Some(record) = self.jobs.get_mut(&job) else {
            self.fail(format!("an attempt of {} ends, which is not there", short(job)));
            return;
        };
        let held = record.lease.take().map(|(held, _)| held);
        self.require(held == Some(fence), || format!("{} ends under {fence}, held is {held:?}", short(job)));
        let grace = end.record.as_ref().and_then(|r| r.error.as_deref()).is_some_and(|e| e.contains("grace"));
        self.fates.insert(fence, if grace { LeaseFate::OverUnderGrace } else { LeaseFate::Over });
        self.check_record(end, at);
        self.check_throttled(end);
        self.check_marked(end);
        let standing = match &end.after {
            After::Again { standing, .. } | After::Final { standing, .. } => *standing,
        };
        self.check_standing(end, standing);
        match &end.after {
            After::Again { due_at, retrying, .. } => {
                self.check_wait(end.record.as_ref(), job, *due_at, *retrying, standing);
                if let Some(record) = self.jobs.get_mut(&job) {
                    record.due_at = *due_at;
                }
            }
            After::Final { end: how, .. } => {
                // The text that a handler produced is its fence: a zombie's is another.
                let own = how.result.as_ref().is_none_or(|text| *text == fence.to_string());
                self.require(own, || {
                    format!("P3: {} has the result {:?} under {fence}", short(job), how.result)
                });
                let ok = end.record.as_ref().is_some_and(|r| r.outcome == Outcome::Ok);
                self.require(ok == (how.state == State::Succeeded), || {
                    format!("{} is {} after {:?}", short(job), how.state.as_str(), end.record)
                });
                self.became_final(job, how);
            }
        }
    }

    fn check_record(&mut self, end: &AttemptEnd, _at: Wall) {
        let (job, fence) = (end.job, end.fence);
        let began = self.ever_started.contains(&fence);
        let Some(written) = &end.record else {
            self.require(!began, || format!("{} began under {fence} but counts as unstarted", short(job)));
            return;
        };
        self.require(written.fence == fence, || format!("{} is recorded under another fence", short(job)));
        if written.outcome == Outcome::Lost {
            self.lost += 1;
        }
        if written.outcome == Outcome::Released
            && began
            && let Some(record) = self.jobs.get_mut(&job)
        {
            record.released.insert(fence);
        }
    }

    /// Attempts are counted: each burns one, unless it was handed back or snoozed.
    fn check_standing(&mut self, end: &AttemptEnd, after: Standing) {
        let job = end.job;
        let Some(record) = self.jobs.get_mut(&job) else { return };
        let before = std::mem::replace(&mut record.standing, after);
        let options = &record.new.spec.options;
        let (max_attempts, max_lost) = (options.max_attempts, options.max_lost);
        let Some(written) = &end.record else {
            self.require(after.burnt == before.burnt && after.attempt == before.attempt, || {
                format!("P7: {} burns an attempt that never began", short(job))
            });
            return;
        };
        // Handed back after it began, but allowed one attempt only: that one is used up.
        let once = written.outcome == Outcome::Released && max_attempts == 1 && after.burnt > before.burnt;
        let burns = u32::from(once || written.outcome != Outcome::Released);
        self.require(after.burnt == before.burnt + burns, || {
            format!("P7: {} burns {} to {} with {:?}", short(job), before.burnt, after.burnt, written.outcome)
        });
        self.require(written.number == before.attempt + 1 && after.attempt == written.number, || {
            format!("{}: attempt {} follows attempt {}", short(job), written.number, before.attempt)
        });
        self.require(after.burnt <= max_attempts && after.lost <= max_lost, || {
            format!("P7: {} has burnt {after:?} of {max_attempts}", short(job))
        });
        let over = matches!(end.after, After::Final { .. });
        let must = after.burnt == max_attempts || after.lost == max_lost;
        self.require(over || !must, || {
            format!("P7: {} goes on with {after:?} of {max_attempts}", short(job))
        });
        if written.outcome == Outcome::Lost {
            self.require(after.lost == before.lost + 1, || {
                format!("{}: a lost worker is not counted", short(job))
            });
        }
    }

    /// P7: a retry waits what the policy says.
    fn check_wait(
        &mut self,
        written: Option<&AttemptRecord>,
        job: JobId,
        due_at: Wall,
        retrying: bool,
        standing: Standing,
    ) {
        let Some(written) = written else { return };
        let Some(record) = self.jobs.get(&job) else { return };
        let policy = record.new.spec.options.retry.clone();
        let waits = Duration::from_micros(u64::try_from(due_at.0 - written.ended_at.0).unwrap_or(0));
        let (least, most) = match (written.outcome, written.error.as_deref()) {
            (Outcome::Error, Some("after 700 ms")) => {
                (Duration::from_millis(700), Duration::from_millis(700))
            }
            (Outcome::Error | Outcome::Timeout | Outcome::Cancelled, _) => {
                (policy.delay(standing.burnt), policy.longest(standing.burnt))
            }
            (Outcome::Lost, _) => (Duration::ZERO, Duration::ZERO),
            // Handed back: its old place. Snoozed: what the handler said.
            (Outcome::Released, _) if retrying || waits.is_zero() => return,
            (Outcome::Released, _) => {
                let old = record.due_at;
                let snoozed = micros(waits) == 600_000;
                self.require(snoozed || due_at == old, || format!("P7: {} waits {waits:?}", short(job)));
                return;
            }
            (Outcome::Ok, _) => {
                self.fail(format!("{} goes on after it succeeded", short(job)));
                return;
            }
        };
        self.require(waits >= least && waits <= most, || {
            format!("P7: {} waits {waits:?} after {:?}, not {least:?}", short(job), written.outcome)
        });
    }

    /// P3: final once.
    pub(crate) fn became_final(&mut self, job: JobId, end: &End) {
        let Some(record) = self.jobs.get_mut(&job) else {
            self.fail(format!("{} ends, which is not there", short(job)));
            return;
        };
        let before = record.end.replace(end.clone());
        self.require(before.is_none(), || format!("P3: {} ends a second time", short(job)));
        self.parent_ended(job, end.state);
        self.waits_no_more(job);
    }

    fn replayed(&mut self, job: JobId, due_at: Wall) {
        let Some(record) = self.jobs.get_mut(&job) else { return };
        let was = record.end.take();
        record.due_at = due_at;
        record.standing = Standing { attempt: record.standing.attempt, burnt: 0, lost: 0 };
        record.cancel_wanted = false;
        record.started.clear();
        record.released.clear();
        self.marks.replayed(job);
        self.require(was.is_some(), || format!("{} is replayed but was not final", short(job)));
    }
}
