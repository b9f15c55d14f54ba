//! How long a job waits for its start while nothing else happens.
//!
//! The handler itself tells when it began, by the clock of the machine that the server shares: the way of its
//! result back is not part of a start. Its worker is one of this process.

use std::time::Duration;

use ganger_server::api::{JobBody, SubmittedBody};
use ganger_worker::{Ctx, Job, JobError, Worker};
use serde::de::IgnoredAny;
use uuid::Uuid;

use super::meter::Meter;
use super::report::{Spread, Start, histogram};
use super::{IDLE, payload};
use crate::client::{Call, with_query};
use crate::clock::{self, Stopwatch};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::local_worker::{stop_all, worker_failure};

/// The longest wait for one job.
const BOUND: Duration = Duration::from_secs(10);
/// Returns the moment at which its handler began, in microseconds since 1970.
const STARTED: Job<IgnoredAny, i64> = Job::new("bench.started");

async fn started(_: Ctx, _: IgnoredAny) -> Result<i64, JobError> {
    Ok(clock::now().0)
}

/// Enqueues jobs, each after the one before has ended, and hears when its handler began.
pub(super) async fn idle(meter: &Meter<'_>, jobs: u64) -> Fallible<Start> {
    let url = meter.processes.url().to_string();
    let worker = Worker::connect(url).name("bench").queues([IDLE]).handle(&STARTED, started);
    let worker = worker.start().await.map_err(|error| worker_failure(&error))?;
    worker.opened().await.map_err(|error| worker_failure(&error))?;
    let measured = one_by_one(meter, jobs).await;
    stop_all(&[worker], BOUND).await?;
    measured
}

async fn one_by_one(meter: &Meter<'_>, jobs: u64) -> Fallible<Start> {
    let client = meter.client;
    let body = format!("{{\"kind\":\"bench.started\",\"queue\":\"{IDLE}\",\"payload\":{}}}", payload());
    let before = meter.read().await?;
    let began = Stopwatch::start();
    let (mut starts, mut submits) = (histogram()?, histogram()?);
    for _ in 0..jobs {
        let watch = Stopwatch::start();
        let call = Call::submit("enqueue a job", "/v1/jobs", body.clone(), Uuid::new_v4().to_string());
        let id = client.send(&call).await?.read::<SubmittedBody>()?.id;
        submits.saturating_record(watch.elapsed().as_micros() as u64);
        let wait = Some(format!("{}s", BOUND.as_secs()));
        let path = with_query(&format!("/v1/jobs/{id}"), [("wait", wait)]);
        let done = client.send(&Call::get("wait for a job", path).waiting(BOUND)).await?.read::<JobBody>()?;
        let began: Option<i64> = done.result.as_ref().and_then(|result| result.get().parse().ok());
        let began = began.ok_or_else(|| {
            Failure::new(
                Exit::Failure,
                "a job did not end in time",
                format!("{id} is {}", done.state.as_str()),
                "",
            )
        })?;
        starts.saturating_record((began - done.created_at.0).max(0) as u64);
    }
    let took = began.elapsed();
    Ok(Start::new(jobs, took, Spread::of(&starts), Spread::of(&submits), meter.since(before).await?))
}
