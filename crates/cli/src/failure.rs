//! What went wrong, why, and what to do: the three lines of every error.

use std::fmt;
use std::io;

use serde_json::json;

use crate::exit::Exit;

/// The result of whatever can fail in front of a user.
pub(crate) type Fallible<T> = Result<T, Box<Failure>>;

/// An error as a person reads it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What could not be done.
    pub(crate) what: String,
    /// Why not. May be empty if `what` says it all.
    pub(crate) why: String,
    /// What to do about it. May be empty if there is nothing to do.
    pub(crate) fix: String,
    /// The server's own words (RFC 9457), for `-o json`.
    pub(crate) problem: Option<String>,
    /// Nobody is there to read it: the reader of a pipe went away.
    silent: bool,
}

impl Failure {
    /// An error in three lines.
    pub(crate) fn new(
        exit: Exit,
        what: impl Into<String>,
        why: impl fmt::Display,
        fix: impl Into<String>,
    ) -> Box<Failure> {
        Box::new(Failure {
            exit,
            what: what.into(),
            why: why.to_string(),
            fix: fix.into(),
            problem: None,
            silent: false,
        })
    }

    /// Wrong usage that only shows after parsing.
    pub(crate) fn usage(
        what: impl Into<String>,
        why: impl fmt::Display,
        fix: impl Into<String>,
    ) -> Box<Failure> {
        Failure::new(Exit::Usage, what, why, fix)
    }

    /// An operation on a file failed.
    pub(crate) fn file(what: impl Into<String>, error: &io::Error, fix: impl Into<String>) -> Box<Failure> {
        Failure::new(Exit::Failure, what, error, fix)
    }

    /// Standard output could not be written. A closed pipe is how `| head` says "enough".
    pub(crate) fn output(error: &io::Error) -> Box<Failure> {
        if error.kind() == io::ErrorKind::BrokenPipe {
            let mut quiet = Failure::new(Exit::Success, "", "", "");
            quiet.silent = true;
            return quiet;
        }
        Failure::new(Exit::Failure, "cannot write the output", error, "free some space, or write elsewhere")
    }

    /// The same failure with another exit code.
    pub(crate) fn with_exit(mut self: Box<Failure>, exit: Exit) -> Box<Failure> {
        self.exit = exit;
        self
    }

    /// Whether it should not be shown.
    pub(crate) const fn is_silent(&self) -> bool {
        self.silent
    }

    /// The three lines, or the server's problem document.
    pub(crate) fn render(&self, as_json: bool, color: bool) -> String {
        if as_json {
            return self.problem.clone().unwrap_or_else(|| self.as_problem());
        }
        let (bold, plain) = if color { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        let mut text = format!("{bold}error:{plain} {}", self.what);
        for (label, line) in [("why", &self.why), ("do", &self.fix)] {
            if !line.is_empty() {
                text.push_str(&format!("\n  {label}: {}", line.replace('\n', "\n       ")));
            }
        }
        text
    }

    /// The same shape as the server's errors, for failures that never reached it.
    fn as_problem(&self) -> String {
        let why = (!self.why.is_empty()).then_some(&self.why);
        let fix = (!self.fix.is_empty()).then_some(&self.fix);
        json!({
            "type": "about:blank",
            "title": self.what,
            "detail": why,
            "hint": fix,
            "exit_code": self.exit.number(),
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_three_lines() {
        let failure = Failure::new(
            Exit::NotFound,
            "cannot get job x",
            "there is no job x",
            "look at `ganger job list`",
        );
        assert_eq!(
            failure.render(false, false),
            "error: cannot get job x\n  why: there is no job x\n  do: look at `ganger job list`"
        );
    }

    #[test]
    fn with_json_an_error_is_a_problem_document() {
        let failure = Failure::new(Exit::Unreachable, "cannot reach it", "refused", "");
        let problem: serde_json::Value = serde_json::from_str(&failure.render(true, false)).unwrap();
        assert_eq!(problem["title"], "cannot reach it");
        assert_eq!(problem["hint"], serde_json::Value::Null);
        assert_eq!(problem["exit_code"], 9);
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        let failure = Failure::output(&io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(failure.is_silent());
        assert_eq!(failure.exit, Exit::Success);
    }
}
