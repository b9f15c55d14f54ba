//! The last line: keys; or what is typed, asked, told.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::command::top::grid::{clean, fit};
use crate::command::top::model::{Mode, Model, Standing, View};
use crate::command::top::theme::Tone;

pub(super) fn footer(model: &Model, width: usize) -> Line<'static> {
    let theme = model.theme;
    let typing = |sign: char, text: &str| {
        // The end of a long line is where is typed.
        let room = width.saturating_sub(3);
        let skipped = text.chars().count().saturating_sub(room);
        let shown: String = text.chars().skip(skipped).collect();
        let cursor = Span::styled(" ", theme.style(Tone::Plain).add_modifier(Modifier::REVERSED));
        Line::from(vec![Span::styled(format!("{sign}{shown}"), theme.style(Tone::Strong)), cursor])
    };
    match &model.mode {
        Mode::Filter(text) => typing('/', text),
        Mode::Command(text) => typing(':', text),
        Mode::Confirm(action) => {
            let text = format!(" {}  y yes, any other key no", action.question());
            let style = theme.style(Tone::Watch).add_modifier(Modifier::REVERSED);
            Line::styled(fit(&text, width, false, theme), style)
        }
        Mode::Help => Line::raw(" any key: back"),
        Mode::Normal => told(model, width),
    }
}

/// That what is shown is old is more important than anything else.
fn told(model: &Model, width: usize) -> Line<'static> {
    let theme = model.theme;
    let away = match model.standing() {
        Standing::Reconnecting | Standing::Offline => {
            let why = model.why_not_live().unwrap_or_default();
            Some(format!(" no server: what is shown is old; trying again. {why}"))
        }
        Standing::Stale => Some(" the server does not answer: what is shown is old".to_owned()),
        Standing::Refused | Standing::Polling => model.why_not_live().map(|why| format!(" no stream: {why}")),
        Standing::Connecting | Standing::Live => None,
    };
    if let Some(away) = away {
        return Line::styled(fit(&clean(&away), width, false, theme), theme.style(Tone::Bad));
    }
    if let Some(message) = &model.message {
        return Line::styled(
            fit(&format!(" {}", clean(message)), width, false, theme),
            theme.style(Tone::Strong),
        );
    }
    Line::styled(fit(&keys(model), width, false, theme), theme.style(Tone::Quiet))
}

/// The keys that fit, those that must be known first.
fn keys(model: &Model) -> String {
    let mut words = vec!["? help", "q quit"];
    if model.opened.is_some() {
        words.extend(["esc back", "e explain", "l log"]);
        if !model.read_only {
            words.extend(["C cancel", "R replay", "N now"]);
        }
    } else {
        words.push("enter open");
        let changes: &[&str] = match model.view {
            View::Queues => &["P pause/resume", "R replay dead"],
            View::Jobs => &["C cancel", "R replay", "N now"],
            View::Failures => &["R replay dead"],
            View::Workers => &["D drain"],
            View::Schedules => &["P pause/resume", "N run now"],
            View::Operations => &["C cancel"],
        };
        if !model.read_only {
            words.extend(changes);
        }
        words.extend(["/ filter", ": command", "S sort", "e explain", "l log"]);
    }
    words.extend(["y copy id", "o url"]);
    format!(" {}", words.join("  "))
}
