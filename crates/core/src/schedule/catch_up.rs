//! What becomes of the instants that are due: usually one, after a long absence thousands.
//!
//! The work of one step is bounded, and so is what it writes. Instants that are too many for a row each share one that says
//! from when and how many; a schedule that is due more often than a step looks at is settled in several steps.

use crate::limits;
use crate::sabotage::{self, Bug};
use crate::schedule::ledger::{Skip, Why};
use crate::schedule::timing::Timing;
use crate::schedule::{Misfire, Schedule, Standing};
use crate::time::Wall;

/// Instants that are due, told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Everything up to here is decided with it.
    pub settled: Wall,
    /// Those that fire unless a job is in their way, oldest first.
    pub fire: Vec<Wall>,
    /// Those that do not, oldest first.
    pub skipped: Vec<(Wall, Skip)>,
}

/// What is due at this moment, if anything.
#[must_use]
pub fn due(schedule: &Schedule, timing: &Timing, standing: &Standing, now: Wall) -> Option<Due> {
    let (instants, more) = instants(timing, standing.settled, now);
    let settled = *instants.last()?;
    let why = |at: Wall| match standing.gap {
        Some((from, to)) if from < at && at <= to => Why::Paused,
        Some(_) | None => Why::Missed,
    };
    let open: Vec<Wall> = instants.iter().copied().filter(|at| why(*at) == Why::Missed).collect();
    let fire = if more { Vec::new() } else { chosen(schedule.misfire, &open, now) };
    let passed = instants.into_iter().filter(|at| !fire.contains(at)).map(|at| (at, why(at))).collect();
    let mut skipped = rows(passed);
    if sabotage::active(Bug::MissedForgotten) {
        skipped.clear();
    }
    Some(Due { settled, fire, skipped })
}

/// All instants after a mark and up to now, as skipped for one reason. `None` if they are too many for one step.
#[must_use]
pub fn pass_over(timing: &Timing, settled: Wall, now: Wall, why: Why) -> Option<Vec<(Wall, Skip)>> {
    let (instants, more) = instants(timing, settled, now);
    (!more).then(|| rows(instants.into_iter().map(|at| (at, why)).collect()))
}

/// The instants after a mark and up to now, as many as a step looks at, and whether there are more.
fn instants(timing: &Timing, settled: Wall, now: Wall) -> (Vec<Wall>, bool) {
    let mut due = timing.after(settled).take_while(|at| *at <= now);
    let found = due.by_ref().take(limits::INSTANTS_AT_ONCE).collect();
    (found, due.next().is_some())
}

/// Those that the misfire rule fires.
fn chosen(misfire: Misfire, open: &[Wall], now: Wall) -> Vec<Wall> {
    match misfire {
        Misfire::FireOnce => open.last().copied().into_iter().collect(),
        Misfire::Skip => open.last().copied().filter(|at| *at >= now - limits::ON_TIME).into_iter().collect(),
        Misfire::FireAll(within) => {
            let recent = open.iter().copied().filter(|at| *at >= now - within);
            let count = recent.clone().count();
            recent.skip(count.saturating_sub(limits::CATCH_UP)).collect()
        }
    }
}

/// A row each for the last ones, and one for all before.
fn rows(mut passed: Vec<(Wall, Why)>) -> Vec<(Wall, Skip)> {
    let own = passed.split_off(passed.len().saturating_sub(limits::SKIPPED_ROWS));
    let mut rows = Vec::with_capacity(own.len() + 1);
    if let (Some((first, _)), Some((last, why))) = (passed.first(), passed.last()) {
        let skip = Skip { why: *why, job: None, since: Some(*first), count: passed.len() as u64 };
        rows.push((*last, skip));
    }
    rows.extend(own.into_iter().map(|(at, why)| (at, Skip::one(why, None))));
    rows
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::schedule::When;
    use crate::schedule::tests::daily;

    const S: i64 = 1_000_000;

    fn every_second(misfire: Misfire) -> Schedule {
        Schedule { when: When::Every(Duration::from_secs(1)), misfire, ..daily() }
    }

    fn due_after(misfire: Misfire, settled: i64, now: i64) -> Option<Due> {
        let schedule = every_second(misfire);
        let timing = Timing::new(&schedule, Wall(0)).unwrap();
        let standing = Standing { settled: Wall(settled * S), ..Standing::default() };
        due(&schedule, &timing, &standing, Wall(now * S))
    }

    #[test]
    fn nothing_is_due_before_its_instant() {
        assert_eq!(due_after(Misfire::FireOnce, 5, 5), None);
        let one = due_after(Misfire::FireOnce, 5, 6).unwrap();
        assert_eq!((one.settled, one.fire, one.skipped), (Wall(6 * S), vec![Wall(6 * S)], vec![]));
    }

    #[test]
    fn the_last_of_those_that_were_missed_fires_and_the_others_are_told() {
        let due = due_after(Misfire::FireOnce, 0, 4).unwrap();
        assert_eq!(due.fire, [Wall(4 * S)]);
        let skipped: Vec<_> = due.skipped.iter().map(|(at, skip)| (at.0 / S, skip.why, skip.count)).collect();
        assert_eq!(skipped, [(1, Why::Missed, 1), (2, Why::Missed, 1), (3, Why::Missed, 1)]);
    }

    #[test]
    fn catching_up_is_bounded_by_number_and_by_age() {
        let within = Duration::from_secs(60);
        let due = due_after(Misfire::FireAll(within), 0, 70).unwrap();
        assert_eq!((due.fire.len(), due.skipped.len()), (61, 9));
        let many = due_after(Misfire::FireAll(Duration::from_secs(3600)), 0, 500).unwrap();
        assert_eq!(many.fire.len(), limits::CATCH_UP);
        assert_eq!(many.fire.last(), Some(&Wall(500 * S)));
        let first = &many.skipped[0];
        assert_eq!((first.0, first.1.since, first.1.count), (Wall(300 * S), Some(Wall(S)), 300));
        assert_eq!(many.skipped.len(), limits::SKIPPED_ROWS + 1);
    }

    #[test]
    fn what_is_late_does_not_fire_if_the_rule_is_to_skip() {
        let schedule = Schedule { when: When::At(Wall(9 * S)), misfire: Misfire::Skip, ..daily() };
        let timing = Timing::new(&schedule, Wall(0)).unwrap();
        let on_time = due(&schedule, &timing, &Standing::default(), Wall(9 * S) + limits::ON_TIME).unwrap();
        assert_eq!((on_time.fire.len(), on_time.skipped.len()), (1, 0));
        let late = Wall(9 * S + 1) + limits::ON_TIME;
        let late = due(&schedule, &timing, &Standing::default(), late).unwrap();
        assert_eq!((late.fire.len(), late.skipped.len()), (0, 1));
    }

    #[test]
    fn a_pause_is_told_as_such() {
        let schedule = every_second(Misfire::FireOnce);
        let timing = Timing::new(&schedule, Wall(0)).unwrap();
        let gap = Some((Wall(2 * S), Wall(4 * S)));
        let standing = Standing { settled: Wall(S), gap, ..Standing::default() };
        let due = due(&schedule, &timing, &standing, Wall(5 * S)).unwrap();
        assert_eq!(due.fire, [Wall(5 * S)]);
        let why: Vec<_> = due.skipped.iter().map(|(at, skip)| (at.0 / S, skip.why)).collect();
        assert_eq!(why, [(2, Why::Missed), (3, Why::Paused), (4, Why::Paused)]);
    }

    #[test]
    fn a_long_absence_is_settled_in_steps_that_forget_nothing() {
        let schedule = every_second(Misfire::FireOnce);
        let timing = Timing::new(&schedule, Wall(0)).unwrap();
        let mut standing = Standing::default();
        let (mut told, mut fired, mut steps) = (0, 0, 0);
        let now = Wall(25_000 * S);
        while let Some(due) = due(&schedule, &timing, &standing, now) {
            told += due.skipped.iter().map(|(_, skip)| skip.count).sum::<u64>();
            fired += due.fire.len();
            assert!(due.skipped.len() <= limits::SKIPPED_ROWS + 1);
            standing.settled = due.settled;
            steps += 1;
        }
        assert_eq!((told, fired, steps), (24_999, 1, 3));
    }
}
