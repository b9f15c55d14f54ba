//! How much of a workload is done.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// A factor for the demonstration workloads: 1 is all of it, 0.01 a hundredth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(f64);

impl Scale {
    /// The least and the most.
    const RANGE: RangeInclusive<f64> = 0.0001..=100.0;

    #[cfg(test)]
    pub(super) const TINY: Scale = Scale(0.0001);

    /// So many of something, drawn at random; at least one.
    pub(super) fn count(self, range: RangeInclusive<u32>) -> u32 {
        let drawn = f64::from(rand::random_range(range)) * self.0;
        // Within the bounds of both it always fits.
        (drawn as u32).max(1)
    }

    /// So long, drawn at random.
    pub(super) fn time(self, seconds: RangeInclusive<f64>) -> Duration {
        Duration::from_secs_f64(rand::random_range(seconds) * self.0)
    }
}

impl Default for Scale {
    fn default() -> Scale {
        Scale(1.0)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        match text.trim().parse::<f64>() {
            Ok(scale) if Scale::RANGE.contains(&scale) => Ok(Scale(scale)),
            _ => Err(format!("it must be a number from {} to {}", Scale::RANGE.start(), Scale::RANGE.end())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_drawn_within_its_bounds_and_shrinks_to_one_at_the_least() {
        let (whole, hundredth): (Scale, Scale) = ("1".parse().unwrap(), "0.01".parse().unwrap());
        for _ in 0..200 {
            assert!((5_000..=15_000).contains(&whole.count(5_000..=15_000)));
            assert!((50..=150).contains(&hundredth.count(5_000..=15_000)));
            assert_eq!(Scale::TINY.count(1..=5), 1);
            let slept = hundredth.time(10.0..=50.0).as_secs_f64();
            assert!((0.1..=0.5).contains(&slept), "{slept}");
        }
    }

    #[test]
    fn a_scale_is_taken_at_its_bounds_and_refused_past_them() {
        for fine in ["0.0001", "1", "100"] {
            assert_eq!(fine.parse::<Scale>().unwrap().to_string(), fine);
        }
        for wrong in ["0", "0.00009", "100.1", "-1", "NaN", "inf", "", "much"] {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
    }
}
