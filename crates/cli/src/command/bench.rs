//! `ganger bench`: how fast this machine is, with one server and one worker process.
//!
//! Everything is real: the server and the worker are processes of this very binary, jobs go in through
//! the REST API, and at the end every job is looked up to see that it ended exactly once. Nothing is
//! asserted about speed; the numbers are for people, and stand beside what the database itself can do.
//!
//! Without `--store` the embedded store is measured. With it, databases of the benchmark's own are made beside the given
//! one and removed at the end.

mod ceiling;
mod drain;
mod intake;
mod latency;
mod meter;
mod parked;
mod processes;
mod report;
mod round;
mod shown;
mod target;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ganger_server::api::QueuePut;

use meter::Meter;
use processes::Processes;
use report::Report;
use round::Round;
use target::Target;

use crate::client::{Call, Client};
use crate::config::RawStore;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Jobs that wait here are measured as a whole, in each round in a queue of its own.
const BULK: &str = "bench.bulk";
/// Jobs that come one by one.
const SINGLE: &str = "bench.single";
/// Jobs that come one by one and are buffered by Redis.
const BUFFERED: &str = "bench.buffered";
/// Jobs that wait behind those of a closed key.
const PARKED: &str = "bench.parked";
/// Jobs that start at once.
const IDLE: &str = "bench.idle";
/// What they do: nothing.
const KIND: &str = "noop";
/// The size of a payload, as JSON.
const PAYLOAD_BYTES: usize = 100;

/// Measure this machine: enqueue, drain, start latency, CPU per job.
#[derive(Args, Debug)]
#[command(after_help = "\
Starts its own server and one worker process, on a free port, with its data in a directory that is
removed at the end. Build with --release before you believe a number.

With --store it measures PostgreSQL, in databases named ganger_bench_PID… that it makes beside the given one and
removes at the end; nothing else in that server is touched, but what others do there is measured along. A benchmark that is
killed leaves them behind.

Examples:
  ganger bench
  ganger bench --store postgres://ganger@127.0.0.1:5432/postgres --redis redis://127.0.0.1:6379
  ganger bench --jobs 20000 --rounds 1 --threads 4 --dir /mnt/fast -o json")]
pub(crate) struct Bench {
    /// How many jobs to enqueue in bulk and to drain
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1_000..=10_000_000))]
    jobs: u64,
    /// Threads of the worker
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Jobs to enqueue one by one
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    single: u64,
    /// Connections that enqueue one by one
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    connections: u16,
    /// Jobs whose start is timed while nothing else happens
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(10..=10_000))]
    starts: u64,
    /// How often to enqueue and drain them, each time beside the raw ceiling. The median is told: neighbours pass
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
    /// Where to put the data: the disk that is measured [default: the working directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Measure PostgreSQL: postgres://USER:PASSWORD@HOST:PORT/DATABASE, by a user who may make databases
    #[arg(long, value_name = "URL")]
    store: Option<RawStore>,
    /// Measure Redis in front of it: redis://[USER:PASSWORD@]HOST[:PORT]
    #[arg(long, value_name = "URL")]
    redis: Option<RawStore>,
}

impl Bench {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let out = context.out;
        let target = Target::make(self.store.as_ref(), self.redis.as_ref()).await?;
        let measured = self.measure(&target, context).await;
        // In any case, and before anything else is said.
        let removed = target.remove().await;
        let report = measured?;
        removed?;
        let body = serde_json::to_string(&report)
            .map_err(|error| Failure::new(Exit::Failure, "cannot write the report as JSON", error, ""))?;
        out.show_one(&body, "bench", |_| report.describe(out.style()))?;
        Ok(Exit::Success)
    }

    async fn measure(&self, target: &Target, context: &Context) -> Fallible<Report> {
        let parent =
            self.dir.as_ref().map_or_else(|| context.directory.clone(), |dir| context.directory.join(dir));
        let out = context.out;
        out.note(&format!("starting a server on {} and a worker", target.name()));
        let mut processes = Processes::directory(&parent)?.start(target, self.threads).await?;
        let client = processes.client()?;
        let meter = Meter { processes: &processes, target, client: &client };
        for queue in [SINGLE, BUFFERED] {
            pause(&client, queue, true).await?;
        }
        let mut rounds = Vec::new();
        for nth in 1..=self.rounds {
            out.note(&format!("round {nth} of {}: {} jobs in batches", self.rounds, self.jobs));
            rounds.push(Round::run(&meter, &format!("{BULK}.{nth}"), self.jobs, out).await?);
        }
        out.note(&format!("enqueueing {} jobs one by one on {} connections", self.single, self.connections));
        let single = intake::single(&meter, self.single, self.connections).await?;
        drain::drain(&meter, SINGLE, single.jobs).await?;
        let mut buffered = None;
        if target.buffers() {
            out.note("the same, buffered by Redis");
            let found = intake::buffered(&meter, self.single, self.connections).await?;
            drain::drain(&meter, BUFFERED, found.intake.jobs).await?;
            buffered = Some(found);
        }
        out.note(&format!("starting {} jobs, one after the other", self.starts));
        let start = latency::idle(&meter, self.starts).await?;
        // Last, because what is parked stays.
        out.note(&format!("enqueueing {0} jobs of a closed key, and {0} others behind them", self.jobs));
        let parked = parked::drain(&meter, self.jobs).await?;
        processes.stop().await;
        let shares = rounds.iter().map(Round::share).collect();
        let Round { ceiling, bulk, drain } = Round::median(rounds)?;
        let (store, jobs, threads) = (target.name(), self.jobs, self.threads);
        Ok(Report { store, jobs, threads, shares, ceiling, bulk, single, buffered, drain, parked, start })
    }
}

/// Stops or starts a queue.
async fn pause(client: &Client, queue: &str, paused: bool) -> Fallible<()> {
    let change = QueuePut { paused: Some(paused), ..QueuePut::default() };
    let body = serde_json::to_string(&change)
        .map_err(|error| Failure::new(Exit::Failure, "cannot write the change as JSON", error, ""))?;
    client.send(&Call::put(format!("set queue {queue}"), format!("/v1/queues/{queue}"), body)).await?;
    Ok(())
}

/// A `noop` job of the size that is measured.
fn job(queue: &str) -> String {
    format!("{{\"kind\":\"{KIND}\",\"queue\":\"{queue}\",\"payload\":{}}}", payload())
}

/// The payload of each job.
fn payload() -> String {
    format!("\"{}\"", "x".repeat(PAYLOAD_BYTES - 2))
}

/// So many in that time.
fn per_second(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(1e-9)
}

/// Something is not as it must be, whatever the speed.
fn wrong(why: String) -> Box<Failure> {
    Failure::new(Exit::Failure, "the benchmark found a fault", why, "this is a bug: please report it")
}
