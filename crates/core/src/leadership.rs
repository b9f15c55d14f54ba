//! How a server becomes the leader, and how a leader learns what became of what it wrote.
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

/// What was heard of one copy of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is durable.
    Written,
    /// Another leader has begun.
    TermLost,
    /// This copy was not written; a later one may be.
    Refused,
    /// This copy was not written because it contradicts what is stored.
    Contradicted,
    /// Nothing: it may have been written, and it may still be.
    Nothing,
}

/// What is known of a batch, all its copies taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is durable.
    Written,
    /// It was not written and never will be: it may be changed or dropped.
    NotWritten,
    /// Another leader has begun.
    TermLost,
    /// Nothing yet: send it again, same number, same content, and nothing later before it is settled.
    SendAgain,
    /// Nothing, and sending it again leads nowhere: only the next term can tell.
    BeginAgain,
}

/// A batch on its way into the store, in as many copies as it takes to learn what became of it.
///
/// A copy whose answer was lost may still arrive, seconds later, when another has long been answered.
/// Reading its number proves yes, never no. The refusal of a later copy is no better: the disk that was full for
/// the second copy may have room when the first one lands, and whoever took the refusal for a no has then
/// told a client so, or given the number to another batch. So a refusal counts only while no copy is
/// unaccounted for; from then on only a yes or the end of the term settles it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settling {
    /// A copy is unaccounted for.
    in_doubt: bool,
    contradicted: u32,
}

/// Contradictions of a batch in doubt before its leader begins again from what is stored.
const CONTRADICTIONS: u32 = 8;

impl Settling {
    /// Judges the batch by what was heard of its last copy.
    pub fn hear(&mut self, heard: Heard) -> Verdict {
        match heard {
            Heard::Written => Verdict::Written,
            Heard::TermLost => Verdict::TermLost,
            Heard::Refused | Heard::Contradicted if !self.in_doubt => Verdict::NotWritten,
            Heard::Refused | Heard::Contradicted if sabotage::active(Bug::RefusalAfterUnknownTakenForNo) => {
                Verdict::NotWritten
            }
            Heard::Refused => Verdict::SendAgain,
            Heard::Contradicted => {
                self.contradicted += 1;
                if self.contradicted >= CONTRADICTIONS { Verdict::BeginAgain } else { Verdict::SendAgain }
            }
            Heard::Nothing if sabotage::active(Bug::UnknownBatchDropped) => Verdict::NotWritten,
            Heard::Nothing => {
                self.in_doubt = true;
                Verdict::SendAgain
            }
        }
    }

    /// Whether a copy is unaccounted for.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_settles_a_batch_only_while_no_copy_is_unaccounted_for() {
        let mut settling = Settling::default();
        assert_eq!(settling.hear(Heard::Refused), Verdict::NotWritten);
        assert_eq!(settling.hear(Heard::Nothing), Verdict::SendAgain);
        for _ in 0..100 {
            assert_eq!(settling.hear(Heard::Refused), Verdict::SendAgain);
        }
        assert_eq!(settling.hear(Heard::Written), Verdict::Written);
        assert_eq!(settling.hear(Heard::TermLost), Verdict::TermLost);
    }

    /// Otherwise it would be sent for ever, and nothing else with it.
    #[test]
    fn a_batch_in_doubt_that_contradicts_what_is_stored_is_left_to_the_next_term() {
        let mut settling = Settling::default();
        assert_eq!(settling.hear(Heard::Contradicted), Verdict::NotWritten);
        assert_eq!(settling.hear(Heard::Nothing), Verdict::SendAgain);
        for _ in 1..CONTRADICTIONS {
            assert_eq!(settling.hear(Heard::Contradicted), Verdict::SendAgain);
        }
        assert_eq!(settling.hear(Heard::Contradicted), Verdict::BeginAgain);
    }
}
