//! How fast jobs are taken in: in batches, and one by one.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::future::try_join_all;
use ganger_core::{JobId, limits};
use ganger_server::api::{BatchBody, Durability, SubmittedBody};
use hdrhistogram::Histogram;
use uuid::Uuid;

use super::meter::Meter;
use super::report::{Buffered, Intake, Spread, histogram};
use super::{BUFFERED, SINGLE, drain, job, wrong};
use crate::client::{Call, Client};
use crate::clock::Stopwatch;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Batches under way at a time.
const BULK_CONNECTIONS: usize = 4;
/// However slow the disk, one by one takes no longer than this.
const SINGLE_BOUND: Duration = Duration::from_secs(30);

/// Enqueues so many jobs in full batches. Tells their ids, too.
pub(super) async fn bulk(meter: &Meter<'_>, one: &str, jobs: u64) -> Fallible<(Intake, HashSet<JobId>)> {
    let left = Arc::new(AtomicU64::new(jobs));
    let before = meter.read().await?;
    let watch = Stopwatch::start();
    let mut connections = Vec::new();
    for _ in 0..BULK_CONNECTIONS {
        connections.push(batches(meter.processes.client()?, one.to_owned(), left.clone()));
    }
    let mut ids = HashSet::with_capacity(usize::try_from(jobs).unwrap_or(0));
    let mut times = histogram()?;
    for (own, own_times) in try_join_all(connections).await? {
        ids.extend(own);
        add(&mut times, &own_times)?;
    }
    let took = watch.elapsed();
    let intake = Intake::new(jobs, took, Spread::of(&times), meter.since(before).await?);
    Ok((intake, ids))
}

/// Enqueues so many jobs one by one on several connections, each answered once it is in the store.
pub(super) async fn single(meter: &Meter<'_>, jobs: u64, connections: u16) -> Fallible<Intake> {
    let before = meter.read().await?;
    let (times, took) = on_connections(meter, &Single::durable(), jobs, connections).await?;
    Ok(Intake::new(times.len(), took, Spread::of(&times), meter.since(before).await?))
}

/// The same, but each is answered once Redis has it. What it cost is reckoned until all of them are in the store.
pub(super) async fn buffered(meter: &Meter<'_>, jobs: u64, connections: u16) -> Fallible<Buffered> {
    let before = meter.read().await?;
    let watch = Stopwatch::start();
    let (times, took) = on_connections(meter, &Single::buffered(), jobs, connections).await?;
    let jobs = times.len();
    drain::until(meter.client, BUFFERED, jobs, "have come into the store", |counts| counts.queued).await?;
    let stored = watch.elapsed();
    let intake = Intake::new(jobs, took, Spread::of(&times), meter.since(before).await?);
    Ok(Buffered::new(intake, stored))
}

/// A job that is sent alone.
#[derive(Clone, Debug)]
struct Single {
    body: Bytes,
    durability: Durability,
}

impl Single {
    fn durable() -> Single {
        Single { body: job(SINGLE).into(), durability: Durability::Durable }
    }

    fn buffered() -> Single {
        let durable = job(BUFFERED);
        let fields = durable.trim_end_matches('}');
        let body = format!("{fields},\"durability\":\"buffered\"}}").into();
        Single { body, durability: Durability::Buffered }
    }

    /// A request for it. Only one under a key may be repeated, and that is never buffered.
    fn call(&self) -> Call {
        let (what, path) = ("enqueue a job", "/v1/jobs");
        match self.durability {
            Durability::Durable => Call::submit(what, path, self.body.clone(), Uuid::new_v4().to_string()),
            Durability::Buffered => Call::submit_once(what, path, self.body.clone()),
        }
    }
}

async fn on_connections(
    meter: &Meter<'_>,
    one: &Single,
    jobs: u64,
    connections: u16,
) -> Fallible<(Histogram<u64>, Duration)> {
    let left = Arc::new(AtomicU64::new(jobs));
    let watch = Stopwatch::start();
    let mut tasks = Vec::new();
    for _ in 0..connections {
        tasks.push(one_by_one(meter.processes.client()?, one.clone(), left.clone(), watch));
    }
    let mut times = histogram()?;
    for own in try_join_all(tasks).await? {
        add(&mut times, &own)?;
    }
    Ok((times, watch.elapsed()))
}

async fn batches(
    client: Client,
    one: String,
    left: Arc<AtomicU64>,
) -> Fallible<(Vec<JobId>, Histogram<u64>)> {
    let mut ids = Vec::new();
    let mut times = histogram()?;
    while let Some(size) = take(&left, limits::BATCH_JOBS as u64) {
        let body =
            format!("{{\"jobs\":[{}]}}", vec![one.as_str(); usize::try_from(size).unwrap_or(1)].join(","));
        let watch = Stopwatch::start();
        let call = Call::submit("enqueue a batch", "/v1/jobs:batch", body, Uuid::new_v4().to_string());
        let answer = client.send(&call).await?;
        times.saturating_record(watch.elapsed().as_micros() as u64);
        let results = answer.read::<BatchBody>()?.results;
        ids.extend(results.into_iter().filter_map(|result| result.id));
    }
    Ok((ids, times))
}

async fn one_by_one(
    client: Client,
    job: Single,
    left: Arc<AtomicU64>,
    watch: Stopwatch,
) -> Fallible<Histogram<u64>> {
    let mut times = histogram()?;
    while !watch.left_of(SINGLE_BOUND).is_zero() && take(&left, 1).is_some() {
        let one = Stopwatch::start();
        let answer = client.send(&job.call()).await?;
        times.saturating_record(one.elapsed().as_micros() as u64);
        let durability = answer.read::<SubmittedBody>()?.durability;
        if durability != job.durability {
            return Err(wrong(format!("a job was to be {:?} and is {durability:?}", job.durability)));
        }
    }
    Ok(times)
}

/// Takes up to so many from what is left.
fn take(left: &AtomicU64, most: u64) -> Option<u64> {
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        (left > 0).then(|| left.saturating_sub(most))
    });
    taken.ok().map(|before| before.min(most))
}

fn add(sum: &mut Histogram<u64>, other: &Histogram<u64>) -> Fallible<()> {
    sum.add(other).map_err(|error| Failure::new(Exit::Failure, "cannot add up times", error, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_once() {
        let left = AtomicU64::new(2_500);
        let taken: Vec<u64> = std::iter::from_fn(|| take(&left, 1_000)).collect();
        assert_eq!(taken, [1_000, 1_000, 500]);
    }
}
