//! What the user sees: data on standard output, everything else on standard error.

mod chart;
pub(crate) mod harmless;
mod json;
mod state;
mod table;

use std::io::{self, IsTerminal, Write};

use serde_json::value::RawValue;

pub(crate) use chart::chart;
pub(crate) use state::{glyph, state_cell};
pub(crate) use table::{Cell, Paint, Table};

use crate::config::{Color, Config, Format};
use crate::failure::{Failure, Fallible};

/// Where answers go, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    format: Format,
    style: Style,
    to_terminal: bool,
}

/// What the reader's terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Colours are wanted.
    pub(crate) color: bool,
    /// More than ASCII is understood.
    pub(crate) glyphs: bool,
    /// Columns, if there is a terminal.
    pub(crate) width: Option<usize>,
}

/// An answer that can be shown in every format.
pub(crate) struct Shown<'a> {
    /// The REST document, as it came.
    pub(crate) body: &'a str,
    /// Its items, each a document; one item is the body itself.
    pub(crate) items: Vec<&'a RawValue>,
    /// The name or id of each item.
    pub(crate) names: Vec<String>,
}

impl Out {
    /// As the settings and the terminal say.
    pub(crate) fn new(config: &Config) -> Out {
        let to_terminal = io::stdout().is_terminal();
        let color = match config.color.value {
            Color::Auto => to_terminal && config.terminal.color,
            Color::Always => true,
            Color::Never => false,
        };
        let glyphs = to_terminal && config.terminal.utf8;
        let width = to_terminal.then(columns).flatten();
        Out { format: config.output.value, style: Style { color, glyphs, width }, to_terminal }
    }

    /// The format that was asked for.
    pub(crate) const fn format(&self) -> Format {
        self.format
    }

    /// Whether a person reads it, not a program.
    pub(crate) const fn is_for_people(&self) -> bool {
        matches!(self.format, Format::Table | Format::Wide)
    }

    /// What the reader's terminal can show.
    pub(crate) const fn style(&self) -> Style {
        self.style
    }

    /// Shows an answer: `table` is asked only if a person reads it, and told whether it may be wide.
    pub(crate) fn show(&self, shown: &Shown<'_>, table: impl FnOnce(bool) -> String) -> Fallible<()> {
        match self.format {
            Format::Table => self.line(&harmless::lines(&table(false))),
            Format::Wide => self.line(&harmless::lines(&table(true))),
            Format::Json if self.to_terminal => self.line(&harmless::json(&json::indented(shown.body))),
            Format::Json => self.line(shown.body),
            Format::Ndjson => self.lines(shown.items.iter().map(|item| json::on_one_line(item.get()))),
            Format::Name => self.lines(shown.names.iter().cloned()),
        }
    }

    /// Shows one document.
    pub(crate) fn show_one(
        &self,
        body: &str,
        name: &str,
        human: impl FnOnce(bool) -> String,
    ) -> Fallible<()> {
        match self.format {
            Format::Ndjson => self.line(&json::on_one_line(body)),
            Format::Table | Format::Wide | Format::Json | Format::Name => {
                self.show(&Shown { body, items: Vec::new(), names: vec![name.to_owned()] }, human)
            }
        }
    }

    /// Writes a line of data.
    pub(crate) fn line(&self, text: &str) -> Fallible<()> {
        self.lines(std::iter::once(text.to_owned()))
    }

    /// Writes text at once, without what a terminal would obey.
    pub(crate) fn text(&self, text: &str) -> Fallible<()> {
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(harmless::lines(text).as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::output(&error))
    }

    /// Tells the user something that is not data.
    pub(crate) fn note(&self, text: &str) {
        note(text);
    }

    fn lines(&self, lines: impl Iterator<Item = String>) -> Fallible<()> {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        for line in lines {
            // A table without rows is empty, and an empty answer prints nothing.
            if !line.is_empty() {
                writeln!(stdout, "{line}").map_err(|error| Failure::output(&error))?;
            }
        }
        stdout.flush().map_err(|error| Failure::output(&error))
    }
}

/// Tells the user something that is not data. Nobody may be listening, which is no reason to fail.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", harmless::lines(text));
}

/// Whether standard error is a terminal, for progress bars and error colours.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}
