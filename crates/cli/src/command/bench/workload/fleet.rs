//! `fleet`: how fast jobs are run by ten, a hundred, a thousand and ten thousand connected workers.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::clock::Stopwatch;
use crate::command::bench::crew::{Crew, Orders, TIMED, Timed};
use crate::command::bench::door::Wanted;
use crate::command::bench::drain::{self, Drained, Drains};
use crate::command::bench::intake;
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::failure::{Failure, Fallible};
use crate::humane::grouped;

/// How many jobs, unless the user says so.
const JOBS: u64 = 100_000;
/// And at least so many for each worker of the largest fleet: what is measured is how they are run, not how the first ones are handed
/// out. A smaller fleet runs as many, for the last of many jobs are slower than those of few.
const FOR_EACH: u64 = 50;
/// Workers of one process.
const PER_PROCESS: u64 = 2_500;
/// Threads of each worker.
const THREADS: u16 = 4;
/// Files that a process opens besides those for workers.
const BESIDES: u64 = 500;

/// One of the fleets that are compared.
#[derive(Debug, Default)]
struct Fleet {
    workers: u64,
    processes: usize,
    drains: Drains,
    connect_seconds: f64,
    bytes_per_worker: f64,
    resident: u64,
}

/// Each round has every fleet, from the smallest to the largest: neither a machine that becomes slower nor a history that becomes longer
/// counts against one of them only.
pub(super) async fn run(stage: &Stage<'_>) -> Fallible<Measured> {
    let mut measured = Measured::default();
    let mut fleets = Vec::new();
    for workers in stage.sizes.workers() {
        if may_connect(workers, stage.sizes.names_workers(), &mut measured)? {
            fleets.push(Fleet { workers, ..Fleet::default() });
        }
    }
    let largest = fleets.iter().map(|fleet| fleet.workers).max().unwrap_or_default();
    let jobs = stage.sizes.jobs(JOBS.max(FOR_EACH * largest));
    for round in 0..stage.sizes.rounds_per_level() {
        let (mut crews, mut there) = (Vec::new(), 0);
        for fleet in &mut fleets {
            let workers = fleet.workers;
            stage.note(&format!("round {}: connecting {} workers", round + 1, grouped(workers)));
            let (watch, before, came) = (Stopwatch::start(), stage.resident(), workers - there);
            while there < workers {
                let more = (workers - there).min(PER_PROCESS);
                crews.push(Crew::start(stage, &Orders::light(stage, more, THREADS, TIMED)).await?);
                there += more;
            }
            // Later rounds find memory that the workers of the first have left.
            if round == 0 {
                fleet.connect_seconds = watch.elapsed().as_secs_f64();
                fleet.bytes_per_worker = stage.resident().saturating_sub(before) as f64 / came as f64;
            }
            let queue = format!("bench.fleet.{workers}.{round}");
            fleet.drains.push(drained(stage, &queue, jobs, &mut measured).await?);
            (fleet.processes, fleet.resident) = (crews.len(), stage.resident());
        }
        for crew in crews {
            crew.stop(stage).await?;
        }
    }
    for fleet in fleets {
        let row = fleet.row(measured.rows.first().map(Row::rate))?;
        measured.rows.push(row);
    }
    if let [first, .., last] = measured.rows.as_slice() {
        let share = last.rate() / first.rate().max(1.0);
        let (few, many) = (&first.params["workers"], &last.params["workers"]);
        measured.notes.push(format!("{many} workers: {:.0}% of the rate with {few}", share * 100.0));
    }
    measured.settings = Settings::default()
        .with("jobs", jobs)
        .with("rounds", stage.sizes.rounds_per_level())
        .with("workers", stage.sizes.workers())
        .with("threads", THREADS);
    Ok(measured)
}

impl Fleet {
    /// What came of it, beside the rate of the first.
    fn row(self, first: Option<f64>) -> Fallible<Row> {
        let label = format!("drain, {} workers of {THREADS} threads", grouped(self.workers));
        let row = self.drains.row("fleet", label)?;
        let share = row.rate() / first.unwrap_or(row.rate()).max(1.0);
        Ok(row
            .param("workers", self.workers)
            .param("processes", self.processes)
            .value("share_of_first", share)
            .value("connect_seconds", self.connect_seconds)
            .value("bytes_per_worker", self.bytes_per_worker)
            .value("resident_bytes", self.resident as f64))
    }
}

/// Jobs of a queue of their own, run by whoever is connected.
async fn drained(stage: &Stage<'_>, queue: &str, jobs: u64, measured: &mut Measured) -> Fallible<Drained> {
    stage.pause(queue, true).await?;
    let payload = Timed { at: 0, class: 0, ms: 0 }.payload();
    let wanted = Wanted { kind: TIMED, queue: queue.to_owned(), payload, ..Wanted::default() };
    let came = intake::fill(stage, 0..jobs, |_| wanted.clone()).await?;
    let drained = drain::drain_from_rest(stage, queue, jobs, jobs, measured).await?;
    let ids = came.ids.into_iter().map(|(_, id)| id);
    measured.looked_up(verify::all(stage, queue, Expected::once(ids)).await?);
    Ok(drained)
}

/// Whether so many connections can be opened here. Those that the user did not ask for are left out, and it is said.
fn may_connect(workers: u64, asked_for: bool, measured: &mut Measured) -> Fallible<bool> {
    let needed = workers + BESIDES;
    let allowed = open_files(needed);
    if allowed >= needed {
        return Ok(true);
    }
    let why = format!("the server needs {needed} open files for that, and may have {allowed}");
    if asked_for {
        let fix = format!("raise the limit with `ulimit -n {needed}`, or ask for fewer with --workers");
        return Err(Failure::usage(format!("cannot connect {} workers", grouped(workers)), why, fix));
    }
    measured.notes.push(format!("left out: {} workers, because {why}", grouped(workers)));
    Ok(false)
}

/// How many files the processes that are started from here may open, after it was raised as far as it can be.
fn open_files(needed: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let unlimited = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
    if unlimited(limit.current) < needed && unlimited(limit.maximum) >= needed {
        let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
        // If it cannot be raised, what is allowed is less, and that is told.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    unlimited(getrlimit(Resource::Nofile).current)
}
