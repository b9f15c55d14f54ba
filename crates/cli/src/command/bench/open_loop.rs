//! An open loop: jobs come at the moments of a schedule, whether those before are done or not.
//!
//! Nothing that is slow can make the generator ask less often. What cannot be sent in time is sent late, and every time is
//! taken against the moment of the schedule, so that the wait of whoever comes late counts.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::{JobId, Wall};
use hdrhistogram::Histogram;
use tokio::sync::{Mutex, mpsc};

use super::door::{Door, Entry, Wanted};
use super::report::{add, histogram};
use super::stage::Stage;
use crate::clock::{self, Stopwatch};
use crate::failure::Fallible;

/// Jobs come in bundles at least so far apart.
const BUNDLE: Duration = Duration::from_millis(2);
/// Most jobs of one bundle; if more are due, bundles come more often.
const MOST: f64 = 500.0;
/// The first bundle is due after this: the clients are ready by then.
pub(super) const LEAD: Duration = Duration::from_millis(50);
/// Requests under way at a time. Beyond that they wait, and their wait counts.
const CLIENTS: usize = 16;
/// Bundles that wait to be sent before the schedule itself waits. It is never full unless the server stands still.
const WAITING: usize = 100_000;

/// How many, how often, for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) per_second: f64,
    pub(super) lasts: Duration,
}

/// What was sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) ids: Vec<JobId>,
    /// One request.
    pub(super) requests: Histogram<u64>,
    /// How late requests were begun.
    pub(super) late: Histogram<u64>,
}

/// Jobs that are due at a moment: their numbers.
#[derive(Clone, Copy, Debug)]
struct Bundle {
    at: Wall,
    first: u64,
    end: u64,
}

/// Sends jobs by a schedule; `wanted` makes the job of a number for its planned moment. Returns when
/// everything is answered.
pub(super) async fn offer(
    stage: &Stage<'_>,
    offer: Offer,
    wanted: impl Fn(u64, Wall) -> Wanted,
) -> Fallible<Sent> {
    let mut entries = Vec::new();
    for _ in 0..CLIENTS {
        entries.push(Door::Grpc.enter(stage).await?);
    }
    let (sending, due) = mpsc::channel(WAITING);
    let due = Arc::new(Mutex::new(due));
    let (began, watch) = (clock::now() + LEAD, Stopwatch::start());
    // A thread that sleeps is on time to some fifty microseconds; the timers of the runtime only to a millisecond.
    let schedule = std::thread::spawn(move || tell(offer, began, watch, &sending));
    let clients = entries.into_iter().map(|entry| client(entry, &due, &wanted));
    let mut sent = Sent { ids: Vec::new(), requests: histogram()?, late: histogram()? };
    for own in futures::future::try_join_all(clients).await? {
        sent.ids.extend(own.ids);
        add(&mut sent.requests, &own.requests)?;
        add(&mut sent.late, &own.late)?;
    }
    // It has ended: the channel is closed.
    let _ = schedule.join();
    Ok(sent)
}

/// Tells each bundle at its moment.
fn tell(offer: Offer, began: Wall, watch: Stopwatch, sending: &mpsc::Sender<Bundle>) {
    let every = bundles_every(offer.per_second);
    let number = |after: Duration| (offer.per_second * after.as_secs_f64()).round() as u64;
    let mut after = Duration::ZERO;
    while after < offer.lasts {
        let next = (after + every).min(offer.lasts);
        let bundle = Bundle { at: began + after, first: number(after), end: number(next) };
        std::thread::sleep(watch.left_of(LEAD + after));
        if bundle.first < bundle.end && sending.blocking_send(bundle).is_err() {
            return;
        }
        after = next;
    }
    std::thread::sleep(watch.left_of(LEAD + offer.lasts));
}

/// How far apart bundles are.
fn bundles_every(per_second: f64) -> Duration {
    let shortest = Duration::from_secs_f64(MOST / per_second.max(1.0));
    let one = Duration::from_secs_f64(1.0 / per_second.max(0.01));
    BUNDLE.min(shortest).max(one)
}

async fn client(
    mut entry: Entry,
    due: &Mutex<mpsc::Receiver<Bundle>>,
    wanted: &impl Fn(u64, Wall) -> Wanted,
) -> Fallible<Sent> {
    let mut sent = Sent { ids: Vec::new(), requests: histogram()?, late: histogram()? };
    loop {
        let bundle = due.lock().await.recv().await;
        let Some(bundle) = bundle else { return Ok(sent) };
        let jobs: Vec<Wanted> = (bundle.first..bundle.end).map(|nth| wanted(nth, bundle.at)).collect();
        let late = u64::try_from(clock::now().0 - bundle.at.0).unwrap_or(0);
        sent.late.saturating_record(late);
        let one = Stopwatch::start();
        sent.ids.extend(entry.enqueue(&jobs, false).await?);
        sent.requests.saturating_record(one.elapsed().as_micros() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number once, in order, each at its moment, whatever the rate.
    #[test]
    fn a_schedule_has_every_job_once() {
        for per_second in [3.0, 700.0, 40_000.0, 900_000.0] {
            let (sending, mut due) = mpsc::channel(WAITING);
            let offer = Offer { per_second, lasts: Duration::from_millis(40) };
            tell(offer, Wall(0), Stopwatch::start(), &sending);
            drop(sending);
            let (mut next, mut before) = (0, Wall(-1));
            while let Ok(bundle) = due.try_recv() {
                assert!(bundle.first == next && bundle.at > before, "{per_second}: {bundle:?} after {next}");
                assert!(bundle.end - bundle.first <= MOST as u64 + 1);
                (next, before) = (bundle.end, bundle.at);
            }
            assert_eq!(next, (per_second * 0.04).round() as u64, "{per_second}");
        }
    }
}
