//! Waiting longer after each failure, a little differently for everyone.

use std::time::Duration;

/// Doubling delays with jitter, up to a bound.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest, failures: 0 }
    }

    /// The next delay: between half of the doubled one and all of it, so that a thousand workers do
    /// not come back in the same instant.
    pub(crate) fn next(&mut self) -> Duration {
        let whole = self.first.saturating_mul(1 << self.failures.min(20)).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        whole.mul_f64(rand::random_range(0.5..=1.0))
    }

    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_bound_and_begin_anew_after_success() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(5));
        let mut backoff = Backoff::new(first, longest);
        for whole in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let (delay, whole) = (backoff.next(), Duration::from_millis(whole));
            assert!(delay >= whole / 2 && delay <= whole, "{delay:?} of {whole:?}");
        }
        for _ in 0..100 {
            assert!(backoff.next() <= longest);
        }
        backoff.reset();
        assert!(backoff.next() <= first);
    }
}
