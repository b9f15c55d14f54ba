//! The instants of a schedule.

use crate::limits;
use crate::schedule::cron::Cron;
use crate::schedule::zone::Zone;
use crate::schedule::{Schedule, ScheduleError, When};
use crate::time::{Wall, micros};

/// The instants of a schedule, ready to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    rule: Rule,
    zone: Zone,
    starts_at: Option<Wall>,
    ends_at: Option<Wall>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Cron(Cron),
    Every { micros: i64, anchor: Wall, first: i64 },
    At(Wall),
}

/// An instant to come, as shown to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upcoming {
    /// When.
    pub at: Wall,
    /// The local time of the schedule's zone, with its offset.
    pub local: String,
    /// What the clocks do there, if anything.
    pub note: Option<&'static str>,
}

impl Timing {
    /// The instants of a schedule whose intervals count from the anchor.
    ///
    /// # Errors
    /// If the expression, the interval or the zone cannot be used.
    pub fn new(schedule: &Schedule, anchor: Wall) -> Result<Timing, ScheduleError> {
        let zone = Zone::find(&schedule.time_zone).ok_or_else(|| {
            let shown: String = schedule.time_zone.chars().take(64).collect();
            ScheduleError::new("time_zone", format!("`{shown}` is not a time zone; `Europe/Berlin` is"))
        })?;
        let rule = match &schedule.when {
            When::Cron(text) => {
                Rule::Cron(Cron::parse(text).map_err(|e| ScheduleError::new("cron", e.to_string()))?)
            }
            When::Every(every) => {
                if !(limits::SHORTEST_INTERVAL..=limits::LONGEST).contains(every) {
                    return Err(ScheduleError::new("every", "must be from 1 second to 366 days"));
                }
                let micros = i64::try_from(micros(*every)).unwrap_or(i64::MAX);
                Rule::Every { micros, anchor, first: i64::from(schedule.starts_at.is_none()) }
            }
            When::At(at) => Rule::At(*at),
        };
        Ok(Timing { rule, zone, starts_at: schedule.starts_at, ends_at: schedule.ends_at })
    }

    /// The first instant after a moment.
    #[must_use]
    pub fn next(&self, after: Wall) -> Option<Wall> {
        let after = self.starts_at.map_or(after, |starts| after.max(Wall(starts.0.saturating_sub(1))));
        let found = match &self.rule {
            Rule::Cron(cron) => self.zone.next(cron, after),
            Rule::Every { micros, anchor, first } => {
                let passed = after.0.saturating_sub(anchor.0).div_euclid(*micros);
                let number = passed.saturating_add(1).max(*first);
                number.checked_mul(*micros).and_then(|since| anchor.0.checked_add(since)).map(Wall)
            }
            Rule::At(at) => (*at > after).then_some(*at),
        };
        found.filter(|at| self.ends_at.is_none_or(|ends| *at <= ends))
    }

    /// The instants after a moment, in order.
    pub fn after(&self, moment: Wall) -> impl Iterator<Item = Wall> + '_ {
        std::iter::successors(self.next(moment), |at| self.next(*at))
    }

    /// The next instants as people want to see them; at most [`limits::UPCOMING`].
    #[must_use]
    pub fn upcoming(&self, after: Wall, count: usize) -> Vec<Upcoming> {
        let shown = |at| Upcoming { at, local: self.zone.show(at), note: self.note(at) };
        self.after(after).take(count.min(limits::UPCOMING)).map(shown).collect()
    }

    /// The local time of an instant in the zone of the schedule.
    #[must_use]
    pub fn local(&self, at: Wall) -> String {
        self.zone.show(at)
    }

    fn note(&self, at: Wall) -> Option<&'static str> {
        match &self.rule {
            Rule::Cron(cron) => self.zone.note(cron, at),
            Rule::Every { .. } | Rule::At(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::schedule::tests::daily;

    fn instants(schedule: &Schedule, anchor: i64, after: i64, n: usize) -> Vec<i64> {
        let timing = Timing::new(schedule, Wall(anchor)).unwrap();
        timing.after(Wall(after)).take(n).map(|at| at.0).collect()
    }

    #[test]
    fn an_interval_counts_from_its_anchor() {
        let mut schedule = daily();
        schedule.when = When::Every(Duration::from_secs(5));
        assert_eq!(instants(&schedule, 1_000_000, 1_500_000, 2), [6_000_000, 11_000_000]);
        assert_eq!(instants(&schedule, 1_000_000, 6_000_000, 1), [11_000_000]);
        assert_eq!(instants(&schedule, 1_000_000, -90_000_000, 1), [6_000_000]);
        schedule.starts_at = Some(Wall(1_000_000));
        assert_eq!(instants(&schedule, 1_000_000, 0, 2), [1_000_000, 6_000_000]);
        schedule.ends_at = Some(Wall(6_000_000));
        assert_eq!(instants(&schedule, 1_000_000, 0, 9), [1_000_000, 6_000_000]);
    }

    #[test]
    fn a_one_off_comes_once() {
        let mut schedule = daily();
        schedule.when = When::At(Wall(7));
        assert_eq!(instants(&schedule, 0, 6, 9), [7]);
        assert_eq!(instants(&schedule, 0, 7, 9), [] as [i64; 0]);
    }

    #[test]
    fn a_start_and_an_end_are_part_of_the_schedule() {
        let mut schedule = daily();
        let at = |text: &str| text.parse::<Wall>().unwrap();
        schedule.starts_at = Some(at("2026-01-03T01:00:00Z"));
        schedule.ends_at = Some(at("2026-01-04T01:00:00Z"));
        let timing = Timing::new(&schedule, Wall(0)).unwrap();
        let all: Vec<Wall> = timing.after(Wall(0)).collect();
        assert_eq!(all, [at("2026-01-03T01:00:00Z"), at("2026-01-04T01:00:00Z")]);
    }

    #[test]
    fn upcoming_is_bounded() {
        let timing = Timing::new(&daily(), Wall(0)).unwrap();
        assert_eq!(timing.upcoming(Wall(0), usize::MAX).len(), limits::UPCOMING);
        assert_eq!(timing.upcoming(Wall(0), 1)[0].local, "1970-01-01T02:00:00+01:00");
    }
}
