//! Submissions to a queue that is as deep as it may be.
//!
//! Deep is what waits, for whatever reason: jobs without a lease, and those that are being written. A submission that
//! does not fit is refused, or held until there is room or its time is over; those that are held go in the order in
//! which they came. What a person replays, and what was submitted inside the store, is let in always: nobody would be there
//! to try again.

use std::collections::BTreeMap;

use crate::change::{Idempotency, NewJob};
use crate::coordinator::Coordinator;
use crate::coordinator::port::{Output, Refusal, Reply, Ticket};
use crate::job::State;
use crate::limits;
use crate::name::QueueName;
use crate::sabotage::{self, Bug};
use crate::time::{Mono, Now};

/// A submission that waits for room.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) ticket: Ticket,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) jobs: Vec<NewJob>,
    pub(crate) until: Mono,
}

impl Coordinator {
    /// Whether these jobs could be too many for a queue: nobody else pays for the count.
    pub(crate) fn may_be_full(&self, jobs: &[NewJob]) -> bool {
        !self.flows.is_empty() && jobs.iter().any(|job| self.is_bounded(&job.spec.queue))
    }

    fn is_bounded(&self, queue: &QueueName) -> bool {
        let settings = self.queues.get(queue).map(|entry| &entry.settings);
        settings.is_some_and(|s| s.limits.max_depth.is_some() || s.keys.max_depth.is_some())
    }

    /// The first queue, or key, that has no room for these jobs; and whether it ever could have.
    pub(crate) fn full(&self, jobs: &[NewJob]) -> Option<(Refusal, bool)> {
        let mut asked: BTreeMap<(&QueueName, Option<&str>), u64> = BTreeMap::new();
        for job in jobs {
            let queue = &job.spec.queue;
            *asked.entry((queue, None)).or_default() += 1;
            if let Some(key) = &job.spec.options.concurrency_key {
                *asked.entry((queue, Some(key))).or_default() += 1;
            }
        }
        asked.into_iter().find_map(|((queue, key), more)| {
            let settings = self.queues.get(queue)?.settings;
            let of = if key.is_some() { settings.keys } else { settings.limits };
            let max = u64::from(of.max_depth?);
            let depth = self.depth(queue, key);
            let refusal =
                || Refusal::QueueFull { queue: queue.clone(), key: key.map(str::to_owned), depth, max };
            (depth + more > max).then(|| (refusal(), more <= max))
        })
    }

    /// Jobs of a queue, or of a key of it, that wait or are being written.
    fn depth(&self, queue: &QueueName, key: Option<&str>) -> u64 {
        let flow = self.queues.get(queue).and_then(|entry| entry.flow.as_ref());
        let incoming = flow.map(|flow| &flow.incoming);
        match key {
            Some(name) => {
                let entry = self.keys.find(queue, name).map(|key| self.keys.get(key));
                let waiting = entry.map_or(0, |entry| u64::from(entry.jobs.saturating_sub(entry.running)));
                waiting + incoming.and_then(|(_, keys)| keys.get(name).copied()).unwrap_or(0)
            }
            None => {
                let counts = self.counters.queue(queue);
                let waiting =
                    State::ALL.iter().filter(|state| !state.is_final() && **state != State::Running);
                let waiting: u64 = waiting.map(|state| counts[state.index()]).sum();
                if sabotage::active(Bug::IncomingNotCounted) {
                    return waiting;
                }
                waiting + incoming.map_or(0, |(all, _)| *all)
            }
        }
    }

    /// These jobs are about to be written. A queue that gets its first job with a key counts its leases now, while all of
    /// them are known.
    pub(crate) fn coming_in(&mut self, jobs: &[NewJob]) {
        for job in jobs {
            let options = &job.spec.options;
            if options.concurrency_key.is_some() || options.fair_key.is_some() {
                self.flow_mut(&job.spec.queue);
            }
            if self.flows.is_empty() || !self.is_bounded(&job.spec.queue) {
                continue;
            }
            let incoming = &mut self.flow_mut(&job.spec.queue).incoming;
            incoming.0 += 1;
            if let Some(key) = &job.spec.options.concurrency_key {
                *incoming.1.entry(key.clone()).or_default() += 1;
            }
        }
    }

    /// These jobs are written; what is there of them counts by itself now.
    pub(crate) fn came_in(&mut self, jobs: &[NewJob]) {
        if self.flows.is_empty() {
            return;
        }
        for job in jobs {
            let flow = self.queues.get_mut(&job.spec.queue).and_then(|entry| entry.flow.as_mut());
            let Some(flow) = flow else { continue };
            flow.incoming.0 = flow.incoming.0.saturating_sub(1);
            if let Some(key) = &job.spec.options.concurrency_key
                && let Some(count) = flow.incoming.1.get_mut(key)
            {
                *count -= 1;
                if *count == 0 {
                    flow.incoming.1.remove(key);
                }
            }
        }
    }

    /// The store refused: nothing that clients submitted is being written any more.
    pub(crate) fn nothing_comes_in(&mut self) {
        for queue in &self.flows {
            if let Some(flow) = self.queues.get_mut(queue).and_then(|entry| entry.flow.as_mut()) {
                flow.incoming = Default::default();
            }
        }
    }

    /// Holds a submission until there is room in this queue, if its settings say so.
    pub(crate) fn hold(&mut self, now: Now, full: Refusal, held: Held) -> Result<(), Refusal> {
        let Refusal::QueueFull { queue, .. } = &full else { return Err(full) };
        let block = self.queues.get(queue).map(|entry| entry.settings.block).unwrap_or_default();
        if block.is_zero() || self.held >= limits::HELD_SUBMISSIONS {
            return Err(full);
        }
        let queue = queue.clone();
        self.held += 1;
        let held = Held { until: now.mono + block.min(limits::HELD_FOR), ..held };
        self.flow_mut(&queue).held.push_back(held);
        self.watch_flow(&queue);
        Ok(())
    }

    /// Lets in what there is room for, and refuses what has waited long enough.
    pub(crate) fn admit_held(&mut self, now: Now, out: &mut Vec<Output>) {
        if self.held == 0 {
            return;
        }
        for queue in self.flows.clone() {
            // The first that does not fit keeps the others waiting, so that a large one is not starved.
            while let Some(held) = self.flow_mut(&queue).held.pop_front() {
                let full = self.full(&held.jobs);
                match full {
                    Some(_) if now.mono < held.until => {
                        self.flow_mut(&queue).held.push_front(held);
                        break;
                    }
                    Some((refusal, _)) if !sabotage::active(Bug::HeldForcedIn) => {
                        out.push(Output::Reply(held.ticket, Reply::Refused(refusal)))
                    }
                    Some(_) | None => self.submit_now(now, held.ticket, held.idempotency, held.jobs, out),
                }
                self.held -= 1;
            }
            self.watch_flow(&queue);
        }
    }
}
