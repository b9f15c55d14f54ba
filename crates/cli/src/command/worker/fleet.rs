//! `ganger worker list` and `drain`.

use std::time::Duration;

use clap::Args;
use ganger_core::SessionId;
use ganger_core::event::WorkerState;
use ganger_server::api::{WorkerBody, WorkersBody};

use crate::client::{Call, Client};
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::{relative, short};
use crate::output::{Cell, Paint, Shown, Style, Table};

/// Which workers to drain.
#[derive(Args, Debug)]
pub(super) struct Drain {
    /// The workers' ids or names, as `ganger worker list` shows them
    #[arg(required = true, value_name = "WORKER")]
    workers: Vec<String>,
}

impl Drain {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        for id in found(&client, &self.workers).await? {
            let call =
                Call::post(format!("drain worker {id}"), format!("/v1/workers/{id}:drain")).repeatable();
            let answer = client.send(&call).await?;
            context.out.show_one(&answer.body, &id.to_string(), |_| format!("{id} takes nothing new"))?;
        }
        Ok(Exit::Success)
    }
}

/// The sessions that ids and names mean. A name means every worker that has it and is not gone.
async fn found(client: &Client, named: &[String]) -> Fallible<Vec<SessionId>> {
    let mut ids = Vec::new();
    let mut listed = None;
    for name in named {
        if let Ok(id) = name.parse() {
            ids.push(id);
            continue;
        }
        let workers = match &listed {
            Some(workers) => workers,
            None => {
                let answer = client.send(&Call::get("list workers", "/v1/workers")).await?;
                listed.insert(answer.read::<WorkersBody>()?.items)
            }
        };
        let there = workers.iter().filter(|worker| worker.left.is_none() && worker.name == *name);
        let before = ids.len();
        ids.extend(there.map(|worker| worker.id));
        if ids.len() == before {
            return Err(Failure::new(
                Exit::NotFound,
                format!("cannot drain worker {name}"),
                "no worker that is connected has that name or id",
                "look at `ganger worker list`",
            ));
        }
    }
    Ok(ids)
}

/// Every worker.
pub(super) async fn list(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("list workers", "/v1/workers")).await?;
    let workers = answer.read::<WorkersBody>()?.items;
    let items = crate::command::items(&answer)?;
    let shown = Shown {
        body: &answer.body,
        items: items.iter().map(AsRef::as_ref).collect(),
        names: workers.iter().map(|worker| worker.id.to_string()).collect(),
    };
    context.out.show(&shown, |wide| table(&workers, wide, context.out.style()))?;
    if workers.is_empty() && shown.names.is_empty() {
        context.out.note("no worker is connected; start one with `ganger worker`");
    }
    Ok(Exit::Success)
}

fn table(workers: &[WorkerBody], wide: bool, style: Style) -> String {
    if workers.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["STATE", "ID", "NAME", ">THREADS", ">STUCK", "QUEUES", "SINCE", "HEARTBEAT"]);
    if wide {
        table = table.column("VERSION").column("LABELS").column("KINDS");
    }
    let now = clock::now();
    for worker in workers {
        let (word, paint) = look(worker.state);
        let labels: Vec<String> =
            worker.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        table.row(vec![
            Cell::painted(word, paint),
            worker.id.to_string().into(),
            worker.name.as_str().into(),
            format!("{}/{}", worker.threads_used, worker.threads).into(),
            worker.stuck.to_string().into(),
            all_or(&worker.queues).into(),
            relative(worker.opened_at, now).into(),
            format!("{} ago", short(Duration::from_millis(worker.silent_ms))).into(),
            worker.version.as_str().into(),
            if labels.is_empty() { "-".into() } else { labels.join(",").into() },
            all_or(&worker.kinds).into(),
        ]);
    }
    table.render(style)
}

const fn look(state: WorkerState) -> (&'static str, Paint) {
    match state {
        WorkerState::Available => ("available", Paint::Green),
        WorkerState::Busy => ("busy", Paint::Blue),
        WorkerState::Draining => ("draining", Paint::Yellow),
        WorkerState::Unavailable => ("unavailable", Paint::Yellow),
        WorkerState::Lost => ("lost", Paint::Red),
        WorkerState::Gone => ("gone", Paint::Dim),
    }
}

fn all_or<T: ToString>(names: &[T]) -> String {
    if names.is_empty() { "all".into() } else { names.iter().map(T::to_string).collect::<Vec<_>>().join(",") }
}
