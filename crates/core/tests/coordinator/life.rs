//! The life of jobs under one leader: due times, retries, cancels, timeouts, losses, queues; and that
//! `explain` says what dispatch does.

use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Input, Options, Refusal, Reply};
use ganger_core::event::WorkerState;
use ganger_core::job::State;
use ganger_core::message::CancelWhy;
use ganger_core::outcome::Report;
use ganger_core::retry::RetryPolicy;
use ganger_core::session::HELD_AT_MOST;
use ganger_core::{JobId, Wall};

use crate::world::{TTL, World, id};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The gates that hold a job back.
fn closed(world: &World, job: JobId) -> Vec<&'static str> {
    let explained = world.coordinator.explain(job, world.now).expect("a live job is explained");
    explained.gates.iter().filter(|gate| gate.closed).map(|gate| gate.gate).collect()
}

#[test]
fn no_job_starts_before_it_is_due() {
    let mut world = World::with_workers(&[1]);
    let due = Wall(world.now.wall.0 + 5_000_000);
    let job = world.submit(|spec| spec.run_at = Some(due));
    assert_eq!(closed(&world, job), ["due"]);
    for _ in 0..49 {
        world.pass(Duration::from_millis(100));
        assert!(!world.has_started(job));
    }
    world.pass(Duration::from_millis(99));
    assert!(!world.has_started(job));
    world.pass(Duration::from_millis(1));
    assert!(world.has_started(job));
}

#[test]
fn a_retry_waits_what_its_policy_says_and_attempts_end_with_the_allowance() {
    let mut world = World::with_workers(&[1]);
    let retry = RetryPolicy { base: seconds(1), factor: 2.0, max: seconds(3), jitter: 0.0 };
    let job = world.submit(|spec| {
        spec.options.retry = retry;
        spec.options.max_attempts = 4;
    });
    for (attempt, wait) in [(1, 1_000), (2, 2_000), (3, 3_000)] {
        assert_eq!(world.started.len(), attempt);
        world.end_with(0, Report::Error("no".into()));
        assert_eq!(world.states[&job], State::Retrying);
        for _ in 0..wait / 100 - 1 {
            world.pass(Duration::from_millis(100));
        }
        world.pass(Duration::from_millis(99));
        assert_eq!(world.started.len(), attempt, "{wait} ms are not over");
        world.pass(Duration::from_millis(1));
        assert_eq!(world.started.len(), attempt + 1);
    }
    world.end_with(0, Report::Error("no".into()));
    assert_eq!(world.states[&job], State::Dead);
    world.pass(seconds(2));
    assert_eq!(world.started.len(), 4);
}

#[test]
fn a_queued_job_is_cancelled_at_once_and_a_running_one_through_its_worker() {
    let mut world = World::with_workers(&[1]);
    let running = world.narrow();
    let queued = world.narrow();
    assert_eq!(world.ask(Ask::Cancel(queued)), Some(Reply::Cancelled));
    assert_eq!(world.states[&queued], State::Cancelled);
    assert_eq!(world.ask(Ask::Cancel(running)), Some(Reply::CancelRequested));
    assert_eq!(world.stopped, [(running, CancelWhy::Cancelled)]);
    world.end_with(0, Report::Cancelled);
    assert_eq!(world.states[&running], State::Cancelled);
    assert_eq!(world.ask(Ask::Cancel(running)), Some(Reply::Refused(Refusal::NoSuchJob)));
    assert_eq!(world.started.len(), 1, "the queued one never started");
}

/// After the grace the outcome is recorded, but capacity is what is really free.
#[test]
fn a_handler_that_does_not_stop_is_recorded_and_keeps_its_threads() {
    let mut world = World::with_workers(&[1]);
    let job = world.submit(|spec| {
        spec.options.timeout = Some(seconds(2));
        spec.options.max_attempts = 1;
    });
    let next = world.narrow();
    // The leader steps in when the worker must have stopped it by its own clock, and then waits for the grace.
    let within = TTL + Options::default().slack + HELD_AT_MOST + seconds(2) + Options::default().grace;
    for _ in 0..within.as_secs() + 2 {
        world.pass(seconds(1));
    }
    assert_eq!(world.stopped.first(), Some(&(job, CancelWhy::Timeout)));
    assert_eq!(world.states[&job], State::Dead);
    assert!(!world.has_started(next), "its thread is still occupied");
    let worker = &world.coordinator.workers(world.now)[0];
    assert_eq!((worker.stuck, worker.used, worker.state), (1, 1, WorkerState::Busy));
    world.end_with(0, Report::Timeout);
    assert!(world.has_started(next));
    assert_eq!(world.coordinator.workers(world.now)[0].stuck, 0);
    assert_eq!(world.states[&job], State::Dead, "recorded once");
}

#[test]
fn a_lost_worker_gives_its_job_to_another_until_it_is_taken_for_poison() {
    let mut world = World::with_workers(&[1, 1, 1, 1]);
    let job = world.submit(|spec| {
        spec.options.max_attempts = 10;
        spec.options.max_lost = 3;
    });
    for lost in 1..=3 {
        assert_eq!(world.started.len(), lost);
        let (worker, _) = world.running.remove(0);
        world.give(vec![Input::WorkerDied(id(worker))]);
    }
    assert_eq!(world.states[&job], State::Dead);
    assert_eq!(world.started.len(), 3, "the fourth worker is spared");
}

/// A worker that was killed was last heard when it was last heard, and not when it was taken for lost.
#[test]
fn a_lost_worker_is_shown_with_its_last_heartbeat() {
    let mut world = World::with_workers(&[1]);
    world.pass(seconds(1));
    let silence = TTL + seconds(20);
    for _ in 0..silence.as_secs() {
        world.now.mono = world.now.mono + seconds(1);
        world.now.wall = world.now.wall + seconds(1);
        world.give(vec![Input::Tick]);
    }
    let shown = world.coordinator.workers(world.now);
    assert_eq!((shown[0].state, shown[0].silent), (WorkerState::Lost, silence));
}

#[test]
fn a_paused_queue_starts_nothing_and_a_draining_one_takes_nothing() {
    let mut world = World::with_workers(&[2]);
    world.put_queue(|settings| settings.paused = true);
    let job = world.narrow();
    assert_eq!((world.has_started(job), closed(&world, job)), (false, vec!["queue"]));
    assert_eq!(world.coordinator.stats().cannot_start, 1);
    world.put_queue(|settings| settings.paused = false);
    assert!(world.has_started(job));
    world.put_queue(|settings| settings.draining = true);
    world.reply = None;
    let refused = world.narrow();
    assert!(matches!(world.reply, Some(Reply::Refused(Refusal::QueueDraining(_)))), "{:?}", world.reply);
    assert!(!world.has_started(refused));
}

/// A job that waits has a closed gate, and one that dispatch would take has none.
#[test]
fn explain_names_what_dispatch_waits_for() {
    let mut world = World::exact();
    let job = world.wide(2);
    assert_eq!((closed(&world, job), world.coordinator.stats().cannot_start), (vec!["worker"], 1));
    let proud = world.submit(|spec| {
        spec.options.threads = 8;
        spec.options.min_threads = 8;
    });
    world.join(2);
    assert!(world.has_started(job), "a worker came");
    assert!(closed(&world, proud).contains(&"width"));
    let next = world.wide(2);
    assert_eq!(closed(&world, next), ["threads"]);
    assert_eq!(world.coordinator.stats().cannot_start, 1, "the proud one");
    let labelled = world.submit(|spec| drop(spec.options.require.insert("gpu".into(), "yes".into())));
    assert_eq!(closed(&world, labelled), ["worker"]);
    let running = world.coordinator.explain(job, world.now).unwrap();
    assert_eq!((running.state, running.gates.len()), (State::Running, 0));
    world.end_oldest();
    assert!(world.has_started(next));
    world.end_oldest();
    assert!(world.coordinator.explain(next, world.now).is_none(), "it is not live any more");
}

#[test]
fn counts_are_those_of_the_jobs_at_every_step() {
    let mut world = World::with_workers(&[2]);
    let count = |world: &World, state: State| {
        world.coordinator.stats().counts.iter().map(|(_, _, counts)| counts[state.index()]).sum::<u64>()
    };
    world.narrow_ones(5);
    let later = Wall(world.now.wall.0 + 60_000_000);
    world.submit(|spec| spec.run_at = Some(later));
    assert_eq!([State::Running, State::Queued, State::Scheduled].map(|s| count(&world, s)), [2, 3, 1]);
    world.end_with(0, Report::Error("no".into()));
    world.end_with(0, Report::Fatal("never".into()));
    world.end_oldest();
    let counts = State::ALL.map(|state| count(&world, state));
    assert_eq!(counts.iter().sum::<u64>(), 6);
    assert_eq!([State::Retrying, State::Dead, State::Succeeded].map(|s| count(&world, s)), [1, 1, 1]);
}
