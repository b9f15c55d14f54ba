//! When a failed job is tried again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::micros;

/// Exponential backoff with jitter.
///
/// The delay after the n-th failed attempt is `base × factor^(n−1)`, at most `max`, plus a random
/// part of up to `jitter` times itself. It is never shorter than the stated delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Delay after the first failure.
    pub base: Duration,
    /// What the delay is multiplied with after each further failure.
    pub factor: f64,
    /// The delay, before jitter, never exceeds this.
    pub max: Duration,
    /// Random addition, as a fraction of the delay: `0.2` adds up to 20 %.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy { base: Duration::from_secs(1), factor: 2.0, max: Duration::from_secs(3600), jitter: 0.2 }
    }
}

impl RetryPolicy {
    /// The delay after `failures` failed attempts (from 1), without jitter.
    #[must_use]
    pub fn delay(&self, failures: u32) -> Duration {
        let steps = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.base.as_secs_f64() * self.factor.powi(steps);
        if seconds.is_finite() && seconds < self.max.as_secs_f64() {
            Duration::from_secs_f64(seconds)
        } else {
            self.max
        }
    }

    /// The delay with jitter. `random` is uniform over all of `u64`.
    #[must_use]
    pub fn delay_with_jitter(&self, failures: u32, random: u64) -> Duration {
        let delay = self.delay(failures);
        let fraction = random as f64 / u64::MAX as f64;
        let extra = micros(delay) as f64 * self.jitter * fraction;
        delay + Duration::from_micros(extra as u64)
    }

    /// The longest wait that [`RetryPolicy::delay_with_jitter`] can give.
    #[must_use]
    pub fn longest(&self, failures: u32) -> Duration {
        self.delay_with_jitter(failures, u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_default_waits_one_two_four_eight_seconds_up_to_an_hour() {
        let policy = RetryPolicy::default();
        let waits: Vec<u64> = (1..=4).map(|n| policy.delay(n).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8]);
        assert_eq!(policy.delay(40), Duration::from_secs(3600));
        assert_eq!(policy.delay(u32::MAX), Duration::from_secs(3600));
    }

    proptest! {
        #[test]
        fn jitter_only_adds_and_stays_within_its_bound(n in 1u32..2000, random: u64) {
            let policy = RetryPolicy::default();
            let (plain, jittered) = (policy.delay(n), policy.delay_with_jitter(n, random));
            prop_assert!(jittered >= plain);
            prop_assert!(jittered <= plain.mul_f64(1.2) + Duration::from_micros(1));
            prop_assert!(jittered <= policy.longest(n));
        }
    }
}
