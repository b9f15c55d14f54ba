//! The `concurrency_key`s of the queues: what runs under each, what waits, and which are closed.
//!
//! A key is known while a live job has it, while it is closed, or until its bucket is full again; so a million keys
//! cost nothing when idle.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use crate::coordinator::Slab;
use crate::coordinator::bucket::Bucket;
use crate::coordinator::ready::StrandId;
use crate::coordinator::view::Gate;
use crate::coordinator::wheel::TimerId;
use crate::name::QueueName;
use crate::queue::Limits;
use crate::time::{Mono, Wall};

/// A key of a queue.
#[derive(Clone, Debug)]
pub(crate) struct KeyEntry {
    pub(crate) queue: QueueName,
    pub(crate) name: Arc<str>,
    /// Live jobs that have it.
    pub(crate) jobs: u32,
    /// Leases of them, from the moment they are decided.
    pub(crate) running: u32,
    /// Nothing of it starts before.
    pub(crate) closed_until: Option<Wall>,
    /// Closures that are being written.
    pub(crate) closing: u32,
    /// What its rate allows; full if nothing was taken yet.
    pub(crate) bucket: Option<Bucket>,
    /// Strands with ready jobs that have it.
    pub(crate) strands: BTreeSet<StrandId>,
    /// Whether those stand in line.
    pub(crate) open: bool,
    pub(crate) timer: Option<TimerId>,
}

impl KeyEntry {
    /// Everything that holds the jobs of this key back, in the order in which it is checked.
    pub(crate) fn gates(&self, limits: &Limits, now: Mono) -> Vec<Gate> {
        let mut closed = Vec::new();
        let key = || self.name.to_string();
        if self.closed_until.is_some() || self.closing > 0 {
            closed.push(Gate::KeyClosed { key: key(), until: self.closed_until });
        }
        if let Some(max) = limits.max_running
            && self.running >= max
        {
            closed.push(Gate::KeyRunning { key: key(), running: self.running, max });
        }
        if let (Some(rate), Some(bucket)) = (limits.rate, self.bucket)
            && !bucket.has_token(&rate, now)
        {
            closed.push(Gate::KeyRate { key: key(), rate, wait: bucket.wait(&rate, now) });
        }
        closed
    }
}

/// Every key that is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    all: Slab<KeyEntry>,
    ids: HashMap<QueueName, HashMap<Arc<str>, u32>>,
    /// Keys that are closed, or are about to be.
    pub(crate) closed: usize,
}

impl Keys {
    pub(crate) fn find(&self, queue: &QueueName, name: &str) -> Option<u32> {
        self.ids.get(queue)?.get(name).copied()
    }

    pub(crate) fn get(&self, id: u32) -> &KeyEntry {
        self.all.get(id)
    }

    pub(crate) fn find_mut(&mut self, id: u32) -> Option<&mut KeyEntry> {
        self.all.find(id)?;
        Some(self.all.get_mut(id))
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> &mut KeyEntry {
        self.all.get_mut(id)
    }

    pub(crate) fn of_queue(&self, queue: &QueueName) -> Vec<u32> {
        self.ids.get(queue).into_iter().flat_map(HashMap::values).copied().collect()
    }

    /// The key of that name, which is known from now on.
    pub(crate) fn intern(&mut self, queue: &QueueName, name: &str) -> u32 {
        if let Some(id) = self.find(queue, name) {
            return id;
        }
        let name: Arc<str> = name.into();
        let id = self.all.insert(KeyEntry {
            queue: queue.clone(),
            name: name.clone(),
            jobs: 0,
            running: 0,
            closed_until: None,
            closing: 0,
            bucket: None,
            strands: BTreeSet::new(),
            open: true,
            timer: None,
        });
        self.ids.entry(queue.clone()).or_default().insert(name, id);
        id
    }

    pub(crate) fn remove(&mut self, id: u32) -> KeyEntry {
        let entry = self.all.remove(id);
        if let Some(names) = self.ids.get_mut(&entry.queue) {
            names.remove(&entry.name);
            if names.is_empty() {
                self.ids.remove(&entry.queue);
            }
        }
        entry
    }
}
