//! What was measured, for programs; `shown.rs` has it for people.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::ceiling::Ceiling;
use super::meter::Spent;
use super::per_second;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The longest time that is told apart, in microseconds.
const LONGEST: u64 = 600_000_000;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    /// Where the jobs were kept.
    pub(super) store: &'static str,
    /// Jobs enqueued in bulk and drained.
    pub(super) jobs: u64,
    /// Threads of the worker.
    pub(super) threads: u16,
    /// The drain as a part of the ceiling, in each round. What follows is the round in the middle.
    pub(super) shares: Vec<f64>,
    /// What the database itself can do.
    pub(super) ceiling: Ceiling,
    /// Enqueued in batches.
    pub(super) bulk: Intake,
    /// Enqueued one by one.
    pub(super) single: Intake,
    /// Enqueued one by one and buffered, where Redis is there to do so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) buffered: Option<Buffered>,
    /// Run.
    pub(super) drain: Drain,
    /// Run while as many jobs of a closed key stand before them.
    pub(super) parked: Drain,
    /// Started while nothing else happens.
    pub(super) start: Start,
}

/// What each job cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Cost {
    /// CPU seconds of the server per million jobs.
    pub(super) server_cpu_seconds_per_million: f64,
    /// CPU seconds of the worker per million jobs.
    pub(super) worker_cpu_seconds_per_million: f64,
    /// Commits of the server per job.
    pub(super) commits_per_job: f64,
    /// What the database wrote to its log per job, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wal_bytes_per_job: Option<f64>,
}

/// How fast jobs were taken in.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Intake {
    /// How many.
    pub(super) jobs: u64,
    /// Jobs per second.
    pub(super) jobs_per_second: f64,
    /// One request.
    pub(super) request: Spread,
    /// What each cost.
    #[serde(flatten)]
    pub(super) cost: Cost,
}

/// How fast jobs were taken in by Redis, and then came into the store.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Buffered {
    /// Until Redis had them.
    #[serde(flatten)]
    pub(super) intake: Intake,
    /// Jobs per second until they were in the store.
    pub(super) stored_per_second: f64,
}

/// How fast jobs were run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Drain {
    /// How many.
    pub(super) jobs: u64,
    /// Jobs per second.
    pub(super) jobs_per_second: f64,
    /// What each cost.
    #[serde(flatten)]
    pub(super) cost: Cost,
    /// How often the server committed meanwhile.
    commits: u64,
    /// Which part of the time a batch was with the store: 1 means that the rest keeps up with it.
    pub(super) store_busy: f64,
}

/// How long a job waits for its start.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Start {
    /// From intake to the handler's first moment.
    pub(super) start: Spread,
    /// One request that enqueues.
    pub(super) submit: Spread,
    /// Jobs per second, one after the other.
    pub(super) jobs_per_second: f64,
    /// What each cost, the looking at it included.
    #[serde(flatten)]
    pub(super) cost: Cost,
}

/// Times, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Spread {
    /// Half are shorter.
    pub(super) p50_us: u64,
    /// One in a hundred is longer.
    pub(super) p99_us: u64,
}

impl Spread {
    /// Of these times.
    pub(super) fn of(times: &Histogram<u64>) -> Spread {
        Spread { p50_us: times.value_at_quantile(0.5), p99_us: times.value_at_quantile(0.99) }
    }
}

impl Cost {
    /// Of so many jobs.
    fn of(jobs: u64, spent: Spent) -> Cost {
        let each = |sum: f64| sum / (jobs.max(1) as f64);
        Cost {
            server_cpu_seconds_per_million: each(spent.cpu.server * 1e6),
            worker_cpu_seconds_per_million: each(spent.cpu.worker * 1e6),
            commits_per_job: each(spent.commits as f64),
            wal_bytes_per_job: spent.wal_bytes.map(|bytes| each(bytes as f64)),
        }
    }
}

impl Intake {
    /// So many in that time.
    pub(super) fn new(jobs: u64, took: Duration, request: Spread, spent: Spent) -> Intake {
        Intake { jobs, jobs_per_second: per_second(jobs, took), request, cost: Cost::of(jobs, spent) }
    }
}

impl Buffered {
    /// Taken in like this, and in the store after that time.
    pub(super) fn new(intake: Intake, stored: Duration) -> Buffered {
        Buffered { intake, stored_per_second: per_second(intake.jobs, stored) }
    }
}

impl Start {
    /// So many in that time, one after the other.
    pub(super) fn new(jobs: u64, took: Duration, start: Spread, submit: Spread, spent: Spent) -> Start {
        Start { start, submit, jobs_per_second: per_second(jobs, took), cost: Cost::of(jobs, spent) }
    }
}

impl Drain {
    /// So many in that time.
    pub(super) fn new(jobs: u64, took: Duration, spent: Spent) -> Drain {
        Drain {
            jobs,
            jobs_per_second: per_second(jobs, took),
            cost: Cost::of(jobs, spent),
            commits: spent.commits,
            store_busy: spent.commit_seconds / took.as_secs_f64().max(1e-9),
        }
    }

    /// Jobs that ended per commit, on average.
    pub(super) fn jobs_per_commit(&self) -> u64 {
        (self.jobs / self.commits.max(1)).max(1)
    }
}

/// For times of up to ten minutes, to a thousandth.
pub(super) fn histogram() -> Fallible<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST, 3)
        .map_err(|error| Failure::new(Exit::Failure, "cannot keep times", error, ""))
}
