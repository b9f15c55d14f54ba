//! Whether the store answers this server, as far as its own calls tell.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ganger_core::Mono;

/// Cheap to clone; all clones agree.
#[derive(Clone, Debug, Default)]
pub struct StoreHealth(Arc<Mutex<Option<Trouble>>>);

/// The store does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Since when.
    pub since: Mono,
    /// What the last call came to.
    pub cause: String,
}

impl StoreHealth {
    /// A call succeeded.
    pub fn well(&self) {
        *self.lock() = None;
    }

    /// A call failed. The first failure after a success is the one that counts as the beginning; `true` if
    /// this is it.
    pub fn failed(&self, now: Mono, cause: impl Into<String>) -> bool {
        let mut trouble = self.lock();
        let since = trouble.as_ref().map_or(now, |before| before.since);
        let first = trouble.is_none();
        *trouble = Some(Trouble { since, cause: cause.into() });
        first
    }

    /// What is the matter, if anything is.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.lock().clone()
    }

    /// How long the store has not answered; zero if it does.
    #[must_use]
    pub fn lasts(&self, now: Mono) -> Duration {
        self.lock().as_ref().map_or(Duration::ZERO, |trouble| now.since(trouble.since))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Trouble>> {
        // It is replaced whole: a panic leaves the old value or the new one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_lasts_from_its_first_failure_to_the_next_success() {
        let health = StoreHealth::default();
        assert!(health.failed(Mono(1_000_000), "gone"));
        assert!(!health.failed(Mono(2_000_000), "still gone"));
        assert_eq!(health.lasts(Mono(4_000_000)), Duration::from_secs(3));
        assert_eq!(health.trouble().unwrap().cause, "still gone");
        health.well();
        assert_eq!((health.trouble(), health.lasts(Mono(9_000_000))), (None, Duration::ZERO));
    }
}
