//! Local times of a place, and what becomes of them when its clocks change.
//!
//! The time zones are compiled into the binary: which instants a schedule has does not depend on the machine.
//!
//! - A **fixed** local time (`30 2 * * *`) that does not exist on a day, because clocks go forward over it, counts as the
//!   first instant after the gap. One that comes twice, because clocks go back, counts the first time.
//! - An expression with a `*` or a step in its hours, minutes or seconds follows **elapsed time**: every instant whose
//!   local time it names, no more and no fewer.
//!
//! Both are strictly increasing, whatever the clocks do: a whole day that a place left out is a gap like any other.

use std::sync::OnceLock;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp};

use crate::schedule::cron::Cron;
use crate::time::Wall;

/// Changes of clocks that are looked at before an expression is taken for one that never fires.
const TRANSITIONS: usize = 64;

/// A place with its own time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of that IANA name.
    #[must_use]
    pub fn find(name: &str) -> Option<Zone> {
        static ZONES: OnceLock<TimeZoneDatabase> = OnceLock::new();
        ZONES.get_or_init(TimeZoneDatabase::bundled).get(name).ok().map(Zone)
    }

    /// The local time of a moment with its offset, for people.
    #[must_use]
    pub fn show(&self, at: Wall) -> String {
        match timestamp(at) {
            Some(at) => at.to_zoned(self.0.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            None => at.to_string(),
        }
    }

    /// The first instant of an expression after a moment. `None` if it never fires again.
    #[must_use]
    pub fn next(&self, cron: &Cron, after: Wall) -> Option<Wall> {
        let after = timestamp(Wall(after.0.div_euclid(1_000_000) * 1_000_000))?;
        let found =
            if cron.is_fixed() { self.next_fixed(cron, after) } else { self.next_elapsed(cron, after) };
        found.map(|at| Wall(at.as_microsecond()))
    }

    /// What the clocks do at an instant of an expression, if anything.
    #[must_use]
    pub fn note(&self, cron: &Cron, at: Wall) -> Option<&'static str> {
        let at = timestamp(at)?;
        let offset = self.0.to_offset(at);
        let local = offset.to_datetime(at);
        match self.0.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Fold { .. } if cron.is_fixed() => {
                Some("clocks go back: this local time comes twice, it fires the first time only")
            }
            AmbiguousOffset::Fold { before, .. } if offset == before => {
                Some("clocks go back: this local time comes twice, this is the first")
            }
            AmbiguousOffset::Fold { .. } => {
                Some("clocks go back: this local time comes twice, this is the second")
            }
            AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => (!cron.matches(local)).then_some(
                "clocks go forward: the local time does not exist on this day, it fires right after the gap",
            ),
        }
    }

    /// The instant of a local time is never earlier than that of an earlier local time, so the first one after
    /// `after` belongs to the first local time whose instant is.
    fn next_fixed(&self, cron: &Cron, after: Timestamp) -> Option<Timestamp> {
        let second = Span::new().seconds(1);
        let mut from = self.0.to_datetime(after).checked_add(second).ok()?;
        // At most every second of a repeated time is passed over.
        loop {
            let local = cron.next_local(from)?;
            let at = self.resolve(local)?;
            if at > after {
                return Some(at);
            }
            from = local.checked_add(second).ok()?;
        }
    }

    /// The instant that a fixed local time stands for.
    fn resolve(&self, local: DateTime) -> Option<Timestamp> {
        match self.0.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                offset.to_timestamp(local).ok()
            }
            AmbiguousOffset::Gap { before, .. } => {
                let inside = before.to_timestamp(local).ok()?.checked_add(Span::new().seconds(1)).ok()?;
                self.0.preceding(inside).next().map(|change| change.timestamp())
            }
        }
    }

    /// Between two changes of clocks local time and elapsed time are the same.
    fn next_elapsed(&self, cron: &Cron, after: Timestamp) -> Option<Timestamp> {
        let mut from = after.checked_add(Span::new().seconds(1)).ok()?;
        for _ in 0..TRANSITIONS {
            let offset = self.0.to_offset(from);
            let until = self.0.following(from).next().map(|change| change.timestamp());
            let local = cron.next_local(offset.to_datetime(from));
            if let Some(at) = local.and_then(|local| offset.to_timestamp(local).ok())
                && until.is_none_or(|until| at < until)
            {
                return Some(at);
            }
            from = until?;
        }
        None
    }
}

fn timestamp(at: Wall) -> Option<Timestamp> {
    Timestamp::from_microsecond(at.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(text: &str, zone: &str, after: &str, n: usize) -> Vec<String> {
        let (cron, zone) = (Cron::parse(text).unwrap(), Zone::find(zone).unwrap());
        let mut at: Wall = after.parse().unwrap();
        let mut found = Vec::new();
        while found.len() < n {
            let Some(next) = zone.next(&cron, at) else { break };
            assert!(next > at);
            found.push(zone.show(next));
            at = next;
        }
        found
    }

    #[test]
    fn a_fixed_time_in_a_gap_fires_right_after_it() {
        let berlin = next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(berlin, ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]);
        let once = next("0,15,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(once, ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"]);
        let lord_howe = next("15 2 * * *", "Australia/Lord_Howe", "2025-10-04T00:00:00Z", 1);
        assert_eq!(lord_howe, ["2025-10-05T02:30:00+11:00"]);
        let santiago = next("0 0 * * *", "America/Santiago", "2025-09-06T12:00:00Z", 1);
        assert_eq!(santiago, ["2025-09-07T01:00:00-03:00"]);
    }

    #[test]
    fn a_day_that_was_left_out_is_a_gap() {
        let apia = next("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", 3);
        assert_eq!(
            apia,
            ["2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"]
        );
        let hourly = next("0 */12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", 3);
        assert_eq!(
            hourly,
            ["2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"]
        );
    }

    #[test]
    fn a_fixed_time_that_comes_twice_fires_the_first_time() {
        let found = next("30 1 * * *", "America/New_York", "2025-11-01T12:00:00Z", 2);
        assert_eq!(found, ["2025-11-02T01:30:00-04:00", "2025-11-03T01:30:00-05:00"]);
    }

    #[test]
    fn a_wildcard_follows_elapsed_time() {
        let found = next("*/30 * * * *", "America/New_York", "2025-11-02T04:59:00Z", 5);
        assert_eq!(
            found,
            [
                "2025-11-02T01:00:00-04:00",
                "2025-11-02T01:30:00-04:00",
                "2025-11-02T01:00:00-05:00",
                "2025-11-02T01:30:00-05:00",
                "2025-11-02T02:00:00-05:00"
            ]
        );
        let spring = next("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 1);
        assert_eq!(spring, ["2026-03-30T02:00:00+02:00"]);
    }

    #[test]
    fn notes_tell_what_the_clocks_do() {
        let (zone, cron) = (Zone::find("Europe/Berlin").unwrap(), Cron::parse("30 2 * * *").unwrap());
        let note = |at: &str| zone.note(&cron, at.parse().unwrap()).unwrap_or("-");
        assert!(note("2026-03-29T01:00:00Z").starts_with("clocks go forward"));
        assert!(note("2026-10-25T00:30:00Z").starts_with("clocks go back"));
        assert_eq!(note("2026-06-01T00:30:00Z"), "-");
    }

    #[test]
    fn a_zone_is_found_by_its_name_and_by_nothing_else() {
        assert!(Zone::find("UTC").is_some());
        assert!(Zone::find("Asia/Kathmandu").is_some());
        assert!(Zone::find("Mars/Olympus").is_none());
        assert!(Zone::find("../etc/passwd").is_none());
        assert!(Zone::find("").is_none());
    }
}
