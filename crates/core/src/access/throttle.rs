//! How fast somebody may try: failures are answered later and later, and requests of one token are counted.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use crate::limits;
use crate::time::Mono;

/// Remembers who failed, within bounds.
#[derive(Clone, Debug)]
pub struct Failures<K> {
    known: HashMap<K, Failed>,
    longest: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Failed {
    times: u32,
    last: Mono,
}

impl<K: Clone + Eq + Hash> Failures<K> {
    /// Nobody failed yet. Nobody ever waits longer than `longest`.
    #[must_use]
    pub fn new(longest: Duration) -> Failures<K> {
        Failures { known: HashMap::new(), longest }
    }

    /// How long he has to wait before he may try again: a second after [`limits::FREE_FAILURES`], then twice as long each time.
    #[must_use]
    pub fn wait(&self, who: &K, now: Mono) -> Duration {
        let Some(failed) = self.known.get(who) else { return Duration::ZERO };
        let Some(doublings) = failed.times.checked_sub(limits::FREE_FAILURES) else { return Duration::ZERO };
        let wait = Duration::from_secs(1 << doublings.min(16)).min(self.longest);
        wait.saturating_sub(now.since(failed.last))
    }

    /// He failed.
    pub fn failed(&mut self, who: K, now: Mono) {
        self.make_room(now);
        let failed = self.known.entry(who).or_insert(Failed { times: 0, last: now });
        if now.since(failed.last) >= limits::FAILURES_KEPT {
            failed.times = 0;
        }
        *failed = Failed { times: failed.times.saturating_add(1), last: now };
    }

    /// He knew it after all.
    pub fn succeeded(&mut self, who: &K) {
        self.known.remove(who);
    }

    /// Whoever fails under many names must not fill the memory: the stale go, and then those who failed least.
    fn make_room(&mut self, now: Mono) {
        if self.known.len() < limits::FAILURES {
            return;
        }
        self.known.retain(|_, failed| now.since(failed.last) < limits::FAILURES_KEPT);
        if self.known.len() >= limits::FAILURES {
            self.known.retain(|_, failed| failed.times > limits::FREE_FAILURES);
        }
        if self.known.len() >= limits::FAILURES {
            self.known.clear();
        }
    }
}

/// Requests of one caller: so many per second, a second's worth of them at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// When the next request would be due if they came evenly.
    due: Mono,
}

impl Pace {
    /// Counts a request.
    ///
    /// # Errors
    /// There were too many: how long to wait.
    pub fn count(&mut self, per_second: u32, now: Mono) -> Result<(), Duration> {
        let step = Duration::from_secs(1) / per_second.max(1);
        let due = self.due.max(now);
        let ahead = due.since(now);
        if ahead + step > Duration::from_secs(1) {
            return Err(ahead + step - Duration::from_secs(1));
        }
        self.due = due + step;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(300);

    #[test]
    fn each_failure_past_the_free_ones_doubles_the_wait_up_to_a_bound() {
        let mut failures = Failures::new(LONGEST);
        for _ in 0..limits::FREE_FAILURES - 1 {
            failures.failed("eve", Mono(0));
            assert_eq!(failures.wait(&"eve", Mono(0)), Duration::ZERO);
        }
        for seconds in [1, 2, 4, 8] {
            failures.failed("eve", Mono(0));
            assert_eq!(failures.wait(&"eve", Mono(0)), Duration::from_secs(seconds));
        }
        assert_eq!(failures.wait(&"eve", Mono(8_000_000)), Duration::ZERO);
        for _ in 0..100 {
            failures.failed("eve", Mono(0));
        }
        assert_eq!(failures.wait(&"eve", Mono(0)), LONGEST);
        assert_eq!(failures.wait(&"ada", Mono(0)), Duration::ZERO);
        failures.succeeded(&"eve");
        assert_eq!(failures.wait(&"eve", Mono(0)), Duration::ZERO);
    }

    #[test]
    fn failures_are_forgotten_and_never_fill_the_memory() {
        let mut failures = Failures::new(LONGEST);
        for i in 0..3 * limits::FAILURES {
            failures.failed(i, Mono(0));
        }
        assert!(failures.known.len() <= limits::FAILURES);
        let mut failures = Failures::new(LONGEST);
        for _ in 0..20 {
            failures.failed(1, Mono(0));
        }
        failures.failed(1, Mono(0) + limits::FAILURES_KEPT);
        assert_eq!(failures.wait(&1, Mono(0) + limits::FAILURES_KEPT), Duration::ZERO);
    }

    #[test]
    fn a_second_holds_as_many_requests_as_allowed() {
        let mut pace = Pace::default();
        let start = Mono(5_000_000);
        for _ in 0..10 {
            assert_eq!(pace.count(10, start), Ok(()));
        }
        assert_eq!(pace.count(10, start), Err(Duration::from_millis(100)));
        assert_eq!(pace.count(10, start + Duration::from_millis(100)), Ok(()));
        assert!(pace.count(10, start + Duration::from_millis(100)).is_err());
        assert_eq!(pace.count(10, start + Duration::from_secs(9)), Ok(()));
    }
}
