//! How fast waiting jobs are run, and that each of them ended exactly once.

use std::collections::HashSet;
use std::time::Duration;

use ganger_core::job::State;
use ganger_core::{JobId, limits};
use ganger_server::api::{CountsBody, JobPage, QueueBody};

use super::meter::Meter;
use super::report::Drain;
use super::{pause, wrong};
use crate::client::{Call, Client, with_query};
use crate::clock::Stopwatch;
use crate::failure::Fallible;

/// Between two looks at the counts.
const LOOK: Duration = Duration::from_millis(10);
/// Without any progress for this long something is wrong.
const STUCK: Duration = Duration::from_secs(60);

/// Opens a paused queue and waits until all its jobs have ended.
pub(super) async fn drain(meter: &Meter<'_>, queue: &str, jobs: u64) -> Fallible<Drain> {
    let before = meter.read().await?;
    let watch = Stopwatch::start();
    pause(meter.client, queue, false).await?;
    until(meter.client, queue, jobs, "have ended", |counts| counts.succeeded).await?;
    let took = watch.elapsed();
    Ok(Drain::new(jobs, took, meter.since(before).await?))
}

/// Waits until so many jobs of a queue are where they should be.
pub(super) async fn until(
    client: &Client,
    queue: &str,
    jobs: u64,
    what: &str,
    arrived: impl Fn(&CountsBody) -> u64,
) -> Fallible<()> {
    let (mut seen, mut since) = (0, Stopwatch::start());
    loop {
        let now = arrived(&counts(client, queue).await?);
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

/// Looks every job up: each that was acknowledged succeeded, at its first attempt, and nothing else is there.
pub(super) async fn verify(client: &Client, queue: &str, mut expected: HashSet<JobId>) -> Fallible<()> {
    let mut cursor = None;
    loop {
        let limit = Some(limits::PAGE_MAX.to_string());
        let path =
            with_query("/v1/jobs", [("queue", Some(queue.to_owned())), ("limit", limit), ("cursor", cursor)]);
        let page = client.send(&Call::get("list jobs", path)).await?.read::<JobPage>()?;
        for job in &page.items {
            if !expected.remove(&job.id) {
                return Err(wrong(format!("{} was listed twice, or never acknowledged", job.id)));
            }
            if job.state != State::Succeeded || job.attempt != 1 {
                return Err(wrong(format!(
                    "{} is {} after {} attempts",
                    job.id,
                    job.state.as_str(),
                    job.attempt
                )));
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    match expected.len() {
        0 => Ok(()),
        lost => Err(wrong(format!("{lost} acknowledged jobs are not there"))),
    }
}

async fn counts(client: &Client, queue: &str) -> Fallible<CountsBody> {
    let call = Call::get(format!("get queue {queue}"), format!("/v1/queues/{queue}"));
    Ok(client.send(&call).await?.read::<QueueBody>()?.jobs)
}
