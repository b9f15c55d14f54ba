//! The exit codes: stable, and documented by `ganger help exit-codes`.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Success,
    /// Something unexpected.
    Failure,
    /// The command line was wrong.
    Usage,
    /// The job ended without success.
    JobFailed,
    /// Not allowed.
    Denied,
    /// No such thing.
    NotFound,
    /// The state of things does not allow it.
    Conflict,
    /// It did not happen in time.
    TimedOut,
    /// Some items succeeded, some did not.
    Partial,
    /// The server cannot be reached, or cannot serve.
    Unreachable,
    /// A check found something.
    Findings,
    /// `ganger run` itself failed, not the command it ran.
    RunFailed,
    /// Stopped by the user.
    Interrupted,
    /// The exit code of a command that was run.
    Command(u8),
}

impl Exit {
    /// Every code with a fixed number.
    pub(crate) const ALL: [Exit; 13] = [
        Exit::Success,
        Exit::Failure,
        Exit::Usage,
        Exit::JobFailed,
        Exit::Denied,
        Exit::NotFound,
        Exit::Conflict,
        Exit::TimedOut,
        Exit::Partial,
        Exit::Unreachable,
        Exit::Findings,
        Exit::RunFailed,
        Exit::Interrupted,
    ];

    /// The number that the shell sees.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::JobFailed => 3,
            Exit::Denied => 4,
            Exit::NotFound => 5,
            Exit::Conflict => 6,
            Exit::TimedOut => 7,
            Exit::Partial => 8,
            Exit::Unreachable => 9,
            Exit::Findings => 10,
            Exit::RunFailed => 125,
            Exit::Interrupted => 130,
            Exit::Command(code) => code,
        }
    }

    /// What it means, for people.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Exit::Success => "success",
            Exit::Failure => "unexpected failure",
            Exit::Usage => "wrong usage, or input that the server could not read",
            Exit::JobFailed => "the job ended without success (`job wait`, `enqueue --wait`)",
            Exit::Denied => "not authenticated or not permitted",
            Exit::NotFound => "not found",
            Exit::Conflict => "conflict or unmet precondition (409, 412, 422)",
            Exit::TimedOut => "timed out waiting",
            Exit::Partial => "partial failure: some items of a batch failed",
            Exit::Unreachable => "the server is unreachable or unavailable",
            Exit::Findings => "a check found something (`health`, `doctor`)",
            Exit::RunFailed => "`ganger run` itself failed; otherwise it exits with the command's code",
            Exit::Interrupted => "interrupted",
            Exit::Command(_) => "the exit code of the command",
        }
    }

    /// The code for an HTTP status that is not a success.
    pub(crate) const fn of_status(status: u16) -> Exit {
        match status {
            400 | 411 | 413..=415 | 431 => Exit::Usage,
            401 | 403 | 421 => Exit::Denied,
            404 | 410 => Exit::NotFound,
            409 | 412 | 422 => Exit::Conflict,
            408 => Exit::TimedOut,
            429 | 502..=504 => Exit::Unreachable,
            _ => Exit::Failure,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_documented_ones_and_differ() {
        let numbers: Vec<u8> = Exit::ALL.iter().map(|e| e.number()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 125, 130]);
    }

    #[test]
    fn a_refusal_of_the_server_has_the_exit_code_of_its_sort() {
        for (status, exit) in [
            (400, Exit::Usage),
            (403, Exit::Denied),
            (404, Exit::NotFound),
            (409, Exit::Conflict),
            (422, Exit::Conflict),
            (429, Exit::Unreachable),
            (500, Exit::Failure),
            (503, Exit::Unreachable),
        ] {
            assert_eq!(Exit::of_status(status), exit, "{status}");
        }
    }
}
