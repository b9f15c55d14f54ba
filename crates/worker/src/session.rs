//! The session: drives the state machine of `core` over the wire.
//!
//! It lives on its own thread with its own runtime, so that handlers, however busy, cannot keep
//! it from pinging. Everything it decides comes from `core::session`; here are only the clock, the
//! connection, the threads and the handlers around it.
//!
//! # What can go wrong
//! - *The connection breaks, or the server restarts.* Another is dialled, at the next address if there are
//!   several, with growing delays. Handlers
//!   go on; what was not acknowledged is sent again by the state machine.
//! - *The leader closed the session.* A new life begins under a fresh id, on the next connection.
//! - *The server is slow.* Messages wait in the outbox, log lines in their attempts; both are bounded.
//! - *A handler does not stop.* It is dropped after its grace if it is async; a blocking one keeps its
//!   threads until it ends, because they are not free.

mod moving;
mod work;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ganger_core::message::{CancelWhy, ToLeader, ToWorker, Work};
use ganger_core::session::{Act, Session};
use ganger_core::{Fence, Mono, SessionId};
use ganger_proto::{Down, Parcel};
use tokio::runtime;
use tokio::sync::{Notify, mpsc};
use tokio_util::task::AbortOnDropHandle;

use crate::addresses::{Address, Addresses};
use crate::attempt::Ended;
use crate::backoff::Backoff;
use crate::clock::{self, Clock};
use crate::drain::{Drain, Step};
use crate::outbox::Outbox;
use crate::registry::Registry;
use crate::running::{Alarm, Running};
use crate::status::Status;
use crate::threads::Threads;
use crate::wire::{Wire, WireEvent};

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
}

/// What a session needs to begin.
pub(crate) struct Setup {
    pub(crate) session: Session,
    pub(crate) threads: u16,
    pub(crate) addresses: Addresses,
    pub(crate) registry: Registry,
    pub(crate) runtime: runtime::Handle,
    pub(crate) status: Arc<Status>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) cancel_grace: Duration,
    pub(crate) drain_grace: Duration,
    pub(crate) session_file: Option<PathBuf>,
}

/// A session at work.
pub(crate) struct Driver {
    setup: Setup,
    clock: Clock,
    stream: u64,
    wire: Option<Wire>,
    redial: Backoff,
    redial_at: Option<Mono>,
    /// A leader elsewhere that is being called.
    probe: Option<Probe>,
    outbox: Outbox,
    threads: Threads,
    held: HashMap<Fence, Parcel>,
    running: Running,
    ended: (mpsc::Sender<Ended>, mpsc::Receiver<Ended>),
    bell: Arc<Notify>,
    chatter_at: Option<Mono>,
    late_logs: VecDeque<ToLeader>,
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
    Ended(Ended),
    Command(Command),
    Chatter,
    Time,
}

impl Driver {
    pub(crate) fn new(setup: Setup) -> Driver {
        Driver {
            clock: Clock::start(),
            stream: 0,
            wire: None,
            redial: REDIAL,
            redial_at: None,
            probe: None,
            outbox: Outbox::default(),
            threads: Threads::new(setup.threads),
            held: HashMap::new(),
            running: Running::default(),
            // An attempt holds at least one thread until its end was taken from here.
            ended: mpsc::channel(setup.threads.into()),
            bell: Arc::new(Notify::new()),
            chatter_at: None,
            late_logs: VecDeque::new(),
            drain: None,
            finish: None,
            setup,
        }
    }

    /// Runs until drained. Must be called on the session's own runtime.
    pub(crate) async fn drive(mut self) -> Finish {
        self.announce();
        self.wire = Some(Wire::dial(self.setup.addresses.dial()));
        loop {
            if let Some(finish) = self.finish {
                self.leave(finish).await;
                return finish;
            }
            match self.next_event().await {
                Event::Wire(event) => self.on_wire(event),
                Event::Probed(answers) => self.on_probed(answers),
                Event::Ended(ended) => self.on_ended(ended),
                Event::Command(Command::Drain(grace)) => self.begin_drain(grace),
                Event::Command(Command::Abandon) => return self.abandon().await,
                Event::Chatter => self.chatter_at = Some(self.clock.mono() + CHATTER_EVERY),
                Event::Time => {}
            }
            self.take_what_is_there();
            self.tick();
            self.start_what_fits();
            self.send();
        }
    }

    async fn next_event(&mut self) -> Event {
        let wake = self.clock.instant_of(self.next_wake());
        let room_wanted = self.outbox.is_ready();
        let wire = &mut self.wire;
        let on_wire = async {
            match wire {
                Some(wire) => wire.next(room_wanted).await,
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
            Some(ended) = self.ended.1.recv() => Event::Ended(ended),
            // Without any handle left there is nobody to ask for a drain but the server.
            Some(command) = self.setup.commands.recv() => Event::Command(command),
            () = self.bell.notified(), if self.chatter_at.is_none() => Event::Chatter,
            () = tokio::time::sleep_until(wake.into()) => Event::Time,
        }
    }

    fn next_wake(&self) -> Mono {
        let times = [
            self.setup.session.next_tick(),
            self.running.due(),
            self.outbox.due(),
            self.redial_at,
            self.chatter_at,
            self.drain.as_ref().map(Drain::due),
        ];
        let soonest = times.into_iter().flatten().min();
        let latest = self.clock.mono() + LONGEST_SLEEP;
        soonest.map_or(latest, |at| at.min(latest))
    }

    /// Many ends and messages come at once under load; one turn takes them all.
    fn take_what_is_there(&mut self) {
        for _ in 0..TURN {
            let Ok(ended) = self.ended.1.try_recv() else { break };
            self.on_ended(ended);
        }
        for _ in 0..TURN {
            let Some(event) = self.wire.as_mut().and_then(Wire::try_next) else { break };
            self.on_wire(event);
        }
    }

    fn on_wire(&mut self, event: WireEvent) {
        match event {
            WireEvent::Dialled => {
                let mut acts = Vec::new();
                self.stream = self.setup.session.connected(self.clock.mono(), &mut acts);
                self.perform(acts);
            }
            WireEvent::Message(down) => self.on_message(down),
            WireEvent::Leader(url) => self.call_leader(&url),
            WireEvent::Room => {}
            WireEvent::Broken(reason) => {
                let greeted = self.setup.session.is_open();
                self.setup.session.disconnected();
                self.setup.addresses.broke(greeted);
                self.reconnect(reason);
            }
        }
    }

    fn on_message(&mut self, down: Down) {
        let message = match down {
            Down::Other(message) => message,
            Down::Assign(parcels) => {
                let works: Vec<Work> = parcels.iter().map(|parcel| parcel.work.clone()).collect();
                let now = self.clock.mono();
                let mut acts = Vec::new();
                self.setup.session.receive(now, self.stream, ToWorker::Assign(works), &mut acts);
                self.keep_offered(parcels, &acts);
                self.perform(acts);
                return;
            }
        };
        let now = self.clock.mono();
        let was_open = self.setup.session.is_open();
        let mut acts = Vec::new();
        self.setup.session.receive(now, self.stream, message, &mut acts);
        if !was_open && self.setup.session.is_open() {
            self.redial.reset();
            // Before the results: the log of an attempt that is over is not taken any more.
            for log in std::mem::take(&mut self.late_logs) {
                self.outbox.push(now, log);
            }
            self.chatter_at = Some(now);
            self.stand(None);
        }
        self.perform(acts);
    }

    fn begin_drain(&mut self, grace: Option<Duration>) {
        let now = self.clock.mono();
        let grace = grace.unwrap_or(self.setup.drain_grace);
        match &mut self.drain {
            Some(drain) => drain.hasten(now, grace),
            None => {
                tracing::info!("draining: takes nothing new, running handlers have {grace:?}");
                self.drain = Some(Drain::begin(now, grace, self.setup.cancel_grace));
                let mut acts = Vec::new();
                self.setup.session.drain(&mut acts);
                self.perform(acts);
                self.setup.status.update(|standing| standing.draining = true);
            }
        }
    }

    fn tick(&mut self) {
        let now = self.clock.mono();
        let mut acts = Vec::new();
        if self.setup.session.next_tick().is_some_and(|at| now >= at) {
            self.setup.session.tick(now, &mut acts);
        }
        while let Some((fence, alarm)) = self.running.next_alarm(now) {
            match alarm {
                Alarm::Timeout => self.setup.session.stop_handler(fence, CancelWhy::Timeout, &mut acts),
                Alarm::Abort => {
                    if let Some(live) = self.running.get(fence) {
                        live.abort.cancel();
                    }
                }
            }
        }
        self.perform(acts);
        self.tick_drain(now);
        if self.chatter_at.is_some_and(|at| now >= at) {
            self.chatter_at = None;
            self.send_chatter(now);
        }
        if self.redial_at.is_some_and(|at| now >= at) {
            self.redial_at = None;
            self.wire = Some(Wire::dial(self.setup.addresses.dial()));
        }
    }

    fn tick_drain(&mut self, now: Mono) {
        let Some(drain) = &mut self.drain else { return };
        let session = &mut self.setup.session;
        let unfinished = session.leases().count();
        if unfinished == 0 && !session.is_open() {
            drain.only_goodbye_is_left(now);
        }
        match drain.step(now) {
            None => {}
            Some(Step::StopHandlers) => {
                let mut acts = Vec::new();
                for fence in self.running.fences() {
                    session.stop_handler(fence, CancelWhy::Draining, &mut acts);
                }
                self.perform(acts);
            }
            Some(Step::GiveUp) => {
                self.finish.get_or_insert(Finish::GaveUp { unfinished });
            }
        }
    }

    fn send(&mut self) {
        let now = self.clock.mono();
        self.outbox.settle(now, self.running.is_empty());
        let Some(wire) = &self.wire else { return };
        while let Some(place) = self.outbox.is_ready().then(|| wire.try_reserve()).flatten() {
            if let Some(message) = self.outbox.pop() {
                place.send(message.into());
            }
        }
    }

    fn perform(&mut self, acts: Vec<Act>) {
        let now = self.clock.mono();
        for act in acts {
            match act {
                Act::Send(message) => self.outbox.push(now, message),
                Act::Reconnect => {
                    self.setup.addresses.broke(false);
                    self.reconnect("the server did not answer in time".into());
                }
                Act::Offer(work) => self.threads.queue(work.fence, work.threads),
                Act::Withdraw(fence) => {
                    self.threads.withdraw(fence);
                    self.held.remove(&fence);
                }
                Act::Cancel(fence, why) => self.running.cancel(now, fence, why, self.setup.cancel_grace),
                Act::Gone => self.be_reborn(),
                Act::DrainAsked => self.begin_drain(None),
                Act::Finished => self.finish = Some(Finish::Drained),
            }
        }
    }

    fn reconnect(&mut self, reason: String) {
        let delay = self.redial.next();
        tracing::warn!("not connected: {reason}; trying again in {delay:?}");
        self.wire = None;
        self.probe = None;
        self.outbox.clear();
        self.redial_at = Some(self.clock.mono() + delay);
        self.stand(Some(reason));
    }

    fn be_reborn(&mut self) {
        let (old, new) = (self.setup.session.id(), clock::fresh_session());
        tracing::warn!(session.id = %old, "session {old} was closed by the server; going on as {new}");
        self.setup.session = self.setup.session.clone().reborn(new);
        self.announce();
        self.reconnect("the server closed the session".into());
    }

    /// Tells who this is, before it can be given any work under that name.
    fn announce(&self) {
        let id = self.setup.session.id();
        self.setup.status.update(|standing| standing.session = id);
        if let Some(path) = &self.setup.session_file
            && let Err(error) = write_session(path, id)
        {
            tracing::warn!("cannot write the session's id to {}: {error}", path.display());
        }
    }

    fn stand(&self, trouble: Option<String>) {
        let open = self.setup.session.is_open();
        self.setup.status.update(|standing| {
            standing.open = open;
            standing.trouble = trouble;
        });
    }

    /// Drops every handler that can be dropped, and with it whatever it started, and says nothing: the leader
    /// ends the session by its TTL.
    async fn abandon(mut self) -> Finish {
        let unfinished = self.setup.session.leases().count();
        self.wire = None;
        self.running.iter().for_each(|live| live.abort.cancel());
        let dropped = async {
            while !self.running.is_empty() {
                let Some(ended) = self.ended.1.recv().await else { break };
                self.running.remove(ended.fence);
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
                let outbox = &mut self.outbox;
                wire.close(std::iter::from_fn(|| outbox.pop()).map(Into::into)).await;
            }
            Finish::GaveUp { unfinished } => {
                tracing::warn!("left with {unfinished} leases whose end was not acknowledged");
            }
        }
        self.setup.status.update(|standing| standing.open = false);
    }
}

/// A reader sees the old id or the new one, never half of it.
fn write_session(path: &Path, id: SessionId) -> std::io::Result<()> {
    let fresh = path.with_extension("new");
    std::fs::write(&fresh, id.to_string())?;
    std::fs::rename(fresh, path)
}
