//! Workers of the benchmark's own, in processes of their own: a crew.
//!
//! What is timed is timed where it happens. So a crew knows when each of its jobs was to be enqueued (the payload says so),
//! sees it start, and hears that its result is recorded; it keeps these times until the benchmark takes them. The process is
//! `ganger bench --crew ORDERS`; it reads one word per line, `take` or `stop`, and ends as well when whoever started it
//! is gone.

mod hands;
mod light;
mod tally;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, Stdin};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::processes::{self, PATIENCE};
use super::stage::Stage;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::Out;

pub(super) use tally::{Taken, Tally, Timed};

/// The kind of the jobs that are timed.
pub(super) const TIMED: &str = "bench.timed";
/// The kind of jobs that wait behind those.
pub(super) const LATER: &str = "bench.later";
/// What a crew says when all its workers are connected.
const READY: &str = "ready";
const TAKE: &str = "take";
const STOP: &str = "stop";

/// What a crew is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    /// Where the server is.
    pub(super) url: String,
    pub(super) sort: Sort,
    /// How many workers, each with a connection of its own.
    pub(super) workers: u64,
    /// Threads of each.
    pub(super) threads: u16,
    /// Which queues they serve; all, if none is named.
    pub(super) queues: Vec<String>,
    pub(super) kinds: Vec<String>,
}

/// What sort of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sort {
    /// They speak the protocol of sessions, and do nothing with a job but say that it succeeded: thousands fit into a process.
    Light,
    /// Those of the SDK, with threads and handlers that take their time.
    Real,
}

/// A crew at work.
#[derive(Debug)]
pub(super) struct Crew {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Orders {
    /// Light workers of a stage for jobs of one kind.
    pub(super) fn light(stage: &Stage<'_>, workers: u64, threads: u16, kind: &str) -> Orders {
        let (queues, kinds) = (Vec::new(), vec![kind.to_owned()]);
        Orders { url: stage.url(), sort: Sort::Light, workers, threads, queues, kinds }
    }

    /// Real ones, for jobs that are timed.
    pub(super) fn real(stage: &Stage<'_>, workers: u64, threads: u16) -> Orders {
        Orders { sort: Sort::Real, ..Orders::light(stage, workers, threads, TIMED) }
    }
}

impl Crew {
    /// Starts one, and waits until all of it is connected.
    pub(super) async fn start(stage: &Stage<'_>, orders: &Orders) -> Fallible<Crew> {
        let mut child = stage.directory().crew(stage.target, &super::json(orders)?)?;
        stage.joined(child.id().unwrap_or_default());
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(lost("it has no pipes", stage));
        };
        let mut crew = Crew { child, stdin, lines: BufReader::new(stdout).lines() };
        match crew.line().await.as_deref() {
            Some(READY) => Ok(crew),
            Some(_) | None => Err(lost("it does not connect", stage)),
        }
    }

    /// What was timed since the last look.
    pub(super) async fn take(&mut self, stage: &Stage<'_>) -> Fallible<Taken> {
        self.ask(TAKE, stage).await
    }

    /// Ends it: what it holds is finished. Tells what was timed since the last look.
    pub(super) async fn stop(mut self, stage: &Stage<'_>) -> Fallible<Taken> {
        let taken = self.ask(STOP, stage).await?;
        if tokio::time::timeout(PATIENCE, self.child.wait()).await.is_err() {
            processes::kill(&mut self.child).await;
        }
        Ok(taken)
    }

    async fn ask(&mut self, word: &str, stage: &Stage<'_>) -> Fallible<Taken> {
        let said = self.stdin.write_all(format!("{word}\n").as_bytes()).await;
        let line = if said.is_ok() { self.line().await } else { None };
        let line = line.ok_or_else(|| lost("it does not answer", stage))?;
        serde_json::from_str(&line).map_err(|error| lost(&format!("{error} in `{line}`"), stage))
    }

    async fn line(&mut self) -> Option<String> {
        tokio::time::timeout(PATIENCE * 2, self.lines.next_line()).await.ok()?.ok()?
    }
}

/// The other side: does what the orders say until it is told to stop.
pub(super) async fn work(orders: &str, out: Out) -> Fallible<Exit> {
    let orders: Orders = serde_json::from_str(orders).map_err(|error| {
        Failure::usage("cannot read the orders of a crew", error, "leave --crew to the benchmark")
    })?;
    let tally = Tally::default();
    let workers = match orders.sort {
        Sort::Light => Workers::Light(light::connect(&orders, &tally).await?),
        Sort::Real => Workers::Real(hands::connect(&orders, &tally).await?),
    };
    out.line(READY)?;
    let mut words = BufReader::new(tokio::io::stdin()).lines();
    while next(&mut words).await.as_deref() == Some(TAKE) {
        out.line(&super::json(&tally.take()?)?)?;
    }
    match workers {
        Workers::Light(light) => light.leave().await,
        Workers::Real(real) => real.leave().await?,
    }
    // Whoever started it may be gone.
    let _ = out.line(&super::json(&tally.take()?)?);
    Ok(Exit::Success)
}

enum Workers {
    Light(light::Light),
    Real(hands::Hands),
}

async fn next(words: &mut Lines<BufReader<Stdin>>) -> Option<String> {
    // Whoever asked is gone: there is nothing more to do.
    words.next_line().await.ok().flatten()
}

fn lost(why: &str, stage: &Stage<'_>) -> Box<Failure> {
    Failure::new(Exit::Failure, "the workers of the benchmark are lost", why, stage.directory().log("bench"))
}

/// How long a crew may take to finish what it holds.
const LEAVING: Duration = Duration::from_secs(10);
