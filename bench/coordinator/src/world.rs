//! A leader without I/O: its store says yes to every batch, and its workers have done every job as soon as they have it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ganger_core::change::{Batch, Change, NewJob, Snapshot, WorkerInfo};
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Ask, Input, Options, Output, Ticket};
use ganger_core::job::{JobSpec, State};
use ganger_core::leadership::Reign;
use ganger_core::message::{AttemptReport, Hello, ToLeader, ToWorker};
use ganger_core::outcome::Report;
use ganger_core::{JobId, Mono, Now, SessionId, Term, Wall};

/// Jobs of one submission, as a client sends them.
const BATCH: u64 = 1_000;
/// Results of one message, as a worker sends them.
const RESULTS: usize = 64;
/// What passes with each step of the loop.
const STEP: Duration = Duration::from_micros(500);
/// Threads of all workers together, if they are fewer than that: about as many jobs as a commit of a drain has.
const THREADS: u64 = 640;
/// Longer than anything here takes: nobody needs to ping.
const TTL: Duration = Duration::from_secs(3_600);
/// A payload of 100 bytes: what most jobs of the benchmark have.
const PAYLOAD_BYTES: usize = 98;

/// The leader, and what goes to and fro.
#[derive(Debug)]
pub struct World {
    coordinator: Coordinator,
    now: Now,
    /// What has happened, and is to be told.
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Results that wait for their message, by worker.
    results: BTreeMap<SessionId, Vec<AttemptReport>>,
    submitted: u64,
    ended: u64,
    spec: JobSpec,
    clock: Instant,
    counting: Counting,
    /// Time inside the coordinator while it is counted.
    took: Duration,
}

/// Whether what the coordinator does is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    Not,
    Yes,
    /// With three copies of everything that it is told.
    Wasteful,
}

impl World {
    /// A leader without workers.
    pub fn new(clock: Instant) -> World {
        let now = Now { mono: Mono(1_000_000_000), wall: Wall(1_750_000_000_000_000) };
        let reign = Reign { term: Term { number: 1, id: 7 }, waits_from: now.mono, authority_from: now.mono };
        let mut spec = JobSpec::new("noop".parse().expect("a name"));
        spec.payload = format!("\"{}\"", "x".repeat(PAYLOAD_BYTES));
        // It compares memory with the store in pages, and there is no store. And no worker has more than its threads, so that
        // those that wait do.
        let options = Options { reconcile_every: None, prefetch_below: Duration::ZERO, ..Options::default() };
        World {
            coordinator: Coordinator::new(options, reign, Snapshot::default(), now),
            now,
            inputs: Vec::new(),
            outputs: Vec::new(),
            results: BTreeMap::new(),
            submitted: 0,
            ended: 0,
            spec,
            clock,
            counting: Counting::Not,
            took: Duration::ZERO,
        }
    }

    /// So many workers connect.
    pub fn staff(&mut self, workers: u64) {
        let threads = (THREADS / workers).clamp(1, 64) as u16;
        for nth in 0..workers {
            self.join(nth, threads);
        }
        self.hand_over();
    }

    /// Jobs come in until so many are there.
    pub fn submit(&mut self, jobs: u64) {
        while self.live() < jobs {
            let more = (jobs - self.live()).min(BATCH);
            self.intake(more);
            self.hand_over();
        }
    }

    /// From now on what the coordinator does is counted.
    pub fn count(&mut self, wasteful: bool) {
        self.counting = if wasteful { Counting::Wasteful } else { Counting::Yes };
    }

    /// So many jobs go through, while as many come in. Tells how many it were, and the time inside the coordinator, if that
    /// is counted.
    pub fn run(&mut self, jobs: u64) -> (u64, Duration) {
        let (waiting, before) = (self.live(), self.ended);
        while self.ended - before < jobs {
            for _ in 0..waiting.saturating_sub(self.live()) / BATCH {
                self.intake(BATCH);
            }
            self.hand_over();
            assert!(!self.inputs.is_empty(), "it stands still");
        }
        (self.ended - before, self.took)
    }

    /// Jobs that are there and have not ended.
    pub fn live(&self) -> u64 {
        self.submitted - self.ended
    }

    fn join(&mut self, nth: u64, threads: u16) {
        let worker = WorkerInfo {
            name: format!("worker-{nth}"),
            queues: Vec::new(),
            kinds: Vec::new(),
            threads,
            labels: BTreeMap::new(),
            version: "1".into(),
            local: false,
            claim: false,
            ttl: TTL,
        };
        let session = SessionId::new(nth + 1, [0; 10]);
        let hello = Hello { session, stream: 1, worker, highest: Term::default(), draining: false };
        self.inputs.push(says(session, ToLeader::Hello(hello)));
    }

    fn intake(&mut self, jobs: u64) {
        let made = (0..jobs).map(|nth| {
            let mut random = [0; 10];
            random[2..].copy_from_slice(&(self.submitted + nth).to_be_bytes());
            let id = JobId::new(self.now.wall.unix_millis(), random);
            NewJob { id, seq: 0, created_at: self.now.wall, due_at: self.now.wall, spec: self.spec.clone() }
        });
        let submit = Ask::Submit { idempotency: None, jobs: made.collect() };
        self.submitted += jobs;
        self.inputs.push(Input::Ask(Ticket(self.submitted), submit));
    }

    /// One step: what has happened is told, and what follows has happened.
    fn hand_over(&mut self) {
        self.now = Now { mono: self.now.mono + STEP, wall: self.now.wall + STEP };
        let inputs = std::mem::take(&mut self.inputs);
        let began = self.clock.elapsed();
        match self.counting {
            Counting::Not => step(&mut self.coordinator, self.now, inputs, &mut self.outputs),
            Counting::Yes => counted_step(&mut self.coordinator, self.now, inputs, &mut self.outputs),
            Counting::Wasteful => {
                counted_wasteful_step(&mut self.coordinator, self.now, inputs, &mut self.outputs);
            }
        }
        if self.counting != Counting::Not {
            self.took += self.clock.elapsed().saturating_sub(began);
        }
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            self.carry_out(output);
        }
        self.outputs = outputs;
        for (session, reports) in &mut self.results {
            for chunk in reports.chunks(RESULTS) {
                self.inputs.push(says(*session, ToLeader::Results(chunk.to_vec())));
            }
            reports.clear();
        }
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Commit(batch) => self.inputs.push(committed(&batch)),
            Output::Send { session, message, .. } => self.hear(session, message),
            Output::StepDown { reason, .. } => panic!("stepped down: {reason}"),
            Output::Reply(..) | Output::Event(_) | Output::ReadLive(_) | Output::Reconciled(_) => {}
        }
    }

    fn hear(&mut self, session: SessionId, message: ToWorker) {
        match message {
            ToWorker::Welcome { .. } => self.inputs.push(says(session, ToLeader::Ping { number: 1 })),
            ToWorker::Assign(works) => {
                let done = works.into_iter().map(|work| AttemptReport {
                    job: work.job,
                    fence: work.fence,
                    report: Report::Ok("null".into()),
                    ran: Duration::from_micros(10),
                });
                self.results.entry(session).or_default().extend(done);
            }
            ToWorker::Ack(fences) => self.ended += fences.len() as u64,
            ToWorker::Pong { .. } | ToWorker::Marked { .. } => {}
            ToWorker::Cancel { .. } | ToWorker::Drain | ToWorker::Gone => {
                panic!("nobody asked for {message:?}")
            }
        }
    }

    /// Jobs by the coordinator's own count, for whoever wants to compare.
    pub fn counted(&self) -> u64 {
        let states = [State::Queued, State::Running];
        self.coordinator
            .stats()
            .counts
            .iter()
            .map(|(.., counts)| states.iter().map(|state| counts[state.index()]).sum::<u64>())
            .sum()
    }
}

/// What is counted, by its name: all that the coordinator does, and nothing that is done around it.
#[inline(never)]
fn counted_step(coordinator: &mut Coordinator, now: Now, inputs: Vec<Input>, outputs: &mut Vec<Output>) {
    step(coordinator, now, inputs, outputs);
}

#[inline(never)]
fn counted_wasteful_step(
    coordinator: &mut Coordinator,
    now: Now,
    inputs: Vec<Input>,
    outputs: &mut Vec<Output>,
) {
    let copies = std::hint::black_box([inputs.clone(), inputs.clone(), inputs.clone()]);
    step(coordinator, now, inputs, outputs);
    drop(copies);
}

#[inline(always)]
fn step(coordinator: &mut Coordinator, now: Now, inputs: Vec<Input>, outputs: &mut Vec<Output>) {
    for input in inputs {
        coordinator.handle(now, input, outputs);
    }
    coordinator.settle(now, outputs);
}

fn says(session: SessionId, message: ToLeader) -> Input {
    Input::FromWorker { session, stream: 1, message }
}

/// What a store that takes everything answers.
fn committed(batch: &Arc<Batch>) -> Input {
    let usual = |change: &Change| change.usually().expect("nothing is replayed here");
    let applied = batch.changes.iter().map(usual);
    Input::Committed { number: batch.number, applied: applied.collect() }
}
