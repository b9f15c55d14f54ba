//! The leader's side of the session protocol.
//!
//! # Who is right
//! The worker gives up first: the leader counts a session's TTL from the moment it *received* a sign
//! of life, plus slack, and the worker from the moment it sent it. A deadline only ever moves later.
//!
//! # What can go wrong
//! - *An old hello is read late.* Its stream number is not higher than the present one: ignored.
//! - *A worker reconnects.* It has resumed when its first ping on the new stream arrives; then it hears
//!   again, under the same fences, of every lease it has, and of every cancel still wanted. Before that
//!   it gets nothing new. Nothing is inferred from what it does not report.
//! - *A session expires.* One commit closes it and ends its leases, those still being committed included.
//!   From the decision on it gets no answer; only after the commit do its jobs move.
//! - *The leader or its store stood still.* Then silence proves nothing: everyone gets a fresh TTL.
//! - *The leader has no authority.* It answers nobody and expires nobody.

use std::time::Duration;

use crate::change::{Change, SessionRecord, WorkerInfo};
use crate::coordinator::effect::Effect;
use crate::coordinator::fleet::Signature;
use crate::coordinator::port::Output;
use crate::coordinator::roster::{Departed, SessionEntry, Standing};
use crate::coordinator::view::{Left, LeftWhy};
use crate::coordinator::{Coordinator, Timer};
use crate::event::WorkerState;
use crate::ids::{JobId, SessionId};
use crate::lease::Fence;
use crate::limits;
use crate::message::{CancelWhy, Hello, ToLeader, ToWorker};
use crate::outcome::Report;
use crate::rules::Ending;
use crate::sabotage::{self, Bug};
use crate::time::{Mono, Now};

/// Lost and departed workers that are still shown.
const DEPARTED_SHOWN: usize = 64;

impl Coordinator {
    pub(crate) fn on_worker_message(
        &mut self,
        now: Now,
        session: SessionId,
        stream: u64,
        message: ToLeader,
        out: &mut Vec<Output>,
    ) {
        let silent = !self.has_authority(now) && !sabotage::active(Bug::AnswerWithoutAuthority);
        if let ToLeader::Hello(hello) = message {
            if !silent {
                self.hello(now, hello, out);
            }
            return;
        }
        let Some(slot) = self.sessions.slot(session) else { return };
        let entry = self.sessions.get(slot);
        let answers = match entry.standing {
            Standing::Opening | Standing::Closing => false,
            Standing::Unresumed | Standing::Resumed => stream == entry.stream,
        };
        if !answers {
            return;
        }
        match message {
            ToLeader::Hello(_) => {}
            ToLeader::Ping { number } if !silent => self.ping(now, slot, number, out),
            ToLeader::Ping { .. } => {}
            ToLeader::Results(reports) => self.results(now, slot, reports, out),
            ToLeader::Progress { job, fence, fraction, note } => {
                self.progressed(slot, job, fence, fraction, note, out);
            }
            ToLeader::Log { job, fence, text } => self.logged(slot, job, fence, text),
            ToLeader::Mark { fence, stands, .. } => self.mark(slot, fence, stands, out),
            ToLeader::Drain => self.drain_session(now, slot, out),
            ToLeader::Goodbye => self.goodbye(now, slot),
        }
    }

    fn hello(&mut self, now: Now, hello: Hello, out: &mut Vec<Output>) {
        let seen = hello.highest;
        let later =
            seen.number > self.term.number || (seen.number == self.term.number && seen.id != self.term.id);
        if later && !sabotage::active(Bug::LowerTermAccepted) {
            // It has obeyed a later leader than this one: possible after an asynchronous failover or a restore.
            out.push(Output::StepDown { more_than: seen.number, reason: "a worker has seen a later term" });
            return;
        }
        let ttl = hello.worker.ttl.clamp(self.options.min_session_ttl, self.options.max_session_ttl);
        let Some(slot) = self.sessions.slot(hello.session) else {
            self.open_session(now, hello, ttl);
            return;
        };
        if sabotage::active(Bug::DeadlineMovedEarlier) {
            let deadline = now.mono + ttl + self.slack();
            self.sessions.get_mut(slot).deadline = deadline;
            self.watch(slot, deadline);
        }
        let entry = self.sessions.get_mut(slot);
        if hello.stream <= entry.stream {
            return;
        }
        entry.stream = hello.stream;
        match entry.standing {
            // It hears `gone` on this stream once its end is durable, `welcome` once its beginning is.
            Standing::Closing => return,
            Standing::Opening => {
                self.heard(now, slot);
                return;
            }
            Standing::Unresumed | Standing::Resumed => entry.standing = Standing::Unresumed,
        }
        let drains = hello.draining;
        self.heard(now, slot);
        self.update_visibility(slot);
        self.welcome(slot, out);
        if drains {
            self.drain_session(now, slot, out);
        }
    }

    fn open_session(&mut self, now: Now, hello: Hello, ttl: Duration) {
        let worker = WorkerInfo { ttl, ..hello.worker };
        let record = SessionRecord { id: hello.session, worker, opened_at: now.wall };
        let deadline = now.mono + ttl + self.slack();
        let entry = SessionEntry::new(record.clone(), Standing::Opening, now.mono, deadline);
        let slot =
            self.sessions.insert(SessionEntry { stream: hello.stream, draining: hello.draining, ..entry });
        self.watch(slot, deadline);
        self.commits.push(Change::OpenSession(record), Effect::OpenSession(hello.session));
    }

    /// The session is durable, or its id was closed before.
    pub(crate) fn session_opened(
        &mut self,
        now: Now,
        id: SessionId,
        ever_closed: bool,
        out: &mut Vec<Output>,
    ) {
        let Some(slot) = self.sessions.slot(id) else { return };
        if ever_closed {
            self.send(slot, ToWorker::Gone, out);
            self.forget(slot);
            return;
        }
        if self.sessions.get(slot).standing != Standing::Opening {
            return;
        }
        self.sessions.get_mut(slot).standing = Standing::Unresumed;
        if !self.sessions.get(slot).draining {
            self.enlist(slot);
        }
        let entry = self.sessions.get(slot);
        self.announce_worker(now.wall, id, &entry.worker, entry.state(), out);
        if self.has_authority(now) || sabotage::active(Bug::AnswerWithoutAuthority) {
            self.welcome(slot, out);
        }
    }

    /// Counts the session's worker in the fleet; it is chosen once it has resumed.
    pub(crate) fn enlist(&mut self, slot: u32) {
        let entry = self.sessions.get_mut(slot);
        entry.enlisted = true;
        let signature = Signature {
            queues: entry.worker.queues.iter().cloned().collect(),
            kinds: entry.worker.kinds.iter().cloned().collect(),
            labels: entry.worker.labels.clone(),
        };
        let (threads, free) = (entry.worker.threads, i32::from(entry.worker.threads) - entry.used);
        self.fleet.join(slot, signature, threads);
        self.fleet.set_free(slot, free);
        self.fleet_changed();
    }

    pub(crate) fn discharge(&mut self, slot: u32) {
        if !self.sessions.get(slot).enlisted {
            return;
        }
        self.release_reservation_of(slot);
        self.sessions.get_mut(slot).enlisted = false;
        self.fleet.leave(slot);
        self.fleet_changed();
    }

    fn welcome(&self, slot: u32, out: &mut Vec<Output>) {
        let ttl = self.sessions.get(slot).worker.ttl;
        self.send(slot, ToWorker::Welcome { term: self.term, ttl }, out);
    }

    fn ping(&mut self, now: Now, slot: u32, number: u64, out: &mut Vec<Output>) {
        self.heard(now, slot);
        self.send(slot, ToWorker::Pong { number }, out);
        if self.sessions.get(slot).standing == Standing::Unresumed {
            self.sessions.get_mut(slot).standing = Standing::Resumed;
            self.resumed(now, slot, out);
        }
    }

    /// It answers on its present stream: it hears again of everything it has.
    fn resumed(&mut self, now: Now, slot: u32, out: &mut Vec<Output>) {
        let entry = self.sessions.get(slot);
        let leases: Vec<u32> = entry.holds.leases().filter(|l| self.leases.get(*l).committed).collect();
        let stuck: Vec<(Fence, JobId)> = entry.stuck.iter().map(|(fence, (job, _))| (*fence, *job)).collect();
        self.announce_worker(now.wall, entry.id, &entry.worker, entry.state(), out);
        self.tell(now, slot, &leases, out);
        for (fence, job) in stuck {
            // The first cancel may never have arrived, and neither may the lease: the answer frees its threads.
            self.send(slot, ToWorker::Cancel { job, fence, why: CancelWhy::LeaseLost }, out);
        }
        if self.sessions.get(slot).draining {
            self.send(slot, ToWorker::Drain, out);
        }
        self.update_visibility(slot);
    }

    /// A sign of life. The deadline moves later, never earlier.
    fn heard(&mut self, now: Now, slot: u32) {
        let slack = self.slack();
        let entry = self.sessions.get_mut(slot);
        entry.heard_at = now.mono;
        entry.deadline = entry.deadline.max(now.mono + entry.worker.ttl + slack);
    }

    fn slack(&self) -> Duration {
        if sabotage::active(Bug::ZeroSlack) { Duration::ZERO } else { self.options.slack }
    }

    /// Silence proved nothing for a while: everyone gets a full fresh TTL.
    pub(crate) fn refresh_sessions(&mut self, now: Now) {
        let slots: Vec<u32> = self.sessions.iter().map(|(slot, _)| slot).collect();
        let slack = self.slack();
        for slot in slots {
            let entry = self.sessions.get_mut(slot);
            entry.deadline = entry.deadline.max(now.mono + entry.worker.ttl + slack);
        }
    }

    /// Looks at the session again at that moment.
    pub(crate) fn watch(&mut self, slot: u32, at: Mono) {
        let timer = self.timers.insert(at, Timer::Session(slot));
        if let Some(older) = self.sessions.get_mut(slot).timer.replace(timer) {
            self.timers.cancel(older);
        }
    }

    /// The timer of a session fired: it has expired, unless its deadline has moved.
    pub(crate) fn session_timer(&mut self, now: Now, slot: u32) {
        let Some(entry) = self.sessions.find(slot) else { return };
        if entry.standing == Standing::Closing {
            return;
        }
        if now.mono < entry.deadline {
            self.watch(slot, entry.deadline);
        } else if !self.has_authority(now) || entry.standing == Standing::Opening {
            self.watch(slot, now.mono + self.options.tick);
        } else {
            let silent = now.mono.since(entry.heard_at);
            self.close(now, slot, Ending::Lost, LeftWhy::Silent(silent));
        }
    }

    pub(crate) fn worker_died(&mut self, now: Now, session: SessionId) {
        if let Some(slot) = self.sessions.slot(session)
            && matches!(self.sessions.get(slot).standing, Standing::Unresumed | Standing::Resumed)
        {
            self.close(now, slot, Ending::Lost, LeftWhy::Died);
        }
    }

    /// It holds nothing. A lease it was given meanwhile was never started, and never will be.
    pub(crate) fn goodbye(&mut self, now: Now, slot: u32) {
        let released = Report::Released { started: false };
        self.close(now, slot, Ending::Reported(&released), LeftWhy::Goodbye);
    }

    /// Decides that a session is over: closing it and ending its leases is one commit.
    pub(crate) fn close(&mut self, now: Now, slot: u32, ending: Ending<'_>, why: LeftWhy) {
        self.discharge(slot);
        let leases: Vec<u32> = self.sessions.get(slot).holds.leases().collect();
        let held = leases.iter().map(|lease| self.jobs.get(self.leases.get(*lease).job).id);
        let jobs = held.take(limits::LEFT_JOBS).collect();
        let entry = self.sessions.get_mut(slot);
        entry.standing = Standing::Closing;
        entry.leaves = Some(Left { at: now.wall, why, held: leases.len(), jobs });
        let id = entry.id;
        for lease in leases {
            if sabotage::active(Bug::ExpiryForgetsInFlight) && !self.leases.get(lease).committed {
                continue;
            }
            self.end_lease(now, lease, &ending);
        }
        let lost = ending == Ending::Lost;
        self.commits.push(Change::CloseSession(id, now.wall), Effect::CloseSession { id, lost });
    }

    pub(crate) fn session_closed(&mut self, now: Now, id: SessionId, lost: bool, out: &mut Vec<Output>) {
        let Some(slot) = self.sessions.slot(id) else { return };
        let entry = self.forget(slot);
        let state = if lost { WorkerState::Lost } else { WorkerState::Gone };
        self.announce_worker(now.wall, id, &entry.worker, state, out);
        out.push(Output::Send { session: id, stream: entry.stream, message: ToWorker::Gone });
        if entry.worker.claim {
            return;
        }
        if self.sessions.departed.len() == DEPARTED_SHOWN {
            self.sessions.departed.pop_front();
        }
        let opened_at = entry.opened_at;
        let gone = Left { at: now.wall, why: LeftWhy::Goodbye, held: 0, jobs: Vec::new() };
        self.sessions.departed.push_back(Departed {
            id,
            worker: entry.worker,
            opened_at,
            left_at: now.mono,
            heard_at: entry.heard_at,
            lost,
            left: entry.leaves.unwrap_or(gone),
        });
    }

    fn forget(&mut self, slot: u32) -> SessionEntry {
        let entry = self.sessions.remove(slot);
        if let Some(timer) = entry.timer {
            self.timers.cancel(timer);
        }
        entry
    }

    pub(crate) fn is_resumed(&self, slot: u32) -> bool {
        self.sessions.get(slot).standing == Standing::Resumed
    }

    pub(crate) fn drain_session(&mut self, now: Now, slot: u32, out: &mut Vec<Output>) {
        if self.sessions.get(slot).draining && !self.sessions.get(slot).enlisted {
            return;
        }
        self.discharge(slot);
        self.sessions.get_mut(slot).draining = true;
        let entry = self.sessions.get(slot);
        self.announce_worker(now.wall, entry.id, &entry.worker, entry.state(), out);
    }

    /// Whether the worker may be chosen now.
    pub(crate) fn update_visibility(&mut self, slot: u32) {
        let entry = self.sessions.get(slot);
        if !entry.enlisted {
            return;
        }
        let claimed = entry.worker.claim && !entry.holds.is_empty();
        let visible = entry.standing == Standing::Resumed && !entry.reserved && !claimed;
        if entry.reserved && entry.standing != Standing::Resumed {
            self.release_reservation_of(slot);
            return;
        }
        if visible == self.fleet.is_shown(slot) {
            return;
        }
        if visible {
            self.fleet.show(slot);
            self.lines.touch(self.fleet.group(slot));
        } else {
            self.fleet.hide(slot);
        }
    }

    /// Threads were taken or given back.
    pub(crate) fn use_threads(&mut self, slot: u32, change: i32) {
        let entry = self.sessions.get_mut(slot);
        entry.used += change;
        if entry.enlisted {
            let free = i32::from(entry.worker.threads) - entry.used;
            self.fleet.set_free(slot, free);
            if change < 0 {
                self.lines.touch(self.fleet.group(slot));
            }
        }
    }
}
