//! A rate, kept by a bucket of tokens: it fills by the rate, up to the burst, and each lease takes one.
//!
//! What the bucket holds is counted in tokens times the period, so that every moment has an exact whole number and
//! nothing is ever rounded in favour of anyone.

use std::time::Duration;

use crate::queue::Rate;
use crate::time::{Mono, micros};

/// What was in the bucket when it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    level: u128,
    at: Mono,
}

impl Bucket {
    /// A full one; or one that was empty at that moment, where nobody knows what was taken before.
    pub(crate) fn new(rate: &Rate, empty_at: Option<Mono>, now: Mono) -> Bucket {
        match empty_at {
            Some(at) => Bucket { level: 0, at }.at(rate, now),
            None => Bucket { level: capacity(rate), at: now },
        }
    }

    /// The bucket at a later moment. After another rate was set, it holds no more than that allows.
    fn at(self, rate: &Rate, now: Mono) -> Bucket {
        let gained = u128::from(rate.n) * u128::from(now.0.saturating_sub(self.at.0));
        Bucket { level: (self.level + gained).min(capacity(rate)), at: self.at.max(now) }
    }

    /// Whether a lease may be given now.
    pub(crate) fn has_token(&self, rate: &Rate, now: Mono) -> bool {
        self.at(rate, now).level >= token(rate)
    }

    /// Takes the token of a lease that is given now.
    pub(crate) fn take(&mut self, rate: &Rate, now: Mono) {
        *self = self.at(rate, now);
        self.level = self.level.saturating_sub(token(rate));
    }

    /// How long until the next lease may be given.
    pub(crate) fn wait(&self, rate: &Rate, now: Mono) -> Duration {
        self.wait_for(rate, 1, now)
    }

    /// How long until so many leases have been given, each as soon as it may be.
    pub(crate) fn wait_for(&self, rate: &Rate, leases: u64, now: Mono) -> Duration {
        let needed = token(rate).saturating_mul(leases.into());
        lasting(needed.saturating_sub(self.at(rate, now).level), rate)
    }

    /// How long until it makes no difference that anything was ever taken.
    pub(crate) fn full_in(&self, rate: &Rate, now: Mono) -> Duration {
        lasting(capacity(rate).saturating_sub(self.at(rate, now).level), rate)
    }
}

fn token(rate: &Rate) -> u128 {
    u128::from(micros(rate.per))
}

fn capacity(rate: &Rate) -> u128 {
    token(rate) * u128::from(rate.burst)
}

/// How long it takes to gain this much.
fn lasting(missing: u128, rate: &Rate) -> Duration {
    Duration::from_micros(u64::try_from(missing.div_ceil(u128::from(rate.n.max(1)))).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Mono = Mono(1_000_000);

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        let rate = Rate { n: 2, per: Duration::from_secs(1), burst: 3 };
        let mut bucket = Bucket::new(&rate, None, START);
        for _ in 0..3 {
            assert!(bucket.has_token(&rate, START));
            bucket.take(&rate, START);
        }
        assert!(!bucket.has_token(&rate, START));
        assert_eq!(bucket.wait(&rate, START), Duration::from_millis(500));
        let later = START + Duration::from_millis(500);
        assert!(!bucket.has_token(&rate, later - Duration::from_micros(1)));
        assert!(bucket.has_token(&rate, later));
        assert_eq!(bucket.full_in(&rate, START), Duration::from_millis(1_500));
    }

    #[test]
    fn one_that_was_empty_at_a_takeover_fills_from_then() {
        let rate = Rate { n: 1, per: Duration::from_secs(60), burst: 5 };
        let now = START + Duration::from_secs(90);
        let bucket = Bucket::new(&rate, Some(START), now);
        assert!(bucket.has_token(&rate, now));
        assert_eq!(bucket.full_in(&rate, now), Duration::from_secs(210));
    }

    proptest! {
        /// In any stretch of time there start at most a burst and what the rate allows.
        #[test]
        fn no_stretch_of_time_has_more_than_burst_and_rate(
            n in 1u32..50, per in 1_000u64..5_000_000, burst in 1u32..20,
            steps in prop::collection::vec(0u64..400_000, 1..200),
        ) {
            let rate = Rate { n, per: Duration::from_micros(per), burst };
            let mut bucket = Bucket::new(&rate, None, START);
            let (mut now, mut taken) = (START, Vec::new());
            for step in steps {
                now = now + Duration::from_micros(step);
                while bucket.has_token(&rate, now) {
                    bucket.take(&rate, now);
                    taken.push(now);
                }
                let wait = bucket.wait(&rate, now);
                prop_assert!(bucket.has_token(&rate, now + wait));
                prop_assert!(wait.is_zero() || !bucket.has_token(&rate, now + wait - Duration::from_micros(1)));
            }
            for (i, from) in taken.iter().enumerate() {
                let count = (taken.len() - i) as u128;
                let stretch = u128::from(now.0 - from.0);
                prop_assert!(count * u128::from(per) <= u128::from(burst) * u128::from(per) + u128::from(n) * stretch);
            }
        }
    }
}
