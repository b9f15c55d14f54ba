//! What is counted and measured, in the OpenMetrics format.
//!
//! Counters and histograms are fed as things happen; gauges are filled at each scrape from the
//! leader's own exact counts. Labels come from clients, so their number is bounded: after the first two
//! hundred kinds or queues, further ones are counted together as `_other`.

mod compat;
mod lanes;
mod lateness;
mod leadership;
mod operations;
mod schedules;

mod reconciler;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use ganger_core::coordinator::view::{QueueView, ScheduleCounts, Stats};
use ganger_core::event::{Event, WorkerState};
use ganger_core::job::State;
use ganger_core::minutes::Bucket;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::http::compat::{Profile, Profiles};
use crate::relay::RelayMeasures;
use lanes::Lanes;
use lateness::Lateness;
use leadership::Leadership;

use crate::accelerator::{Measures, Seen};

/// Media type of a scrape.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Distinct values of one label before further ones are `_other`.
const LABEL_VALUES: usize = 200;
const OTHER: &str = "_other";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Lane {
    queue: String,
    kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LaneOutcome {
    queue: String,
    kind: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueState {
    queue: String,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabel {
    queue: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabel {
    route: String,
    method: String,
    status_class: &'static str,
}

type Times = Family<Lane, Histogram, fn() -> Histogram>;
type Seconds = Gauge<f64, AtomicU64>;

/// Everything that is counted. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    /// What comes with the compatible door of profile A.
    compat: Option<compat::Compat>,
    registry: Registry,
    enqueued: Family<Lane, Counter>,
    finished: Family<LaneOutcome, Counter>,
    attempts: Family<LaneOutcome, Counter>,
    wait: Times,
    run: Times,
    end_to_end: Times,
    queue_jobs: Family<QueueState, Gauge>,
    oldest_ready: Family<QueueLabel, Seconds>,
    workers: Family<StateLabel, Gauge>,
    threads: Family<StateLabel, Gauge>,
    leases_lost: Counter,
    commit: Histogram,
    batch: Histogram,
    backlog: Gauge,
    closed_keys: Gauge,
    requests: Family<RequestLabel, Histogram, fn() -> Histogram>,
    events_dropped: Counter,
    leadership: Leadership,
    operations: operations::Operations,
    lateness: Lateness,
    relay: RelayMeasures,
    queues: Names,
    kinds: Names,
    lanes: Lanes,
    redis: Measures,
    schedules: schedules::Schedules,
    reconciler: reconciler::Reconciler,
    /// One scrape at a time: gauges are cleared and filled again.
    scraping: Mutex<()>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(version: &'static str) -> Metrics {
        Metrics::with_doors(version, Profiles::NONE)
    }

    /// Nothing counted yet; what the doors of these profiles count is counted under their names as well.
    #[must_use]
    pub fn with_doors(version: &'static str, doors: Profiles) -> Metrics {
        let mut inner = Inner {
            compat: doors.has(Profile::A).then(compat::Compat::new),
            registry: Registry::with_prefix("ganger"),
            enqueued: Family::default(),
            finished: Family::default(),
            attempts: Family::default(),
            wait: Times::new_with_constructor(job_times),
            run: Times::new_with_constructor(job_times),
            end_to_end: Times::new_with_constructor(job_times),
            queue_jobs: Family::default(),
            oldest_ready: Family::default(),
            workers: Family::default(),
            threads: Family::default(),
            leases_lost: Counter::default(),
            commit: Histogram::new(exponential_buckets(0.000_1, 2.0, 18)),
            batch: Histogram::new(exponential_buckets(1.0, 2.0, 15)),
            backlog: Gauge::default(),
            closed_keys: Gauge::default(),
            requests: Family::new_with_constructor(request_times),
            events_dropped: Counter::default(),
            leadership: Leadership::default(),
            operations: operations::Operations::default(),
            lateness: Lateness::default(),
            relay: RelayMeasures::default(),
            queues: Names::default(),
            kinds: Names::default(),
            lanes: Lanes::default(),
            redis: Measures::default(),
            schedules: schedules::Schedules::default(),
            reconciler: reconciler::Reconciler::default(),
            scraping: Mutex::new(()),
        };
        inner.register(version);
        Metrics(Arc::new(inner))
    }

    /// New jobs were taken in.
    pub fn enqueued(&self, queue: &str, kind: &str, jobs: u64) {
        self.0.enqueued.get_or_create(&self.0.lane(queue, kind)).inc_by(jobs);
    }

    /// Something happened.
    pub fn observe_event(&self, event: &Event) {
        if let Some(compat) = &self.0.compat {
            compat.observe(event);
        }
        match event {
            Event::Job { queue, kind, state, created_at, at, .. } if state.is_final() => {
                self.0.in_lane(queue, kind, |lane| {
                    lane.end_to_end.observe(at.since(*created_at).as_secs_f64());
                    lane.finished(&self.0, *state).inc();
                });
            }
            Event::Attempt { queue, kind, outcome, ran_us, waited_us, .. } => {
                let seconds = |us: u64| Duration::from_micros(us).as_secs_f64();
                self.0.in_lane(queue, kind, |lane| {
                    lane.run.observe(seconds(*ran_us));
                    lane.wait.observe(seconds(*waited_us));
                    lane.attempts(&self.0, *outcome).inc();
                });
            }
            Event::LeaseLost { .. } => {
                self.0.leases_lost.inc();
            }
            Event::Occurrence { fate, late_us, cause, .. } => {
                self.0.schedules.decided(fate, *cause, *late_us)
            }
            Event::ScheduleOverdue { .. } => self.0.schedules.overdue(),
            Event::Difference { what, .. } => self.0.reconciler.differed(*what),
            Event::Job { .. }
            | Event::Progress { .. }
            | Event::Worker { .. }
            | Event::Queue { .. }
            | Event::Schedule { .. } => {}
        }
    }

    /// A batch was committed.
    pub fn commit(&self, took: Duration, changes: usize) {
        self.0.commit.observe(took.as_secs_f64());
        self.0.batch.observe(changes as f64);
    }

    /// What became durable, by queue and kind.
    pub fn counted(&self, buckets: &[Bucket]) {
        for bucket in buckets.iter().filter(|bucket| bucket.counts.started > 0) {
            self.0.lateness.add(self.0.queues.bounded(bucket.queue.as_str()), &bucket.counts.wait);
        }
    }

    /// A request was answered. `route` is the pattern, never the path.
    pub fn request(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE];
        let method = if known.contains(method) { method.as_str() } else { OTHER };
        let status_class = match status.as_u16() / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        let labels = RequestLabel { route: route.into(), method: method.into(), status_class };
        self.0.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Events were not told to someone who was too slow.
    pub fn events_dropped(&self, count: u64) {
        self.0.events_dropped.inc_by(count);
    }

    /// The leader's row was renewed.
    pub fn renewed(&self) {
        self.0.leadership.renewals.inc();
    }

    /// Whether this server leads, in which term it leads or follows, and whether the store answers it.
    pub fn leadership(&self, leads: bool, term: u64, store_up: bool) {
        self.0.leadership.set(leads, term, store_up);
    }

    /// Bulk operations that this server carries out, by what they do.
    pub fn operations(&self, running: &[(ganger_core::operation::Action, usize)]) {
        self.0.operations.set(running);
    }

    /// What is counted of relayed calls.
    #[must_use]
    pub fn relay(&self) -> &RelayMeasures {
        &self.0.relay
    }

    /// How Redis is.
    pub fn accelerated(&self, seen: Seen) {
        self.0.redis.fill(seen);
    }

    /// Everything as text, with gauges as the leader counts now.
    ///
    /// # Errors
    /// The text could not be written, which takes a bug.
    pub fn scrape(&self, stats: Option<&Stats>, queues: Option<&[QueueView]>) -> Result<String, fmt::Error> {
        let _one_at_a_time = self.0.scraping.lock().unwrap_or_else(PoisonError::into_inner);
        self.fill_queues(queues.unwrap_or_default());
        self.fill_stats(stats);
        let mut out = String::new();
        text::encode_registry(&mut out, &self.0.registry)?;
        if let Some(compat) = &self.0.compat {
            compat.encode(&mut out, stats)?;
        }
        text::encode_eof(&mut out)?;
        Ok(out)
    }

    fn fill_queues(&self, queues: &[QueueView]) {
        self.0.queue_jobs.clear();
        self.0.oldest_ready.clear();
        for view in queues {
            let queue = self.0.queues.bounded(view.queue.as_str());
            for (state, count) in State::ALL.iter().zip(view.counts) {
                let labels = QueueState { queue: queue.clone(), state: state.as_str() };
                self.0.queue_jobs.get_or_create(&labels).inc_by(i64::try_from(count).unwrap_or(i64::MAX));
            }
            let oldest = view.oldest_ready.unwrap_or_default().as_secs_f64();
            let gauge = self.0.oldest_ready.get_or_create_owned(&QueueLabel { queue });
            gauge.set(gauge.get().max(oldest));
        }
    }

    fn fill_stats(&self, stats: Option<&Stats>) {
        self.0.workers.clear();
        self.0.threads.clear();
        let Some(stats) = stats else { return };
        for (state, count) in &stats.workers {
            let labels = StateLabel { state: WorkerState::as_str(*state) };
            self.0.workers.get_or_create(&labels).set(i64::try_from(*count).unwrap_or(i64::MAX));
        }
        let threads = |state, count: u64| {
            let gauge = self.0.threads.get_or_create_owned(&StateLabel { state });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        };
        threads("used", stats.threads_used);
        threads("free", stats.threads.saturating_sub(stats.threads_used));
        self.0.closed_keys.set(i64::try_from(stats.closed_keys).unwrap_or(i64::MAX));
        let ScheduleCounts { known, paused, overdue } = stats.schedules;
        self.0.schedules.set(known, paused, overdue);
        self.0.backlog.set(i64::try_from(stats.backlog).unwrap_or(i64::MAX));
    }
}

impl Inner {
    fn lane(&self, queue: &str, kind: &str) -> Lane {
        Lane { queue: self.queues.bounded(queue), kind: self.kinds.bounded(kind) }
    }

    fn register(&mut self, version: &'static str) {
        let r = &mut self.registry;
        r.register("jobs_enqueued", "Jobs taken in", self.enqueued.clone());
        r.register("jobs_finished", "Jobs that became final, by state", self.finished.clone());
        r.register("attempts", "Attempts that ended, by outcome", self.attempts.clone());
        let s = Unit::Seconds;
        r.register_with_unit("job_wait", "From due to the start of an attempt", s.clone(), self.wait.clone());
        r.register_with_unit("job_run", "How long attempts ran", s.clone(), self.run.clone());
        r.register_with_unit("job_end_to_end", "From intake to the end", s.clone(), self.end_to_end.clone());
        r.register("queue_jobs", "Jobs by queue and state", self.queue_jobs.clone());
        let oldest = self.oldest_ready.clone();
        r.register_with_unit("queue_oldest_ready_age", "Age of the first job in line", s.clone(), oldest);
        r.register("workers", "Workers by state", self.workers.clone());
        r.register("worker_threads", "Threads of all workers, used and free", self.threads.clone());
        r.register("leases_lost", "Reports under a lease no longer held", self.leases_lost.clone());
        r.register_with_unit("store_commit", "How long commits took", s.clone(), self.commit.clone());
        r.register("store_batch_changes", "Changes in one commit", self.batch.clone());
        r.register("store_backlog", "Changes that wait for the next commit", self.backlog.clone());
        r.register("closed_keys", "Keys of queues that are closed", self.closed_keys.clone());
        r.register_with_unit("api_request", "How long requests took", s, self.requests.clone());
        r.register("events_dropped", "Events not told to a slow listener", self.events_dropped.clone());
        self.leadership.register(r);
        self.operations.register(r);
        self.lateness.register(r);
        self.relay.register(r);
        self.redis.register(r);
        self.schedules.register(r);
        self.reconciler.register(r);
        // An info metric gets the suffix `_info` by itself.
        r.register("build", "The running version", Info::new([("version", version)]));
    }
}

/// From a millisecond to more than an hour.
fn job_times() -> Histogram {
    Histogram::new([
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
        900.0, 3600.0,
    ])
}

fn request_times() -> Histogram {
    Histogram::new([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0])
}

/// The values of one label, up to a number.
#[derive(Default)]
struct Names(RwLock<HashSet<String>>);

impl Names {
    fn bounded(&self, name: &str) -> String {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.contains(name) {
            return name.into();
        }
        let full = known.len() >= LABEL_VALUES;
        drop(known);
        if full {
            return OTHER.into();
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have filled it meanwhile.
        if known.contains(name) || known.len() < LABEL_VALUES {
            known.insert(name.into());
            return name.into();
        }
        OTHER.into()
    }
}

#[cfg(test)]
mod tests;
