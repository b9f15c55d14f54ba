//! What waits to be sent on the present stream.
//!
//! Results are coalesced: they leave when the worker is idle, when [`limits::RESULTS_PER_MESSAGE`]
//! are together, or after a millisecond. Everything else leaves at once, in order. A message stays
//! under a mebibyte; a larger result travels alone.
//!
//! The box is bounded by what can be in it: one result per lease, and log and progress only while
//! there is [`Outbox::has_room`]. It is emptied when the stream breaks, because the session sends again
//! what was not acknowledged.

use std::collections::VecDeque;
use std::time::Duration;

use ganger_core::Mono;
use ganger_core::limits;
use ganger_core::message::{AttemptReport, ToLeader};
use ganger_core::outcome::Report;

/// Results wait at most this long for company.
const LINGER: Duration = Duration::from_millis(1);
/// Results of one message together, unless a single one is larger.
const MESSAGE_BYTES: usize = 1 << 20;
/// Bytes of a result besides its text, generously.
const ENVELOPE_BYTES: usize = 96;
/// Messages that may wait before log and progress have to.
const ROOM: usize = 64;

/// Messages ready to go, and results that wait for company.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    ready: VecDeque<ToLeader>,
    results: Vec<AttemptReport>,
    bytes: usize,
    since: Option<Mono>,
}

impl Outbox {
    pub(crate) fn push(&mut self, now: Mono, message: ToLeader) {
        match message {
            ToLeader::Results(reports) => {
                for report in reports {
                    self.add(now, report);
                }
            }
            // These say something about the results before them.
            ToLeader::Drain | ToLeader::Goodbye => {
                self.seal();
                self.ready.push_back(message);
            }
            ToLeader::Hello(_)
            | ToLeader::Ping { .. }
            | ToLeader::Progress { .. }
            | ToLeader::Log { .. }
            | ToLeader::Mark { .. } => {
                self.ready.push_back(message);
            }
        }
    }

    /// Lets results go that waited long enough, or all of them if nothing else is coming.
    pub(crate) fn settle(&mut self, now: Mono, idle: bool) {
        if self.since.is_some_and(|since| idle || now >= since + LINGER) {
            self.seal();
        }
    }

    /// When [`Outbox::settle`] is next needed.
    pub(crate) fn due(&self) -> Option<Mono> {
        self.since.map(|since| since + LINGER)
    }

    /// The next message to go.
    pub(crate) fn pop(&mut self) -> Option<ToLeader> {
        self.ready.pop_front()
    }

    /// Whether something could go now.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether log and progress may be added.
    pub(crate) fn has_room(&self) -> bool {
        self.ready.len() < ROOM
    }

    pub(crate) fn clear(&mut self) {
        *self = Outbox::default();
    }

    fn add(&mut self, now: Mono, report: AttemptReport) {
        let bytes = ENVELOPE_BYTES + text_bytes(&report.report);
        if self.bytes + bytes > MESSAGE_BYTES {
            self.seal();
        }
        self.bytes += bytes;
        self.results.push(report);
        self.since.get_or_insert(now);
        if self.results.len() == limits::RESULTS_PER_MESSAGE {
            self.seal();
        }
    }

    fn seal(&mut self) {
        if !self.results.is_empty() {
            self.ready.push_back(ToLeader::Results(std::mem::take(&mut self.results)));
        }
        self.bytes = 0;
        self.since = None;
    }
}

fn text_bytes(report: &Report) -> usize {
    match report {
        Report::Ok(text) | Report::Error(text) | Report::Fatal(text) | Report::RetryAfter(_, text) => {
            text.len()
        }
        Report::Snooze(_)
        | Report::Throttled(_)
        | Report::Timeout
        | Report::Cancelled
        | Report::Released { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::{Fence, JobId};

    fn results(n: usize, bytes: usize) -> ToLeader {
        let report = AttemptReport {
            job: JobId::new(1, [0; 10]),
            fence: Fence::default(),
            report: Report::Ok("x".repeat(bytes)),
            ran: Duration::ZERO,
        };
        ToLeader::Results(vec![report; n])
    }

    fn sizes(outbox: &mut Outbox) -> Vec<usize> {
        std::iter::from_fn(|| outbox.pop())
            .map(|m| if let ToLeader::Results(r) = m { r.len() } else { 0 })
            .collect()
    }

    #[test]
    fn results_leave_when_idle_when_full_or_after_a_millisecond() {
        let mut outbox = Outbox::default();
        outbox.push(Mono(0), results(3, 10));
        outbox.settle(Mono(999), false);
        assert!(!outbox.is_ready());
        assert_eq!(outbox.due(), Some(Mono(1000)));
        outbox.settle(Mono(1000), false);
        assert_eq!(sizes(&mut outbox), [3]);

        outbox.push(Mono(2000), results(1, 10));
        outbox.settle(Mono(2000), true);
        assert_eq!(sizes(&mut outbox), [1]);

        outbox.push(Mono(3000), results(limits::RESULTS_PER_MESSAGE * 2 + 1, 10));
        assert_eq!(sizes(&mut outbox), [64, 64], "the full ones wait for nobody");
        assert!(outbox.due().is_some(), "one is left");
    }

    #[test]
    fn a_message_stays_under_a_mebibyte_and_a_larger_result_travels_alone() {
        let mut outbox = Outbox::default();
        outbox.push(Mono(0), results(3, 500_000));
        outbox.push(Mono(0), results(1, 1 << 20));
        outbox.push(Mono(0), results(1, 1));
        outbox.settle(Mono(0), true);
        assert_eq!(sizes(&mut outbox), [2, 1, 1, 1]);
    }

    #[test]
    fn a_goodbye_comes_after_the_results_and_a_ping_does_not_wait_for_them() {
        let mut outbox = Outbox::default();
        outbox.push(Mono(0), results(1, 1));
        outbox.push(Mono(0), ToLeader::Ping { number: 1 });
        outbox.push(Mono(0), ToLeader::Goodbye);
        assert_eq!(outbox.pop(), Some(ToLeader::Ping { number: 1 }));
        assert!(matches!(outbox.pop(), Some(ToLeader::Results(_))));
        assert_eq!(outbox.pop(), Some(ToLeader::Goodbye));
        assert_eq!((outbox.pop(), outbox.due()), (None, None));
    }
}
