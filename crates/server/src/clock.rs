//! The only home of the clocks: everything else in the server is given its time.
//!
//! Deadlines are measured on the monotonic clock. The wall clock is the monotonic one plus an
//! anchor, so that a step of the system clock reaches us as one correction at a moment of our
//! choosing and not in the middle of a decision. A small difference is worked off slowly, without
//! ever going backwards; a difference of more than a second (a person or NTP set the clock) is
//! taken over whole.
#![expect(clippy::disallowed_methods, reason = "this is the one home of the clocks")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ganger_core::time::micros;
use ganger_core::{Mono, Now, Wall};

/// The system clock is looked at so often at the most.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A larger difference is taken over at once.
const STEP: i64 = 1_000_000;
/// A smaller one by so much at each look, which is less than passed since the one before.
const SLEW: i64 = 500;

/// Gives the time. Cheap to clone; all clones agree.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    origin: Instant,
    anchor: Mutex<Anchor>,
}

/// Where the wall clock stood when the monotonic one was at zero.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    zero: i64,
    looked: Mono,
}

impl Clock {
    /// A clock whose monotonic moments are counted from now.
    #[must_use]
    pub fn start() -> Clock {
        let anchor = Anchor { zero: system_wall(), looked: Mono(0) };
        Clock(Arc::new(Inner { origin: Instant::now(), anchor: Mutex::new(anchor) }))
    }

    /// Both clocks, read at the same moment.
    #[must_use]
    pub fn now(&self) -> Now {
        let mono = Mono(micros(self.0.origin.elapsed()));
        // A panic while the lock is held leaves a whole anchor, never half of one.
        let mut anchor = self.0.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        if mono.since(anchor.looked) >= LOOK_EVERY {
            anchor.correct(mono, system_wall());
        }
        Now { mono, wall: anchor.wall(mono) }
    }

    /// How long it is until that moment; zero if it has passed.
    #[must_use]
    pub fn until(&self, moment: Mono) -> Duration {
        moment.since(self.now().mono)
    }
}

impl Anchor {
    fn wall(self, mono: Mono) -> Wall {
        Wall(self.zero.saturating_add_unsigned(mono.0))
    }

    fn correct(&mut self, mono: Mono, system: i64) {
        let difference = system.saturating_sub(self.wall(mono).0);
        let by = if difference.abs() > STEP { difference } else { difference.clamp(-SLEW, SLEW) };
        self.zero = self.zero.saturating_add(by);
        self.looked = mono;
    }
}

/// Microseconds since the epoch. A clock set before 1970 reads as the epoch.
fn system_wall() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    #[test]
    fn a_small_difference_is_worked_off_without_going_backwards() {
        let mut anchor = Anchor { zero: 0, looked: Mono(0) };
        let mut last = anchor.wall(Mono(0));
        for second in 1..=4 {
            let mono = Mono(second * SECOND);
            // The system clock is 0.9 ms behind.
            anchor.correct(mono, mono.0 as i64 - 900);
            assert!(anchor.wall(mono) > last, "it went backwards");
            last = anchor.wall(mono);
        }
        assert_eq!(anchor.zero, -900);
    }

    #[test]
    fn a_step_of_more_than_a_second_is_taken_over_whole() {
        for step in [3600 * STEP, -3600 * STEP] {
            let mut anchor = Anchor { zero: 7, looked: Mono(0) };
            let mono = Mono(SECOND);
            anchor.correct(mono, mono.0 as i64 + 7 + step);
            assert_eq!(anchor.wall(mono).0, mono.0 as i64 + 7 + step);
        }
    }

    #[test]
    fn clones_agree_and_time_passes() {
        let clock = Clock::start();
        let (a, b) = (clock.now(), clock.clone().now());
        assert!(b.mono >= a.mono && b.wall >= a.wall);
        assert_eq!(clock.until(a.mono), Duration::ZERO);
    }
}
