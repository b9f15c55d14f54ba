//! The clocks of the command line: how long something took, and what time it is.

use std::time::Duration;

use ganger_core::Wall;
use tokio::time::Instant;

/// A stopwatch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// How long it has run.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// What is left of a bound; zero once it has passed.
    pub(crate) fn left_of(self, bound: Duration) -> Duration {
        bound.saturating_sub(self.elapsed())
    }
}

/// The time of day.
pub(crate) fn now() -> Wall {
    Wall(jiff::Timestamp::now().as_microsecond())
}
