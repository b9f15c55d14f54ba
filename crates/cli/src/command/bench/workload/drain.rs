//! `drain`: how fast waiting jobs are run by one worker process, beside the raw ceiling of the database.

use super::round::Round;
use crate::command::bench::report::Measured;
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::failure::Fallible;

/// How many jobs, unless the user says so.
const JOBS: u64 = 200_000;

pub(super) async fn run(stage: &mut Stage<'_>) -> Fallible<Measured> {
    stage.hire().await?;
    let (jobs, of) = (stage.sizes.jobs(JOBS), stage.sizes.rounds);
    let mut rounds = Vec::new();
    let mut measured = Measured::default();
    for nth in 1..=of {
        stage.note(&format!("round {nth} of {of}: {jobs} jobs in batches"));
        let round = Round::run(stage, &format!("bench.bulk.{nth}"), jobs).await?;
        let verified = measured.verified.get_or_insert_default();
        (verified.jobs, verified.how) = (verified.jobs + round.verified.jobs, round.verified.how);
        rounds.push(round);
    }
    let shares = || rounds.iter().map(Round::share);
    let (least, most) =
        shares().fold((f64::MAX, 0.0f64), |(least, most), share| (least.min(share), most.max(share)));
    let best = rounds.iter().map(|round| round.drain.rate()).fold(0.0, f64::max);
    let median = Round::median(rounds)?;
    let label = format!("drain, one worker of {} threads", stage.sizes.threads);
    let share = median.share();
    let drain = median
        .drain
        .row("drain", label)
        .value("share_of_ceiling", share)
        .value("share_least", least)
        .value("share_most", most)
        .value("store_busy", median.drain.store_busy())
        .value("best_jobs_per_second", best);
    let spread = if of < 2 {
        String::new()
    } else {
        format!(" (median of {of} rounds: {:.0}% to {:.0}%)", least * 100.0, most * 100.0)
    };
    let busy = median.drain.store_busy() * 100.0;
    measured.notes.push(format!(
        "drain: {:.0}% of the raw ceiling, the store busy for {busy:.0}% of it{spread}",
        share * 100.0
    ));
    if let (false, Some(taken), Some(run)) =
        (stage.target.is_embedded(), median.bulk.store_bytes_per_job, drain.store_bytes_per_job)
    {
        let life = taken + run;
        measured
            .notes
            .push(format!("WAL over the life of a job: {life:.0} bytes (enqueued in bulk, and drained)"));
    }
    measured.settings = Settings::default()
        .with("jobs", jobs)
        .with("threads", stage.sizes.threads)
        .with("rounds", of)
        .with("retention", if stage.sizes.keeps() { "kept" } else { "none" });
    measured.rows = vec![median.bulk, drain];
    measured.ceiling = Some(median.ceiling);
    Ok(measured)
}
