//! What is known of the chosen row.

use std::time::Duration;

use ganger_core::Wall;
use ganger_server::api::{FailureBody, JobBody, OperationBody, ScheduleBody, WorkerBody};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::command::top::grid::{clean, fit};
use crate::command::top::model::{Model, View};
use crate::command::top::rows::when;
use crate::command::top::theme::Tone;
use crate::humane::{relative, short};
use crate::output::chart;

/// Columns of each chart.
const CHART: usize = 20;

pub(super) fn lines(model: &Model, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let id = model.cursor().id.clone().unwrap_or_default();
    let told = if id.is_empty() { Vec::new() } else { told(model, &id) };
    let dash = theme.either("─", "-");
    let title = format!("{} {} ", dash.repeat(2), if id.is_empty() { "nothing chosen" } else { &id });
    let rule = format!("{title}{}", dash.repeat(width.saturating_sub(title.width())));
    let mut lines = vec![Line::styled(rule, theme.style(Tone::Quiet))];
    for (label, text) in told {
        let room = width.saturating_sub(label.width() + 3);
        lines.push(Line::from(vec![
            Span::styled(format!("  {label} "), theme.style(Tone::Strong)),
            Span::raw(fit(&clean(&text), room, false, theme)),
        ]));
    }
    lines
}

type Told = Vec<(&'static str, String)>;

fn told(model: &Model, id: &str) -> Told {
    let data = &model.data;
    let now = model.now.wall;
    let found = match model.view {
        View::Queues => Some(queue(model, id)),
        View::Jobs => {
            let mut jobs = data.jobs.iter().flat_map(|page| &page.items);
            jobs.find(|job| job.id.to_string() == id).map(job)
        }
        View::Failures => {
            let mut groups = data.failures.iter().flatten();
            groups.find(|group| group.fingerprint.to_string() == id).map(|group| failure(group, now))
        }
        View::Workers => {
            let mut workers = data.workers.iter().flatten();
            workers.find(|worker| worker.id.to_string() == id).map(|found| worker(found, now))
        }
        View::Schedules => {
            let mut schedules = data.schedules.iter().flatten();
            schedules.find(|schedule| schedule.name.as_str() == id).map(|found| schedule(found, now))
        }
        View::Operations => {
            let mut operations = data.operations.iter().flatten();
            operations.find(|operation| operation.id.to_string() == id).map(operation)
        }
    };
    found.unwrap_or_default()
}

fn job(job: &JobBody) -> Told {
    let tags = if job.tags.is_empty() { String::new() } else { format!("  tags {}", job.tags.join(",")) };
    let made = job.schedule.as_ref().map(|origin| format!("  by schedule {}", origin.name));
    let keys = [("key", &job.unique_key), ("concurrency", &job.concurrency_key), ("fair", &job.fair_key)];
    let key = |(name, key): &(&str, &Option<String>)| key.as_ref().map(|key| format!("  {name} {key}"));
    let keys: String = keys.iter().filter_map(key).collect();
    let made = made.unwrap_or_default();
    let error = job.last_error.clone().or_else(|| job.reason.clone());
    vec![
        ("job", format!("priority {}  timeout {}{tags}{made}", job.priority, job.timeout)),
        ("on", format!("{}{keys}", job.worker.as_deref().unwrap_or("no worker yet"))),
        ("last error", error.unwrap_or_else(|| "none".into())),
    ]
}

fn failure(group: &FailureBody, now: Wall) -> Told {
    vec![
        ("error", group.error.clone()),
        ("last job", format!("{}, {}", group.job, relative(group.last_at, now))),
        ("jobs", format!("enter shows them: failure:{}", group.fingerprint)),
    ]
}

fn worker(worker: &WorkerBody, now: Wall) -> Told {
    let kinds: Vec<&str> = worker.kinds.iter().map(|kind| kind.as_str()).collect();
    let held =
        worker.leases.iter().map(|lease| format!("{} for {}", lease.job, short(now.since(lease.since))));
    let labels = worker.labels.iter().map(|(name, value)| format!("{name}={value}"));
    vec![
        ("kinds", if kinds.is_empty() { "all".to_owned() } else { kinds.join(", ") }),
        ("labels", labels.collect::<Vec<_>>().join(", ")),
        ("holds", held.collect::<Vec<_>>().join(", ")),
    ]
}

fn schedule(schedule: &ScheduleBody, now: Wall) -> Told {
    let next = schedule.status.as_ref().and_then(|status| status.next);
    let next = next.map(|next| format!("{next}, {}", relative(next, now)));
    vec![
        ("fires", format!("{} ({})", when(schedule), schedule.time_zone)),
        ("next", next.unwrap_or_else(|| "never".into())),
        ("missed", format!("{}  overlap {}", schedule.misfire, schedule.overlap)),
    ]
}

fn operation(operation: &OperationBody) -> Told {
    let skipped = operation.skipped_by.iter().map(|(why, count)| format!("{why} {count}"));
    vec![
        ("reason", operation.reason.clone().unwrap_or_else(|| "none was given".into())),
        ("looked at", format!("{} jobs, done {}", operation.examined, operation.done)),
        ("skipped", skipped.collect::<Vec<_>>().join(", ")),
    ]
}

fn queue(model: &Model, id: &str) -> Told {
    let data = &model.data;
    let glyphs = model.theme.glyphs;
    let bars = |values: Vec<f64>| {
        let sum: f64 = values.iter().sum();
        format!("{} {sum:.0} in 10m", chart(&values, CHART, glyphs))
    };
    let flow = format!("{}   finished {}", bars(data.pace.arrivals(id)), bars(data.pace.trend(id)));
    let waiting = data.queues.iter().flatten().find(|queue| queue.queue.as_str() == id);
    let waiting = waiting.is_some_and(|queue| queue.jobs.queued > 0);
    let head = data.head.as_ref().filter(|head| waiting && head.queue == id);
    let job = head.and_then(|head| head.job.as_deref());
    let explain = head.and_then(|head| head.explain.as_ref());
    let first = explain.and_then(|explain| explain.position.as_ref()).is_none_or(|place| place.ahead == 0);
    let line = match job {
        Some(job) => {
            let waited = job.queue_time_ms.map(|ms| format!(" waited {}", short(Duration::from_millis(ms))));
            let near = if first { "" } else { "near it: " };
            format!("{near}{} {}{}", job.id, job.kind, waited.unwrap_or_default())
        }
        None if waiting => model.theme.either("…", "...").to_owned(),
        None => "nothing waits".to_owned(),
    };
    let why = explain.filter(|_| job.is_some()).map(|explain| explain.summary.clone());
    vec![("came", flow), ("head", line), ("why", why.unwrap_or_else(|| "-".into()))]
}
