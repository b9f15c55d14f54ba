//! `ganger stats`: the whole, in numbers, now and over time.

mod timeseries;

use clap::{Args, Subcommand};
use ganger_core::job::State;
use ganger_server::api::{CountsBody, StatsBody, VerdictBody};

use crate::client::Call;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::grouped;
use crate::output::{Cell, Paint, Style, Table};

/// The whole, in numbers: jobs by queue, kind and state; workers and their threads.
#[derive(Args, Debug)]
#[command(after_help = "\
Every number is exact: the server counts as it goes.

Examples:
  ganger stats
  ganger stats -o json | jq .jobs.dead
  ganger stats timeseries --metric wait --by queue")]
pub(crate) struct Stats {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Timeseries(timeseries::Timeseries),
}

impl Stats {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Some(Verb::Timeseries(timeseries)) => return timeseries.run(context).await,
            None => {}
        }
        let answer = context.client()?.send(&Call::get("read the statistics", "/v1/stats")).await?;
        let stats = answer.read::<StatsBody>()?;
        context.out.show_one(&answer.body, "stats", |_| describe(&stats, context.out.style()))?;
        Ok(Exit::Success)
    }
}

fn describe(stats: &StatsBody, style: Style) -> String {
    let mut table = Table::new([
        "QUEUE",
        "KIND",
        ">SCHEDULED",
        ">BLOCKED",
        ">QUEUED",
        ">RUNNING",
        ">RETRYING",
        ">SUCCEEDED",
        ">DEAD",
        ">CANCELLED",
    ]);
    for row in &stats.by_kind {
        table.row(counted(row.queue.as_str().into(), row.kind.as_str().into(), &row.jobs));
    }
    if stats.by_kind.len() != 1 {
        table.row(counted(Cell::painted("all", Paint::Bold), "".into(), &stats.jobs));
    }
    let workers: usize = stats.workers.values().sum();
    let mut text = String::new();
    if let Some(verdict) = &stats.verdict {
        text.push_str(&format!("{}\n\n", judged(verdict, style)));
    }
    text.push_str(&table.render(style));
    text.push_str(&format!(
        "\n\nworkers {workers} · threads {} of {} in use · {} changes wait to be written",
        grouped(stats.threads_used),
        grouped(stats.threads),
        grouped(stats.store_backlog as u64)
    ));
    if let Some(trouble) = &stats.store_trouble {
        text.push_str(&format!("\n{}", Paint::Red.on(&format!("nothing can be written: {trouble}"), style)));
    }
    text
}

/// The verdict, in its colour.
pub(super) fn judged(verdict: &VerdictBody, style: Style) -> String {
    let paint = match verdict.severity.as_str() {
        "ok" => Paint::Green,
        "watch" => Paint::Yellow,
        _ => Paint::Red,
    };
    paint.on(&verdict.text, style)
}

fn counted(queue: Cell, kind: Cell, jobs: &CountsBody) -> Vec<Cell> {
    let mut row = vec![queue, kind];
    row.extend(State::ALL.map(|state| {
        let count = jobs.of(state);
        let paint = match (state, count) {
            (_, 0) => Paint::Dim,
            (State::Dead, _) => Paint::Red,
            _ => Paint::Plain,
        };
        Cell::painted(grouped(count), paint)
    }));
    row
}
