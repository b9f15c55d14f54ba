//! The session: drives the state machine of `core` over the wire.
//!
//! It lives on its own thread with its own runtime, so that handlers, however busy, cannot keep
//! it from pinging. Everything it decides comes from `core::session`; here are only the clock, the
//! connection, the threads and the handlers around it. What it shares with the handlers lies on the desk
//! (`desk.rs`), which each of its turns locks once.
//!
//! # What can go wrong
//! - *The connection breaks, or the server restarts.* Another is dialled, at the next address if there are
//!   several, with growing delays. Handlers go on; what was not acknowledged is sent again by the state machine.
//! - *The leader closed the session.* A new life begins under a fresh id, on the next connection.
//! - *The server is slow.* Messages wait in the outbox, log lines in their attempts; both are bounded.
//! - *A handler does not stop.* It is dropped after its grace if it is async; a blocking one keeps its
//!   threads until it ends, because they are not free.

mod moving;
mod redial;
mod work;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ganger_core::message::{CancelWhy, ToWorker, Work};
use ganger_core::session::{Act, Session};
use ganger_core::{Mono, SessionId};
use ganger_proto::Down;
use tokio::runtime;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::addresses::{Address, Addresses};
use crate::attempt::{self, Start};
use crate::backoff::Backoff;
use crate::client::Client;
use crate::clock::{self, Clock};
use crate::credential::Credential;
use crate::desk::{Desk, Shared};
use crate::drain::{Drain, Step};
use crate::outbox::Outbox;
use crate::registry::Registry;
use crate::running::{Alarm, Running};
use crate::status::Status;
use crate::threads::Threads;
use crate::trace::Settling;
use crate::wire::{Broken, Wire, WireEvent};
use work::keep_offered;

/// Delays between tries to connect.
const REDIAL: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
/// Progress and log lines are sent at most this often.
const CHATTER_EVERY: Duration = Duration::from_millis(200);
/// Events taken in one turn before time is looked at again.
const TURN: usize = 256;
/// How long handlers may take to be dropped when the worker leaves at once.
const ABANDON_WITHIN: Duration = Duration::from_secs(1);
/// The session looks around at least this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);

/// How a worker's run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Everything it held was acknowledged.
    Drained,
    /// It left with so many leases; the leader gives them to others when the session runs out.
    GaveUp {
        /// Leases whose end was not acknowledged.
        unfinished: usize,
    },
}

/// What the handle asks for.
#[derive(Debug)]
pub(crate) enum Command {
    /// Take nothing new; leave when the rest is done, or after so long (the default if `None`).
    Drain(Option<Duration>),
    /// Leave at once.
    Abandon,
    /// Answer: the session turns.
    Ping(oneshot::Sender<()>),
}

/// What a session needs to begin.
pub(crate) struct Setup {
    pub(crate) session: Session,
    pub(crate) threads: u16,
    pub(crate) registry: Registry,
    pub(crate) status: Arc<Status>,
    pub(crate) client: Option<Client>,
    pub(crate) ways: Ways,
}

/// How a session reaches the server, its handlers and whoever commands it.
pub(crate) struct Ways {
    pub(crate) addresses: Addresses,
    pub(crate) credential: Credential,
    pub(crate) runtime: runtime::Handle,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) cancel_grace: Duration,
    pub(crate) drain_grace: Duration,
    pub(crate) session_file: Option<PathBuf>,
}

/// A session at work.
pub(crate) struct Driver {
    ways: Ways,
    shared: Arc<Shared>,
    status: Arc<Status>,
    chatter: Arc<Notify>,
    clock: Clock,
    stream: u64,
    wire: Option<Wire>,
    redial: Backoff,
    redial_at: Option<Mono>,
    /// The server does not let it in, and that was said.
    denied: bool,
    /// A leader elsewhere that is being called.
    probe: Option<Probe>,
    chatter_at: Option<Mono>,
    drain: Option<Drain>,
    finish: Option<Finish>,
}

/// Calls the leader that a welcome named.
struct Probe {
    leader: Address,
    answers: AbortOnDropHandle<bool>,
}

enum Event {
    Wire(WireEvent),
    /// Whether the leader can be reached directly.
    Probed(bool),
    Command(Command),
    Chatter,
    /// Its time has come, or a handler rang.
    Wake,
}

/// What a turn waits for next.
#[derive(Clone, Copy)]
struct Pause {
    until: Mono,
    /// Something could leave if the wire had room.
    room_wanted: bool,
}

impl Driver {
    pub(crate) fn new(setup: Setup) -> Driver {
        let (clock, chatter) = (Clock::start(), Arc::new(Notify::new()));
        let desk = Desk {
            session: setup.session,
            threads: Threads::new(setup.threads),
            held: HashMap::new(),
            running: Running::default(),
            outbox: Outbox::default(),
            late_logs: VecDeque::new(),
            settling: Settling::default(),
            undone: Vec::new(),
            wakes_at: Mono::default(),
            clock,
            registry: setup.registry,
            status: setup.status.clone(),
            chatter: chatter.clone(),
            client: setup.client,
        };
        Driver {
            ways: setup.ways,
            shared: Shared::new(desk),
            status: setup.status,
            chatter,
            clock,
            stream: 0,
            wire: None,
            redial: REDIAL,
            redial_at: None,
            denied: false,
            probe: None,
            chatter_at: None,
            drain: None,
            finish: None,
        }
    }

    /// Runs until drained. Must be called on the session's own runtime.
    pub(crate) async fn drive(mut self) -> Finish {
        let shared = self.shared.clone();
        self.announce(&shared.lock());
        self.wire = Some(Wire::dial(self.ways.addresses.dial(), self.ways.credential.clone()));
        let mut pause = self.pause(&mut shared.lock());
        loop {
            if let Some(finish) = self.finish {
                self.leave(finish).await;
                return finish;
            }
            let event = self.next_event(pause).await;
            if matches!(event, Event::Command(Command::Abandon)) {
                return self.abandon().await;
            }
            let starts;
            (starts, pause) = self.turn(&mut shared.lock(), event);
            // Not under the lock: a runtime that is gone drops them at once, and an end takes the lock.
            starts.into_iter().for_each(|start| attempt::begin(&self.ways.runtime, start));
        }
    }

    async fn next_event(&mut self, pause: Pause) -> Event {
        let wake = self.clock.instant_of(pause.until);
        let wire = &mut self.wire;
        let on_wire = async {
            match wire {
                Some(wire) => wire.next(pause.room_wanted).await,
                None => std::future::pending().await,
            }
        };
        let probe = &mut self.probe;
        let on_probe = async {
            match probe {
                Some(probe) => (&mut probe.answers).await.unwrap_or(false),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = on_wire => Event::Wire(event),
            answers = on_probe => Event::Probed(answers),
            () = self.shared.rung() => Event::Wake,
            // Without any handle left there is nobody to ask for a drain but the server.
            Some(command) = self.ways.commands.recv() => Event::Command(command),
            () = self.chatter.notified(), if self.chatter_at.is_none() => Event::Chatter,
            () = tokio::time::sleep_until(wake.into()) => Event::Wake,
        }
    }

    fn turn(&mut self, desk: &mut Desk, event: Event) -> (Vec<Start>, Pause) {
        match event {
            Event::Wire(event) => self.on_wire(desk, event),
            Event::Probed(answers) => self.on_probed(desk, answers),
            Event::Command(Command::Drain(grace)) => self.begin_drain(desk, grace),
            Event::Chatter => self.chatter_at = Some(self.clock.mono() + CHATTER_EVERY),
            // Whoever asked may not wait any more.
            Event::Command(Command::Ping(answer)) => drop(answer.send(())),
            Event::Command(Command::Abandon) | Event::Wake => {}
        }
        let undone = std::mem::take(&mut desk.undone);
        self.perform(desk, undone);
        // Many messages come at once under load; one turn takes them all.
        for _ in 0..TURN {
            let Some(event) = self.wire.as_mut().and_then(Wire::try_next) else { break };
            self.on_wire(desk, event);
        }
        self.tick(desk);
        let starts = self.shared.start_what_fits(desk);
        self.send(desk);
        (starts, self.pause(desk))
    }

    fn pause(&self, desk: &mut Desk) -> Pause {
        let times = [
            desk.session.next_tick(),
            desk.running.due(),
            desk.outbox.due(),
            self.redial_at,
            self.chatter_at,
            self.drain.as_ref().map(Drain::due),
        ];
        let soonest = times.into_iter().flatten().min();
        let latest = self.clock.mono() + LONGEST_SLEEP;
        desk.wakes_at = soonest.map_or(latest, |at| at.min(latest));
        Pause { until: desk.wakes_at, room_wanted: desk.outbox.is_ready() }
    }

    fn on_wire(&mut self, desk: &mut Desk, event: WireEvent) {
        match event {
            WireEvent::Dialled => {
                let mut acts = Vec::new();
                self.stream = desk.session.connected(self.clock.mono(), &mut acts);
                self.perform(desk, acts);
            }
            WireEvent::Message(down) => self.on_message(desk, down),
            WireEvent::Leader(url) => self.call_leader(desk, &url),
            WireEvent::Room => {}
            WireEvent::Broken(broken) => {
                let greeted = desk.session.is_open();
                desk.session.disconnected();
                self.ways.addresses.broke(greeted);
                self.reconnect(desk, broken);
            }
        }
    }

    fn on_message(&mut self, desk: &mut Desk, down: Down) {
        let message = match down {
            Down::Other(message) => message,
            Down::Assign(parcels) => {
                let works: Vec<Work> = parcels.iter().map(|parcel| parcel.work.clone()).collect();
                let now = self.clock.mono();
                let mut acts = Vec::new();
                desk.session.receive(now, self.stream, ToWorker::Assign(works), &mut acts);
                keep_offered(&mut desk.held, parcels, &acts, now);
                self.perform(desk, acts);
                return;
            }
        };
        let now = self.clock.mono();
        let was_open = desk.session.is_open();
        let mut acts = Vec::new();
        if let ToWorker::Ack(fences) = &message {
            desk.settling.acknowledged(fences);
        }
        desk.session.receive(now, self.stream, message, &mut acts);
        if !was_open && desk.session.is_open() {
            self.welcomed(desk, now);
        }
        self.perform(desk, acts);
    }

    fn begin_drain(&mut self, desk: &mut Desk, grace: Option<Duration>) {
        let now = self.clock.mono();
        let grace = grace.unwrap_or(self.ways.drain_grace);
        match &mut self.drain {
            Some(drain) => drain.hasten(now, grace),
            None => {
                tracing::info!("draining: takes nothing new, running handlers have {grace:?}");
                self.drain = Some(Drain::begin(now, grace, self.ways.cancel_grace));
                let mut acts = Vec::new();
                desk.session.drain(&mut acts);
                self.perform(desk, acts);
                self.status.update(|standing| standing.draining = true);
            }
        }
    }

    fn tick(&mut self, desk: &mut Desk) {
        let now = self.clock.mono();
        let mut acts = Vec::new();
        if desk.session.next_tick().is_some_and(|at| now >= at) {
            desk.session.tick(now, &mut acts);
        }
        while let Some((fence, alarm)) = desk.running.next_alarm(now) {
            match alarm {
                Alarm::Timeout => desk.session.stop_handler(fence, CancelWhy::Timeout, &mut acts),
                Alarm::Abort => {
                    if let Some(live) = desk.running.get(fence) {
                        live.abort.cancel();
                    }
                }
            }
        }
        self.perform(desk, acts);
        self.tick_drain(desk, now);
        if self.chatter_at.is_some_and(|at| now >= at) {
            self.chatter_at = None;
            self.send_chatter(desk, now);
        }
        if self.redial_at.is_some_and(|at| now >= at) {
            self.redial_at = None;
            self.wire = Some(Wire::dial(self.ways.addresses.dial(), self.ways.credential.clone()));
        }
    }

    fn tick_drain(&mut self, desk: &mut Desk, now: Mono) {
        let Some(drain) = &mut self.drain else { return };
        let session = &mut desk.session;
        let unfinished = session.leases().count();
        if unfinished == 0 && !session.is_open() {
            drain.only_goodbye_is_left(now);
        }
        match drain.step(now) {
            None => {}
            Some(Step::StopHandlers) => {
                let mut acts = Vec::new();
                for fence in desk.running.fences() {
                    session.stop_handler(fence, CancelWhy::Draining, &mut acts);
                }
                self.perform(desk, acts);
            }
            Some(Step::GiveUp) => {
                self.finish.get_or_insert(Finish::GaveUp { unfinished });
            }
        }
    }

    fn send(&mut self, desk: &mut Desk) {
        let now = self.clock.mono();
        desk.outbox.settle(now, desk.running.is_empty());
        let Some(wire) = &self.wire else { return };
        while let Some(place) = desk.outbox.is_ready().then(|| wire.try_reserve()).flatten() {
            if let Some(message) = desk.outbox.pop() {
                place.send(message.into());
            }
        }
    }

    fn perform(&mut self, desk: &mut Desk, acts: Vec<Act>) {
        let now = self.clock.mono();
        for act in acts {
            match act {
                Act::Send(message) => desk.outbox.push(now, message),
                Act::Reconnect => {
                    self.ways.addresses.broke(false);
                    self.reconnect(desk, Broken::Away("the server did not answer in time".into()));
                }
                Act::Offer(work) => desk.threads.queue(work.fence, work.threads),
                Act::Withdraw(fence) => {
                    desk.threads.withdraw(fence);
                    desk.held.remove(&fence);
                }
                Act::Cancel(fence, why) => desk.running.cancel(now, fence, why, self.ways.cancel_grace),
                Act::Marked(fence, stands) => {
                    if let Some(live) = desk.running.get(fence) {
                        live.ctx.marked(stands);
                    }
                }
                Act::Gone => self.be_reborn(desk),
                Act::DrainAsked => self.begin_drain(desk, None),
                Act::Finished => self.finish = Some(Finish::Drained),
            }
        }
    }

    fn be_reborn(&mut self, desk: &mut Desk) {
        let (old, new) = (desk.session.id(), clock::fresh_session());
        tracing::warn!(session.id = %old, "session {old} was closed by the server; going on as {new}");
        desk.session = desk.session.clone().reborn(new);
        desk.settling.lost();
        self.announce(desk);
        self.reconnect(desk, Broken::Away("the server closed the session".into()));
    }

    /// Tells who this is, before it can be given any work under that name.
    fn announce(&self, desk: &Desk) {
        let id = desk.session.id();
        self.status.update(|standing| standing.session = id);
        if let Some(path) = &self.ways.session_file
            && let Err(error) = write_session(path, id)
        {
            tracing::warn!("cannot write the session's id to {}: {error}", path.display());
        }
    }

    fn stand(&self, desk: &Desk, trouble: Option<String>) {
        let open = desk.session.is_open();
        self.status.update(|standing| {
            standing.open = open;
            standing.trouble = trouble;
        });
    }

    /// Drops every handler that can be dropped, and with it whatever it started, and says nothing: the leader
    /// ends the session by its TTL.
    async fn abandon(mut self) -> Finish {
        self.wire = None;
        let unfinished = {
            let mut desk = self.shared.lock();
            desk.close();
            desk.running.iter().for_each(|live| live.abort.cancel());
            desk.session.leases().count()
        };
        let dropped = async {
            while !self.shared.lock().running.is_empty() {
                self.shared.rung().await;
            }
        };
        // A blocking handler cannot be dropped.
        let _ = tokio::time::timeout(ABANDON_WITHIN, dropped).await;
        Finish::GaveUp { unfinished }
    }

    async fn leave(&mut self, finish: Finish) {
        let Some(wire) = self.wire.take() else { return };
        match finish {
            Finish::Drained => {
                let mut outbox = std::mem::take(&mut self.shared.lock().outbox);
                wire.close(std::iter::from_fn(|| outbox.pop()).map(Into::into)).await;
            }
            Finish::GaveUp { unfinished } => {
                tracing::warn!("left with {unfinished} leases whose end was not acknowledged");
            }
        }
        self.status.update(|standing| standing.open = false);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Handlers that still run find nothing to go on with.
        self.shared.lock().close();
    }
}

/// A reader sees the old id or the new one, never half of it.
fn write_session(path: &Path, id: SessionId) -> std::io::Result<()> {
    let fresh = path.with_extension("new");
    std::fs::write(&fresh, id.to_string())?;
    std::fs::rename(fresh, path)
}
