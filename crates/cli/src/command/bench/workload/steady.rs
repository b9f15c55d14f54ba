//! `steady`: how long jobs take, from the moment at which each was to be enqueued, under loads that stay the same.

use std::time::Duration;

use ganger_core::JobId;

use crate::clock::Stopwatch;
use crate::command::bench::crew::{Crew, Orders, TIMED, Taken, Timed};
use crate::command::bench::door::Wanted;
use crate::command::bench::drain::{self, Drained};
use crate::command::bench::open_loop::{self, Offer};
use crate::command::bench::report::{Measured, Row};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::command::bench::{intake, wrong};
use crate::failure::Fallible;

/// Jobs that are drained to know what a load is a part of.
const JOBS: u64 = 100_000;
/// The loads, as parts of that rate.
const LOADS: [f64; 3] = [0.25, 0.5, 0.75];
const CALIBRATION: &str = "bench.steady.full";

pub(super) async fn run(stage: &Stage<'_>) -> Fallible<Measured> {
    let mut measured = Measured::default();
    let mut crew = Crew::start(stage, &Orders::light(stage, 1, stage.sizes.threads, TIMED)).await?;
    let lasts = Duration::from_secs(stage.sizes.seconds);
    let mut loads: Vec<(Option<f64>, f64)> = Vec::new();
    if let Some(rate) = stage.sizes.rate {
        loads.push((None, rate as f64));
    } else {
        let jobs = stage.sizes.jobs(JOBS);
        stage.note(&format!("draining {jobs} jobs, to know what the loads are parts of"));
        let full = full(stage, jobs, &mut measured).await?;
        crew.take(stage).await?;
        measured.rows.push(full.row("drain", "drain, one light worker"));
        loads.extend(LOADS.map(|load| (Some(load), load * full.rate())));
    }
    for (nth, (load, per_second)) in loads.into_iter().enumerate() {
        let queue = format!("bench.steady.{nth}");
        let label = match load {
            Some(load) => format!("steady, {:.0}% of the drain: {per_second:.0} jobs/s", load * 100.0),
            None => format!("steady, {per_second:.0} jobs/s"),
        };
        stage.note(&label);
        let steady = Steady::run(stage, &mut crew, &queue, Offer { per_second, lasts }).await?;
        measured.looked_up(verify::all(stage, &queue, Expected::once(steady.ids.iter().copied())).await?);
        let mut row = steady.row("steady", label)?.param("offered_per_second", per_second.round());
        if let Some(load) = load {
            row = row.param("load", load);
        }
        measured.notes.extend(steady.fell_behind(per_second));
        measured.rows.push(row);
    }
    crew.stop(stage).await?;
    measured.settings =
        Settings::default().with("threads", stage.sizes.threads).with("seconds", stage.sizes.seconds);
    measured.settings = match stage.sizes.rate {
        Some(rate) => measured.settings.with("rate", rate),
        None => measured.settings.with("jobs", stage.sizes.jobs(JOBS)),
    };
    Ok(measured)
}

/// What one load did.
pub(super) struct Steady {
    pub(super) ids: Vec<JobId>,
    row: Row,
    taken: Taken,
    backlog: u64,
    catch_up: Duration,
}

impl Steady {
    /// Offers jobs of a schedule to a crew, and waits until all of them are recorded.
    pub(super) async fn run(
        stage: &Stage<'_>,
        crew: &mut Crew,
        queue: &str,
        offer: Offer,
    ) -> Fallible<Steady> {
        let before = stage.spent().await?;
        let began = Stopwatch::start();
        let offered = open_loop::offer(stage, offer, |_, at| {
            let payload = Timed { at: at.0, class: 0, ms: 0 }.payload();
            Wanted { kind: TIMED, queue: queue.into(), payload, ..Wanted::default() }
        });
        let at_the_end = async {
            tokio::time::sleep(open_loop::LEAD + offer.lasts).await;
            crew.take(stage).await
        };
        let (sent, mut taken) = tokio::try_join!(offered, at_the_end)?;
        let jobs = sent.ids.len() as u64;
        let backlog = jobs.saturating_sub(taken.recorded);
        let (mut seen, mut since) = (0, Stopwatch::start());
        while taken.recorded < jobs {
            taken.add(crew.take(stage).await?);
            if taken.recorded > seen {
                (seen, since) = (taken.recorded, Stopwatch::start());
            } else if since.left_of(drain::STUCK).is_zero() {
                return Err(wrong(format!("{seen} of {jobs} jobs of {queue} were recorded, and no more")));
            }
            tokio::time::sleep(drain::LOOK).await;
        }
        let took = began.elapsed().saturating_sub(open_loop::LEAD);
        let spent = stage.since(&before).await?;
        let row = Row::new("", "")
            .ran(jobs, took)
            .spent(&spent)
            .times("request", &sent.requests)
            .value("sent_late_us", sent.late.value_at_quantile(0.99) as f64);
        let catch_up = took.saturating_sub(offer.lasts);
        Ok(Steady { ids: sent.ids, row, taken, backlog, catch_up })
    }

    /// A row about it.
    pub(super) fn row(&self, name: &str, label: impl Into<String>) -> Fallible<Row> {
        let named = Row { name: name.into(), label: label.into(), ..self.row.clone() };
        Ok(named
            .times("start", &self.taken.starts(None)?)
            .times("recorded", &self.taken.records()?)
            .value("backlog_at_end", self.backlog as f64)
            .value("catch_up_seconds", self.catch_up.as_secs_f64()))
    }

    /// What to say if so many could not be kept up with.
    pub(super) fn fell_behind(&self, per_second: f64) -> Option<String> {
        // What is under way at any moment is no backlog.
        let much = per_second * 0.25;
        (self.backlog as f64 > much).then(|| {
            format!(
                "at {per_second:.0} jobs/s it fell behind: {} jobs waited at the end, for {:.1}s more",
                self.backlog,
                self.catch_up.as_secs_f64()
            )
        })
    }
}

/// The rate of the same workers when everything waits already.
async fn full(stage: &Stage<'_>, jobs: u64, measured: &mut Measured) -> Fallible<Drained> {
    stage.pause(CALIBRATION, true).await?;
    let payload = Timed { at: 0, class: 0, ms: 0 }.payload();
    let wanted = Wanted { kind: TIMED, queue: CALIBRATION.into(), payload, ..Wanted::default() };
    let came = intake::fill(stage, 0..jobs, |_| wanted.clone()).await?;
    let full = drain::drain(stage, CALIBRATION, jobs, jobs).await?;
    let ids = came.ids.into_iter().map(|(_, id)| id);
    measured.looked_up(verify::all(stage, CALIBRATION, Expected::once(ids)).await?);
    Ok(full)
}
