//! Why an attempt ended as it did: what an outcome leaves open.

use serde::{Deserialize, Serialize};

use crate::outcome::Report;
use crate::rules::Ending;

/// What led to an outcome. Few words, for those who count: an error's own text is in the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The handler returned a result.
    Returned,
    /// The handler failed, and the retry policy decides.
    Failed,
    /// The handler failed and said that trying again is pointless.
    Fatal,
    /// The handler failed and said when to try again.
    RetryAfter,
    /// The handler asked to run later.
    Snoozed,
    /// The handler was asked to leave the other side alone for a while.
    Throttled,
    /// Its worker stopped and handed it back.
    HandedBack,
    /// It was stopped at its timeout.
    TimedOut,
    /// It was cancelled, and stopped.
    Cancelled,
    /// It was told to stop, and did not within the grace.
    DidNotStop,
    /// The session of its worker was closed: it was silent for too long, or is known to be dead.
    SessionClosed,
    /// The handler's own transaction ended the job.
    EndedElsewhere,
}

impl Reason {
    /// The reason of an ending.
    #[must_use]
    pub const fn of(ending: &Ending<'_>) -> Reason {
        match ending {
            Ending::Reported(Report::Ok(_)) => Reason::Returned,
            Ending::Reported(Report::Error(_)) => Reason::Failed,
            Ending::Reported(Report::Fatal(_)) => Reason::Fatal,
            Ending::Reported(Report::RetryAfter(..)) => Reason::RetryAfter,
            Ending::Reported(Report::Snooze(_)) => Reason::Snoozed,
            Ending::Reported(Report::Throttled(_)) => Reason::Throttled,
            Ending::Reported(Report::Released { .. }) => Reason::HandedBack,
            Ending::Reported(Report::Timeout) => Reason::TimedOut,
            Ending::Reported(Report::Cancelled) => Reason::Cancelled,
            Ending::TimedOut | Ending::CancelledUnderGrace => Reason::DidNotStop,
            Ending::Lost => Reason::SessionClosed,
        }
    }

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Returned => "returned",
            Reason::Failed => "failed",
            Reason::Fatal => "fatal",
            Reason::RetryAfter => "retry_after",
            Reason::Snoozed => "snoozed",
            Reason::Throttled => "throttled",
            Reason::HandedBack => "handed_back",
            Reason::TimedOut => "timed_out",
            Reason::Cancelled => "cancelled",
            Reason::DidNotStop => "did_not_stop",
            Reason::SessionClosed => "session_closed",
            Reason::EndedElsewhere => "ended_elsewhere",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_the_one_in_events() {
        for (ending, word) in [
            (Ending::Reported(&Report::Ok("1".into())), "returned"),
            (Ending::Reported(&Report::Fatal("no".into())), "fatal"),
            (Ending::Reported(&Report::Released { started: true }), "handed_back"),
            (Ending::TimedOut, "did_not_stop"),
            (Ending::Lost, "session_closed"),
        ] {
            let reason = Reason::of(&ending);
            assert_eq!(reason.as_str(), word);
            assert_eq!(serde_json::to_value(reason).unwrap(), word);
        }
    }
}
