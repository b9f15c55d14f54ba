//! An answer that is read as it comes.

use std::time::Duration;

use bytes::Bytes;

use super::refusal;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The body of an answer, piece by piece.
#[derive(Debug)]
pub(crate) struct Streamed {
    what: String,
    response: reqwest::Response,
}

impl Streamed {
    pub(super) fn new(what: String, response: reqwest::Response) -> Streamed {
        Streamed { what, response }
    }

    /// The next piece, for which the server has so long; `None` at the end.
    pub(crate) async fn chunk(&mut self, patience: Duration) -> Fallible<Option<Bytes>> {
        let chunk = tokio::time::timeout(patience, self.response.chunk()).await;
        chunk.map_err(|_| silent(&self.what))?.map_err(|error| {
            let what = format!("cannot {}: it broke off", self.what);
            let why = refusal::root_cause(&error);
            Failure::new(Exit::Unreachable, what, why, "what was written is incomplete; try again")
        })
    }
}

/// The server said nothing for too long.
pub(super) fn silent(what: &str) -> Box<Failure> {
    let fix = "look at its log, and try again";
    Failure::new(Exit::Unreachable, format!("cannot {what}"), "the server went silent", fix)
}
