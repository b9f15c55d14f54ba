//! What happens to a job after an attempt. One function decides it for every way an attempt ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::job::JobOptions;
use crate::outcome::Report;
use crate::retry::RetryPolicy;
use crate::sabotage::{self, Bug};

/// How a job's attempts have gone so far. Counts only what matters for what comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Standing {
    /// Number of the last attempt that was recorded; the next is one more.
    pub attempt: u32,
    /// Attempts that count against `max_attempts`. A replay sets it back to zero.
    pub burnt: u32,
    /// Workers lost in a row.
    pub lost: u32,
}

/// The part of a job's options that the rules need.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowance {
    /// Attempts allowed in all.
    pub max_attempts: u32,
    /// Workers lost in a row before quarantine.
    pub max_lost: u32,
    /// Delays between attempts.
    pub retry: RetryPolicy,
}

impl From<&JobOptions> for Allowance {
    fn from(o: &JobOptions) -> Allowance {
        Allowance { max_attempts: o.max_attempts, max_lost: o.max_lost, retry: o.retry.clone() }
    }
}

/// Why a job died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Death {
    /// It used up its attempts.
    Exhausted,
    /// Its handler said that trying again is pointless.
    Fatal,
    /// It took down too many workers in a row.
    Poison,
    /// It was not started in time.
    Expired,
    /// Its attempt was about to do what cannot be repeated, and nobody knows whether it did.
    Unknown,
}

impl Death {
    /// The reason as recorded with the job.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Death::Exhausted => "no attempts left",
            Death::Fatal => "failed fatally",
            Death::Poison => "crashes its worker",
            Death::Expired => "expired before it could start",
            Death::Unknown => "delivery unknown",
        }
    }
}

/// What becomes of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Final: it has a result.
    Succeeded,
    /// Final: a person stopped it.
    Cancelled,
    /// Final: to the dead-letter queue.
    Dead(Death),
    /// Another attempt after this long.
    Retry(Duration),
    /// Back to its old place in the queue; it costs no attempt.
    Requeue,
    /// Again after this long; it costs no attempt.
    Later(Duration),
    /// Its key is closed for this long, and it waits in its old place; without a key, later. It costs no attempt.
    Throttled(Duration),
}

/// How an attempt ended, as the leader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending<'a> {
    /// Its worker reported.
    Reported(&'a Report),
    /// Its session was closed.
    Lost,
    /// It did not stop within the grace after its timeout.
    TimedOut,
    /// It did not stop within the grace after a cancel.
    CancelledUnderGrace,
}

/// Decides what becomes of a job after an attempt, and how it stands then. `cancel_wanted` tells
/// whether a person asked for it to stop while it ran; `random` is for the jitter.
#[must_use]
pub fn after_attempt(
    before: Standing,
    allowance: &Allowance,
    ending: &Ending<'_>,
    cancel_wanted: bool,
    random: u64,
) -> (Standing, Next) {
    let unstarted = Standing { lost: 0, ..before };
    let ran = Standing { attempt: before.attempt + 1, burnt: before.burnt, lost: 0 };
    let burnt = Standing { burnt: before.burnt + 1, ..ran };

    let (standing, next) = match ending {
        Ending::Reported(Report::Ok(_)) => return (burnt, Next::Succeeded),
        Ending::Reported(Report::Fatal(_)) => return (burnt, Next::Dead(Death::Fatal)),
        Ending::Reported(Report::Cancelled) | Ending::CancelledUnderGrace if cancel_wanted => {
            return (burnt, Next::Cancelled);
        }
        Ending::Reported(Report::Error(_) | Report::Timeout | Report::Cancelled)
        | Ending::TimedOut
        | Ending::CancelledUnderGrace => (burnt, retry(&burnt, allowance, random)),
        Ending::Reported(Report::RetryAfter(delay, _)) => match retry(&burnt, allowance, random) {
            Next::Retry(_) => (burnt, Next::Retry(*delay)),
            over @ (Next::Dead(_)
            | Next::Succeeded
            | Next::Cancelled
            | Next::Requeue
            | Next::Later(_)
            | Next::Throttled(_)) => (burnt, over),
        },
        Ending::Reported(Report::Snooze(delay)) => (ran, Next::Later(*delay)),
        Ending::Reported(Report::Throttled(_)) if sabotage::active(Bug::ThrottledBurnsAttempt) => {
            (burnt, retry(&burnt, allowance, random))
        }
        Ending::Reported(Report::Throttled(delay)) => (ran, Next::Throttled(*delay)),
        Ending::Reported(Report::Released { started: false }) => (unstarted, Next::Requeue),
        // It may have had effects, and its client asked for one attempt at the most.
        Ending::Reported(Report::Released { started: true }) if allowance.max_attempts == 1 => {
            lost(before, burnt, allowance)
        }
        Ending::Reported(Report::Released { started: true }) => (ran, Next::Requeue),
        Ending::Lost => lost(before, burnt, allowance),
    };
    match next {
        Next::Retry(_) | Next::Requeue | Next::Later(_) | Next::Throttled(_) if cancel_wanted => {
            (standing, Next::Cancelled)
        }
        Next::Retry(_)
        | Next::Requeue
        | Next::Later(_)
        | Next::Throttled(_)
        | Next::Succeeded
        | Next::Cancelled
        | Next::Dead(_) => (standing, next),
    }
}

/// The same for an attempt whose mark stands: it was about to do what cannot be repeated. Unless it succeeded, failed
/// for good, or was stopped by a person, nobody knows whether it did, so only a person may have it run again.
#[must_use]
pub fn after_marked_attempt(
    before: Standing,
    allowance: &Allowance,
    ending: &Ending<'_>,
    cancel_wanted: bool,
    random: u64,
) -> (Standing, Next) {
    let (standing, next) = after_attempt(before, allowance, ending, cancel_wanted, random);
    let stopped = matches!(ending, Ending::Reported(Report::Cancelled) | Ending::CancelledUnderGrace);
    match next {
        Next::Succeeded | Next::Dead(Death::Fatal) => (standing, next),
        Next::Cancelled if stopped => (standing, next),
        Next::Retry(_) if sabotage::active(Bug::MarkedRunsAgain) => (standing, next),
        Next::Dead(_)
        | Next::Cancelled
        | Next::Retry(_)
        | Next::Requeue
        | Next::Later(_)
        | Next::Throttled(_) => (standing, Next::Dead(Death::Unknown)),
    }
}

fn retry(after: &Standing, allowance: &Allowance, random: u64) -> Next {
    if after.burnt >= allowance.max_attempts {
        Next::Dead(Death::Exhausted)
    } else {
        Next::Retry(allowance.retry.delay_with_jitter(after.burnt, random))
    }
}

fn lost(before: Standing, burnt: Standing, allowance: &Allowance) -> (Standing, Next) {
    let mut after = Standing { lost: before.lost + 1, ..burnt };
    if sabotage::active(Bug::LostNotCounted) {
        after.burnt = before.burnt;
        after.lost = before.lost;
    }
    let next = if after.lost >= allowance.max_lost {
        Next::Dead(Death::Poison)
    } else if after.burnt >= allowance.max_attempts {
        Next::Dead(Death::Exhausted)
    } else {
        // The job did nothing wrong that we know of: it runs elsewhere at once.
        Next::Retry(Duration::ZERO)
    };
    (after, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowance(max_attempts: u32, max_lost: u32) -> Allowance {
        Allowance { max_attempts, max_lost, retry: RetryPolicy::default() }
    }

    fn after(before: Standing, a: &Allowance, report: &Report) -> (Standing, Next) {
        after_attempt(before, a, &Ending::Reported(report), false, 0)
    }

    #[test]
    fn errors_retry_until_the_attempts_are_used_up() {
        let allowed = allowance(3, 3);
        let mut standing = Standing::default();
        let mut waits = Vec::new();
        loop {
            let (s, next) = after(standing, &allowed, &Report::Error("no".into()));
            standing = s;
            match next {
                Next::Retry(d) => waits.push(d.as_secs()),
                Next::Succeeded
                | Next::Cancelled
                | Next::Requeue
                | Next::Later(_)
                | Next::Throttled(_)
                | Next::Dead(_) => {
                    assert_eq!(next, Next::Dead(Death::Exhausted));
                    break;
                }
            }
        }
        assert_eq!(waits, [1, 2]);
        assert_eq!(standing, Standing { attempt: 3, burnt: 3, lost: 0 });
    }

    #[test]
    fn three_lost_workers_in_a_row_are_poison_and_a_failure_between_them_is_not() {
        let allowed = allowance(10, 3);
        let lost = |s| after_attempt(s, &allowed, &Ending::Lost, false, 0);
        let (s, next) = lost(Standing::default());
        assert_eq!(next, Next::Retry(Duration::ZERO));
        let (s, _) = lost(s);
        let (interrupted, _) = after(s, &allowed, &Report::Error("no".into()));
        assert_eq!(interrupted.lost, 0);
        let (s, next) = lost(s);
        assert_eq!(next, Next::Dead(Death::Poison));
        assert_eq!(s.burnt, 3);
    }

    /// The fourth story: a started job that may run once is handed back by a draining worker.
    #[test]
    fn a_started_job_of_one_attempt_is_never_started_again() {
        let once = allowance(1, 3);
        let (_, next) = after(Standing::default(), &once, &Report::Released { started: true });
        assert_eq!(next, Next::Dead(Death::Exhausted));
        let (s, next) = after(Standing::default(), &once, &Report::Released { started: false });
        assert_eq!((s.burnt, next), (0, Next::Requeue));
    }

    #[test]
    fn what_is_handed_back_or_snoozed_burns_no_attempt() {
        let allowed = allowance(2, 3);
        let (s, next) = after(Standing::default(), &allowed, &Report::Released { started: true });
        assert_eq!((s.attempt, s.burnt, next), (1, 0, Next::Requeue));
        let delay = Duration::from_secs(9);
        let (s, next) = after(s, &allowed, &Report::Snooze(delay));
        assert_eq!((s.attempt, s.burnt, next), (2, 0, Next::Later(delay)));
        let (s, next) = after(s, &allowed, &Report::Throttled(delay));
        assert_eq!((s.attempt, s.burnt, next), (3, 0, Next::Throttled(delay)));
    }

    #[test]
    fn a_handler_may_choose_its_delay_but_not_more_attempts() {
        let delay = Duration::from_secs(77);
        let report = Report::RetryAfter(delay, "429".into());
        assert_eq!(after(Standing::default(), &allowance(2, 3), &report).1, Next::Retry(delay));
        assert_eq!(after(Standing::default(), &allowance(1, 3), &report).1, Next::Dead(Death::Exhausted));
    }

    /// However it ends, it does not run again by itself.
    #[test]
    fn a_marked_attempt_is_never_repeated() {
        let allowed = allowance(5, 3);
        let after = |ending: &Ending<'_>, cancel: bool| {
            after_marked_attempt(Standing::default(), &allowed, ending, cancel, 0).1
        };
        let delay = Duration::from_secs(1);
        let unknown = [
            Report::Error("broken pipe".into()),
            Report::RetryAfter(delay, "later".into()),
            Report::Snooze(delay),
            Report::Throttled(delay),
            Report::Timeout,
            Report::Cancelled,
            Report::Released { started: true },
            Report::Released { started: false },
        ];
        for report in &unknown {
            assert_eq!(after(&Ending::Reported(report), false), Next::Dead(Death::Unknown), "{report:?}");
        }
        for ending in [Ending::Lost, Ending::TimedOut, Ending::CancelledUnderGrace] {
            assert_eq!(after(&ending, false), Next::Dead(Death::Unknown), "{ending:?}");
        }
        assert_eq!(after(&Ending::Lost, true), Next::Dead(Death::Unknown), "a cancel does not hide that");
        assert_eq!(after(&Ending::Reported(&Report::Ok("1".into())), false), Next::Succeeded);
        assert_eq!(after(&Ending::Reported(&Report::Fatal("no".into())), false), Next::Dead(Death::Fatal));
        assert_eq!(after(&Ending::Reported(&Report::Cancelled), true), Next::Cancelled);
    }

    #[test]
    fn a_wanted_cancel_stops_what_would_run_again_but_keeps_a_success() {
        let allowed = allowance(5, 3);
        let cancelled =
            |r: Report| after_attempt(Standing::default(), &allowed, &Ending::Reported(&r), true, 0).1;
        assert_eq!(cancelled(Report::Ok("1".into())), Next::Succeeded);
        assert_eq!(cancelled(Report::Cancelled), Next::Cancelled);
        assert_eq!(cancelled(Report::Error("x".into())), Next::Cancelled);
        assert_eq!(cancelled(Report::Released { started: false }), Next::Cancelled);
        let lost = after_attempt(Standing::default(), &allowed, &Ending::Lost, true, 0).1;
        assert_eq!(lost, Next::Cancelled);
    }
}
