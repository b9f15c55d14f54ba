//! `ganger bench`: how fast this machine is, one workload after the other.
//!
//! Everything is real: the server and the workers are processes of this very binary, jobs go in through the doors that
//! everyone uses, and at the end every job is looked up to see that it ended exactly once. Nothing is asserted about speed;
//! the numbers are for people, and stand beside what the database itself can do.
//!
//! Without `--store` the embedded store is measured. With it, databases of the benchmark's own are made beside the given
//! one and removed at the end. Each workload has a server of its own, with nothing in it.

mod ceiling;
mod crew;
mod door;
mod drain;
mod intake;
mod machine;
mod meter;
mod open_loop;
mod processes;
mod report;
mod shown;
mod sizes;
mod stage;
mod target;
mod verify;
mod workload;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use report::Report;
use sizes::Sizes;
use target::Target;
use workload::Workload;

use crate::clock::{self, Stopwatch};
use crate::config::{Format, RawStore};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::Shown;
use crate::signals::Stops;

/// Measure this machine: enqueue, drain, latency, depth, fleet, recovery, CPU per job.
#[derive(Args, Debug)]
#[command(after_help = "\
Each workload starts its own server and workers, on a free port, with its data in a directory that is removed at
the end. Build with --release before you believe a number.

With --store it measures PostgreSQL, in databases named ganger_bench_PID… that it makes beside the given one and
removes at the end; nothing else in that server is touched, but what others do there is measured along. A benchmark that is
killed leaves them behind.

Examples:
  ganger bench --list
  ganger bench drain steady
  ganger bench --store postgres://ganger@127.0.0.1:5432/postgres --redis redis://127.0.0.1:6379
  ganger bench --out results                    goes on where it was stopped
  ganger bench drain --jobs 20000 --rounds 1 --threads 4 --dir /mnt/fast -o json")]
pub(crate) struct Bench {
    /// What to measure [default: everything that --list names]
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<Workload>,
    /// Name the workloads, and measure nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    sizes: Sizes,
    /// Where to put the data: the disk that is measured [default: the working directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Measure PostgreSQL: postgres://USER:PASSWORD@HOST:PORT/DATABASE, by a user who may make databases
    #[arg(long, value_name = "URL")]
    store: Option<RawStore>,
    /// Measure Redis in front of it: redis://[USER:PASSWORD@]HOST[:PORT]
    #[arg(long, value_name = "URL")]
    redis: Option<RawStore>,
    /// Write each report to DIR/WORKLOAD.json, and leave out what is there already
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure also what is in --out already
    #[arg(long, requires = "out")]
    again: bool,
    /// What a process of workers is told to do; for the benchmark itself
    #[arg(long, hide = true, value_name = "JSON")]
    crew: Option<String>,
}

impl Bench {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        if let Some(orders) = &self.crew {
            return crew::work(orders, context.out).await;
        }
        if self.list {
            return workload::list(context);
        }
        let mut stops = Stops::listen()?;
        let mut reports = Vec::new();
        let chosen = if self.workloads.is_empty() { Workload::ALL.to_vec() } else { self.workloads.clone() };
        for workload in chosen {
            let report = match self.there_already(workload, context)? {
                Some(report) => report,
                None => self.measure(workload, context, &mut stops).await?,
            };
            if context.out.is_for_people() {
                context.out.text(&format!("{}\n\n", report.describe(context.out.style())))?;
            } else if context.out.format() == Format::Ndjson {
                context.out.line(&json(&report)?)?;
            }
            reports.push(report);
        }
        show_all(&reports, context)?;
        Ok(Exit::Success)
    }

    /// What an earlier run wrote.
    fn there_already(&self, workload: Workload, context: &Context) -> Fallible<Option<Report>> {
        let Some(path) = self.file(workload, context).filter(|path| !self.again && path.exists()) else {
            return Ok(None);
        };
        let unusable = |why: String| {
            let fix = "remove that file, or use --again to measure it anew";
            Failure::new(Exit::Failure, format!("cannot use {}", path.display()), why, fix)
        };
        let text = fs::read_to_string(&path).map_err(|error| unusable(error.to_string()))?;
        let report: Report = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        context.out.note(&format!("{}: {} is there already", workload.name(), path.display()));
        Ok(Some(report))
    }

    async fn measure(&self, workload: Workload, context: &Context, stops: &mut Stops) -> Fallible<Report> {
        let before = machine::look();
        if let Some(warning) = before.warning() {
            context.out.note(&warning);
        }
        let (watch, started_at) = (Stopwatch::start(), clock::now());
        let target = Target::make(self.store.as_ref(), self.redis.as_ref()).await?;
        context.out.note(&format!("{}: starting a server on {}", workload.name(), target.label()));
        let parent =
            self.dir.as_ref().map_or_else(|| context.directory.clone(), |dir| context.directory.join(dir));
        let measured = tokio::select! {
            measured = workload.run(&self.sizes, &target, &parent, context.out) => measured,
            () = stops.next() => Err(interrupted(self.out.is_some())),
        };
        let store = report::Store { version: target.version().await, ..report::Store::of(&target) };
        // In any case, and before anything else is said.
        let removed = target.remove().await;
        let report = Report::new(workload, started_at, watch.elapsed(), before, store, measured?);
        removed?;
        if let Some(path) = self.file(workload, context) {
            write(&path, &report)?;
        }
        Ok(report)
    }

    fn file(&self, workload: Workload, context: &Context) -> Option<PathBuf> {
        let out = self.out.as_ref()?;
        Some(context.directory.join(out).join(format!("{}.json", workload.name())))
    }
}

/// As one document, for programs that want one.
fn show_all(reports: &[Report], context: &Context) -> Fallible<()> {
    match context.out.format() {
        // Already told, each when it was measured.
        Format::Table | Format::Wide | Format::Ndjson => Ok(()),
        Format::Json | Format::Name => {
            let body = json(&serde_json::json!({ "items": reports }))?;
            let names = reports.iter().map(|report| report.workload.clone()).collect();
            context.out.show(&Shown { body: &body, items: Vec::new(), names }, |_| String::new())
        }
    }
}

/// Whole or not at all: a file that is there is not measured again.
fn write(path: &Path, report: &Report) -> Fallible<()> {
    let failed = |error: std::io::Error| {
        Failure::file(
            format!("cannot write {}", path.display()),
            &error,
            "use --out with a writable directory",
        )
    };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let part = path.with_extension("json.part");
    let mut text = serde_json::to_string_pretty(report).map_err(|error| failed(error.into()))?;
    text.push('\n');
    fs::write(&part, text).and_then(|()| fs::rename(&part, path)).map_err(failed)
}

fn json(document: &impl serde::Serialize) -> Fallible<String> {
    serde_json::to_string(document)
        .map_err(|error| Failure::new(Exit::Failure, "cannot write the report as JSON", error, ""))
}

fn interrupted(resumes: bool) -> Box<Failure> {
    let fix = if resumes {
        "run the same command again: it goes on with the workload that was stopped"
    } else {
        "with --out DIR the same command goes on where it was stopped"
    };
    Failure::new(Exit::Interrupted, "the benchmark was stopped", "its servers and its data are gone", fix)
}

/// So many in that time.
fn per_second(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(1e-9)
}

/// Something is not as it must be, whatever the speed.
fn wrong(why: String) -> Box<Failure> {
    Failure::new(Exit::Failure, "the benchmark found a fault", why, "this is a bug: please report it")
}
