//! Rates, from counts per minute that only ever grow.
//!
//! The server counts exactly, by the minute. Two looks at the same minutes tell what happened between them, to the job: also
//! where finished jobs are not kept, or were deleted meanwhile, so that the number of finished jobs would tell nothing.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ganger_server::api::TimeseriesBody;

/// Looks that are remembered: what the sparkline shows.
const STEPS: usize = 60;
/// A rate is that of this long.
const WINDOW: Duration = Duration::from_secs(10);

/// Counts by minute, by queue.
type Lines = BTreeMap<String, BTreeMap<i64, u64>>;

/// What the server told in one look.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    ended: Lines,
    came: Lines,
    failed: Lines,
    succeeded: BTreeMap<String, u64>,
    p95_wait: Option<Duration>,
}

impl Totals {
    pub(super) fn new(
        ended: &TimeseriesBody,
        came: &TimeseriesBody,
        failed: &TimeseriesBody,
        wait: &TimeseriesBody,
    ) -> Totals {
        let named = |line: &ganger_server::api::SeriesBody| line.name.clone().unwrap_or_default();
        let succeeded = ended.series.iter().map(|line| (named(line), line.total.succeeded.unwrap_or(0)));
        let p95 = wait.series.first().and_then(|line| line.total.p95_ms);
        Totals {
            ended: lines(ended),
            came: lines(came),
            failed: lines(failed),
            succeeded: succeeded.collect(),
            p95_wait: p95.map(|millis| Duration::from_secs_f64(millis.max(0.0) / 1e3)),
        }
    }
}

fn lines(body: &TimeseriesBody) -> Lines {
    let line = |line: &ganger_server::api::SeriesBody| {
        let points = line.points.iter().map(|point| (point.at.0, point.figure.count));
        (line.name.clone().unwrap_or_default(), points.collect())
    };
    body.series.iter().map(line).collect()
}

/// What happened between two looks.
#[derive(Clone, Debug)]
struct Step {
    at: Duration,
    took: Duration,
    ended: BTreeMap<String, u64>,
    came: BTreeMap<String, u64>,
}

/// Rates, now and over the last minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    last: Option<(Duration, Totals)>,
    steps: VecDeque<Step>,
}

impl Pace {
    /// Takes in what the server told at that time.
    pub(super) fn take(&mut self, at: Duration, totals: Totals) {
        if let Some((before, last)) = &self.last {
            let took = at.saturating_sub(*before);
            if took.is_zero() {
                return;
            }
            let ended = grown(&last.ended, &totals.ended);
            let came = grown(&last.came, &totals.came);
            self.steps.push_back(Step { at, took, ended, came });
            while self.steps.len() > STEPS {
                self.steps.pop_front();
            }
        }
        self.last = Some((at, totals));
    }

    /// After a pause nothing is known of the time between.
    pub(super) fn forget_steps(&mut self) {
        self.last = None;
        self.steps.clear();
    }

    /// Jobs that end per second, of a queue or of all.
    pub(super) fn out(&self, queue: Option<&str>) -> Option<f64> {
        self.rate(queue, |step| &step.ended)
    }

    /// Jobs that come per second.
    pub(super) fn into(&self, queue: Option<&str>) -> Option<f64> {
        self.rate(queue, |step| &step.came)
    }

    /// Jobs that ended per second, look by look.
    pub(super) fn history(&self) -> Vec<f64> {
        let per_second = |step: &Step| step.ended.values().sum::<u64>() as f64 / step.took.as_secs_f64();
        self.steps.iter().map(per_second).collect()
    }

    /// How many attempts of a hundred failed in the last ten minutes, if there were any.
    pub(super) fn failing(&self, queue: Option<&str>) -> Option<f64> {
        let (_, totals) = self.last.as_ref()?;
        let of = |name: &str| queue.is_none_or(|queue| queue == name);
        let named = totals.failed.iter().filter(|(name, _)| of(name));
        let failed: u64 = named.flat_map(|(_, minutes)| minutes.values()).sum();
        let well: u64 = totals.succeeded.iter().filter(|(name, _)| of(name)).map(|(_, count)| count).sum();
        (failed + well > 0).then(|| failed as f64 * 100.0 / (failed + well) as f64)
    }

    /// Jobs of a queue that ended, by the minute.
    pub(super) fn trend(&self, queue: &str) -> Vec<f64> {
        self.minutes(queue, |totals| &totals.ended)
    }

    /// Jobs of a queue that came, by the minute.
    pub(super) fn arrivals(&self, queue: &str) -> Vec<f64> {
        self.minutes(queue, |totals| &totals.came)
    }

    /// What 95 of 100 jobs did not wait longer than, in the last ten minutes.
    pub(super) fn p95_wait(&self) -> Option<Duration> {
        self.last.as_ref().and_then(|(_, totals)| totals.p95_wait)
    }

    fn minutes(&self, queue: &str, of: impl Fn(&Totals) -> &Lines) -> Vec<f64> {
        let minutes = self.last.as_ref().and_then(|(_, totals)| of(totals).get(queue));
        minutes.map(|minutes| minutes.values().map(|count| *count as f64).collect()).unwrap_or_default()
    }

    fn rate(&self, queue: Option<&str>, of: impl Fn(&Step) -> &BTreeMap<String, u64>) -> Option<f64> {
        let last = self.steps.back()?.at;
        let mut count = 0;
        let mut took = Duration::ZERO;
        for step in self.steps.iter().rev().take_while(|step| last.saturating_sub(step.at) < WINDOW) {
            let counts = of(step);
            count +=
                queue.map_or_else(|| counts.values().sum(), |queue| counts.get(queue).copied().unwrap_or(0));
            took += step.took;
        }
        Some(count as f64 / took.as_secs_f64())
    }
}

/// How much each line grew. Minutes that have left the span are over, and no longer grow.
fn grown(before: &Lines, now: &Lines) -> BTreeMap<String, u64> {
    let none = BTreeMap::new();
    let line = |(name, minutes): (&String, &BTreeMap<i64, u64>)| {
        let earlier = before.get(name).unwrap_or(&none);
        let more = |(at, count): (&i64, &u64)| count.saturating_sub(earlier.get(at).copied().unwrap_or(0));
        (name.clone(), minutes.iter().map(more).sum())
    };
    now.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(ended: &[(&str, &[(i64, u64)])]) -> Totals {
        let line = |(name, minutes): &(&str, &[(i64, u64)])| {
            ((*name).to_owned(), minutes.iter().copied().collect::<BTreeMap<_, _>>())
        };
        Totals { ended: ended.iter().map(line).collect(), ..Totals::default() }
    }

    #[test]
    fn a_rate_is_what_the_minutes_grew_by_also_across_a_minute() {
        let mut pace = Pace::default();
        let second = Duration::from_secs;
        pace.take(second(0), totals(&[("mail", &[(0, 5), (60, 100)])]));
        assert_eq!(pace.out(None), None, "one look tells no rate");
        pace.take(second(2), totals(&[("mail", &[(60, 110), (120, 10)]), ("web", &[(120, 2)])]));
        assert_eq!(pace.out(Some("mail")), Some(10.0));
        assert_eq!(pace.out(Some("web")), Some(1.0));
        assert_eq!(pace.out(None), Some(11.0));
        assert_eq!(pace.history(), [11.0]);
        assert_eq!(pace.trend("mail"), [110.0, 10.0]);
    }

    #[test]
    fn a_share_of_failures_needs_attempts() {
        let mut pace = Pace::default();
        assert_eq!(pace.failing(None), None);
        let mut seen = totals(&[]);
        seen.failed.insert("mail".into(), [(0, 1)].into());
        seen.succeeded.insert("mail".into(), 3);
        seen.succeeded.insert("web".into(), 96);
        pace.take(Duration::ZERO, seen);
        assert_eq!(pace.failing(Some("mail")), Some(25.0));
        assert_eq!(pace.failing(None), Some(1.0));
        assert_eq!(pace.failing(Some("none")), None);
    }

    #[test]
    fn the_history_is_bounded() {
        let mut pace = Pace::default();
        for n in 0..200 {
            pace.take(Duration::from_secs(n), totals(&[("mail", &[(0, n)])]));
        }
        assert_eq!(pace.history().len(), STEPS);
        assert_eq!(pace.out(None), Some(1.0));
    }
}
