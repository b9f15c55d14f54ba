//! `blocked`: how fast jobs are run that stand behind as many of a closed key.

use std::time::Duration;

use ganger_server::api::{HumanDuration, KeyClose};

use crate::client::Call;
use crate::command::bench::door::Wanted;
use crate::command::bench::report::Measured;
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{drain, intake, json};
use crate::failure::Fallible;

/// How many jobs, unless the user says so.
const JOBS: u64 = 100_000;
/// Jobs that nothing stands in the way of.
const FREE: &str = "bench.free";
/// Jobs that wait behind those of a closed key.
const PARKED: &str = "bench.parked";
/// The key that is closed.
const KEY: &str = "closed";
/// For longer than anything here takes.
const CLOSED_FOR: Duration = Duration::from_secs(24 * 3600);

pub(super) async fn run(stage: &mut Stage<'_>) -> Fallible<Measured> {
    stage.hire().await?;
    let jobs = stage.sizes.jobs(JOBS);
    let mut measured = Measured::default();
    stage.note(&format!("{jobs} jobs with nothing in front of them"));
    stage.pause(FREE, true).await?;
    let free = intake::fill(stage, 0..jobs, |_| Wanted::noop(FREE)).await?;
    let without = drain::drain(stage, FREE, jobs, jobs).await?;
    measured
        .looked_up(verify::all(stage, FREE, Expected::once(free.ids.into_iter().map(|(_, id)| id))).await?);
    stage.note(&format!("{jobs} jobs of a closed key, and {jobs} others behind them"));
    stage.pause(PARKED, true).await?;
    close(stage).await?;
    let keyed = Wanted { concurrency_key: Some(KEY), ..Wanted::noop(PARKED) };
    intake::fill(stage, 0..jobs, |_| keyed.clone()).await?;
    let behind = intake::fill(stage, 0..jobs, |_| Wanted::noop(PARKED)).await?;
    let with = drain::drain(stage, PARKED, 2 * jobs, jobs).await?;
    let expected = Expected::once(behind.ids.into_iter().map(|(_, id)| id));
    measured.looked_up(verify::ended(stage, PARKED, expected).await?);
    let share = with.rate() / without.rate().max(1.0);
    measured.notes.push(format!("drain behind a closed key: {:.0}% of the drain without", share * 100.0));
    measured.settings = Settings::default().with("jobs", jobs).with("threads", stage.sizes.threads);
    measured.rows = vec![
        without.row("drain", format!("drain, one worker of {} threads", stage.sizes.threads)),
        with.row("drain_behind", "\u{2026} behind as many jobs of a closed key")
            .param("blocked", jobs)
            .value("share_of_drain", share),
    ];
    Ok(measured)
}

async fn close(stage: &Stage<'_>) -> Fallible<()> {
    let close = KeyClose { for_: Some(HumanDuration(CLOSED_FOR)), until: None };
    let path = format!("/v1/queues/{PARKED}/keys/{KEY}:close");
    stage.client.send(&Call::submit_once(format!("close key {KEY}"), &path, json(&close)?)).await.map(drop)
}
