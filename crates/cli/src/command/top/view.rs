//! Draws the model. Pure: the same model is the same screen.
//!
//! From the top: the header, the tabs, the table or the opened job, what is known of the chosen row, and one line of keys, which
//! also is where is typed, asked and told.

mod detail;
mod footer;
mod header;
mod help;
mod sheet;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::fetch::Fetch;
use super::grid::fit;
use super::model::{Mode, Model, View};
use super::rows;
use super::theme::Tone;
use super::update::wanted;

/// Below this nothing useful can be shown.
const LEAST: (u16, u16) = (40, 8);
/// Header, tabs and titles.
const ABOVE: u16 = 3;
/// The line of keys.
const KEYS: u16 = 1;
/// What is known of the chosen row.
const DETAIL: u16 = 4;
/// The detail is left out of screens that are lower.
const DETAIL_FROM: u16 = 18;

/// Draws all of it.
pub(super) fn draw(model: &Model, frame: &mut Frame<'_>) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("too small: at least {}x{}", LEAST.0, LEAST.1);
        put(buffer, area, 0, Line::raw(text));
        return;
    }
    put(buffer, area, 0, header::header(model, area.width.into()));
    put(buffer, area, 1, header::tabs(model, area.width.into()));
    if model.mode == Mode::Help {
        lines(buffer, area, 2, area.height - below(model), help::lines(model));
    } else if model.opened.is_some() {
        let all = sheet::lines(model, area.width.into());
        let scroll = model.opened.as_ref().map_or(0, |opened| opened.scroll);
        lines(buffer, area, 2, area.height - below(model), all.into_iter().skip(scroll).collect());
    } else {
        table(model, buffer, area);
        if detail_height(model) > 0 {
            let first = area.height - below(model) - DETAIL;
            lines(buffer, area, first, first + DETAIL, detail::lines(model, area.width.into()));
        }
    }
    if let Some(line) = header::verdict(model, area.width.into()).filter(|_| below(model) > KEYS) {
        put(buffer, area, area.height - below(model), line);
    }
    put(buffer, area, area.height - 1, footer::footer(model, area.width.into()));
    if !model.theme.glyphs {
        plain(buffer);
    }
}

/// Names and errors are of strangers: what a terminal would not understand does not reach it.
fn plain(buffer: &mut Buffer) {
    for cell in buffer.content.iter_mut().filter(|cell| !cell.symbol().is_ascii()) {
        let symbol = if cell.symbol() == "µ" { "u" } else { "?" };
        cell.set_symbol(symbol);
    }
}

/// Rows of a table that the screen has room for.
pub(super) fn rows_visible(model: &Model) -> usize {
    model.size.1.saturating_sub(ABOVE + below(model) + detail_height(model)).max(1).into()
}

/// How far an opened job can be scrolled.
pub(super) fn scroll_most(model: &Model) -> usize {
    let room = usize::from(model.size.1.saturating_sub(2 + below(model)));
    sheet::lines(model, model.size.0.into()).len().saturating_sub(room)
}

/// The line of keys and, where there is room and something is wrong, what that is.
fn below(model: &Model) -> u16 {
    let wrong = model.data.stats.as_ref().and_then(|stats| stats.verdict.as_ref());
    let told = wrong.is_some_and(|verdict| verdict.severity != "ok") && model.size.1 >= DETAIL_FROM;
    KEYS + u16::from(told)
}

fn detail_height(model: &Model) -> u16 {
    if model.size.1 >= DETAIL_FROM { DETAIL } else { 0 }
}

fn put(buffer: &mut Buffer, area: Rect, y: u16, line: Line<'_>) {
    buffer.set_line(area.x, area.y + y, &line, area.width);
}

fn lines(buffer: &mut Buffer, area: Rect, from: u16, to: u16, lines: Vec<Line<'_>>) {
    for (y, line) in (from..to).zip(lines) {
        put(buffer, area, y, line);
    }
}

fn table(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let grid = rows::grid(model);
    let width = usize::from(area.width) - 1;
    let layout = grid.layout(width);
    let cursor = model.cursor();
    let titles = format!(" {}", grid.titles(&layout, cursor.sort, theme));
    put(buffer, area, 2, Line::styled(titles, theme.style(Tone::Strong)));
    if grid.rows.is_empty() {
        let empty = empty(model);
        lines(buffer, area, ABOVE + 1, area.height - below(model), wrapped(&empty, width, model));
        return;
    }
    // What is no longer so is not shown as if it were.
    let faded = !model.is_live();
    for (place, row) in grid.rows.iter().enumerate().skip(cursor.top).take(rows_visible(model)) {
        let chosen = place == cursor.row;
        let mut spans = vec![Span::raw(if chosen { theme.either("▸", ">") } else { " " })];
        spans.extend(grid.line(row, &layout, theme));
        let mut line = Line::from(spans);
        if faded {
            line = Line::styled(line.to_string(), theme.style(Tone::Dim));
        }
        let y = ABOVE + u16::try_from(place - cursor.top).unwrap_or(0);
        put(buffer, area, y, line);
        if chosen {
            let bar = Rect { x: area.x, y: area.y + y, width: area.width, height: 1 };
            buffer.set_style(bar, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// Why there are no rows.
fn empty(model: &Model) -> String {
    let troubled = wanted(model).into_iter().filter(|fetch| *fetch != Fetch::Pace);
    if let Some(why) = troubled.filter_map(|fetch| model.trouble_with(&fetch).map(str::to_owned)).next() {
        return why;
    }
    let (known, nothing) = match model.view {
        View::Queues => {
            (model.data.queues.is_some(), "no queue has had a job yet: ganger enqueue, or ganger demo")
        }
        View::Jobs => (model.data.jobs.is_some(), "no job matches"),
        View::Failures => (model.data.failures.is_some(), "nothing failed in the last 24 hours"),
        View::Workers => (model.data.workers.is_some(), "no worker is connected: ganger worker start"),
        View::Schedules => (model.data.schedules.is_some(), "no schedule: ganger schedule create"),
        View::Operations => (model.data.operations.is_some(), "no operation is remembered"),
    };
    let filter = &model.cursor().filter;
    if known && filter.is_empty() {
        nothing.to_owned()
    } else if known {
        format!("nothing matches {filter}")
    } else if let Some(why) = model.why_not_live() {
        why.to_owned()
    } else {
        model.theme.either("…", "...").to_owned()
    }
}

/// A text of any length in lines.
fn wrapped<'a>(text: &str, width: usize, model: &Model) -> Vec<Line<'a>> {
    let mut out = Vec::new();
    let mut line = String::from(" ");
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() + 1 > width && line.trim() != "" {
            out.push(Line::raw(std::mem::replace(&mut line, String::from(" "))));
        }
        line.push(' ');
        line.push_str(&fit_word(word, width.saturating_sub(2), model));
    }
    out.push(Line::raw(line));
    out
}

fn fit_word(word: &str, width: usize, model: &Model) -> String {
    if word.chars().count() <= width { word.to_owned() } else { fit(word, width, false, model.theme) }
}

#[cfg(test)]
mod tests;
