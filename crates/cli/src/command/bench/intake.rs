//! How fast jobs are taken in: many clients, so many jobs per request, through a door.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::try_join_all;
use ganger_core::{JobId, limits};
use hdrhistogram::Histogram;

use super::door::{Door, Entry, Wanted};
use super::report::{add, histogram};
use super::stage::Stage;
use crate::clock::Stopwatch;
use crate::failure::Fallible;

/// Batches under way at a time while a queue is filled.
pub(super) const FILLING: u16 = 4;

/// How jobs are to come in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) door: Door,
    pub(super) per_request: u64,
    pub(super) connections: u16,
    pub(super) buffered: bool,
    /// No request begins after this.
    pub(super) bound: Option<Duration>,
}

/// What came in.
#[derive(Debug)]
pub(super) struct Came {
    /// The ids, each with its number from 0.
    pub(super) ids: Vec<(u64, JobId)>,
    /// One request.
    pub(super) requests: Histogram<u64>,
    pub(super) took: Duration,
}

impl Came {
    /// How many.
    pub(super) fn jobs(&self) -> u64 {
        self.ids.len() as u64
    }
}

impl Way {
    /// In full batches over REST.
    pub(super) const FULL: Way = Way {
        door: Door::Rest,
        per_request: limits::BATCH_JOBS as u64,
        connections: FILLING,
        buffered: false,
        bound: None,
    };
}

/// Enqueues jobs with these numbers, each as `wanted` says.
pub(super) async fn enqueue(
    stage: &Stage<'_>,
    way: Way,
    numbers: Range<u64>,
    wanted: impl Fn(u64) -> Wanted,
) -> Fallible<Came> {
    let mut entries = Vec::new();
    for _ in 0..way.connections {
        entries.push(way.door.enter(stage).await?);
    }
    let next = Arc::new(AtomicU64::new(numbers.start));
    let watch = Stopwatch::start();
    let clients = entries.into_iter().map(|entry| client(entry, way, &next, numbers.end, &wanted, watch));
    let mut came = Came { ids: Vec::new(), requests: histogram()?, took: Duration::ZERO };
    for (ids, times) in try_join_all(clients).await? {
        came.ids.extend(ids);
        add(&mut came.requests, &times)?;
    }
    came.took = watch.elapsed();
    Ok(came)
}

/// Fills a queue as fast as it can be.
pub(super) async fn fill(
    stage: &Stage<'_>,
    numbers: Range<u64>,
    wanted: impl Fn(u64) -> Wanted,
) -> Fallible<Came> {
    enqueue(stage, Way::FULL, numbers, wanted).await
}

async fn client(
    mut entry: Entry,
    way: Way,
    next: &AtomicU64,
    end: u64,
    wanted: &impl Fn(u64) -> Wanted,
    watch: Stopwatch,
) -> Fallible<(Vec<(u64, JobId)>, Histogram<u64>)> {
    let (mut ids, mut times) = (Vec::new(), histogram()?);
    while way.bound.is_none_or(|bound| !watch.left_of(bound).is_zero()) {
        let first = next.fetch_add(way.per_request, Ordering::Relaxed);
        let numbers = first..(first + way.per_request).min(end);
        if numbers.is_empty() {
            break;
        }
        let jobs: Vec<Wanted> = numbers.clone().map(wanted).collect();
        let one = Stopwatch::start();
        let made = entry.enqueue(&jobs, way.buffered).await?;
        times.saturating_record(one.elapsed().as_micros() as u64);
        ids.extend(numbers.zip(made));
    }
    Ok((ids, times))
}
