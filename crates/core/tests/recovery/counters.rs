//! Counts are exact: after any sequence of operations memory counts what the store holds.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Input};
use ganger_core::job::State;
use ganger_core::outcome::Report;
use ganger_core::queue::QueueSettings;
use ganger_core::{JobId, SessionId};
use ganger_store::read::ListQuery;
use proptest::prelude::*;

use crate::leader::{Disk, Leader, id};

#[derive(Clone, Debug)]
enum Step {
    Submit {
        threads: u16,
        delay: u64,
        attempts: u32,
        unique: bool,
    },
    End(usize, u8),
    Cancel(usize),
    RunNow(usize),
    Replay(usize),
    Pause(bool),
    Hold,
    Release,
    Refuse,
    /// The last worker dies, for ever.
    Die,
    Pass(u64),
    TakeOver,
    Join(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u16..4, 0u64..3, 1u32..4, any::<bool>())
            .prop_map(|(threads, delay, attempts, unique)| Step::Submit { threads, delay, attempts, unique }),
        4 => (0usize..8, 0u8..6).prop_map(|(which, how)| Step::End(which, how)),
        1 => (0usize..12).prop_map(Step::Cancel),
        1 => (0usize..12).prop_map(Step::RunNow),
        1 => (0usize..12).prop_map(Step::Replay),
        1 => any::<bool>().prop_map(Step::Pause),
        1 => Just(Step::Hold),
        2 => Just(Step::Release),
        1 => Just(Step::Refuse),
        1 => Just(Step::Die),
        2 => (0u64..4_000).prop_map(Step::Pass),
        1 => Just(Step::TakeOver),
        1 => (0usize..3).prop_map(Step::Join),
    ]
}

struct Play {
    leader: Leader,
    jobs: Vec<JobId>,
    streams: [u64; 3],
    running: Vec<(usize, ganger_core::message::Work)>,
}

impl Play {
    fn new() -> Play {
        let mut play = Play { leader: Leader::new(), jobs: Vec::new(), streams: [0; 3], running: Vec::new() };
        (0..3).for_each(|worker| play.join(worker));
        play
    }

    fn join(&mut self, worker: usize) {
        self.streams[worker] += 1;
        self.leader.join(worker, self.streams[worker], 3);
    }

    fn take(&mut self, step: &Step) {
        let job = |which: &usize| self.jobs.get(*which).copied();
        match step {
            Step::Submit { threads, delay, attempts, unique } => {
                let run_at = (*delay > 0).then(|| self.leader.now.wall + Duration::from_secs(*delay));
                let job = self.leader.submit(|spec| {
                    spec.run_at = run_at;
                    spec.options.threads = *threads;
                    spec.options.max_attempts = *attempts;
                    spec.options.unique_key = unique.then(|| "once".into());
                });
                self.jobs.push(job);
            }
            Step::End(which, how) => self.end(*which, *how),
            Step::Cancel(which) => drop(job(which).map(|job| self.leader.ask(Ask::Cancel(job)))),
            Step::RunNow(which) => drop(job(which).map(|job| self.leader.ask(Ask::RunNow(job)))),
            Step::Replay(which) => drop(job(which).map(|job| self.leader.ask(Ask::Replay(job)))),
            Step::Pause(paused) => {
                let settings = QueueSettings { paused: *paused, ..QueueSettings::default() };
                self.leader.ask(Ask::PutQueue(Default::default(), settings));
            }
            Step::Hold => self.leader.disk = Disk::Holds,
            Step::Release => self.leader.release(),
            Step::Refuse if self.leader.held().is_empty() => {}
            Step::Refuse => {
                self.leader.refuse();
                self.leader.disk = Disk::Writes;
                self.leader.pass(Duration::from_secs(3));
            }
            Step::Die => self.leader.give(Input::WorkerDied(id(2))),
            Step::Pass(millis) => self.leader.pass(Duration::from_millis(*millis)),
            Step::TakeOver => {
                self.leader.take_over();
                (0..3).for_each(|worker| self.join(worker));
            }
            Step::Join(worker) => self.join(*worker),
        }
        for worker in 0..3 {
            let known: Vec<_> = self.running.iter().map(|(_, work)| work.fence).collect();
            let works = self.leader.assigned(worker).into_iter().filter(|w| !known.contains(&w.fence));
            self.running.extend(works.map(|work| (worker, work)));
        }
    }

    fn end(&mut self, which: usize, how: u8) {
        if which >= self.running.len() {
            return;
        }
        let (worker, work) = self.running.remove(which);
        let report = match how {
            0 => Report::Error("no".into()),
            1 => Report::Fatal("no".into()),
            2 => Report::Snooze(Duration::from_secs(1)),
            3 => Report::Released { started: true },
            4.. => Report::Ok("1".into()),
        };
        self.leader.ends(worker, self.streams[worker], work.job, work.fence, report);
    }

    /// Jobs by state, as the store has them.
    fn stored(&self) -> BTreeMap<State, u64> {
        let query = ListQuery { limit: 500, ..ListQuery::default() };
        let mut counts = BTreeMap::new();
        for job in self.leader.store.list(&query, self.leader.now.wall).jobs {
            *counts.entry(job.state).or_default() += 1;
        }
        counts
    }

    /// Jobs by state, as memory counts them.
    fn counted(&self) -> BTreeMap<State, u64> {
        let mut counts = BTreeMap::new();
        for (_, _, by_state) in self.leader.coordinator.stats().counts {
            for state in State::ALL {
                *counts.entry(state).or_default() += by_state[state.index()];
            }
        }
        counts.retain(|_, count| *count > 0);
        counts
    }

    /// Threads of open leases in the store.
    fn leased(&self, session: SessionId) -> u32 {
        let snapshot = self.leader.store.load();
        let last = |job| snapshot.jobs.iter().find(|j| j.id == job).map(|j| j.last_fence);
        let of = snapshot.assignments.iter().filter(|a| a.session == session).flat_map(|a| a.fenced());
        of.filter(|(fence, lease)| last(lease.job).is_some_and(|l| l.is_none_or(|l| l < *fence)))
            .map(|(_, lease)| u32::from(lease.threads))
            .sum()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// P: whatever was asked, reported, held back or taken over, and no worker holds more than its threads.
    #[test]
    fn memory_counts_what_the_store_holds(steps in prop::collection::vec(step(), 0..80)) {
        let mut play = Play::new();
        for step in &steps {
            play.take(step);
            for worker in 0..3 {
                prop_assert!(play.leased(id(worker)) <= 3, "worker {} holds too much", worker);
            }
        }
        play.leader.release();
        prop_assert_eq!(play.counted(), play.stored());
    }
}
