//! Lengths of time and moments as they stand in a filter.

use std::fmt::Write as _;
use std::time::Duration;

use crate::limits;
use crate::time::{Wall, micros};

/// Longest first, so that a length prints short. `us` and `ms` end in `s`: whoever reads takes all letters.
const UNITS: [(&str, u64); 7] = [
    ("w", 7 * 86_400_000_000),
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

/// A length such as `5s`, `1h30m`, `1.5d`; not longer than [`limits::LONGEST`].
pub(super) fn parse_length(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    // Bounded: each round takes at least a digit and a letter.
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|at| *at > 0)?;
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        total += number.parse::<f64>().ok()? * *unit as f64;
        rest = after;
    }
    let whole = !text.is_empty() && total <= micros(limits::LONGEST) as f64;
    whole.then(|| Duration::from_micros(total.round() as u64))
}

/// The length as it parses back.
pub(super) fn print_length(length: Duration) -> String {
    let mut left = micros(length);
    let mut text = String::new();
    for (name, unit) in UNITS {
        if left >= unit {
            // Writing into a text cannot fail.
            let _ = write!(text, "{}{name}", left / unit);
            left %= unit;
        }
    }
    if text.is_empty() { "0s".into() } else { text }
}

/// A moment: RFC 3339, or a day, which means its first instant in UTC.
pub(super) fn parse_moment(text: &str) -> Option<Wall> {
    text.parse().ok().or_else(|| {
        let day = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        day.then(|| format!("{text}T00:00:00Z").parse().ok()).flatten()
    })
}
