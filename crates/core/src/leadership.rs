//! How a server becomes the leader.
//!
//! A takeover is safe by the order of its steps. First the term is bumped: from that commit on the old leader can write nothing. Only then is the
//! state loaded, so nothing the old leader managed to write is missed. Sessions of the old reign are
//! given time counted from the bump's *answer*: until its commit the old leader could still answer
//! pings, and each of those extends what a worker believes.

use crate::lease::Term;
use crate::sabotage::{self, Bug};
use crate::time::Mono;

/// What to do next on the way to leading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begin a new term in the store.
    Bump,
    /// Read everything in one snapshot.
    Load,
    /// Lead.
    Lead(Reign),
}

/// What a new leader begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reign {
    /// Its term.
    pub term: Term,
    /// Sessions of earlier terms are given time from this moment on.
    pub waits_from: Mono,
    /// Its authority counts from this moment: when the bump was sent.
    pub authority_from: Mono,
}

/// A takeover in progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Takeover {
    sent_at: Mono,
    bumped: Option<(Term, Mono)>,
    loaded: bool,
}

impl Takeover {
    /// Begins a takeover; the returned step is to be carried out now.
    #[must_use]
    pub fn begin(now: Mono) -> (Takeover, Step) {
        let takeover = Takeover { sent_at: now, bumped: None, loaded: false };
        let step = if sabotage::active(Bug::LoadBeforeBump) { Step::Load } else { Step::Bump };
        (takeover, step)
    }

    /// The new term is committed.
    #[must_use]
    pub fn bumped(&mut self, now: Mono, term: Term) -> Step {
        self.bumped = Some((term, now));
        if self.loaded { self.lead() } else { Step::Load }
    }

    /// Everything is loaded.
    #[must_use]
    pub fn loaded(&mut self) -> Step {
        self.loaded = true;
        if self.bumped.is_some() { self.lead() } else { Step::Bump }
    }

    fn lead(&self) -> Step {
        let (term, answered_at) = self.bumped.unwrap_or_default();
        let waits_from = if sabotage::active(Bug::WaitFromBumpSent) { self.sent_at } else { answered_at };
        Step::Lead(Reign { term, waits_from, authority_from: self.sent_at })
    }
}
