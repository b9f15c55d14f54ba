//! Deciding what is due, and what follows when that is written.

use crate::change::{Applied, Change, NewJob};
use crate::coordinator::Coordinator;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::{Output, Reply, ScheduleReply, Ticket};
use crate::coordinator::schedules::{ScheduleEffect, Sort};
use crate::coordinator::table::Phase;
use crate::event::Event;
use crate::ids::JobId;
use crate::job::{Origin, State};
use crate::limits;
use crate::name::QueueName;
use crate::sabotage::{self, Bug};
use crate::schedule::catch_up::{Due, due};
use crate::schedule::ledger::{Cause, Fate, Firing, Occurrence, ScheduleChange, Skip, Why};
use crate::schedule::{Overlap, Standing};
use crate::time::{Now, Wall, micros};

/// The ledger of a schedule is shortened every so many decisions.
const FORGET_EVERY: u64 = 64;

impl Coordinator {
    /// Decides about every schedule that is due, a bounded number at a time.
    pub(crate) fn fire_schedules(&mut self, now: Now, out: &mut Vec<Output>) {
        self.schedules.wake_at = None;
        let wall = if sabotage::active(Bug::FiredEarly) {
            now.wall + std::time::Duration::from_millis(500)
        } else {
            now.wall
        };
        let able = self.has_authority(now)
            && self.commits.trouble().is_none()
            && self.commits.waiting() < self.options.backlog;
        self.tell_overdue(now, out);
        if !able {
            return;
        }
        self.fire_waiting(now);
        for _ in 0..limits::FIRED_AT_ONCE {
            let Some((at, slot)) = self.schedules.due.first().copied() else { return };
            if at > wall {
                self.schedules.wake_at = Some(now.mono + at.since(now.wall));
                return;
            }
            self.schedules.disarm(slot);
            self.decide(Now { wall, ..now }, slot);
        }
        // The rest comes with the commit of these.
    }

    /// What is due for long and not written is counted, and whoever listens hears of each once.
    fn tell_overdue(&mut self, now: Now, out: &mut Vec<Output>) {
        let late = |(at, _): &&(Wall, u32)| now.wall.since(*at) > limits::ON_TIME;
        let schedules = &self.schedules;
        let due = schedules.due.iter().take_while(late).chain(schedules.held.iter().take_while(late));
        let due: Vec<(Wall, u32)> = due.copied().collect();
        self.schedules.overdue = due.len();
        for (due_at, slot) in due {
            let entry = self.schedules.entries.get_mut(slot);
            if !std::mem::replace(&mut entry.told_overdue, true) {
                let schedule = entry.record.schedule.name.clone();
                out.push(Output::Event(Event::ScheduleOverdue { schedule, due_at, at: now.wall }));
            }
        }
    }

    /// Fires occurrences that waited for a job which has ended.
    fn fire_waiting(&mut self, now: Now) {
        for slot in std::mem::take(&mut self.schedules.freed) {
            let Some(entry) = self.schedules.entries.find(slot) else { continue };
            let mut standing = entry.standing;
            let busy = entry.firing > 0 || entry.changing || entry.record.schedule.paused;
            if busy || !entry.live.is_empty() {
                continue;
            }
            let Some(due_at) = standing.waiting.take() else { continue };
            if due_at > now.wall {
                // The clock went back: it is not due any more, and is looked at again.
                self.schedules.freed.push(slot);
                continue;
            }
            self.schedules.disarm(slot);
            let (mut rows, mut jobs) = (Vec::new(), Vec::new());
            self.fire_one(now, slot, due_at, &mut rows, &mut jobs);
            self.push_firing(slot, standing, rows, jobs, None);
        }
    }

    /// Decides what is due of one schedule.
    fn decide(&mut self, now: Now, slot: u32) {
        let entry = self.schedules.entries.get(slot);
        let mut standing = entry.standing;
        let Some(found) = due(&entry.record.schedule, &entry.timing, &standing, now.wall) else {
            // The clock went back.
            self.schedules.arm(slot);
            return;
        };
        let Due { settled, fire, skipped } = found;
        standing.settled = settled;
        standing.gap = standing.gap.filter(|(_, to)| *to > settled);
        let (decided_at, cause) = (now.wall, Cause::Schedule);
        let skipped = skipped.into_iter().map(|(due_at, skip)| {
            let fate = Fate::Skipped(skip);
            Occurrence { due_at, decided_at, cause, fate }
        });
        let (mut rows, mut jobs): (Vec<_>, Vec<_>) = (skipped.collect(), Vec::new());
        let last = fire.last().copied();
        for due_at in fire {
            match self.in_the_way(slot, &standing, jobs.last(), last != Some(due_at)) {
                None => self.fire_one(now, slot, due_at, &mut rows, &mut jobs),
                Some(fate) => {
                    if fate == Fate::Waiting {
                        standing.waiting = Some(due_at);
                    }
                    rows.push(Occurrence { due_at, decided_at, cause, fate });
                }
            }
        }
        rows.sort_by_key(|row| row.due_at);
        self.push_firing(slot, standing, rows, jobs, None);
    }

    /// What becomes of an occurrence because of another job of its schedule, if anything.
    fn in_the_way(
        &self,
        slot: u32,
        standing: &Standing,
        fired: Option<&NewJob>,
        superseded: bool,
    ) -> Option<Fate> {
        let entry = self.schedules.entries.get(slot);
        let live = entry.live.last().map(|(_, job)| *job).or(fired.map(|job| job.id));
        let skipped = Some(Fate::Skipped(Skip::one(Why::Overlap, live)));
        match entry.record.schedule.overlap {
            Overlap::Allow => None,
            Overlap::Skip => live.and(skipped),
            Overlap::QueueOne if standing.waiting.is_some() => skipped,
            Overlap::QueueOne => live.map(|_| Fate::Waiting),
            Overlap::CancelPrevious => skipped.filter(|_| superseded),
        }
    }

    /// An occurrence fires, if its queue takes it.
    fn fire_one(
        &mut self,
        now: Now,
        slot: u32,
        due_at: Wall,
        rows: &mut Vec<Occurrence>,
        jobs: &mut Vec<NewJob>,
    ) {
        let queue = &self.schedules.entries.get(slot).record.schedule.job.queue;
        let fate = if self.queue_drains(queue) {
            Fate::Skipped(Skip::one(Why::QueueDraining, None))
        } else {
            let job = self.job_of(now, slot, due_at, Cause::Schedule);
            let id = job.id;
            jobs.push(job);
            Fate::Fired(id)
        };
        rows.push(Occurrence { due_at, decided_at: now.wall, cause: Cause::Schedule, fate });
    }

    pub(super) fn queue_drains(&self, queue: &QueueName) -> bool {
        self.queues.get(queue).is_some_and(|queue| queue.settings.draining)
    }

    /// The job of an instant. Only what the schedule itself fires is spread by jitter.
    pub(super) fn job_of(&mut self, now: Now, slot: u32, due_at: Wall, cause: Cause) -> NewJob {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&self.next_random().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next_random().to_be_bytes()[..2]);
        let record = &self.schedules.entries.get(slot).record;
        let mut spec = record.schedule.job.clone();
        let origin = Origin { id: record.id, name: record.schedule.name.clone(), due_at };
        spec.options.schedule = Some(Box::new(origin));
        let jitter = record.schedule.jitter_of(record.id, due_at);
        if cause == Cause::Schedule && !jitter.is_zero() {
            spec.run_at = Some(due_at + jitter);
        }
        let id = JobId::new(now.wall.unix_millis(), bytes);
        let mut job = NewJob { id, seq: 0, created_at: now.wall, due_at: now.wall, spec };
        self.arrive(now, &mut job);
        job
    }

    /// Occurrences are decided, and are written with how the schedule stands then.
    pub(super) fn push_firing(
        &mut self,
        slot: u32,
        mut standing: Standing,
        occurrences: Vec<Occurrence>,
        jobs: Vec<NewJob>,
        ticket: Option<Ticket>,
    ) {
        let entry = self.schedules.entries.get_mut(slot);
        standing.firings += 1;
        let forget = standing.firings.is_multiple_of(FORGET_EVERY).then(|| {
            // So many instants at the present pace, but no longer than the ledger is kept.
            let before = entry.standing.settled;
            let pace = standing.settled.since(before).max(limits::SHORTEST_INTERVAL);
            let kept = pace.saturating_mul(limits::LEDGER_ROWS).min(limits::LEDGER_KEPT);
            let waiting = standing.waiting.map_or(Wall(i64::MAX), |at| Wall(at.0 - 1));
            standing.forgotten.max(waiting.min(standing.settled - kept))
        });
        standing.forgotten = forget.unwrap_or(standing.forgotten);
        let mut written = standing;
        if sabotage::active(Bug::SettledOnlyInMemory) {
            written.settled = entry.standing.settled;
        }
        if sabotage::active(Bug::WaitingOnlyInMemory) {
            written.waiting = None;
        }
        entry.standing = standing;
        let (schedule, name) = (entry.record.id, entry.record.schedule.name.clone());
        // What was missed for long is not overdue any more: it is being seen to.
        let first = occurrences.last().map_or(written.settled, |row| row.due_at);
        self.schedules.hold(slot, first);
        let firing = Firing { schedule, name: name.clone(), standing: written, occurrences, jobs, forget };
        self.push_schedule(ScheduleChange::Fire(firing), ScheduleEffect { ticket, name, sort: Sort::Fire });
    }

    /// Decisions are durable: the jobs are there, and whoever listens is told.
    pub(super) fn fired(
        &mut self,
        now: Now,
        effect: ScheduleEffect,
        firing: &Firing,
        applied: Applied,
        out: &mut Vec<Output>,
    ) {
        let Applied::Fired(fates) = applied else { return };
        let mut told = Vec::new();
        for (row, fate) in firing.occurrences.iter().zip(fates) {
            let Some(fate) = fate else { continue };
            if let Fate::Fired(id) = fate
                && let Some(new) = firing.job(id)
            {
                let slot = self.add_job(now, new);
                out.push(self.job_event(slot, self.jobs.get(slot).counted, now.wall));
            }
            let occurrence = Occurrence { fate, ..row.clone() };
            let late_us = micros(row.decided_at.since(row.due_at));
            out.push(Output::Event(Event::Occurrence {
                schedule: firing.name.clone(),
                due_at: row.due_at,
                fate: occurrence.fate.clone(),
                cause: row.cause,
                late_us: if row.cause == Cause::Schedule { late_us } else { 0 },
                at: now.wall,
            }));
            told.push(occurrence);
        }
        if let Some(slot) = self.schedules.by_id.get(&firing.schedule).copied() {
            self.schedules.release(slot);
            let entry = self.schedules.entries.get_mut(slot);
            entry.told_overdue = false;
            let cancels = entry.record.schedule.overlap == Overlap::CancelPrevious;
            if cancels
                && told.iter().any(|row| matches!(row.fate, Fate::Fired(_)) && row.cause != Cause::Backfill)
            {
                self.cancel_previous(now, slot);
            }
            self.schedules.freed.push(slot);
            self.schedules.arm(slot);
        }
        let fired = Reply::Schedule(ScheduleReply::Fired(told));
        out.extend(effect.ticket.map(|ticket| Output::Reply(ticket, fired)));
    }

    /// Cancels every job of a schedule but the newest.
    pub(super) fn cancel_previous(&mut self, now: Now, slot: u32) {
        let live = &self.schedules.entries.get(slot).live;
        let older: Vec<JobId> = live.iter().rev().skip(1).map(|(_, job)| *job).collect();
        for id in older {
            let Some(job) = self.jobs.slot(id) else { continue };
            match self.jobs.get(job).phase {
                Phase::Blocked | Phase::Waiting(_) | Phase::Ready(_) => {
                    self.withdraw(job);
                    self.finish(now, job, State::Cancelled, "its schedule fired again", None);
                }
                Phase::Leased(_) | Phase::Ending if !self.jobs.get(job).cancel_wanted => {
                    self.commits
                        .push(Change::CancelWanted(id), Effect::CancelWanted { job: id, ticket: None });
                }
                Phase::Leased(_) | Phase::Ending | Phase::Leaving => {}
            }
        }
    }
}
