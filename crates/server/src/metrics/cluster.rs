//! The gauges of the whole cluster, which only the leader can count.
//!
//! They are filled at a scrape, from one look at the leader's memory. A server that does not lead gets them from the leader
//! as text and passes them on as they are, so that any server answers for the cluster: every one of them tells the same, and
//! whoever scrapes several takes the largest, not the sum.

use std::fmt;

use ganger_core::coordinator::gauges::{Gauges, QueueThreads};
use ganger_core::coordinator::view::{QueueView, ScheduleCounts, Stats};
use ganger_core::event::WorkerState;
use ganger_core::job::State;
use ganger_core::operation::Action;
use ganger_core::verdict::Severity;
use prometheus_client::encoding::text;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::Seconds;
use super::labels::{Names, QueueLabel, QueueState, SeverityLabel, StateLabel};
use super::operations::Operations;

/// States of workers that are there; those that left are not counted.
const WORKER_STATES: [WorkerState; 4] =
    [WorkerState::Available, WorkerState::Busy, WorkerState::Draining, WorkerState::Unavailable];

/// The gauges.
pub(super) struct ClusterGauges {
    registry: Registry,
    queue_jobs: Family<QueueState, Gauge>,
    dead_jobs: Family<QueueLabel, Gauge>,
    oldest_ready: Family<QueueLabel, Seconds>,
    queue_workers: Family<QueueLabel, Gauge>,
    queue_paused: Family<QueueLabel, Gauge>,
    queue_threads: Family<QueueState, Gauge>,
    workers: Family<StateLabel, Gauge>,
    threads: Family<StateLabel, Gauge>,
    backlog: Gauge,
    closed_keys: Gauge,
    schedules: Gauge,
    schedules_paused: Gauge,
    schedules_overdue: Gauge,
    schedule_lag: Seconds,
    findings: Family<SeverityLabel, Gauge>,
    operations: Operations,
}

impl ClusterGauges {
    pub(super) fn new() -> ClusterGauges {
        let mut gauges = ClusterGauges {
            registry: Registry::with_prefix("ganger"),
            queue_jobs: Family::default(),
            dead_jobs: Family::default(),
            oldest_ready: Family::default(),
            queue_workers: Family::default(),
            queue_paused: Family::default(),
            queue_threads: Family::default(),
            workers: Family::default(),
            threads: Family::default(),
            backlog: Gauge::default(),
            closed_keys: Gauge::default(),
            schedules: Gauge::default(),
            schedules_paused: Gauge::default(),
            schedules_overdue: Gauge::default(),
            schedule_lag: Seconds::default(),
            findings: Family::default(),
            operations: Operations::default(),
        };
        gauges.register();
        gauges
    }

    fn register(&mut self) {
        let r = &mut self.registry;
        r.register("queue_jobs", "Jobs by queue and state", self.queue_jobs.clone());
        r.register("dead_jobs", "Dead jobs that are kept, by queue", self.dead_jobs.clone());
        let oldest = self.oldest_ready.clone();
        r.register_with_unit("queue_oldest_ready_age", "Age of the first job in line", Unit::Seconds, oldest);
        r.register("queue_workers", "Workers that serve a queue", self.queue_workers.clone());
        r.register("queue_paused", "Whether nothing of a queue starts", self.queue_paused.clone());
        let threads = "Threads that jobs of a queue hold, and free ones of workers that serve it";
        r.register("queue_threads", threads, self.queue_threads.clone());
        r.register("workers", "Workers by state", self.workers.clone());
        r.register("threads", "Threads of all workers, used and free", self.threads.clone());
        r.register("store_backlog", "Changes that wait for the next commit", self.backlog.clone());
        r.register("closed_keys", "Keys of queues that are closed", self.closed_keys.clone());
        r.register("schedules", "Schedules there are", self.schedules.clone());
        r.register("schedules_paused", "Schedules that are paused", self.schedules_paused.clone());
        let overdue = "Schedules with an instant that is due for long";
        r.register("schedules_overdue", overdue, self.schedules_overdue.clone());
        let lag = "For how long the first undecided instant of a schedule has been due";
        r.register_with_unit("schedule_lag", lag, Unit::Seconds, self.schedule_lag.clone());
        r.register("findings", "What the verdict is made of, by severity", self.findings.clone());
        self.operations.register(r);
    }

    /// Writes them as the leader counts now. Whoever calls sees to it that nobody else does at the same time.
    pub(super) fn encode(
        &self,
        out: &mut String,
        names: &Names,
        gauges: &Gauges,
        operations: &[(Action, usize)],
    ) -> fmt::Result {
        self.clear();
        for (view, threads) in &gauges.queues {
            self.fill_queue(names.bounded(view.queue.as_str()), view, *threads);
        }
        self.fill_stats(&gauges.stats);
        self.schedule_lag.set(gauges.schedule_lag.as_secs_f64());
        for severity in [Severity::Watch, Severity::Bad] {
            let found = gauges.verdict.findings.iter().filter(|finding| finding.severity == severity);
            let label = SeverityLabel { severity: severity.as_str() };
            self.findings.get_or_create(&label).set(signed(found.count() as u64));
        }
        self.operations.set(operations);
        text::encode_registry(out, &self.registry)
    }

    /// A queue that is gone must not keep its last numbers for ever.
    fn clear(&self) {
        self.queue_jobs.clear();
        self.dead_jobs.clear();
        self.oldest_ready.clear();
        self.queue_workers.clear();
        self.queue_paused.clear();
        self.queue_threads.clear();
    }

    /// Queues past the bound of the label share one: counts are added, of ages the largest is told, of workers the fewest,
    /// so that an alert about any of them is one about all.
    fn fill_queue(&self, queue: String, view: &QueueView, threads: QueueThreads) {
        for (state, count) in State::ALL.iter().zip(view.counts) {
            let labels = QueueState { queue: queue.clone(), state: state.as_str() };
            self.queue_jobs.get_or_create(&labels).inc_by(signed(count));
            if *state == State::Dead {
                self.dead_jobs.get_or_create(&QueueLabel { queue: queue.clone() }).inc_by(signed(count));
            }
        }
        for (state, count) in [("used", threads.used), ("free", threads.free)] {
            let labels = QueueState { queue: queue.clone(), state };
            self.queue_threads.get_or_create(&labels).inc_by(signed(count));
        }
        let label = QueueLabel { queue };
        let oldest = self.oldest_ready.get_or_create_owned(&label);
        oldest.set(oldest.get().max(view.oldest_ready.unwrap_or_default().as_secs_f64()));
        let paused = self.queue_paused.get_or_create_owned(&label);
        paused.set(paused.get().max(i64::from(view.settings.paused)));
        let workers = signed(view.workers as u64);
        let first = self.queue_workers.get(&label).is_none();
        let gauge = self.queue_workers.get_or_create_owned(&label);
        gauge.set(if first { workers } else { gauge.get().min(workers) });
    }

    fn fill_stats(&self, stats: &Stats) {
        for state in WORKER_STATES {
            let count = stats.workers.iter().find(|(of, _)| *of == state).map_or(0, |(_, count)| *count);
            let labels = StateLabel { state: state.as_str() };
            self.workers.get_or_create(&labels).set(signed(count as u64));
        }
        let free = stats.threads.saturating_sub(stats.threads_used);
        for (state, count) in [("used", stats.threads_used), ("free", free)] {
            self.threads.get_or_create(&StateLabel { state }).set(signed(count));
        }
        self.closed_keys.set(signed(stats.closed_keys as u64));
        self.backlog.set(signed(stats.backlog as u64));
        let ScheduleCounts { known, paused, overdue } = stats.schedules;
        self.schedules.set(signed(known as u64));
        self.schedules_paused.set(signed(paused as u64));
        self.schedules_overdue.set(signed(overdue as u64));
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
