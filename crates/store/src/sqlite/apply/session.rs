//! Sessions: opened, closed for ever.

use ganger_core::SessionId;
use ganger_core::change::{Applied, SessionRecord};
use rusqlite::OptionalExtension;

use super::Work;
use crate::sqlite::error::Failure;
use crate::sqlite::{codec, sql};

impl Work<'_> {
    pub(super) fn open_session(&mut self, record: &SessionRecord) -> Result<Applied, Failure> {
        if matches!(self.session(record.id)?, Some(None)) {
            return Ok(Applied::SessionEverClosed);
        }
        let text = serde_json::to_string(record).map_err(|error| Failure::unreadable("a session", error))?;
        self.execute(sql::PUT_SESSION, (codec::session_key(record.id), text))
    }

    pub(super) fn close_session(&mut self, id: SessionId) -> Result<Applied, Failure> {
        let claim = self.session(id)?.flatten().is_some_and(|record| record.worker.claim);
        if claim {
            self.execute(sql::DELETE_SESSION, [codec::session_key(id)])
        } else {
            self.execute(sql::PUT_SESSION, (codec::session_key(id), None::<String>))
        }
    }

    /// The outer `None` is a session never opened, the inner one a closed one.
    fn session(&self, id: SessionId) -> Result<Option<Option<SessionRecord>>, Failure> {
        let found: Option<Option<String>> = self
            .conn
            .prepare_cached(sql::FIND_SESSION)?
            .query_row([codec::session_key(id)], |row| row.get(0))
            .optional()?;
        match found {
            Some(Some(text)) => {
                let record =
                    serde_json::from_str(&text).map_err(|error| Failure::unreadable("a session", error))?;
                Ok(Some(Some(record)))
            }
            Some(None) => Ok(Some(None)),
            None => Ok(None),
        }
    }
}
