//! The worker's side of the session protocol.
//!
//! # Who is right
//! The leader decides what a session may run; the worker decides when to give up. Both measure the
//! same TTL on their own monotonic clocks: the worker from the moment it *sent* the last hello or
//! ping that was answered, the leader from the moment it *received* it, plus slack. Sending comes
//! before receiving, so the worker always gives up first, and the leader never hands a job to
//! another while this one still believes in its lease.
//!
//! # What can go wrong
//! - *The connection breaks.* Nothing is lost: handlers go on within the TTL, results are kept, and
//!   the next stream, with a higher number, carries them again.
//! - *No answer for a TTL.* The session **lapses**: nothing is started, held work is handed back,
//!   handlers are told to stop. The leader may still resume it if it did not expire.
//! - *An old answer arrives.* Whatever came on an older stream is ignored; a welcome older than the
//!   TTL is no welcome.
//! - *A deposed leader talks.* A term lower than the highest accepted one is ignored.
//! - *The leader closed the session.* It is **gone** for ever; the process goes on as another
//!   session, and late results are offered under fences that the leader will refuse.
//!
//! ```text
//!          connected            welcome in time
//!   Down ───────────▶ Greeting ───────────────▶ Open ──── gone ───▶ Gone
//!    ▲                   │                       │
//!    └── no answer, break┴──── lapse, break ─────┘
//! ```

mod liveness;
mod marks;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::change::WorkerInfo;
use crate::ids::SessionId;
use crate::lease::{Fence, Term};
use crate::message::{AttemptReport, CancelWhy, Hello, ToLeader, ToWorker, Work};
use crate::outcome::Report;
use crate::sabotage::{self, Bug};
use crate::time::Mono;

/// Unstarted work is handed back after this long, so that another worker can take it.
pub const HELD_AT_MOST: Duration = Duration::from_secs(1);
/// Pings remembered while unanswered. Older ones could only extend the session less.
const PINGS_REMEMBERED: usize = 16;

/// What a lapse does to running handlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLapse {
    /// They are told to stop.
    #[default]
    Cancel,
    /// They may finish, and offer a result that the fence may refuse.
    Continue,
}

/// What the session asks of the process around it.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Send on the present stream.
    Send(ToLeader),
    /// Give up the present stream and connect again.
    Reconnect,
    /// There is work: start it when its threads are free and [`Session::try_start`] agrees.
    Offer(Work),
    /// Work that was offered and is not to be started any more.
    Withdraw(Fence),
    /// Tell this handler to stop.
    Cancel(Fence, CancelWhy),
    /// Tell this handler whether its mark stands.
    Marked(Fence, bool),
    /// The session is closed for ever: go on with [`Session::reborn`].
    Gone,
    /// The server asked for a drain.
    DrainAsked,
    /// Drained: everything was acknowledged and goodbye is said.
    Finished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Down,
    Greeting { sent_at: Mono },
    Open,
    Gone,
}

#[derive(Clone, Debug)]
struct Held {
    work: Work,
    phase: Phase,
    /// What the handler asked of its mark, until that is answered.
    asked: Option<bool>,
}

#[derive(Clone, Debug)]
enum Phase {
    Waiting { since: Mono },
    Running { stopping: Option<CancelWhy> },
    Ended(AttemptReport),
}

/// One life of a worker process, as a state machine.
#[derive(Clone, Debug)]
pub struct Session {
    id: SessionId,
    worker: WorkerInfo,
    on_lapse: OnLapse,
    ttl: Duration,
    stream: u64,
    link: Link,
    highest: Term,
    /// Sending moment of the last hello or ping that was answered.
    answered: Option<Mono>,
    lapsed: bool,
    draining: bool,
    finished: bool,
    next_ping: u64,
    pinged_at: Mono,
    pings: VecDeque<(u64, Mono)>,
    /// Largest fence assigned on this stream: fences only grow, so anything else is a repetition.
    assigned: Option<Fence>,
    leases: BTreeMap<Fence, Held>,
}

impl Session {
    /// A fresh life. `worker.ttl` is the TTL asked for; the welcome may state another.
    #[must_use]
    pub fn new(id: SessionId, worker: WorkerInfo, on_lapse: OnLapse) -> Session {
        Session {
            id,
            ttl: worker.ttl,
            worker,
            on_lapse,
            stream: 0,
            link: Link::Down,
            highest: Term::default(),
            answered: None,
            lapsed: false,
            draining: false,
            finished: false,
            next_ping: 1,
            pinged_at: Mono::default(),
            pings: VecDeque::new(),
            assigned: None,
            leases: BTreeMap::new(),
        }
    }

    /// The next life of the same process, after this one is gone. Handlers that still run, and
    /// results that were never acknowledged, come along: the leader will refuse them by their
    /// fences, and the worker learns that it lost those leases.
    #[must_use]
    pub fn reborn(self, id: SessionId) -> Session {
        let mut next = Session::new(id, self.worker, self.on_lapse);
        // Streams go on counting: what arrives late on one of the old life must not pass for the new one's.
        next.stream = self.stream;
        next.highest = self.highest;
        next.draining = self.draining;
        next.leases = self.leases;
        next
    }

    /// This session's identity.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Whether the leader has welcomed the present stream.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.link == Link::Open
    }

    /// Leases that are held, running, or ended and not yet acknowledged.
    pub fn leases(&self) -> impl Iterator<Item = &Work> + '_ {
        self.leases.values().map(|held| &held.work)
    }

    /// Whether a handler runs under this fence.
    #[must_use]
    pub fn is_running(&self, fence: Fence) -> bool {
        matches!(self.leases.get(&fence), Some(Held { phase: Phase::Running { .. }, .. }))
    }

    /// When [`Session::tick`] is next needed.
    #[must_use]
    pub fn next_tick(&self) -> Option<Mono> {
        let held = self.leases.values().filter_map(|h| match h.phase {
            Phase::Waiting { since } => Some(since + HELD_AT_MOST),
            Phase::Running { .. } | Phase::Ended(_) => None,
        });
        let link = match self.link {
            Link::Down | Link::Gone => None,
            Link::Greeting { sent_at } => Some(sent_at + self.ttl),
            Link::Open => Some(self.pinged_at + self.ping_every()),
        };
        let lapse = (!self.lapsed).then_some(self.answered).flatten().map(|at| at + self.ttl);
        held.chain(link).chain(lapse).min()
    }

    /// A new stream is open: greet. Everything on it carries the number returned.
    pub fn connected(&mut self, now: Mono, acts: &mut Vec<Act>) -> u64 {
        self.stream += 1;
        self.link = Link::Greeting { sent_at: now };
        self.pings.clear();
        self.assigned = None;
        acts.push(Act::Send(ToLeader::Hello(Hello {
            session: self.id,
            stream: self.stream,
            worker: self.worker.clone(),
            highest: self.highest,
            draining: self.draining,
        })));
        self.stream
    }

    /// The present stream broke. That alone proves nothing.
    pub fn disconnected(&mut self) {
        if self.link != Link::Gone {
            self.link = Link::Down;
        }
    }

    /// A message arrived on the stream of that number.
    pub fn receive(&mut self, now: Mono, stream: u64, message: ToWorker, acts: &mut Vec<Act>) {
        if self.link == Link::Gone {
            return;
        }
        if stream != self.stream {
            if let (ToWorker::Assign(works), true) = (message, sabotage::active(Bug::OldStreamAccepted)) {
                self.assign(now, works, acts);
            }
            return;
        }
        match (self.link, message) {
            (_, ToWorker::Gone) => self.gone(acts),
            (Link::Greeting { sent_at }, ToWorker::Welcome { term, ttl }) => {
                self.welcomed(now, sent_at, term, ttl, acts);
            }
            (Link::Open, ToWorker::Pong { number }) => self.ponged(now, number),
            (Link::Open, ToWorker::Assign(works)) => self.assign(now, works, acts),
            (Link::Open, ToWorker::Ack(fences)) => self.acknowledged(&fences, acts),
            (Link::Open, ToWorker::Cancel { job, fence, .. }) if !self.leases.contains_key(&fence) => {
                // Nothing of it runs here, or ever will. The leader may keep threads occupied for it.
                let report = Report::Released { started: false };
                let report = AttemptReport { job, fence, report, ran: Duration::ZERO };
                acts.push(Act::Send(ToLeader::Results(vec![report])));
            }
            (Link::Open, ToWorker::Cancel { fence, why, .. }) => self.stop_handler(fence, why, acts),
            (Link::Open, ToWorker::Marked { fence, stands }) => self.marked(fence, stands, acts),
            (Link::Open, ToWorker::Drain) => acts.push(Act::DrainAsked),
            // Before the welcome, or after a lapse, nothing else has a meaning on this stream.
            (Link::Down | Link::Greeting { .. } | Link::Open | Link::Gone, _) => {}
        }
    }

    /// Time passed: ping, notice a lapse, hand back what waited too long.
    pub fn tick(&mut self, now: Mono, acts: &mut Vec<Act>) {
        if let Link::Greeting { sent_at } = self.link
            && now >= sent_at + self.ttl
        {
            self.link = Link::Down;
            acts.push(Act::Reconnect);
        }
        if !self.lapsed && self.answered.is_some_and(|at| now >= at + self.ttl) {
            self.lapse(acts);
        }
        let overdue: Vec<Fence> = self
            .leases
            .iter()
            .filter(|(_, h)| matches!(h.phase, Phase::Waiting { since } if now >= since + HELD_AT_MOST))
            .map(|(fence, _)| *fence)
            .collect();
        for fence in overdue {
            self.hand_back(fence, acts);
        }
        if self.link == Link::Open && now >= self.pinged_at + self.ping_every() {
            self.ping(now, acts);
        }
    }

    /// Whether the handler under this fence may begin now; if so it counts as running.
    pub fn try_start(&mut self, now: Mono, fence: Fence) -> bool {
        let alive = !self.lapsed && self.answered.is_some_and(|at| now < at + self.ttl);
        match self.leases.get_mut(&fence) {
            Some(held) if alive && matches!(held.phase, Phase::Waiting { .. }) => {
                held.phase = Phase::Running { stopping: None };
                true
            }
            _ => false,
        }
    }

    /// The handler under this fence is over.
    pub fn ended(&mut self, fence: Fence, report: Report, ran: Duration, acts: &mut Vec<Act>) {
        let Some(held) = self.leases.get_mut(&fence) else { return };
        let Phase::Running { stopping } = held.phase else { return };
        let report = match (stopping, report) {
            // It stopped because it was told to, not because it failed.
            (Some(CancelWhy::Lapsed | CancelWhy::LeaseLost | CancelWhy::Draining), Report::Cancelled) => {
                Report::Released { started: true }
            }
            (Some(CancelWhy::Timeout), Report::Cancelled) => Report::Timeout,
            (_, report) => report,
        };
        let report = AttemptReport { job: held.work.job, fence, report, ran };
        held.phase = Phase::Ended(report.clone());
        held.asked = None;
        if self.link == Link::Open {
            acts.push(Act::Send(ToLeader::Results(vec![report])));
        }
    }

    /// Take nothing new: hand back what has not begun, and finish when the rest is acknowledged.
    pub fn drain(&mut self, acts: &mut Vec<Act>) {
        self.draining = true;
        if self.link == Link::Open {
            acts.push(Act::Send(ToLeader::Drain));
        }
        for fence in self.waiting() {
            self.hand_back(fence, acts);
        }
        self.finish_if_drained(acts);
    }

    fn ping_every(&self) -> Duration {
        self.ttl / 3
    }

    fn waiting(&self) -> Vec<Fence> {
        let waits = |h: &Held| matches!(h.phase, Phase::Waiting { .. });
        self.leases.iter().filter(|(_, h)| waits(h)).map(|(f, _)| *f).collect()
    }

    fn welcomed(&mut self, now: Mono, sent_at: Mono, term: Term, ttl: Duration, acts: &mut Vec<Act>) {
        let lower = term.number < self.highest.number
            || (term.number == self.highest.number && term.id != self.highest.id);
        if lower && !sabotage::active(Bug::LowerTermAccepted) {
            return;
        }
        if now >= sent_at + ttl {
            // The leader counts from a hello that is older than the TTL: this stream is useless.
            self.link = Link::Down;
            acts.push(Act::Reconnect);
            return;
        }
        self.highest = term;
        self.ttl = ttl;
        self.link = Link::Open;
        self.lapsed = false;
        self.heard(now, sent_at);
        if self.draining {
            // The hello may have been sent before the drain began.
            acts.push(Act::Send(ToLeader::Drain));
        }
        self.ping(now, acts);
        self.ask_for_marks(acts);
        let unacknowledged: Vec<AttemptReport> = self
            .leases
            .values()
            .filter_map(|h| match &h.phase {
                Phase::Ended(report) => Some(report.clone()),
                Phase::Waiting { .. } | Phase::Running { .. } => None,
            })
            .collect();
        if !unacknowledged.is_empty() {
            acts.push(Act::Send(ToLeader::Results(unacknowledged)));
        }
        self.finish_if_drained(acts);
    }

    fn assign(&mut self, now: Mono, works: Vec<Work>, acts: &mut Vec<Act>) {
        for work in works {
            let repeated = self.assigned.is_some_and(|last| work.fence <= last);
            let known = match self.leases.get(&work.fence) {
                Some(h) if sabotage::active(Bug::OnlyRunningFencesKnown) => {
                    matches!(h.phase, Phase::Running { .. })
                }
                Some(_) => true,
                None => repeated,
            };
            self.assigned = self.assigned.max(Some(work.fence));
            if known {
                continue;
            }
            let fence = work.fence;
            self.leases.insert(
                fence,
                Held { work: work.clone(), phase: Phase::Waiting { since: now }, asked: None },
            );
            if self.draining {
                self.hand_back(fence, acts);
            } else {
                acts.push(Act::Offer(work));
            }
        }
    }

    fn acknowledged(&mut self, fences: &[Fence], acts: &mut Vec<Act>) {
        for fence in fences {
            if let Some(Held { phase: Phase::Ended(_), .. }) = self.leases.get(fence) {
                self.leases.remove(fence);
            }
        }
        self.finish_if_drained(acts);
    }

    /// The leader, the worker's own clock, or the process wants it to stop.
    pub fn stop_handler(&mut self, fence: Fence, why: CancelWhy, acts: &mut Vec<Act>) {
        match self.leases.get_mut(&fence).map(|h| &mut h.phase) {
            Some(Phase::Running { stopping }) => {
                // The first reason stands: a lapse during a cancel does not undo the cancel.
                if stopping.is_none() {
                    *stopping = Some(why);
                    acts.push(Act::Cancel(fence, why));
                }
            }
            Some(Phase::Waiting { .. }) => self.hand_back(fence, acts),
            Some(Phase::Ended(_)) | None => {}
        }
    }

    fn hand_back(&mut self, fence: Fence, acts: &mut Vec<Act>) {
        let Some(held) = self.leases.get_mut(&fence) else { return };
        let report = AttemptReport {
            job: held.work.job,
            fence,
            report: Report::Released { started: false },
            ran: Duration::ZERO,
        };
        held.phase = Phase::Ended(report.clone());
        acts.push(Act::Withdraw(fence));
        if self.link == Link::Open {
            acts.push(Act::Send(ToLeader::Results(vec![report])));
        }
    }

    fn lapse(&mut self, acts: &mut Vec<Act>) {
        self.lapsed = true;
        if self.link == Link::Open {
            self.link = Link::Down;
            acts.push(Act::Reconnect);
        }
        for fence in self.waiting() {
            self.hand_back(fence, acts);
        }
        if self.on_lapse == OnLapse::Cancel {
            self.stop_all(CancelWhy::Lapsed, acts);
        }
    }

    fn gone(&mut self, acts: &mut Vec<Act>) {
        self.link = Link::Gone;
        for fence in self.waiting() {
            self.leases.remove(&fence);
            acts.push(Act::Withdraw(fence));
        }
        self.refuse_marks(acts);
        if self.on_lapse == OnLapse::Cancel {
            self.stop_all(CancelWhy::LeaseLost, acts);
        }
        acts.push(Act::Gone);
    }

    fn stop_all(&mut self, why: CancelWhy, acts: &mut Vec<Act>) {
        let fences: Vec<Fence> = self.leases.keys().copied().collect();
        for fence in fences {
            self.stop_handler(fence, why, acts);
        }
    }

    fn finish_if_drained(&mut self, acts: &mut Vec<Act>) {
        if self.draining && self.leases.is_empty() && self.link == Link::Open && !self.finished {
            self.finished = true;
            acts.push(Act::Send(ToLeader::Goodbye));
            acts.push(Act::Finished);
        }
    }
}

#[cfg(test)]
mod tests;
