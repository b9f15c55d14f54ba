//! What a handler says while it runs: progress and log lines, kept until the session takes them.
//!
//! A handler may talk faster than the server listens. Of progress only the latest counts; of the
//! log the last lines do, because those are what the server keeps.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ganger_core::limits;
use ganger_proto::convert::NOTE_BYTES;
use tokio::sync::Notify;

/// A longer line is cut.
const LINE_BYTES: usize = 16 << 10;

/// Words of one attempt that wait to be sent.
pub(crate) struct Chatter {
    said: Mutex<Said>,
    /// Rung when there is something to take; shared by all attempts of the worker.
    bell: Arc<Notify>,
}

/// What was said since it was last taken.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) progress: Option<(f32, String)>,
    /// Whole lines, each ending in a newline.
    pub(crate) log: String,
}

impl Chatter {
    pub(crate) fn new(bell: Arc<Notify>) -> Chatter {
        Chatter { said: Mutex::default(), bell }
    }

    pub(crate) fn progress(&self, fraction: f32, mut note: String) {
        note.truncate(note.floor_char_boundary(NOTE_BYTES));
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        self.lock().progress = Some((fraction, note));
        self.bell.notify_one();
    }

    pub(crate) fn log(&self, line: &str) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = &line[..line.floor_char_boundary(LINE_BYTES)];
        let mut said = self.lock();
        said.log.push_str(line);
        said.log.push('\n');
        // Cutting at twice the bound makes the cost of cutting a constant per byte.
        if said.log.len() > 2 * limits::LOG_BYTES {
            keep_last_lines(&mut said.log);
        }
        drop(said);
        self.bell.notify_one();
    }

    pub(crate) fn take(&self) -> Said {
        let mut said = std::mem::take(&mut *self.lock());
        keep_last_lines(&mut said.log);
        said
    }

    fn lock(&self) -> MutexGuard<'_, Said> {
        // A panic while the lock is held leaves whole lines, but perhaps one without its newline.
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep_last_lines(log: &mut String) {
    if log.len() <= limits::LOG_BYTES {
        return;
    }
    let from = log.ceil_char_boundary(log.len() - limits::LOG_BYTES);
    let cut = log[from..].find('\n').map_or(log.len(), |newline| from + newline + 1);
    log.drain(..cut);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chatter() -> Chatter {
        Chatter::new(Arc::new(Notify::new()))
    }

    #[test]
    fn a_note_is_cut_at_its_bound() {
        let chatter = chatter();
        chatter.progress(0.5, "x".repeat(NOTE_BYTES + 1));
        assert_eq!(chatter.take().progress, Some((0.5, "x".repeat(NOTE_BYTES))));
    }

    #[test]
    fn only_the_latest_progress_is_kept() {
        let chatter = chatter();
        chatter.progress(0.1, "one".into());
        chatter.progress(7.0, "two".into());
        assert_eq!(chatter.take().progress, Some((1.0, "two".into())));
        assert_eq!(chatter.take(), Said::default());
    }

    #[test]
    fn a_flood_of_lines_keeps_the_last_whole_ones() {
        let chatter = chatter();
        for i in 0..100_000 {
            chatter.log(&format!("line {i}"));
        }
        let log = chatter.take().log;
        assert!(log.len() <= limits::LOG_BYTES && log.len() > limits::LOG_BYTES / 2);
        assert!(log.starts_with("line ") && log.ends_with("line 99999\n"));
    }

    #[test]
    fn a_line_is_cut_between_characters() {
        let chatter = chatter();
        chatter.log(&"é".repeat(LINE_BYTES));
        assert_eq!(chatter.take().log.len(), LINE_BYTES + 1);
        chatter.log("with its own newline\n");
        assert_eq!(chatter.take().log, "with its own newline\n");
    }
}
