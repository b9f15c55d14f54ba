//! Queues take turns: by weight, within their precedence, and `explain` says what comes first.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::WorkerInfo;
use ganger_core::coordinator::port::{Ask, Options};
use ganger_core::queue::QueueSettings;
use proptest::prelude::*;

use crate::world::{TTL, World};

fn submit_to(world: &mut World, queue: &str, priority: i8) -> JobId {
    world.submit(|spec| {
        spec.queue = queue.parse().unwrap();
        spec.priority = priority;
    })
}

fn submit_many(world: &mut World, queue: &str, jobs: usize) {
    for _ in 0..jobs {
        submit_to(world, queue, 0);
    }
}

fn set(world: &mut World, queue: &str, weight: u16, precedence: i8) {
    let settings = QueueSettings { weight, precedence, ..QueueSettings::default() };
    world.ask(Ask::PutQueue(queue.parse().unwrap(), settings));
}

/// Starts of each queue among the last so many.
fn starts(world: &World, last: usize) -> BTreeMap<String, usize> {
    let mut starts = BTreeMap::new();
    for (_, work) in world.started.iter().rev().take(last) {
        *starts.entry(work.queue.to_string()).or_default() += 1;
    }
    starts
}

#[test]
fn a_job_does_not_wait_for_the_backlog_of_another_queue() {
    let mut world = World::with_workers(&[4]);
    submit_many(&mut world, "bulk", 2_000);
    let urgent = submit_to(&mut world, "interactive", 0);
    let told = world.coordinator.explain(urgent, world.now).unwrap().position.unwrap();
    assert_eq!(told.ahead, 0);
    assert!(told.others.iter().all(|other| other.jobs <= 1), "{told:?}");
    let before = world.started.len();
    while !world.has_started(urgent) {
        world.end_oldest();
    }
    assert!(world.started.len() - before <= 2, "{} started first", world.started.len() - before);
}

#[test]
fn queues_start_jobs_in_proportion_to_their_weights() {
    let mut world = World::with_workers(&[3, 2]);
    let weights = [("one", 1), ("two", 2), ("four", 4)];
    for (queue, weight) in weights {
        set(&mut world, queue, weight, 0);
        submit_many(&mut world, queue, 900);
    }
    let before = world.started.len();
    while world.started.len() < before + 700 {
        world.end_oldest();
    }
    let starts = starts(&world, 700);
    for (queue, weight) in weights {
        let expected = 100 * usize::from(weight);
        assert!(starts[queue].abs_diff(expected) <= 3, "{starts:?}");
    }
}

/// The weight of a queue counts for those who wait. One that comes back with a single job each time gains nothing.
#[test]
fn coming_back_with_every_job_gains_nothing() {
    let mut world = World::with_workers(&[1]);
    set(&mut world, "heavy", 100, 0);
    submit_many(&mut world, "heavy", 1_200);
    let mut light = submit_to(&mut world, "light", 0);
    for _ in 0..1_010 {
        world.end_oldest();
        if world.has_started(light) {
            light = submit_to(&mut world, "light", 0);
        }
    }
    let starts = starts(&world, 1_010);
    assert!((8..=12).contains(&starts["light"]), "{starts:?}");
}

#[test]
fn larger_precedence_goes_first_whatever_the_priority() {
    let mut world = World::with_workers(&[1]);
    submit_to(&mut world, "running", 0);
    set(&mut world, "first", 1, 1);
    set(&mut world, "last", 1_000, -1);
    let last = submit_to(&mut world, "last", 127);
    let middle = submit_to(&mut world, "middle", 50);
    let first = submit_to(&mut world, "first", -128);
    let told = world.coordinator.explain(last, world.now).unwrap().position.unwrap();
    let others: BTreeMap<String, u64> =
        told.others.iter().map(|o| (o.queue.as_ref().unwrap().to_string(), o.jobs)).collect();
    assert_eq!(others, [("first".into(), 1), ("middle".into(), 1)].into());
    while !world.running.is_empty() {
        world.end_oldest();
    }
    let order: Vec<JobId> = world.started.iter().skip(1).map(|(_, work)| work.job).collect();
    assert_eq!(order, [first, middle, last]);
}

#[test]
fn settings_take_effect_for_jobs_that_wait() {
    let mut world = World::with_workers(&[1]);
    submit_to(&mut world, "a", 0);
    let (a, b) = (submit_to(&mut world, "a", 0), submit_to(&mut world, "b", 0));
    set(&mut world, "b", 1, 3);
    world.end_oldest();
    assert!(world.has_started(b) && !world.has_started(a));
    set(&mut world, "b", 1, 0);
    world.end_oldest();
    assert!(world.has_started(a));
}

/// A queue whose job is too wide for the free threads is not owed all that others start meanwhile.
#[test]
fn a_queue_that_was_passed_over_does_not_make_up_for_it() {
    let mut world = World::with_workers(&[2]);
    submit_many(&mut world, "narrow", 400);
    let wide = world.submit(|spec| {
        spec.queue = "wide".parse().unwrap();
        spec.options.threads = 2;
    });
    while !world.has_started(wide) {
        world.end_oldest();
    }
    submit_many(&mut world, "wide", 200);
    let before = world.started.len();
    while world.started.len() < before + 100 {
        world.end_oldest();
    }
    let starts = starts(&world, 100);
    assert!((48..=52).contains(&starts["wide"]), "{starts:?}");
}

/// A reservation for a wide job lets higher priorities of its own queue pass, but other queues do not wait for those.
#[test]
fn jobs_that_pass_a_reservation_take_turns_with_other_queues() {
    let mut world = World::with_workers(&[2]);
    (0..300).for_each(|_| _ = submit_to(&mut world, "a", 5));
    world.submit(|spec| {
        spec.queue = "a".parse().unwrap();
        spec.options.threads = 2;
        spec.priority = 6;
    });
    (0..300).for_each(|_| _ = submit_to(&mut world, "a", 7));
    submit_many(&mut world, "b", 100);
    world.pass(Duration::from_secs(3));
    let before = world.started.len();
    while world.started.len() < before + 40 {
        world.end_oldest();
    }
    let starts = starts(&world, 40);
    assert!(starts.get("b").copied().unwrap_or(0) >= 18, "{starts:?}");
}

/// Short jobs are given ahead; those of each queue in turn.
#[test]
fn what_is_given_ahead_is_shared_by_the_queues() {
    let mut world = World::new(Options::default());
    world.join(4);
    for queue in ["a", "b"] {
        submit_to(&mut world, queue, 0);
        world.end_after(0, Duration::from_micros(10));
    }
    for queue in ["a", "b"] {
        submit_many(&mut world, queue, 1_500);
    }
    for _ in 0..100 {
        world.end_after(0, Duration::from_micros(10));
    }
    let starts = starts(&world, 60);
    assert!((25..=35).contains(&starts["a"]), "{starts:?}");
}

#[derive(Clone, Debug)]
enum Step {
    Submit(u8, i8),
    End(usize),
    Set(u8, u16, i8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..4, -1i8..2).prop_map(|(queue, priority)| Step::Submit(queue, priority)),
        3 => any::<usize>().prop_map(Step::End),
        1 => (0u8..4, 1u16..5, -1i8..2).prop_map(|(queue, weight, precedence)| Step::Set(queue, weight, precedence)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Every job that waits starts after exactly the jobs that `explain` counts: those of its own queue, and those of others.
    #[test]
    fn explain_counts_exactly_the_jobs_that_start_first(
        threads in 1u16..4,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut world = World::with_workers(&[threads, 1]);
        let mut jobs = Vec::new();
        for step in steps {
            match step {
                Step::Submit(queue, priority) => jobs.push(submit_to(&mut world, &format!("q{queue}"), priority)),
                Step::Set(queue, weight, precedence) => set(&mut world, &format!("q{queue}"), weight, precedence),
                Step::End(at) => if let Some(at) = at.checked_rem(world.running.len()) { world.end(at) },
            }
        }
        jobs.retain(|job| !world.has_started(*job));
        let mut told: BTreeMap<usize, JobId> = BTreeMap::new();
        for job in &jobs {
            let position = world.coordinator.explain(*job, world.now).unwrap().position.unwrap();
            let others: u64 = position.others.iter().map(|other| other.jobs).sum();
            let place = position.ahead + usize::try_from(others).unwrap();
            prop_assert!(position.exact);
            prop_assert_eq!(told.insert(place, *job), None, "two jobs at place {}", place);
        }
        let before = world.started.len();
        while !world.running.is_empty() {
            world.end_oldest();
        }
        let order: Vec<JobId> = world.started[before..].iter().map(|(_, work)| work.job).collect();
        prop_assert_eq!(told.into_values().collect::<Vec<_>>(), order);
    }
}

/// A worker that serves one queue alone owes nothing to the turns of the others.
#[test]
fn turns_are_those_of_the_workers_that_serve_the_queues() {
    let mut world = World::with_workers(&[1]);
    world.join_as(WorkerInfo {
        name: "own".into(),
        queues: vec!["bulk".parse().unwrap()],
        kinds: vec![],
        threads: 1,
        labels: Default::default(),
        version: "1".into(),
        local: false,
        claim: false,
        ttl: TTL,
    });
    submit_many(&mut world, "bulk", 100);
    submit_many(&mut world, "mail", 100);
    for _ in 0..30 {
        let at = world.running.iter().position(|(worker, _)| *worker == 1).unwrap();
        world.end(at);
    }
    let before = world.started.len();
    for _ in 0..20 {
        let at = world.running.iter().position(|(worker, _)| *worker == 0).unwrap();
        world.end(at);
    }
    let starts = starts(&world, world.started.len() - before);
    assert_eq!((starts["bulk"], starts["mail"]), (10, 10), "what its own worker ran is not charged to it");
}
