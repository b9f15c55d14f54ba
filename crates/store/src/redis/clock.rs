//! The one place of this module that looks at a clock: to say for how long Redis has been away.

use std::time::Duration;

use tokio::time::Instant;

/// A moment of this process, only good for asking how long ago it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(Instant);

impl Moment {
    /// This moment.
    pub(super) fn now() -> Moment {
        Moment(Instant::now())
    }

    /// How long ago it was.
    pub(super) fn ago(self) -> Duration {
        self.0.elapsed()
    }
}
