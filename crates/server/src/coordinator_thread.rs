//! The thread that owns the coordinator.
//!
//! It waits for the first message or the coordinator's next moment, takes everything that waits,
//! lets the coordinator decide, and carries out what it decided: batches to the writer, replies to
//! clients, messages to workers, events to whoever listens. It never waits for any of them.
//!
//! A leader that must step down begins again as the next one: a new term, a fresh load, a new
//! coordinator. Where several servers share the store it stands for election again ([`crate::election`]).
//! Whoever waited for an answer learns that it is unknown, or, if the question was not yet taken, that
//! nobody looked at it. A panic in the coordinator ends the thread, and with it every answer: a server
//! that does not know is better than one that lies.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::Snapshot;
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Input, Options, Output, Reply, Ticket};
use ganger_core::event::Event;
use ganger_core::leadership::{Step, Takeover};
use ganger_core::{Mono, Now, Term};
use ganger_store::StoreError;
use ganger_store::shared::LeaderView;
use tokio::runtime::Runtime;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tracing::{debug, error, info, warn};

use crate::election::Seat;
use crate::gateway::Gateway;
use crate::inbox::{Answered, INBOX, Message, Written};
use crate::reader::{Read, Reader};
use crate::service::Run;
use crate::waiters::Told;
use crate::writer::{Settled, Writer, WriterParts};

/// Most events that travel together.
pub(crate) const RUN: usize = 128;
/// How long a stopping leader goes on to finish what clients wait for.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// Wait before another attempt to take over, the first time.
const TAKE_OVER_AGAIN: Duration = Duration::from_millis(100);
/// Wait before another attempt to take over, at the most.
const TAKE_OVER_AGAIN_MAX: Duration = Duration::from_secs(2);

/// What the thread is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Another server leads.
    Following(LeaderView),
    /// It takes over: a new term, and a load.
    TakingOver,
    /// It leads.
    Leading(Term),
    /// It ended as it was told to.
    Stopped,
    /// It ended because it could not go on.
    Failed(String),
}

/// Everything the thread works with.
pub struct CoordinatorThread {
    /// Name of this server in the store.
    pub server: String,
    /// Its place in the election, where several servers share the store.
    pub seat: Option<Seat>,
    /// How the coordinator behaves.
    pub options: Options,
    /// The store, the clock and what the writer needs.
    pub parts: WriterParts,
    /// What comes in.
    pub inbox: mpsc::Receiver<Message>,
    /// The streams of workers.
    pub gateway: Gateway,
    /// Whoever listens. The only strong sender: listeners end with the thread.
    pub events: broadcast::Sender<Arc<Run>>,
    /// Where the thread tells what it is doing.
    pub phase: watch::Sender<Phase>,
    /// Where everything else of the store runs.
    pub runtime: tokio::runtime::Handle,
}

/// Why a leader ended.
enum Ended {
    Stopped,
    SteppedDown { more_than: u64 },
}

/// What ended a leader's wait.
enum Woken {
    Settled(Settled),
    Read(Read),
    /// Messages, or the time.
    Inbox,
}

/// One leader, from its takeover to its end.
struct Leader {
    term: Term,
    coordinator: Coordinator,
    writer: Writer,
    reader: Reader,
    tickets: HashMap<Ticket, oneshot::Sender<Answered>>,
    stop_at: Option<Mono>,
    ended: Option<Ended>,
}

impl CoordinatorThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn spawn(mut self) -> std::io::Result<std::thread::JoinHandle<()>> {
        // Only for waiting, and for the connection on which batches are written: nobody else can delay the coordinator.
        let wait = Arc::new(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
        std::thread::Builder::new().name("coordinator".into()).spawn(move || {
            let end = catch_unwind(AssertUnwindSafe(|| self.run(&wait)));
            let phase = match end {
                Ok(Ok(())) => Phase::Stopped,
                Ok(Err(cause)) => Phase::Failed(cause.to_string()),
                Err(_) => {
                    error!("the coordinator panicked: this server ends rather than give wrong answers");
                    Phase::Failed("the coordinator panicked".into())
                }
            };
            self.gateway.close_all();
            self.inbox.close();
            self.phase.send_replace(phase);
        })
    }

    fn run(&mut self, wait: &Arc<Runtime>) -> Result<(), StoreError> {
        let mut more_than = 0;
        let mut first = true;
        let mut number = 0;
        loop {
            let seat = self.seat.clone();
            let came = match &seat {
                Some(seat) => self.stand(wait, seat, more_than).map(|(t, c, renewer)| (t, c, Some(renewer))),
                None => self.take_over(wait, more_than, first)?.map(|(t, c)| (t, c, None)),
            };
            let Some((term, coordinator, renewer)) = came else { return Ok(()) };
            first = false;
            info!(term = term.number, "leads in term {term}");
            self.gateway.lead();
            self.phase.send_replace(Phase::Leading(term));
            let ended = self.lead(wait, term, coordinator, &mut number);
            self.phase.send_replace(Phase::TakingOver);
            self.gateway.close_all();
            self.parts.payloads.forget();
            drop(renewer);
            match ended {
                Ended::Stopped => {
                    if let Some(seat) = seat {
                        // It bounds itself; a runtime that is going down ends it at once.
                        let _ = wait.block_on(self.runtime.spawn(seat.resign(term)));
                    }
                    return Ok(());
                }
                Ended::SteppedDown { more_than: least } => more_than = least.max(term.number),
            }
        }
    }

    /// A new term and everything it begins with; `None` if the server stops meanwhile. Only the
    /// first takeover may fail: later ones are tried until they succeed.
    fn take_over(
        &mut self,
        wait: &Runtime,
        more_than: u64,
        first: bool,
    ) -> Result<Option<(Term, Coordinator)>, StoreError> {
        let mut pause = TAKE_OVER_AGAIN;
        loop {
            let cause = match wait.block_on(self.load(more_than)) {
                Ok(loaded) => return Ok(Some(loaded)),
                Err(cause) if first => return Err(cause),
                Err(cause) => cause,
            };
            warn!("cannot take over: {cause}");
            if self.stopped_within(wait, pause) {
                return Ok(None);
            }
            pause = (pause * 2).min(TAKE_OVER_AGAIN_MAX);
        }
    }

    async fn load(&self, more_than: u64) -> Result<(Term, Coordinator), StoreError> {
        let (store, server, clock) =
            (self.parts.store.clone(), self.server.clone(), self.parts.clock.clone());
        let load = self.runtime.spawn(async move {
            let mut snapshot = Snapshot::default();
            let (mut takeover, mut step) = Takeover::begin(clock.now().mono);
            loop {
                step = match step {
                    Step::Bump => {
                        let term = store.take_over(&server, more_than).await?;
                        takeover.bumped(clock.now().mono, term)
                    }
                    Step::Load => {
                        snapshot = store.load().await?;
                        takeover.loaded()
                    }
                    Step::Lead(reign) => return Ok((reign, snapshot)),
                };
            }
        });
        let (reign, snapshot) =
            load.await.map_err(|_| StoreError::Failed("the takeover was interrupted".into()))??;
        self.parts.payloads.loaded(&snapshot);
        let now = self.parts.clock.now();
        Ok((reign.term, Coordinator::new(self.options.clone(), reign, snapshot, now)))
    }

    /// Waits, and refuses whoever asks meanwhile: a message that is dropped says that nobody took it.
    fn stopped_within(&mut self, wait: &Runtime, pause: Duration) -> bool {
        let until = self.parts.clock.now().mono + pause;
        loop {
            let rest = self.parts.clock.until(until);
            match wait.block_on(async { tokio::time::timeout(rest, self.inbox.recv()).await }) {
                Ok(Some(Message::Stop) | None) => return true,
                Ok(Some(_)) => {}
                Err(_) => return false,
            }
        }
    }

    fn lead(&mut self, wait: &Arc<Runtime>, term: Term, coordinator: Coordinator, number: &mut u64) -> Ended {
        let writer = Writer::new(Arc::clone(wait), self.parts.clone(), term);
        let reader = Reader::new(self.runtime.clone());
        let tickets = HashMap::new();
        let mut leader = Leader { term, coordinator, writer, reader, tickets, stop_at: None, ended: None };
        let mut messages = Vec::new();
        let mut out = Vec::new();
        let mut next_ticket = 0;
        let mut told: Option<Told> = None;
        loop {
            let now = self.parts.clock.now();
            if let Some(seat) = &self.seat {
                seat.pulse.beat(now.mono);
            }
            leader.coordinator.handle(now, Input::Tick, &mut out);
            for message in messages.drain(..) {
                leader.take(now, message, &mut next_ticket, &mut out);
            }
            leader.coordinator.settle(now, &mut out);
            self.carry_out(&mut leader, &mut out, number);
            if let Some(told) = told.take() {
                told.tell();
            }
            if let Some(ended) = leader.ended(now.mono) {
                return ended;
            }
            let next = leader.coordinator.next_tick().min(now.mono + self.options.tick);
            let pause = self.parts.clock.until(leader.stop_at.map_or(next, |stop| stop.min(next)));
            let woken = wait.block_on(async {
                tokio::select! { biased;
                    settled = leader.writer.settled() => Woken::Settled(settled),
                    page = leader.reader.page() => Woken::Read(page),
                    received = tokio::time::timeout(pause, self.inbox.recv_many(&mut messages, INBOX)) => {
                        // Nobody can ask any more.
                        if received == Ok(0) {
                            messages.push(Message::Stop);
                        }
                        Woken::Inbox
                    }
                }
            });
            match woken {
                Woken::Settled(Settled { number, outcome, told: whom }) => {
                    messages.push(Message::Written { term, number, outcome });
                    told = whom;
                    // Whatever waits goes into the next batch.
                    while messages.len() < INBOX
                        && let Ok(message) = self.inbox.try_recv()
                    {
                        messages.push(message);
                    }
                }
                Woken::Read(page) => messages.push(Message::LiveRead(page)),
                Woken::Inbox => {}
            }
        }
    }

    fn carry_out(&mut self, leader: &mut Leader, out: &mut Vec<Output>, number: &mut u64) {
        // A claim must hear that its lease was lost before it hears the acknowledgement.
        for output in out.iter() {
            if let Output::Event(Event::LeaseLost { fence, session, .. }) = output {
                self.gateway.lease_lost(*session, *fence);
            }
        }
        // Nothing is done after the end of a leader.
        if let Some(end) = out.iter().position(|output| matches!(output, Output::StepDown { .. })) {
            out.truncate(end + 1);
        }
        // The store works while everyone is told what the batch before came to.
        for output in out.iter() {
            if let Output::Commit(batch) = output {
                leader.writer.write(batch.clone());
            }
        }
        // Workers before clients: a job starts sooner, and neither waits for the other.
        for output in out.extract_if(.., |output| matches!(output, Output::Send { .. })) {
            if let Output::Send { session, stream, message } = output {
                self.gateway.send(session, stream, message);
            }
        }
        let mut events = Vec::new();
        for output in out.drain(..) {
            match output {
                Output::Commit(_) | Output::Send { .. } => {}
                Output::Reply(ticket, reply) => leader.reply(ticket, reply),
                Output::ReadLive(query) => leader.reader.read(self.parts.store.clone(), query),
                Output::Reconciled(came) => {
                    debug!(?came, "compared memory with the store");
                    self.parts.observer.reconciled(&came);
                }
                Output::Event(event) => {
                    if let Event::Difference { job, what, .. } = &event {
                        let what = what.as_str();
                        error!(job.id = %job, what, "memory and the store did not agree about {job} ({what})");
                    }
                    events.push(event);
                    if events.len() == RUN {
                        self.tell(std::mem::take(&mut events), number);
                    }
                }
                Output::StepDown { more_than, reason } => {
                    warn!(term = leader.term.number, "steps down: {reason}");
                    leader.ended = Some(Ended::SteppedDown { more_than });
                }
            }
        }
        self.tell(events, number);
    }

    /// Tells events that follow the one with this number.
    fn tell(&self, events: Vec<Event>, number: &mut u64) {
        if events.is_empty() {
            return;
        }
        let first = *number + 1;
        *number += events.len() as u64;
        // Nobody may be listening.
        let _ = self.events.send(Arc::new(Run { first, events }));
    }
}

impl Leader {
    fn take(&mut self, now: Now, message: Message, next_ticket: &mut u64, out: &mut Vec<Output>) {
        let input = match message {
            // Dropped, it says that nobody took it.
            Message::Ask(..) if self.ended.is_some() => return,
            Message::Ask(ask, reply) => {
                *next_ticket += 1;
                let ticket = Ticket(*next_ticket);
                if let Some(reply) = reply.taken() {
                    self.tickets.insert(ticket, reply);
                }
                Input::Ask(ticket, ask)
            }
            Message::FromWorker { session, stream, message } => {
                Input::FromWorker { session, stream, message }
            }
            Message::WorkerDied(session) => Input::WorkerDied(session),
            // What the writer of an earlier term had still to say.
            Message::Written { term, .. } if term != self.term => return,
            Message::Written { number, outcome, .. } => match outcome {
                Written::Durable(applied) => Input::Committed { number, applied },
                Written::Refused(reason) => Input::Refused { number, reason },
                Written::TermLost => return self.term_lost(),
                Written::InDoubt(cause) => {
                    error!("nobody can tell what became of batch {number}: {cause}; begins again");
                    self.ended = Some(Ended::SteppedDown { more_than: self.term.number });
                    return;
                }
            },
            // What the renewer of an earlier term had still to say.
            Message::Renewed { term, .. } | Message::TermLost { term } if term != self.term => return,
            Message::Renewed { sent_at, .. } => Input::Renewed { sent_at },
            Message::TermLost { .. } => return self.term_lost(),
            Message::LiveRead(page) => Input::LiveRead(page),
            Message::Look(look) => {
                look(&self.coordinator, now);
                return;
            }
            Message::Stop => {
                self.stop_at = self.stop_at.or(Some(now.mono + STOP_WITHIN));
                return;
            }
        };
        if self.ended.is_none() {
            self.coordinator.handle(now, input, out);
            // What was decided while the last batch was written: the store need not wait while that is announced.
            if let Some(Output::Commit(_)) = out.last()
                && let Some(Output::Commit(batch)) = out.pop()
            {
                self.writer.write(batch);
            }
        }
    }

    fn term_lost(&mut self) {
        warn!(term = self.term.number, "lost term {}: another leader has begun", self.term);
        self.ended = Some(Ended::SteppedDown { more_than: self.term.number });
    }

    fn reply(&mut self, ticket: Ticket, reply: Reply) {
        if let Some(waiting) = self.tickets.remove(&ticket) {
            // Whoever asked may have gone away meanwhile.
            let _ = waiting.send(Ok(reply));
        }
    }

    fn ended(&mut self, now: Mono) -> Option<Ended> {
        if let Some(ended) = self.ended.take() {
            return Some(ended);
        }
        let stop_at = self.stop_at?;
        let settled = self.tickets.is_empty() && !self.writer.is_writing();
        if !settled && now >= stop_at {
            warn!("stops although {} calls wait for the store", self.tickets.len());
        }
        (settled || now >= stop_at).then_some(Ended::Stopped)
    }
}
