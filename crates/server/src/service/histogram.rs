//! How many jobs match, over time.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::Wall;
use ganger_core::job::State;
use ganger_store::read::ListQuery;

use super::search::Survey;
use super::{Answer, Service};

/// Matches over time.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Jobs that match, of all that were looked at.
    pub matched: u64,
    /// Length of each interval.
    pub step: Duration,
    /// The intervals, the oldest first.
    pub buckets: Vec<Bucket>,
    /// How much was looked at, from the newest on.
    pub survey: Survey,
}

/// One interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its first moment.
    pub at: Wall,
    /// Jobs taken in during it.
    pub count: u64,
    /// The same by state.
    pub states: BTreeMap<State, u64>,
}

impl Service {
    /// Counts the jobs of a query by when they were taken in, in intervals of equal length from the oldest match, or the
    /// query's first moment, to now, or its last. Of many jobs the newest are looked at.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn histogram(&self, query: ListQuery, buckets: usize) -> Answer<Histogram> {
        let (from, before) = (query.created_from, query.created_before);
        let mut found = Vec::new();
        let survey = self.survey(query, |job| found.push((job.created_at, job.state))).await?;
        // A little more than now: what came at this moment is counted.
        let before = before.unwrap_or(Wall(self.0.clock.now().wall.0.saturating_add(1)));
        let from = from.or_else(|| found.iter().map(|(at, _)| *at).min()).unwrap_or(before);
        let (step, buckets) = counted(&found, from, before, buckets);
        Ok(Histogram { matched: found.len() as u64, step: Duration::from_micros(step), buckets, survey })
    }
}

/// The intervals, and the length of each in microseconds: whole milliseconds.
fn counted(found: &[(Wall, State)], from: Wall, before: Wall, buckets: usize) -> (u64, Vec<Bucket>) {
    let span = before.0.abs_diff(from.0.min(before.0));
    let step = span.div_ceil(buckets as u64).div_ceil(1_000).max(1) * 1_000;
    let count = usize::try_from(span.div_ceil(step)).unwrap_or(buckets).clamp(1, buckets);
    let mut made: Vec<Bucket> = (0..count as u64)
        .map(|n| Bucket {
            at: Wall(from.0.saturating_add_unsigned(n * step)),
            count: 0,
            states: BTreeMap::new(),
        })
        .collect();
    for (at, state) in found {
        let place =
            usize::try_from(at.0.saturating_sub(from.0).max(0).unsigned_abs() / step).unwrap_or(count);
        let bucket = &mut made[place.min(count - 1)];
        bucket.count += 1;
        *bucket.states.entry(*state).or_default() += 1;
    }
    (step, made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_is_counted_in_the_interval_of_its_moment() {
        let at = |ms: i64| (Wall(ms * 1_000), State::Dead);
        let (step, buckets) = counted(&[at(0), at(9), at(10), at(29)], Wall(0), Wall(30_000), 3);
        assert_eq!(step, 10_000);
        assert_eq!(buckets.iter().map(|b| b.count).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(buckets[2].at, Wall(20_000));
        assert_eq!(buckets[0].states[&State::Dead], 2);
    }

    #[test]
    fn any_span_has_at_least_one_interval_and_at_most_as_many_as_asked_for() {
        for (from, before, most) in
            [(0, 0, 5), (5, 0, 5), (0, 1, 500), (0, 7_001, 7), (i64::MIN, i64::MAX, 500)]
        {
            let (step, buckets) = counted(&[(Wall(0), State::Queued)], Wall(from), Wall(before), most);
            assert!(step >= 1_000 && (1..=most).contains(&buckets.len()), "{from} {before} {most}");
            assert_eq!(buckets.iter().map(|b| b.count).sum::<u64>(), 1);
        }
    }
}
