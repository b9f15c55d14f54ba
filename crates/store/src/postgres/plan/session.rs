//! Sessions: opened, closed for ever.

use ganger_core::SessionId;
use ganger_core::change::{Applied, SessionRecord};

use super::{Course, Segment};
use crate::postgres::error::Failure;

/// What a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::postgres) enum SessionState {
    /// It may be given leases.
    Open {
        /// It is forgotten when closed.
        claim: bool,
    },
    /// It was closed, and stays so.
    Closed,
    /// It was never opened, or is forgotten.
    Unknown,
}

/// What becomes of the row of a session.
pub(super) enum Write {
    Open(String),
    Close,
    Forget,
}

impl Segment<'_> {
    pub(super) fn open_session(
        &mut self,
        course: &mut Course<'_>,
        record: &SessionRecord,
    ) -> Result<Applied, Failure> {
        if self.session(course, record.id) == SessionState::Closed {
            return Ok(Applied::SessionEverClosed);
        }
        let text = serde_json::to_string(record).map_err(|error| Failure::unreadable("a session", error))?;
        course.sessions.insert(record.id, SessionState::Open { claim: record.worker.claim });
        self.sessions.insert(record.id, Write::Open(text));
        Ok(Applied::Done)
    }

    pub(super) fn close_session(&mut self, course: &mut Course<'_>, id: SessionId) -> Applied {
        if self.session(course, id) == (SessionState::Open { claim: true }) {
            course.sessions.insert(id, SessionState::Unknown);
            self.sessions.insert(id, Write::Forget);
        } else {
            course.sessions.insert(id, SessionState::Closed);
            self.sessions.insert(id, Write::Close);
        }
        Applied::Done
    }

    pub(super) fn is_open(&self, course: &Course<'_>, id: SessionId) -> bool {
        matches!(self.session(course, id), SessionState::Open { .. })
    }

    fn session(&self, course: &Course<'_>, id: SessionId) -> SessionState {
        if let Some(state) = course.sessions.get(&id) {
            return *state;
        }
        match course.known.open.get(&id) {
            Some(claim) => SessionState::Open { claim: *claim },
            None if self.facts.closed.contains(&id) => SessionState::Closed,
            None => SessionState::Unknown,
        }
    }
}
