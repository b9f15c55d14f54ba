//! What the server said.

use std::time::Duration;

use ganger_server::api::ProblemBody;
use serde::de::DeserializeOwned;

use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// An answer of the server: kept as text, so that `-o json` prints exactly what was sent.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    /// When to ask again.
    pub(super) retry_after: Option<Duration>,
    /// The body.
    pub(crate) body: String,
}

impl Answer {
    /// Reads the body.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Fallible<T> {
        serde_json::from_str(&self.body).map_err(|error| {
            Failure::new(
                Exit::Failure,
                "cannot understand the server's answer",
                error,
                "check that the URL is that of a Ganger server, and that `ganger version` is as new as it",
            )
        })
    }

    /// Whether the request did what it should.
    pub(crate) const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// Whether the same request may succeed in a moment.
    pub(super) const fn is_busy(&self) -> bool {
        matches!(self.status, 429 | 503)
    }

    /// Whether the server said that it did not even begin: it stops, or does not lead. Then also a request that must not
    /// be repeated blindly may be sent again.
    pub(super) fn was_not_taken(&self) -> bool {
        let problem = || serde_json::from_str::<ProblemBody>(&self.body).ok();
        self.status == 503 && problem().is_some_and(|problem| problem.code == "not_ready")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_that_says_so_did_not_begin() {
        let of = |status, code: &str| {
            let body =
                format!(r#"{{"type":"t","title":"t","status":{status},"code":"{code}","detail":"d"}}"#);
            Answer { status, retry_after: None, body }
        };
        assert!(of(503, "not_ready").was_not_taken());
        assert!(!of(503, "outcome_unknown").was_not_taken() && !of(503, "store_unavailable").was_not_taken());
        assert!(!of(200, "not_ready").was_not_taken());
        assert!(!Answer { status: 503, retry_after: None, body: "upstream is away".into() }.was_not_taken());
    }
}
