//! What is shown to those who watch the whole from outside: counts, queues and their threads, at one moment.

use std::time::Duration;

use foldhash::{HashMap, HashMapExt as _};

use crate::coordinator::Coordinator;
use crate::coordinator::view::{QueueView, Stats};
use crate::name::QueueName;
use crate::time::Now;

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauges {
    /// The whole, in numbers.
    pub stats: Stats,
    /// Every queue, with the threads that it has.
    pub queues: Vec<(QueueView, QueueThreads)>,
    /// For how long the first instant of a schedule that is not decided yet has been due.
    pub schedule_lag: Duration,
}

/// Threads as one queue sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueThreads {
    /// Those that its jobs hold.
    pub used: u64,
    /// Those that are free with workers that serve it. Such a worker may serve other queues too: then its free
    /// threads are seen by each of them.
    pub free: u64,
}

impl Coordinator {
    /// Everything at one moment. A walk over leases and workers: for a scrape, not for every job.
    #[must_use]
    pub fn gauges(&self, now: Now) -> Gauges {
        let used = self.threads_held();
        let threads = |queue: &QueueName| {
            let serving =
                |served: &std::collections::BTreeSet<QueueName>| served.is_empty() || served.contains(queue);
            let groups = self.fleet.groups().filter(|(_, signature)| serving(&signature.queues));
            QueueThreads {
                used: used.get(queue).copied().unwrap_or(0),
                free: groups.map(|(group, _)| self.fleet.free_threads(group)).sum(),
            }
        };
        let with_threads = |view: QueueView| {
            let threads = threads(&view.queue);
            (view, threads)
        };
        Gauges {
            stats: self.stats(),
            queues: self.queues(now).into_iter().map(with_threads).collect(),
            schedule_lag: self.schedules.lag(now.wall),
        }
    }

    /// Threads by the queue whose jobs hold them. What was claimed over HTTP runs on nobody's threads.
    fn threads_held(&self) -> HashMap<&QueueName, u64> {
        let mut held = HashMap::new();
        for (_, lease) in self.leases.iter() {
            if !self.sessions.get(lease.session).worker.claim {
                let class = self.jobs.get(lease.job).class;
                *held.entry(&self.classes.get(class).key.queue).or_default() += u64::from(lease.threads);
            }
        }
        held
    }
}
