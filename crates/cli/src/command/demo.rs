//! `ganger demo`: mixed traffic to look at, on a server that runs.
//!
//! Kinds and queues have names of their own, `demo.…`, and every job the tag `demo`: no other worker takes these jobs, no other
//! job is touched, and `--remove` finds them all.

mod handlers;
mod inside;
mod site;
mod traffic;

use std::time::Duration;

use clap::Args;
use ganger_server::api::{BatchBody, BatchRequest, CancelBody, NewJobRequest, StatsBody};
use ganger_worker::{Credential, Worker, WorkerHandle};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

pub(super) use inside::Inside;
use site::Removed;
use traffic::Traffic;

use crate::client::{Call, Client};
use crate::clock::Stopwatch;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::grouped;
use crate::local_worker::{stop_all, worker_failure};
use crate::output::stderr_is_terminal;
use crate::signals::Stops;

/// Every job has this tag.
const TAG: &str = "demo";
/// What the names of kinds, queues and schedules begin with.
const PREFIX: &str = "demo.";
/// Jobs are sent this often.
const BEAT: Duration = Duration::from_millis(200);
/// Beats between two looks at the counts.
const LOOK: u64 = 5;
/// Where there is no terminal, beats between two lines.
const LINE: u64 = 50;
/// How long running jobs may finish at the end.
const GRACE: Duration = Duration::from_secs(10);

/// Run realistic mixed traffic on a server, to look at it: failures, retries, schedules, dependencies, tenants.
#[derive(Args, Debug)]
#[command(after_help = "\
It brings its own workers. Jobs stay when it ends, to be looked at; schedules go, unless --keep is given.

Examples:
  ganger demo
  ganger demo --minutes 2 --rate 50 --cleanup
  ganger demo --remove
  ganger dev --demo         a server with the same traffic inside")]
pub(crate) struct Demo {
    /// How long
    #[arg(long, default_value_t = 10.0, value_name = "MINUTES", value_parser = minutes)]
    minutes: f64,
    /// Jobs per second, on average: they come in waves
    #[arg(long, default_value_t = 20, value_name = "JOBS", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rate: u32,
    /// The same seed makes the same jobs in the same order
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// Keep the schedules at the end
    #[arg(long, conflicts_with = "cleanup")]
    keep: bool,
    /// Remove the jobs as well at the end
    #[arg(long)]
    cleanup: bool,
    /// Only remove what demonstrations have left: cancel what is live, delete what has ended, and the schedules
    #[arg(long, conflicts_with_all = ["keep", "cleanup"])]
    remove: bool,
    /// Yes, on a server that is not of this machine
    #[arg(long)]
    yes: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.01..=1_440.0).contains(&minutes) { Ok(minutes) } else { Err("it must be from 0.01 to 1440".into()) }
}

/// What was sent so far.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    created: usize,
    deduplicated: usize,
    cancelled: usize,
}

impl Demo {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let urls = &context.config.url.value;
        if !urls.is_loopback() && !self.yes {
            return Err(Failure::usage(
                format!("will not run a demonstration on {urls} yet"),
                "that server is not of this machine, and others may look at it",
                "add --yes if that is the one you mean",
            ));
        }
        let client = context.client()?;
        if self.remove {
            let removed = site::remove(&client).await?;
            return told_removed(context, removed);
        }
        let mut stops = Stops::listen()?;
        let credential = crate::token::credential(&context.config)?;
        let workers = self.workers(&context.config.url.value.to_string(), credential).await?;
        let mut sent = Sent::default();
        let traffic = async {
            site::prepare(&client).await?;
            self.tell(context, &client);
            self.send(&client, &mut sent, Some(Summary::new(context))).await
        };
        let ran = tokio::select! {
            () = stops.next() => Ok(()),
            ran = traffic => ran,
        };
        // In any case, and before anything else is said.
        let left = tokio::select! {
            left = stop_all(&workers, GRACE) => left.map(|_| ()),
            () = stops.next() => Ok(()),
        };
        let cleared = if self.keep { Ok(()) } else { site::retire(&client).await };
        ran?;
        left?;
        cleared?;
        let removed = if self.cleanup { Some(site::remove(&client).await?) } else { None };
        self.ended(context, sent, removed)
    }

    async fn workers(&self, url: &str, credential: Credential) -> Fallible<Vec<WorkerHandle>> {
        // Enough for the average, too few for the waves: something should wait now and then.
        let wide = u16::try_from((self.rate / 3).clamp(6, 400)).unwrap_or(6);
        let mut workers = Vec::new();
        for (name, threads, zone) in [("demo-1", wide, "eu"), ("demo-2", wide / 2, "us")] {
            let worker = Worker::connect(url)
                .credential(credential.clone())
                .name(name)
                .threads(threads)
                .queues(traffic::QUEUES)
                .labels([("zone", zone)])
                .drain_grace(GRACE)
                .with(handlers::registry());
            workers.push(worker.start().await.map_err(|error| worker_failure(&error))?);
        }
        for worker in &workers {
            worker.opened().await.map_err(|error| worker_failure(&error))?;
        }
        Ok(workers)
    }

    fn tell(&self, context: &Context, client: &Client) {
        let url = client.address();
        let other = if url == "http://127.0.0.1:8080" { String::new() } else { format!(" --url {url}") };
        context.out.note(&format!(
            "about {} jobs a second for {} minutes, seed {}; ctrl-C ends it\n  \
               look     ganger top{other}\n           {url}/ui/\n           ganger failure list{other}\n  \
               remove   ganger demo --remove{other}",
            self.rate, self.minutes, self.seed
        ));
    }

    /// Sends jobs until the time is up; whoever has seen enough drops it.
    async fn send(&self, client: &Client, sent: &mut Sent, mut summary: Option<Summary<'_>>) -> Fallible<()> {
        let watch = Stopwatch::start();
        let long = Duration::from_secs_f64(self.minutes * 60.0);
        let mut traffic = Traffic::new(self.seed, self.rate);
        let mut beats = tokio::time::interval(BEAT);
        // A server that was slow is not flooded afterwards.
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // Bounded by `long`.
        while !watch.left_of(long).is_zero() {
            beats.tick().await;
            let beat = traffic.beat();
            for (jobs, atomic) in [(beat.jobs, false), (beat.family, true)] {
                submit(client, jobs, atomic, sent).await?;
            }
            if let Some(job) = beat.regretted {
                regret(client, job, sent).await?;
            }
            if let Some(summary) = &mut summary {
                summary.look(client, beat.number, *sent).await?;
            }
        }
        Ok(())
    }

    fn ended(&self, context: &Context, sent: Sent, removed: Option<Removed>) -> Fallible<Exit> {
        let body = json!({
            "created": sent.created,
            "deduplicated": sent.deduplicated,
            "cancelled": sent.cancelled,
            "seed": self.seed,
            "schedules_kept": self.keep,
            "removed": removed.map(|removed| removed.deleted),
        });
        let left = match removed {
            Some(removed) => format!("{} jobs are removed again", grouped(removed.deleted)),
            None => "the jobs are still there: `ganger demo --remove` removes them".to_owned(),
        };
        context.out.show_one(&body.to_string(), TAG, |_| {
            format!(
                "{} jobs were made, {} were duplicates, {} were cancelled; {left}",
                grouped(sent.created as u64),
                grouped(sent.deduplicated as u64),
                sent.cancelled
            )
        })?;
        Ok(Exit::Success)
    }
}

async fn submit(client: &Client, jobs: Vec<NewJobRequest>, atomic: bool, sent: &mut Sent) -> Fallible<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let body = super::json(&BatchRequest { jobs, atomic, ..BatchRequest::default() })?;
    let key = uuid::Uuid::new_v4().to_string();
    let answer = client.send(&Call::submit("submit jobs", "/v1/jobs:batch", body, key)).await?;
    let summary = answer.read::<BatchBody>()?.summary;
    sent.created += summary.created;
    sent.deduplicated += summary.deduplicated;
    Ok(())
}

/// A job that somebody thinks better of.
async fn regret(client: &Client, job: NewJobRequest, sent: &mut Sent) -> Fallible<()> {
    let body = super::json(&job)?;
    let key = uuid::Uuid::new_v4().to_string();
    let answer = client.send(&Call::submit("submit a job", "/v1/jobs", body, key)).await?;
    let id = answer.read::<ganger_server::api::SubmittedBody>()?.id;
    sent.created += 1;
    let call = Call::post(format!("cancel job {id}"), format!("/v1/jobs/{id}:cancel"));
    if client.send(&call).await?.read::<CancelBody>()?.cancelled {
        sent.cancelled += 1;
    }
    Ok(())
}

fn told_removed(context: &Context, removed: Removed) -> Fallible<Exit> {
    let body = json!({
        "schedules": removed.schedules,
        "cancelled": removed.cancelled,
        "deleted": removed.deleted,
        "left": removed.left,
    });
    context.out.show_one(&body.to_string(), TAG, |_| {
        format!(
            "{} schedules and {} jobs of demonstrations are gone",
            removed.schedules,
            grouped(removed.deleted)
        )
    })?;
    if removed.left {
        return Err(Failure::new(
            Exit::Partial,
            "some jobs of demonstrations are still there",
            "they run, and their workers have not stopped them yet",
            "wait until those workers are gone, and run `ganger demo --remove` again",
        ));
    }
    Ok(Exit::Success)
}

/// How far it is: a line that changes on a terminal, a line now and then elsewhere.
struct Summary<'a> {
    context: &'a Context,
    bar: Option<ProgressBar>,
}

impl<'a> Summary<'a> {
    fn new(context: &'a Context) -> Summary<'a> {
        let bar = stderr_is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            // It is written in this file, and can be read.
            bar.set_style(
                ProgressStyle::with_template("  {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        Summary { context, bar }
    }

    async fn look(&mut self, client: &Client, beat: u64, sent: Sent) -> Fallible<()> {
        let every = if self.bar.is_some() { LOOK } else { LINE };
        if !beat.is_multiple_of(every) {
            return Ok(());
        }
        let answer = client.send(&Call::get("read the statistics", "/v1/stats")).await?;
        let stats = answer.read::<StatsBody>()?;
        let mut jobs = ganger_server::api::CountsBody::default();
        for row in stats.by_kind.iter().filter(|row| row.kind.as_str().starts_with(PREFIX)) {
            jobs.add(row.jobs);
        }
        let line = format!(
            "sent {}: later {}, blocked {}, queued {}, running {}, retrying {}, succeeded {}, dead {}, cancelled {}",
            grouped((sent.created + sent.deduplicated) as u64),
            jobs.scheduled,
            jobs.blocked,
            jobs.queued,
            jobs.running,
            jobs.retrying,
            grouped(jobs.succeeded),
            jobs.dead,
            jobs.cancelled
        );
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None => self.context.out.note(&line),
        }
        Ok(())
    }
}

impl Drop for Summary<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}
