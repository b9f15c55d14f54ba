//! What was measured, for people.

use std::time::Duration;

use super::report::{Cost, Drain, Intake, Report, Spread};
use crate::humane::{grouped, short};
use crate::output::{Cell, Style, Table};

/// One line: how many, how fast, how long, and what each cost.
#[derive(Default)]
struct Line {
    jobs: Option<u64>,
    rate: Option<f64>,
    times: Option<Spread>,
    cost: Option<Cost>,
    wal: Option<f64>,
}

impl Report {
    /// A table, and what follows from it.
    pub(super) fn describe(&self, style: Style) -> String {
        let mut table = Table::new([
            "MEASURED",
            ">JOBS",
            ">JOBS/S",
            ">P50",
            ">P99",
            ">SERVER CPU S/M",
            ">WORKER CPU S/M",
            ">COMMITS/JOB",
            ">WAL B/JOB",
        ]);
        for (name, line) in self.lines() {
            table.row(line.cells(name));
        }
        format!("{}\n\n{}", table.render(style), self.conclusions().join("\n"))
    }

    fn lines(&self) -> Vec<(String, Line)> {
        let (database, ceiling) = (self.ceiling.database, &self.ceiling);
        let mut lines = vec![
            ("bulk enqueue, batches of 1,000".into(), Line::of(&self.bulk)),
            ("single enqueue".into(), Line::of(&self.single)),
        ];
        if let Some(buffered) = &self.buffered {
            lines.push(("single enqueue, buffered by Redis".into(), Line::of(&buffered.intake)));
            let stored = Line { rate: Some(buffered.stored_per_second), ..Line::default() };
            lines.push(("\u{2026} until they are in PostgreSQL".into(), stored));
        }
        lines.push((format!("drain, one worker of {} threads", self.threads), Line::run(&self.drain)));
        lines.push(("\u{2026} behind as many jobs of a closed key".into(), Line::run(&self.parked)));
        let raw = Line {
            jobs: Some(self.drain.jobs),
            rate: Some(ceiling.jobs_per_second),
            times: Some(ceiling.transaction),
            wal: ceiling.wal_bytes_per_job,
            ..Line::default()
        };
        lines.push((format!("raw ceiling of {database}, {} jobs per commit", ceiling.batch), raw));
        let start = Line {
            rate: Some(self.start.jobs_per_second),
            times: Some(self.start.start),
            cost: Some(self.start.cost),
            ..Line::default()
        };
        lines.push(("enqueue to start, idle".into(), start));
        let times = |times| Line { times, ..Line::default() };
        lines.push(("enqueue, idle".into(), times(Some(self.start.submit))));
        lines.push((format!("{database}: one job ended, one commit"), times(Some(ceiling.one))));
        if let Some(page) = ceiling.page {
            lines.push(("the disk: one page written and synced".into(), times(Some(page))));
        }
        lines
    }

    /// How far the rounds lie apart, if there were several.
    fn spread(&self) -> String {
        let (least, most) = self.shares.iter().fold((f64::MAX, 0.0f64), |(a, b), s| (a.min(*s), b.max(*s)));
        let rounds = self.shares.len();
        if rounds < 2 {
            return String::new();
        }
        format!(" (median of {rounds} rounds: {:.0}% to {:.0}%)", least * 100.0, most * 100.0)
    }

    fn conclusions(&self) -> Vec<String> {
        let ratio = |of: u64, to: u64| of as f64 / (to.max(1) as f64);
        let started = self.start.start.p50_us;
        let page = self.ceiling.page.map(|page| format!(", {:.1} of the disk", ratio(started, page.p50_us)));
        let mut said = vec![
            format!(
                "drain: {:.0}% of the raw ceiling, the store busy for {:.0}% of it{}",
                self.drain.jobs_per_second * 100.0 / self.ceiling.jobs_per_second.max(1.0),
                self.drain.store_busy * 100.0,
                self.spread(),
            ),
            format!(
                "drain behind a closed key: {:.0}% of the drain without",
                self.parked.jobs_per_second * 100.0 / self.drain.jobs_per_second.max(1.0),
            ),
            format!(
                "start: {:.1} commits of {}{} (p50)",
                ratio(started, self.ceiling.one.p50_us),
                self.ceiling.database,
                page.unwrap_or_default(),
            ),
        ];
        if let Some((taken, run)) = self.bulk.cost.wal_bytes_per_job.zip(self.drain.cost.wal_bytes_per_job) {
            said.push(format!(
                "WAL over the life of a job: {:.0} bytes (enqueued in bulk, and drained)",
                taken + run
            ));
        }
        said.push("every job of the drain was looked up: each ended once, at its first attempt".into());
        said
    }
}

impl Line {
    fn run(drain: &Drain) -> Line {
        Line {
            jobs: Some(drain.jobs),
            rate: Some(drain.jobs_per_second),
            cost: Some(drain.cost),
            ..Line::default()
        }
    }

    fn of(intake: &Intake) -> Line {
        Line {
            jobs: Some(intake.jobs),
            rate: Some(intake.jobs_per_second),
            times: Some(intake.request),
            cost: Some(intake.cost),
            wal: None,
        }
    }

    fn cells(&self, name: String) -> Vec<Cell> {
        let or_not = |cell: Option<Cell>| cell.unwrap_or_else(|| "-".into());
        let number =
            |value: Option<f64>, digits: usize| or_not(value.map(|v| format!("{v:.digits$}").into()));
        let wal = self.wal.or(self.cost.and_then(|cost| cost.wal_bytes_per_job));
        vec![
            name.into(),
            or_not(self.jobs.map(|jobs| grouped(jobs).into())),
            or_not(self.rate.map(|rate| grouped(rate as u64).into())),
            or_not(self.times.map(|times| micros(times.p50_us))),
            or_not(self.times.map(|times| micros(times.p99_us))),
            number(self.cost.map(|cost| cost.server_cpu_seconds_per_million), 1),
            number(self.cost.map(|cost| cost.worker_cpu_seconds_per_million), 1),
            number(self.cost.map(|cost| cost.commits_per_job), 4),
            number(wal, 0),
        ]
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
