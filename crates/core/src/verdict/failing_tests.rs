//! Queues that fail, and what is said of them.

use super::*;
use crate::verdict::{Facts, Verdict};

const NOW: Wall = Wall(70 * 60_000_000);

/// So many attempts failed, so many succeeded, and so many jobs died, in one minute.
fn minute(failed: u64, succeeded: u64, dead: u64) -> Ended {
    Ended { failed, succeeded, dead, finished: succeeded + dead }
}

/// An hour in which each minute was so, and ten minutes in which each is otherwise.
fn queue(before: Ended, recent: Ended) -> Failing {
    let mut minutes = vec![before; BEFORE];
    minutes.extend([recent; RECENT]);
    Failing { queue: "mail".parse().unwrap(), first: 0, minutes, cause: None }
}

fn said(failing: Failing) -> (Severity, String) {
    let verdict = Verdict::of(&Facts { failing: vec![failing].into(), now: NOW, ..Facts::default() });
    (verdict.severity, verdict.text)
}

#[test]
fn a_queue_is_compared_with_its_own_hour_before() {
    use Severity::{Bad, Ok, Watch};
    let quiet = "0 queues, nothing waiting";
    for (before, recent, severity, text) in [
        // A tenth fails, as always.
        ((1, 9, 0), (1, 9, 0), Ok, quiet),
        ((3, 97, 0), (9, 91, 0), Ok, quiet),
        (
            (3, 97, 0),
            (10, 90, 0),
            Watch,
            "mail fails 10 % of its attempts (3 % in the hour before), for 10 m 0 s",
        ),
        ((4, 96, 0), (11, 89, 0), Ok, quiet),
        (
            (1, 99, 0),
            (50, 50, 0),
            Bad,
            "mail fails 50 % of its attempts (1 % in the hour before), for 10 m 0 s",
        ),
        ((0, 0, 0), (2, 8, 0), Watch, "mail fails 20 % of its attempts, for 10 m 0 s"),
        // Nothing succeeds, and never did.
        ((5, 0, 5), (5, 0, 5), Bad, "mail fails every attempt (50 of 50), for 1 h 10 m"),
        ((5, 0, 5), (0, 0, 0), Watch, "mail fails every attempt (300 of 300), for 1 h 10 m"),
        // They die as they did before, and that is lost work.
        ((11, 89, 1), (11, 89, 1), Watch, "mail loses 1 jobs a minute to failures, for 1 h 10 m"),
        ((20, 80, 16), (20, 80, 16), Bad, "mail loses 16 jobs a minute to failures, for 1 h 10 m"),
    ] {
        let of = |(failed, succeeded, dead): (u64, u64, u64)| minute(failed, succeeded, dead);
        assert_eq!(said(queue(of(before), of(recent))), (severity, text.to_owned()), "{before:?} {recent:?}");
    }
}

#[test]
fn of_few_attempts_nothing_is_said() {
    let with = |attempts: u64| {
        let mut failing = queue(minute(0, 0, 0), minute(0, 0, 0));
        failing.minutes[BEFORE] = minute(attempts, 0, 0);
        said(failing).0
    };
    assert_eq!((with(FEWEST - 1), with(FEWEST)), (Severity::Ok, Severity::Bad));
}

#[test]
fn a_new_error_is_named_with_its_dead_and_since_when() {
    let with = |dead: u64, first_at: i64| {
        let mut failing = queue(minute(9, 991, 0), minute(9, 991, 0));
        failing.minutes[BEFORE + 5] = minute(9, 99_100, dead);
        let error = "no such host\nat line 3".to_owned();
        failing.cause = Some(Cause { error, first_at: Wall(first_at * 60_000_000) });
        said(failing)
    };
    assert_eq!(with(FEWEST - 1, 65).0, Severity::Ok);
    assert_eq!(
        with(FEWEST, 65),
        (Severity::Watch, "mail has a new error, 10 dead in 5 m 0 s: no such host".into())
    );
    assert_eq!(with(MANY_DEAD, 65).0, Severity::Bad);
    // It was seen before: not new.
    assert_eq!(with(MANY_DEAD - 1, -1).0, Severity::Ok);
}

#[test]
fn a_change_is_dated_to_the_minute_in_which_it_began() {
    let mut failing = queue(minute(1, 99, 0), minute(1, 99, 0));
    for counts in &mut failing.minutes[BEFORE + 6..] {
        *counts = minute(60, 40, 0);
    }
    let text = "mail fails 24 % of its attempts (1 % in the hour before), for 4 m 0 s";
    assert_eq!(said(failing), (Severity::Watch, text.into()));
}

#[test]
fn an_error_is_cut_where_a_sentence_ends() {
    let at = |letters: usize| shortened(&"ü".repeat(letters)).chars().count();
    assert_eq!((at(CAUSE), at(CAUSE + 1)), (CAUSE, CAUSE + 1));
    assert!(shortened(&"ü".repeat(CAUSE + 1)).ends_with('…'));
    assert_eq!(shortened(""), "");
}
