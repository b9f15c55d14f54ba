//! `fair`: how fast jobs of a million fairness keys are run, beside as many of one key.

use crate::command::bench::door::Wanted;
use crate::command::bench::drain::Drained;
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{drain, intake};
use crate::failure::Fallible;

/// How many jobs wait, and keys there are, unless the user says so.
const JOBS: u64 = 1_000_000;
/// One in so many is run while the others wait.
const RUN: u64 = 5;

pub(super) async fn run(stage: &mut Stage<'_>) -> Fallible<Measured> {
    stage.hire().await?;
    let jobs = stage.sizes.jobs(JOBS);
    let mut measured = Measured::default();
    let one = with_keys(stage, 1, jobs, &mut measured).await?;
    let many = with_keys(stage, jobs, jobs, &mut measured).await?;
    let share = many.rate() / one.rate().max(1.0);
    measured.notes.push(format!("with {jobs} keys: {:.0}% of the rate with one", share * 100.0));
    measured.rows = vec![one, many.value("share_of_one_key", share)];
    measured.settings = Settings::default().with("jobs", jobs).with("threads", stage.sizes.threads);
    Ok(measured)
}

/// Fills a queue with jobs of so many keys in turn, and runs a part of them.
async fn with_keys(stage: &Stage<'_>, keys: u64, jobs: u64, measured: &mut Measured) -> Fallible<Row> {
    let queue = format!("bench.fair.{keys}");
    stage.note(&format!("{jobs} jobs of {keys} keys, of which {} are run", jobs / RUN));
    stage.pause(&queue, true).await?;
    let before = stage.resident();
    let came = intake::fill(stage, 0..jobs, |nth| Wanted {
        fair_key: Some(format!("key-{}", nth % keys)),
        ..Wanted::noop(&queue)
    })
    .await?;
    let bytes = stage.resident().saturating_sub(before) as f64 / jobs as f64;
    let drained: Drained = drain::drain(stage, &queue, jobs, jobs / RUN).await?;
    stage.pause(&queue, true).await?;
    drain::until(stage, &queue, 1, "have come to rest", |counts| u64::from(counts.running == 0)).await?;
    let expected = Expected::once(came.ids.into_iter().map(|(_, id)| id));
    measured.looked_up(verify::ended(stage, &queue, expected).await?);
    let label = format!("drain, {keys} fairness key{}", if keys == 1 { "" } else { "s" });
    Ok(drained.row("drain", label).param("keys", keys).value("bytes_per_queued_job", bytes))
}
