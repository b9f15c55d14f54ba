//! How often the failures of a group came over time: counted in buckets of five minutes, read in the steps of a window.

use std::time::Duration;

use super::Fingerprint;
use crate::time::Wall;

/// How long a bucket lasts.
pub const BUCKET: Duration = Duration::from_secs(300);
/// How long buckets are kept.
pub const BUCKETS_KEPT: Duration = Duration::from_secs(8 * 86_400);
/// The longest window over which failures can be told; what is kept reaches a little further, because steps are whole.
pub const LONGEST_WINDOW: Duration = Duration::from_secs(7 * 86_400);
/// Most steps of a window.
pub const STEPS: usize = 100;
/// How many buckets a step may have: five minutes to two hours.
const BUCKETS_PER_STEP: [i64; 6] = [1, 2, 3, 6, 12, 24];

/// Microseconds of a bucket.
const BUCKET_US: i64 = 300_000_000;

/// The bucket in which a moment lies, since the Unix epoch.
#[must_use]
pub fn bucket_of(at: Wall) -> i64 {
    at.0.div_euclid(BUCKET_US)
}

/// A stretch of time that ends now, widened to whole steps, as those of a timeline are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    first: i64,
    step: i64,
    steps: i64,
}

/// How often the failures of one group came in each step of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trend {
    /// The group.
    pub fingerprint: Fingerprint,
    /// One number for each step, the oldest first.
    pub counts: Vec<u64>,
}

impl Window {
    /// The last so long before now; `None` if it is longer than [`LONGEST_WINDOW`].
    #[must_use]
    pub fn of(window: Duration, now: Wall) -> Option<Window> {
        if window > LONGEST_WINDOW {
            return None;
        }
        let (first, last) = (bucket_of(now - window), bucket_of(now));
        let steps = |step: i64| last.div_euclid(step) - first.div_euclid(step) + 1;
        let most = i64::try_from(STEPS).unwrap_or(i64::MAX);
        let step = BUCKETS_PER_STEP.into_iter().find(|step| steps(*step) <= most)?;
        Some(Window { first: first.div_euclid(step) * step, step, steps: steps(step) })
    }

    /// The first bucket.
    #[must_use]
    pub fn first(&self) -> i64 {
        self.first
    }

    /// The bucket after the last.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.first + self.step * self.steps
    }

    /// Buckets of a step.
    #[must_use]
    pub fn buckets_per_step(&self) -> i64 {
        self.step
    }

    /// When it begins.
    #[must_use]
    pub fn from(&self) -> Wall {
        Wall(self.first.saturating_mul(BUCKET_US))
    }

    /// When its last step ends, which is not over yet.
    #[must_use]
    pub fn to(&self) -> Wall {
        Wall(self.end().saturating_mul(BUCKET_US))
    }

    /// How long a step lasts.
    #[must_use]
    pub fn step(&self) -> Duration {
        BUCKET * u32::try_from(self.step).unwrap_or(1)
    }

    /// The trend of a group from what was counted in its steps; `None` if that is nothing.
    #[must_use]
    pub fn trend(
        &self,
        fingerprint: Fingerprint,
        counted: impl IntoIterator<Item = (i64, u64)>,
    ) -> Option<Trend> {
        let mut counts = self.nothing();
        for (step, count) in counted {
            if let Some(of) = usize::try_from(step).ok().and_then(|step| counts.get_mut(step)) {
                *of += count;
            }
        }
        counts.iter().any(|count| *count > 0).then_some(Trend { fingerprint, counts })
    }

    /// The counts of a group of which there were no failures.
    #[must_use]
    pub fn nothing(&self) -> Vec<u64> {
        vec![0; usize::try_from(self.steps).unwrap_or(0)]
    }

    /// The step of a bucket; not one of the window's if the bucket is not.
    #[must_use]
    pub fn step_of(&self, bucket: i64) -> i64 {
        (bucket - self.first).div_euclid(self.step)
    }
}

impl Trend {
    /// How often in all of the window.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const NOW: Wall = Wall(1_700_000_123_456_789);

    #[test]
    fn a_window_ends_now_and_has_whole_steps() {
        for (window, step, steps) in [
            (Duration::ZERO, BUCKET, 1),
            (HOUR, BUCKET, 13),
            (6 * HOUR, BUCKET, 73),
            (24 * HOUR, 3 * BUCKET, 97),
            (LONGEST_WINDOW, 2 * HOUR, 85),
        ] {
            let found = Window::of(window, NOW).unwrap();
            assert_eq!((found.step(), found.steps), (step, steps), "{window:?}");
            assert!(found.from() <= NOW - window && NOW - window < found.from() + step, "{window:?}");
            assert!(found.to() > NOW && found.to() <= NOW + step, "{window:?}");
            assert_eq!(found.from().0 % i64::try_from(step.as_micros()).unwrap(), 0, "{window:?}");
        }
        assert_eq!(Window::of(LONGEST_WINDOW + Duration::from_secs(1), NOW), None);
    }

    #[test]
    fn no_window_has_too_many_steps_or_reaches_beyond_what_is_kept() {
        for minutes in 0..=7 * 24 * 60 {
            let window = Window::of(Duration::from_secs(60 * minutes), NOW).unwrap();
            assert!(usize::try_from(window.steps).unwrap() <= STEPS, "{minutes}");
            assert!(window.from() > NOW - BUCKETS_KEPT, "{minutes}");
        }
    }

    #[test]
    fn counts_fall_into_their_steps() {
        let window = Window::of(HOUR, NOW).unwrap();
        let trend = window.trend(Fingerprint(1), [(0, 2), (12, 3), (12, 1), (13, 9), (-1, 9)]).unwrap();
        assert_eq!((trend.total(), trend.counts[0], trend.counts[12]), (6, 2, 4));
        assert_eq!(window.trend(Fingerprint(1), [(13, 9), (-1, 9)]), None);
        let day = Window::of(24 * HOUR, NOW).unwrap();
        let steps: Vec<i64> = [-1, 0, 2, 3].map(|n| day.step_of(day.first() + n)).into();
        assert_eq!(steps, [-1, 0, 0, 1]);
    }
}
