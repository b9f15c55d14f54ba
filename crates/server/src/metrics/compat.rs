//! The metrics of profile A, under the names of the original, so that its dashboards fill.
//!
//! They come with the profile and count what really happens, to whatever door a job came. A job counts once, when it is over:
//! `completed`, `failed`, or `timeout` if its last attempt ran out of time, or its worker was not heard of any more. A worker is known by its name.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::coordinator::gauges::Gauges;
use ganger_core::event::Event;
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::labels::{LABEL_VALUES, OTHER, StateLabel};

/// States of a worker that the dashboards know.
const WORKER_STATES: [&str; 3] = ["available", "busy", "unavailable"];
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Status {
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WorkerUrl {
    worker_url: String,
}

/// Everything that the original counted.
pub(super) struct Compat {
    registry: Registry,
    /// Those that only the leader can count.
    gauges: Registry,
    ends: Ends,
    workers: Family<StateLabel, Gauge>,
    in_queue: Gauge,
    in_dlq: Gauge,
    processing: Family<WorkerUrl, Histogram, fn() -> Histogram>,
    retries: Retries,
    lease_timeouts: Counter,
    /// The histograms of workers, found by their names as they are.
    known: Mutex<HashMap<Arc<str>, Histogram>>,
    /// The job whose attempt, or its lease, ran out of time last: what became of it is told next.
    timed_out: Mutex<Option<JobId>>,
}

/// Ends of a job that the dashboards know. All are there from the beginning: panels of rates need a zero.
struct Ends {
    completed: Counter,
    failed: Counter,
    timeout: Counter,
}

/// Why an attempt is followed by another.
struct Retries {
    error: Histogram,
    timeout: Histogram,
    lost: Histogram,
}

impl Compat {
    pub(super) fn new() -> Compat {
        let mut registry = Registry::default();
        let mut compat = Compat {
            ends: Ends::registered(&mut registry),
            retries: Retries::registered(&mut registry),
            registry,
            gauges: Registry::default(),
            workers: Family::default(),
            in_queue: Gauge::default(),
            in_dlq: Gauge::default(),
            processing: Family::new_with_constructor(processing_times),
            lease_timeouts: Counter::default(),
            known: Mutex::default(),
            timed_out: Mutex::default(),
        };
        compat.register();
        compat
    }

    fn register(&mut self) {
        let g = &mut self.gauges;
        g.register("workers_active", "Workers by state", self.workers.clone());
        g.register("jobs_in_queue", "Jobs that wait, for whatever reason", self.in_queue.clone());
        g.register("jobs_in_dlq", "Dead jobs", self.in_dlq.clone());
        let r = &mut self.registry;
        let help = "How long attempts ran, by worker";
        r.register_with_unit("job_processing_duration", help, Unit::Seconds, self.processing.clone());
        let help = "Attempts whose worker was not heard of any more";
        r.register("dts_lease_timeouts", help, self.lease_timeouts.clone());
    }

    /// Something happened.
    pub(super) fn observe(&self, event: &Event) {
        if let Event::Attempt { job, attempt, outcome, worker, ran_us, .. } = event {
            self.processing_of(worker).observe(Duration::from_micros(*ran_us).as_secs_f64());
            // What this attempt died of counts, not what one before it did.
            self.died_of_time(*job);
            let retries = match outcome {
                Outcome::Error => &self.retries.error,
                Outcome::Timeout => {
                    self.ran_out_of_time(*job);
                    &self.retries.timeout
                }
                Outcome::Lost => {
                    self.ran_out_of_time(*job);
                    self.lease_timeouts.inc();
                    &self.retries.lost
                }
                Outcome::Ok | Outcome::Released | Outcome::Cancelled => return,
            };
            retries.observe(f64::from(attempt.saturating_sub(1)));
        }
        if let Event::Job { job, state, .. } = event {
            let ends = match state {
                State::Succeeded => &self.ends.completed,
                State::Dead if self.died_of_time(*job) => &self.ends.timeout,
                State::Dead => &self.ends.failed,
                State::Scheduled
                | State::Blocked
                | State::Queued
                | State::Running
                | State::Retrying
                | State::Cancelled => return,
            };
            ends.inc();
        }
    }

    /// Writes what this server counted.
    pub(super) fn encode(&self, out: &mut String) -> fmt::Result {
        text::encode_registry(out, &self.registry)
    }

    /// Writes the gauges as the leader counts now.
    pub(super) fn encode_gauges(&self, out: &mut String, gauges: &Gauges) -> fmt::Result {
        self.fill(gauges);
        text::encode_registry(out, &self.gauges)
    }

    fn fill(&self, gauges: &Gauges) {
        let (mut waiting, mut dead) = (0, 0);
        for (.., counts) in &gauges.stats.counts {
            for (state, count) in State::ALL.iter().zip(counts) {
                match state {
                    State::Scheduled | State::Blocked | State::Queued | State::Retrying => waiting += count,
                    State::Dead => dead += count,
                    State::Running | State::Succeeded | State::Cancelled => {}
                }
            }
        }
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.in_queue.set(number(waiting));
        self.in_dlq.set(number(dead));
        // The originals had one job at a time: a worker with any job was busy.
        let by_use = gauges.workers;
        for (state, count) in WORKER_STATES.into_iter().zip([by_use.idle, by_use.working, by_use.away]) {
            self.workers.get_or_create(&StateLabel { state }).set(number(count as u64));
        }
    }

    fn processing_of(&self, worker: &Arc<str>) -> Histogram {
        // A panic while the lock is held leaves whole entries.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(histogram) = known.get(worker) {
            return histogram.clone();
        }
        if known.len() >= LABEL_VALUES {
            return self.processing.get_or_create_owned(&WorkerUrl { worker_url: OTHER.into() });
        }
        let histogram = self.processing.get_or_create_owned(&WorkerUrl { worker_url: worker.to_string() });
        known.insert(worker.clone(), histogram.clone());
        histogram
    }

    fn ran_out_of_time(&self, job: JobId) {
        *self.timed_out.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
    }

    fn died_of_time(&self, job: JobId) -> bool {
        let mut timed_out = self.timed_out.lock().unwrap_or_else(PoisonError::into_inner);
        timed_out.take_if(|timed_out| *timed_out == job).is_some()
    }
}

impl Ends {
    fn registered(registry: &mut Registry) -> Ends {
        let family = Family::<Status, Counter>::default();
        registry.register("jobs", "Jobs that are over, by how they ended", family.clone());
        let of = |status| family.get_or_create_owned(&Status { status });
        Ends { completed: of("completed"), failed: of("failed"), timeout: of("timeout") }
    }
}

impl Retries {
    fn registered(registry: &mut Registry) -> Retries {
        let family = Family::<Reason, Histogram, fn() -> Histogram>::new_with_constructor(retry_counts);
        let help = "Retries before an attempt that failed, by why it did";
        registry.register("job_retry_attempts", help, family.clone());
        let of = |reason| family.get_or_create_owned(&Reason { reason });
        Retries { error: of("error"), timeout: of("timeout"), lost: of("lost") }
    }
}

fn processing_times() -> Histogram {
    Histogram::new([1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0])
}

fn retry_counts() -> Histogram {
    Histogram::new([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Term;
    use ganger_core::Wall;
    use ganger_core::coordinator::gauges::WorkerUse;
    use ganger_core::coordinator::view::{ScheduleCounts, Stats};
    use ganger_core::event::WorkerState;

    fn attempt(job: JobId, attempt: u32, outcome: Outcome, worker: &str) -> Event {
        let (queue, kind) = ("default".parse().unwrap(), "default".parse().unwrap());
        let worker = worker.into();
        Event::Attempt {
            job,
            queue,
            kind,
            attempt,
            outcome,
            reason: ganger_core::reason::Reason::Failed,
            again: false,
            worker,
            ran_us: 7_000_000,
            waited_us: 0,
            at: Wall(0),
        }
    }

    fn ended(job: JobId, state: State) -> Event {
        let (queue, kind) = ("default".parse().unwrap(), "default".parse().unwrap());
        Event::Job { job, queue, kind, state, attempt: 1, created_at: Wall(0), at: Wall(0) }
    }

    fn text(compat: &Compat, gauges: Option<&Gauges>) -> String {
        let mut out = String::new();
        compat.encode(&mut out).unwrap();
        gauges.map_or(Ok(()), |gauges| compat.encode_gauges(&mut out, gauges)).unwrap();
        out
    }

    #[test]
    fn every_panel_of_the_original_finds_its_metric() {
        let compat = Compat::new();
        let (a, b, c) = (JobId::new(1, [1; 10]), JobId::new(1, [2; 10]), JobId::new(1, [3; 10]));
        let d = JobId::new(1, [4; 10]);
        for event in [
            attempt(a, 1, Outcome::Ok, "w1"),
            ended(a, State::Succeeded),
            attempt(b, 3, Outcome::Timeout, "w1"),
            ended(b, State::Retrying),
            attempt(b, 4, Outcome::Timeout, "w1"),
            ended(b, State::Dead),
            attempt(c, 1, Outcome::Lost, "w2"),
            ended(c, State::Retrying),
            attempt(c, 2, Outcome::Error, "w2"),
            ended(c, State::Dead),
            attempt(d, 1, Outcome::Lost, "w3"),
            ended(d, State::Dead),
        ] {
            compat.observe(&event);
        }
        let mut counts = [0; 8];
        counts.copy_from_slice(&State::ALL.map(|state| if state.is_final() { 5 } else { 2 }));
        let stats = Stats {
            term: Term::default(),
            counts: vec![("q".parse().unwrap(), "k".parse().unwrap(), counts)],
            workers: vec![(WorkerState::Busy, 3), (WorkerState::Draining, 1), (WorkerState::Lost, 9)],
            threads: 8,
            threads_used: 5,
            backlog: 7,
            cannot_start: 0,
            closed_keys: 0,
            store_trouble: None,
            schedules: ScheduleCounts::default(),
        };
        let workers = WorkerUse { idle: 0, working: 3, away: 10 };
        let (queues, verdict) = (Vec::new(), ganger_core::verdict::Verdict::default());
        let gauges = Gauges { stats, queues, workers, schedule_lag: Duration::ZERO, verdict };
        let text = text(&compat, Some(&gauges));
        for expected in [
            "jobs_total{status=\"completed\"} 1",
            "jobs_total{status=\"failed\"} 1",
            "jobs_total{status=\"timeout\"} 2",
            "workers_active{state=\"available\"} 0",
            "workers_active{state=\"busy\"} 3",
            "workers_active{state=\"unavailable\"} 10",
            "jobs_in_queue 8",
            "jobs_in_dlq 5",
            "job_processing_duration_seconds_bucket{le=\"5.0\",worker_url=\"w1\"} 0",
            "job_processing_duration_seconds_bucket{le=\"10.0\",worker_url=\"w1\"} 3",
            "job_processing_duration_seconds_count{worker_url=\"w2\"} 2",
            "job_retry_attempts_bucket{le=\"0.0\",reason=\"lost\"} 2",
            "job_retry_attempts_bucket{le=\"2.0\",reason=\"timeout\"} 1",
            "job_retry_attempts_bucket{le=\"5.0\",reason=\"timeout\"} 2",
            "job_retry_attempts_count{reason=\"error\"} 1",
            "dts_lease_timeouts_total 2",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected} in\n{text}");
        }
        assert!(!text.contains("ganger_"), "under the names of the original: {text}");
    }

    #[test]
    fn workers_beyond_the_bound_are_counted_together() {
        let compat = Compat::new();
        for n in 0..LABEL_VALUES + 5 {
            compat.observe(&attempt(JobId::new(1, [1; 10]), 1, Outcome::Ok, &format!("w{n}")));
        }
        let text = text(&compat, None);
        assert!(text.contains("job_processing_duration_seconds_count{worker_url=\"_other\"} 5"), "{text}");
        assert!(!text.contains("w200"));
    }
}
