//! Live events as Server-Sent Events.
//!
//! One task, the hub, follows the server's events, keeps the last few thousand and hands them to every
//! client. A client that comes back with `Last-Event-ID` gets what it missed, or `event: gap` if that
//! is no longer there; a client that is too slow gets `event: gap` too, and never holds up anyone.
//! Counts are not events: they are told at most twice a second, however much happens, with how things are in one sentence; and so
//! is how far each bulk operation is. While the server is busy it is less often ([`super::pace`]).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::HttpOptions;
use super::pace::{self, Pace};
use super::progress::Progress;
use ganger_core::Mono;
use ganger_core::event::Event;

use crate::accelerator::{Accelerator, Fed};
use crate::api::{OperationBody, StatsBody};
use crate::metrics::Metrics;
use crate::service::{Run, Service};

/// Events kept for clients that come back.
const RING: usize = 4096;
/// Events that a client may lag behind before it is told of a gap.
const LAG: usize = 4096;
/// Counts are told this often although nothing happened: how long the oldest waits is no event.
const COUNTS_AGAIN: Duration = Duration::from_secs(5);

/// Where an event stands: which life of the server, and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) epoch: u64,
    pub(super) number: u64,
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}-{}", self.epoch, self.number)
    }
}

impl std::str::FromStr for EventId {
    type Err = ();
    fn from_str(text: &str) -> Result<EventId, ()> {
        let (epoch, number) = text.split_once('-').ok_or(())?;
        let epoch = u64::from_str_radix(epoch, 16).map_err(|_| ())?;
        Ok(EventId { epoch, number: number.parse().map_err(|_| ())? })
    }
}

/// An event with its place.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) id: EventId,
    run: Arc<Run>,
    at: usize,
}

impl Told {
    /// What happened.
    pub(super) fn event(&self) -> &Event {
        &self.run.events[self.at]
    }
}

/// What a client hears.
#[derive(Clone, Debug)]
pub(super) enum Live {
    /// Something happened.
    Told(Told),
    /// How far a bulk operation is, as JSON.
    Operation(Arc<str>),
    /// Events were missed before they came here: so many, or nobody knows how many.
    Missed(Option<u64>),
}

/// What a new client begins with.
pub(super) struct Subscription {
    /// Some events between the client's last one and the first of `missed` are gone.
    pub(super) gap: bool,
    /// Events since the client's last one.
    pub(super) missed: Vec<Told>,
    /// The last event before those of `live`.
    pub(super) at: EventId,
    /// Events from now on.
    pub(super) live: broadcast::Receiver<Live>,
    /// The counts, as JSON, whenever they changed.
    pub(super) counts: watch::Receiver<Option<Arc<str>>>,
    /// How often they are told, as [`Pace::told`] tells it.
    pub(super) pace: watch::Receiver<u64>,
    /// Ends when the server stops.
    pub(super) stopping: CancellationToken,
    /// Counts the client until it goes.
    pub(super) seat: Seat,
}

/// Follows the server's events. Cheap to clone.
#[derive(Clone)]
pub(super) struct Hub(Arc<Inner>);

struct Inner {
    ring: Mutex<Ring>,
    live: broadcast::Sender<Live>,
    counts: watch::Sender<Option<Arc<str>>>,
    pace: watch::Sender<u64>,
    /// Something happened since the counts were last told.
    changed: AtomicBool,
    clients: AtomicUsize,
    most_clients: usize,
    metrics: Metrics,
    stopping: CancellationToken,
}

/// Whose events these are: numbers of different leaders have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Own,
    Fed,
}

struct Ring {
    epoch: u64,
    source: Source,
    last: u64,
    events: VecDeque<Told>,
}

impl Hub {
    /// Starts following.
    pub(super) fn start(
        receiver: broadcast::Receiver<Arc<Run>>,
        service: Service,
        options: &HttpOptions,
    ) -> Hub {
        let hub = Hub::new(options);
        let fed = service.accelerator().map(Accelerator::fed);
        tokio::spawn(hub.clone().follow(receiver, fed, service));
        hub
    }

    /// A hub that nothing feeds yet.
    pub(super) fn new(options: &HttpOptions) -> Hub {
        let epoch = (options.now)().wall.unix_millis();
        Hub(Arc::new(Inner {
            ring: Mutex::new(Ring { epoch, source: Source::Own, last: 0, events: VecDeque::new() }),
            live: broadcast::channel(LAG).0,
            counts: watch::channel(None).0,
            pace: watch::channel(0).0,
            changed: AtomicBool::new(true),
            clients: AtomicUsize::new(0),
            most_clients: options.event_clients,
            metrics: options.metrics.clone(),
            stopping: options.stopping.clone(),
        }))
    }

    async fn follow(
        self,
        mut receiver: broadcast::Receiver<Arc<Run>>,
        mut fed: Option<broadcast::Receiver<Fed>>,
        service: Service,
    ) {
        let (mut lagged, mut progress, mut counting) = (false, Progress::default(), Counting::default());
        let mut tick = Box::pin(tokio::time::sleep(pace::USUAL));
        loop {
            tokio::select! {
                () = self.0.stopping.cancelled() => return,
                received = receiver.recv() => match received {
                    Ok(run) => {
                        if std::mem::take(&mut lagged) {
                            self.missed_before(&run);
                        }
                        self.tell(run);
                    }
                    // How much that was shows in the numbers of the next one.
                    Err(broadcast::error::RecvError::Lagged(_)) => lagged = true,
                    Err(broadcast::error::RecvError::Closed) => return,
                },
                heard = next_fed(&mut fed) => self.hear(heard),
                () = &mut tick => {
                    self.tell_operations(&service, &mut progress);
                    self.tell_counts(&service, &mut counting).await;
                    tick.as_mut().reset(tokio::time::Instant::now() + counting.pace.every());
                }
            }
        }
    }

    /// Keeps events and hands them on.
    pub(super) fn tell(&self, run: Arc<Run>) {
        // Counted here, one step behind, so that the thread that decides has nothing to do with it.
        for event in &run.events {
            self.0.metrics.observe_event(event);
        }
        self.keep(run, Source::Own);
    }

    /// What another leader told, which is counted there.
    fn hear(&self, heard: Fed) {
        match heard {
            Fed::Events(run) => self.keep(run, Source::Fed),
            Fed::Dropped(missed) => self.missed(missed),
        }
    }

    /// Whoever listens must know.
    fn missed(&self, missed: Option<u64>) {
        self.0.metrics.events_dropped(missed.unwrap_or(0));
        let _ = self.0.live.send(Live::Missed(missed));
    }

    /// Events between the last one told and this run never came here.
    fn missed_before(&self, run: &Run) {
        let expected = self.ring().last + 1;
        self.missed(run.first.checked_sub(expected));
    }

    fn keep(&self, run: Arc<Run>, source: Source) {
        self.0.changed.store(true, Ordering::Relaxed);
        let mut ring = self.ring();
        if run.first <= ring.last || ring.source != source {
            // Numbers begin again: another leader, another epoch. Nobody can resume across it.
            ring.epoch += 1;
            ring.events.clear();
            ring.source = source;
        }
        ring.last = run.next() - 1;
        // Under the lock, as clients come: none misses or doubles an event.
        let listened = self.0.live.receiver_count() > 0;
        for (at, number) in (run.first..run.next()).enumerate() {
            let told = Told { id: EventId { epoch: ring.epoch, number }, run: run.clone(), at };
            if ring.events.len() == RING {
                ring.events.pop_front();
            }
            if listened {
                let _ = self.0.live.send(Live::Told(told.clone()));
            }
            ring.events.push_back(told);
        }
    }

    /// A new client, unless there are too many. `after` is the last event that it has seen.
    pub(super) fn subscribe(&self, after: Option<EventId>) -> Option<Subscription> {
        let seat = Seat::take(self)?;
        // A newcomer is told the counts at the next tick.
        self.0.changed.store(true, Ordering::Relaxed);
        let ring = self.ring();
        let live = self.0.live.subscribe();
        let (gap, missed) = match after {
            None => (false, Vec::new()),
            Some(after) if after.epoch != ring.epoch || after.number > ring.last => (true, Vec::new()),
            Some(after) => {
                let missed: Vec<Told> =
                    ring.events.iter().filter(|told| told.id.number > after.number).cloned().collect();
                let expected = ring.last - after.number;
                (missed.len() as u64 != expected, missed)
            }
        };
        let (counts, mut pace) = (self.0.counts.subscribe(), self.0.pace.subscribe());
        if *pace.borrow_and_update() > 0 {
            // A newcomer must know it as well.
            pace.mark_changed();
        }
        let stopping = self.0.stopping.clone();
        let at = EventId { epoch: ring.epoch, number: ring.last };
        Some(Subscription { gap, missed, at, live, counts, pace, stopping, seat })
    }

    /// So many follow.
    pub(super) fn clients(&self) -> usize {
        self.0.clients.load(Ordering::Relaxed)
    }

    /// Notes that a client was too slow.
    pub(super) fn lagged(&self, missed: u64) {
        self.0.metrics.events_dropped(missed);
    }

    fn tell_operations(&self, service: &Service, progress: &mut Progress) {
        let now = service.clock().now().wall;
        let news = service.operations_book().look(service, |operations| progress.news(operations, now));
        for operation in news.unwrap_or_default() {
            if let Ok(json) = serde_json::to_string(&OperationBody::from(operation)) {
                let _ = self.0.live.send(Live::Operation(json.into()));
            }
        }
    }

    async fn tell_counts(&self, service: &Service, counting: &mut Counting) {
        let listened = self.0.clients.load(Ordering::Relaxed) > 0;
        let before = service.clock().now().mono;
        let again = counting.last.is_none_or(|last| before.since(last) >= COUNTS_AGAIN);
        if !listened || !(self.0.changed.swap(false, Ordering::Relaxed) || again) {
            return;
        }
        let answer = service.stats_and_verdict().await;
        let after = service.clock().now().mono;
        counting.pace.took(after.since(before));
        self.0.pace.send_if_modified(|told| {
            let before = std::mem::replace(told, counting.pace.told());
            before != *told
        });
        let Ok((stats, verdict)) = answer else { return };
        counting.last = Some(after);
        // The counts by kind may be long; whoever wants them asks for them.
        let body = StatsBody { by_kind: Vec::new(), verdict: Some(verdict.into()), ..StatsBody::from(stats) };
        if let Ok(json) = serde_json::to_string(&body) {
            self.0.counts.send_replace(Some(json.into()));
        }
    }

    fn ring(&self) -> std::sync::MutexGuard<'_, Ring> {
        // A panic while the lock is held leaves whole events, never half of one.
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When the counts were last told, and how often they are.
#[derive(Default)]
struct Counting {
    last: Option<Mono>,
    pace: Pace,
}

/// Waits for ever if nothing feeds this server.
async fn next_fed(fed: &mut Option<broadcast::Receiver<Fed>>) -> Fed {
    let Some(receiver) = fed else { return std::future::pending().await };
    match receiver.recv().await {
        Ok(heard) => heard,
        Err(broadcast::error::RecvError::Lagged(missed)) => Fed::Dropped(Some(missed)),
        Err(broadcast::error::RecvError::Closed) => {
            *fed = None;
            Fed::Dropped(None)
        }
    }
}

/// One of the bounded number of clients.
pub(super) struct Seat(Hub);

impl Seat {
    fn take(hub: &Hub) -> Option<Seat> {
        let most = hub.0.most_clients;
        let add = |n: usize| (n < most).then_some(n + 1);
        hub.0.clients.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        Some(Seat(hub.clone()))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::tests::options;
    use crate::metrics::Cluster;
    use ganger_core::Wall;

    fn run(first: u64, length: usize) -> Arc<Run> {
        let queue = "mail".parse().unwrap();
        let event = Event::Queue { queue, paused: false, draining: false, at: Wall(0) };
        Arc::new(Run { first, events: vec![event; length] })
    }

    fn event(number: u64) -> Arc<Run> {
        run(number, 1)
    }

    fn numbers(events: &[Told]) -> Vec<u64> {
        events.iter().map(|told| told.id.number).collect()
    }

    #[test]
    fn a_client_that_comes_back_gets_what_it_missed() {
        let hub = Hub::new(&options());
        (1..=5).for_each(|n| hub.tell(event(n)));
        let epoch = hub.ring().epoch;
        let back = hub.subscribe(Some(EventId { epoch, number: 3 })).unwrap();
        assert_eq!((back.gap, numbers(&back.missed)), (false, vec![4, 5]));
        let fresh = hub.subscribe(None).unwrap();
        assert_eq!((fresh.gap, fresh.missed.len()), (false, 0));
        // A client that has heard nothing yet can come back to where it began.
        hub.tell(event(6));
        let back = hub.subscribe(Some(fresh.at)).unwrap();
        assert_eq!((back.gap, numbers(&back.missed)), (false, vec![6]));
    }

    #[test]
    fn the_events_of_a_run_are_told_one_by_one_and_resumed_within_it() {
        let hub = Hub::new(&options());
        let mut client = hub.subscribe(None).unwrap();
        hub.tell(run(1, 3));
        hub.tell(run(4, 2));
        let mut heard = Vec::new();
        while let Ok(Live::Told(told)) = client.live.try_recv() {
            heard.push(told.id.number);
        }
        assert_eq!(heard, [1, 2, 3, 4, 5]);
        let epoch = hub.ring().epoch;
        let back = hub.subscribe(Some(EventId { epoch, number: 2 })).unwrap();
        assert_eq!((back.gap, numbers(&back.missed)), (false, vec![3, 4, 5]));
    }

    #[test]
    fn how_much_was_missed_shows_in_the_numbers() {
        let hub = Hub::new(&options());
        hub.tell(run(1, 3));
        let mut client = hub.subscribe(None).unwrap();
        hub.missed_before(&run(10, 2));
        hub.tell(run(10, 2));
        assert!(matches!(client.live.try_recv(), Ok(Live::Missed(Some(6)))));
        assert!(matches!(client.live.try_recv(), Ok(Live::Told(told)) if told.id.number == 10));
        hub.missed_before(&run(1, 1));
        let mut rest = std::iter::from_fn(|| client.live.try_recv().ok());
        assert!(rest.any(|live| matches!(live, Live::Missed(None))), "another leader: nobody knows");
    }

    #[test]
    fn what_the_ring_no_longer_has_is_a_gap() {
        let hub = Hub::new(&options());
        (1..=RING as u64 + 2).for_each(|n| hub.tell(event(n)));
        let epoch = hub.ring().epoch;
        let at = |number| hub.subscribe(Some(EventId { epoch, number })).unwrap();
        assert!(!at(2).gap);
        assert!(at(1).gap);
        assert!(at(RING as u64 + 9).gap, "an event that never was");
        assert!(hub.subscribe(Some(EventId { epoch: epoch + 1, number: 2 })).unwrap().gap);
    }

    #[test]
    fn numbers_that_begin_again_are_another_epoch() {
        let hub = Hub::new(&options());
        hub.tell(event(7));
        let before = hub.ring().epoch;
        hub.tell(event(1));
        assert_eq!(hub.ring().epoch, before + 1);
        assert!(hub.subscribe(Some(EventId { epoch: before, number: 7 })).unwrap().gap);
    }

    /// A standby tells what it hears of the leader. The leader counts it.
    #[test]
    fn what_is_heard_of_another_leader_is_told_and_not_counted() {
        let options = options();
        let hub = Hub::new(&options);
        hub.tell(event(7));
        let epoch = hub.ring().epoch;
        let mut client = hub.subscribe(None).unwrap();
        hub.hear(Fed::Dropped(None));
        let job = ganger_core::JobId::new(1, [0; 10]);
        let fence = ganger_core::lease::Fence::default();
        let lost = Event::LeaseLost { job, fence, session: ganger_core::SessionId::new(1, [0; 10]) };
        hub.hear(Fed::Events(Arc::new(Run { first: 8, events: vec![lost] })));
        assert!(matches!(client.live.try_recv(), Ok(Live::Missed(None))));
        assert!(matches!(client.live.try_recv(), Ok(Live::Told(told)) if told.id.number == 8));
        assert_eq!(hub.ring().epoch, epoch + 1, "its numbers are not ours, even if they fit");
        let metrics = options.metrics.scrape(Cluster::Unknown).unwrap();
        assert!(metrics.contains("ganger_leases_lost_total 0"), "{metrics}");
        hub.hear(Fed::Events(event(11)));
        let back = hub.subscribe(Some(EventId { epoch: epoch + 1, number: 8 })).unwrap();
        assert!(back.gap, "9 and 10 were never heard");
    }

    #[test]
    fn clients_are_bounded_and_leave_their_seat() {
        let mut two = options();
        two.event_clients = 2;
        let hub = Hub::new(&two);
        let first = hub.subscribe(None);
        let second = hub.subscribe(None);
        assert!(first.is_some() && second.is_some());
        assert!(hub.subscribe(None).is_none());
        drop(first);
        assert!(hub.subscribe(None).is_some());
    }

    #[test]
    fn an_event_id_reads_back() {
        let id = EventId { epoch: 0x18f, number: 42 };
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "1", "-", "x-1", "1-x", "1-99999999999999999999"] {
            assert_eq!(bad.parse::<EventId>(), Err(()), "{bad}");
        }
    }
}
