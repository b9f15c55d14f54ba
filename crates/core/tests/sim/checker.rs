//! The checker: what must hold after every event, told as the promises of the design.
//!
//! It follows what is written (each batch as the store applies it) and what handlers really do, and compares
//! the two. It knows nothing of how the coordinator works.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ganger_core::change::{Applied, Batch, Change, End, Intake, NewJob};
use ganger_core::coordinator::port::Reconciled;
use ganger_core::dependency::Edge;
use ganger_core::event::Difference;
use ganger_core::job::State;
use ganger_core::message::{CancelWhy, Work};
use ganger_core::name::QueueName;
use ganger_core::rules::Standing;
use ganger_core::schedule::ledger::ScheduleChange;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};
use ganger_store::{CommitError, StoreError};

use crate::client::Client;
use crate::ledger::Ledger;
use crate::marks::Marks;
use crate::minutes::Written;
use crate::parents::Families;
use crate::rates::Rated;
use crate::setup::Time;
use crate::store::short;
use crate::turns::Turns;

/// Lines of the trace that are shown.
const SHOWN: usize = 60;

/// A job as written.
pub(crate) struct Record {
    pub(crate) new: NewJob,
    pub(crate) due_at: Wall,
    pub(crate) standing: Standing,
    pub(crate) lease: Option<(Fence, SessionId)>,
    pub(crate) end: Option<End>,
    pub(crate) cancel_wanted: bool,
    /// Fences that were its lease when a person asked for it to stop. A replay forgets the wish, but what was
    /// said about a lease may still be on its way.
    pub(crate) cancelled: BTreeSet<Fence>,
    /// Fences under which a handler began since the last replay.
    pub(crate) started: BTreeSet<Fence>,
    /// Those of them that ended without costing an attempt.
    pub(crate) released: BTreeSet<Fence>,
}

/// A handler that runs at this moment.
struct Running {
    worker: usize,
    fence: Fence,
    /// It may overlap with others: only its fence protects.
    excused: bool,
}

/// What is known about a lease that was ever given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseFate {
    Open,
    Over,
    /// Given with a submission that was nothing new: its job never was.
    Void,
    /// Recorded without its worker, which had been told to stop.
    OverUnderGrace,
}

/// How often a lease met its own submission in a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Joint {
    /// Written, with a job without any key.
    pub(crate) keyless: u64,
    /// Written, with a job that a key could have hindered.
    pub(crate) keyed: u64,
    /// Written in vain: the job was nothing new.
    pub(crate) void: u64,
    /// Assignments of which some leases were written in vain, and some not.
    pub(crate) mixed: u64,
    /// Not written: the store refused the batch.
    pub(crate) refused: u64,
}

impl std::ops::AddAssign for Joint {
    fn add_assign(&mut self, more: Joint) {
        self.keyless += more.keyless;
        self.keyed += more.keyed;
        self.void += more.void;
        self.mixed += more.mixed;
        self.refused += more.refused;
    }
}

/// How often users' transactions did something, so that a run can show that they did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Completions {
    /// A handler ended its job.
    pub(crate) ended: u64,
    /// A handler had lost its lease.
    pub(crate) refused: u64,
    /// The leader was about to write something else about that attempt.
    pub(crate) otherwise: u64,
    /// A job came out of the inbox.
    pub(crate) taken_in: u64,
    /// A job came out of the inbox dead.
    pub(crate) taken_in_dead: u64,
    /// A row of the inbox was taken in before.
    pub(crate) taken_before: u64,
}

impl std::ops::AddAssign for Completions {
    fn add_assign(&mut self, more: Completions) {
        self.ended += more.ended;
        self.refused += more.refused;
        self.otherwise += more.otherwise;
        self.taken_in += more.taken_in;
        self.taken_in_dead += more.taken_in_dead;
        self.taken_before += more.taken_before;
    }
}

/// See the head of this file.
pub(crate) struct Checker {
    /// What the comparisons of memory and store came to, and the differences that a script has made.
    pub(crate) reconciled: Vec<Reconciled>,
    pub(crate) differences: Vec<(JobId, Difference)>,
    pub(crate) damaged: bool,
    /// Final jobs that were removed.
    pub(crate) purged: BTreeSet<JobId>,
    pub(crate) rated: Rated,
    pub(crate) turns: Turns,
    pub(crate) now: Time,
    pub(crate) violation: Option<String>,
    trace: Option<Vec<String>>,
    pub(crate) jobs: BTreeMap<JobId, Record>,
    applied: BTreeMap<(Term, u64), Vec<Applied>>,
    last: BTreeMap<Term, u64>,
    pub(crate) sessions: BTreeMap<SessionId, bool>,
    pub(crate) fates: BTreeMap<Fence, LeaseFate>,
    running: BTreeMap<JobId, Vec<Running>>,
    pub(crate) ever_started: BTreeSet<Fence>,
    excused: BTreeSet<Fence>,
    answers: BTreeMap<String, JobId>,
    acked: BTreeSet<JobId>,
    refused: BTreeSet<JobId>,
    /// Jobs that were submitted inside the store.
    pub(crate) enqueued: BTreeSet<JobId>,
    /// Leases whose handler ended the job itself, until the leader knows.
    pub(crate) elsewhere: BTreeSet<Fence>,
    /// Leases that were given as transactional.
    pub(crate) transactional: BTreeSet<Fence>,
    /// How often that happened, and how often it was refused.
    pub(crate) completions: Completions,
    pub(crate) queues_paused: BTreeMap<QueueName, bool>,
    /// Whether the limits are in force.
    pub(crate) limited: bool,
    /// Until when keys are closed.
    pub(crate) closed: BTreeMap<(QueueName, String), Wall>,
    /// Leases whose handler asked for its key to be closed.
    pub(crate) throttled: BTreeSet<Fence>,
    /// How often a closure, and a limit, kept a job waiting that was to be leased next.
    pub(crate) closures: u64,
    pub(crate) lost: u64,
    pub(crate) starts: Vec<JobId>,
    /// Jobs that the batch named which is being looked at, and whether they were created in it.
    pub(crate) named: BTreeMap<JobId, bool>,
    /// Jobs that came with an idempotency key.
    pub(crate) keyed: BTreeSet<JobId>,
    pub(crate) joint: Joint,
    /// What was written, for the statistics.
    pub(crate) counted: Written,
    /// The edges of jobs, with how each was first settled.
    pub(crate) edges: BTreeMap<JobId, Vec<Edge>>,
    pub(crate) families: Families,
    /// What must not be repeated.
    pub(crate) marks: Marks,
    /// What was written about schedules.
    pub(crate) ledger: Ledger,
}

impl Checker {
    pub(crate) fn new(traced: bool) -> Checker {
        Checker {
            now: 0,
            violation: None,
            trace: traced.then(Vec::new),
            jobs: BTreeMap::new(),
            applied: BTreeMap::new(),
            last: BTreeMap::new(),
            sessions: BTreeMap::new(),
            fates: BTreeMap::new(),
            running: BTreeMap::new(),
            ever_started: BTreeSet::new(),
            excused: BTreeSet::new(),
            answers: BTreeMap::new(),
            acked: BTreeSet::new(),
            refused: BTreeSet::new(),
            enqueued: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            transactional: BTreeSet::new(),
            completions: Completions::default(),
            queues_paused: BTreeMap::new(),
            limited: false,
            closed: BTreeMap::new(),
            throttled: BTreeSet::new(),
            closures: 0,
            lost: 0,
            starts: Vec::new(),
            named: BTreeMap::new(),
            keyed: BTreeSet::new(),
            joint: Joint::default(),
            counted: Written::default(),
            edges: BTreeMap::new(),
            families: Families::default(),
            marks: Marks::default(),
            ledger: Ledger::default(),
            reconciled: Vec::new(),
            differences: Vec::new(),
            damaged: false,
            purged: BTreeSet::new(),
            rated: Rated::default(),
            turns: Turns::default(),
        }
    }

    /// Something is wrong. The first thing counts.
    pub(crate) fn fail(&mut self, what: String) {
        self.note(|| format!("VIOLATION: {what}"));
        self.violation.get_or_insert(what);
    }

    pub(crate) fn require(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(what());
        }
    }

    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>12.6} {}", self.now as f64 / 1e6, text()));
        }
    }

    /// The last events, or all of them, oldest first.
    pub(crate) fn trace(&self, whole: bool) -> String {
        let lines = self.trace.as_deref().unwrap_or_default();
        let from = if whole { 0 } else { lines.len().saturating_sub(SHOWN) };
        lines[from..].join("\n")
    }

    pub(crate) fn was_applied(&self, term: Term, number: u64) -> bool {
        self.applied.contains_key(&(term, number))
    }

    /// The store answered a batch.
    pub(crate) fn committed(
        &mut self,
        term: Term,
        batch: &Batch,
        result: &Result<Vec<Applied>, CommitError>,
        at: Wall,
    ) {
        let key = (term, batch.number);
        let last = self.last.get(&term).copied().unwrap_or(0);
        match result {
            // One that was sent behind another waits in vain for a batch that did not come.
            Err(CommitError::Refused(StoreError::Failed(why)))
                if batch.number >= last && batch.number <= last + 1 =>
            {
                self.fail(format!("the store contradicts batch {term}/{}: {why}", batch.number));
            }
            Err(_) => {}
            Ok(applied) => {
                if let Some(before) = self.applied.get(&key) {
                    let same = before == applied;
                    self.require(same, || format!("batch {term}/{} was written twice", batch.number));
                    return;
                }
                self.applied.insert(key, applied.clone());
                self.last.insert(term, batch.number);
                self.named.clear();
                self.check_failures(batch);
                self.check_audit(batch);
                for (change, applied) in batch.changes.iter().zip(applied) {
                    self.count_written(change, applied);
                    self.wrote(change, applied, at);
                }
                self.check_turns(term, batch);
            }
        }
    }

    /// The store had no room for a batch.
    pub(crate) fn had_no_room(&mut self, batch: &Batch) {
        let named: BTreeSet<JobId> = named(batch).collect();
        for change in &batch.changes {
            if let Change::Assign(assignment) = change {
                let joint = assignment.leases.iter().filter(|lease| named.contains(&lease.job));
                self.joint.refused += joint.count() as u64;
            }
        }
    }

    /// Whoever listens is told of a job: it must be in the store.
    pub(crate) fn told_of(&mut self, job: JobId) {
        let there = self.damaged || self.jobs.contains_key(&job);
        self.require(there, || format!("{} is told of before it is written", short(job)));
    }

    /// P1, P8: a client is told that its job is safe.
    pub(crate) fn acked(&mut self, key: Option<&str>, intake: Intake) {
        let job = intake.job();
        let there = self.jobs.contains_key(&job);
        self.require(there, || format!("P1: {} is acknowledged but not in the store", short(job)));
        self.acked.insert(job);
        if let Some(key) = key {
            let first = *self.answers.entry(key.to_owned()).or_insert(job);
            let (a, b) = (short(first), short(job));
            self.require(first == job, || format!("P8: `{key}` is answered with {a} and with {b}"));
        }
    }

    /// A client is told that nothing was written.
    pub(crate) fn refused(&mut self, job: JobId) {
        self.refused.insert(job);
        let there = self.jobs.contains_key(&job);
        self.require(!there, || format!("{} was refused, but is in the store", short(job)));
    }

    /// A job that was refused for good is being written after all.
    pub(crate) fn check_not_refused(&mut self, job: JobId) {
        let refused = self.refused.contains(&job);
        self.require(!refused, || format!("{} was refused, and is written later", short(job)));
    }

    /// A worker hears of a lease: it must have been given.
    pub(crate) fn assign_heard(&mut self, worker: usize, work: &Work) {
        let fate = self.fates.get(&work.fence).copied();
        let fence = work.fence;
        self.require(fate.is_some(), || format!("worker {worker} hears of {fence} before it is written"));
        self.require(fate != Some(LeaseFate::Void), || {
            format!("worker {worker} hears of {fence}, but {} never was", short(work.job))
        });
    }

    /// A worker is told to stop a handler: a person must have asked for it, or its time is over. Clocks may
    /// differ by 2 %.
    pub(crate) fn cancel_heard(
        &mut self,
        job: JobId,
        fence: Fence,
        why: CancelWhy,
        run: Option<(Duration, Option<Duration>)>,
    ) {
        let asked = self.jobs.get(&job).is_some_and(|record| {
            record.cancel_wanted || record.end.is_some() || record.cancelled.contains(&fence)
        });
        let lawful = match (why, run) {
            (CancelWhy::Cancelled, Some(_)) => asked,
            (CancelWhy::Timeout, Some((ran, timeout))) => timeout.is_some_and(|t| ran >= t.mul_f64(0.97)),
            // It comes late, and stops nothing.
            (CancelWhy::Cancelled | CancelWhy::Timeout, None) => true,
            (CancelWhy::Lapsed | CancelWhy::LeaseLost | CancelWhy::Draining, _) => true,
        };
        self.require(lawful, || format!("P4: {} is told to stop, {why:?}, after {run:?}", short(job)));
    }

    /// The worker stood still while it held this lease: only the fence protects now.
    pub(crate) fn excuse(&mut self, fence: Fence) {
        self.excused.insert(fence);
        for running in self.running.values_mut().flatten().filter(|r| r.fence == fence) {
            running.excused = true;
        }
    }

    /// A handler begins.
    pub(crate) fn handler_started(&mut self, worker: usize, work: &Work, excused: bool, at: Wall) {
        let (job, fence) = (work.job, work.fence);
        let first = self.ever_started.insert(fence);
        self.require(first, || format!("{} is started twice under {fence}", short(job)));
        let excused = excused || self.excused.contains(&fence);
        let overlaps = self.running.get(&job).into_iter().flatten().find(|r| !excused && !r.excused);
        if let Some(other) = overlaps.map(|other| other.worker) {
            self.fail(format!("P2: {} runs on worker {other} and on worker {worker}", short(job)));
        }
        self.running.entry(job).or_default().push(Running { worker, fence, excused });
        let fate = self.fates.get(&fence).copied();
        let lawful = excused || matches!(fate, Some(LeaseFate::Open | LeaseFate::OverUnderGrace));
        self.require(lawful, || format!("{} is started under {fence}, which is {fate:?}", short(job)));
        self.starts.push(job);
        let Some(record) = self.jobs.get_mut(&job) else { return };
        record.started.insert(fence);
        let (due, run_at) = (record.due_at, record.new.spec.run_at);
        let (starts, allowed) = (record.started.len() - record.released.len(), work.max_attempts as usize);
        let early = fate == Some(LeaseFate::Open) && (at < due || run_at.is_some_and(|r| at < r && due >= r));
        self.require(!early, || format!("P5: {} starts at {at}, before {due}", short(job)));
        self.require(starts <= allowed, || {
            format!("P7: {} is started {starts} times, allowed are {allowed}", short(job))
        });
    }

    /// A handler is over.
    pub(crate) fn handler_over(&mut self, _worker: usize, job: JobId, fence: Fence) {
        if let Some(running) = self.running.get_mut(&job) {
            running.retain(|r| r.fence != fence);
        }
    }

    pub(crate) fn is_dead(&self, job: JobId) -> bool {
        let end = self.jobs.get(&job).and_then(|record| record.end.as_ref());
        end.is_some_and(|end| end.state == State::Dead)
    }

    pub(crate) fn paused_queues(&self) -> Vec<QueueName> {
        self.queues_paused.iter().filter(|(_, paused)| **paused).map(|(queue, _)| queue.clone()).collect()
    }

    /// Every client is answered, every job is final.
    pub(crate) fn all_final(&self, clients: &[Client]) -> bool {
        clients.iter().all(Client::is_answered)
            && self.enqueued.is_empty()
            && self.jobs.values().all(|record| record.end.is_some())
    }

    /// Jobs that are not final, for people.
    pub(crate) fn open_jobs(&self) -> impl Iterator<Item = (JobId, &Record)> {
        self.jobs.iter().filter(|(_, record)| record.end.is_none()).map(|(id, record)| (*id, record))
    }

    pub(crate) fn acked_jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.acked.iter().copied()
    }
}

/// The jobs that a batch submits.
pub(crate) fn named(batch: &Batch) -> impl Iterator<Item = JobId> + '_ {
    let of = |change: &'_ Change| {
        let jobs: &[_] = if let Change::Submit(submission) = change {
            &submission.jobs
        } else if let Change::Schedule(change) = change
            && let ScheduleChange::Fire(firing) = &**change
        {
            &firing.jobs
        } else {
            &[]
        };
        jobs.iter().map(|new| new.id).collect::<Vec<_>>()
    };
    batch.changes.iter().flat_map(of)
}
