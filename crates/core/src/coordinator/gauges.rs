//! What is shown to those who watch the whole from outside: counts, queues and their threads, at one moment.

use std::time::Duration;

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::coordinator::Coordinator;
use crate::coordinator::explain::DEPARTED_SHOWN_FOR;
use crate::coordinator::view::{QueueView, Stats};
use crate::event::WorkerState;
use crate::name::QueueName;
use crate::time::Now;
use crate::verdict::Verdict;

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauges {
    /// The whole, in numbers.
    pub stats: Stats,
    /// Every queue, with the threads that it has.
    pub queues: Vec<(QueueView, QueueThreads)>,
    /// Workers by what they do.
    pub workers: WorkerUse,
    /// For how long the first instant of a schedule that is not decided yet has been due.
    pub schedule_lag: Duration,
    /// What is not as it should be.
    pub verdict: Verdict,
}

/// Workers by what they do, each counted once. Those that claim over HTTP are not known as workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerUse {
    /// They would take a job, and run none.
    pub idle: usize,
    /// They run a job, and may have threads left for more.
    pub working: usize,
    /// They take nothing: not connected, draining, or lost within the last hour and not back under the same name.
    pub away: usize,
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
            workers: self.worker_use(now),
            schedule_lag: self.schedules.lag(now.wall),
            verdict: self.verdict(now),
        }
    }

    fn worker_use(&self, now: Now) -> WorkerUse {
        let mut by_use = WorkerUse::default();
        let mut names = HashSet::new();
        for (_, session) in self.sessions.iter().filter(|(_, session)| !session.worker.claim) {
            names.insert(session.worker.name.as_str());
            match session.state() {
                WorkerState::Available | WorkerState::Busy if session.used > 0 => by_use.working += 1,
                WorkerState::Available | WorkerState::Busy => by_use.idle += 1,
                WorkerState::Draining | WorkerState::Unavailable | WorkerState::Lost | WorkerState::Gone => {
                    by_use.away += 1;
                }
            }
        }
        let lost = self.sessions.departed.iter().filter(|departed| departed.lost && !departed.worker.claim);
        let lately = lost.filter(|departed| now.mono.since(departed.left_at) < DEPARTED_SHOWN_FOR);
        // A worker that was lost twice, or that is back, is one worker.
        by_use.away += lately.filter(|departed| names.insert(departed.worker.name.as_str())).count();
        by_use
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
