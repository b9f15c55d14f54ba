//! `ping`: how long a job waits for its start while nothing else happens.
//!
//! The handler itself tells when it began, by the clock of the machine that the server shares: the way of its
//! result back is not part of a start. Its worker is one of the SDK, in this process.

use std::time::Duration;

use ganger_server::api::{JobBody, SubmittedBody};
use ganger_worker::{Ctx, Job, JobError, Worker};
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::client::{Call, with_query};
use crate::clock::{self, Stopwatch};
use crate::command::bench::ceiling;
use crate::command::bench::door::Wanted;
use crate::command::bench::report::{Measured, Row, histogram};
use crate::command::bench::sizes::Settings;
use crate::command::bench::stage::Stage;
use crate::command::bench::verify::{self, Expected};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::local_worker::{stop_all, worker_failure};

/// The longest wait for one job.
const BOUND: Duration = Duration::from_secs(10);
/// Jobs of the ceiling: enough for the time of one commit.
const CEILING: u64 = 1_000;
const QUEUE: &str = "bench.idle";
const KIND: &str = "bench.started";
/// Returns the moment at which its handler began, in microseconds since 1970.
const STARTED: Job<IgnoredAny, i64> = Job::new(KIND);

async fn started(_: Ctx, _: IgnoredAny) -> Result<i64, JobError> {
    Ok(clock::now().0)
}

/// Enqueues jobs, each after the one before has ended, and hears when its handler began.
pub(super) async fn run(stage: &Stage<'_>) -> Fallible<Measured> {
    let worker = Worker::connect(stage.url()).name("bench").queues([QUEUE]).handle(&STARTED, started);
    let worker = worker.start().await.map_err(|error| worker_failure(&error))?;
    worker.opened().await.map_err(|error| worker_failure(&error))?;
    stage.note(&format!("starting {} jobs, one after the other", stage.sizes.starts));
    let measured = one_by_one(stage, stage.sizes.starts).await;
    stop_all(&[worker], BOUND).await?;
    let mut measured = measured?;
    let ceiling = ceiling::measure(stage, CEILING, 100).await?;
    let p50 = measured.rows[0].latency_us.get("start").map_or(0, |start| start.p50);
    let ratio = |of: u64| p50 as f64 / (of.max(1) as f64);
    let page = ceiling.page_us.map(|page| format!(", {:.1} of the disk", ratio(page.p50)));
    let commits = ratio(ceiling.one_us.p50);
    measured.notes.push(format!(
        "start: {commits:.1} commits of {}{} (p50)",
        ceiling.database,
        page.unwrap_or_default()
    ));
    let row = measured.rows.remove(0).value("commits_of_the_store", commits);
    measured.rows.insert(0, row);
    measured.settings = Settings::default().with("starts", stage.sizes.starts);
    measured.ceiling = Some(ceiling);
    Ok(measured)
}

async fn one_by_one(stage: &Stage<'_>, jobs: u64) -> Fallible<Measured> {
    let body =
        format!("{{\"kind\":\"{KIND}\",\"queue\":\"{QUEUE}\",\"payload\":{}}}", Wanted::noop(QUEUE).payload);
    let before = stage.spent().await?;
    let watch = Stopwatch::start();
    let (mut starts, mut requests, mut ids) = (histogram()?, histogram()?, Vec::new());
    for _ in 0..jobs {
        let one = Stopwatch::start();
        let call = Call::submit("enqueue a job", "/v1/jobs", body.clone(), Uuid::new_v4().to_string());
        let id = stage.client.send(&call).await?.read::<SubmittedBody>()?.id;
        requests.saturating_record(one.elapsed().as_micros() as u64);
        let wait = Some(format!("{}s", BOUND.as_secs()));
        let path = with_query(&format!("/v1/jobs/{id}"), [("wait", wait)]);
        let call = Call::get("wait for a job", path).waiting(BOUND);
        let done = stage.client.send(&call).await?.read::<JobBody>()?;
        let began: Option<i64> = done.result.as_ref().and_then(|result| result.get().parse().ok());
        let began = began.ok_or_else(|| {
            let why = format!("{id} is {}", done.state.as_str());
            Failure::new(Exit::Failure, "a job did not end in time", why, "")
        })?;
        starts.saturating_record((began - done.created_at.0).max(0) as u64);
        ids.push(id);
    }
    let took = watch.elapsed();
    let row = Row::new("ping", "enqueue to start, idle")
        .ran(jobs, took)
        .spent(&stage.since(&before).await?)
        .times("start", &starts)
        .times("request", &requests);
    let mut measured = Measured { rows: vec![row], ..Measured::default() };
    measured.looked_up(verify::all(stage, QUEUE, Expected::once(ids)).await?);
    Ok(measured)
}
