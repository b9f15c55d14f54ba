//! What is counted and measured, in the OpenMetrics format.
//!
//! Counters and histograms are fed as things happen, each on the one server where it happened, so that a sum over all servers
//! counts everything once. The gauges of the cluster ([`cluster`]) are filled at each scrape from the leader's own exact
//! counts, whichever server is asked. Labels come from clients, so their number is bounded: after the first
//! two hundred kinds or queues, further ones are counted together as `_other`.
//!
//! `docs/metrics.md` lists every metric; a test compares it with what a server exports.

mod cluster;
mod compat;
mod disk;
mod labels;
mod lanes;
mod lateness;
mod leadership;
mod operations;
mod reconciler;
mod schedules;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use ganger_core::coordinator::gauges::Gauges;
use ganger_core::event::{Event, WorkerState};
use ganger_core::minutes::Bucket;
use ganger_core::operation::Action;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::http::compat::{Profile, Profiles};
use crate::relay::RelayMeasures;
use cluster::ClusterGauges;
use labels::{Lane, LaneEnd, LaneOutcome, LaneReason, Names, OTHER, QueueLabel, RequestLabel};
use lanes::Lanes;
use lateness::Lateness;
use leadership::Leadership;

use crate::accelerator::{Measures, Seen};

/// Media type of a scrape.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What was built, where whoever built it said so.
const COMMIT: &str = match option_env!("GANGER_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// How the text of a scrape ends.
const END: &str = "# EOF\n";

/// What is known of the cluster at a scrape.
#[derive(Clone, Copy, Debug)]
pub enum Cluster<'a> {
    /// This server leads and has counted: everything, and bulk operations under way.
    Counted(&'a Gauges, &'a [(Action, usize)]),
    /// The leader told this ([`Metrics::scrape_cluster`]).
    Told(&'a str),
    /// Nobody leads, or the leader did not answer in time.
    Unknown,
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
    attempts: Family<LaneEnd, Counter>,
    retries: Family<LaneReason, Counter>,
    leases_expired: Family<QueueLabel, Counter>,
    wait: Times,
    run: Times,
    end_to_end: Times,
    leases_lost: Counter,
    sessions_lost: Counter,
    commit: Histogram,
    batch: Histogram,
    requests: Family<RequestLabel, Histogram, fn() -> Histogram>,
    events_dropped: Counter,
    stream_clients: Gauge,
    cluster: ClusterGauges,
    cluster_known: Gauge,
    disk: disk::StoreDisk,
    leadership: Leadership,
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
            retries: Family::default(),
            leases_expired: Family::default(),
            wait: Times::new_with_constructor(job_times),
            run: Times::new_with_constructor(job_times),
            end_to_end: Times::new_with_constructor(job_times),
            leases_lost: Counter::default(),
            sessions_lost: Counter::default(),
            commit: Histogram::new(exponential_buckets(0.000_1, 2.0, 18)),
            batch: Histogram::new(exponential_buckets(1.0, 2.0, 15)),
            requests: Family::new_with_constructor(request_times),
            events_dropped: Counter::default(),
            stream_clients: Gauge::default(),
            cluster: ClusterGauges::new(),
            cluster_known: Gauge::default(),
            disk: disk::StoreDisk::default(),
            leadership: Leadership::default(),
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
            Event::Attempt { queue, kind, outcome, reason, again, ran_us, waited_us, .. } => {
                let seconds = |us: u64| Duration::from_micros(us).as_secs_f64();
                self.0.in_lane(queue, kind, |lane| {
                    lane.run.observe(seconds(*ran_us));
                    lane.wait.observe(seconds(*waited_us));
                    lane.attempt_ended(&self.0, *outcome, *reason, *again);
                });
            }
            Event::Worker { state: WorkerState::Lost, .. } => {
                self.0.sessions_lost.inc();
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
        for bucket in buckets {
            if bucket.counts.enqueued > 0 {
                let enqueued = bucket.counts.enqueued;
                self.0.in_lane(&bucket.queue, &bucket.kind, |lane| _ = lane.enqueued.inc_by(enqueued));
            }
            if bucket.counts.started > 0 {
                self.0.lateness.add(self.0.queues.bounded(bucket.queue.as_str()), &bucket.counts.wait);
            }
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

    /// So many follow the events of this server.
    pub fn stream_clients(&self, count: usize) {
        self.0.stream_clients.set(i64::try_from(count).unwrap_or(i64::MAX));
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

    /// Everything that this server tells, as text.
    ///
    /// # Errors
    /// The text could not be written, which takes a bug.
    pub fn scrape(&self, cluster: Cluster<'_>) -> Result<String, fmt::Error> {
        let _one_at_a_time = self.0.scraping.lock().unwrap_or_else(PoisonError::into_inner);
        let told = match cluster {
            // Half an answer would be read as a whole one.
            Cluster::Told(text) => text.strip_suffix(END),
            Cluster::Counted(..) => Some(""),
            Cluster::Unknown => None,
        };
        self.0.cluster_known.set(i64::from(told.is_some()));
        let mut out = String::new();
        text::encode_registry(&mut out, &self.0.registry)?;
        if let Some(compat) = &self.0.compat {
            compat.encode(&mut out)?;
        }
        if let Cluster::Counted(gauges, operations) = cluster {
            self.0.encode_cluster(&mut out, gauges, operations)?;
        }
        out.push_str(told.unwrap_or_default());
        text::encode_eof(&mut out)?;
        Ok(out)
    }

    /// What the leader tells another server: the gauges of the cluster alone.
    ///
    /// # Errors
    /// The text could not be written, which takes a bug.
    pub fn scrape_cluster(
        &self,
        gauges: &Gauges,
        operations: &[(Action, usize)],
    ) -> Result<String, fmt::Error> {
        let _one_at_a_time = self.0.scraping.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        self.0.encode_cluster(&mut out, gauges, operations)?;
        text::encode_eof(&mut out)?;
        Ok(out)
    }
}

impl Inner {
    fn encode_cluster(
        &self,
        out: &mut String,
        gauges: &Gauges,
        operations: &[(Action, usize)],
    ) -> fmt::Result {
        self.cluster.encode(out, &self.queues, gauges, operations)?;
        self.compat.as_ref().map_or(Ok(()), |compat| compat.encode_gauges(out, gauges))
    }

    fn lane(&self, queue: &str, kind: &str) -> Lane {
        Lane { queue: self.queues.bounded(queue), kind: self.kinds.bounded(kind) }
    }

    fn register(&mut self, version: &'static str) {
        let r = &mut self.registry;
        r.register("jobs_enqueued", "Jobs taken in", self.enqueued.clone());
        r.register("jobs_finished", "Jobs that became final, by state", self.finished.clone());
        r.register("attempts", "Attempts that ended, by outcome and reason", self.attempts.clone());
        let retries = "Failed attempts after which the job runs again, by reason of the failure";
        r.register("retries", retries, self.retries.clone());
        let s = Unit::Seconds;
        r.register_with_unit("job_wait", "From due to the start of an attempt", s.clone(), self.wait.clone());
        r.register_with_unit("job_run", "How long attempts ran", s.clone(), self.run.clone());
        r.register_with_unit("job_end_to_end", "From intake to the end", s.clone(), self.end_to_end.clone());
        r.register("leases_lost", "Reports under a lease no longer held", self.leases_lost.clone());
        let expired = "Leases that ended because the session of their worker was closed, by queue";
        r.register("leases_expired", expired, self.leases_expired.clone());
        r.register("sessions_lost", "Sessions closed without a goodbye", self.sessions_lost.clone());
        r.register_with_unit("store_commit", "How long commits took", s.clone(), self.commit.clone());
        r.register("store_batch_changes", "Changes in one commit", self.batch.clone());
        r.register_with_unit("api_request", "How long requests took", s, self.requests.clone());
        r.register("events_dropped", "Events not told to a slow listener", self.events_dropped.clone());
        r.register("stream_clients", "Clients that follow live events", self.stream_clients.clone());
        let known = "Whether the gauges of the cluster are in this scrape";
        r.register("cluster_known", known, self.cluster_known.clone());
        self.disk.register(r);
        self.leadership.register(r);
        self.lateness.register(r);
        self.relay.register(r);
        self.redis.register(r);
        self.schedules.register(r);
        self.reconciler.register(r);
        // An info metric gets the suffix `_info` by itself.
        let build = Info::new([("version", version), ("commit", COMMIT)]);
        r.register("build", "The running version", build);
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

#[cfg(test)]
mod tests;
