//! The world: servers, workers, clients, a store, and the one queue of events that moves them.
//!
//! One thread, virtual time. Everything that happens is an [`Event`] at a moment; equal moments are taken in
//! the order in which they were scheduled. The coordinator and the worker's session are the real ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use ganger_core::change::{Applied, Batch};
use ganger_core::coordinator::port::{Ask, Reply, Ticket};
use ganger_core::{Fence, JobId, SessionId, Term};

use crate::checker::Checker;
use crate::client::Client;
use crate::net::Conn;
use crate::rng::Rng;
use crate::server::Server;
use crate::setup::{Clock, FAULTS_FOR, Faults, LEADER_TTL, MS, OVER_BY, S, SESSION_TTL, Time, options};
use crate::store::{Answer, Call, StoreSim};
use crate::worker::Worker;

/// Something that happens at a moment.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A server looks at its clock.
    ServerTick(usize),
    /// A server process starts again.
    ServerStarts(usize),
    /// A call arrives at the store.
    StoreCalled(Call),
    /// An answer of the store arrives.
    StoreAnswered(Answer),
    /// A server has waited long enough for the answer to a call.
    StoreSilent { server: usize, life: u32, call: u64 },
    /// A server sends a batch again whose outcome it does not know.
    SendAgain { server: usize, life: u32 },
    /// The next message of a stream arrives.
    Deliver { conn: usize, up: bool },
    /// A worker notices that its stream is broken.
    Broken { conn: usize },
    /// A worker opens its next stream.
    Connect { worker: usize, life: u32 },
    /// A worker's session looks at its clock.
    WorkerTick(usize),
    /// A worker process starts again.
    WorkerStarts(usize),
    /// A handler comes to its end.
    HandlerEnds { worker: usize, life: u32, fence: Fence, plan: u32 },
    /// A handler has run as long as it may.
    HandlerOverdue { worker: usize, life: u32, fence: Fence },
    /// The transaction of a handler comes to its commit.
    Complete { worker: usize, life: Option<u32>, job: JobId, fence: Fence },
    /// A handler wants a mark, or wants it off.
    AsksMark { worker: usize, life: u32, fence: Fence, stands: bool },
    /// A person marks a kind as transactional.
    MarkKind,
    /// A supervisor tells that a worker process died.
    Died(SessionId),
    /// A client sends its submission, for the first time or again.
    Submit(usize),
    /// A request arrives at a server.
    Asked { server: usize, life: u32, ticket: Ticket, ask: Ask },
    /// An answer arrives at the client.
    Replied(Ticket, Reply),
    /// Something goes wrong.
    Fault,
    /// A client meddles.
    Meddle,
    /// Somebody looks after the schedules.
    Schedules,
}

#[derive(Clone, Debug)]
struct Scheduled {
    at: Time,
    tie: u64,
    event: Event,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        self.tie == other.tie
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> std::cmp::Ordering {
        (self.at, self.tie).cmp(&(other.at, other.tie))
    }
}

/// What kind of run it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) faults: Faults,
    pub(crate) jobs: usize,
    pub(crate) workers: usize,
    pub(crate) traced: bool,
}

/// Everything there is.
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) rng: Rng,
    pub(crate) setup: Setup,
    /// Faults are over: everything must come to an end.
    pub(crate) healed: bool,
    queue: BinaryHeap<Reverse<Scheduled>>,
    tie: u64,
    pub(crate) events: u64,
    pub(crate) store: StoreSim,
    pub(crate) servers: Vec<Server>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) conns: Vec<Conn>,
    pub(crate) clients: Vec<Client>,
    pub(crate) tickets: Vec<crate::client::Errand>,
    pub(crate) schedules: Vec<crate::schedules::Planned>,
    pub(crate) checker: Checker,
}

impl World {
    /// A world at rest: servers on standby, workers about to connect, no client yet.
    pub(crate) fn new(setup: Setup) -> World {
        let mut rng = Rng::new(setup.seed);
        let faults = setup.faults;
        let servers = if faults.embedded { 1 } else { 3 };
        let servers = (0..servers).map(|_| Server::new(Clock::new(&mut rng, faults.drift))).collect();
        let workers = (0..setup.workers).map(|i| Worker::new(i, &mut rng, &faults)).collect();
        let mut world = World {
            now: 0,
            rng,
            setup,
            healed: false,
            queue: BinaryHeap::new(),
            tie: 0,
            events: 0,
            store: StoreSim::default(),
            servers,
            workers,
            conns: Vec::new(),
            clients: Vec::new(),
            tickets: Vec::new(),
            schedules: Vec::new(),
            checker: Checker::new(setup.traced),
        };
        for server in 0..world.servers.len() {
            let at = world.rng.range(0, 500 * MS);
            world.tick_server_at(server, at);
        }
        for worker in 0..world.workers.len() {
            let delay = world.rng.range(MS, 200 * MS);
            world.after(delay, Event::WorkerStarts(worker));
        }
        world
    }

    /// Adds the clients and the faults of a random run.
    pub(crate) fn populate(&mut self) {
        for client in 0..self.setup.jobs {
            let mut made = Client::random(client, &mut self.rng);
            if self.setup.faults.transactional {
                made.may_enqueue(&mut self.rng);
            }
            self.clients.push(made);
            let at = self.rng.range(0, 16 * S);
            self.after(at, Event::Submit(client));
        }
        if self.setup.faults.transactional {
            self.after(S, Event::MarkKind);
        }
        if self.setup.faults.limited {
            self.limit();
        }
        self.after(500 * MS, Event::Fault);
        if self.setup.faults.meddling {
            self.after(S, Event::Meddle);
        }
        if self.setup.faults.schedules {
            self.plan_schedules();
        }
    }

    /// Schedules an event.
    pub(crate) fn after(&mut self, delay: Time, event: Event) {
        self.tie += 1;
        self.queue.push(Reverse(Scheduled { at: self.now + delay, tie: self.tie, event }));
    }

    /// Runs until that moment, or until something is wrong.
    pub(crate) fn run_until(&mut self, until: Time) {
        while self.checker.violation.is_none() {
            match self.queue.peek() {
                Some(Reverse(next)) if next.at <= until => {}
                Some(_) | None => break,
            }
            let Some(Reverse(next)) = self.queue.pop() else { break };
            self.now = next.at;
            self.checker.now = next.at;
            self.events += 1;
            self.happen(next.event);
        }
        if self.checker.violation.is_none() {
            self.now = self.now.max(until);
            self.checker.now = self.now;
        }
    }

    /// Runs for that long.
    pub(crate) fn run_for(&mut self, long: Time) {
        self.run_until(self.now + long);
    }

    /// A whole random run: faults, then peace until all is final. The first violation, if any.
    pub(crate) fn run(&mut self) -> Option<String> {
        self.populate();
        self.run_until(FAULTS_FOR);
        self.heal();
        self.run_to_the_end();
        self.checker.violation.take()
    }

    /// From here on nothing goes wrong any more; everything must become final, and quiet.
    pub(crate) fn run_to_the_end(&mut self) {
        while self.checker.violation.is_none() {
            if self.is_over() {
                // A request may still be on its way.
                self.run_for(LEADER_TTL + SESSION_TTL);
                if self.checker.violation.is_some() || self.is_over() {
                    break;
                }
            }
            if self.now >= OVER_BY {
                let open = self.describe_what_is_open();
                self.checker.fail(format!("not everything came to an end: {open}"));
                return;
            }
            self.resume_queues();
            self.cancel_waiting();
            self.run_for(S);
        }
        if self.checker.violation.is_none() {
            self.check_the_end();
        }
    }

    fn happen(&mut self, event: Event) {
        if let Some(until) = self.asleep(&event) {
            self.after(until - self.now, event);
            return;
        }
        match event {
            Event::ServerTick(server) => self.server_tick(server),
            Event::ServerStarts(server) => self.server_starts(server),
            Event::StoreCalled(call) => self.store_called(call),
            Event::StoreAnswered(answer) => self.store_answered(answer),
            Event::StoreSilent { server, life, call } => self.store_silent(server, life, call),
            Event::SendAgain { server, life } => {
                if self.servers[server].life == life {
                    self.send_batches(server);
                }
            }
            Event::Deliver { conn, up: true } => self.deliver_up(conn),
            Event::Deliver { conn, up: false } => self.deliver_down(conn),
            Event::Broken { conn } => self.stream_broken(conn),
            Event::Connect { worker, life } => self.connect(worker, life),
            Event::WorkerTick(worker) => self.worker_tick(worker),
            Event::WorkerStarts(worker) => self.worker_starts(worker),
            Event::HandlerEnds { worker, life, fence, plan } => self.handler_ends(worker, life, fence, plan),
            Event::HandlerOverdue { worker, life, fence } => self.handler_overdue(worker, life, fence),
            Event::Complete { worker, life, job, fence } => self.complete(worker, life, job, fence),
            Event::AsksMark { worker, life, fence, stands } => self.asks_mark(worker, life, fence, stands),
            Event::MarkKind => self.mark_kind(),
            Event::Died(session) => self.worker_died(session),
            Event::Submit(client) => self.submit(client),
            Event::Asked { server, life, ticket, ask } => self.asked(server, life, ticket, ask),
            Event::Replied(ticket, reply) => self.replied(ticket, &reply),
            Event::Fault => self.random_fault(),
            Event::Meddle => self.meddle(),
            Event::Schedules => self.tend_schedules(),
        }
    }

    /// Whoever is stopped notices nothing until it goes on.
    fn asleep(&self, event: &Event) -> Option<Time> {
        let server = |s: usize| self.servers[s].paused_until;
        let worker = |w: usize| self.workers[w].paused_until;
        let until = match event {
            Event::ServerTick(s) | Event::Asked { server: s, .. } => server(*s),
            Event::StoreSilent { server: s, .. } | Event::SendAgain { server: s, .. } => server(*s),
            Event::StoreAnswered(answer) => server(answer.server),
            Event::Deliver { conn, up: true } => {
                self.conns[*conn].late_up.max(server(self.conns[*conn].server))
            }
            Event::Deliver { conn, up: false } => {
                self.conns[*conn].late_down.max(worker(self.conns[*conn].worker))
            }
            Event::Broken { conn } => worker(self.conns[*conn].worker),
            Event::Connect { worker: w, .. }
            | Event::HandlerEnds { worker: w, .. }
            | Event::HandlerOverdue { worker: w, .. }
            | Event::AsksMark { worker: w, .. }
            | Event::Complete { worker: w, life: Some(_), .. } => worker(*w),
            Event::WorkerTick(w) => worker(*w),
            Event::StoreCalled(_)
            | Event::ServerStarts(_)
            | Event::WorkerStarts(_)
            | Event::Died(_)
            | Event::Submit(_)
            | Event::Replied(..)
            | Event::Fault
            | Event::Complete { .. }
            | Event::MarkKind
            | Event::Schedules
            | Event::Meddle => 0,
        };
        (until > self.now).then_some(until)
    }

    pub(crate) fn server_options(&mut self) -> ganger_core::coordinator::port::Options {
        options(&self.setup.faults, self.rng.next())
    }

    /// The server that leads the store's present term, if it knows.
    pub(crate) fn leader(&self) -> Option<usize> {
        let term: Term = self.store.state.term();
        (0..self.servers.len()).find(|s| self.servers[*s].term() == Some(term))
    }

    /// Writes a line to the trace, if there is one.
    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        self.checker.note(text);
    }
}

/// A batch that was handed to the writer.
#[derive(Clone, Debug)]
pub(crate) struct Outstanding {
    pub(crate) batch: Arc<Batch>,
    /// The last call that carried it.
    pub(crate) call: u64,
    /// What it came to, once that is known.
    pub(crate) applied: Option<Vec<Applied>>,
}
