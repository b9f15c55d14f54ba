//! How often listeners are told the counts: less often while the server has no time for it.
//!
//! The counts are asked of the thread that decides everything. If its answer takes long, it is busy, and those who watch must not make
//! it busier: they are told half as often, and told so (`event: slow`), until it answers quickly again.

use std::time::Duration;

/// The usual pace: twice a second.
pub(super) const USUAL: Duration = Duration::from_millis(500);
/// The slowest.
pub(super) const SLOWEST: Duration = Duration::from_secs(8);

/// The present pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace(Duration);

impl Default for Pace {
    fn default() -> Pace {
        Pace(USUAL)
    }
}

impl Pace {
    /// So long until the next time.
    pub(super) const fn every(self) -> Duration {
        self.0
    }

    /// What listeners are told: milliseconds, or zero at the usual pace.
    pub(super) fn told(self) -> u64 {
        if self.0 == USUAL { 0 } else { u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX) }
    }

    /// Asking took so long. A quarter of the time is too much; far less is room for more.
    pub(super) fn took(&mut self, long: Duration) {
        if long > self.0 / 4 {
            self.0 = (self.0 * 2).min(SLOWEST);
        } else if long < self.0 / 16 {
            self.0 = (self.0 / 2).max(USUAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_server_is_asked_less_often_and_a_quick_one_again_as_usual() {
        let mut pace = Pace::default();
        assert_eq!(pace.told(), 0);
        pace.took(USUAL / 4);
        assert_eq!(pace.every(), USUAL, "at the bound");
        pace.took(USUAL / 4 + Duration::from_millis(1));
        assert_eq!((pace.every(), pace.told()), (USUAL * 2, 1000));
        for _ in 0..10 {
            pace.took(Duration::from_secs(60));
        }
        assert_eq!(pace.every(), SLOWEST);
        pace.took(SLOWEST / 8);
        assert_eq!(pace.every(), SLOWEST, "neither long nor short");
        for _ in 0..10 {
            pace.took(Duration::ZERO);
        }
        assert_eq!((pace.every(), pace.told()), (USUAL, 0));
    }
}
