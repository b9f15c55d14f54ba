//! What was measured, for people.

use std::time::Duration;

use serde_json::Value;

use super::report::{Report, Row, Spread};
use crate::humane::{grouped, short};
use crate::output::{Cell, Style, Table};

impl Report {
    /// A table, and what follows from it.
    pub(super) fn describe(&self, style: Style) -> String {
        let mut table = Table::new([
            "MEASURED",
            ">JOBS",
            ">JOBS/S",
            ">P50",
            ">P99",
            ">P99.9",
            ">SERVER CPU S/M",
            ">WORKER CPU S/M",
            ">COMMITS/JOB",
            ">STORE B/JOB",
        ]);
        for row in &self.rows {
            lines(row).into_iter().for_each(|cells| table.row(cells));
        }
        for cells in self.ceiling.iter().flat_map(|ceiling| ceiling.lines()) {
            table.row(cells.cells("-"));
        }
        let mut said = vec![format!("{} on {}: {}", self.workload, self.store.label, self.about)];
        said.push(String::new());
        said.push(table.render(style));
        said.push(String::new());
        said.extend(self.notes.iter().cloned());
        said.extend(self.verification());
        said.push(self.machine.describe());
        said.join("\n")
    }
}

/// The sorts of times in the order in which they are shown, and what each is.
const SORTS: [(&str, &str); 5] = [
    ("start", "until it starts"),
    ("recorded", "until its result is recorded"),
    ("request", "one request"),
    ("late", "start after its time"),
    ("wait", "wait for its start"),
];

/// One line: how many, how fast, how long, and what each cost.
#[derive(Default)]
pub(super) struct Line {
    pub(super) label: String,
    pub(super) jobs: Option<u64>,
    pub(super) rate: Option<f64>,
    pub(super) times: Option<Spread>,
    pub(super) server: Option<f64>,
    pub(super) worker: Option<f64>,
    pub(super) commits: Option<f64>,
    pub(super) bytes: Option<f64>,
}

impl Line {
    /// With something else where there is nothing to tell.
    fn cells(&self, nothing: &str) -> Vec<Cell> {
        let or_not = |cell: Option<Cell>| cell.unwrap_or_else(|| nothing.into());
        let number =
            |value: Option<f64>, digits: usize| or_not(value.map(|v| format!("{v:.digits$}").into()));
        let time = |of: fn(&Spread) -> u64| or_not(self.times.as_ref().map(|times| micros(of(times))));
        vec![
            self.label.clone().into(),
            or_not(self.jobs.map(|jobs| grouped(jobs).into())),
            or_not(self.rate.map(|rate| grouped(rate as u64).into())),
            time(|times| times.p50),
            time(|times| times.p99),
            time(|times| times.p999),
            number(self.server, 1),
            number(self.worker, 1),
            number(self.commits, 4),
            number(self.bytes, 0),
        ]
    }
}

/// A row, and one line more for each further sort of times.
fn lines(row: &Row) -> Vec<Vec<Cell>> {
    let cpu = |process: &str| row.cpu_seconds_per_million.get(process).copied();
    let told = |(what, words): &(&str, &'static str)| Some((*words, *row.latency_us.get(*what)?));
    let mut times: Vec<(&str, Spread)> = SORTS.iter().filter_map(told).collect();
    let alone = if times.len() == 1 { times.pop() } else { None };
    let first = Line {
        label: row.label.clone(),
        jobs: row.jobs,
        rate: row.jobs_per_second,
        times: alone.map(|(_, spread)| spread),
        server: cpu("server"),
        worker: cpu("worker"),
        commits: row.commits_per_job,
        bytes: row.store_bytes_per_job,
    };
    let mut all = vec![first.cells("-")];
    for (words, spread) in times {
        let label = format!("\u{2026} {words}");
        all.push(Line { label, times: Some(spread), ..Line::default() }.cells(""));
    }
    for (name, value) in &row.values {
        let Some(value) = value.as_f64() else { continue };
        let label = format!("\u{2026} {}: {}", name.replace('_', " "), shown(name, value));
        all.push(Line { label, ..Line::default() }.cells(""));
    }
    all
}

fn shown(name: &str, value: f64) -> String {
    let part = name.starts_with("share") || ["utilisation", "efficiency", "store_busy"].contains(&name);
    if part && value < 0.1 {
        format!("{:.1}%", value * 100.0)
    } else if part {
        format!("{:.0}%", value * 100.0)
    } else if value >= 1_000.0 {
        grouped(value as u64)
    } else {
        Value::from((value * 1_000.0).round() / 1_000.0).to_string()
    }
}

fn micros(micros: u64) -> Cell {
    let duration = Duration::from_micros(micros);
    if micros < 10_000 {
        format!("{:.2}ms", duration.as_secs_f64() * 1e3).into()
    } else {
        short(duration).into()
    }
}
