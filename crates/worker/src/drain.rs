//! Stopping well: finish what runs, up to a grace; then tell it to stop; then give up.
//!
//! ```text
//!   drain ──grace──▶ stop handlers ──they have `cancel_grace`──▶ last results ──▶ give up
//!     └──────────── everything acknowledged: goodbye, finished ───────────┘
//! ```
//! Giving up loses nothing: the leader ends the session by its TTL and runs the jobs elsewhere.

use std::time::Duration;

use ganger_core::Mono;

/// How long the last acknowledgements may take.
const ACKS: Duration = Duration::from_secs(5);
/// How long a worker with nothing left waits for a connection to say goodbye on.
const GOODBYE: Duration = Duration::from_secs(2);

/// A drain under way.
#[derive(Debug)]
pub(crate) struct Drain {
    cancel_grace: Duration,
    stop_at: Mono,
    stopped: bool,
    give_up_at: Mono,
}

/// What a drain asks for when its time has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Tell the handlers that still run to stop.
    StopHandlers,
    /// Leave, whatever is left.
    GiveUp,
}

impl Drain {
    pub(crate) fn begin(now: Mono, grace: Duration, cancel_grace: Duration) -> Drain {
        let stop_at = now + grace;
        Drain { cancel_grace, stop_at, stopped: false, give_up_at: stop_at + cancel_grace + ACKS }
    }

    /// Asked again with another grace: the earlier end holds.
    pub(crate) fn hasten(&mut self, now: Mono, grace: Duration) {
        let again = Drain::begin(now, grace, self.cancel_grace);
        self.stop_at = self.stop_at.min(again.stop_at);
        self.give_up_at = self.give_up_at.min(again.give_up_at);
    }

    /// Nothing is left but a goodbye, and there is no connection to say it on.
    pub(crate) fn only_goodbye_is_left(&mut self, now: Mono) {
        self.give_up_at = self.give_up_at.min(now + GOODBYE);
    }

    /// When [`Drain::step`] is next needed.
    pub(crate) fn due(&self) -> Mono {
        if self.stopped { self.give_up_at } else { self.stop_at.min(self.give_up_at) }
    }

    pub(crate) fn step(&mut self, now: Mono) -> Option<Step> {
        if now >= self.give_up_at {
            return Some(Step::GiveUp);
        }
        if !self.stopped && now >= self.stop_at {
            self.stopped = true;
            return Some(Step::StopHandlers);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000;

    fn drain() -> Drain {
        Drain::begin(Mono(0), Duration::from_secs(30), Duration::from_secs(10))
    }

    #[test]
    fn handlers_are_stopped_once_after_the_grace_and_left_after_theirs() {
        let mut d = drain();
        assert_eq!(d.due(), Mono(30 * S));
        assert_eq!(d.step(Mono(30 * S - 1)), None);
        assert_eq!(d.step(Mono(30 * S)), Some(Step::StopHandlers));
        assert_eq!(d.step(Mono(30 * S + 1)), None);
        assert_eq!(d.due(), Mono(45 * S));
        assert_eq!(d.step(Mono(45 * S)), Some(Step::GiveUp));
    }

    #[test]
    fn a_second_word_can_only_make_it_shorter() {
        let mut d = drain();
        d.hasten(Mono(S), Duration::from_secs(600));
        assert_eq!(d.due(), Mono(30 * S));
        d.hasten(Mono(S), Duration::ZERO);
        assert_eq!(d.step(Mono(S)), Some(Step::StopHandlers));
        d.only_goodbye_is_left(Mono(S));
        assert_eq!(d.due(), Mono(3 * S));
    }
}
