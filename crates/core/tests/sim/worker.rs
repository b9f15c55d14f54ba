//! A worker process: the real session, a pool of threads, and handlers that take time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ganger_core::change::WorkerInfo;
use ganger_core::message::{CancelWhy, ToWorker, Work};
use ganger_core::name::Labels;
use ganger_core::outcome::Report;
use ganger_core::session::{Act, OnLapse, Session};
use ganger_core::{Fence, JobId, Mono, SessionId};

use crate::limits::THROTTLED;
use crate::rng::Rng;
use crate::setup::{Clock, Faults, MS, S, SESSION_TTL, STOPS_WITHIN, Time, wall};
use crate::store::{short, tail};
use crate::world::{Event, World};

/// A worker process.
pub(crate) struct Worker {
    pub(crate) life: u32,
    pub(crate) running: bool,
    pub(crate) clock: Clock,
    pub(crate) session: Session,
    pub(crate) paused_until: Time,
    /// Per server: cannot be reached until then.
    pub(crate) cut_until: Vec<Time>,
    pub(crate) conn: Option<usize>,
    pub(crate) threads: u16,
    on_lapse: OnLapse,
    free: u16,
    offered: VecDeque<Work>,
    runs: BTreeMap<Fence, Run>,
    tick_at: Time,
    /// Scripts: the next handlers take so long, and end so.
    pub(crate) script: Option<(Time, Report)>,
    /// Scripts: connect only to this server.
    pub(crate) only: Option<usize>,
    /// Scripts: the next handlers ask for a mark after so long.
    pub(crate) marks: Option<Time>,
}

struct Run {
    job: JobId,
    threads: u16,
    timeout: Option<Duration>,
    began: Mono,
    /// Changes when the end is moved.
    plan: u32,
    ends_at: Time,
    report: Report,
}

impl Worker {
    pub(crate) fn new(index: usize, rng: &mut Rng, faults: &Faults) -> Worker {
        let threads = u16::try_from(rng.range(2, 5)).unwrap_or(2);
        let continues = faults.lapse_continues && rng.one_in(2);
        let on_lapse = if continues { OnLapse::Continue } else { OnLapse::Cancel };
        let id = SessionId::new(1, rng.bytes());
        Worker {
            life: 0,
            running: false,
            clock: Clock::new(rng, faults.drift),
            session: Session::new(id, info(index, threads), on_lapse),
            paused_until: 0,
            cut_until: vec![0; 3],
            conn: None,
            threads,
            on_lapse,
            free: threads,
            offered: VecDeque::new(),
            runs: BTreeMap::new(),
            tick_at: 0,
            script: None,
            only: None,
            marks: None,
        }
    }

    /// What the handler under this lease will say, if it still runs.
    pub(crate) fn will_report(&mut self, fence: Fence, report: Report) {
        if let Some(run) = self.runs.get_mut(&fence) {
            run.report = report;
        }
    }

    /// The job that runs under this lease.
    pub(crate) fn runs(&self, fence: Fence) -> Option<JobId> {
        self.runs.get(&fence).map(|run| run.job)
    }

    /// From its next life on it lets handlers finish when it was given up for lost.
    pub(crate) fn let_handlers_finish(&mut self) {
        self.on_lapse = OnLapse::Continue;
    }

    /// Handlers of this worker may overlap with others: it was told to let them finish.
    pub(crate) fn continues(&self) -> bool {
        self.on_lapse == OnLapse::Continue
    }
}

fn info(index: usize, threads: u16) -> WorkerInfo {
    WorkerInfo {
        name: format!("w{index}"),
        queues: Vec::new(),
        kinds: Vec::new(),
        threads,
        labels: Labels::new(),
        version: "sim".into(),
        local: false,
        claim: false,
        ttl: Duration::from_micros(SESSION_TTL),
    }
}

impl World {
    pub(crate) fn worker_starts(&mut self, worker: usize) {
        if self.workers[worker].running {
            return;
        }
        let id = SessionId::new(1 + self.now / MS, self.rng.bytes());
        self.note(|| format!("worker {worker} starts as {}", tail(&id.to_string())));
        let this = &mut self.workers[worker];
        this.life += 1;
        this.running = true;
        this.session = Session::new(id, info(worker, this.threads), this.on_lapse);
        this.free = this.threads;
        let life = this.life;
        self.after(MS, Event::Connect { worker, life });
    }

    /// The process is gone, with all its handlers.
    pub(crate) fn worker_stops(&mut self, worker: usize, restart_in: Time) {
        let this = &mut self.workers[worker];
        this.running = false;
        this.life += 1;
        this.paused_until = 0;
        this.offered.clear();
        for (fence, run) in std::mem::take(&mut this.runs) {
            self.checker.handler_over(worker, run.job, fence);
        }
        if let Some(conn) = self.workers[worker].conn.take() {
            self.break_stream(conn, false);
        }
        self.after(restart_in, Event::WorkerStarts(worker));
    }

    pub(crate) fn connect(&mut self, worker: usize, life: u32) {
        let this = &self.workers[worker];
        if this.life != life || !this.running || this.conn.is_some() {
            return;
        }
        let any = self.rng.index(self.servers.len());
        let usual = self.leader().filter(|_| self.rng.percent(70)).unwrap_or(any);
        let server = self.workers[worker].only.unwrap_or(usual);
        let down = matches!(self.servers[server].role, crate::server::Role::Down);
        if down || self.parted_until(worker, server) > self.now {
            let pause = self.rng.range(50 * MS, 300 * MS);
            self.after(pause, Event::Connect { worker, life });
            return;
        }
        let mut acts = Vec::new();
        let mono = self.workers[worker].clock.mono(self.now);
        let stream = self.workers[worker].session.connected(mono, &mut acts);
        let conn = self.open_stream(worker, server, stream);
        self.note(|| {
            format!("worker {worker} connects to server {server}: stream {conn}, its number {stream}")
        });
        self.workers[worker].conn = Some(conn);
        self.act(worker, acts);
    }

    pub(crate) fn stream_broken(&mut self, conn: usize) {
        let worker = self.conns[conn].worker;
        if self.workers[worker].life == self.conns[conn].worker_life
            && self.workers[worker].conn == Some(conn)
        {
            self.workers[worker].session.disconnected();
            self.reconnect(worker);
        }
    }

    fn reconnect(&mut self, worker: usize) {
        if let Some(conn) = self.workers[worker].conn.take() {
            self.break_stream(conn, false);
        }
        let pause = self.rng.range(5 * MS, 200 * MS);
        let life = self.workers[worker].life;
        self.after(pause, Event::Connect { worker, life });
    }

    pub(crate) fn worker_reads(&mut self, worker: usize, conn: usize, message: ToWorker) {
        if !self.workers[worker].running {
            return;
        }
        let stream = self.conns[conn].stream;
        let this = &mut self.workers[worker];
        if let ToWorker::Assign(works) = &message {
            for work in works {
                self.checker.assign_heard(worker, work);
            }
        }
        if let ToWorker::Cancel { job, fence, why } = &message {
            let run =
                this.runs.get(fence).map(|run| (this.clock.mono(self.now).since(run.began), run.timeout));
            self.checker.cancel_heard(*job, *fence, *why, run);
        }
        let mut acts = Vec::new();
        this.session.receive(this.clock.mono(self.now), stream, message, &mut acts);
        self.act(worker, acts);
    }

    pub(crate) fn worker_tick(&mut self, worker: usize) {
        if self.now < self.workers[worker].tick_at || !self.workers[worker].running {
            return;
        }
        let this = &mut self.workers[worker];
        let mut acts = Vec::new();
        this.session.tick(this.clock.mono(self.now), &mut acts);
        self.act(worker, acts);
    }

    /// Does what the session asks for, then starts what fits.
    pub(crate) fn act(&mut self, worker: usize, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Send(message) => {
                    if let Some(conn) = self.workers[worker].conn {
                        self.send_up(conn, message);
                    }
                }
                Act::Reconnect => self.reconnect(worker),
                Act::Offer(work) => self.workers[worker].offered.push_back(work),
                Act::Withdraw(fence) => self.workers[worker].offered.retain(|work| work.fence != fence),
                Act::Cancel(fence, why) => self.cancel_handler(worker, fence, why),
                Act::Marked(fence, stands) => self.mark_answered(worker, fence, stands),
                Act::Gone => self.reborn(worker),
                Act::DrainAsked => self.drain_worker(worker),
                Act::Finished => {
                    self.note(|| format!("worker {worker} is drained and exits"));
                    let pause = self.rng.range(100 * MS, 2 * S);
                    // What it has said is on its way.
                    self.workers[worker].conn = None;
                    self.worker_stops(worker, pause);
                    return;
                }
            }
        }
        self.start_what_fits(worker);
        let this = &self.workers[worker];
        if let Some(mono) = this.session.next_tick() {
            let at = this.clock.when(mono).max(self.now + 1);
            if this.tick_at <= self.now || at < this.tick_at {
                self.workers[worker].tick_at = at;
                self.after(at - self.now, Event::WorkerTick(worker));
            }
        }
    }

    pub(crate) fn drain_worker(&mut self, worker: usize) {
        self.note(|| format!("worker {worker} drains"));
        let mut acts = Vec::new();
        self.workers[worker].session.drain(&mut acts);
        self.act(worker, acts);
    }

    fn reborn(&mut self, worker: usize) {
        let id = SessionId::new(1 + self.now / MS, self.rng.bytes());
        self.note(|| format!("worker {worker} goes on as {}", tail(&id.to_string())));
        let this = &mut self.workers[worker];
        this.session = this.session.clone().reborn(id);
        self.reconnect(worker);
    }

    fn start_what_fits(&mut self, worker: usize) {
        while let Some(work) = self.workers[worker].offered.front().cloned() {
            let this = &mut self.workers[worker];
            if work.threads > this.free {
                return;
            }
            this.offered.pop_front();
            let mono = this.clock.mono(self.now);
            if this.session.try_start(mono, work.fence) {
                this.free -= work.threads;
                self.start(worker, &work, mono);
            }
        }
    }

    fn start(&mut self, worker: usize, work: &Work, began: Mono) {
        self.note(|| format!("worker {worker} starts {} under {}", short(work.job), work.fence));
        let (takes, report) = self.plan_run(worker, work);
        let exempt = self.workers[worker].continues();
        self.checker.handler_started(worker, work, exempt, wall(self.now));
        let ends_at = self.now + takes;
        let (threads, timeout) = (work.threads, work.timeout);
        let run = Run { job: work.job, threads, timeout, began, plan: 0, ends_at, report };
        let life = self.workers[worker].life;
        self.workers[worker].runs.insert(work.fence, run);
        self.after(takes, Event::HandlerEnds { worker, life, fence: work.fence, plan: 0 });
        self.plan_completion(worker, work, takes);
        self.plan_mark(worker, work, takes);
        if let Some(timeout) = work.timeout {
            let at = self.workers[worker].clock.when(began + timeout);
            self.after(at - self.now, Event::HandlerOverdue { worker, life, fence: work.fence });
        }
    }

    fn plan_run(&mut self, worker: usize, work: &Work) -> (Time, Report) {
        let said = work.fence.to_string();
        if let Some((takes, report)) = self.workers[worker].script.clone() {
            let report = if matches!(report, Report::Ok(_)) { Report::Ok(said) } else { report };
            return (takes, report);
        }
        let long = self.setup.faults.long_runs && self.rng.one_in(2);
        let takes = match (work.kind.as_str(), self.rng.below(10)) {
            (_, _) if long => self.rng.range(2 * S, 9 * S),
            ("quick", _) => self.rng.range(2 * MS, 15 * MS),
            (_, 0..=1) => self.rng.range(S, 4 * S),
            (_, 2..=4) => self.rng.range(200 * MS, S),
            (_, _) => self.rng.range(20 * MS, 200 * MS),
        };
        let report = match self.rng.below(20) {
            0..=2 => Report::Error("error".into()),
            3 => Report::Fatal("fatal".into()),
            4 => Report::RetryAfter(Duration::from_millis(700), "after 700 ms".into()),
            5 => Report::Snooze(Duration::from_millis(600)),
            6 => Report::Released { started: true },
            7..=8 if self.setup.faults.limited => Report::Throttled(THROTTLED),
            7.. => Report::Ok(said),
        };
        (takes, report)
    }

    fn cancel_handler(&mut self, worker: usize, fence: Fence, why: CancelWhy) {
        let stops = self.now + self.rng.range(MS, STOPS_WITHIN);
        let life = self.workers[worker].life;
        let Some(run) = self.workers[worker].runs.get_mut(&fence) else { return };
        let job = run.job;
        if stops < run.ends_at {
            run.plan += 1;
            run.ends_at = stops;
            run.report = Report::Cancelled;
            let plan = run.plan;
            self.after(stops - self.now, Event::HandlerEnds { worker, life, fence, plan });
        }
        self.note(|| format!("worker {worker} stops {} under {fence}: {why:?}", short(job)));
    }

    pub(crate) fn handler_overdue(&mut self, worker: usize, life: u32, fence: Fence) {
        let this = &mut self.workers[worker];
        if this.life == life && this.runs.contains_key(&fence) {
            let mut acts = Vec::new();
            this.session.stop_handler(fence, CancelWhy::Timeout, &mut acts);
            self.act(worker, acts);
        }
    }

    pub(crate) fn handler_ends(&mut self, worker: usize, life: u32, fence: Fence, plan: u32) {
        let this = &mut self.workers[worker];
        if this.life != life || this.runs.get(&fence).is_none_or(|run| run.plan != plan) {
            return;
        }
        let Some(run) = this.runs.remove(&fence) else { return };
        this.free += run.threads;
        let ran = this.clock.mono(self.now).since(run.began);
        let mut acts = Vec::new();
        this.session.ended(fence, run.report.clone(), ran, &mut acts);
        self.note(|| format!("worker {worker}: {} under {fence} ends: {:?}", short(run.job), run.report));
        self.checker.handler_over(worker, run.job, fence);
        if matches!(run.report, Report::Throttled(_)) {
            self.checker.throttled.insert(fence);
        }
        self.act(worker, acts);
    }
}
