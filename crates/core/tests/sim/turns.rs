//! Queues take turns: none waits for the backlog of another.
//!
//! Every worker of a run serves every queue, and all queues have the same weight. So while a job of one thread waits in
//! a queue and could run, each other queue starts as many jobs as this one, but for a few.

use std::collections::BTreeMap;

use ganger_core::change::{Batch, Change};
use ganger_core::job::JobSpec;
use ganger_core::name::QueueName;
use ganger_core::{JobId, Term, Wall};

use crate::checker::{Checker, Record};
use crate::setup::{MS, S};
use crate::stage::{ALICE, Stage, job};
use crate::stories::{Script, Told};

/// Every story about turns.
pub(crate) const TURNS: [Script; 1] = [("a job behind the backlog of another queue", behind_a_backlog)];

/// A batch is decided while the one before it, at most two of them, is being written. So what was written so many batches ago was
/// known when it was decided.
const KNOWN_AFTER: u64 = 3;
/// Starts of other queues beyond their turns. A queue that begins to wait comes after those with the same turn, jobs go
/// out in passes, and a wide job that was overtaken too often starts out of turn.
const BEYOND: i64 = 6;

/// What was written about turns.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// The last batch that named a job, and the last that set a queue.
    jobs: BTreeMap<JobId, (Term, u64)>,
    queues: BTreeMap<QueueName, (Term, u64)>,
    /// By how many starts the other queues are ahead of one that waits.
    lag: BTreeMap<QueueName, i64>,
    /// The most that was seen.
    pub(crate) worst: i64,
}

impl Checker {
    /// A batch was written: no queue that waits fell behind by what it started.
    pub(crate) fn check_turns(&mut self, term: Term, batch: &Batch) {
        let written = (term, batch.number);
        let mut started: BTreeMap<QueueName, i64> = BTreeMap::new();
        let mut decided = None;
        for assignment in batch.changes.iter().filter_map(|change| match change {
            Change::Assign(assignment) => Some(assignment),
            _ => None,
        }) {
            decided = decided.max(Some(assignment.at));
            for record in assignment.leases.iter().filter_map(|lease| self.jobs.get(&lease.job)) {
                *started.entry(record.new.spec.queue.clone()).or_default() += 1;
            }
        }
        if let Some(decided) = decided.filter(|_| !self.limited) {
            self.count_turns(written, &started, decided);
        }
        for change in &batch.changes {
            match change {
                Change::PutQueue(queue, _) => drop(self.turns.queues.insert(queue.clone(), written)),
                Change::Submit(new) => self.turns.jobs.extend(new.jobs.iter().map(|new| (new.id, written))),
                Change::End(end) => drop(self.turns.jobs.insert(end.job, written)),
                Change::RunNow(job, _) | Change::CancelWanted(job) => {
                    self.turns.jobs.insert(*job, written);
                }
                Change::Replay(replay) => drop(self.turns.jobs.insert(replay.job, written)),
                Change::Settle(..) | Change::Schedule(_) => self.turns.jobs.clear(),
                _ => {}
            }
        }
    }

    fn count_turns(&mut self, written: (Term, u64), started: &BTreeMap<QueueName, i64>, decided: Wall) {
        let waiting: Vec<QueueName> = {
            let could = self.jobs.values().filter(|record| self.could_start(record, written, decided));
            could.map(|record| record.new.spec.queue.clone()).collect()
        };
        let all: i64 = started.values().sum();
        let queues = self.jobs.values().map(|record| &record.new.spec.queue);
        let others = queues.collect::<std::collections::BTreeSet<_>>().len() as i64 - 1;
        self.turns.lag.retain(|queue, _| waiting.contains(queue));
        let mut behind = None;
        for queue in waiting.into_iter().collect::<std::collections::BTreeSet<_>>() {
            let own = started.get(&queue).copied().unwrap_or(0);
            let lag = self.turns.lag.entry(queue.clone()).or_default();
            *lag = (*lag + (all - own) - others * own).max(0);
            self.turns.worst = self.turns.worst.max(*lag);
            if *lag > others + BEYOND {
                behind = Some((queue, *lag));
            }
        }
        self.require(behind.is_none(), || format!("turns: {behind:?} starts of others while a job waits"));
    }

    /// Whether a job of one thread waits, and the leader knew when it decided.
    fn could_start(&self, record: &Record, written: (Term, u64), decided: Wall) -> bool {
        let spec = &record.new.spec;
        let known = |at: Option<&(Term, u64)>| {
            at.is_some_and(|(term, number)| *term < written.0 || number + KNOWN_AFTER <= written.1)
        };
        let settled = self.turns.queues.get(&spec.queue).is_none_or(|at| known(Some(at)));
        let paused = self.queues_paused.get(&spec.queue) == Some(&true);
        let waits = record.lease.is_none() && record.end.is_none() && !record.cancel_wanted;
        waits
            && spec.options.threads == 1
            && record.due_at <= decided
            && !paused
            && settled
            && known(self.turns.jobs.get(&record.new.id))
    }
}

fn in_queue(queue: &str) -> JobSpec {
    let mut spec = job(5);
    spec.queue = queue.parse().expect("a queue");
    spec
}

/// A queue has thirty jobs for a single worker. One that is submitted to another queue starts soon.
fn behind_a_backlog() -> Told {
    let mut stage = Stage::new(&[ALICE], 100 * MS);
    stage.wait_open(0);
    let backlog: Vec<usize> = (0..30).map(|_| stage.send(in_queue("a"))).collect();
    let backlog: Vec<JobId> = backlog.into_iter().map(|client| stage.wait_acked(client)).collect();
    let urgent = stage.submit(in_queue("b"));
    stage.wait_started(urgent, 1);
    let before = backlog.iter().filter(|job| stage.starts(**job) > 0).count();
    stage.expect(before < 20, "it does not wait for the backlog");
    stage.run_for(5 * S);
    stage.finish().map(|_| ())
}

#[test]
fn stories_about_turns_end_well() {
    for (name, script) in TURNS {
        if let Err(what) = script() {
            panic!("{name}: {what}");
        }
    }
}
