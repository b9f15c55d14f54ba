//! The head of a queue is what starts next, and a worker that left is remembered with what it held.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::coordinator::port::Input;
use ganger_core::coordinator::view::LeftWhy;
use ganger_core::event::WorkerState;
use ganger_core::limits;
use ganger_core::name::QueueName;
use proptest::prelude::*;

use crate::world::{TTL, World};

/// A job: kind, priority, tenant and its weight.
type Job = (u8, i8, Option<u8>, u16);

/// Of one kind or of two, with tenants or without.
fn jobs() -> impl Strategy<Value = Vec<Job>> {
    (1u8..3, any::<bool>()).prop_flat_map(|(kinds, tenants)| {
        let tenant = prop::option::weighted(0.7, 0u8..3).prop_map(move |tenant| tenant.filter(|_| tenants));
        let job = (0..kinds, -1i8..2, tenant, 1u16..4);
        prop::collection::vec(job, 1..30)
    })
}

fn submit(world: &mut World, (kind, priority, tenant, weight): Job) -> JobId {
    world.submit(|spec| {
        spec.kind = format!("k{kind}").parse().unwrap();
        spec.priority = priority;
        spec.options.fair_key = tenant.map(|tenant| format!("tenant-{tenant}"));
        spec.options.fair_weight = weight;
    })
}

fn head(world: &World, limit: usize) -> (Vec<JobId>, bool) {
    let head = world.coordinator.head(&QueueName::default(), limit, world.now);
    (head.items.into_iter().map(|item| item.job).collect(), head.exact)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Priorities, tenants and weights mixed at will: a worker that takes one job after the other gets them in that order.
    #[test]
    fn jobs_start_in_the_order_of_the_head(jobs in jobs()) {
        let mut world = World::exact();
        for job in &jobs {
            submit(&mut world, *job);
            world.pass(Duration::from_millis(1));
        }
        let (mut told, exact) = head(&world, limits::HEAD_MAX);
        let one_kind = jobs.iter().all(|job| job.0 == jobs[0].0);
        let tenants = jobs.iter().any(|job| job.2.is_some());
        prop_assert_eq!(exact, one_kind || !tenants);
        world.join(1);
        while !world.running.is_empty() {
            world.end_oldest();
        }
        let mut started: Vec<JobId> = world.started.iter().map(|(_, work)| work.job).collect();
        if !exact {
            told.sort_unstable();
            started.sort_unstable();
        }
        prop_assert_eq!(told, started);
    }
}

#[test]
fn each_job_of_the_head_says_what_explain_says() {
    let mut world = World::exact();
    let first = world.narrow();
    let second = world.submit(|spec| spec.priority = -5);
    world.put_queue(|settings| settings.paused = true);
    let head = world.coordinator.head(&QueueName::default(), 20, world.now);
    assert_eq!(head.items.iter().map(|item| item.job).collect::<Vec<_>>(), [first, second]);
    for item in head.items {
        let explained = world.coordinator.explain(item.job, world.now).unwrap();
        let closed = explained.gates.into_iter().find(|gate| gate.closed);
        assert_eq!(item.held, closed);
        assert_eq!(item.held.unwrap().gate, "queue");
    }
    assert!(world.coordinator.head(&"other".parse().unwrap(), 20, world.now).items.is_empty());
}

#[test]
fn the_head_is_as_long_as_was_asked_for() {
    let mut world = World::exact();
    world.narrow_ones(5);
    assert_eq!(head(&world, 3).0.len(), 3);
    assert_eq!(head(&world, 5).0.len(), 5);
    assert_eq!(head(&world, 6).0.len(), 5);
    assert_eq!(head(&world, 0).0.len(), 0);
}

/// What is being run is not next.
#[test]
fn a_job_that_runs_is_not_in_the_head() {
    let mut world = World::with_workers(&[1]);
    let (running, waiting) = (world.narrow(), world.narrow());
    assert!(world.has_started(running));
    let head = world.coordinator.head(&QueueName::default(), 20, world.now);
    assert_eq!(head.items.len(), 1);
    assert_eq!((head.items[0].job, head.items[0].attempt), (waiting, 1));
    assert_eq!(head.items[0].held.as_ref().unwrap().gate, "threads");
}

#[test]
fn a_lost_worker_is_remembered_with_when_and_why_and_what_it_held() {
    let mut world = World::with_workers(&[2]);
    let (one, two) = (world.narrow(), world.narrow());
    // Nobody pings: its time runs out.
    let begun = world.now.wall;
    let mut seen = world.coordinator.workers(world.now).remove(0);
    assert_eq!(seen.left, None);
    for _ in 0..90 {
        // In small steps: a leader that stood still itself would declare nobody lost.
        step_without_pings(&mut world);
        seen = world.coordinator.workers(world.now).remove(0);
    }
    assert_eq!(seen.state, WorkerState::Lost);
    let left = seen.left.unwrap();
    assert!(matches!(left.why, LeftWhy::Silent(long) if long >= TTL), "{:?}", left.why);
    assert!(left.at.since(begun) >= TTL);
    assert_eq!((left.held, left.jobs), (2, vec![one, two]));
    assert!(left.why.told().starts_with("it was not heard for "));
}

fn step_without_pings(world: &mut World) {
    let second = Duration::from_secs(1);
    world.now.mono = world.now.mono + second;
    world.now.wall = world.now.wall + second;
    world.give(vec![Input::Tick]);
}
