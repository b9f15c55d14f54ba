//! The keys, in full.

use ratatui::text::{Line, Span};

use crate::command::top::model::Model;
use crate::command::top::theme::Tone;

const KEYS: &[(&str, &str)] = &[
    ("1-6, tab, left right", "views: queues, jobs, failures, workers and so on"),
    ("j k, up down, g G, page", "move"),
    ("enter, esc", "what is behind the row; back"),
    ("/", "jobs as in docs/search.md; else words, column:text"),
    (":", ":queue NAME :job ID :jobs FILTER :workers :ops :quit"),
    ("space, + -", "freeze what is shown; refresh more or less often"),
    ("S, T", "sort by the next column; other colours"),
    ("e, l", "explain why the job runs or not; its log"),
    ("y, o", "copy the id (OSC 52); show, and open, its URL"),
    ("P", "pause or resume the queue or the schedule"),
    ("R", "replay the job, or the dead of the queue or failure"),
    ("C", "cancel the job or the operation"),
    ("D", "drain the worker"),
    ("N", "run the schedule now; make the job due now"),
    ("q, ctrl-C", "quit"),
];

pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    let theme = model.theme;
    let mut lines = vec![Line::raw("")];
    for (keys, what) in KEYS {
        lines.push(Line::from(vec![
            Span::styled(format!("  {keys:<25}"), theme.style(Tone::Strong)),
            Span::raw(*what),
        ]));
    }
    lines.push(Line::raw(""));
    let change = if model.read_only {
        "  P R C D N would change something: --read-only has switched them off."
    } else {
        "  P R C D N change something, and ask first."
    };
    lines.push(Line::raw(change));
    lines
}
