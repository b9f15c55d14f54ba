//! What the server said.

use std::time::Duration;

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
}
