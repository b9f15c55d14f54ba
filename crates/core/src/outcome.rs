//! How an attempt ended, and what its handler said.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{limits, redact};

/// How an attempt ended. Attempts fail; jobs die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The handler returned a result.
    Ok,
    /// The handler failed.
    Error,
    /// It ran longer than its timeout.
    Timeout,
    /// Its worker was lost.
    Lost,
    /// It was handed back without having failed.
    Released,
    /// It was cancelled.
    Cancelled,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 6] =
        [Outcome::Ok, Outcome::Error, Outcome::Timeout, Outcome::Lost, Outcome::Released, Outcome::Cancelled];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Error => "error",
            Outcome::Timeout => "timeout",
            Outcome::Lost => "lost",
            Outcome::Released => "released",
            Outcome::Cancelled => "cancelled",
        }
    }

    /// Whether an attempt that ended so failed.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        match self {
            Outcome::Error | Outcome::Timeout | Outcome::Lost => true,
            Outcome::Ok | Outcome::Released | Outcome::Cancelled => false,
        }
    }

    /// The outcome of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|o| o.as_str() == text)
    }
}

/// What a worker says about an attempt that is over on its side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It returned this result (JSON text, at most [`crate::limits::RESULT_BYTES`]).
    Ok(String),
    /// It failed; the retry policy decides.
    Error(String),
    /// It failed and trying again is pointless.
    Fatal(String),
    /// It failed and asks for this delay instead of the policy's.
    RetryAfter(Duration, String),
    /// It asks to run later; no attempt is burnt.
    Snooze(Duration),
    /// The other side asked to be left alone for this long: the job's key is closed, and the job waits with it; or
    /// the job alone, if it has none. No attempt is burnt.
    Throttled(Duration),
    /// It was stopped because it ran longer than its timeout.
    Timeout,
    /// It was stopped because it was cancelled.
    Cancelled,
    /// It was handed back: drain, retract or lapse. `started` tells whether the handler had begun.
    Released {
        /// Whether the handler had begun.
        started: bool,
    },
}

impl Report {
    /// What a handler returned: a result within its bound, or the fatal error `result_too_large`.
    #[must_use]
    pub fn of_result(json: String) -> Report {
        if json.len() > limits::RESULT_BYTES {
            let (size, max) = (json.len(), limits::RESULT_BYTES);
            return Report::Fatal(format!("result_too_large: {size} bytes, the limit is {max}"));
        }
        Report::Ok(json)
    }

    /// With its error text, if any, without what looks like a secret, and cut to [`limits::ERROR_BYTES`], between characters.
    #[must_use]
    pub fn shortened(mut self) -> Report {
        match &mut self {
            Report::Error(text) | Report::Fatal(text) | Report::RetryAfter(_, text) => {
                if let Cow::Owned(hidden) = redact::text(text) {
                    *text = hidden;
                }
                text.truncate(text.floor_char_boundary(limits::ERROR_BYTES));
            }
            Report::Ok(_)
            | Report::Snooze(_)
            | Report::Throttled(_)
            | Report::Timeout
            | Report::Cancelled
            | Report::Released { .. } => {}
        }
        self
    }

    /// The outcome that is recorded for this report.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Report::Ok(_) => Outcome::Ok,
            Report::Error(_) | Report::Fatal(_) | Report::RetryAfter(..) => Outcome::Error,
            Report::Snooze(_) | Report::Throttled(_) | Report::Released { .. } => Outcome::Released,
            Report::Timeout => Outcome::Timeout,
            Report::Cancelled => Outcome::Cancelled,
        }
    }

    /// The error text, where the handler gave one.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match self {
            Report::Error(e) | Report::Fatal(e) | Report::RetryAfter(_, e) => Some(e),
            Report::Ok(_)
            | Report::Snooze(_)
            | Report::Throttled(_)
            | Report::Timeout
            | Report::Cancelled
            | Report::Released { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_kept_at_its_bound_and_fatal_one_past_it() {
        let result = |bytes| Report::of_result("1".repeat(bytes));
        assert_eq!(result(limits::RESULT_BYTES), Report::Ok("1".repeat(limits::RESULT_BYTES)));
        let refused = Report::Fatal("result_too_large: 1048577 bytes, the limit is 1048576".into());
        assert_eq!(result(limits::RESULT_BYTES + 1), refused);
    }

    #[test]
    fn an_error_text_is_whole_at_its_bound_and_cut_between_characters_past_it() {
        let whole = "x".repeat(limits::ERROR_BYTES);
        assert_eq!(Report::Error(whole.clone()).shortened(), Report::Error(whole));
        let text = format!("{}é", "x".repeat(limits::ERROR_BYTES - 1));
        let cut = "x".repeat(limits::ERROR_BYTES - 1);
        assert_eq!(Report::Fatal(text.clone()).shortened(), Report::Fatal(cut.clone()));
        let delay = Duration::from_secs(1);
        assert_eq!(Report::RetryAfter(delay, text).shortened(), Report::RetryAfter(delay, cut));
    }
}
