//! How a handler says that it failed, and what may go wrong with the worker itself.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use ganger_core::name::NameError;
use ganger_core::outcome::Report;

/// What a handler returns instead of a result.
///
/// Any error converts into one that is tried again by the job's retry policy, so `?` just works,
/// with `anyhow` too. [`Fatal::fatal`] says that trying again is pointless. It is not itself a
/// `std::error::Error`, or that conversion could not exist.
pub struct JobError {
    how: How,
    text: String,
}

enum How {
    Retry,
    Fatal,
    RetryAfter(Duration),
    Snooze(Duration),
    Throttled(Duration),
}

impl JobError {
    /// Failed; the retry policy decides.
    pub fn retry(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> JobError {
        JobError { how: How::Retry, text: chain(error.into().as_ref()) }
    }

    /// Failed, and trying again is pointless: the job dies.
    pub fn fatal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> JobError {
        JobError { how: How::Fatal, text: chain(error.into().as_ref()) }
    }

    /// Failed; try again after this delay instead of the policy's.
    pub fn retry_after(
        delay: Duration,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> JobError {
        JobError { how: How::RetryAfter(delay), text: chain(error.into().as_ref()) }
    }

    /// Not now: run again after this delay. No attempt is burnt.
    #[must_use]
    pub fn snooze(delay: Duration) -> JobError {
        JobError { how: How::Snooze(delay), text: "snoozed".into() }
    }

    /// The other side asked to be left alone for this long ("429"): the job's `concurrency_key` is closed, so all jobs of its
    /// queue with that key wait, this one first among them. No attempt is burnt. A job without a key waits alone.
    #[must_use]
    pub fn throttled(long: Duration) -> JobError {
        JobError { how: How::Throttled(long), text: "throttled".into() }
    }

    /// Whether the job would die of it.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self.how, How::Fatal)
    }

    /// Whether it leaves the delay to the retry policy.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.how, How::Retry)
    }

    pub(crate) fn into_report(self) -> Report {
        match self.how {
            How::Retry => Report::Error(self.text),
            How::Fatal => Report::Fatal(self.text),
            How::RetryAfter(delay) => Report::RetryAfter(delay, self.text),
            How::Snooze(delay) => Report::Snooze(delay),
            How::Throttled(long) => Report::Throttled(long),
        }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for JobError {
    fn from(error: E) -> JobError {
        JobError::retry(error)
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.how {
            How::Retry => "retry",
            How::Fatal => "fatal",
            How::RetryAfter(_) => "retry after",
            How::Snooze(_) => "snooze",
            How::Throttled(_) => "throttled",
        };
        write!(f, "JobError({how}: {})", self.text)
    }
}

/// Marks errors that must not be tried again: `let to: Address = job.to.parse().fatal()?;`
pub trait Fatal<T> {
    /// An error in here kills the job.
    ///
    /// # Errors
    /// The same error, marked fatal.
    fn fatal(self) -> Result<T, JobError>;
}

impl<T, E: Into<Box<dyn std::error::Error + Send + Sync>>> Fatal<T> for Result<T, E> {
    fn fatal(self) -> Result<T, JobError> {
        self.map_err(JobError::fatal)
    }
}

/// An error and its causes on one line. Bounded, should causes form a circle.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    const CAUSES: usize = 16;
    let mut text = error.to_string();
    let causes = std::iter::successors(error.source(), |e| e.source());
    for cause in causes.take(CAUSES) {
        let cause = cause.to_string();
        // Some errors already repeat their cause in their own words.
        if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Why a worker could not start, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The server's address cannot be used.
    #[error("server address `{url}` is not a URL like http://127.0.0.1:8080")]
    Url {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        #[source]
        cause: tonic::transport::Error,
    },
    /// A queue, a kind or a label cannot be used.
    #[error("{what} `{text}` {cause}")]
    Name {
        /// What it was to name.
        what: &'static str,
        /// As it was given.
        text: String,
        /// What is wrong with it.
        #[source]
        cause: NameError,
    },
    /// A number or a count is out of its bounds.
    #[error("{what} is {value}, allowed are {low} to {high}")]
    Bound {
        /// Of what.
        what: &'static str,
        /// As it was given.
        value: usize,
        /// The least.
        low: usize,
        /// The most.
        high: usize,
    },
    /// A text for people that would mess up their screens.
    #[error("{0} contains a control character")]
    ControlCharacter(&'static str),
    /// Two handlers for one kind.
    #[error("kind `{0}` has two handlers")]
    TwoHandlers(String),
    /// The health server's address is taken or not ours.
    #[error("cannot listen on {address} for health checks")]
    Health {
        /// As it was given.
        address: SocketAddr,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
    /// The system gave no thread for the session.
    #[error("cannot start the session's thread")]
    Thread(#[source] std::io::Error),
    /// The session's thread died, which is a bug.
    #[error("the session's thread died")]
    SessionDied,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<u32, JobError> {
        Ok(text.parse::<u32>()?)
    }

    #[test]
    fn any_error_is_tried_again_unless_marked_fatal() {
        assert!(
            matches!(parse("x").unwrap_err().into_report(), Report::Error(t) if t.contains("invalid digit"))
        );
        let fatal = "x".parse::<u32>().fatal().unwrap_err();
        assert!(fatal.is_fatal());
        assert!(matches!(fatal.into_report(), Report::Fatal(_)));
    }

    #[test]
    fn an_anyhow_error_converts_with_its_causes() {
        fn handler() -> Result<(), JobError> {
            Err(anyhow::anyhow!("connection refused").context("send mail"))?;
            Ok(())
        }
        assert_eq!(
            handler().unwrap_err().into_report(),
            Report::Error("send mail: connection refused".into())
        );
    }

    #[test]
    fn a_handler_can_choose_its_own_delay() {
        let later = JobError::retry_after(Duration::from_secs(9), "quota");
        assert_eq!(later.into_report(), Report::RetryAfter(Duration::from_secs(9), "quota".into()));
        let snooze = JobError::snooze(Duration::from_secs(2));
        assert_eq!(snooze.into_report(), Report::Snooze(Duration::from_secs(2)));
        let throttled = JobError::throttled(Duration::from_secs(3));
        assert_eq!(throttled.into_report(), Report::Throttled(Duration::from_secs(3)));
    }
}
