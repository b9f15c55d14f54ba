//! One job, whole: where it is, why, its attempts, its log.

use std::time::Duration;

use ganger_core::outcome::Outcome;
use ganger_server::api::{AttemptBody, ExplainBody, JobBody};
use ratatui::text::{Line, Span};

use crate::command::top::fetch::Fetch;
use crate::command::top::grid::{clean, fit};
use crate::command::top::model::{Model, Opened, Sheet};
use crate::command::top::theme::{Theme, Tone};
use crate::humane::{relative, short};

/// Lines of a log that are shown: its end.
const LOG_LINES: usize = 2_000;

pub(super) fn lines(model: &Model, width: usize) -> Vec<Line<'static>> {
    let Some(opened) = &model.opened else { return Vec::new() };
    let theme = model.theme;
    let mut lines = vec![head(opened, theme), Line::raw("")];
    if let Some(why) =
        model.trouble_with(&asked(opened)).or_else(|| model.trouble_with(&Fetch::Job(opened.id)))
    {
        lines.extend(super::wrapped(why, width, model));
        return lines;
    }
    match opened.sheet {
        Sheet::Overview => match &opened.job {
            Some(job) => {
                lines.extend(overview(job, model, width));
                let attempts = opened.attempts.iter().flat_map(|attempts| &attempts.items);
                lines.extend(attempts.map(|attempt| one_attempt(attempt, model, width)));
            }
            None => lines.push(waiting(theme)),
        },
        Sheet::Explain => match &opened.explain {
            Some(explain) => lines.extend(explanation(explain, theme, width)),
            None => lines.push(waiting(theme)),
        },
        Sheet::Log => match &opened.log {
            Some(log) if log.trim().is_empty() => lines.push(Line::raw("  the attempt has logged nothing")),
            Some(log) => {
                let count = log.lines().count();
                let last = log.lines().skip(count.saturating_sub(LOG_LINES));
                lines.extend(
                    last.map(|line| Line::raw(fit(&format!("  {}", clean(line)), width, false, theme))),
                );
            }
            None => lines.push(waiting(theme)),
        },
    }
    lines
}

fn asked(opened: &Opened) -> Fetch {
    match opened.sheet {
        Sheet::Overview => Fetch::Job(opened.id),
        Sheet::Explain => Fetch::Explain(opened.id),
        Sheet::Log => Fetch::Log(opened.id),
    }
}

fn waiting(theme: Theme) -> Line<'static> {
    Line::raw(format!("  {}", theme.either("…", "...")))
}

fn head(opened: &Opened, theme: Theme) -> Line<'static> {
    let mut spans = vec![Span::styled(format!(" {}  ", opened.id), theme.style(Tone::Strong))];
    if let Some(job) = &opened.job {
        let (state, tone) = theme.state(job.state);
        spans.push(Span::styled(state, theme.style(tone)));
    }
    let sheet = match opened.sheet {
        Sheet::Overview => "",
        Sheet::Explain => "  explained",
        Sheet::Log => "  log",
    };
    spans.push(Span::raw(sheet));
    Line::from(spans)
}

fn overview(job: &JobBody, model: &Model, width: usize) -> Vec<Line<'static>> {
    let now = model.now.wall;
    let theme = model.theme;
    let millis = |millis: Option<u64>| millis.map(|millis| short(Duration::from_millis(millis)));
    let moment = |wall: ganger_core::Wall| format!("{wall} ({})", relative(wall, now));
    let joined = |texts: &[String]| (!texts.is_empty()).then(|| texts.join(", "));
    let rows: [(&str, Option<String>); 17] = [
        ("kind", Some(job.kind.to_string())),
        ("queue", Some(format!("{} (priority {})", job.queue, job.priority))),
        ("attempts", Some(format!("{} of {} used", job.attempts_used, job.max_attempts))),
        ("created", Some(moment(job.created_at))),
        ("due", Some(moment(job.run_at))),
        ("finished", job.finished_at.map(moment)),
        ("waited", millis(job.queue_time_ms)),
        ("ran", millis(job.execution_time_ms)),
        ("timeout", Some(job.timeout.to_string())),
        ("worker", job.worker.clone()),
        ("progress", job.progress.as_ref().map(|p| format!("{:.0} % {}", p.fraction * 100.0, p.note))),
        ("schedule", job.schedule.as_ref().map(|origin| origin.name.to_string())),
        ("keys", keys(job)),
        ("tags", joined(&job.tags)),
        ("last error", job.last_error.clone().or_else(|| job.reason.clone())),
        ("payload", job.payload.as_ref().map(|payload| payload.get().to_owned())),
        ("result", job.result.as_ref().map(|result| result.get().to_owned())),
    ];
    let line = |(name, text): (&str, Option<String>)| {
        let tone = if name == "last error" { Tone::Bad } else { Tone::Plain };
        let text = fit(&clean(&text?), width.saturating_sub(14), false, theme);
        Some(Line::from(vec![
            Span::styled(format!("  {name:<11} "), theme.style(Tone::Strong)),
            Span::styled(text, theme.style(tone)),
        ]))
    };
    rows.into_iter().filter_map(line).chain([Line::raw("")]).collect()
}

fn keys(job: &JobBody) -> Option<String> {
    let named = [("unique", &job.unique_key), ("concurrency", &job.concurrency_key), ("fair", &job.fair_key)];
    let keys = named.iter().filter_map(|(name, key)| key.as_ref().map(|key| format!("{name} {key}")));
    let keys: Vec<String> = keys.collect();
    (!keys.is_empty()).then(|| keys.join(", "))
}

fn one_attempt(attempt: &AttemptBody, model: &Model, width: usize) -> Line<'static> {
    let theme = model.theme;
    let tone = match attempt.outcome {
        Outcome::Ok => Tone::Good,
        Outcome::Error | Outcome::Timeout | Outcome::Lost => Tone::Bad,
        Outcome::Released | Outcome::Cancelled => Tone::Dim,
    };
    let ran = short(Duration::from_millis(attempt.execution_time_ms));
    let when = relative(attempt.started_at, model.now.wall);
    let told =
        format!("{when}, ran {ran} on {}  {}", attempt.worker, attempt.error.as_deref().unwrap_or_default());
    Line::from(vec![
        Span::raw(format!("  attempt {:<3} ", attempt.attempt)),
        Span::styled(format!("{:<9} ", attempt.outcome.as_str()), theme.style(tone)),
        Span::raw(fit(&clean(&told), width.saturating_sub(24), false, theme)),
    ])
}

fn explanation(explain: &ExplainBody, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let plain = |text: String| Line::raw(fit(&clean(&text), width, false, theme));
    let mut lines = vec![plain(format!("  {}", explain.summary)), Line::raw("")];
    for gate in &explain.gates {
        let (mark, tone) = if gate.closed {
            (theme.either("✗", "no"), Tone::Bad)
        } else {
            (theme.either("✓", "ok"), Tone::Good)
        };
        let told = format!("{}: {}", gate.gate, gate.evidence);
        lines.push(Line::from(vec![
            Span::styled(format!("  {mark:<2} "), theme.style(tone)),
            Span::raw(fit(&clean(&told), width.saturating_sub(6), false, theme)),
        ]));
    }
    lines.push(Line::raw(""));
    if let Some(position) = &explain.position {
        lines.push(plain(format!("  {}", position.words())));
    }
    if let Some(estimate) = explain.estimate_ms {
        lines.push(plain(format!("  should start in about {}", short(Duration::from_millis(estimate)))));
    }
    if let Some(step) = &explain.next_step {
        lines.push(plain(format!("  next step: {step}")));
    }
    lines
}
