//! How a job's state looks: a word always, a shape and a colour where the terminal has them.

use ganger_core::job::State;

use super::Style;
use super::table::{Cell, Paint};

/// A state as a cell. The word carries the meaning; shape and colour only help to find it.
pub(crate) fn state_cell(state: State, style: Style) -> Cell {
    let word = state.as_str();
    let text = if style.glyphs { format!("{} {word}", glyph(state)) } else { word.to_owned() };
    Cell::painted(text, paint(state))
}

/// The shape of a state.
pub(crate) const fn glyph(state: State) -> &'static str {
    match state {
        State::Scheduled => "◷",
        State::Blocked => "◫",
        State::Queued => "○",
        State::Running => "◔",
        State::Retrying => "↻",
        State::Succeeded => "✔",
        State::Dead => "⬢",
        State::Cancelled => "⊘",
    }
}

const fn paint(state: State) -> Paint {
    match state {
        State::Scheduled | State::Blocked => Paint::Magenta,
        State::Queued => Paint::Plain,
        State::Running => Paint::Blue,
        State::Retrying => Paint::Yellow,
        State::Succeeded => Paint::Green,
        State::Dead => Paint::Red,
        State::Cancelled => Paint::Dim,
    }
}
