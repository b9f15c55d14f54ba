//! The fields of a cron expression, one by one.

use crate::schedule::cron::CronError;

/// Which field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Second,
    Minute,
    Hour,
    Day,
    Month,
    Weekday,
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Field {
    const fn word(self) -> &'static str {
        match self {
            Field::Second => "a second",
            Field::Minute => "a minute",
            Field::Hour => "an hour",
            Field::Day => "a day",
            Field::Month => "a month",
            Field::Weekday => "a weekday",
        }
    }

    const fn bounds(self) -> (u32, u32) {
        match self {
            Field::Second | Field::Minute => (0, 59),
            Field::Hour => (0, 23),
            Field::Day => (1, 31),
            Field::Month => (1, 12),
            Field::Weekday => (0, 7),
        }
    }

    const fn names(self) -> (&'static [&'static str], u32) {
        match self {
            Field::Month => (&MONTHS, 1),
            Field::Weekday => (&WEEKDAYS, 0),
            Field::Second | Field::Minute | Field::Hour | Field::Day => (&[], 0),
        }
    }

    /// The last value that `*` and an open step stand for.
    const fn last(self) -> u32 {
        match self {
            Field::Weekday => 6,
            Field::Second | Field::Minute | Field::Hour | Field::Day | Field::Month => self.bounds().1,
        }
    }
}

/// What a field without anything special says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) bits: u64,
    /// It has a `*` or a step.
    pub(super) wild: bool,
}

/// What the field of days says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Days {
    pub(super) bits: u64,
    pub(super) last: bool,
}

/// What the field of weekdays says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weekdays {
    pub(super) bits: u64,
    pub(super) nth: [u8; 7],
    pub(super) last: u64,
}

fn wrong<T>(position: usize, reason: impl Into<String>) -> Result<T, CronError> {
    Err(CronError { position, reason: reason.into() })
}

/// The items of a list with their places.
fn items((position, text): (usize, &str)) -> impl Iterator<Item = (usize, &str)> {
    text.split(',').scan(position, |at, item| {
        let place = *at;
        *at += item.chars().count() + 1;
        Some((place, item))
    })
}

/// A field of numbers, ranges and steps.
pub(super) fn plain(field: Field, text: (usize, &str)) -> Result<Plain, CronError> {
    let mut found = Plain::default();
    for item in items(text) {
        let (bits, wild) = span(field, item)?;
        found.bits |= bits;
        found.wild |= wild;
    }
    Ok(found)
}

/// The days of a month, `L` among them.
pub(super) fn days(text: (usize, &str)) -> Result<Days, CronError> {
    let mut found = Days::default();
    for (position, item) in items(text) {
        if item.eq_ignore_ascii_case("L") {
            found.last = true;
        } else if item.to_ascii_uppercase().contains('W') {
            return wrong(
                position,
                "`W`, the nearest working day, is not supported; name the weekdays instead",
            );
        } else {
            found.bits |= span(Field::Day, (position, item))?.0;
        }
    }
    Ok(found)
}

/// The weekdays, `5L` and `5#2` among them.
pub(super) fn weekdays(text: (usize, &str)) -> Result<Weekdays, CronError> {
    let mut found = Weekdays::default();
    for (position, item) in items(text) {
        if let Some((day, nth)) = item.split_once('#') {
            let weekday = value(Field::Weekday, position, day)? % 7;
            let place = position + day.chars().count() + 1;
            let nth = nth.parse::<u8>().ok().filter(|nth| (1..=5).contains(nth));
            let Some(nth) = nth else {
                return wrong(place, "a month has at most five of a weekday: 1 to 5 may follow `#`");
            };
            found.nth[weekday as usize] |= 1 << nth;
        } else if let Some(day) = item.strip_suffix(['L', 'l']) {
            if day.is_empty() {
                return wrong(position, "`L` needs a weekday before it, as in `5L` for the last Friday");
            }
            found.last |= 1 << (value(Field::Weekday, position, day)? % 7);
        } else {
            found.bits |= span(Field::Weekday, (position, item))?.0;
        }
    }
    // Sunday again.
    found.bits = (found.bits | found.bits >> 7) & 0x7f;
    Ok(found)
}

/// One item: `*`, a value or a range, with or without a step.
fn span(field: Field, (position, item): (usize, &str)) -> Result<(u64, bool), CronError> {
    let (range, step) = match item.split_once('/') {
        Some((range, step)) => (range, Some((position + range.chars().count() + 1, step))),
        None => (item, None),
    };
    let star = range == "*";
    let (from, to) = if star {
        (field.bounds().0, field.last())
    } else if let Some((from, to)) = range.split_once('-') {
        bounds(field, position, from, to)?
    } else {
        let from = value(field, position, range)?;
        (from, if step.is_some() { field.last().max(from) } else { from })
    };
    let by = match step {
        None => 1,
        Some((place, text)) => match text.parse::<u32>() {
            Ok(0) => return wrong(place, "a step of 0 never moves on"),
            Ok(by) if by <= field.bounds().1 => by,
            Ok(by) => return wrong(place, format!("a step of {by} is larger than the field")),
            Err(_) => return wrong(place, format!("`{text}` is not a step")),
        },
    };
    let bits = (from..=to).step_by(by as usize).fold(0, |bits, number| bits | 1u64 << number);
    Ok((bits, star || step.is_some()))
}

fn bounds(field: Field, position: usize, from: &str, to: &str) -> Result<(u32, u32), CronError> {
    let low = value(field, position, from)?;
    let mut high = value(field, position + from.chars().count() + 1, to)?;
    // Saturday to Sunday.
    if field == Field::Weekday && high == 0 && low > 0 {
        high = 7;
    }
    if low > high {
        let (first, last) = (field.bounds().0, field.last());
        return wrong(
            position,
            format!("the range `{from}-{to}` goes backwards; write `{from}-{last},{first}-{to}`"),
        );
    }
    Ok((low, high))
}

fn value(field: Field, position: usize, text: &str) -> Result<u32, CronError> {
    if text.is_empty() {
        return wrong(position, format!("{} is missing", field.word()));
    }
    let (names, offset) = field.names();
    let (low, high) = field.bounds();
    let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
    let number = match named {
        Some(place) => u32::try_from(place).ok().map(|place| place + offset),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        None => None,
    };
    match number.filter(|number| (low..=high).contains(number)) {
        Some(number) => Ok(number),
        None => wrong(position, format!("`{text}` is not {}: {low} to {high} are", field.word())),
    }
}
