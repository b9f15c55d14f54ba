//! Pings and their answers: from when the session's time is counted.

use super::{Act, PINGS_REMEMBERED, Session};
use crate::message::ToLeader;
use crate::sabotage::{self, Bug};
use crate::time::Mono;

impl Session {
    pub(super) fn heard(&mut self, now: Mono, sent_at: Mono) {
        let from = if sabotage::active(Bug::TtlFromReceipt) { now } else { sent_at };
        self.answered = self.answered.max(Some(from));
    }

    pub(super) fn ping(&mut self, now: Mono, acts: &mut Vec<Act>) {
        let number = self.next_ping;
        self.next_ping += 1;
        self.pinged_at = now;
        if self.pings.len() == PINGS_REMEMBERED {
            self.pings.pop_front();
        }
        self.pings.push_back((number, now));
        acts.push(Act::Send(ToLeader::Ping { number }));
    }

    pub(super) fn ponged(&mut self, now: Mono, number: u64) {
        while let Some((sent, at)) = self.pings.front().copied() {
            if sent > number {
                break;
            }
            self.pings.pop_front();
            if sent == number {
                self.heard(now, at);
            }
        }
    }
}
