//! Durations, moments and numbers as people write and read them.

use std::time::Duration;

use ganger_core::Wall;
use ganger_server::api::duration;

/// Reads `30s`, `1h30m`, `7d`; fit for the command line.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    duration::parse(text).map_err(|error| error.to_string())
}

/// A duration at a glance: `840ms`, `12.4s`, `3m20s`, `2d4h`.
pub(crate) fn short(duration: Duration) -> String {
    let millis = duration.as_millis();
    let seconds = duration.as_secs();
    match seconds {
        0 if millis == 0 && !duration.is_zero() => format!("{}µs", duration.as_micros()),
        0 => format!("{millis}ms"),
        1..60 => format!("{:.1}s", duration.as_secs_f64()),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// How long ago a moment was, or in how long it comes.
pub(crate) fn relative(moment: Wall, now: Wall) -> String {
    if moment <= now {
        format!("{} ago", coarse(now.since(moment)))
    } else {
        format!("in {}", coarse(moment.since(now)))
    }
}

/// How many jobs match, in words.
pub(crate) fn jobs_match(number: u64) -> String {
    match number {
        1 => "1 job matches".to_owned(),
        many => format!("{} jobs match", grouped(many)),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whole seconds are enough to say how long ago something was.
fn coarse(duration: Duration) -> String {
    if duration.as_secs() < 60 { format!("{}s", duration.as_secs()) } else { short(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_has_at_most_two_units() {
        for (millis, text) in [
            (840, "840ms"),
            (12_400, "12.4s"),
            (200_000, "3m20s"),
            (5_400_000, "1h30m"),
            (187_200_000, "2d4h"),
        ] {
            assert_eq!(short(Duration::from_millis(millis)), text);
        }
        assert_eq!(short(Duration::from_micros(120)), "120µs");
        assert_eq!(short(Duration::ZERO), "0ms");
    }

    #[test]
    fn moments_are_told_from_now() {
        let now = Wall(1_000_000_000_000);
        assert_eq!(relative(now - Duration::from_secs(12), now), "12s ago");
        assert_eq!(relative(now + Duration::from_secs(240), now), "in 4m00s");
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
