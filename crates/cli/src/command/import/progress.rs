//! How far an import is: a bar on a terminal, nothing elsewhere.

use std::cell::Cell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::humane::grouped;
use crate::output;

/// The bar is drawn at most this often.
const DRAWS_PER_SECOND: u8 = 10;

/// How far an import is.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    lines: Cell<u64>,
}

impl Progress {
    /// Starts at nothing. Without a size only what was done is shown, not what is left.
    pub(super) fn start(size: Option<u64>) -> Progress {
        if !output::stderr_is_terminal() {
            return Progress { bar: None, lines: Cell::new(0) };
        }
        let bar = match size {
            Some(size) => ProgressBar::new(size),
            None => ProgressBar::new_spinner(),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
        let template = match size {
            Some(_) => "{bar:24} {percent:>3}%  {msg}  {elapsed}  ETA {eta}",
            None => "{spinner} {msg}  {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar: Some(bar), lines: Cell::new(0) }
    }

    /// So much more was done.
    pub(super) fn advance(&self, bytes: u64, lines: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
            self.lines.set(self.lines.get() + lines);
            bar.set_message(format!("{} lines", grouped(self.lines.get())));
        }
    }

    /// Tells something beside the bar.
    pub(super) fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::note(text)),
            None => output::note(text),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
