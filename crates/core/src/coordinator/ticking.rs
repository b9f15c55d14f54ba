//! Time passes: due jobs, timeouts, sessions, patience, retention, authority.

use std::time::Duration;

use crate::change::{Applied, Change};
use crate::coordinator::classes::ClassId;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::Output;
use crate::coordinator::table::{Entry, Newcomer, Phase};
use crate::coordinator::{Coordinator, Timer};
use crate::dependency;
use crate::job::State;
use crate::time::{Mono, Now};

/// The pause before the next step when there was more to remove than one step may.
const PRUNE_AGAIN: Duration = Duration::from_millis(200);

impl Coordinator {
    /// When [`Coordinator::settle`] is next needed at the latest.
    #[must_use]
    pub fn next_tick(&self) -> Mono {
        let timer = self.timers.next();
        let authority = self.authority.is_none_or(|until| self.awake_at < until);
        let retry = self.commits.retry_at().filter(|_| authority);
        let latest = self.awake_at + self.options.tick;
        [timer, retry, self.schedules.wake_at()].into_iter().flatten().fold(latest, Mono::min)
    }

    /// Notices that the coordinator itself stood still: then silence of others proves nothing.
    pub(crate) fn wake(&mut self, now: Now) {
        let stalled = now.mono.since(self.awake_at) > self.options.stall;
        self.awake_at = self.awake_at.max(now.mono);
        self.awake_wall = now.wall;
        if stalled {
            self.refresh_sessions(now);
        }
    }

    /// Authority counts from the moment the renewal was sent. Whoever regains it in the same term has
    /// heard nobody meanwhile.
    pub(crate) fn renewed(&mut self, now: Now, sent_at: Mono) {
        let Some(ttl) = self.options.leader_ttl else { return };
        let had = self.has_authority(now);
        self.authority = self.authority.max(Some(sent_at + ttl));
        if !had && self.has_authority(now) {
            self.refresh_sessions(now);
        }
    }

    pub(crate) fn fire(&mut self, now: Now, out: &mut Vec<Output>) {
        let mut fired = Vec::new();
        self.timers.advance(now.mono, &mut fired);
        for (_, timer) in fired {
            match timer {
                Timer::Job(job) => self.job_timer(now, job, out),
                Timer::Lease(lease) => self.lease_timer(now, lease, out),
                Timer::Session(session) => self.session_timer(now, session),
                Timer::Patience(class) => {
                    self.classes.get_mut(class).patience = None;
                    self.reserve(class);
                }
                Timer::Flow(number) => self.flow_timer(now, number),
                Timer::Key(key) => self.key_timer(now, key),
                Timer::Prune => self.prune(now),
                Timer::Reconcile => self.reconcile(now, out),
            }
        }
    }

    fn job_timer(&mut self, now: Now, job: u32, out: &mut Vec<Output>) {
        match self.jobs.get(job).phase {
            Phase::Waiting(_) => {
                // `make_runnable` looks at the wall clock again: a job never starts early.
                self.make_runnable(now, job);
                if let Phase::Ready(_) = self.jobs.get(job).phase {
                    out.push(self.job_event(job, State::Queued, now.wall));
                }
            }
            Phase::Blocked | Phase::Ready(_) => self.expire_job(now, job),
            Phase::Leased(_) | Phase::Ending | Phase::Leaving => {}
        }
    }

    /// Adds a live job to memory and puts it where it belongs.
    pub(crate) fn add_job<'a>(&mut self, now: Now, job: impl Into<Newcomer<'a>>) -> u32 {
        let slot = self.add_job_as(&job.into(), Phase::Leaving, State::Queued);
        self.make_runnable(now, slot);
        slot
    }

    /// Adds a live job to memory in a given phase.
    pub(crate) fn add_job_as(&mut self, job: &Newcomer<'_>, phase: Phase, counted: State) -> u32 {
        let class = self.class_of(job);
        self.counters.add(job.queue, job.kind, counted, 1);
        let slot = self.jobs.insert(job, class, phase, counted);
        self.register_keys(slot, job);
        if let Some(origin) = &job.options.schedule {
            self.schedules.job_came(origin, job.id);
        }
        slot
    }

    /// A job leaves memory.
    pub(crate) fn drop_job(&mut self, slot: u32) -> Entry {
        self.release_keys(slot);
        self.jobs.remove(slot)
    }

    /// The class of a job, which is fitted to the fleet if it is the first of it.
    pub(crate) fn class_of(&mut self, job: &Newcomer<'_>) -> ClassId {
        let (class, new) = self.classes.intern(job);
        if new {
            self.add_plain_strand(class);
            self.refit(class);
        }
        class
    }

    /// Puts a job that holds no lease where it belongs: in its lane if it is due, else to its timer.
    pub(crate) fn make_runnable(&mut self, now: Now, job: u32) {
        let entry = self.jobs.get(job);
        let expires = entry.expires_at().filter(|_| entry.standing.attempt == 0);
        if expires.is_some_and(|at| at <= now.wall) {
            self.finish(now, job, State::Dead, crate::rules::Death::Expired.reason(), None);
            return;
        }
        let due = entry.due_at;
        if dependency::is_parked(due) {
            let expiry = expires.map(|at| self.timers.insert(now.mono + at.since(now.wall), Timer::Job(job)));
            let entry = self.jobs.get_mut(job);
            entry.phase = Phase::Blocked;
            self.dependencies.expire(entry.id, expiry);
            self.recount(job, State::Blocked);
            self.judge(now, job);
            return;
        }
        if due > now.wall {
            let at = now.mono + expires.map_or(due, |e| due.min(e)).since(now.wall);
            let timer = self.timers.insert(at, Timer::Job(job));
            let waits_for = if self.jobs.get(job).retrying { State::Retrying } else { State::Scheduled };
            self.jobs.get_mut(job).phase = Phase::Waiting(timer);
            self.recount(job, waits_for);
            return;
        }
        let expiry = expires.map(|at| self.timers.insert(now.mono + at.since(now.wall), Timer::Job(job)));
        self.jobs.get_mut(job).phase = Phase::Ready(expiry);
        self.recount(job, State::Queued);
        self.push_ready(job);
    }

    /// Takes a waiting or ready job out of its timer or lane.
    pub(crate) fn withdraw(&mut self, job: u32) {
        match self.jobs.get(job).phase {
            Phase::Waiting(timer) => {
                self.timers.cancel(timer);
            }
            Phase::Blocked => {
                let id = self.jobs.get(job).id;
                if let Some(timer) = self.dependencies.withdraw(id) {
                    self.timers.cancel(timer);
                }
            }
            Phase::Ready(expiry) => {
                if let Some(timer) = expiry {
                    self.timers.cancel(timer);
                }
                if let Some(class) = self.pull(job) {
                    self.line_up(class);
                }
            }
            Phase::Leased(_) | Phase::Ending | Phase::Leaving => {}
        }
        self.jobs.get_mut(job).phase = Phase::Leaving;
    }

    /// The counters count the job in another state.
    pub(crate) fn recount(&mut self, job: u32, state: State) {
        let entry = self.jobs.get_mut(job);
        let from = std::mem::replace(&mut entry.counted, state);
        if from != state {
            let key = &self.classes.get(entry.class).key;
            self.counters.shift(&key.queue, &key.kind, from, state);
        }
    }

    fn prune(&mut self, now: Now) {
        if self.commits.trouble().is_some() {
            self.timers.insert(now.mono + self.options.prune_every, Timer::Prune);
            return;
        }
        let limit = self.options.prune_limit;
        self.commits.push(Change::Prune { now: now.wall, limit }, Effect::Prune);
    }

    pub(crate) fn pruned(&mut self, now: Now, applied: Applied) {
        let removed = self.removed(now, applied);
        let more = removed >= self.options.prune_limit as u64;
        let pause = if more { PRUNE_AGAIN } else { self.options.prune_every };
        self.timers.insert(now.mono + pause, Timer::Prune);
    }
}
