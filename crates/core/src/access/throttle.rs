//! How fast somebody may try: failures are answered later and later, and requests of one token are counted.

use std::collections::{HashMap, VecDeque};
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

/// Failed logins: by user, by address, and by both together.
///
/// Nobody who guesses may lock others out. So a user who has logged in from an address before is held up only by failures
/// of that user from that address; and so is somebody who holds a session and gives the password once more.
#[derive(Clone, Debug)]
pub struct Logins<A> {
    by_user: Failures<String>,
    by_address: Failures<A>,
    by_both: Failures<(String, A)>,
    /// Users and where they logged in from, oldest first.
    succeeded: VecDeque<(String, A)>,
}

impl<A: Clone + Eq + Hash> Default for Logins<A> {
    fn default() -> Logins<A> {
        Logins {
            by_user: Failures::new(limits::USER_WAITS),
            by_address: Failures::new(limits::ADDRESS_WAITS),
            by_both: Failures::new(limits::USER_WAITS),
            succeeded: VecDeque::new(),
        }
    }
}

impl<A: Clone + Eq + Hash> Logins<A> {
    /// How long a login of that user from there has to wait.
    #[must_use]
    pub fn wait(&self, user: &str, from: Option<A>, now: Mono) -> Duration {
        let user = user.to_owned();
        match from {
            None => self.by_user.wait(&user, now),
            Some(from) => {
                let both = (user, from);
                if self.succeeded.contains(&both) {
                    return self.by_both.wait(&both, now);
                }
                self.by_user.wait(&both.0, now).max(self.by_address.wait(&both.1, now))
            }
        }
    }

    /// How long somebody has to wait who holds a session of that user.
    #[must_use]
    pub fn wait_of_session(&self, user: &str, from: Option<A>, now: Mono) -> Duration {
        match from {
            None => self.by_user.wait(&user.to_owned(), now),
            Some(from) => self.by_both.wait(&(user.to_owned(), from), now),
        }
    }

    /// What came of a try.
    pub fn tried(&mut self, user: &str, from: Option<A>, succeeded: bool, now: Mono) {
        let user = user.to_owned();
        let both = from.map(|from| (user.clone(), from));
        if succeeded {
            self.by_user.succeeded(&user);
            let Some(both) = both else { return };
            self.by_both.succeeded(&both);
            self.succeeded.retain(|known| *known != both);
            if self.succeeded.len() >= limits::LOGIN_PLACES {
                self.succeeded.pop_front();
            }
            // The address stays under suspicion: whoever knows one password may be guessing others.
            self.succeeded.push_back(both);
            return;
        }
        if let Some(both) = both {
            // One who was here before and mistypes holds up nobody else.
            if !self.succeeded.contains(&both) {
                self.by_user.failed(user, now);
                self.by_address.failed(both.1.clone(), now);
            }
            self.by_both.failed(both, now);
        } else {
            self.by_user.failed(user, now);
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

    /// Eve guesses everybody's password from the proxy that Ada comes through as well.
    #[test]
    fn nobody_who_guesses_locks_out_a_user_who_was_here_before() {
        let (mut logins, now) = (Logins::default(), Mono(0));
        logins.tried("ada", Some(1), true, now);
        for _ in 0..100 {
            logins.tried("ada", Some(2), false, now);
            logins.tried("bob", Some(1), false, now);
        }
        assert_eq!(logins.wait("ada", Some(1), now), Duration::ZERO);
        assert_eq!(
            logins.wait("ada", Some(3), now),
            limits::USER_WAITS,
            "from elsewhere she waits, not for long"
        );
        assert_eq!(logins.wait("bob", Some(1), now), limits::ADDRESS_WAITS);
        assert_eq!(logins.wait("carol", Some(1), now), limits::ADDRESS_WAITS, "nobody new from there");
        assert_eq!(logins.wait_of_session("ada", Some(3), now), Duration::ZERO, "she has a session");
        for _ in 0..100 {
            logins.tried("ada", Some(1), false, now);
        }
        assert_eq!(logins.wait("ada", Some(1), now), limits::USER_WAITS, "her own failures count");
    }

    #[test]
    fn so_many_places_of_logins_are_remembered_and_the_oldest_goes() {
        let (mut logins, now) = (Logins::default(), Mono(0));
        for address in 0..limits::LOGIN_PLACES {
            logins.tried("ada", Some(address), true, now);
        }
        (0..10).for_each(|_| logins.tried("ada", Some(usize::MAX), false, now));
        assert_eq!(logins.wait("ada", Some(0), now), Duration::ZERO);
        logins.tried("bob", Some(0), true, now);
        assert_ne!(logins.wait("ada", Some(0), now), Duration::ZERO, "one past the bound");
        assert_eq!(logins.wait("ada", Some(1), now), Duration::ZERO);
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
