//! The first two lines: how things are, whether that is so now, and what can be looked at.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::command::top::grid::fit;
use crate::command::top::model::{Model, Standing, View};
use crate::command::top::rows::per_second;
use crate::command::top::theme::Tone;
use crate::humane::{grouped, short};
use crate::output::chart;

/// Columns of the sparkline.
const SPARK: usize = 12;
/// Beyond this nobody waits for a backlog.
const FAR: f64 = 7.0 * 86_400.0;

/// A part of the header: what is most expendable goes first where there is no room.
struct Part {
    expendable: u8,
    text: String,
    tone: Tone,
}

pub(super) fn header(model: &Model, width: usize) -> Line<'static> {
    let theme = model.theme;
    let (state, tone) = standing(model);
    let clock = clock(model);
    let right = format!("{clock} {state} ");
    let mut parts = figures(model);
    let title = Part { expendable: 9, text: format!("ganger top  {}", place(model)), tone: Tone::Strong };
    parts.insert(0, title);
    let total = |parts: &[Part]| parts.iter().map(|part| part.text.width() + 2).sum::<usize>();
    // Bounded by the number of parts.
    while total(&parts) + right.width() > width {
        let worst = parts.iter().enumerate().max_by_key(|(_, part)| part.expendable).map(|(at, _)| at);
        let Some(worst) = worst else { break };
        parts.remove(worst);
    }
    let fill = width.saturating_sub(total(&parts) + right.width());
    let faded = !model.is_live();
    let mut spans = Vec::new();
    for part in &parts {
        let tone = if faded && part.expendable != 9 { Tone::Dim } else { part.tone };
        spans.push(Span::raw(" "));
        spans.push(Span::styled(part.text.clone(), theme.style(tone)));
        spans.push(Span::raw(" "));
    }
    spans.push(Span::raw(" ".repeat(fill)));
    spans.push(Span::raw(format!("{clock} ")));
    spans.push(Span::styled(state, theme.style(tone).add_modifier(Modifier::BOLD)));
    spans.push(Span::raw(" "));
    Line::from(spans)
}

pub(super) fn tabs(model: &Model, width: usize) -> Line<'static> {
    let theme = model.theme;
    let mut spans = Vec::new();
    let mut used = 0;
    for (place, view) in View::ALL.into_iter().enumerate() {
        let text = format!(" {} {} ", place + 1, view.title());
        used += text.width();
        let chosen = view == model.view;
        let style = theme.style(if chosen { Tone::Strong } else { Tone::Plain });
        spans.push(Span::styled(text, if chosen { style.add_modifier(Modifier::REVERSED) } else { style }));
    }
    let mut right = String::new();
    if model.read_only {
        right.push_str("read-only ");
    }
    let filter = &model.cursor().filter;
    if filter.is_empty() {
        right.push_str("? help ");
    } else {
        right.push_str(&format!("/{filter} "));
    }
    let room = width.saturating_sub(used + 1);
    if right.width() > room && filter.is_empty() {
        right.truncate(right.find('?').unwrap_or(right.len()));
    }
    let right = if right.width() > room { fit(right.trim_end(), room, true, theme) } else { right };
    spans.push(Span::raw(" ".repeat(width.saturating_sub(used + right.width()))));
    spans.push(Span::styled(right, theme.style(Tone::Info)));
    Line::from(spans)
}

/// What is wrong, if anything is.
pub(super) fn verdict(model: &Model, width: usize) -> Option<Line<'static>> {
    let verdict = model.data.stats.as_ref()?.verdict.as_ref()?;
    let tone = match verdict.severity.as_str() {
        "ok" => return None,
        "bad" => Tone::Bad,
        _ => Tone::Watch,
    };
    let text = format!(" {} {}", model.theme.either("▲", "!"), verdict.text);
    let text = if text.width() > width { fit(&text, width, true, model.theme) } else { text };
    Some(Line::styled(text, model.theme.style(if model.is_live() { tone } else { Tone::Dim })))
}

/// Where the server is.
fn place(model: &Model) -> String {
    model.address.trim_start_matches("http://").trim_end_matches('/').to_owned()
}

/// The time of day of what is shown: now, if it is live.
fn clock(model: &Model) -> String {
    let heard = model.heard.filter(|_| !model.is_live());
    let wall = heard.map_or(model.now.wall, |heard| heard.wall);
    let time = jiff::Timestamp::from_microsecond(wall.0).unwrap_or_default();
    let shown = time.to_zoned(model.zone.clone()).strftime("%H:%M:%S").to_string();
    if heard.is_some() { format!("as of {shown}") } else { shown }
}

/// Whether it is live: shape, word and colour.
fn standing(model: &Model) -> (String, Tone) {
    let (glyph, ascii, word, tone) = match model.standing() {
        _ if model.frozen => ("‖", "=", "frozen", Tone::Watch),
        Standing::Connecting => ("◌", "?", "connecting", Tone::Watch),
        Standing::Live => ("●", "*", "live", Tone::Good),
        Standing::Polling => ("◒", "+", "polling", Tone::Watch),
        Standing::Stale => ("◌", "?", "stale", Tone::Watch),
        Standing::Reconnecting => ("◌", "?", "reconnecting", Tone::Watch),
        Standing::Offline => ("✗", "x", "offline", Tone::Bad),
        Standing::Refused => ("✗", "x", "refused", Tone::Bad),
    };
    (format!("{} {word}", model.theme.either(glyph, ascii)), tone)
}

fn figures(model: &Model) -> Vec<Part> {
    let theme = model.theme;
    let pace = &model.data.pace;
    let mut parts = Vec::new();
    let mut part = |expendable, text: String, tone| parts.push(Part { expendable, text, tone });
    let out = pace.out(None);
    part(1, out.map_or_else(|| "-/s done".into(), |out| format!("{}/s done", per_second(out))), Tone::Strong);
    let history = pace.history();
    if !history.is_empty() {
        let recent = &history[history.len().saturating_sub(SPARK)..];
        part(8, chart(recent, SPARK, theme.glyphs), Tone::Info);
    }
    if let Some(share) = pace.failing(None) {
        part(4, format!("fail {share:.1}%"), if share >= 5.0 { Tone::Bad } else { Tone::Plain });
    }
    if let Some(stats) = &model.data.stats {
        let backlog = stats.jobs.queued;
        let drain = drains(model, backlog, stats.cannot_start);
        part(2, format!("backlog {}{drain}", grouped(backlog)), Tone::Plain);
        if let Some(trouble) = &stats.store_trouble {
            part(0, format!("store: {trouble}"), Tone::Bad);
        }
    }
    if let Some(wait) = pace.p95_wait() {
        part(5, format!("p95 wait {}", short(wait)), Tone::Plain);
    }
    parts
}

/// Whether the backlog shrinks, and how long it will last. What cannot start does not drain, whatever the rate.
fn drains(model: &Model, backlog: u64, cannot_start: u64) -> String {
    if cannot_start > 0 {
        return format!(" ({} cannot start)", grouped(cannot_start));
    }
    let pace = &model.data.pace;
    let (Some(out), Some(into)) = (pace.out(None), pace.into(None)) else { return String::new() };
    if backlog == 0 {
        return String::new();
    }
    let theme = model.theme;
    let down = out - into;
    if down <= 0.0 {
        let grows = if down < 0.0 { format!(" {} grows", theme.either("↑", "^")) } else { String::new() };
        return grows;
    }
    let seconds = backlog as f64 / down;
    let arrow = theme.either("↓", "v");
    if seconds > FAR {
        return format!(" {arrow}");
    }
    format!(" {arrow} drains in {}", short(std::time::Duration::from_secs_f64(seconds)))
}
