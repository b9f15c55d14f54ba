//! What was measured, for people and for programs.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::ceiling::Ceiling;
use super::per_second;
use super::processes::Cpu;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::{grouped, short};
use crate::output::{Cell, Style, Table};

/// The longest time that is told apart, in microseconds.
const LONGEST: u64 = 600_000_000;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    /// Jobs enqueued in bulk and drained.
    pub(super) jobs: u64,
    /// Threads of the worker.
    pub(super) threads: u16,
    /// What the disk and SQLite themselves can do.
    pub(super) ceiling: Ceiling,
    /// Enqueued in batches.
    pub(super) bulk: Intake,
    /// Enqueued one by one.
    pub(super) single: Intake,
    /// Run.
    pub(super) drain: Drain,
    /// Started while nothing else happens.
    pub(super) start: Start,
}

/// How fast jobs were taken in.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Intake {
    /// How many.
    pub(super) jobs: u64,
    /// Jobs per second.
    jobs_per_second: f64,
    /// One request.
    request: Spread,
    /// CPU seconds of the server per million jobs.
    server_cpu_seconds_per_million: f64,
}

/// How fast jobs were run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Drain {
    /// How many.
    jobs: u64,
    /// Jobs per second.
    jobs_per_second: f64,
    /// CPU seconds of the server per million jobs.
    server_cpu_seconds_per_million: f64,
    /// CPU seconds of the worker per million jobs.
    worker_cpu_seconds_per_million: f64,
    /// How often the server committed meanwhile.
    commits: u64,
    /// Which part of the time a batch was with the store: 1 means that the rest keeps up with it.
    store_busy: f64,
}

/// Commits of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Commits {
    /// How many.
    pub(super) count: u64,
    /// How long they took together.
    pub(super) seconds: f64,
}

impl Commits {
    /// Those after an earlier look.
    pub(super) fn since(self, before: Commits) -> Commits {
        Commits { count: self.count.saturating_sub(before.count), seconds: self.seconds - before.seconds }
    }
}

/// How long a job waits for its start.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Start {
    /// From intake to the handler's first moment.
    pub(super) start: Spread,
    /// One request that enqueues.
    pub(super) submit: Spread,
}

/// Times, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Spread {
    /// Half are shorter.
    p50_us: u64,
    /// One in a hundred is longer.
    p99_us: u64,
}

impl Spread {
    /// Of these times.
    pub(super) fn of(times: &Histogram<u64>) -> Spread {
        Spread { p50_us: times.value_at_quantile(0.5), p99_us: times.value_at_quantile(0.99) }
    }
}

impl Intake {
    /// So many in that time.
    pub(super) fn new(jobs: u64, took: Duration, request: Spread, cpu: Cpu) -> Intake {
        Intake {
            jobs,
            jobs_per_second: per_second(jobs, took),
            request,
            server_cpu_seconds_per_million: per_million(cpu.server, jobs),
        }
    }
}

impl Drain {
    /// So many in that time.
    pub(super) fn new(jobs: u64, took: Duration, cpu: Cpu, commits: Commits) -> Drain {
        Drain {
            jobs,
            jobs_per_second: per_second(jobs, took),
            server_cpu_seconds_per_million: per_million(cpu.server, jobs),
            worker_cpu_seconds_per_million: per_million(cpu.worker, jobs),
            commits: commits.count,
            store_busy: commits.seconds / took.as_secs_f64().max(1e-9),
        }
    }

    /// Jobs that ended per commit, on average.
    pub(super) fn jobs_per_commit(&self) -> u64 {
        (self.jobs / self.commits.max(1)).max(1)
    }
}

impl Report {
    /// A table.
    pub(super) fn describe(&self, style: Style) -> String {
        let mut table = Table::new([
            "MEASURED",
            ">JOBS",
            ">JOBS/S",
            ">P50",
            ">P99",
            ">SERVER CPU S/M",
            ">WORKER CPU S/M",
        ]);
        for (name, intake) in
            [("bulk enqueue, batches of 1,000", &self.bulk), ("single enqueue", &self.single)]
        {
            table.row(vec![
                name.into(),
                grouped(intake.jobs).into(),
                grouped(intake.jobs_per_second as u64).into(),
                micros(intake.request.p50_us),
                micros(intake.request.p99_us),
                format!("{:.1}", intake.server_cpu_seconds_per_million).into(),
                "-".into(),
            ]);
        }
        table.row(vec![
            format!("drain, one worker of {} threads", self.threads).into(),
            grouped(self.drain.jobs).into(),
            grouped(self.drain.jobs_per_second as u64).into(),
            "-".into(),
            "-".into(),
            format!("{:.1}", self.drain.server_cpu_seconds_per_million).into(),
            format!("{:.1}", self.drain.worker_cpu_seconds_per_million).into(),
        ]);
        table.row(vec![
            format!("raw ceiling of SQLite, {} jobs per commit", self.ceiling.batch).into(),
            grouped(self.drain.jobs).into(),
            grouped(self.ceiling.jobs_per_second as u64).into(),
            micros(self.ceiling.transaction.p50_us),
            micros(self.ceiling.transaction.p99_us),
            "-".into(),
            "-".into(),
        ]);
        let times = [
            ("enqueue to start, idle", self.start.start),
            ("enqueue, idle", self.start.submit),
            ("SQLite: one job ended, one commit", self.ceiling.one),
            ("the disk: one page written and synced", self.ceiling.page),
        ];
        for (name, spread) in times {
            let none = || Cell::from("-");
            table.row(vec![
                name.into(),
                none(),
                none(),
                micros(spread.p50_us),
                micros(spread.p99_us),
                none(),
                none(),
            ]);
        }
        let ratio = |of: f64, to: u64| of / (to.max(1) as f64);
        format!(
            "{}\n\ndrain: {:.0}% of the raw ceiling, the store busy for {:.0}% of it\n\
             start: {:.1} commits of SQLite, {:.1} of the disk (p50)\nevery job of the drain was looked up: each ended once, at its first attempt",
            table.render(style),
            self.drain.jobs_per_second * 100.0 / self.ceiling.jobs_per_second.max(1.0),
            self.drain.store_busy * 100.0,
            ratio(self.start.start.p50_us as f64, self.ceiling.one.p50_us),
            ratio(self.start.start.p50_us as f64, self.ceiling.page.p50_us),
        )
    }
}

/// For times of up to ten minutes, to a thousandth.
pub(super) fn histogram() -> Fallible<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST, 3)
        .map_err(|error| Failure::new(Exit::Failure, "cannot keep times", error, ""))
}

fn per_million(seconds: f64, jobs: u64) -> f64 {
    seconds * 1e6 / (jobs.max(1) as f64)
}

fn micros(micros: u64) -> Cell {
    let duration = Duration::from_micros(micros);
    if micros < 10_000 {
        format!("{:.2}ms", duration.as_secs_f64() * 1e3).into()
    } else {
        short(duration).into()
    }
}
