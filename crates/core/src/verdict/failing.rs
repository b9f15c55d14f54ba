//! Queues whose jobs fail: more than they did before, for a new cause, or all of them.
//!
//! A share of failures means little by itself: a crawler may fail a tenth of its attempts for years. So a queue is compared with
//! its own hour before. Jobs that die are lost work whatever was before, and a queue in which nothing succeeds is broken.

use std::time::Duration;

use super::{Finding, Severity, long};
use crate::minutes::{Counts, began, minute_of};
use crate::name::QueueName;
use crate::time::Wall;

/// Minutes that count as now.
pub const RECENT: usize = 10;
/// Minutes before those, with which they are compared.
pub const BEFORE: usize = 60;
/// Of fewer attempts, or fewer dead jobs, nothing is said.
pub const FEWEST: u64 = 10;
/// So many dead jobs of a new cause are bad.
pub const MANY_DEAD: u64 = 100;
/// A smaller share of failed attempts is never told, in percent.
pub const SHARE: u64 = 10;
/// From this share of failed attempts on it is bad, in percent.
pub const BAD_SHARE: u64 = 50;
/// It is told if it is so many times what it was.
pub const GROWN: u64 = 3;
/// From this share of ended jobs on, in percent, it is told that they die.
pub const DEATHS: u64 = 1;
/// From this share of ended jobs on, in percent, it is bad that they die.
pub const BAD_DEATHS: u64 = 10;
/// An error is cut to so many characters.
pub const CAUSE: usize = 80;

/// What happened in a queue, minute by minute.
#[derive(Clone, Debug, PartialEq)]
pub struct Failing {
    /// Its name.
    pub queue: QueueName,
    /// The minute of the first of `minutes`.
    pub first: i64,
    /// The last [`BEFORE`] and [`RECENT`] minutes, the oldest first; the last one still runs.
    pub minutes: Vec<Ended>,
    /// Why its attempts fail now, most of all.
    pub cause: Option<Cause>,
}

/// Why attempts fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The error.
    pub error: String,
    /// When it was first seen.
    pub first_at: Wall,
}

/// What ended in a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Attempts that failed.
    pub failed: u64,
    /// Jobs that succeeded, each by an attempt that did.
    pub succeeded: u64,
    /// Jobs that died.
    pub dead: u64,
    /// Jobs that ended, in whatever way.
    pub finished: u64,
}

impl From<&Counts> for Ended {
    fn from(counts: &Counts) -> Ended {
        let &Counts { failed, succeeded, dead, .. } = counts;
        Ended { failed, succeeded, dead, finished: counts.finished() }
    }
}

impl Ended {
    fn sum(minutes: &[Ended]) -> Ended {
        minutes.iter().fold(Ended::default(), |sum, minute| Ended {
            failed: sum.failed + minute.failed,
            succeeded: sum.succeeded + minute.succeeded,
            dead: sum.dead + minute.dead,
            finished: sum.finished + minute.finished,
        })
    }

    /// Attempts that ended.
    fn attempts(self) -> u64 {
        self.failed + self.succeeded
    }

    /// Failed attempts, in percent.
    fn share(self) -> u64 {
        (100 * self.failed).checked_div(self.attempts()).unwrap_or(0)
    }

    fn deaths(self) -> u64 {
        (100 * self.dead).checked_div(self.finished).unwrap_or(0)
    }

    fn all_fail(self) -> bool {
        self.attempts() >= FEWEST && self.succeeded == 0
    }
}

impl Failing {
    /// The worst that can be said of it, with how long that has been so in seconds.
    pub(super) fn finding(&self, now: Wall) -> Option<(u64, Finding)> {
        let split = self.minutes.len().saturating_sub(RECENT);
        let (before, recent) = self.minutes.split_at(split);
        let (before, recent, all) = (Ended::sum(before), Ended::sum(recent), Ended::sum(&self.minutes));
        let rules = [
            self.everything(recent, all, now),
            self.new_cause(now),
            self.more_than_before(before, recent, now),
            self.deaths(recent, now),
        ];
        let worst = rules.into_iter().flatten().reduce(|a, b| if b.0 > a.0 { b } else { a });
        let (severity, lasts, mut text) = worst?;
        if let Some(cause) = &self.cause {
            text.push_str(&format!(": {}", shortened(&cause.error)));
        }
        Some((lasts.as_secs(), Finding { severity, text, queue: Some(self.queue.clone()) }))
    }

    /// Nothing succeeds. One that fell silent is told of for an hour: its jobs are dead all the same.
    fn everything(&self, recent: Ended, all: Ended, now: Wall) -> Option<(Severity, Duration, String)> {
        let (severity, sum) = match (recent.all_fail(), all.all_fail()) {
            (true, _) => (Severity::Bad, recent),
            (false, true) => (Severity::Watch, all),
            (false, false) => return None,
        };
        let lasts = self.lasts(now, |sum| sum.succeeded == 0);
        let name = &self.queue;
        let text = format!("{name} fails every attempt ({} of {0}), for {}", sum.failed, long(lasts));
        Some((severity, lasts, text))
    }

    /// Many jobs died since an error was seen for the first time.
    fn new_cause(&self, now: Wall) -> Option<(Severity, Duration, String)> {
        let first_at = self.cause.as_ref()?.first_at;
        let minute = minute_of(first_at);
        let since = usize::try_from(minute - self.first).ok()?;
        let dead = Ended::sum(self.minutes.get(since..)?).dead;
        if dead < FEWEST {
            return None;
        }
        let severity = if dead >= MANY_DEAD { Severity::Bad } else { Severity::Watch };
        let lasts = now.since(first_at);
        Some((severity, lasts, format!("{} has a new error, {dead} dead in {}", self.queue, long(lasts))))
    }

    fn more_than_before(
        &self,
        before: Ended,
        recent: Ended,
        now: Wall,
    ) -> Option<(Severity, Duration, String)> {
        let (share, was) = (recent.share(), before.share());
        let known = before.attempts() >= FEWEST;
        if recent.attempts() < FEWEST || share < SHARE || (known && share < GROWN * was.max(1)) {
            return None;
        }
        let severity = if share >= BAD_SHARE { Severity::Bad } else { Severity::Watch };
        let lasts = self.lasts(now, |sum| 2 * sum.share() >= share);
        let was = if known { format!(" ({was} % in the hour before)") } else { String::new() };
        let text = format!("{} fails {share} % of its attempts{was}, for {}", self.queue, long(lasts));
        Some((severity, lasts, text))
    }

    fn deaths(&self, recent: Ended, now: Wall) -> Option<(Severity, Duration, String)> {
        let share = recent.deaths();
        if recent.dead < FEWEST || share < DEATHS {
            return None;
        }
        let severity = if share >= BAD_DEATHS { Severity::Bad } else { Severity::Watch };
        let lasts = self.lasts(now, |sum| sum.dead > 0);
        let minutes = lasts.as_secs().div_ceil(60).clamp(1, RECENT as u64);
        let text = format!(
            "{} loses {} jobs a minute to failures, for {}",
            self.queue,
            recent.dead.div_ceil(minutes),
            long(lasts)
        );
        Some((severity, lasts, text))
    }

    /// For how long each minute in which an attempt ended has been so.
    fn lasts(&self, now: Wall, so: impl Fn(Ended) -> bool) -> Duration {
        let mut since = now;
        for (at, minute) in self.minutes.iter().enumerate().rev() {
            if minute.attempts() == 0 {
                continue;
            }
            if !so(*minute) {
                break;
            }
            since = began(self.first + i64::try_from(at).unwrap_or(0));
        }
        now.since(since)
    }
}

/// The first line of an error, as far as a sentence has room for it.
fn shortened(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(CAUSE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
#[path = "failing_tests.rs"]
mod tests;
