//! Cron expressions: what they mean, and why one is refused.
//!
//! Five fields (minute, hour, day of month, month, weekday) or six, with seconds first. `*`, lists, ranges, steps, names
//! of months and weekdays, `L` for the last day of the month, `5L` for its last Friday, `5#2` for its second one, and
//! `@hourly` to `@yearly`. As in every cron since Vixie's, days and weekdays that are both restricted mean *either*; one
//! that begins with `*` does not restrict. Weekdays count from 0, Sunday, to 7, Sunday again.

use jiff::civil::{Date, DateTime, Time};

use crate::limits;
use crate::schedule::field::{self, Field};

/// An expression that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {}: {reason}", .position + 1)]
pub struct CronError {
    /// Where, in characters from the beginning.
    pub position: usize,
    /// What is wrong there, and what would be right.
    pub reason: String,
}

/// A cron expression that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    seconds: u64,
    minutes: u64,
    hours: u64,
    days: u64,
    /// The last day of the month, whichever that is.
    last_day: bool,
    months: u64,
    weekdays: u64,
    /// Per weekday from Sunday, bit n for its n-th of the month.
    nth: [u8; 7],
    /// Weekdays whose last of the month counts.
    last_weekdays: u64,
    day_star: bool,
    weekday_star: bool,
    fixed: bool,
}

/// No expression that ever fires is silent for longer: 29 February comes after at most eight years.
const HORIZON_YEARS: i16 = 12;

impl Cron {
    /// Reads an expression.
    ///
    /// # Errors
    /// With the place and the reason.
    pub fn parse(text: &str) -> Result<Cron, CronError> {
        if text.len() > limits::CRON_BYTES {
            let reason =
                format!("the expression has {} bytes, the limit is {}", text.len(), limits::CRON_BYTES);
            return Err(CronError { position: 0, reason });
        }
        let words = words(text);
        match words.as_slice() {
            [] => Err(CronError { position: 0, reason: "the expression is empty".into() }),
            [(position, alias)] if alias.starts_with('@') => {
                let meant = expand(alias).ok_or_else(|| CronError {
                    position: *position,
                    reason: format!(
                        "`{alias}` is not known; there are @yearly, @monthly, @weekly, @daily and @hourly"
                    ),
                })?;
                Cron::parse(meant)
            }
            [minute, hour, day, month, weekday] => Cron::of((0, "0"), *minute, *hour, *day, *month, *weekday),
            [second, minute, hour, day, month, weekday] => {
                Cron::of(*second, *minute, *hour, *day, *month, *weekday)
            }
            others => Err(CronError {
                position: others.get(6).map_or(text.chars().count(), |(position, _)| *position),
                reason: format!(
                    "there are {} fields; five are needed (minute, hour, day, month, weekday), or six with seconds first",
                    others.len()
                ),
            }),
        }
    }

    fn of(
        second: (usize, &str),
        minute: (usize, &str),
        hour: (usize, &str),
        day: (usize, &str),
        month: (usize, &str),
        weekday: (usize, &str),
    ) -> Result<Cron, CronError> {
        let seconds = field::plain(Field::Second, second)?;
        let minutes = field::plain(Field::Minute, minute)?;
        let hours = field::plain(Field::Hour, hour)?;
        let days = field::days(day)?;
        let weekdays = field::weekdays(weekday)?;
        Ok(Cron {
            seconds: seconds.bits,
            minutes: minutes.bits,
            hours: hours.bits,
            days: days.bits,
            last_day: days.last,
            months: field::plain(Field::Month, month)?.bits,
            weekdays: weekdays.bits,
            nth: weekdays.nth,
            last_weekdays: weekdays.last,
            day_star: day.1.starts_with('*'),
            weekday_star: weekday.1.starts_with('*'),
            fixed: !(seconds.wild || minutes.wild || hours.wild),
        })
    }

    /// Whether it names fixed local times, which are kept at a change of clocks. With a `*` or a step among seconds,
    /// minutes or hours it follows elapsed time instead.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// Whether it names this local time.
    #[must_use]
    pub fn matches(&self, at: DateTime) -> bool {
        self.matches_date(at.date())
            && has(self.hours, at.hour())
            && has(self.minutes, at.minute())
            && has(self.seconds, at.second())
    }

    /// The first local time that it names, at or after a whole second. `None` if there is none in many years.
    #[must_use]
    pub fn next_local(&self, from: DateTime) -> Option<DateTime> {
        let until = from.date().year().saturating_add(HORIZON_YEARS);
        let (mut date, mut time) = (from.date(), from.time());
        while date.year() < until {
            if !has(self.months, date.month()) {
                date = date.last_of_month().tomorrow().ok()?;
                time = Time::midnight();
                continue;
            }
            if self.matches_date(date)
                && let Some(found) = self.next_time(time)
            {
                return Some(date.to_datetime(found));
            }
            date = date.tomorrow().ok()?;
            time = Time::midnight();
        }
        None
    }

    /// The first time of day at or after this one.
    fn next_time(&self, from: Time) -> Option<Time> {
        let (mut minute, mut second) = (from.minute(), from.second());
        let mut hour = from.hour();
        loop {
            let found = first(self.hours, hour)?;
            if found > hour {
                (minute, second) = (0, 0);
            }
            hour = found;
            if let Some(found) = first(self.minutes, minute) {
                if found > minute {
                    second = 0;
                }
                minute = found;
                if let Some(second) = first(self.seconds, second) {
                    return Time::new(hour, minute, second, 0).ok();
                }
                if let Some(found) = first(self.minutes, minute + 1) {
                    let second = first(self.seconds, 0)?;
                    return Time::new(hour, found, second, 0).ok();
                }
            }
            (hour, minute, second) = (hour + 1, 0, 0);
        }
    }

    fn matches_date(&self, date: Date) -> bool {
        if !has(self.months, date.month()) {
            return false;
        }
        let day = has(self.days, date.day()) || (self.last_day && date.day() == date.days_in_month());
        let weekday = self.matches_weekday(date);
        if self.day_star || self.weekday_star { day && weekday } else { day || weekday }
    }

    fn matches_weekday(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset();
        let place = usize::try_from(weekday).unwrap_or(0);
        let nth = (date.day() - 1) / 7 + 1;
        let last = date.day() + 7 > date.days_in_month();
        has(self.weekdays, weekday)
            || (self.nth[place] >> nth) & 1 == 1
            || (last && has(self.last_weekdays, weekday))
    }
}

fn has(bits: u64, number: i8) -> bool {
    (bits >> number) & 1 == 1
}

/// The first number of a set at or after this one.
fn first(bits: u64, from: i8) -> Option<i8> {
    let from = u32::try_from(from).ok().filter(|from| *from < 64)?;
    let rest = bits >> from << from;
    (rest != 0).then(|| i8::try_from(rest.trailing_zeros()).unwrap_or(0))
}

/// The words of a text with their places, in characters.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let place = word.as_ptr() as usize - text.as_ptr() as usize;
        found.push((text[..place].chars().count(), word));
    }
    found
}

fn expand(alias: &str) -> Option<&'static str> {
    match alias.to_ascii_lowercase().as_str() {
        "@yearly" | "@annually" => Some("0 0 1 1 *"),
        "@monthly" => Some("0 0 1 * *"),
        "@weekly" => Some("0 0 * * 0"),
        "@daily" | "@midnight" => Some("0 0 * * *"),
        "@hourly" => Some("0 * * * *"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Cron::parse(text).unwrap_err().to_string()
    }

    fn after(text: &str, from: &str) -> String {
        let cron = Cron::parse(text).unwrap();
        cron.next_local(from.parse().unwrap()).map_or("never".into(), |at| at.to_string())
    }

    #[test]
    fn a_refusal_names_the_place_and_the_reason() {
        assert_eq!(refused(""), "at character 1: the expression is empty");
        assert!(refused("* * * *").starts_with("at character 8: there are 4 fields"));
        assert!(refused("* * * * * * 2030").starts_with("at character 13: there are 7 fields"));
        assert_eq!(refused("61 * * * *"), "at character 1: `61` is not a minute: 0 to 59 are");
        assert_eq!(
            refused("0 22-4 * * *"),
            "at character 3: the range `22-4` goes backwards; write `22-23,0-4`"
        );
        assert_eq!(refused("0 0 * * MON-"), "at character 13: a weekday is missing");
        assert_eq!(refused("*/0 * * * *"), "at character 3: a step of 0 never moves on");
        assert!(refused("0 0 15W * *").contains("`W`"));
        assert!(refused("0 0 * * 5#6").starts_with("at character 11: a month has at most five"));
        assert!(refused("@often").contains("@daily"));
        assert!(refused("0 0 * FOO *").starts_with("at character 7: `FOO` is not a month"));
        assert!(refused(&format!("{} * * * *", "1,".repeat(200))).contains("the limit is 256"));
    }

    #[test]
    fn fields_mean_what_they_always_did() {
        assert_eq!(after("30 2 * * *", "2026-01-01T02:30:00"), "2026-01-01T02:30:00");
        assert_eq!(after("30 2 * * *", "2026-01-01T02:30:01"), "2026-01-02T02:30:00");
        assert_eq!(after("*/15 9-17 * * MON-FRI", "2026-01-02T17:46:00"), "2026-01-05T09:00:00");
        assert_eq!(after("10 */20 * * * *", "2026-01-01T00:20:11"), "2026-01-01T00:40:10");
        assert_eq!(after("0 0 L * *", "2028-02-03T00:00:00"), "2028-02-29T00:00:00");
        assert_eq!(after("0 0 * * 5L", "2026-01-01T00:00:00"), "2026-01-30T00:00:00");
        assert_eq!(after("0 0 * * FRI#2", "2026-01-01T00:00:00"), "2026-01-09T00:00:00");
        assert_eq!(after("0 0 29 2 *", "2026-01-01T00:00:00"), "2028-02-29T00:00:00");
        assert_eq!(after("0 0 29 2 *", "2096-03-01T00:00:00"), "2104-02-29T00:00:00");
        assert_eq!(after("0 0 * * 7", "2026-01-01T00:00:00"), "2026-01-04T00:00:00");
        assert_eq!(after("0 0 * * SAT-SUN", "2026-01-01T00:00:00"), "2026-01-03T00:00:00");
    }

    #[test]
    fn days_and_weekdays_that_are_both_restricted_mean_either() {
        assert_eq!(after("0 0 13 * FRI", "2026-01-03T00:00:00"), "2026-01-09T00:00:00");
        assert_eq!(after("0 0 13 * FRI", "2026-01-10T00:00:00"), "2026-01-13T00:00:00");
        assert_eq!(after("0 0 */2 * FRI", "2026-01-03T00:00:00"), "2026-01-09T00:00:00");
    }

    #[test]
    fn what_never_comes_is_never() {
        assert_eq!(after("0 0 30 2 *", "2026-01-01T00:00:00"), "never");
        assert_eq!(after("0 0 31 4,6,9,11 *", "2026-01-01T00:00:00"), "never");
    }

    #[test]
    fn only_a_star_or_a_step_makes_it_follow_elapsed_time() {
        assert!(Cron::parse("0,30 2-4 * * *").unwrap().is_fixed());
        assert!(!Cron::parse("*/30 2 * * *").unwrap().is_fixed());
        assert!(!Cron::parse("0 * * * *").unwrap().is_fixed());
        assert!(Cron::parse("@daily").unwrap().is_fixed());
    }
}
