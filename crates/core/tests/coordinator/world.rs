//! A leader to play with: the coordinator is real, the store says yes to every batch, and the workers are
//! played by hand.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::change::{Applied, Change, LogLines, NewJob, Snapshot, WorkerInfo};
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Ask, Input, Options, Output, Reply, Ticket};
use ganger_core::event::Event;
use ganger_core::job::{JobSpec, State};
use ganger_core::leadership::Reign;
use ganger_core::message::{AttemptReport, CancelWhy, Hello, ToLeader, ToWorker, Work};
use ganger_core::name::{Kind, QueueName};
use ganger_core::outcome::{Outcome, Report};
use ganger_core::queue::{Policy, QueueSettings};
use ganger_core::reason::Reason;
use ganger_core::{JobId, Mono, Now, SessionId, Term, Wall};

/// Workers ping whenever time passes, so it never runs out.
pub(crate) const TTL: Duration = Duration::from_secs(30);

/// A leader, its workers and what they were told to start, in order.
pub(crate) struct World {
    pub(crate) coordinator: Coordinator,
    pub(crate) now: Now,
    pub(crate) workers: Vec<WorkerInfo>,
    pub(crate) started: Vec<(usize, Work)>,
    pub(crate) running: Vec<(usize, Work)>,
    pub(crate) jobs: u64,
    /// What workers were told to stop, and why.
    pub(crate) stopped: Vec<(JobId, CancelWhy)>,
    /// The last state that was told of each job.
    pub(crate) states: BTreeMap<JobId, State>,
    /// How attempts ended, why, and whether their jobs go on.
    pub(crate) ends: Vec<(Outcome, Reason, bool)>,
    /// What clients were answered last.
    pub(crate) reply: Option<Reply>,
    /// Log lines that were written.
    pub(crate) logged: Vec<LogLines>,
    /// Messages with leases.
    pub(crate) messages: usize,
}

impl World {
    pub(crate) fn new(options: Options) -> World {
        let now = Now { mono: Mono(1_000_000_000), wall: Wall(1_700_000_000_000_000) };
        let term = Term { number: 1, id: 7 };
        let reign = Reign { term, waits_from: now.mono, authority_from: now.mono };
        World {
            coordinator: Coordinator::new(options, reign, Snapshot::default(), now),
            now,
            workers: Vec::new(),
            started: Vec::new(),
            running: Vec::new(),
            jobs: 0,
            stopped: Vec::new(),
            states: BTreeMap::new(),
            ends: Vec::new(),
            reply: None,
            logged: Vec::new(),
            messages: 0,
        }
    }

    /// Without prefetch: a worker is never given more than it has threads for.
    pub(crate) fn exact() -> World {
        World::new(Options { prefetch_below: Duration::ZERO, ..Options::default() })
    }

    pub(crate) fn with_workers(threads: &[u16]) -> World {
        let mut world = World::exact();
        threads.iter().for_each(|threads| world.join(*threads));
        world
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap();
        self.now.mono = Mono(self.now.mono.0 + micros);
        self.now.wall = Wall(self.now.wall.0 + i64::try_from(micros).unwrap());
        let pings = (0..self.workers.len()).map(|worker| says(worker, ToLeader::Ping { number: 1 }));
        let inputs = pings.chain([Input::Tick]).collect();
        self.give(inputs);
    }

    /// Hands over what happened and everything that follows from it, until nothing more does.
    pub(crate) fn give(&mut self, mut inputs: Vec<Input>) {
        for _ in 0..1_000 {
            let mut outputs = Vec::new();
            for input in inputs.drain(..) {
                self.coordinator.handle(self.now, input, &mut outputs);
            }
            self.coordinator.settle(self.now, &mut outputs);
            for output in outputs {
                match output {
                    Output::Commit(batch) => {
                        self.logged.extend(batch.changes.iter().filter_map(log_lines));
                        let applied = batch.changes.iter().map(apply).collect();
                        inputs.push(Input::Committed { number: batch.number, applied });
                    }
                    Output::Send { session, message, .. } => self.hear(session, message, &mut inputs),
                    Output::StepDown { reason, .. } => panic!("stepped down: {reason}"),
                    Output::Reply(_, reply) => self.reply = Some(reply),
                    Output::Event(Event::Job { job, state, .. }) => drop(self.states.insert(job, state)),
                    Output::Event(Event::Attempt { outcome, reason, again, .. }) => {
                        self.ends.push((outcome, reason, again));
                    }
                    Output::Event(_) | Output::ReadLive(_) | Output::Reconciled(_) => {}
                }
            }
            if inputs.is_empty() {
                return;
            }
        }
        panic!("the coordinator does not come to rest");
    }

    pub(crate) fn hear(&mut self, session: SessionId, message: ToWorker, inputs: &mut Vec<Input>) {
        let worker = (0..self.workers.len()).find(|w| id(*w) == session).unwrap();
        match message {
            ToWorker::Welcome { .. } => inputs.push(says(worker, ToLeader::Ping { number: 1 })),
            ToWorker::Assign(works) => {
                self.messages += 1;
                for work in works {
                    self.started.push((worker, work.clone()));
                    self.running.push((worker, work));
                }
            }
            ToWorker::Pong { .. } | ToWorker::Ack(_) | ToWorker::Marked { .. } => {}
            ToWorker::Cancel { job, why, .. } => self.stopped.push((job, why)),
            ToWorker::Gone => self.running.retain(|(w, _)| *w != worker),
            ToWorker::Drain => panic!("nobody drains here"),
        }
    }

    pub(crate) fn join(&mut self, threads: u16) {
        self.join_for(threads, Vec::new());
    }

    /// A worker that runs these kinds; all of them if it names none.
    pub(crate) fn join_for(&mut self, threads: u16, kinds: Vec<Kind>) {
        let worker = WorkerInfo {
            name: format!("w{}", self.workers.len()),
            queues: Vec::new(),
            kinds,
            threads,
            labels: BTreeMap::new(),
            version: "1".into(),
            local: false,
            claim: false,
            ttl: TTL,
        };
        self.join_as(worker);
    }

    /// A worker that says this about itself.
    pub(crate) fn join_as(&mut self, worker: WorkerInfo) {
        let number = self.workers.len();
        self.workers.push(worker.clone());
        let hello =
            Hello { session: id(number), stream: 1, worker, highest: Term::default(), draining: false };
        self.give(vec![says(number, ToLeader::Hello(hello))]);
    }

    pub(crate) fn submit(&mut self, change: impl FnOnce(&mut JobSpec)) -> JobId {
        self.jobs += 1;
        let id = JobId::new(self.jobs, [0; 10]);
        let mut spec = JobSpec::new("k".parse().unwrap());
        change(&mut spec);
        let (created_at, due_at) = (Wall::default(), Wall::default());
        let job = NewJob { id, seq: 0, created_at, due_at, spec };
        let submit = Ask::Submit { idempotency: None, jobs: vec![job] };
        self.give(vec![Input::Ask(Ticket(self.jobs), submit)]);
        id
    }

    pub(crate) fn narrow(&mut self) -> JobId {
        self.submit(|_| {})
    }

    pub(crate) fn narrow_ones(&mut self, count: usize) {
        for _ in 0..count {
            self.narrow();
        }
    }

    pub(crate) fn wide(&mut self, threads: u16) -> JobId {
        self.submit(|spec| spec.options.threads = threads)
    }

    /// The longest running attempt is over.
    pub(crate) fn end_oldest(&mut self) {
        self.end(0);
    }

    pub(crate) fn end(&mut self, at: usize) {
        self.end_with(at, Report::Ok("1".into()));
    }

    /// The attempt at this place among the running ones is over, with this report.
    pub(crate) fn end_with(&mut self, at: usize, report: Report) {
        self.report(at, report, Duration::from_secs(1));
    }

    /// The attempt at this place succeeded after so long.
    pub(crate) fn end_after(&mut self, at: usize, ran: Duration) {
        self.report(at, Report::Ok("1".into()), ran);
    }

    fn report(&mut self, at: usize, report: Report, ran: Duration) {
        let (worker, work) = self.running.remove(at);
        let report = AttemptReport { job: work.job, fence: work.fence, report, ran };
        self.give(vec![says(worker, ToLeader::Results(vec![report]))]);
    }

    pub(crate) fn put_policy(&mut self, policy: Policy) {
        self.put_queue(|settings| settings.policy = policy);
    }

    /// Sets the default queue; what is not changed is as by default.
    pub(crate) fn put_queue(&mut self, change: impl FnOnce(&mut QueueSettings)) {
        let mut settings = QueueSettings::default();
        change(&mut settings);
        self.ask(Ask::PutQueue(QueueName::default(), settings));
    }

    /// Asks, and returns the answer if it came.
    pub(crate) fn ask(&mut self, ask: Ask) -> Option<Reply> {
        self.reply = None;
        self.give(vec![Input::Ask(Ticket(0), ask)]);
        self.reply.take()
    }

    pub(crate) fn has_started(&self, job: JobId) -> bool {
        self.started.iter().any(|(_, work)| work.job == job)
    }

    /// Threads that a worker was given and has not given back.
    pub(crate) fn used(&self, worker: usize) -> u32 {
        self.running.iter().filter(|(w, _)| *w == worker).map(|(_, work)| u32::from(work.threads)).sum()
    }
}

/// What a store that takes everything answers.
pub(crate) fn apply(change: &Change) -> Applied {
    change.usually().expect("nothing is replayed here")
}

fn log_lines(change: &Change) -> Option<LogLines> {
    let Change::Log(lines) = change else { return None };
    Some(lines.clone())
}

pub(crate) fn id(worker: usize) -> SessionId {
    SessionId::new(worker as u64 + 1, [0; 10])
}

pub(crate) fn says(worker: usize, message: ToLeader) -> Input {
    Input::FromWorker { session: id(worker), stream: 1, message }
}
