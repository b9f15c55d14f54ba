//! The worker's clocks: the only place in this crate that reads the time.

use std::time::{Duration, Instant, SystemTime};

use ganger_core::{Mono, SessionId, Wall};

/// A monotonic clock that counts from its making, and the wall clock beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { origin: instant() }
    }

    pub(crate) fn mono(self) -> Mono {
        Mono::default() + instant().saturating_duration_since(self.origin)
    }

    /// The runtime's name for a moment of this clock.
    pub(crate) fn instant_of(self, at: Mono) -> Instant {
        self.origin + at.since(Mono::default())
    }
}

#[expect(clippy::disallowed_methods, reason = "the one home of the monotonic clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the one home of the wall clock")]
pub(crate) fn wall() -> Wall {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Wall(0) + since_epoch.unwrap_or(Duration::ZERO)
}

/// An identity for a new life of a worker process.
pub(crate) fn fresh_session() -> SessionId {
    SessionId::new(wall().unix_millis(), rand::random())
}
