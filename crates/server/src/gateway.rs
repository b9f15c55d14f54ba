//! The streams of workers: who can be reached, and on which stream.
//!
//! The coordinator addresses a session and a stream number. What is meant for a stream that is gone
//! is dropped: the session will greet on a new one and be told again. A worker that does not read
//! fast enough loses its stream, not its leases, and no worker can hold up another.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ganger_core::message::{Hello, ToWorker};
use ganger_core::{Fence, SessionId};
use tokio::sync::mpsc;
use tracing::warn;

use crate::clock::Clock;
use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::payloads::Payloads;

/// Streams that may be open at the same time.
pub const STREAMS: usize = 20_000;
/// Messages that may wait for one worker.
pub const OUTBOX: usize = 1_024;

/// What waits for a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    /// A message of the protocol.
    Say(ToWorker),
    /// The report under this fence changed nothing; its acknowledgement follows. Only told to streams
    /// that this server opened for a claim.
    LeaseLost(Fence),
}

/// Why a stream is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// There is no leader here at the moment.
    #[error("this server does not lead at the moment")]
    NotLeading,
    /// The session has a newer stream.
    #[error("the session has a newer stream")]
    Stale,
    /// Too many streams are open.
    #[error("too many worker streams are open, the limit is {STREAMS}")]
    TooMany,
}

/// The registry of streams.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    inbox: Inbox,
    payloads: Arc<Payloads>,
    clock: Clock,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    leading: bool,
    streams: HashMap<SessionId, Stream>,
    local: HashSet<SessionId>,
}

struct Stream {
    number: u64,
    claim: bool,
    outbox: mpsc::Sender<Outgoing>,
}

impl Gateway {
    /// A gateway that is closed until [`Gateway::lead`].
    #[must_use]
    pub fn new(inbox: Inbox, payloads: Arc<Payloads>, clock: Clock) -> Gateway {
        Gateway(Arc::new(Inner { inbox, payloads, clock, table: Mutex::default() }))
    }

    /// This session lives inside the server's process and dies with it.
    pub fn register_local(&self, session: SessionId) {
        self.table().local.insert(session);
    }

    /// Opens the stream that this hello announces, and marks it as what the server knows it to be. It
    /// takes the place of an older stream of the session.
    ///
    /// # Errors
    /// There is no leader, the hello is stale, or too many streams are open.
    pub fn open(&self, hello: &mut Hello) -> Result<Outbox, NotOpened> {
        let mut table = self.table();
        if !table.leading {
            return Err(NotOpened::NotLeading);
        }
        let known = table.streams.get(&hello.session).map(|stream| stream.number);
        if known.is_some_and(|number| number > hello.stream) {
            return Err(NotOpened::Stale);
        }
        if known.is_none() && table.streams.len() >= STREAMS {
            return Err(NotOpened::TooMany);
        }
        hello.worker.local = table.local.contains(&hello.session);
        let (tx, rx) = mpsc::channel(OUTBOX);
        let stream = Stream { number: hello.stream, claim: hello.worker.claim, outbox: tx };
        table.streams.insert(hello.session, stream);
        drop(table);
        let inner = &self.0;
        let (payloads, inbox) = (inner.payloads.clone(), inner.inbox.clone());
        Ok(Outbox::new(hello.session, hello.stream, rx, self.clone(), payloads, inbox, inner.clock.clone()))
    }

    /// Puts a message into the outbox of a stream, if that stream is open.
    pub fn send(&self, session: SessionId, stream: u64, message: ToWorker) {
        let last = message == ToWorker::Gone;
        let mut table = self.table();
        let Some(open) = table.streams.get(&session).filter(|open| open.number == stream) else { return };
        let sent = open.outbox.try_send(Outgoing::Say(message));
        if sent.is_err() && !open.outbox.is_closed() {
            warn!(worker.session = %session, "closed the stream of {session}: {OUTBOX} messages wait for it");
        }
        // After `gone` a session is never spoken to again.
        if sent.is_err() || last {
            table.streams.remove(&session);
        }
    }

    /// Tells the claim behind this session that its report came too late.
    pub fn lease_lost(&self, session: SessionId, fence: Fence) {
        let table = self.table();
        if let Some(open) = table.streams.get(&session).filter(|open| open.claim) {
            // A full outbox is noticed by the acknowledgement that follows.
            let _ = open.outbox.try_send(Outgoing::LeaseLost(fence));
        }
    }

    /// Streams may be opened from now on.
    pub fn lead(&self) {
        self.table().leading = true;
    }

    /// Closes every stream and opens none until [`Gateway::lead`]. What already waits is still sent.
    pub fn close_all(&self) {
        let mut table = self.table();
        table.leading = false;
        table.streams.clear();
    }

    /// Forgets a stream, unless a newer one took its place.
    pub(crate) fn close(&self, session: SessionId, stream: u64) {
        let mut table = self.table();
        if table.streams.get(&session).is_some_and(|open| open.number == stream) {
            table.streams.remove(&session);
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change of the table is one insertion or removal: a panic leaves it whole.
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table();
        f.debug_struct("Gateway")
            .field("leading", &table.leading)
            .field("streams", &table.streams.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Term;
    use ganger_core::change::WorkerInfo;
    use ganger_proto::Down;
    use ganger_store::MemoryStore;
    use std::time::Duration;

    use crate::outbox::Item;

    fn gateway() -> Gateway {
        let payloads = Arc::new(Payloads::new(Arc::new(MemoryStore::new())));
        let gateway = Gateway::new(Inbox::open().0, payloads, Clock::start());
        gateway.lead();
        gateway
    }

    fn hello(session: u8, stream: u64) -> Hello {
        Hello {
            session: SessionId::new(1, [session; 10]),
            stream,
            worker: WorkerInfo {
                name: "w".into(),
                queues: vec![],
                kinds: vec![],
                threads: 1,
                labels: Default::default(),
                version: String::new(),
                local: true,
                claim: false,
                ttl: Duration::from_secs(9),
            },
            highest: Term::default(),
            draining: false,
        }
    }

    fn pong(number: u64) -> ToWorker {
        ToWorker::Pong { number }
    }

    #[tokio::test]
    async fn a_worker_that_does_not_read_loses_its_stream_at_the_bound_and_not_before() {
        let gateway = gateway();
        let mut slow = gateway.open(&mut hello(1, 1)).unwrap();
        let mut other = gateway.open(&mut hello(2, 1)).unwrap();
        let session = hello(1, 1).session;
        for number in 0..=OUTBOX as u64 {
            gateway.send(session, 1, pong(number));
        }
        for number in 0..OUTBOX as u64 {
            assert_eq!(slow.next().await, Some(Item::Down(Down::Other(pong(number)))));
        }
        assert_eq!(slow.next().await, None, "one more than its outbox holds");
        gateway.send(hello(2, 1).session, 1, pong(7));
        assert_eq!(other.next().await, Some(Item::Down(Down::Other(pong(7)))));
    }

    #[tokio::test]
    async fn what_is_meant_for_an_older_stream_is_dropped() {
        let gateway = gateway();
        let mut older = gateway.open(&mut hello(1, 1)).unwrap();
        let mut newer = gateway.open(&mut hello(1, 2)).unwrap();
        let session = hello(1, 1).session;
        gateway.send(session, 1, pong(1));
        gateway.send(session, 2, pong(2));
        assert_eq!(older.next().await, None);
        // The older one goes away late, and must not take the newer one with it.
        drop(older);
        assert_eq!(newer.next().await, Some(Item::Down(Down::Other(pong(2)))));
        assert_eq!(gateway.open(&mut hello(1, 1)).err(), Some(NotOpened::Stale));
    }

    #[tokio::test]
    async fn after_gone_nothing_is_said_and_the_stream_ends() {
        let gateway = gateway();
        let mut outbox = gateway.open(&mut hello(1, 1)).unwrap();
        gateway.send(hello(1, 1).session, 1, ToWorker::Gone);
        gateway.send(hello(1, 1).session, 1, pong(1));
        assert_eq!(outbox.next().await, Some(Item::Down(Down::Other(ToWorker::Gone))));
        assert_eq!(outbox.next().await, None);
    }

    #[test]
    fn only_the_server_says_who_is_local_and_nobody_is_let_in_without_a_leader() {
        let gateway = gateway();
        let mut stranger = hello(1, 1);
        let _stranger = gateway.open(&mut stranger).unwrap();
        assert!(!stranger.worker.local);
        gateway.register_local(hello(2, 1).session);
        let mut ours = hello(2, 1);
        let _ours = gateway.open(&mut ours).unwrap();
        assert!(ours.worker.local);
        gateway.close_all();
        assert_eq!(gateway.open(&mut hello(3, 1)).err(), Some(NotOpened::NotLeading));
    }
}
