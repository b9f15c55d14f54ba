//! Bulk operations under crashes: each job that one concerns is acted upon once, and counted once.
//!
//! The real machine, and a world that is as bad as it may be: the leader crashes between any two steps and in the
//! middle of acting, commits have unknown outcomes, and replayed jobs run and die again at any moment.

use std::collections::BTreeMap;

use ganger_core::job::State;
use ganger_core::operation::{Action, Carrier, Operation, Seen, Settled, Skip, Step, Target};
use ganger_core::{JobId, OperationId, Wall};

use crate::rng::Rng;
use crate::stories::{Script, Told};

/// What shows a seeded bug of the machine.
pub(crate) const OPERATIONS: [Script; 3] = [
    ("an operation that replays, and crashes", || each_seed(Action::Replay)),
    ("an operation that cancels, and crashes", || each_seed(Action::Cancel)),
    ("an operation that deletes, and crashes", || each_seed(Action::Delete)),
];

const SEEDS: u64 = 300;
const STEPS: usize = 5_000;

fn each_seed(action: Action) -> Told {
    (0..SEEDS)
        .try_for_each(|seed| World::new(action, seed).run().map_err(|what| format!("seed {seed}: {what}")))
}

#[test]
fn an_operation_concerns_each_job_once_whatever_crashes() {
    for (name, script) in &OPERATIONS {
        script().unwrap_or_else(|what| panic!("{name}: {what}"));
    }
}

struct World {
    rng: Rng,
    now: i64,
    action: Action,
    jobs: BTreeMap<JobId, Seen>,
    /// How often the operation did it to a job.
    acts: BTreeMap<JobId, u32>,
    /// Jobs that it concerns.
    wanted: Vec<JobId>,
    kept: Operation,
}

impl World {
    fn new(action: Action, seed: u64) -> World {
        let mut rng = Rng::new(seed);
        let boundary = 1_000;
        let (mut jobs, mut wanted) = (BTreeMap::new(), Vec::new());
        for n in 0..rng.range(0, 40) {
            let id = JobId::new(n, [0; 10]);
            let state = State::ALL[rng.index(State::ALL.len())];
            let finished_at = state.is_final().then_some(Wall(500));
            if action.states().contains(&state) {
                wanted.push(id);
            }
            jobs.insert(
                id,
                Seen {
                    id,
                    state,
                    created_at: Wall(100),
                    finished_at,
                    cancel_wanted: false,
                    runs_command: false,
                },
            );
        }
        let all: Vec<JobId> = jobs.keys().copied().collect();
        let target = if rng.one_in(2) { Target::All } else { Target::Ids(all) };
        let rate = u32::try_from(rng.range(1, 80)).unwrap_or(1);
        let kept = Operation::new(OperationId::new(1, [0; 10]), action, target, rate, Wall(boundary));
        World { rng, now: boundary, action, jobs, acts: BTreeMap::new(), wanted, kept }
    }

    fn run(mut self) -> Told {
        let mut carrier = Carrier::new(self.kept.clone());
        for _ in 0..STEPS {
            self.now += 1;
            self.live_on();
            if self.rng.one_in(12) {
                carrier = Carrier::new(self.kept.clone());
            }
            if carrier.step() == Step::Over {
                return self.check(carrier.operation());
            }
            self.carry_out(&mut carrier);
        }
        Err("it does not end".into())
    }

    fn carry_out(&mut self, carrier: &mut Carrier) {
        let now = Wall(self.now);
        match carrier.step() {
            Step::Over => {}
            Step::Look { before, rows } => {
                let older =
                    self.jobs.values().rev().filter(|job| before.is_none_or(|before| job.id < before));
                let page: Vec<Seen> = older.copied().take(rows + 1).collect();
                let next = page.get(rows).and(page.get(rows - 1)).map(|job| job.id);
                let for_it = |job: &&Seen| self.action.states().contains(&job.state);
                let found: Vec<Seen> = page.iter().take(rows).filter(for_it).copied().collect();
                carrier.looked(&found, page.len() as u64, next, now);
            }
            Step::LookAt(ids) => carrier.looked_at(&self.seen(&ids), now),
            Step::LookAgain(ids) => carrier.looked_again(&self.seen(&ids), now),
            Step::Save => {
                let saved = carrier.operation().clone();
                match self.rng.below(8) {
                    0 => {}
                    // Written, and the answer is lost.
                    1 => self.kept = saved,
                    _ => {
                        self.kept = saved.clone();
                        carrier.saved(saved);
                    }
                }
            }
            Step::Act(ids) => {
                carrier.acts();
                let mut settled = Vec::new();
                for id in ids {
                    let outcome = self.act(id);
                    // The answer may be lost, and so may everything that comes after a crash.
                    match self.rng.below(10) {
                        0 => settled.push((id, Settled::Unknown)),
                        1 => break,
                        _ => settled.push((id, outcome)),
                    }
                }
                carrier.acted(&settled, now);
            }
        }
    }

    fn seen(&self, ids: &[JobId]) -> Vec<Seen> {
        ids.iter().filter_map(|id| self.jobs.get(id).copied()).collect()
    }

    fn act(&mut self, id: JobId) -> Settled {
        let Some(job) = self.jobs.get_mut(&id) else { return Settled::Skipped(Skip::Gone) };
        if !self.action.states().contains(&job.state) {
            return Settled::Skipped(if job.state.is_final() { Skip::Final } else { Skip::Live });
        }
        *self.acts.entry(id).or_default() += 1;
        match self.action {
            Action::Replay => (job.state, job.finished_at) = (State::Queued, None),
            Action::Cancel if job.state == State::Running => job.cancel_wanted = true,
            Action::Cancel => (job.state, job.finished_at) = (State::Cancelled, Some(Wall(self.now))),
            Action::Delete => drop(self.jobs.remove(&id)),
        }
        Settled::Done
    }

    /// Jobs that were replayed run and die again.
    fn live_on(&mut self) {
        for (id, job) in &mut self.jobs {
            let replayed = self.action == Action::Replay && self.acts.contains_key(id);
            if replayed && job.state == State::Queued && self.rng.one_in(3) {
                (job.state, job.finished_at) = (State::Dead, Some(Wall(self.now)));
            }
        }
    }

    fn check(&self, operation: &Operation) -> Told {
        for id in &self.wanted {
            let acts = self.acts.get(id).copied().unwrap_or(0);
            // A running job can be told to stop more than once, which changes nothing.
            if acts != 1 && !(self.action == Action::Cancel && acts > 0) {
                return Err(format!("{id} was acted upon {acts} times"));
            }
        }
        let (done, wanted) = (operation.done, self.wanted.len() as u64);
        if done != wanted {
            return Err(format!("{done} were counted as done, {wanted} were"));
        }
        if let Target::Ids(ids) = &operation.target
            && operation.done + operation.skipped_in_all() != ids.len() as u64
        {
            return Err("done and skipped are not all".into());
        }
        Ok(())
    }
}
