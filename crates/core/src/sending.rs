//! How a leader learns what became of what it wrote.
//!
//! The store takes a batch only right after the one before it. So the next one may be on its way before the last is
//! answered: if the last was not written, the next is not either. That saves the store the wait for the leader, and
//! makes two things that were one: a batch that was not written, and a batch that may be changed or dropped. The second
//! holds only once nothing that came after it is unaccounted for. A later batch that still lies in some buffer would be
//! written after whatever gets the number before it.
//!
//! A copy whose answer was lost may still arrive, seconds later, when another has long been answered.
//! Reading its number proves yes, never no. The refusal of a later copy is no better: the disk that was full for
//! the second copy may have room when the first one lands, and whoever took the refusal for a no has then
//! told a client so, or given the number to another batch. So a refusal counts only while no copy is
//! unaccounted for; from then on only a yes or the end of the term settles it.

use std::collections::VecDeque;

use crate::sabotage::{self, Bug};

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

/// What is known of the first batch on its way, all copies taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is durable, and no longer on its way.
    Written,
    /// Neither it nor any other was written or ever will be: they may be changed or dropped. Nothing is on its way.
    NotWritten,
    /// Another leader has begun.
    TermLost,
    /// Nothing yet: after a pause it is to be sent again, same number, same content.
    SendAgain,
    /// Nothing, and sending it again leads nowhere: only the next term can tell.
    BeginAgain,
}

/// Batches on their way into the store, in as many copies as it takes to learn what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// In order, with consecutive numbers.
    batches: VecDeque<Sent>,
    /// How often the first one contradicted what is stored.
    contradicted: u32,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    number: u64,
    stage: Stage,
    /// A copy is unaccounted for.
    in_doubt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    ToSend,
    UnderWay,
    Heard(Heard),
}

/// Contradictions of a batch in doubt before its leader begins again from what is stored.
const CONTRADICTIONS: u32 = 8;

impl Sending {
    /// Another batch is to be sent, after all that are on their way.
    pub fn add(&mut self, number: u64) {
        self.batches.push_back(Sent { number, stage: Stage::ToSend, in_doubt: false });
    }

    /// The batch that is to be sent now, which is then under way. Nothing follows a batch in doubt before that is settled.
    pub fn send(&mut self) -> Option<u64> {
        let well = !self.is_in_doubt();
        for (place, sent) in self.batches.iter_mut().enumerate() {
            match sent.stage {
                Stage::ToSend if place == 0 || well => {
                    sent.stage = Stage::UnderWay;
                    return Some(sent.number);
                }
                Stage::UnderWay | Stage::Heard(Heard::Written) => {}
                Stage::ToSend | Stage::Heard(_) => return None,
            }
        }
        None
    }

    /// This was heard of the last copy of a batch. Ask for the [`verdict`](Sending::verdict) then.
    pub fn hear(&mut self, number: u64, heard: Heard) {
        let unsettled =
            |sent: &&mut Sent| sent.number == number && sent.stage != Stage::Heard(Heard::Written);
        if let Some(sent) = self.batches.iter_mut().find(unsettled) {
            sent.stage = Stage::Heard(heard);
            sent.in_doubt |= heard == Heard::Nothing;
        }
    }

    /// What can be said of the first batch now; `None` while answers are missing. After one verdict there may be another.
    pub fn verdict(&mut self) -> Option<Verdict> {
        let first = self.batches.front()?;
        if first.stage == Stage::Heard(Heard::Written) {
            self.batches.pop_front();
            self.contradicted = 0;
            return Some(Verdict::Written);
        }
        if self.batches.iter().any(|sent| sent.stage == Stage::Heard(Heard::TermLost)) {
            return Some(Verdict::TermLost);
        }
        let Stage::Heard(heard) = first.stage else { return None };
        if self.is_no(heard)? {
            *self = Sending::default();
            return Some(Verdict::NotWritten);
        }
        self.contradicted += u32::from(heard == Heard::Contradicted);
        if self.contradicted >= CONTRADICTIONS {
            return Some(Verdict::BeginAgain);
        }
        // A later one that is durable proves that the first is, too; what the first came to is still to be asked for.
        for sent in self.batches.iter_mut().filter(|sent| sent.stage != Stage::Heard(Heard::Written)) {
            sent.stage = Stage::ToSend;
        }
        Some(Verdict::SendAgain)
    }

    /// Whether a copy is unaccounted for.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.batches.iter().any(|sent| sent.in_doubt)
    }

    /// Whether nothing is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether the first batch, of which this was heard last, was certainly not written, nor any after it. `None` while
    /// a later one is under way.
    fn is_no(&self, heard: Heard) -> Option<bool> {
        let first_in_doubt = self.batches.front().is_some_and(|first| first.in_doubt);
        if heard == Heard::Nothing && sabotage::active(Bug::UnknownBatchDropped) {
            return Some(true);
        }
        if heard != Heard::Nothing && first_in_doubt && sabotage::active(Bug::RefusalAfterUnknownTakenForNo) {
            return Some(true);
        }
        if !first_in_doubt && sabotage::active(Bug::LaterBatchForgotten) {
            return Some(true);
        }
        if self.batches.iter().any(|sent| sent.stage == Stage::UnderWay) {
            return None;
        }
        let written = |sent: &Sent| sent.stage == Stage::Heard(Heard::Written);
        Some(!self.is_in_doubt() && !self.batches.iter().any(written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches 1 to `last`, each under way.
    fn under_way(last: u64) -> Sending {
        let mut sending = Sending::default();
        for number in 1..=last {
            sending.add(number);
            assert_eq!(sending.send(), Some(number));
        }
        sending
    }

    fn heard(sending: &mut Sending, number: u64, heard: Heard) -> Option<Verdict> {
        sending.hear(number, heard);
        sending.verdict()
    }

    #[test]
    fn a_refusal_settles_a_batch_only_while_no_copy_is_unaccounted_for() {
        assert_eq!(heard(&mut under_way(1), 1, Heard::Refused), Some(Verdict::NotWritten));
        let mut sending = under_way(1);
        assert_eq!(heard(&mut sending, 1, Heard::Nothing), Some(Verdict::SendAgain));
        for _ in 0..100 {
            assert_eq!(sending.send(), Some(1));
            assert_eq!(heard(&mut sending, 1, Heard::Refused), Some(Verdict::SendAgain));
        }
        assert_eq!(heard(&mut sending, 1, Heard::Written), Some(Verdict::Written));
        assert!(sending.is_empty());
        assert_eq!(heard(&mut under_way(1), 1, Heard::TermLost), Some(Verdict::TermLost));
    }

    /// Otherwise it would be sent for ever, and nothing else with it.
    #[test]
    fn a_batch_in_doubt_that_contradicts_what_is_stored_is_left_to_the_next_term() {
        assert_eq!(heard(&mut under_way(1), 1, Heard::Contradicted), Some(Verdict::NotWritten));
        let mut sending = under_way(1);
        assert_eq!(heard(&mut sending, 1, Heard::Nothing), Some(Verdict::SendAgain));
        for _ in 1..CONTRADICTIONS {
            assert_eq!(sending.send(), Some(1));
            assert_eq!(heard(&mut sending, 1, Heard::Contradicted), Some(Verdict::SendAgain));
        }
        assert_eq!(heard(&mut sending, 1, Heard::Contradicted), Some(Verdict::BeginAgain));
    }

    #[test]
    fn batches_are_settled_in_order_whatever_is_heard_first() {
        let mut sending = under_way(2);
        assert_eq!(heard(&mut sending, 2, Heard::Written), None);
        assert_eq!(heard(&mut sending, 1, Heard::Written), Some(Verdict::Written));
        assert_eq!(sending.verdict(), Some(Verdict::Written));
        assert_eq!(sending.verdict(), None);
        assert!(sending.is_empty());
    }

    #[test]
    fn a_refusal_holds_once_what_came_after_it_is_refused_too() {
        let mut sending = under_way(2);
        assert_eq!(heard(&mut sending, 1, Heard::Refused), None);
        assert_eq!(heard(&mut sending, 2, Heard::Contradicted), Some(Verdict::NotWritten));
        assert!(sending.is_empty());
    }

    #[test]
    fn a_refused_batch_is_sent_as_it_is_while_a_later_one_is_in_doubt() {
        let mut sending = under_way(2);
        assert_eq!(heard(&mut sending, 1, Heard::Refused), None);
        assert_eq!(heard(&mut sending, 2, Heard::Nothing), Some(Verdict::SendAgain));
        assert_eq!(sending.send(), Some(1));
        assert_eq!(sending.send(), None, "the second waits for the first");
        assert_eq!(heard(&mut sending, 1, Heard::Refused), Some(Verdict::SendAgain));
        assert_eq!(sending.send(), Some(1));
        assert_eq!(heard(&mut sending, 1, Heard::Written), Some(Verdict::Written));
        assert_eq!(sending.send(), Some(2));
        assert_eq!(
            heard(&mut sending, 2, Heard::Refused),
            Some(Verdict::SendAgain),
            "a copy is unaccounted for"
        );
        assert_eq!(sending.send(), Some(2));
        assert_eq!(heard(&mut sending, 2, Heard::Written), Some(Verdict::Written));
    }

    #[test]
    fn a_later_batch_that_is_durable_proves_the_first_and_is_not_sent_again() {
        let mut sending = under_way(2);
        assert_eq!(heard(&mut sending, 1, Heard::Nothing), None);
        assert_eq!(heard(&mut sending, 2, Heard::Written), Some(Verdict::SendAgain));
        assert_eq!(sending.send(), Some(1));
        assert_eq!(sending.send(), None);
        assert_eq!(heard(&mut sending, 1, Heard::Written), Some(Verdict::Written));
        assert_eq!(sending.verdict(), Some(Verdict::Written));
    }

    #[test]
    fn nothing_new_follows_a_batch_in_doubt() {
        let mut sending = under_way(1);
        assert_eq!(heard(&mut sending, 1, Heard::Nothing), Some(Verdict::SendAgain));
        sending.add(2);
        assert_eq!(sending.send(), Some(1));
        assert_eq!(sending.send(), None);
        assert_eq!(heard(&mut sending, 1, Heard::Written), Some(Verdict::Written));
        assert_eq!(sending.send(), Some(2));
    }
}
