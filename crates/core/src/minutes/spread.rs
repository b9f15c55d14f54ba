//! How long things took, in few numbers: a histogram whose bounds double.

use std::time::Duration;

/// How many numbers there are. The first bound is [`FIRST_US`], each is twice the one before, and the last number is for
/// whatever took longer: more than an hour.
pub const BUCKETS: usize = 26;

/// The first bound, in microseconds.
const FIRST_US: u64 = 250;

/// How long so many things took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// All of them together, in microseconds.
    pub sum_us: u64,
    counts: [u32; BUCKETS],
}

/// The bound of a number, in microseconds; nothing took longer that is counted there. `None` for the last.
#[must_use]
pub const fn bound(place: usize) -> Option<u64> {
    if place + 1 < BUCKETS { Some(FIRST_US << place) } else { None }
}

impl Spread {
    /// One thing took so long.
    pub fn observe(&mut self, micros: u64) {
        let bound = (micros.saturating_sub(1)) / FIRST_US;
        let place = (u64::BITS - bound.leading_zeros()) as usize;
        let count = &mut self.counts[place.min(BUCKETS - 1)];
        *count = count.saturating_add(1);
        self.sum_us = self.sum_us.saturating_add(micros);
    }

    /// The same from its parts. What is missing is zero.
    #[must_use]
    pub fn from_parts(sum_us: u64, counts: &[u32]) -> Spread {
        let mut spread = Spread { sum_us, ..Spread::default() };
        for (own, count) in spread.counts.iter_mut().zip(counts) {
            *own = *count;
        }
        spread
    }

    /// The numbers, up to the last that is not zero.
    #[must_use]
    pub fn trimmed(&self) -> &[u32] {
        let end = self.counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        &self.counts[..end]
    }

    /// Adds another one to this.
    pub fn add(&mut self, other: &Spread) {
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
        for (own, count) in self.counts.iter_mut().zip(other.counts) {
            *own = own.saturating_add(count);
        }
    }

    /// How many things there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// How long they took on average.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        self.sum_us.checked_div(self.count()).map(Duration::from_micros)
    }

    /// What this share of them did not exceed (0.95 for the 95th percentile), estimated within the bounds of its number, and so
    /// never off by more than a factor of two above [`FIRST_US`]. Of what took longer than the last bound nothing more is
    /// known than that.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let wanted = (count as f64 * share.clamp(0.0, 1.0)).max(1.0);
        let mut below = 0.0;
        for (place, own) in self.counts.iter().enumerate().filter(|(_, own)| **own > 0) {
            let own = f64::from(*own);
            if below + own >= wanted {
                let least = place.checked_sub(1).and_then(bound).unwrap_or(0) as f64;
                let most = bound(place).map_or(least, |bound| bound as f64);
                let micros = least + (most - least) * (wanted - below) / own;
                return Some(Duration::from_micros(micros.round() as u64));
            }
            below += own;
        }
        // Rounding left a trifle beyond the last of them.
        let last = self.trimmed().len().saturating_sub(1);
        Some(Duration::from_micros(bound(last.min(BUCKETS - 2)).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(micros: &[u64]) -> Spread {
        let mut spread = Spread::default();
        micros.iter().for_each(|one| spread.observe(*one));
        spread
    }

    #[test]
    fn a_bound_belongs_to_the_number_below_it() {
        for (micros, place) in [(0, 0), (250, 0), (251, 1), (500, 1), (501, 2), (1_000, 2), (1_001, 3)] {
            assert_eq!(of(&[micros]).trimmed().len(), place + 1, "{micros}");
        }
        let last = bound(BUCKETS - 2).unwrap();
        assert!(last > 3_600_000_000 && bound(BUCKETS - 1).is_none());
        assert_eq!(of(&[last]).trimmed().len(), BUCKETS - 1);
        assert_eq!(of(&[last + 1]).trimmed().len(), BUCKETS);
        assert_eq!(of(&[u64::MAX]).trimmed().len(), BUCKETS);
    }

    #[test]
    fn nothing_has_no_quantile_and_no_mean() {
        assert_eq!((Spread::default().quantile(0.5), Spread::default().mean()), (None, None));
        assert_eq!(Spread::default().trimmed(), [0; 0]);
    }

    #[test]
    fn what_took_longer_than_the_last_bound_is_said_to_have_taken_that() {
        assert_eq!(of(&[u64::MAX]).quantile(0.5), bound(BUCKETS - 2).map(Duration::from_micros));
    }

    proptest! {
        /// The true quantile lies in the same number as the estimate.
        #[test]
        fn a_quantile_is_right_within_a_factor_of_two(
            mut micros in prop::collection::vec(251u64..3_000_000_000, 1..200),
            share in 0.0f64..=1.0,
        ) {
            let spread = of(&micros);
            micros.sort_unstable();
            let rank = ((micros.len() as f64 * share).ceil() as usize).clamp(1, micros.len());
            let (exact, said) = (micros[rank - 1] as f64, spread.quantile(share).unwrap().as_micros() as f64);
            prop_assert!(said >= exact / 2.0 - 1.0 && said <= exact * 2.0 + 1.0, "{said} for {exact}");
            prop_assert_eq!(spread.count(), micros.len() as u64);
            prop_assert_eq!(spread.sum_us, micros.iter().sum::<u64>());
        }

        #[test]
        fn adding_is_observing_both(a in prop::collection::vec(any::<u32>(), 0..50), b in prop::collection::vec(any::<u32>(), 0..50)) {
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().map(u64::from).collect(), b.into_iter().map(u64::from).collect());
            let mut both = of(&a);
            both.add(&of(&b));
            let all: Vec<u64> = a.into_iter().chain(b).collect();
            prop_assert_eq!(&both, &of(&all));
            prop_assert_eq!(&Spread::from_parts(both.sum_us, both.trimmed()), &both);
        }
    }
}
