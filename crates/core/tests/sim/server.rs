//! A server: down, on standby, taking over, or leading with the real coordinator.

use std::collections::{BTreeMap, VecDeque};

use ganger_core::change::{Batch, LivePage, Snapshot};
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Ask, Input, Output, Ticket};
use ganger_core::event::Event;
use ganger_core::leadership::{Step, Takeover};
use ganger_core::message::ToLeader;
use ganger_core::sending::Sending;
use ganger_core::{Mono, SessionId, Term};

use crate::setup::{Clock, LEADER_TTL, MS, S, Time};
use crate::store::{Answer, StoreAnswer, StoreAsk};
use crate::world::{self, Outstanding, World};

/// A server process and its place in the order of things.
pub(crate) struct Server {
    pub(crate) life: u32,
    pub(crate) clock: Clock,
    pub(crate) role: Role,
    /// Stopped until then.
    pub(crate) paused_until: Time,
    /// Cannot reach the store until then.
    pub(crate) cut_until: Time,
    /// Its next look at the clock; earlier ones were superseded.
    tick_at: Time,
    /// Which stream a session's number is, on this server.
    pub(crate) links: BTreeMap<(SessionId, u64), usize>,
    /// Its next look into the inbox.
    pub(crate) look_at: Time,
    /// Read from streams while it did not lead.
    unread: Vec<(usize, ToLeader)>,
}

pub(crate) enum Role {
    Down,
    Standby,
    TakingOver { takeover: Takeover, call: u64, more_than: u64, snapshot: Option<Box<Snapshot>> },
    Leading(Box<Leading>),
}

pub(crate) struct Leading {
    pub(crate) coordinator: Coordinator,
    /// Batches that were handed over and are not settled, in order.
    pub(crate) outstanding: VecDeque<Outstanding>,
    /// What was heard of them.
    pub(crate) sending: Sending,
    renew_at: Mono,
    /// The call that reads a page for it.
    reading: Option<u64>,
}

impl Server {
    pub(crate) fn new(clock: Clock) -> Server {
        Server {
            life: 1,
            clock,
            role: Role::Standby,
            paused_until: 0,
            cut_until: 0,
            tick_at: 0,
            links: BTreeMap::new(),
            look_at: 0,
            unread: Vec::new(),
        }
    }

    /// The term it believes to lead.
    pub(crate) fn term(&self) -> Option<Term> {
        self.coordinator().map(Coordinator::term)
    }

    /// The batches that were handed over and not yet settled.
    pub(crate) fn outstanding(&self) -> impl Iterator<Item = &Batch> {
        let outstanding = match &self.role {
            Role::Leading(leading) => Some(&leading.outstanding),
            Role::Down | Role::Standby | Role::TakingOver { .. } => None,
        };
        outstanding.into_iter().flatten().map(|outstanding| &*outstanding.batch)
    }

    pub(crate) fn coordinator(&self) -> Option<&Coordinator> {
        match &self.role {
            Role::Leading(leading) => Some(&leading.coordinator),
            Role::Down | Role::Standby | Role::TakingOver { .. } => None,
        }
    }
}

impl World {
    pub(crate) fn tick_server_at(&mut self, server: usize, at: Time) {
        let at = at.max(self.now + 1);
        let planned = self.servers[server].tick_at;
        if planned > self.now && planned <= at {
            return;
        }
        self.servers[server].tick_at = at;
        self.after(at - self.now, world::Event::ServerTick(server));
    }

    pub(crate) fn server_tick(&mut self, server: usize) {
        if self.now < self.servers[server].tick_at {
            return;
        }
        match self.servers[server].role {
            Role::Down | Role::TakingOver { .. } => {}
            Role::Standby => {
                self.call_store(server, StoreAsk::Poll);
                let pause = self.rng.range(400 * MS, 600 * MS);
                self.tick_server_at(server, self.now + pause);
            }
            Role::Leading(_) => {
                self.lead(server, Input::Tick);
                self.renew(server);
                self.look_into_inbox(server);
            }
        }
    }

    fn renew(&mut self, server: usize) {
        let mono = self.servers[server].clock.mono(self.now);
        let Role::Leading(leading) = &mut self.servers[server].role else { return };
        if self.setup.faults.embedded || mono < leading.renew_at {
            return;
        }
        leading.renew_at = mono + std::time::Duration::from_micros(LEADER_TTL / 3);
        let term = leading.coordinator.term();
        self.call_store(server, StoreAsk::Renew { term, sent_at: mono });
    }

    /// Begins a takeover, whatever the others do.
    pub(crate) fn take_over(&mut self, server: usize, more_than: u64) {
        let (takeover, step) = Takeover::begin(self.servers[server].clock.mono(self.now));
        self.note(|| format!("server {server} takes over"));
        if matches!(self.servers[server].role, Role::Leading(_)) {
            self.drop_links(server);
        }
        self.servers[server].role = Role::TakingOver { takeover, call: 0, more_than, snapshot: None };
        self.carry_out(server, step);
    }

    fn carry_out(&mut self, server: usize, step: Step) {
        let Role::TakingOver { more_than, .. } = self.servers[server].role else { return };
        let ask = match step {
            Step::Bump => StoreAsk::Bump { more_than },
            Step::Load => StoreAsk::Load,
            Step::Lead(reign) => {
                let options = self.server_options();
                let this = &mut self.servers[server];
                let now = this.clock.now(self.now);
                let Role::TakingOver { snapshot, .. } = &mut this.role else { return };
                let snapshot = *snapshot.take().unwrap_or_default();
                let coordinator = Coordinator::new(options, reign, snapshot, now);
                this.role = Role::Leading(Box::new(Leading {
                    coordinator,
                    outstanding: VecDeque::new(),
                    sending: Sending::default(),
                    renew_at: now.mono,
                    reading: None,
                }));
                self.note(|| format!("server {server} leads term {}", reign.term));
                self.lead(server, Input::Tick);
                self.renew(server);
                for (conn, message) in std::mem::take(&mut self.servers[server].unread) {
                    self.read(conn, message);
                }
                return;
            }
        };
        let sent = self.call_store(server, ask);
        if let Role::TakingOver { call, .. } = &mut self.servers[server].role {
            *call = sent;
        }
    }

    pub(crate) fn store_answered(&mut self, answer: Answer) {
        let server = answer.server;
        if self.servers[server].life != answer.life {
            return;
        }
        match answer.what {
            StoreAnswer::Row { age } => {
                if matches!(self.servers[server].role, Role::Standby) && age >= self.patience() {
                    self.take_over(server, 0);
                }
            }
            StoreAnswer::Bumped(term) => {
                let mono = self.servers[server].clock.mono(self.now);
                if let Role::TakingOver { takeover, call, .. } = &mut self.servers[server].role
                    && *call == answer.call
                {
                    let step = takeover.bumped(mono, term);
                    self.carry_out(server, step);
                }
            }
            StoreAnswer::Loaded(loaded) => {
                if let Role::TakingOver { takeover, call, snapshot, .. } = &mut self.servers[server].role
                    && *call == answer.call
                {
                    *snapshot = Some(loaded);
                    let step = takeover.loaded();
                    self.carry_out(server, step);
                }
            }
            StoreAnswer::Inbox(rows) => self.inbox_seen(server, rows),
            StoreAnswer::Live(page) => self.page_read(server, answer.call, Some(page)),
            StoreAnswer::Committed { term, number, result } => {
                self.batch_answered(server, term, number, result);
            }
            StoreAnswer::Renewed { term, sent_at, held } => {
                if self.servers[server].term() != Some(term) {
                } else if held {
                    self.lead(server, Input::Renewed { sent_at });
                } else {
                    self.step_down(server);
                }
            }
        }
    }

    /// How old the leader's row may become before a standby takes over.
    fn patience(&self) -> Time {
        if self.setup.faults.embedded { 0 } else { LEADER_TTL }
    }

    /// A call was not answered in time.
    pub(crate) fn store_silent(&mut self, server: usize, life: u32, call: u64) {
        if self.servers[server].life != life {
            return;
        }
        self.page_read(server, call, None);
        match &mut self.servers[server].role {
            Role::Down | Role::Standby => {}
            Role::TakingOver { call: waiting, more_than, .. } => {
                if *waiting == call {
                    let more_than = *more_than;
                    if self.rng.one_in(2) {
                        self.take_over(server, more_than);
                    } else {
                        self.servers[server].role = Role::Standby;
                        self.tick_server_at(server, self.now + 100 * MS);
                    }
                }
            }
            Role::Leading(_) => self.batch_unanswered(server, call),
        }
    }

    /// A page arrived, or the wait for it is over.
    fn page_read(&mut self, server: usize, call: u64, page: Option<Box<LivePage>>) {
        if let Role::Leading(leading) = &mut self.servers[server].role
            && leading.reading == Some(call)
        {
            leading.reading = None;
            self.lead(server, Input::LiveRead(page));
        }
    }

    pub(crate) fn step_down(&mut self, server: usize) {
        self.note(|| format!("server {server} steps down"));
        self.servers[server].role = Role::Standby;
        self.drop_links(server);
        self.tick_server_at(server, self.now + 200 * MS);
    }

    /// A message from a worker reaches a server.
    pub(crate) fn read(&mut self, conn: usize, message: ToLeader) {
        let link = &self.conns[conn];
        let (server, session, stream) = (link.server, link.session, link.stream);
        match &self.servers[server].role {
            Role::Leading(_) => {
                self.servers[server].links.insert((session, stream), conn);
                self.lead(server, Input::FromWorker { session, stream, message });
            }
            Role::Standby | Role::TakingOver { .. } if link.silent => {
                self.servers[server].unread.push((conn, message));
            }
            Role::Standby | Role::TakingOver { .. } => self.break_stream(conn, true),
            Role::Down => {}
        }
    }

    pub(crate) fn asked(&mut self, server: usize, life: u32, ticket: Ticket, ask: Ask) {
        if self.servers[server].life == life && matches!(self.servers[server].role, Role::Leading(_)) {
            self.lead(server, Input::Ask(ticket, ask));
        }
    }

    pub(crate) fn worker_died(&mut self, session: SessionId) {
        for server in 0..self.servers.len() {
            if matches!(self.servers[server].role, Role::Leading(_))
                && self.servers[server].paused_until < self.now
            {
                self.lead(server, Input::WorkerDied(session));
            }
        }
    }

    /// Gives an input to a leader's coordinator and does what it says.
    pub(crate) fn lead(&mut self, server: usize, input: Input) {
        let mut outputs = Vec::new();
        let now = self.servers[server].clock.now(self.now);
        let Role::Leading(leading) = &mut self.servers[server].role else { return };
        let quiet = input == Input::Tick;
        leading.coordinator.handle(now, input, &mut outputs);
        leading.coordinator.settle(now, &mut outputs);
        let next = leading.coordinator.next_tick();
        let busy = next <= now.mono;
        self.checker.require(!busy, || format!("server {server} would spin: its next tick is now"));
        let next = if self.setup.faults.embedded { next } else { next.min(leading.renew_at) };
        let at = self.servers[server].clock.when(next).min(self.now + S);
        self.tick_server_at(server, at);
        if !quiet || !outputs.is_empty() {
            self.check_memory(server);
        }
        for output in outputs {
            self.do_output(server, output);
        }
        self.check_unseen(server);
    }

    fn do_output(&mut self, server: usize, output: Output) {
        match output {
            Output::Commit(batch) => self.write(server, batch),
            Output::Reply(ticket, reply) => self.answer_client(ticket, reply),
            Output::Send { session, stream, message } => {
                if let Some(conn) = self.servers[server].links.get(&(session, stream)).copied() {
                    self.send_down(conn, message);
                }
            }
            Output::Event(Event::Job { job, .. } | Event::Attempt { job, .. }) => self.checker.told_of(job),
            Output::Event(Event::Difference { job, what, .. }) => self.checker.differs(job, what),
            Output::Event(_) => {}
            Output::ReadLive(query) => {
                let call = self.call_store(server, StoreAsk::Live(query));
                if let Role::Leading(leading) = &mut self.servers[server].role {
                    let two = leading.reading.replace(call).is_some();
                    self.checker.require(!two, || format!("server {server} reads two pages at once"));
                }
            }
            Output::Reconciled(came) => self.checker.reconciled.push(came),
            Output::StepDown { more_than, reason } => {
                self.note(|| format!("server {server}: {reason}"));
                self.step_down(server);
                if self.rng.one_in(2) {
                    self.take_over(server, more_than);
                }
            }
        }
    }

    pub(crate) fn crash_server(&mut self, server: usize, restart_in: Time) {
        self.note(|| format!("server {server} crashes"));
        self.drop_links(server);
        let this = &mut self.servers[server];
        this.life += 1;
        this.role = Role::Down;
        this.paused_until = 0;
        self.after(restart_in, world::Event::ServerStarts(server));
    }

    pub(crate) fn server_starts(&mut self, server: usize) {
        if matches!(self.servers[server].role, Role::Down) {
            self.servers[server].role = Role::Standby;
            self.tick_server_at(server, self.now + MS);
        }
    }

    fn drop_links(&mut self, server: usize) {
        self.servers[server].unread.clear();
        let links = std::mem::take(&mut self.servers[server].links);
        for conn in links.into_values() {
            self.break_stream(conn, true);
        }
    }
}
