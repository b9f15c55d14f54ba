//! What people ask of schedules.

use std::sync::Arc;

use crate::change::{Applied, Change};
use crate::coordinator::Coordinator;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::{Output, Refusal, Reply, ScheduleAsk, ScheduleRefusal, ScheduleReply, Ticket};
use crate::coordinator::schedules::{ScheduleEffect, Sort, port};
use crate::event::Event;
use crate::ids::ScheduleId;
use crate::limits;
use crate::name::ScheduleName;
use crate::schedule::catch_up::pass_over;
use crate::schedule::ledger::{Cause, Fate, Occurrence, ScheduleChange, Why};
use crate::schedule::timing::Timing;
use crate::schedule::{Schedule, ScheduleRecord, Standing};
use crate::time::{Now, Wall};

impl Coordinator {
    pub(crate) fn schedule_ask(
        &mut self,
        now: Now,
        ticket: Ticket,
        ask: ScheduleAsk,
        out: &mut Vec<Output>,
    ) -> Result<(), Refusal> {
        match ask {
            ScheduleAsk::Put { schedule, id, only_new } => {
                self.put_schedule(now, ticket, *schedule, id, only_new, out)?;
            }
            ScheduleAsk::Delete(name) => {
                let slot = self.idle_schedule(&name)?;
                let entry = self.schedules.entries.get_mut(slot);
                entry.changing = true;
                let change = ScheduleChange::Delete(entry.record.id);
                self.schedules.disarm(slot);
                self.push_schedule(change, ScheduleEffect { ticket: Some(ticket), name, sort: Sort::Change });
            }
            ScheduleAsk::Pause(name) => self.set_paused(now, ticket, &name, true, out)?,
            ScheduleAsk::Resume(name) => self.set_paused(now, ticket, &name, false, out)?,
            ScheduleAsk::Run(name) => self.run_schedule(now, ticket, &name)?,
            ScheduleAsk::Backfill { name, from, to } => self.backfill(now, ticket, &name, from, to, out)?,
        }
        Ok(())
    }

    /// The slot of a schedule of which no change is being written.
    fn idle_schedule(&self, name: &ScheduleName) -> Result<u32, ScheduleRefusal> {
        let slot = self.schedules.slot(name).ok_or_else(|| ScheduleRefusal::NoSuch(name.clone()))?;
        if self.schedules.entries.get(slot).changing {
            return Err(ScheduleRefusal::Busy(name.clone()));
        }
        Ok(slot)
    }

    fn put_schedule(
        &mut self,
        now: Now,
        ticket: Ticket,
        schedule: Schedule,
        id: ScheduleId,
        only_new: bool,
        out: &mut Vec<Output>,
    ) -> Result<(), ScheduleRefusal> {
        let name = schedule.name.clone();
        if self.schedules.creating.contains(&name) {
            return Err(ScheduleRefusal::Busy(name));
        }
        let Some(slot) = self.schedules.slot(&name) else {
            schedule.check(now.wall)?;
            if self.schedules.by_name.len() + self.schedules.creating.len() >= limits::SCHEDULES {
                return Err(ScheduleRefusal::TooMany);
            }
            let standing = Standing::new(&schedule, now.wall);
            let record = ScheduleRecord { id, created_at: now.wall, updated_at: now.wall, schedule };
            self.schedules.creating.insert(name.clone());
            let effect = ScheduleEffect { ticket: Some(ticket), name, sort: Sort::Create };
            self.push_schedule(ScheduleChange::Put(record, standing), effect);
            return Ok(());
        };
        if only_new {
            return Err(ScheduleRefusal::Exists(name));
        }
        if self.schedules.entries.get(slot).record.schedule == schedule {
            self.reply_set(now, ticket, slot, false, false, out);
            return Ok(());
        }
        self.idle_schedule(&name)?;
        self.change_schedule(now, ticket, slot, schedule)
    }

    fn set_paused(
        &mut self,
        now: Now,
        ticket: Ticket,
        name: &ScheduleName,
        paused: bool,
        out: &mut Vec<Output>,
    ) -> Result<(), ScheduleRefusal> {
        let slot = self.idle_schedule(name)?;
        let schedule = &self.schedules.entries.get(slot).record.schedule;
        if schedule.paused == paused {
            self.reply_set(now, ticket, slot, false, false, out);
            return Ok(());
        }
        let schedule = Schedule { paused, ..schedule.clone() };
        self.change_schedule(now, ticket, slot, schedule)
    }

    /// A schedule becomes another. What was due under the old rule and is not decided yet is told as skipped.
    fn change_schedule(
        &mut self,
        now: Now,
        ticket: Ticket,
        slot: u32,
        schedule: Schedule,
    ) -> Result<(), ScheduleRefusal> {
        let entry = self.schedules.entries.get(slot);
        let (old, mut standing) = (&entry.record.schedule, entry.standing);
        let name = old.name.clone();
        let same_rule = old.when == schedule.when
            && old.time_zone == schedule.time_zone
            && old.starts_at == schedule.starts_at
            && old.ends_at == schedule.ends_at;
        let mut passed = Vec::new();
        if !same_rule {
            schedule.check(now.wall)?;
            let why = if old.paused { Why::Paused } else { Why::Edited };
            passed = pass_over(&entry.timing, standing.settled, now.wall, why)
                .ok_or_else(|| ScheduleRefusal::Busy(name.clone()))?;
            standing.settled = standing.settled.max(now.wall);
            standing.gap = None;
            if old.when != schedule.when || old.starts_at != schedule.starts_at {
                standing.anchor = Standing::new(&schedule, now.wall).anchor;
            }
        } else {
            schedule.check_fields(now.wall)?;
        }
        match (old.paused, schedule.paused) {
            (false, true) => standing.paused_at = Some(now.wall),
            (true, false) => {
                let since = standing.paused_at.take().unwrap_or(now.wall);
                let from = standing.gap.map_or(since, |(from, _)| from.min(since));
                standing.gap = same_rule.then_some((from, now.wall));
            }
            (false, false) | (true, true) => {}
        }
        let created_at = entry.record.created_at;
        let record = ScheduleRecord { id: entry.record.id, created_at, updated_at: now.wall, schedule };
        if !passed.is_empty() {
            let (decided_at, cause) = (now.wall, Cause::Schedule);
            let rows = passed.into_iter().map(|(due_at, skip)| {
                let fate = Fate::Skipped(skip);
                Occurrence { due_at, decided_at, cause, fate }
            });
            let (rows, until_now) =
                (rows.collect(), Standing { settled: standing.settled, ..entry.standing });
            self.push_firing(slot, until_now, rows, Vec::new(), None);
        }
        let entry = self.schedules.entries.get_mut(slot);
        (standing.forgotten, standing.firings) = (entry.standing.forgotten, entry.standing.firings);
        entry.changing = true;
        self.schedules.disarm(slot);
        let effect = ScheduleEffect { ticket: Some(ticket), name, sort: Sort::Change };
        self.push_schedule(ScheduleChange::Put(record, standing), effect);
        Ok(())
    }

    fn run_schedule(&mut self, now: Now, ticket: Ticket, name: &ScheduleName) -> Result<(), ScheduleRefusal> {
        let slot = self.idle_schedule(name)?;
        self.takes_jobs(slot)?;
        let entry = self.schedules.entries.get_mut(slot);
        let mut at = now.wall.0.max(entry.run_at.0.saturating_add(1));
        // Whole seconds are for the schedule itself.
        at += i64::from(at % 1_000_000 == 0);
        entry.run_at = Wall(at);
        let (standing, due_at) = (entry.standing, Wall(at));
        let job = self.job_of(now, slot, due_at, Cause::Manual);
        let fate = Fate::Fired(job.id);
        let row = Occurrence { due_at, decided_at: now.wall, cause: Cause::Manual, fate };
        self.push_firing(slot, standing, vec![row], vec![job], Some(ticket));
        Ok(())
    }

    fn backfill(
        &mut self,
        now: Now,
        ticket: Ticket,
        name: &ScheduleName,
        from: Wall,
        to: Wall,
        out: &mut Vec<Output>,
    ) -> Result<(), ScheduleRefusal> {
        let slot = self.idle_schedule(name)?;
        self.takes_jobs(slot)?;
        let entry = self.schedules.entries.get(slot);
        let standing = entry.standing;
        let instants = port::backfill(&entry.timing, &standing, from, to, now.wall)?;
        if instants.is_empty() {
            let fired = Reply::Schedule(ScheduleReply::Fired(Vec::new()));
            out.push(Output::Reply(ticket, fired));
            return Ok(());
        }
        let (mut rows, mut jobs) = (Vec::new(), Vec::new());
        for due_at in instants {
            let job = self.job_of(now, slot, due_at, Cause::Backfill);
            let (decided_at, fate) = (now.wall, Fate::Fired(job.id));
            rows.push(Occurrence { due_at, decided_at, cause: Cause::Backfill, fate });
            jobs.push(job);
        }
        self.push_firing(slot, standing, rows, jobs, Some(ticket));
        Ok(())
    }

    fn takes_jobs(&self, slot: u32) -> Result<(), ScheduleRefusal> {
        let queue = &self.schedules.entries.get(slot).record.schedule.job.queue;
        match self.queue_drains(queue) {
            true => Err(ScheduleRefusal::QueueDraining(queue.clone())),
            false => Ok(()),
        }
    }

    pub(super) fn push_schedule(&mut self, change: ScheduleChange, effect: ScheduleEffect) {
        self.commits.push(Change::Schedule(Box::new(change)), Effect::Schedule(effect));
    }

    fn reply_set(
        &self,
        now: Now,
        ticket: Ticket,
        slot: u32,
        created: bool,
        changed: bool,
        out: &mut Vec<Output>,
    ) {
        let view = Box::new(self.schedules.view(slot, now.wall));
        let reply = Reply::Schedule(ScheduleReply::Set { view, created, changed });
        out.push(Output::Reply(ticket, reply));
    }

    /// A change is durable.
    pub(crate) fn schedule_changed(
        &mut self,
        now: Now,
        effect: ScheduleEffect,
        change: &ScheduleChange,
        applied: Applied,
        out: &mut Vec<Output>,
    ) {
        match change {
            ScheduleChange::Put(record, standing) => self.schedule_put(now, effect, record, *standing, out),
            ScheduleChange::Delete(_) => {
                if let Some(slot) = self.schedules.slot(&effect.name) {
                    self.schedules.remove(slot);
                }
                let (schedule, at) = (effect.name, now.wall);
                out.push(Output::Event(Event::Schedule { schedule, paused: false, deleted: true, at }));
                let deleted = Reply::Schedule(ScheduleReply::Deleted);
                out.extend(effect.ticket.map(|ticket| Output::Reply(ticket, deleted)));
            }
            ScheduleChange::Fire(firing) => self.fired(now, effect, firing, applied, out),
        }
    }

    fn schedule_put(
        &mut self,
        now: Now,
        effect: ScheduleEffect,
        record: &ScheduleRecord,
        standing: Standing,
        out: &mut Vec<Output>,
    ) {
        // It was checked before it was written.
        let Ok(timing) = Timing::new(&record.schedule, standing.anchor) else { return };
        let (created, paused) = (effect.sort == Sort::Create, record.schedule.paused);
        let record = Arc::new(record.clone());
        let slot = match self.schedules.slot(&effect.name) {
            Some(slot) => {
                let entry = self.schedules.entries.get_mut(slot);
                (entry.record, entry.timing, entry.standing) = (record, timing, standing);
                entry.changing = false;
                self.schedules.arm(slot);
                self.schedules.freed.push(slot);
                slot
            }
            None => {
                self.schedules.creating.remove(&effect.name);
                self.schedules.insert(record, standing, timing)
            }
        };
        let (schedule, at) = (effect.name, now.wall);
        out.push(Output::Event(Event::Schedule { schedule, paused, deleted: false, at }));
        if let Some(ticket) = effect.ticket {
            self.reply_set(now, ticket, slot, created, true, out);
        }
    }

    /// The store refused a change that somebody asked for: it never was.
    pub(crate) fn schedule_unchanged(&mut self, effect: &ScheduleEffect) {
        if effect.sort == Sort::Create {
            self.schedules.creating.remove(&effect.name);
        }
        let Some(slot) = self.schedules.slot(&effect.name) else { return };
        let entry = self.schedules.entries.get_mut(slot);
        match effect.sort {
            Sort::Create => {}
            Sort::Change => entry.changing = false,
            Sort::Fire => self.schedules.release(slot),
        }
        self.schedules.arm(slot);
    }
}
