//! When a job that waits should start.
//!
//! Played forward from what is known: the leases of the workers that could run it end after the mean run time of their
//! class, and the jobs before it start one after the other. A limit on how many jobs of the queue run is the same play with fewer
//! threads. A rate adds the time until there are tokens enough. The latest of these is the estimate.
//!
//! Nothing is said where something decides that is not known: a pause, a missing worker, parents, a store that refuses,
//! kinds that have never ended, keys that take turns.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::coordinator::classes::ClassId;
use crate::coordinator::place::Ahead;
use crate::coordinator::view::GateShown;
use crate::coordinator::{Coordinator, LeaseEntry};
use crate::name::QueueName;
use crate::time::{Now, micros};

/// Starts that are played one by one. With more the mean is enough.
const PLAYED: u64 = 10_000;
/// Threads that are looked at.
const THREADS: usize = 10_000;
/// An attempt that has run so many times the mean of its class may run for ever.
const OVERDUE: f64 = 3.0;

/// The moments, in microseconds from now, at which threads are free.
#[derive(Debug, Default)]
struct Free(BinaryHeap<Reverse<u64>>);

/// Jobs that start before, and how long one of them runs, in microseconds.
type Before = (u64, f64);

impl Free {
    fn add(&mut self, at: u64) {
        self.0.push(Reverse(at));
    }

    /// The first free thread is taken for so long.
    fn take(&mut self, run: f64) -> Option<u64> {
        let Reverse(at) = self.0.pop()?;
        self.add(at.saturating_add(run as u64));
        Some(at)
    }

    /// When the next job starts after all of these.
    fn start_after(mut self, before: &[Before]) -> Option<Duration> {
        let (threads, jobs) = (self.0.len() as f64, before.iter().map(|(jobs, _)| jobs).sum::<u64>());
        if threads < 1.0 {
            return None;
        }
        if jobs > PLAYED {
            let busy: f64 = self.0.iter().map(|Reverse(at)| *at as f64).sum();
            let work: f64 = before.iter().map(|(jobs, run)| *jobs as f64 * run).sum();
            return Some(Duration::from_secs_f64(((busy + work) / threads / 1e6).min(1e9)));
        }
        for (jobs, run) in before {
            for _ in 0..*jobs {
                self.take(*run)?;
            }
        }
        self.0.pop().map(|Reverse(at)| Duration::from_micros(at))
    }
}

impl Coordinator {
    /// When a ready job should start; see the head of this file.
    pub(crate) fn estimate(
        &self,
        slot: u32,
        ahead: &Ahead,
        shown: &[GateShown],
        now: Now,
    ) -> Option<Duration> {
        let closed = |gate: &GateShown| gate.closed;
        let opens = |gate: &GateShown| matches!(gate.gate, "threads" | "rate" | "limit" | "key" | "key_rate");
        if shown.iter().any(|gate| closed(gate) && !opens(gate)) {
            return None;
        }
        let class = self.classes.get(self.jobs.get(slot).class);
        let queue = &class.key.queue;
        if ahead.own.iter().any(|(id, _)| self.classes.get(*id).mixed.is_some()) {
            return self.estimate_of_keyed(slot, shown, now);
        }
        let own = self.runs_of(ahead.own.iter().map(|(id, jobs)| (*id, *jobs as u64)))?;
        let mut all = own.clone();
        for other in &ahead.position.others {
            all.push((other.jobs, self.mean_run_of(other.queue.as_ref()?)?));
        }
        let by_threads = self.threads_of(self.jobs.get(slot).class, now)?.start_after(&all)?;
        let by_limit = match self.free_under_limit(queue, now) {
            Some(free) => free?.start_after(&own)?,
            None => Duration::ZERO,
        };
        let by_rate = self.tokens_for(queue, ahead.position.ahead as u64 + 1, now);
        Some(by_threads.max(by_limit).max(by_rate))
    }

    /// Of jobs with keys only the time at which a limit opens is known, and only for the first of its key.
    fn estimate_of_keyed(&self, slot: u32, shown: &[GateShown], now: Now) -> Option<Duration> {
        let limited = shown.iter().any(|gate| gate.closed && matches!(gate.gate, "threads" | "limit"));
        let (strand, order) = self.ready.place_of(slot)?;
        let is_first = self.ready.head(strand).is_some_and(|(first, _)| first == order);
        let class = self.classes.get(self.jobs.get(slot).class);
        (is_first && !limited).then(|| self.limits_open_in(slot, class, now)).flatten()
    }

    /// Jobs by class as jobs and run times; nothing if a run time is not known.
    fn runs_of(&self, jobs: impl Iterator<Item = (ClassId, u64)>) -> Option<Vec<Before>> {
        let known = jobs.filter(|(_, jobs)| *jobs > 0).map(|(id, jobs)| {
            let class = self.classes.get(id);
            Some((jobs * u64::from(class.demand), class.mean_run?))
        });
        known.collect()
    }

    /// How long a waiting job of another queue runs, on average.
    fn mean_run_of(&self, queue: &QueueName) -> Option<f64> {
        let classes = self.classes.of_queue(queue).into_iter();
        let lined_up = classes.filter(|id| self.classes.get(*id).lined_up.is_some());
        let runs = self.runs_of(lined_up.map(|id| (id, self.in_line(id))))?;
        let jobs: u64 = runs.iter().map(|(jobs, _)| jobs).sum();
        let total: f64 = runs.iter().map(|(jobs, run)| *jobs as f64 * run).sum();
        (jobs > 0).then(|| total / jobs as f64)
    }

    /// How long a lease will go on; nothing if that is not known.
    fn remaining(&self, lease: &LeaseEntry, now: Now) -> Option<u64> {
        let mean = self.classes.get(self.jobs.get(lease.job).class).mean_run?;
        let elapsed = micros(now.wall.since(lease.leased_at)) as f64;
        (elapsed <= mean * OVERDUE).then(|| (mean - elapsed).max(0.0) as u64)
    }

    /// When the threads are free that could run a class. A thread whose lease may last for ever is not among them.
    fn threads_of(&self, id: ClassId, now: Now) -> Option<Free> {
        let groups = &self.classes.get(id).groups;
        let mut all = Free::default();
        let workers = self.sessions.iter().filter(|(worker, session)| {
            session.enlisted && self.fleet.has(*worker) && groups.contains(&self.fleet.group(*worker))
        });
        for (_, session) in workers {
            let stuck: u16 = session.stuck.values().map(|(_, threads)| *threads).sum();
            let mut own = Free::default();
            (0..session.worker.threads.saturating_sub(stuck)).for_each(|_| own.add(0));
            for lease in session.holds.leases().map(|slot| self.leases.get(slot)) {
                let mean = self.classes.get(self.jobs.get(lease.job).class).mean_run?;
                for _ in 0..lease.threads {
                    match (own.0.pop(), self.remaining(lease, now)) {
                        (Some(Reverse(0)), Some(remaining)) => own.add(remaining),
                        // Given ahead: it starts when a thread is free.
                        (Some(Reverse(at)), Some(_)) => own.add(at.saturating_add(mean as u64)),
                        (_, None) | (None, _) => {}
                    }
                }
            }
            all.0.append(&mut own.0);
            if all.0.len() > THREADS {
                break;
            }
        }
        Some(all)
    }

    /// When the limit of a queue lets further jobs run, if it has one; nothing if that is not known.
    fn free_under_limit(&self, queue: &QueueName, now: Now) -> Option<Option<Free>> {
        let max = self.queues.get(queue)?.settings.limits.max_running?;
        let mut free = Free::default();
        let leases = self.leases.iter().map(|(_, lease)| lease);
        let of_queue =
            |lease: &&LeaseEntry| self.classes.get(self.jobs.get(lease.job).class).key.queue == *queue;
        let mut running = 0;
        for lease in leases.filter(of_queue).take(THREADS) {
            running += 1;
            if self.classes.get(self.jobs.get(lease.job).class).mean_run.is_none() {
                return Some(None);
            }
            if let Some(at) = self.remaining(lease, now) {
                free.add(at);
            }
        }
        let unused = (max as usize).saturating_sub(running).min(THREADS);
        (0..unused).for_each(|_| free.add(0));
        Some(Some(free))
    }

    /// How long until the rate of a queue has let so many jobs start.
    fn tokens_for(&self, queue: &QueueName, jobs: u64, now: Now) -> Duration {
        let Some(entry) = self.queues.get(queue) else { return Duration::ZERO };
        let (Some(rate), Some(flow)) = (entry.settings.limits.rate, &entry.flow) else {
            return Duration::ZERO;
        };
        match flow.bucket {
            Some(bucket) => bucket.wait_for(&rate, jobs, now.mono),
            None => crate::coordinator::bucket::Bucket::new(&rate, flow.empty_at, now.mono)
                .wait_for(&rate, jobs, now.mono),
        }
    }
}
