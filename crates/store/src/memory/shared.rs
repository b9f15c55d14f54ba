//! The election of servers that share a store in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use ganger_core::{Mono, Now, Term, Wall};

use super::MemoryState;
use crate::shared::{
    Candidate, ClusterView, Election, InboxRow, LeaderView, SERVER_FORGOTTEN_AFTER, ServerRecord, ServerView,
    SharedStore,
};
use crate::store::{CommitError, StoreError};

/// The leader's row and the list of servers, beside what they share.
pub(super) struct Cluster {
    state: Arc<Mutex<MemoryState>>,
    clock: Box<dyn Fn() -> Now + Send + Sync>,
    seats: Mutex<Seats>,
}

#[derive(Debug, Default)]
struct Seats {
    row: Option<Row>,
    servers: BTreeMap<String, (ServerRecord, Mono)>,
    /// Whoever waits for the leader to be gone.
    waiting: Vec<Waker>,
}

/// The leader's row.
#[derive(Clone, Debug)]
struct Row {
    term: Term,
    server: String,
    address: String,
    ttl: Duration,
    since: Wall,
    renewed_at: Mono,
}

impl Cluster {
    pub(super) fn new(
        state: Arc<Mutex<MemoryState>>,
        clock: impl Fn() -> Now + Send + Sync + 'static,
    ) -> Cluster {
        Cluster { state, clock: Box::new(clock), seats: Mutex::default() }
    }

    fn seats(&self) -> MutexGuard<'_, Seats> {
        // Every change of the seats is one assignment: a panic leaves them whole.
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Taken after the seats, where both are needed.
    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seats {
    /// The row, unless its leader has resigned or another term has begun without an election.
    fn leader(&self, state: &MemoryState) -> Option<&Row> {
        self.row.as_ref().filter(|row| state.leads(row.term))
    }

    fn wake_all(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

impl Row {
    fn view(&self, now: Now, batch: u64) -> LeaderView {
        LeaderView {
            term: self.term,
            server: self.server.clone(),
            address: self.address.clone(),
            since: self.since,
            renewed_ago: now.mono.since(self.renewed_at),
            batch,
        }
    }
}

#[async_trait]
impl SharedStore for Cluster {
    async fn stand(&self, candidate: &Candidate, more_than: u64) -> Result<Election, StoreError> {
        let now = (self.clock)();
        let mut seats = self.seats();
        let mut state = self.state();
        if let Some(row) = seats.leader(&state)
            && row.server != candidate.server
            && now.mono.since(row.renewed_at) <= row.ttl
        {
            return Ok(Election::Follows(row.view(now, state.batch())));
        }
        let term = state.take_over(&candidate.server, more_than, rand::random());
        seats.row = Some(Row {
            term,
            server: candidate.server.clone(),
            address: candidate.address.clone(),
            ttl: candidate.ttl,
            since: now.wall,
            renewed_at: now.mono,
        });
        seats.wake_all();
        Ok(Election::Leads(term))
    }

    async fn renew(&self, term: Term) -> Result<(), CommitError> {
        let now = (self.clock)();
        let mut seats = self.seats();
        let held = self.state().leads(term);
        match &mut seats.row {
            Some(row) if held && row.term == term => row.renewed_at = now.mono,
            Some(_) | None => return Err(CommitError::TermLost),
        }
        Ok(())
    }

    async fn inbox(&self, limit: usize) -> Result<Vec<InboxRow>, StoreError> {
        Ok(self.state().inbox(limit))
    }

    async fn inbox_woken(&self) {
        std::future::pending().await
    }

    async fn resign(&self, term: Term) -> Result<(), CommitError> {
        let mut seats = self.seats();
        if !self.state().resign(term) {
            return Err(CommitError::TermLost);
        }
        seats.wake_all();
        Ok(())
    }

    async fn vacated(&self, term: Term) {
        std::future::poll_fn(|context| {
            let mut seats = self.seats();
            if !self.state().leads(term) {
                return Poll::Ready(());
            }
            if !seats.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                seats.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    async fn announce(&self, server: &ServerRecord) -> Result<(), StoreError> {
        let now = (self.clock)().mono;
        let mut seats = self.seats();
        seats.servers.retain(|_, (_, seen)| now.since(*seen) <= SERVER_FORGOTTEN_AFTER);
        seats.servers.insert(server.name.clone(), (server.clone(), now));
        Ok(())
    }

    async fn withdraw(&self, server: &str) -> Result<(), StoreError> {
        self.seats().servers.remove(server);
        Ok(())
    }

    async fn cluster(&self) -> Result<ClusterView, StoreError> {
        let now = (self.clock)();
        let seats = self.seats();
        let state = self.state();
        let view = |(server, seen): &(ServerRecord, Mono)| ServerView {
            server: server.clone(),
            seen_ago: now.mono.since(*seen),
        };
        Ok(ClusterView {
            leader: seats.leader(&state).map(|row| row.view(now, state.batch())),
            servers: seats
                .servers
                .values()
                .map(view)
                .filter(|server| server.seen_ago <= SERVER_FORGOTTEN_AFTER)
                .collect(),
        })
    }

    async fn dangers(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("seats", &*self.seats()).finish_non_exhaustive()
    }
}
