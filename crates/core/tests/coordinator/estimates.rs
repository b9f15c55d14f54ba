//! An estimate is right within a factor of two, or there is none.

use std::time::Duration;

use ganger_core::coordinator::port::Ask;
use ganger_core::queue::{QueueSettings, Rate};
use ganger_core::{JobId, Mono};
use proptest::prelude::*;

use crate::world::World;

/// A world in which every job runs for the same time.
struct Timed {
    world: World,
    run: Duration,
    /// When those that run began, in their order.
    began: Vec<Mono>,
}

impl Timed {
    fn new(threads: &[u16], run: Duration) -> Timed {
        let mut timed = Timed { world: World::with_workers(threads), run, began: Vec::new() };
        // One of each queue has to end before anything is known.
        for queue in ["q0", "q1"] {
            timed.submit(queue);
            timed.pass(run);
        }
        timed
    }

    fn submit(&mut self, queue: &str) -> JobId {
        let job = self.world.submit(|spec| spec.queue = queue.parse().unwrap());
        self.note();
        job
    }

    fn submit_many(&mut self, queue: &str, jobs: usize) {
        for _ in 0..jobs {
            self.submit(queue);
        }
    }

    fn note(&mut self) {
        self.began.resize(self.world.running.len(), self.world.now.mono);
    }

    /// Time passes; what has run long enough ends.
    fn pass(&mut self, time: Duration) {
        let until = self.world.now.mono + time;
        while self.world.now.mono < until {
            let first = self.began.iter().min().map_or(until, |began| *began + self.run);
            let step = first.min(until).since(self.world.now.mono).min(self.run / 4);
            self.world.pass(step.max(Duration::from_micros(1)));
            self.note();
            while let Some(at) = self.began.iter().position(|began| *began + self.run <= self.world.now.mono)
            {
                self.began.remove(at);
                self.world.end_after(at, self.run);
                self.note();
            }
        }
    }

    fn estimate(&self, job: JobId) -> Option<Duration> {
        self.world.coordinator.explain(job, self.world.now).unwrap().estimate
    }

    /// How long it takes until a job starts.
    fn until_started(&mut self, job: JobId) -> Duration {
        let from = self.world.now.mono;
        for _ in 0..100_000 {
            if self.world.has_started(job) {
                break;
            }
            self.pass(self.run / 4);
        }
        self.world.now.mono.since(from)
    }
}

fn put(world: &mut World, queue: &str, change: impl FnOnce(&mut QueueSettings)) {
    let mut settings = QueueSettings::default();
    change(&mut settings);
    world.ask(Ask::PutQueue(queue.parse().unwrap(), settings));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// A backlog, with or without a limit on what runs, with or without a rate, behind a second queue or alone.
    #[test]
    fn estimates_are_right_within_a_factor_of_two(
        threads in 1u16..6,
        run in 20u64..2_000,
        (ahead, others) in (0usize..60, 0usize..40),
        limit in prop::option::of(1u32..4),
        rate in prop::option::of(1u32..30),
        weight in 1u16..4,
        phase in 0u32..4,
    ) {
        let run = Duration::from_millis(run);
        let mut timed = Timed::new(&[threads, 2], run);
        put(&mut timed.world, "q0", |settings| {
            settings.weight = weight;
            settings.limits.max_running = limit;
            settings.limits.rate = rate.map(|n| Rate { n, per: Duration::from_secs(1), burst: 1 });
        });
        timed.submit_many("q1", others);
        timed.submit_many("q0", ahead);
        timed.pass(run * phase / 4);
        let job = timed.submit("q0");
        if !timed.world.has_started(job) {
            let told = timed.estimate(job).expect("everything that decides is known").as_secs_f64();
            let took = timed.until_started(job).as_secs_f64();
            let slack = run.as_secs_f64();
            prop_assert!(told <= took * 2.0 + slack && told >= took / 2.0 - slack, "told {}, took {}", told, took);
        }
    }
}

#[test]
fn a_rate_of_two_per_second_is_waited_for() {
    let mut timed = Timed::new(&[4], Duration::from_millis(5));
    put(&mut timed.world, "q0", |settings| {
        settings.limits.rate = Some(Rate { n: 2, per: Duration::from_secs(1), burst: 1 });
    });
    timed.submit_many("q0", 29);
    let last = timed.submit("q0");
    let told = timed.estimate(last).unwrap().as_secs_f64();
    assert!((13.0..16.0).contains(&told), "{told}");
}

/// What cannot be known is not estimated.
#[test]
fn nothing_is_estimated_where_something_unknown_decides() {
    let mut timed = Timed::new(&[1], Duration::from_secs(1));
    timed.submit_many("q0", 5);
    let job = timed.submit("q0");
    assert!(timed.estimate(job).is_some());
    put(&mut timed.world, "q0", |settings| settings.paused = true);
    assert_eq!(timed.estimate(job), None, "paused");
    put(&mut timed.world, "q0", |_| {});
    let unknown = timed.world.submit(|spec| spec.kind = "new".parse().unwrap());
    assert!(timed.estimate(unknown).is_some(), "what runs and waits is known, and it comes next");
    let behind = timed.world.submit(|spec| spec.queue = "q0".parse().unwrap());
    assert!(timed.estimate(behind).is_none(), "a kind that never ended comes before it");
    // The attempt that runs does not end.
    let mut stuck = Timed::new(&[1], Duration::from_secs(1));
    stuck.submit("q0");
    let waiting = stuck.submit("q0");
    stuck.world.pass(Duration::from_secs(20));
    assert_eq!(stuck.estimate(waiting), None, "it may run for ever");
}
