//! Jobs with keys: counting them, and closing and opening a `concurrency_key`.
//!
//! # Closing a key
//! A closure is durable. One that a client asks for is answered after its commit; one that a handler asks for is written with the
//! end of its attempt, and its job goes back to its place, no attempt burnt. From the decision on nothing of the key is given
//! to a worker, so no lease is ever written behind the closure of its key; leases that were given before go on. When
//! the store refuses, the client's closure never was, and the handler's is written again with its end.
//!
//! Opening it early takes effect after its commit. A closure whose time has passed needs no commit: the next leader
//! knows the time too, and the store forgets it.

use std::time::Duration;

use crate::change::{Change, KeyClosure};
use crate::coordinator::bucket::Bucket;
use crate::coordinator::effect::Effect;
use crate::coordinator::fair::NOBODY;
use crate::coordinator::port::{Refusal, Reply, Ticket};
use crate::coordinator::table::{JobKeys, Newcomer};
use crate::coordinator::{Coordinator, Timer};
use crate::limits;
use crate::name::QueueName;
use crate::queue::Limits;
use crate::sabotage::{self, Bug};
use crate::time::{Now, Wall};

impl Coordinator {
    /// A job came to memory: its keys know it.
    pub(crate) fn register_keys(&mut self, slot: u32, job: &Newcomer<'_>) {
        let options = job.options;
        if options.concurrency_key.is_none() && options.fair_key.is_none() {
            return;
        }
        let flow = self.flow_mut(job.queue);
        let tenant = options.fair_key.as_ref().map_or(NOBODY, |name| flow.fair.intern(name));
        let key = options.concurrency_key.as_ref().map(|name| self.keys.intern(job.queue, name));
        self.jobs.set_keys(slot, JobKeys { key, tenant, weight: options.fair_weight });
        if let Some(key) = key {
            self.keys.get_mut(key).jobs += 1;
            self.key_moved(key);
        }
    }

    /// A job leaves memory.
    pub(crate) fn release_keys(&mut self, slot: u32) {
        let Some(keys) = self.jobs.take_keys(slot) else { return };
        let queue = self.classes.get(self.jobs.get(slot).class).key.queue.clone();
        self.flow_mut(&queue).fair.release(keys.tenant);
        if let Some(key) = keys.key {
            self.keys.get_mut(key).jobs -= 1;
            self.watch_key(key);
        }
    }

    fn key_limits(&self, queue: &QueueName) -> Limits {
        self.queues.get(queue).map(|entry| entry.settings.keys).unwrap_or_default()
    }

    /// Something about the gates of a key may be different: its strands stand in line, or do not.
    pub(crate) fn key_moved(&mut self, key: u32) {
        self.fill_bucket(key);
        let entry = self.keys.get(key);
        let open = entry.gates(&self.key_limits(&entry.queue), self.awake_at).is_empty();
        if open != entry.open {
            let strands: Vec<_> = entry.strands.iter().copied().collect();
            self.keys.get_mut(key).open = open;
            for strand in strands {
                self.set_open(strand, open);
                self.line_up(self.strands.get(strand).class);
            }
        }
        self.watch_key(key);
    }

    /// Where nobody knows what was started before a takeover, the bucket was empty then.
    fn fill_bucket(&mut self, key: u32) {
        let entry = self.keys.get_mut(key);
        let Some(queue) = self.queues.get(&entry.queue) else { return };
        let empty_at = queue.flow.as_ref().and_then(|flow| flow.empty_at);
        if let (None, Some(rate), Some(at)) = (entry.bucket, queue.settings.keys.rate, empty_at) {
            entry.bucket = Some(Bucket::new(&rate, Some(at), self.awake_at));
        }
    }

    /// Makes sure that the key is looked at when time alone changes something for it, and forgets it when there is
    /// nothing to know about it.
    fn watch_key(&mut self, key: u32) {
        let entry = self.keys.get(key);
        let (now, limits) = (self.awake_at, self.key_limits(&entry.queue));
        let bucket = limits.rate.zip(entry.bucket);
        let opens = entry.closed_until.map(|until| now + until.since(self.awake_wall));
        let wait = bucket.map(|(rate, bucket)| match entry.jobs {
            0 => bucket.full_in(&rate, now),
            _ => bucket.wait(&rate, now),
        });
        let token = wait.filter(|wait| !wait.is_zero()).map(|wait| now + wait);
        let (next, old) = ([opens, token].into_iter().flatten().min(), entry.timer);
        let known = entry.jobs > 0 || entry.closing > 0 || next.is_some();
        if let Some(timer) = old {
            self.timers.cancel(timer);
        }
        if known {
            let soon = now + Duration::from_micros(1);
            let timer = next.map(|at| self.timers.insert(at.max(soon), Timer::Key(key)));
            self.keys.get_mut(key).timer = timer;
        } else {
            self.keys.remove(key);
        }
    }

    pub(crate) fn key_timer(&mut self, now: Now, key: u32) {
        let Some(entry) = self.keys.find_mut(key) else { return };
        entry.timer = None;
        if entry.closed_until.is_some_and(|until| until <= now.wall) {
            entry.closed_until = None;
            self.keys.closed -= 1;
        }
        self.key_moved(key);
    }

    /// A client asks for a key to be closed until then, or opened.
    pub(crate) fn close_key(&mut self, ticket: Ticket, closure: KeyClosure) -> Result<(), Refusal> {
        let key = self.keys.find(&closure.queue, &closure.key).map(|key| self.keys.get(key));
        let again = key.is_some_and(|key| key.closed_until.is_some());
        if closure.until.is_some() && !again && self.keys.closed >= limits::CLOSED_KEYS {
            return Err(Refusal::TooManyClosed);
        }
        self.closing(&closure, 1);
        self.commits.push(Change::CloseKey(closure), Effect::CloseKey(Some(ticket)));
        Ok(())
    }

    /// The handler of a job asks for its key to be closed. Whether it has one that can be.
    pub(crate) fn close_key_of(&mut self, now: Now, job: u32, long: Duration) -> bool {
        let Some(key) = self.jobs.keys(job).and_then(|keys| keys.key) else { return false };
        let entry = self.keys.get(key);
        if entry.closed_until.is_none() && self.keys.closed >= limits::CLOSED_KEYS {
            return false;
        }
        let until = now.wall + long.min(limits::LONGEST);
        // Several of its handlers may have heard the same; the longest counts.
        let until = entry.closed_until.map_or(until, |closed| closed.max(until));
        let closure =
            KeyClosure { queue: entry.queue.clone(), key: entry.name.to_string(), until: Some(until) };
        if sabotage::active(Bug::ClosedInMemoryOnly) {
            self.key_closed(now, &closure);
            return true;
        }
        self.closing(&closure, 1);
        self.commits.push(Change::CloseKey(closure), Effect::CloseKey(None));
        true
    }

    /// A closure is about to be written, or is not any more. An opening holds nothing back.
    fn closing(&mut self, closure: &KeyClosure, change: i32) {
        if closure.until.is_none() {
            return;
        }
        let key = self.keys.intern(&closure.queue, &closure.key);
        self.flow_mut(&closure.queue);
        let entry = self.keys.get_mut(key);
        entry.closing = entry.closing.saturating_add_signed(change);
        self.key_moved(key);
    }

    /// The store refused: the key is as it was.
    pub(crate) fn not_closed(&mut self, closure: &KeyClosure) {
        self.closing(closure, -1);
    }

    /// The closure is durable, or the opening.
    pub(crate) fn key_set(&mut self, now: Now, closure: &KeyClosure) -> Reply {
        if closure.until.is_some() {
            let key = self.keys.intern(&closure.queue, &closure.key);
            let entry = self.keys.get_mut(key);
            entry.closing = entry.closing.saturating_sub(1);
        }
        self.key_closed(now, closure);
        Reply::KeySet(closure.until)
    }

    /// The key is closed until then, or open.
    pub(crate) fn key_closed(&mut self, now: Now, closure: &KeyClosure) {
        let until = closure.until.filter(|until| *until > now.wall);
        if until.is_some() {
            self.flow_mut(&closure.queue);
            self.keys.intern(&closure.queue, &closure.key);
        }
        let Some(key) = self.keys.find(&closure.queue, &closure.key) else { return };
        let before: Option<Wall> = std::mem::replace(&mut self.keys.get_mut(key).closed_until, until);
        self.keys.closed = self.keys.closed + usize::from(until.is_some()) - usize::from(before.is_some());
        self.key_moved(key);
    }
}
