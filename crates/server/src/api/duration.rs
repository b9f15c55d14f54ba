//! Durations as people write them: `30s`, `1h30m`, `7d`, `250ms`, ISO-8601 (`PT30S`, `P1DT2H`), and `forever`.
//!
//! Parsing is exact (integers all the way) and refuses what would overflow. [`format()`] writes the
//! shortest humane form, which always parses back to the same duration, to the nanosecond.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ganger_core::limits;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration: write for example `30s`, `1h30m`, `7d` or `PT30S`")]
pub struct DurationError(String);

/// [`limits::FOREVER`], where something may be without an end; anywhere else it is too long.
const FOREVER: &str = "forever";
const SECOND: u128 = 1_000_000_000;
const MINUTE: u128 = 60 * SECOND;
const HOUR: u128 = 60 * MINUTE;
const DAY: u128 = 24 * HOUR;
const WEEK: u128 = 7 * DAY;

/// Longest text that is looked at.
const MAX_TEXT: usize = 64;

/// Units of the humane form, largest first. A text names each at most once, in this order.
const UNITS: [(&str, u128); 9] = [
    ("w", WEEK),
    ("d", DAY),
    ("h", HOUR),
    ("m", MINUTE),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Reads a duration. A number without a unit is in seconds.
///
/// # Errors
/// The text is neither humane nor ISO-8601, or is longer than can be told.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let refused = || DurationError(text.chars().take(MAX_TEXT).collect());
    if text.is_empty() || text.len() > MAX_TEXT {
        return Err(refused());
    }
    if text == FOREVER {
        return Ok(limits::FOREVER);
    }
    let nanos = match text.strip_prefix('P') {
        Some(iso) => parse_iso(iso),
        None => parse_humane(text),
    };
    nanos.and_then(from_nanos).ok_or_else(refused)
}

/// The shortest humane form: `0s`, `250ms`, `1m30s`, `7d`.
#[must_use]
pub fn format(duration: Duration) -> String {
    if duration == limits::FOREVER {
        return FOREVER.into();
    }
    let mut rest = duration.as_nanos();
    if rest == 0 {
        return "0s".into();
    }
    let mut text = String::new();
    for (unit, size) in UNITS {
        // Weeks are not shown: seven days are clearer. `µs` is only accepted, not written.
        if unit == "w" || unit == "µs" {
            continue;
        }
        if rest >= size {
            text.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    text
}

fn from_nanos(nanos: u128) -> Option<Duration> {
    let seconds = u64::try_from(nanos / SECOND).ok()?;
    Some(Duration::new(seconds, u32::try_from(nanos % SECOND).ok()?))
}

fn parse_humane(text: &str) -> Option<u128> {
    let mut rest = text;
    let mut total: u128 = 0;
    let mut last = u128::MAX;
    while !rest.is_empty() {
        let (number, after) = take_number(rest)?;
        let unit_len = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_len);
        let size = match unit {
            // Only a lone number may go without its unit: `1h30` is more likely a slip.
            "" if total == 0 && last == u128::MAX && after.is_empty() => SECOND,
            _ => UNITS.iter().find(|(name, _)| *name == unit)?.1,
        };
        if size >= last {
            return None;
        }
        last = size;
        total = total.checked_add(number.times(size)?)?;
        rest = after;
    }
    Some(total)
}

fn parse_iso(text: &str) -> Option<u128> {
    let (date, time) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let mut last = u128::MAX;
    let days = parse_iso_part(date, &[('W', WEEK), ('D', DAY)], &mut last)?;
    let clock = parse_iso_part(time, &[('H', HOUR), ('M', MINUTE), ('S', SECOND)], &mut last)?;
    days.checked_add(clock)
}

/// Months and years are refused: they have no fixed length.
fn parse_iso_part(text: &str, units: &[(char, u128)], last: &mut u128) -> Option<u128> {
    let mut rest = text;
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let (number, after) = take_number(rest)?;
        let mut characters = after.chars();
        let designator = characters.next()?;
        let size = units.iter().find(|(name, _)| *name == designator)?.1;
        if size >= *last {
            return None;
        }
        *last = size;
        total = total.checked_add(number.times(size)?)?;
        rest = characters.as_str();
    }
    Some(total)
}

/// A decimal number: whole part, and a fraction as digits over a power of ten.
struct Number {
    whole: u128,
    fraction: u128,
    scale: u128,
}

impl Number {
    fn times(&self, unit: u128) -> Option<u128> {
        let whole = self.whole.checked_mul(unit)?;
        let part = self.fraction.checked_mul(unit)? / self.scale;
        whole.checked_add(part)
    }
}

fn take_number(text: &str) -> Option<(Number, &str)> {
    let (whole, rest) = take_digits(text)?;
    let mut number = Number { whole, fraction: 0, scale: 1 };
    match rest.strip_prefix(['.', ',']) {
        None => Some((number, rest)),
        Some(after) => {
            let (fraction, rest) = take_digits(after)?;
            let digits = u32::try_from(after.len() - rest.len()).ok()?;
            number.fraction = fraction;
            number.scale = 10u128.checked_pow(digits)?;
            Some((number, rest))
        }
    }
}

/// At most 18 digits, so that products with a week stay far below 128 bits.
fn take_digits(text: &str) -> Option<(u128, &str)> {
    let len = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if len == 0 || len > 18 {
        return None;
    }
    let (digits, rest) = text.split_at(len);
    Some((digits.parse().ok()?, rest))
}

/// A duration in JSON: written humanely, read from a text or from a number of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanDuration(pub Duration);

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format(self.0))
    }
}

impl FromStr for HumanDuration {
    type Err = DurationError;
    fn from_str(text: &str) -> Result<HumanDuration, DurationError> {
        parse(text).map(HumanDuration)
    }
}

impl From<Duration> for HumanDuration {
    fn from(duration: Duration) -> HumanDuration {
        HumanDuration(duration)
    }
}

impl PartialSchema for HumanDuration {
    fn schema() -> RefOr<Schema> {
        let words = "A duration such as `30s`, `1h30m`, `7d` or `PT30S`, or a number of seconds";
        let types = SchemaType::from_iter([Type::String, Type::Number]);
        let object = ObjectBuilder::new().schema_type(types).minimum(Some(0)).description(Some(words));
        object.examples(["30s"]).into()
    }
}

impl ToSchema for HumanDuration {}

impl Serialize for HumanDuration {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<HumanDuration, D::Error> {
        d.deserialize_any(DurationVisitor).map(HumanDuration)
    }
}

struct DurationVisitor;

impl de::Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"30s\", \"PT30S\" or a number of seconds")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        parse(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Duration, E> {
        Ok(Duration::from_secs(seconds))
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Duration, E> {
        u64::try_from(seconds).map(Duration::from_secs).map_err(|_| E::custom("a duration is not negative"))
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Duration, E> {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| E::custom(format!("{seconds} seconds are not a duration")))
    }
}

/// The longest run of one attempt: a duration, or `"none"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// It may run as long as it likes.
    None,
    /// It is stopped after this long.
    After(Duration),
}

impl Timeout {
    /// As the model keeps it.
    #[must_use]
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Timeout::None => None,
            Timeout::After(duration) => Some(duration),
        }
    }
}

impl From<Option<Duration>> for Timeout {
    fn from(duration: Option<Duration>) -> Timeout {
        duration.map_or(Timeout::None, Timeout::After)
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timeout::None => f.write_str("none"),
            Timeout::After(duration) => f.write_str(&format(*duration)),
        }
    }
}

impl FromStr for Timeout {
    type Err = DurationError;
    fn from_str(text: &str) -> Result<Timeout, DurationError> {
        if text == "none" { Ok(Timeout::None) } else { parse(text).map(Timeout::After) }
    }
}

impl Serialize for Timeout {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Timeout, D::Error> {
        d.deserialize_any(TimeoutVisitor)
    }
}

struct TimeoutVisitor;

impl de::Visitor<'_> for TimeoutVisitor {
    type Value = Timeout;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"30s\", a number of seconds, or \"none\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Timeout, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Timeout, E> {
        DurationVisitor.visit_u64(seconds).map(Timeout::After)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Timeout, E> {
        DurationVisitor.visit_i64(seconds).map(Timeout::After)
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Timeout, E> {
        DurationVisitor.visit_f64(seconds).map(Timeout::After)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> f64 {
        parse(text).unwrap().as_secs_f64()
    }

    #[test]
    fn humane_and_iso_forms_say_the_same() {
        for (text, expected) in [
            ("30s", 30.0),
            ("PT30S", 30.0),
            ("1h30m", 5400.0),
            ("PT1H30M", 5400.0),
            ("1.5h", 5400.0),
            ("7d", 604_800.0),
            ("1w", 604_800.0),
            ("P1W", 604_800.0),
            ("P1DT2H", 93_600.0),
            ("250ms", 0.25),
            ("PT0.25S", 0.25),
            ("30", 30.0),
            ("0.5", 0.5),
            ("0s", 0.0),
        ] {
            assert!((seconds(text) - expected).abs() < 1e-9, "{text}");
        }
        assert_eq!(parse("1µs").unwrap(), Duration::from_micros(1));
        assert_eq!(
            (parse("forever").unwrap(), format(limits::FOREVER).as_str()),
            (limits::FOREVER, "forever")
        );
    }

    #[test]
    fn what_is_not_a_duration_is_refused_and_never_panics() {
        for bad in [
            "",
            " ",
            "s",
            "30 s",
            "-1s",
            "1m1h",
            "1h1h",
            "1h30",
            "P",
            "PT",
            "P1M",
            "P1Y",
            "1.s",
            ".5s",
            "1e3s",
            "99999999999999999999s",
            "999999999999999999w",
            "1d\0",
            "٣s",
            "none",
            "PT1S1M",
            "1x",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert!(parse(&"1".repeat(MAX_TEXT + 1)).is_err());
    }

    #[test]
    fn what_is_written_reads_back() {
        for nanos in [0, 1, 999, 1_000, 1_500_000, 90 * 1_000_000_000, 86_400_000_000_000, 5_400_000_000_001]
        {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(parse(&format(duration)).unwrap(), duration, "{}", format(duration));
        }
        assert_eq!(format(Duration::from_millis(1_500)), "1s500ms");
        assert_eq!(format(Duration::from_secs(5400)), "1h30m");
        assert_eq!(format(Duration::from_secs(7 * 86_400)), "7d");
    }

    #[test]
    fn json_takes_texts_and_seconds_and_none_only_for_a_timeout() {
        let read = |json: &str| serde_json::from_str::<HumanDuration>(json);
        assert_eq!(read("\"30s\"").unwrap().0, Duration::from_secs(30));
        assert_eq!(read("1.5").unwrap().0, Duration::from_millis(1500));
        for bad in ["-1", "-1.0", "1e300", "true", "null", "{}", "\"none\""] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(serde_json::from_str::<Timeout>("\"none\"").unwrap(), Timeout::None);
        assert_eq!(serde_json::from_str::<Timeout>("2").unwrap(), Timeout::After(Duration::from_secs(2)));
        assert_eq!(serde_json::to_string(&Timeout::None).unwrap(), "\"none\"");
    }
}
