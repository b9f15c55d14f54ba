//! The workloads: what each is called, what it measures, and where it is.

mod blocked;
mod depth;
mod drain;
mod durations;
mod enqueue;
mod failures;
mod fair;
mod fleet;
mod ping;
mod recovery;
mod round;
mod steady;
mod threads;
mod timers;

use std::path::Path;

use clap::ValueEnum;
use serde_json::json;

use super::report::Measured;
use super::sizes::Sizes;
use super::stage::Stage;
use super::target::Target;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::output::{Out, Shown, Table};

/// What can be measured, each alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Workload {
    Drain,
    Steady,
    Enqueue,
    Ping,
    Depth,
    Fleet,
    Threads,
    Blocked,
    Timers,
    Failures,
    Recovery,
    Durations,
    Fair,
}

impl Workload {
    /// All of them, in the order in which they run.
    pub(super) const ALL: [Workload; 13] = [
        Workload::Drain,
        Workload::Steady,
        Workload::Enqueue,
        Workload::Ping,
        Workload::Depth,
        Workload::Fleet,
        Workload::Threads,
        Workload::Blocked,
        Workload::Timers,
        Workload::Failures,
        Workload::Recovery,
        Workload::Durations,
        Workload::Fair,
    ];

    /// What it is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Workload::Drain => "drain",
            Workload::Steady => "steady",
            Workload::Enqueue => "enqueue",
            Workload::Ping => "ping",
            Workload::Depth => "depth",
            Workload::Fleet => "fleet",
            Workload::Threads => "threads",
            Workload::Timers => "timers",
            Workload::Failures => "failures",
            Workload::Recovery => "recovery",
            Workload::Durations => "durations",
            Workload::Fair => "fair",
            Workload::Blocked => "blocked",
        }
    }

    /// What it measures, in one line.
    pub(super) const fn about(self) -> &'static str {
        match self {
            Workload::Drain => "how fast waiting jobs are run, beside the raw ceiling of the database",
            Workload::Steady => "how long jobs take at 25, 50 and 75 % of that rate, by a fixed schedule",
            Workload::Enqueue => "how fast jobs are taken in: 1 to 1,000 per request, REST and gRPC",
            Workload::Ping => "how soon a job starts while nothing else happens",
            Workload::Depth => {
                "what 10,000 to a million waiting jobs cost: rate, latency at half load, memory"
            }
            Workload::Fleet => "how fast jobs are run by 10 to 10,000 connected workers",
            Workload::Threads => {
                "jobs of 1 to 16 threads: how well threads are filled, how long the widest wait"
            }
            Workload::Timers => "how late a million jobs start that are due over a minute",
            Workload::Failures => "how fast jobs are run of which one in ten fails and is tried again",
            Workload::Recovery => "how soon a killed server is ready again with a million jobs waiting",
            Workload::Durations => "how busy jobs of 1, 10 and 100 ms keep the threads of a worker",
            Workload::Fair => "how fast jobs of a million fairness keys are run, beside those of one",
            Workload::Blocked => "how fast jobs are run behind as many of a closed key",
        }
    }

    /// Runs it on a server of its own.
    pub(super) async fn run(
        self,
        sizes: &Sizes,
        target: &Target,
        parent: &Path,
        out: Out,
    ) -> Fallible<Measured> {
        let mut stage = Stage::set(sizes, target, parent, out).await?;
        let measured = match self {
            Workload::Drain => drain::run(&mut stage).await,
            Workload::Steady => steady::run(&stage).await,
            Workload::Enqueue => enqueue::run(&mut stage).await,
            Workload::Ping => ping::run(&stage).await,
            Workload::Depth => depth::run(&stage).await,
            Workload::Fleet => fleet::run(&stage).await,
            Workload::Threads => threads::run(&stage).await,
            Workload::Timers => timers::run(&stage).await,
            Workload::Failures => failures::run(&mut stage).await,
            Workload::Recovery => recovery::run(&mut stage).await,
            Workload::Durations => durations::run(&stage).await,
            Workload::Fair => fair::run(&mut stage).await,
            Workload::Blocked => blocked::run(&mut stage).await,
        }?;
        stage.clear().await;
        Ok(measured)
    }
}

/// Names them all.
pub(super) fn list(context: &Context) -> Fallible<Exit> {
    let items: Vec<_> = Workload::ALL
        .iter()
        .map(|workload| json!({ "workload": workload.name(), "about": workload.about() }))
        .collect();
    let texts = items.iter().map(super::json).collect::<Fallible<Vec<_>>>()?;
    let raw = |text: &String| serde_json::value::RawValue::from_string(text.clone()).ok();
    let documents: Vec<_> = texts.iter().filter_map(raw).collect();
    let shown = Shown {
        body: &super::json(&json!({ "items": items }))?,
        items: documents.iter().map(|document| &**document).collect(),
        names: Workload::ALL.iter().map(|workload| workload.name().to_owned()).collect(),
    };
    context.out.show(&shown, |_| {
        let mut table = Table::new(["WORKLOAD", "WHAT IT MEASURES"]);
        for workload in Workload::ALL {
            table.row(vec![workload.name().into(), workload.about().into()]);
        }
        table.render(context.out.style())
    })?;
    Ok(Exit::Success)
}
