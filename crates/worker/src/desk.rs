//! The desk: leases, threads, running attempts and results, shared by the session's thread and the handlers'.
//!
//! Whoever ends an attempt writes its result down here and takes the next piece of work along, so attempts
//! that are over in microseconds cost no switch between threads. The session's thread does everything else;
//! it is rung when a message has to leave, when nothing runs any more, or when it would sleep too long.
//!
//! The lock is held for steps of the state machine only, never while a handler runs or a future waits. An
//! [`End`] must not be dropped under it: it takes the lock itself.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ganger_core::message::ToLeader;
use ganger_core::outcome::Report;
use ganger_core::session::{Act, Session};
use ganger_core::{Fence, Mono};
use ganger_proto::Parcel;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::attempt::{End, Start};
use crate::client::Client;
use crate::clock::Clock;
use crate::context::Ctx;
use crate::outbox::Outbox;
use crate::registry::Registry;
use crate::running::Running;
use crate::status::Status;
use crate::threads::{Grant, Threads};
use crate::trace::Settling;

/// Log texts of attempts that ended while there was no connection.
const LATE_LOGS: usize = 64;

/// The desk, as handlers and the session reach it.
pub(crate) struct Shared {
    desk: Mutex<Desk>,
    /// Rung for the session's thread.
    bell: Notify,
}

/// What lies on it.
pub(crate) struct Desk {
    pub(crate) session: Session,
    pub(crate) threads: Threads,
    pub(crate) held: HashMap<Fence, Held>,
    pub(crate) running: Running,
    pub(crate) outbox: Outbox,
    pub(crate) late_logs: VecDeque<ToLeader>,
    pub(crate) settling: Settling,
    /// What only the session's thread can do.
    pub(crate) undone: Vec<Act>,
    /// When the session's thread wakes by itself.
    pub(crate) wakes_at: Mono,
    pub(crate) clock: Clock,
    pub(crate) registry: Registry,
    pub(crate) status: Arc<Status>,
    /// Rung by handlers that have something to say.
    pub(crate) chatter: Arc<Notify>,
    /// For handlers that ask about other jobs.
    pub(crate) client: Option<Client>,
}

/// A lease that waits for its threads.
pub(crate) struct Held {
    pub(crate) parcel: Parcel,
    pub(crate) since: Mono,
}

impl Shared {
    pub(crate) fn new(desk: Desk) -> Arc<Shared> {
        Arc::new(Shared { desk: Mutex::new(desk), bell: Notify::new() })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Desk> {
        // Whatever a panic of ours left behind, the leader goes by fences.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the session's thread is wanted.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Starts what fits, to be begun once the lock is given back.
    pub(crate) fn start_what_fits(self: &Arc<Shared>, desk: &mut Desk) -> Vec<Start> {
        let now = desk.clock.mono();
        std::iter::from_fn(|| desk.start_next(self, now)).collect()
    }

    /// An attempt is over. Tells what its thread, and others if it was a wide one, can do next.
    pub(crate) fn ended(
        self: &Arc<Shared>,
        fence: Fence,
        report: Report,
        started: Mono,
        settle: Span,
    ) -> (Option<Start>, Vec<Start>) {
        let mut desk = self.lock();
        desk.settling.insert(fence, settle);
        let (now, was_ready) = (desk.clock.mono(), desk.outbox.is_ready());
        desk.ended(now, fence, report, now.since(started));
        let next = desk.start_next(self, now);
        let more = std::iter::from_fn(|| desk.start_next(self, now)).collect();
        if desk.wants_session(was_ready) {
            self.bell.notify_one();
        }
        (next, more)
    }

    /// A handler wants its mark to stand, or to be off.
    pub(crate) fn mark(&self, fence: Fence, stands: bool) {
        let mut desk = self.lock();
        let mut acts = Vec::new();
        desk.session.mark(fence, stands, &mut acts);
        desk.undone.append(&mut acts);
        self.bell.notify_one();
    }

    /// An attempt is over whose thread takes nothing along.
    pub(crate) fn ended_alone(&self, fence: Fence, report: Report, started: Mono) {
        let mut desk = self.lock();
        let now = desk.clock.mono();
        desk.ended(now, fence, report, now.since(started));
        // To start what fits now.
        self.bell.notify_one();
    }
}

impl Desk {
    /// Nothing is started any more.
    pub(crate) fn close(&mut self) {
        self.held.clear();
    }

    fn ended(&mut self, now: Mono, fence: Fence, report: Report, ran: Duration) {
        let Some(live) = self.running.remove(fence) else { return };
        self.status.ended(fence, &report);
        let (job, text) = (live.ctx.job_id(), live.ctx.chatter().take().log);
        if !text.is_empty() {
            let log = ToLeader::Log { job, fence, text };
            if self.session.is_open() {
                self.outbox.push(now, log);
            } else {
                if self.late_logs.len() == LATE_LOGS {
                    self.late_logs.pop_front();
                }
                self.late_logs.push_back(log);
            }
        }
        self.threads.release(live.grant);
        self.report(now, fence, report, ran);
    }

    fn report(&mut self, now: Mono, fence: Fence, report: Report, ran: Duration) {
        let mut acts = Vec::new();
        self.session.ended(fence, report, ran, &mut acts);
        for act in acts {
            match act {
                Act::Send(message) => self.outbox.push(now, message),
                Act::Reconnect
                | Act::Offer(_)
                | Act::Withdraw(_)
                | Act::Cancel(..)
                | Act::Marked(..)
                | Act::Gone
                | Act::DrainAsked
                | Act::Finished => self.undone.push(act),
            }
        }
    }

    /// The next piece of work whose threads are free; it counts as running.
    fn start_next(&mut self, shared: &Arc<Shared>, now: Mono) -> Option<Start> {
        while let Some((fence, grant)) = self.threads.next() {
            let held = self.held.remove(&fence).filter(|_| self.session.try_start(now, fence));
            // Withdrawn or lapsed meanwhile: the state machine hands it back.
            let Some(held) = held else {
                self.threads.release(grant);
                continue;
            };
            if let Some(start) = self.start(shared, now, held, grant) {
                return Some(start);
            }
        }
        None
    }

    fn start(&mut self, shared: &Arc<Shared>, now: Mono, held: Held, grant: Grant) -> Option<Start> {
        let Parcel { work, payload, mut trace } = held.parcel;
        if let Some(trace) = &mut trace {
            trace.waited = trace.waited.saturating_add(now.since(held.since));
        }
        let Some(handler) = self.registry.get(&work.kind).cloned() else {
            self.threads.release(grant);
            let report = Report::Error(format!("this worker has no handler for kind `{}`", work.kind));
            self.report(now, work.fence, report, Duration::ZERO);
            return None;
        };
        let ctx = Ctx::new(work, trace, self.chatter.clone(), self.client.clone())
            .with_desk(Arc::downgrade(shared));
        let abort = CancellationToken::new();
        self.status.started(&ctx);
        self.running.insert(now, ctx.clone(), grant, abort.clone());
        let end = End::new(shared.clone(), ctx.fence(), self.clock);
        Some(Start { handler, ctx, payload, abort, end })
    }

    /// Whether the session's thread has to act before it would by itself. Without room on the wire, what was
    /// ready stays so, and it waits for room already.
    fn wants_session(&mut self, was_ready: bool) -> bool {
        let due = self.outbox.due().into_iter().chain(self.running.due()).min();
        let sooner = due.is_some_and(|due| due < self.wakes_at);
        if let (true, Some(due)) = (sooner, due) {
            self.wakes_at = due;
        }
        let ready = self.outbox.is_ready() && !was_ready;
        sooner || ready || self.running.is_empty() || !self.undone.is_empty()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::clock;
    use crate::handler::Handler;
    use ganger_core::change::WorkerInfo;
    use ganger_core::message::{ToWorker, Work};
    use ganger_core::name::QueueName;
    use ganger_core::session::OnLapse;
    use ganger_core::{JobId, Term};

    /// The desk of a worker that was just given so many leases of one kind.
    pub(crate) fn with_work(threads: u16, leases: u64, handler: Handler) -> Arc<Shared> {
        let ttl = Duration::from_secs(60);
        let info = WorkerInfo {
            name: "w".into(),
            queues: vec![],
            kinds: vec![],
            threads,
            labels: Default::default(),
            version: String::new(),
            local: false,
            claim: false,
            ttl,
        };
        let (clock, id) = (Clock::start(), clock::fresh_session());
        let mut desk = Desk {
            session: Session::new(id, info, OnLapse::Cancel),
            threads: Threads::new(threads),
            held: HashMap::new(),
            running: Running::default(),
            outbox: Outbox::default(),
            late_logs: VecDeque::new(),
            settling: Settling::default(),
            undone: Vec::new(),
            wakes_at: clock.mono() + ttl,
            clock,
            registry: Registry::new().put("test", handler),
            status: Status::new(id, 1),
            chatter: Arc::new(Notify::new()),
            client: None,
        };
        let (now, term, mut acts) = (clock.mono(), Term { number: 1, id: 1 }, Vec::new());
        let stream = desk.session.connected(now, &mut acts);
        desk.session.receive(now, stream, ToWorker::Welcome { term, ttl }, &mut acts);
        let works = (1..=leases).map(|seq| Work {
            job: JobId::new(seq, [0; 10]),
            fence: Fence { term, seq },
            attempt: 1,
            threads: 1,
            kind: "test".parse().unwrap(),
            queue: QueueName::default(),
            timeout: None,
            max_attempts: 5,
        });
        for work in works.clone() {
            desk.threads.queue(work.fence, 1);
            let parcel = Parcel { work, payload: "null".into(), trace: None };
            desk.held.insert(parcel.work.fence, Held { parcel, since: now });
        }
        desk.session.receive(now, stream, ToWorker::Assign(works.collect()), &mut acts);
        Shared::new(desk)
    }

    /// The next results that leave, once the session's thread is rung for them.
    pub(crate) async fn results(shared: &Shared) -> Vec<Report> {
        let left = async {
            loop {
                {
                    let mut desk = shared.lock();
                    let (now, idle) = (desk.clock.mono(), desk.running.is_empty());
                    desk.outbox.settle(now, idle);
                    if let Some(ToLeader::Results(reports)) = desk.outbox.pop() {
                        return reports.into_iter().map(|report| report.report).collect();
                    }
                }
                shared.rung().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), left).await.expect("nobody rang")
    }

    /// What fits, to be begun.
    pub(crate) fn starts(shared: &Arc<Shared>) -> Vec<Start> {
        shared.start_what_fits(&mut shared.lock())
    }

    fn nothing() -> Handler {
        Handler::new_async(|_, (): ()| async { Ok(()) })
    }

    /// Two threads, a hundred leases: two tasks run them all, and never more than two at a time.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_task_goes_on_with_the_next_lease_until_none_is_left() {
        let shared = with_work(2, 100, nothing());
        let first = starts(&shared);
        assert_eq!((first.len(), shared.lock().running.fences().len()), (2, 2));
        for start in first {
            crate::attempt::begin(&tokio::runtime::Handle::current(), start);
        }
        let mut ended = 0;
        while ended < 100 {
            let reports = results(&shared).await;
            assert!(reports.iter().all(|report| *report == Report::Ok("null".into())), "{reports:?}");
            ended += reports.len();
        }
        assert!(shared.lock().running.is_empty());
    }

    #[tokio::test]
    async fn a_desk_that_is_closed_starts_nothing_more() {
        let shared = with_work(1, 3, nothing());
        let first = starts(&shared);
        shared.lock().close();
        for start in first {
            crate::attempt::begin(&tokio::runtime::Handle::current(), start);
        }
        assert_eq!(results(&shared).await.len(), 1);
        assert!(starts(&shared).is_empty());
    }

    /// A result waits a millisecond for company: whoever writes the first one down has the clock set.
    #[test]
    fn the_session_is_rung_for_the_first_result_and_then_not_before_it_is_due() {
        let shared = with_work(2, 9, nothing());
        let running = starts(&shared);
        for (start, rings) in running.iter().zip([true, false]) {
            let mut desk = shared.lock();
            let now = desk.clock.mono();
            desk.ended(now, start.ctx.fence(), Report::Cancelled, Duration::ZERO);
            // Something runs all the time.
            let next = desk.start_next(&shared, now);
            let wanted = desk.wants_session(false);
            // Before the assertion: an end takes the lock.
            drop(desk);
            drop(next);
            assert_eq!(wanted, rings);
        }
    }
}
