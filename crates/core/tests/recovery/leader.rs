//! A leader on the store in memory. Batches are written at once, held back, or refused, as a test likes;
//! workers and clients are played by hand.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{Batch, Change, NewJob, WorkerInfo};
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Ask, Input, Options, Output, Reply, Ticket};
use ganger_core::job::JobSpec;
use ganger_core::leadership::Reign;
use ganger_core::message::{AttemptReport, CancelWhy, Hello, ToLeader, ToWorker, Work};
use ganger_core::outcome::Report;
use ganger_core::{Fence, JobId, Mono, Now, SessionId, Term, Wall};
use ganger_store::MemoryState;
use ganger_store::read::StoredJob;

pub(crate) const TTL: Duration = Duration::from_secs(15);

/// What the store does with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disk {
    Writes,
    Holds,
    Refuses,
}

pub(crate) struct Leader {
    options: Options,
    pub(crate) coordinator: Coordinator,
    pub(crate) store: MemoryState,
    pub(crate) now: Now,
    pub(crate) disk: Disk,
    /// In order.
    held: VecDeque<Arc<Batch>>,
    /// What workers heard, oldest first.
    pub(crate) heard: Vec<(usize, ToWorker)>,
    pub(crate) replies: Vec<(Ticket, Reply)>,
    asked: u64,
    /// The stream of the last message to a worker.
    pub(crate) last_stream: u64,
}

pub(crate) fn id(worker: usize) -> SessionId {
    SessionId::new(worker as u64 + 1, [0; 10])
}

impl Leader {
    /// Without prefetch: a worker is never given more than it has threads for.
    pub(crate) fn new() -> Leader {
        Leader::with(Leader::options())
    }

    pub(crate) fn options() -> Options {
        Options { prefetch_below: Duration::ZERO, ..Options::default() }
    }

    pub(crate) fn with(options: Options) -> Leader {
        let now = Now { mono: Mono(1_000_000_000), wall: Wall(1_700_000_000_000_000) };
        let mut store = MemoryState::new();
        let coordinator = lead(&mut store, now, options.clone());
        let (heard, replies) = (Vec::new(), Vec::new());
        Leader {
            options,
            coordinator,
            store,
            now,
            disk: Disk::Writes,
            held: VecDeque::new(),
            heard,
            replies,
            asked: 0,
            last_stream: 0,
        }
    }

    /// Another leader takes over; what this one had not written is forgotten.
    pub(crate) fn take_over(&mut self) {
        self.coordinator = lead(&mut self.store, self.now, self.options.clone());
        self.held.clear();
        self.disk = Disk::Writes;
        self.give(Input::Tick);
    }

    /// Gives an input and everything that follows from it.
    pub(crate) fn give(&mut self, input: Input) {
        let mut inputs = vec![input];
        for _ in 0..1_000 {
            let Some(input) = inputs.pop() else { return };
            let mut outputs = Vec::new();
            self.coordinator.handle(self.now, input, &mut outputs);
            self.coordinator.settle(self.now, &mut outputs);
            assert!(self.coordinator.next_tick() > self.now.mono, "the leader would spin");
            for output in outputs {
                match output {
                    Output::Commit(batch) => inputs.extend(self.write(batch)),
                    Output::Reply(ticket, reply) => self.replies.push((ticket, reply)),
                    Output::Send { session, message, stream } => {
                        self.last_stream = stream;
                        let worker = (0..64).find(|w| id(*w) == session).expect("a worker of this test");
                        self.heard.push((worker, message));
                    }
                    Output::Event(_) | Output::ReadLive(_) | Output::Reconciled(_) => {}
                    Output::StepDown { reason, .. } => panic!("stepped down: {reason}"),
                }
            }
        }
        panic!("the leader does not come to rest");
    }

    fn write(&mut self, batch: Arc<Batch>) -> Option<Input> {
        let number = batch.number;
        match self.disk {
            Disk::Writes => {
                let term = self.coordinator.term();
                let applied = self.store.commit(term, &batch).expect("the store agrees with the leader");
                Some(Input::Committed { number, applied })
            }
            Disk::Refuses => Some(Input::Refused { number, reason: "the disk is full".into() }),
            Disk::Holds => {
                self.held.push_back(batch);
                None
            }
        }
    }

    /// The batches that were held back are written after all.
    pub(crate) fn release(&mut self) {
        self.disk = Disk::Writes;
        while let Some(batch) = self.held.pop_front()
            && let Some(input) = self.write(batch)
        {
            self.give(input);
        }
    }

    /// The changes of the first batch that is held back.
    pub(crate) fn held(&self) -> &[Change] {
        self.held.front().map_or(&[], |batch| &batch.changes)
    }

    /// The first batch that was held back, which is nobody's business any more.
    pub(crate) fn take_held(&mut self) -> Arc<Batch> {
        self.held.pop_front().expect("a batch is held back")
    }

    /// All that were held back.
    pub(crate) fn take_all_held(&mut self) -> Vec<Arc<Batch>> {
        self.held.drain(..).collect()
    }

    /// The batch that was held back is written, and the one that formed meanwhile is held back.
    pub(crate) fn hold_next(&mut self) {
        let batch = self.take_held();
        self.disk = Disk::Writes;
        let input = self.write(batch).expect("it is written");
        self.disk = Disk::Holds;
        self.give(input);
    }

    /// The batch that was held back is refused, and so is everything after it.
    pub(crate) fn refuse(&mut self) {
        self.disk = Disk::Refuses;
        let batch = self.take_held();
        self.held.clear();
        let number = batch.number;
        self.give(Input::Refused { number, reason: "the disk is full".into() });
    }

    /// Time passes, a step at a time.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now.mono + time;
        while self.now.mono < until {
            let step = until.since(self.now.mono).min(Duration::from_millis(500));
            self.now = Now { mono: self.now.mono + step, wall: self.now.wall + step };
            self.give(Input::Tick);
        }
    }

    /// Time passes, and these workers ping.
    pub(crate) fn pass_with(&mut self, time: Duration, workers: &[(usize, u64)]) {
        let until = self.now.mono + time;
        while self.now.mono < until {
            self.pass(until.since(self.now.mono).min(Duration::from_secs(2)));
            for (worker, stream) in workers {
                self.says(*worker, *stream, ToLeader::Ping { number: 0 });
            }
        }
    }

    pub(crate) fn says(&mut self, worker: usize, stream: u64, message: ToLeader) {
        self.give(Input::FromWorker { session: id(worker), stream, message });
    }

    /// The worker opens a stream and resumes on it.
    pub(crate) fn join(&mut self, worker: usize, stream: u64, threads: u16) {
        self.join_as(worker, stream, threads, false);
    }

    pub(crate) fn join_as(&mut self, worker: usize, stream: u64, threads: u16, claim: bool) {
        let info = WorkerInfo {
            name: format!("w{worker}"),
            queues: Vec::new(),
            kinds: Vec::new(),
            threads,
            labels: Default::default(),
            version: "1".into(),
            local: false,
            claim,
            ttl: TTL,
        };
        let (session, highest) = (id(worker), Term::default());
        let hello = Hello { session, stream, worker: info, highest, draining: false };
        self.says(worker, stream, ToLeader::Hello(hello));
        self.says(worker, stream, ToLeader::Ping { number: 1 });
    }

    pub(crate) fn ends(&mut self, worker: usize, stream: u64, job: JobId, fence: Fence, report: Report) {
        self.ends_after(Duration::from_secs(1), worker, stream, job, fence, report);
    }

    pub(crate) fn ends_after(
        &mut self,
        ran: Duration,
        worker: usize,
        stream: u64,
        job: JobId,
        fence: Fence,
        report: Report,
    ) {
        let report = AttemptReport { job, fence, report, ran };
        self.says(worker, stream, ToLeader::Results(vec![report]));
    }

    pub(crate) fn ask(&mut self, ask: Ask) -> Ticket {
        self.asked += 1;
        let ticket = Ticket(self.asked);
        self.give(Input::Ask(ticket, ask));
        ticket
    }

    pub(crate) fn submit(&mut self, change: impl FnOnce(&mut JobSpec)) -> JobId {
        let id = JobId::new(self.asked + 1, [7; 10]);
        let mut spec = JobSpec::new("k".parse().expect("a kind"));
        change(&mut spec);
        let job = NewJob { id, seq: 0, created_at: Wall(0), due_at: Wall(0), spec };
        self.ask(Ask::Submit { idempotency: None, jobs: vec![job] });
        id
    }

    pub(crate) fn reply(&self, ticket: Ticket) -> Option<&Reply> {
        self.replies.iter().find(|(to, _)| *to == ticket).map(|(_, reply)| reply)
    }

    /// What the worker was assigned since the last look, and forgets it.
    pub(crate) fn assigned(&mut self, worker: usize) -> Vec<Work> {
        let mut works = Vec::new();
        self.heard.retain(|(to, message)| {
            if let ToWorker::Assign(new) = message
                && *to == worker
            {
                works.extend(new.clone());
                return false;
            }
            true
        });
        works
    }

    /// The only lease the worker was assigned since the last look.
    pub(crate) fn lease(&mut self, worker: usize) -> Work {
        let mut works = self.assigned(worker);
        assert_eq!(works.len(), 1, "worker {worker} has one lease");
        works.remove(0)
    }

    /// What the worker was told to stop, and why.
    pub(crate) fn stopped(&self, worker: usize) -> Vec<(JobId, CancelWhy)> {
        let mut stopped = Vec::new();
        for (to, message) in &self.heard {
            if let ToWorker::Cancel { job, why, .. } = message
                && *to == worker
            {
                stopped.push((*job, *why));
            }
        }
        stopped
    }

    pub(crate) fn acked(&self, worker: usize, fence: Fence) -> bool {
        self.heard.iter().any(|(to, m)| *to == worker && matches!(m, ToWorker::Ack(f) if f.contains(&fence)))
    }

    pub(crate) fn stored(&self, job: JobId) -> StoredJob {
        self.store.jobs(&[job], self.now.wall).pop().expect("the job is in the store")
    }

    pub(crate) fn used(&self, worker: usize) -> (u16, usize) {
        let all = self.coordinator.workers(self.now);
        all.iter().find(|w| w.session == id(worker)).map_or((0, 0), |w| (w.used, w.stuck))
    }
}

fn lead(store: &mut MemoryState, now: Now, options: Options) -> Coordinator {
    let term = store.take_over("here", 0, 1 + store.term().number);
    let reign = Reign { term, waits_from: now.mono, authority_from: now.mono };
    Coordinator::new(options, reign, store.load(), now)
}
