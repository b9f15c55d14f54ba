//! What the leader knows that an autoscaler's answer is made of.

use std::time::Duration;

use crate::coordinator::Coordinator;
use crate::coordinator::classes::demand;
use crate::job::State;
use crate::name::QueueName;
use crate::scaling::{Bounds, Load};
use crate::time::Now;

impl Coordinator {
    /// What a queue has to do, for workers such as whoever asks would start, and how long the first in line has been ready.
    #[must_use]
    pub fn load_of(&self, name: &QueueName, bounds: Bounds, now: Now) -> (Load, Option<Duration>) {
        let view = self.queue(name, now);
        let mut load = Load {
            paused: view.settings.paused,
            running: view.counts[State::Running.index()],
            max_running: view.settings.limits.max_running,
            ..Load::default()
        };
        for (_, session) in self.sessions.iter() {
            let held = session.holds.leases().map(|slot| self.leases.get(slot));
            let of_queue =
                held.filter(|lease| self.classes.get(self.jobs.get(lease.job).class).key.queue == *name);
            load.running_threads += of_queue.map(|lease| u64::from(lease.threads)).sum::<u64>();
            // A program that claims by HTTP brings as many threads as it claims, and is no worker that could be started.
            let queues = &session.worker.queues;
            if session.enlisted && !session.worker.claim && (queues.is_empty() || queues.contains(name)) {
                load.workers += 1;
                let threads = session.worker.threads;
                load.narrowest = Some(load.narrowest.map_or(threads, |least| least.min(threads)));
            }
        }
        let width = bounds.width(load.narrowest);
        for id in self.classes.of_queue(name) {
            // What waits for its key to open could not start, however many workers there were.
            let waiting = self.standing(id);
            load.ready += waiting;
            // As dispatch would give it, if such a worker were the widest.
            let given = demand(&self.classes.get(id).key, width);
            if given <= width {
                load.ready_threads += waiting * u64::from(given);
            }
        }
        (load, view.oldest_ready)
    }
}
