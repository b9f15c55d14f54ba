//! Colours and shapes. A state is always a word; shape and colour only help to find it.

use ganger_core::event::WorkerState;
use ganger_core::job::State;
use ratatui::style::{Color, Modifier, Style};

use crate::output;

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Dim,
    Good,
    Watch,
    Bad,
    Info,
    Quiet,
}

/// A set of colours of the sixteen that every terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    /// For a dark background.
    Dark,
    /// For a light background: no yellow, nothing bright.
    Light,
    /// None: bold, dim and reversed only.
    None,
}

/// How it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Theme {
    pub(super) colours: Colours,
    /// Colours may be used at all.
    pub(super) may_colour: bool,
    /// More than ASCII is understood.
    pub(super) glyphs: bool,
}

impl Theme {
    pub(super) fn new(colour: bool, glyphs: bool) -> Theme {
        Theme { colours: if colour { Colours::Dark } else { Colours::None }, may_colour: colour, glyphs }
    }

    /// The next set of colours, and its name.
    pub(super) fn next(self) -> (Theme, &'static str) {
        let (colours, name) = match self.colours {
            _ if !self.may_colour => (Colours::None, "no colours: NO_COLOR or --color never"),
            Colours::Dark => (Colours::Light, "colours for a light background"),
            Colours::Light => (Colours::None, "no colours"),
            Colours::None => (Colours::Dark, "colours for a dark background"),
        };
        (Theme { colours, ..self }, name)
    }

    pub(super) fn style(self, tone: Tone) -> Style {
        let style = match tone {
            Tone::Strong | Tone::Bad => Style::new().add_modifier(Modifier::BOLD),
            Tone::Dim => Style::new().add_modifier(Modifier::DIM),
            Tone::Plain | Tone::Good | Tone::Watch | Tone::Info | Tone::Quiet => Style::new(),
        };
        let colour = match (self.colours, tone) {
            (Colours::None, _) | (_, Tone::Plain | Tone::Strong | Tone::Dim) => return style,
            (_, Tone::Good) => Color::Green,
            (_, Tone::Bad) => Color::Red,
            (Colours::Dark, Tone::Watch) => Color::Yellow,
            (Colours::Dark, Tone::Info) => Color::Cyan,
            (Colours::Light, Tone::Watch) => Color::Magenta,
            (Colours::Light, Tone::Info) => Color::Blue,
            (_, Tone::Quiet) => Color::DarkGray,
        };
        style.fg(colour)
    }

    /// A glyph, or what stands for it in ASCII.
    pub(super) fn either(self, glyph: &'static str, ascii: &'static str) -> &'static str {
        if self.glyphs { glyph } else { ascii }
    }

    /// A job's state: shape and word.
    pub(super) fn state(self, state: State) -> (String, Tone) {
        let shape = if self.glyphs { output::glyph(state) } else { ascii(state) };
        (format!("{shape} {}", state.as_str()), tone(state))
    }

    /// A worker's state: shape and word.
    pub(super) fn worker(self, state: WorkerState) -> (String, Tone) {
        let (glyph, ascii, tone) = match state {
            WorkerState::Available => ("○", "o", Tone::Good),
            WorkerState::Busy => ("●", "*", Tone::Info),
            WorkerState::Draining => ("◒", "v", Tone::Watch),
            WorkerState::Unavailable => ("◌", "?", Tone::Watch),
            WorkerState::Lost => ("✗", "x", Tone::Bad),
            WorkerState::Gone => ("·", ".", Tone::Dim),
        };
        (format!("{} {}", self.either(glyph, ascii), state.as_str()), tone)
    }
}

const fn ascii(state: State) -> &'static str {
    match state {
        State::Scheduled => "@",
        State::Blocked => "#",
        State::Queued => "o",
        State::Running => ">",
        State::Retrying => "~",
        State::Succeeded => "+",
        State::Dead => "x",
        State::Cancelled => "-",
    }
}

const fn tone(state: State) -> Tone {
    match state {
        State::Scheduled | State::Blocked | State::Queued => Tone::Plain,
        State::Running => Tone::Info,
        State::Retrying => Tone::Watch,
        State::Succeeded => Tone::Good,
        State::Dead => Tone::Bad,
        State::Cancelled => Tone::Dim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_no_theme_has_any() {
        let mut theme = Theme::new(false, true);
        for _ in 0..4 {
            for tone in [Tone::Good, Tone::Watch, Tone::Bad, Tone::Info, Tone::Quiet] {
                assert_eq!(theme.style(tone).fg, None);
            }
            theme = theme.next().0;
        }
    }

    #[test]
    fn every_state_has_its_own_shape_with_and_without_glyphs() {
        for glyphs in [true, false] {
            let mut shapes: Vec<String> =
                State::ALL.map(|state| Theme::new(true, glyphs).state(state).0).to_vec();
            shapes.iter_mut().for_each(|shape| shape.truncate(shape.find(' ').unwrap_or(0)));
            shapes.sort();
            shapes.dedup();
            assert_eq!(shapes.len(), State::ALL.len());
        }
    }
}
