//! How fast waiting jobs are run.

use std::time::Duration;

use ganger_server::api::CountsBody;

use super::meter::Spent;
use super::report::{Measured, Row};
use super::stage::Stage;
use super::wrong;
use crate::clock::Stopwatch;
use crate::failure::Fallible;

/// Between two looks at the counts.
pub(super) const LOOK: Duration = Duration::from_millis(10);
/// Without any progress for this long something is wrong.
pub(super) const STUCK: Duration = Duration::from_secs(60);

/// How fast jobs were run.
#[derive(Clone, Debug)]
pub(super) struct Drained {
    pub(super) jobs: u64,
    pub(super) took: Duration,
    pub(super) spent: Spent,
}

impl Drained {
    /// A row about it.
    pub(super) fn row(&self, name: &str, label: impl Into<String>) -> Row {
        Row::new(name, label).ran(self.jobs, self.took).spent(&self.spent)
    }

    /// Jobs per second.
    pub(super) fn rate(&self) -> f64 {
        super::per_second(self.jobs, self.took)
    }

    /// Jobs that ended per commit, on average.
    pub(super) fn jobs_per_commit(&self) -> u64 {
        (self.jobs / self.spent.commits.max(1)).max(1)
    }

    /// Which part of the time a batch was with the store: 1 means that the rest keeps up with it.
    pub(super) fn store_busy(&self) -> f64 {
        self.spent.commit_seconds / self.took.as_secs_f64().max(1e-9)
    }
}

/// Drains of one sort, one after the other. Machines have neighbours, and their speed changes within seconds: the one in the middle (of
/// an even number the lower) is told, with the slowest and the fastest.
#[derive(Debug, Default)]
pub(super) struct Drains(Vec<Drained>);

impl Drains {
    /// And this one.
    pub(super) fn push(&mut self, drained: Drained) {
        self.0.push(drained);
    }

    /// A row about the one in the middle.
    pub(super) fn row(mut self, name: &str, label: impl Into<String>) -> Fallible<Row> {
        self.0.sort_by(|one, other| one.rate().total_cmp(&other.rate()));
        let middle = self.0.get(self.0.len().saturating_sub(1) / 2);
        let (Some(middle), Some(slowest), Some(fastest)) = (middle, self.0.first(), self.0.last()) else {
            return Err(wrong("nothing was drained".into()));
        };
        let row = middle.row(name, label).value("slowest_per_second", slowest.rate());
        Ok(row.value("fastest_per_second", fastest.rate()))
    }
}

/// Opens a paused queue that holds so many jobs, and waits until so many of them have ended.
pub(super) async fn drain(stage: &Stage<'_>, queue: &str, held: u64, wanted: u64) -> Fallible<Drained> {
    let before = stage.spent().await?;
    let watch = Stopwatch::start();
    stage.pause(queue, false).await?;
    until(stage, queue, wanted, "have ended", |counts| ended(counts, held)).await?;
    let (mut jobs, mut took) = (wanted, watch.elapsed());
    if wanted < held {
        // The rest goes on: what has ended meanwhile is part of it, and so is the time that it took.
        jobs = ended(&stage.counts(queue).await?, held);
        took = watch.elapsed();
    }
    Ok(Drained { jobs, took, spent: stage.since(&before).await? })
}

/// The same from a database at rest, for drains that are compared with each other: how long the last checkpoint is ago is
/// worth more than what distinguishes them.
pub(super) async fn drain_from_rest(
    stage: &Stage<'_>,
    queue: &str,
    held: u64,
    wanted: u64,
    measured: &mut Measured,
) -> Fallible<Drained> {
    if let Err(why) = stage.target.rest().await {
        measured.note_once(format!("drains began whenever the last checkpoint was: {why}"));
    }
    drain(stage, queue, held, wanted).await
}

/// Jobs that ended, of so many in all: what is not kept cannot be counted otherwise.
fn ended(counts: &CountsBody, held: u64) -> u64 {
    held.saturating_sub(live(counts))
}

/// Jobs of a queue that have not ended.
pub(super) fn live(counts: &CountsBody) -> u64 {
    counts.scheduled + counts.blocked + counts.queued + counts.running + counts.retrying
}

/// Waits until so many jobs of a queue are where they should be.
pub(super) async fn until(
    stage: &Stage<'_>,
    queue: &str,
    jobs: u64,
    what: &str,
    arrived: impl Fn(&CountsBody) -> u64,
) -> Fallible<()> {
    let (mut seen, mut since) = (0, Stopwatch::start());
    loop {
        let now = arrived(&stage.counts(queue).await?);
        if now >= jobs {
            return Ok(());
        }
        if now > seen {
            (seen, since) = (now, Stopwatch::start());
        } else if since.left_of(STUCK).is_zero() {
            return Err(wrong(format!("{seen} of {jobs} jobs of {queue} {what}, and no more for {STUCK:?}")));
        }
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drain_in_the_middle_is_told_with_the_slowest_and_the_fastest() {
        let mut drains = Drains::default();
        for seconds in [4, 1, 2] {
            drains.push(Drained { jobs: 1_000, took: Duration::from_secs(seconds), spent: Spent::default() });
        }
        let row = drains.row("drain", "drain").unwrap();
        assert_eq!(row.rate(), 500.0);
        assert_eq!(
            (&row.values["slowest_per_second"], &row.values["fastest_per_second"]),
            (&250.0.into(), &1_000.0.into())
        );
        assert!(Drains::default().row("drain", "drain").is_err());
    }
}
