//! The limits of a queue, and whose turn it is in it.
//!
//! *Running* counts leases from the moment at which they are decided until their end is decided: both are written in
//! the order in which they were decided, so the store never holds more than the limit either. A new leader counts the leases
//! that it loads. A *rate* is a bucket of tokens; each lease takes one, whatever becomes of it. After a takeover nobody
//! knows what was taken lately, so the buckets are taken for empty at that moment.
//!
//! A queue that reaches a limit is parked, all its classes with it. What could open it again is an event: the end of a lease, other
//! settings, or a timer for the moment at which the next token is there.

use std::collections::VecDeque;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt as _};

use crate::coordinator::bucket::Bucket;
use crate::coordinator::classes::ClassId;
use crate::coordinator::depth::Held;
use crate::coordinator::fair::{Fair, NOBODY};
use crate::coordinator::view::Gate;
use crate::coordinator::wheel::TimerId;
use crate::coordinator::{Coordinator, Timer};
use crate::name::QueueName;
use crate::queue::Limits;
use crate::sabotage::{self, Bug};
use crate::time::{Mono, Now};

/// Ages are looked at so many times while they grow by one priority.
const LOOKS_AT_AGES: u32 = 4;

/// What a queue with limits, with keys or with tenants needs.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// Its number among the queues that have one.
    pub(crate) number: u32,
    /// Leases of its jobs, from the moment they are decided.
    pub(crate) running: u32,
    /// What its rate allows; full if nothing was taken yet.
    pub(crate) bucket: Option<Bucket>,
    /// Its buckets were empty at that moment for all we know: a new leader took over.
    pub(crate) empty_at: Option<Mono>,
    pub(crate) fair: Fair,
    /// Submitted jobs that are being written, and how many of them have which key. Only while a depth is set.
    pub(crate) incoming: (u64, HashMap<String, u64>),
    /// Submissions that wait for room, the oldest first.
    pub(crate) held: VecDeque<Held>,
    timer: Option<(Mono, TimerId)>,
}

impl Flow {
    /// Everything in the queue's limits that holds it back, in the order in which it is checked.
    pub(crate) fn gates(&self, queue: &QueueName, limits: &Limits, now: Mono) -> Vec<Gate> {
        let mut closed = Vec::new();
        if let Some(max) = limits.max_running
            && self.running >= max
        {
            closed.push(Gate::QueueRunning { queue: queue.clone(), running: self.running, max });
        }
        if let (Some(rate), Some(bucket)) = (limits.rate, self.bucket)
            && !bucket.has_token(&rate, now)
        {
            let wait = bucket.wait(&rate, now);
            closed.push(Gate::QueueRate { queue: queue.clone(), rate, wait });
        }
        closed
    }
}

impl Coordinator {
    /// The flow of a class's queue, if that has one.
    pub(crate) fn flow_of(&self, class: ClassId) -> Option<&Flow> {
        let class = self.classes.get(class);
        // A new class does not know yet.
        if !class.flows && class.plain.0 != u32::MAX {
            return None;
        }
        self.queues.get(&class.key.queue)?.flow.as_deref()
    }

    /// The flow of a queue, which it has from now on.
    pub(crate) fn flow_mut(&mut self, queue: &QueueName) -> &mut Flow {
        if self.queues.get(queue).is_none_or(|entry| entry.flow.is_none()) {
            let number = u32::try_from(self.flows.len()).expect("queues are fewer than jobs");
            self.flows.push(queue.clone());
            let flow = Flow {
                number,
                running: self.count_leases(queue),
                bucket: None,
                empty_at: None,
                fair: Fair::default(),
                incoming: (0, HashMap::new()),
                held: VecDeque::new(),
                timer: None,
            };
            self.queues.entry(queue.clone()).or_default().flow = Some(Box::new(flow));
            for class in self.classes.of_queue(queue) {
                self.classes.get_mut(class).flows = true;
            }
        }
        let entry = self.queues.get_mut(queue).and_then(|entry| entry.flow.as_deref_mut());
        entry.expect("a flow that was just made, if it was not there")
    }

    fn count_leases(&self, queue: &QueueName) -> u32 {
        let of_queue = |job: u32| self.classes.get(self.jobs.get(job).class).key.queue == *queue;
        let count = self.leases.iter().filter(|(_, lease)| of_queue(lease.job)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Whether a queue with these settings needs a flow.
    pub(crate) fn settings_flow(&mut self, queue: &QueueName) {
        let settings = self.queues.get(queue).map(|entry| entry.settings).unwrap_or_default();
        let none = Limits::default();
        if settings.limits != none || settings.keys != none || settings.ageing.is_some() {
            self.flow_mut(queue);
        }
    }

    /// A job of this class was taken for a worker: it counts, its tenant was served, and whatever is at its limit
    /// now is parked.
    pub(crate) fn lease_given(&mut self, job: u32) {
        let class = self.jobs.get(job).class;
        if !self.classes.get(class).flows || sabotage::active(Bug::LeaseCountedLate) {
            return;
        }
        self.count_lease(job);
    }

    /// See [`Coordinator::lease_given`].
    pub(crate) fn count_lease(&mut self, job: u32) {
        let (now, class) = (self.awake_at, self.jobs.get(job).class);
        let queue = self.classes.get(class).key.queue.clone();
        self.serve_tenant(job, &queue);
        let Some(entry) = self.queues.get_mut(&queue) else { return };
        let Some(flow) = &mut entry.flow else { return };
        let (limits, of_keys, empty_at) = (entry.settings.limits, entry.settings.keys, flow.empty_at);
        flow.running += 1;
        if let Some(rate) = limits.rate {
            flow.bucket.get_or_insert_with(|| Bucket::new(&rate, empty_at, now)).take(&rate, now);
        }
        if !flow.gates(&queue, &limits, now).is_empty() {
            self.queue_moved(&queue);
        }
        if let Some(key) = self.jobs.keys(job).and_then(|keys| keys.key) {
            let entry = self.keys.get_mut(key);
            entry.running += 1;
            if let Some(rate) = of_keys.rate
                && !sabotage::active(Bug::KeyTokenNotTaken)
            {
                entry.bucket.get_or_insert_with(|| Bucket::new(&rate, empty_at, now)).take(&rate, now);
            }
            self.key_moved(key);
        }
    }

    /// The end of a lease is decided: whatever was parked for it may go on.
    pub(crate) fn lease_over(&mut self, job: u32) {
        let class = self.jobs.get(job).class;
        if !self.classes.get(class).flows {
            return;
        }
        let queue = self.classes.get(class).key.queue.clone();
        if let Some(entry) = self.queues.get_mut(&queue)
            && let Some(flow) = &mut entry.flow
        {
            flow.running = flow.running.saturating_sub(1);
            if entry.settings.limits.max_running.is_some_and(|max| flow.running + 1 >= max) {
                self.queue_moved(&queue);
            }
        }
        if let Some(key) = self.jobs.keys(job).and_then(|keys| keys.key) {
            let entry = self.keys.get_mut(key);
            entry.running = entry.running.saturating_sub(1);
            self.key_moved(key);
        }
    }

    /// A new leader found a lease: it counts, and takes no token.
    pub(crate) fn lease_loaded(&mut self, job: u32) {
        let queue = self.classes.get(self.jobs.get(job).class).key.queue.clone();
        if let Some(flow) = self.queues.get_mut(&queue).and_then(|entry| entry.flow.as_mut()) {
            flow.running += 1;
            if let Some(key) = self.jobs.keys(job).and_then(|keys| keys.key) {
                self.keys.get_mut(key).running += 1;
                self.key_moved(key);
            }
            self.queue_moved(&queue);
        }
    }

    /// Nobody knows what was started lately under the leader before: see the head of this file.
    pub(crate) fn rates_begin_empty(&mut self, now: Mono) {
        if sabotage::active(Bug::RateFullAtTakeover) {
            return;
        }
        for queue in self.flows.clone() {
            let rate = self.queues.get(&queue).and_then(|entry| entry.settings.limits.rate);
            let flow = self.flow_mut(&queue);
            flow.empty_at = Some(now);
            flow.bucket = rate.map(|rate| Bucket::new(&rate, Some(now), now));
            self.queue_moved(&queue);
            for key in self.keys.of_queue(&queue) {
                self.key_moved(key);
            }
        }
    }

    /// The turn of a job's tenant is over.
    fn serve_tenant(&mut self, job: u32, queue: &QueueName) {
        let (tenant, weight) = self.jobs.keys(job).map_or((NOBODY, 1), |keys| (keys.tenant, keys.weight));
        let flow = self.queues.get_mut(queue).and_then(|entry| entry.flow.as_mut());
        let Some(flow) = flow.filter(|flow| flow.fair.is_used()) else { return };
        let turn = flow.fair.serve(tenant, weight);
        for class in self.classes.of_queue(queue) {
            let mixed = &mut self.classes.get_mut(class).mixed;
            if mixed.as_mut().is_some_and(|mixed| mixed.set_turn(tenant, turn)) {
                self.line_up(class);
            }
        }
    }

    /// Something about the gates of a queue may be different.
    pub(crate) fn queue_moved(&mut self, queue: &QueueName) {
        for class in self.classes.of_queue(queue) {
            self.line_up(class);
        }
        self.watch_flow(queue);
    }

    /// Makes sure that the queue is looked at when time alone changes something for it.
    pub(crate) fn watch_flow(&mut self, queue: &QueueName) {
        let Some(entry) = self.queues.get(queue) else { return };
        let Some(flow) = &entry.flow else { return };
        let now = self.awake_at;
        let waits = self.classes.of_queue(queue).into_iter().any(|class| self.waits(class));
        let token = entry.settings.limits.rate.zip(flow.bucket).map(|(rate, bucket)| bucket.wait(&rate, now));
        let token = token.filter(|wait| !wait.is_zero()).map(|wait| now + wait);
        let ages = entry.settings.ageing.filter(|_| waits).map(|ageing| now + ageing.every / LOOKS_AT_AGES);
        let held = flow.held.front().map(|held| held.until);
        let next = [token, ages, held].into_iter().flatten().min();
        let (number, armed) = (flow.number, flow.timer);
        // A timer that fires too early only looks once more.
        if let Some(at) = next
            && armed.is_none_or(|(earlier, _)| at < earlier)
        {
            if let Some((_, timer)) = armed {
                self.timers.cancel(timer);
            }
            let timer = self.timers.insert(at.max(now + Duration::from_micros(1)), Timer::Flow(number));
            self.flow_mut(queue).timer = Some((at, timer));
        }
    }

    /// Whether a class has a ready job, parked or not.
    fn waits(&self, class: ClassId) -> bool {
        let entry = self.classes.get(class);
        entry.mixed.is_some() || !self.ready.is_empty(entry.plain)
    }

    pub(crate) fn flow_timer(&mut self, _now: Now, number: u32) {
        let Some(queue) = self.flows.get(number as usize).cloned() else { return };
        self.flow_mut(&queue).timer = None;
        self.queue_moved(&queue);
    }
}
