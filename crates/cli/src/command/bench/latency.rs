//! How long a job waits for its start while nothing else happens.

use std::time::Duration;

use ganger_server::api::{AttemptsBody, JobBody, SubmittedBody};
use uuid::Uuid;

use super::meter::Meter;
use super::report::{Spread, Start, histogram};
use super::{IDLE, job};
use crate::client::{Call, with_query};
use crate::clock::Stopwatch;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The longest wait for one job.
const BOUND: Duration = Duration::from_secs(10);

/// Enqueues jobs, each after the one before has ended, and sees when its handler began.
pub(super) async fn idle(meter: &Meter<'_>, jobs: u64) -> Fallible<Start> {
    let (client, body) = (meter.client, job(IDLE));
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
        let path = format!("/v1/jobs/{id}/attempts");
        let attempts = client.send(&Call::get("list attempts", path)).await?.read::<AttemptsBody>()?;
        let first = attempts.items.first().ok_or_else(|| {
            Failure::new(
                Exit::Failure,
                "a job did not start in time",
                format!("{id} is {}", done.state.as_str()),
                "",
            )
        })?;
        starts.saturating_record(first.started_at.since(done.created_at).as_micros() as u64);
    }
    let took = began.elapsed();
    Ok(Start::new(jobs, took, Spread::of(&starts), Spread::of(&submits), meter.since(before).await?))
}
