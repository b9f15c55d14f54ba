//! Schedules, their instants and their ledgers, as people see them.

use ganger_server::api::{InstantBody, OccurrenceBody, ScheduleBody};

use crate::clock;
use crate::humane;
use crate::output::{Cell, Paint, Style, Table};

pub(super) fn schedules(schedules: &[ScheduleBody], wide: bool, style: Style) -> String {
    let mut table = Table::new(["SCHEDULE", "STATE", "WHEN", "ZONE", "KIND", "NEXT"]);
    if wide {
        table = table.column("MISFIRE").column("OVERLAP").column("JITTER").column("LIVE");
    }
    let now = clock::now();
    for schedule in schedules {
        let status = schedule.status.as_ref();
        let next = status.and_then(|status| status.next);
        let (state, paint) = match (schedule.paused, status.and_then(|status| status.overdue_ms), next) {
            (true, ..) => ("paused", Paint::Yellow),
            (false, Some(_), _) => ("overdue", Paint::Red),
            (false, None, None) => ("ended", Paint::Dim),
            (false, None, Some(_)) => ("active", Paint::Green),
        };
        let every = schedule.every.map(|every| format!("every {every}"));
        let at = schedule.at.map(|at| format!("at {at}"));
        let when = schedule.cron.clone().or(every).or(at).unwrap_or_default();
        let next = next.map_or_else(|| "-".into(), |at| format!("{at} ({})", humane::relative(at, now)));
        let live = status.map_or(0, |status| status.live.len());
        table.row(vec![
            schedule.name.as_str().into(),
            Cell::painted(state, paint),
            when.into(),
            schedule.time_zone.as_str().into(),
            schedule.job.kind.as_str().into(),
            next.into(),
            schedule.misfire.as_str().into(),
            schedule.overlap.as_str().into(),
            schedule.jitter.to_string().into(),
            live.to_string().into(),
        ]);
    }
    table.render(style)
}

pub(super) fn instants(instants: &[InstantBody], style: Style) -> String {
    let mut table = Table::new(["AT", "LOCAL", "IN", "NOTE"]);
    let now = clock::now();
    for instant in instants {
        table.row(vec![
            instant.at.to_string().into(),
            instant.local.as_str().into(),
            humane::relative(instant.at, now).into(),
            instant.note.as_deref().unwrap_or("").into(),
        ]);
    }
    table.render(style)
}

pub(super) fn occurrences(rows: &[OccurrenceBody], style: Style) -> String {
    let mut table = Table::new(["DUE", "STATE", "CAUSE", ">COUNT", "JOB", "REASON"]);
    for row in rows {
        let paint = match row.state.as_str() {
            "fired" => Paint::Green,
            "waiting" => Paint::Blue,
            _ => Paint::Yellow,
        };
        let reason = match (&row.reason, row.since) {
            (Some(reason), Some(since)) => format!("{reason}, from {since} on"),
            (Some(reason), None) => reason.clone(),
            (None, _) => String::new(),
        };
        table.row(vec![
            row.due_at.to_string().into(),
            Cell::painted(&row.state, paint),
            row.cause.as_str().into(),
            row.count.to_string().into(),
            row.job.map_or_else(|| "-".into(), |job| job.to_string()).into(),
            reason.into(),
        ]);
    }
    table.render(style)
}
