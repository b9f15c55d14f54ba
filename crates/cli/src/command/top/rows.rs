//! The rows of each view, from what the server told.

use std::time::Duration;

use ganger_core::event::WorkerState;
use ganger_core::job::State;
use ganger_core::operation::OperationState;
use ganger_server::api::{JobBody, QueueBody, ScheduleBody, WorkerBody};

use super::grid::{Cell, Column, Grid, Row};
use super::model::{Model, View};
use super::theme::{Theme, Tone};
use crate::humane::{grouped, relative, short};
use crate::output::chart;

/// Points of a trend: a minute each.
const TREND: usize = 10;
/// From here on there is room for whole ids.
const WIDE: u16 = 110;
/// A job that waits longer than this is pointed at.
const LONG: Duration = Duration::from_secs(60);

/// The present view: filtered and sorted.
pub(super) fn grid(model: &Model) -> Grid {
    let cursor = model.cursor();
    let mut grid = match model.view {
        View::Queues => queues(model),
        View::Jobs => jobs(model),
        View::Failures => failures(model),
        View::Workers => workers(model),
        View::Schedules => schedules(model),
        View::Operations => operations(model),
    };
    // The server has found the jobs already.
    if model.view != View::Jobs {
        grid.filter(&cursor.filter);
    }
    grid.sort(cursor.sort);
    grid
}

/// Threads of the workers that serve a queue.
pub(super) fn threads(workers: &[WorkerBody], queue: &QueueBody) -> u64 {
    let serves = |worker: &&WorkerBody| {
        matches!(worker.state, WorkerState::Available | WorkerState::Busy)
            && (worker.queues.is_empty() || worker.queues.contains(&queue.queue))
    };
    workers.iter().filter(serves).map(|worker| u64::from(worker.threads)).sum()
}

fn count(number: u64, tone: Tone) -> Cell {
    let tone = if number == 0 { Tone::Dim } else { tone };
    Cell::number(grouped(number), number as f64).toned(tone)
}

fn rate(rate: Option<f64>) -> Cell {
    match rate {
        Some(rate) => Cell::number(per_second(rate), rate),
        None => Cell::number("-", -1.0).toned(Tone::Dim),
    }
}

/// A rate at a glance.
pub(super) fn per_second(rate: f64) -> String {
    if rate >= 10.0 || rate == 0.0 { grouped(rate.round() as u64) } else { format!("{rate:.1}") }
}

fn queues(model: &Model) -> Grid {
    let columns = vec![
        Column::left("QUEUE", 0),
        Column::left("STATE", 3),
        Column::right("READY", 0),
        Column::right("RUN/THREADS", 0),
        Column::right("RETRY", 2),
        Column::right("DEAD", 1),
        Column::right("LATER", 9),
        Column::right("BLOCKED", 10),
        Column::right("OLDEST", 4),
        Column::right("IN/s", 6),
        Column::right("OUT/s", 5),
        Column::right("FAIL%", 8),
        Column::left("TREND 10m", 7),
    ];
    let theme = model.theme;
    let workers = model.data.workers.as_deref();
    let pace = &model.data.pace;
    let row = |queue: &QueueBody| {
        let name = queue.queue.as_str();
        let jobs = &queue.jobs;
        let threads = workers.map(|workers| threads(workers, queue));
        let running = match threads {
            Some(threads) => format!("{}/{}", grouped(jobs.running), grouped(threads)),
            None => grouped(jobs.running),
        };
        let waits = queue.oldest_ready_ms.map(Duration::from_millis);
        let oldest = match waits {
            Some(wait) if wait > LONG => {
                let text = format!("{}{}", short(wait), theme.either("▲", "!"));
                Cell::number(text, wait.as_secs_f64()).toned(Tone::Watch)
            }
            Some(wait) => Cell::number(short(wait), wait.as_secs_f64()),
            None => Cell::number("-", -1.0).toned(Tone::Dim),
        };
        let failing = match pace.failing(Some(name)) {
            Some(share) => {
                let tone = if share >= 5.0 { Tone::Bad } else { Tone::Plain };
                Cell::number(format!("{share:.1}"), share).toned(tone)
            }
            None => Cell::number("-", -1.0).toned(Tone::Dim),
        };
        let idle = Some(0) == threads && jobs.queued > 0;
        let cells = vec![
            Cell::text(name),
            queue_state(queue, theme),
            count(jobs.queued, Tone::Plain),
            Cell::number(running, jobs.running as f64).toned(if idle { Tone::Bad } else { Tone::Plain }),
            count(jobs.retrying, Tone::Watch),
            count(jobs.dead, Tone::Bad),
            count(jobs.scheduled, Tone::Plain),
            count(jobs.blocked, Tone::Plain),
            oldest,
            rate(pace.into(Some(name))),
            rate(pace.out(Some(name))),
            failing,
            Cell::text(chart(&pace.trend(name), TREND, theme.glyphs)),
        ];
        Row { id: name.to_owned(), cells }
    };
    Grid { columns, rows: model.data.queues.iter().flatten().map(row).collect() }
}

fn queue_state(queue: &QueueBody, theme: Theme) -> Cell {
    let (glyph, ascii, word, tone) = match (queue.paused, queue.draining) {
        (true, _) => ("‖", "=", "paused", Tone::Watch),
        (false, true) => ("◒", "v", "draining", Tone::Watch),
        (false, false) => ("○", "o", "open", Tone::Good),
    };
    Cell::text(format!("{} {word}", theme.either(glyph, ascii))).toned(tone)
}

fn jobs(model: &Model) -> Grid {
    let columns = vec![
        Column::left("STATE", 0),
        Column::left("ID", 1),
        Column::left("KIND", 0),
        Column::left("QUEUE", 4),
        Column::right("TRIES", 5),
        Column::right("WAITED", 6),
        Column::right("RAN", 7),
        Column::right("AGE", 2),
        Column::flexible("NOTE", 3),
    ];
    let millis = |millis: Option<u64>| match millis {
        Some(millis) => Cell::number(short(Duration::from_millis(millis)), millis as f64),
        None => Cell::number("-", -1.0).toned(Tone::Dim),
    };
    let now = model.now.wall;
    let row = |job: &JobBody| {
        let (state, tone) = model.theme.state(job.state);
        let id = job.id.to_string();
        let shown = if model.size.0 >= WIDE {
            id.clone()
        } else {
            format!("{}{}", model.theme.either("…", "~"), &id[id.len().saturating_sub(8)..])
        };
        let age = now.since(job.created_at);
        let cells = vec![
            Cell::text(state).toned(tone),
            Cell::text(shown),
            Cell::text(job.kind.as_str()),
            Cell::text(job.queue.as_str()),
            Cell::number(format!("{}/{}", job.attempts_used, job.max_attempts), f64::from(job.attempts_used)),
            millis(job.queue_time_ms),
            millis(job.execution_time_ms),
            Cell::number(brief(age), age.as_secs_f64()),
            Cell::text(remark(job, model)),
        ];
        Row { id, cells }
    };
    let page = model.data.jobs.iter().flat_map(|page| &page.items);
    Grid { columns, rows: page.map(row).collect() }
}

/// An age: seconds are enough.
fn brief(age: Duration) -> String {
    if age.as_secs() < 60 { format!("{}s", age.as_secs()) } else { short(age) }
}

/// The most useful one thing about a job.
fn remark(job: &JobBody, model: &Model) -> String {
    let now = model.now.wall;
    match job.state {
        State::Scheduled => relative(job.run_at, now),
        State::Retrying => {
            format!("{}: {}", relative(job.run_at, now), job.last_error.as_deref().unwrap_or("failed"))
        }
        State::Running if job.cancel_requested => "told to stop".into(),
        State::Running => {
            let progress = job.progress.as_ref();
            let far =
                progress.map(|p| format!("{:.0} % {} ", p.fraction * 100.0, p.note)).unwrap_or_default();
            format!("{far}{}", job.worker.as_deref().map(|worker| format!("on {worker}")).unwrap_or_default())
        }
        State::Dead | State::Cancelled => {
            job.last_error.clone().or_else(|| job.reason.clone()).unwrap_or_default()
        }
        State::Blocked => "waits for other jobs".into(),
        State::Queued | State::Succeeded => String::new(),
    }
}

fn failures(model: &Model) -> Grid {
    let columns = vec![
        Column::left("GROUP", 1),
        Column::left("KIND", 0),
        Column::right("COUNT", 0),
        Column::right("LAST", 0),
        Column::right("FIRST", 2),
        Column::flexible("ERROR", 0),
    ];
    let now = model.now.wall;
    let rows = model.data.failures.iter().flatten().map(|group| Row {
        id: group.fingerprint.to_string(),
        cells: vec![
            Cell::text(group.fingerprint.to_string()).toned(Tone::Quiet),
            Cell::text(group.kind.as_str()),
            count(group.count, Tone::Bad),
            Cell::number(relative(group.last_at, now), group.last_at.0 as f64),
            Cell::number(relative(group.first_at, now), group.first_at.0 as f64),
            Cell::text(&group.error),
        ],
    });
    Grid { columns, rows: rows.collect() }
}

fn workers(model: &Model) -> Grid {
    let columns = vec![
        Column::left("NAME", 0),
        Column::left("STATE", 0),
        Column::right("USED/THREADS", 0),
        Column::right("JOBS", 3),
        Column::right("STUCK", 4),
        Column::right("HEARD", 2),
        Column::right("UP", 5),
        Column::left("VERSION", 6),
        Column::flexible("QUEUES", 1),
    ];
    let row = |worker: &WorkerBody| {
        let (state, tone) = model.theme.worker(worker.state);
        let silent = Duration::from_millis(worker.silent_ms);
        let up = model.now.wall.since(worker.opened_at);
        let queues: Vec<&str> = worker.queues.iter().map(|queue| queue.as_str()).collect();
        let cells = vec![
            Cell::text(&worker.name),
            Cell::text(state).toned(tone),
            Cell::number(
                format!("{}/{}", worker.threads_used, worker.threads),
                f64::from(worker.threads_used),
            ),
            count(worker.leases.len() as u64, Tone::Plain),
            count(worker.stuck as u64, Tone::Bad),
            Cell::number(short(silent), silent.as_secs_f64()),
            Cell::number(brief(up), up.as_secs_f64()),
            Cell::text(&worker.version),
            Cell::text(if queues.is_empty() { "all".to_owned() } else { queues.join(",") }),
        ];
        Row { id: worker.id.to_string(), cells }
    };
    Grid { columns, rows: model.data.workers.iter().flatten().map(row).collect() }
}

/// When a schedule fires, in its own words.
pub(super) fn when(schedule: &ScheduleBody) -> String {
    let every = schedule.every.map(|every| format!("every {every}"));
    let at = schedule.at.map(|at| format!("at {at}"));
    schedule.cron.clone().or(every).or(at).unwrap_or_default()
}

fn schedules(model: &Model) -> Grid {
    let columns = vec![
        Column::left("NAME", 0),
        Column::left("STATE", 0),
        Column::left("WHEN", 0),
        Column::left("ZONE", 5),
        Column::right("NEXT", 1),
        Column::right("LIVE", 3),
        Column::left("KIND", 2),
        Column::flexible("QUEUE", 4),
    ];
    let theme = model.theme;
    let row = |schedule: &ScheduleBody| {
        let status = schedule.status.as_ref();
        let overdue = status.and_then(|status| status.overdue_ms).is_some();
        let (glyph, ascii, word, tone) = match (schedule.paused, overdue) {
            (true, _) => ("‖", "=", "paused", Tone::Watch),
            (false, true) => ("✗", "x", "overdue", Tone::Bad),
            (false, false) => ("◷", "@", "on", Tone::Good),
        };
        let next = match status.and_then(|status| status.next) {
            Some(next) => Cell::number(relative(next, model.now.wall), -(next.0 as f64)),
            None => Cell::text("-").toned(Tone::Dim),
        };
        let cells = vec![
            Cell::text(schedule.name.as_str()),
            Cell::text(format!("{} {word}", theme.either(glyph, ascii))).toned(tone),
            Cell::text(when(schedule)),
            Cell::text(&schedule.time_zone),
            next,
            count(status.map_or(0, |status| status.live.len() as u64), Tone::Plain),
            Cell::text(&schedule.job.kind),
            Cell::text(schedule.job.queue.as_deref().unwrap_or("default")),
        ];
        Row { id: schedule.name.to_string(), cells }
    };
    Grid { columns, rows: model.data.schedules.iter().flatten().map(row).collect() }
}

fn operations(model: &Model) -> Grid {
    let columns = vec![
        Column::left("STATE", 0),
        Column::left("ACTION", 0),
        Column::right("DONE", 0),
        Column::right("SKIPPED", 1),
        Column::right("RATE", 3),
        Column::right("BEGAN", 2),
        Column::left("ID", 6),
        Column::left("REASON", 5),
        Column::flexible("JOBS", 0),
    ];
    let theme = model.theme;
    let rows = model.data.operations.iter().flatten().map(|operation| {
        let (glyph, ascii, tone) = match operation.state {
            OperationState::Running => ("◔", ">", Tone::Info),
            OperationState::Done => ("✔", "+", Tone::Good),
            OperationState::Cancelled => ("⊘", "-", Tone::Dim),
        };
        let named = operation.ids.map(|ids| format!("{ids} named jobs"));
        let which = operation.filter.clone().or(named).unwrap_or_else(|| "all jobs".to_owned());
        let began = model.now.wall.since(operation.created_at);
        let cells = vec![
            Cell::text(format!("{} {}", theme.either(glyph, ascii), operation.state.as_str())).toned(tone),
            Cell::text(operation.action.as_str()),
            count(operation.done, Tone::Plain),
            count(operation.skipped, Tone::Watch),
            Cell::number(format!("{}/s", operation.rate), f64::from(operation.rate)),
            Cell::number(relative(operation.created_at, model.now.wall), began.as_secs_f64()),
            Cell::text(operation.id.to_string()).toned(Tone::Quiet),
            Cell::text(operation.reason.as_deref().unwrap_or_default()),
            Cell::text(which),
        ];
        Row { id: operation.id.to_string(), cells }
    });
    Grid { columns, rows: rows.collect() }
}
