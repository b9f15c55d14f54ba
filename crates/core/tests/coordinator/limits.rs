//! Limits, closed keys, turns and ages: who may start, and who waits while others go on.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::KeyClosure;
use ganger_core::coordinator::port::{Ask, Refusal, Reply};
use ganger_core::job::{JobSpec, State};
use ganger_core::limits;
use ganger_core::name::QueueName;
use ganger_core::outcome::Report;
use ganger_core::queue::{Ageing, Limits, Rate};

use crate::world::World;

fn keyed(world: &mut World, key: &str) -> JobId {
    world.submit(|spec| spec.options.concurrency_key = Some(key.into()))
}

fn of(world: &mut World, tenant: &str, weight: u16, kind: &str) -> JobId {
    world.submit(|spec| {
        spec.kind = kind.parse().unwrap();
        spec.options.fair_key = Some(tenant.into());
        spec.options.fair_weight = weight;
    })
}

pub(crate) fn close(key: &str, world: &World, long: Option<Duration>) -> Ask {
    let until = long.map(|long| world.now.wall + long);
    Ask::CloseKey(KeyClosure { queue: QueueName::default(), key: key.into(), until })
}

fn closed_gate(world: &World, job: JobId) -> Option<&'static str> {
    let why = world.coordinator.explain(job, world.now).unwrap();
    why.gates.iter().find(|gate| gate.closed).map(|gate| gate.gate)
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn a_queue_runs_at_most_so_many_and_the_next_starts_when_one_ends() {
    let mut world = World::with_workers(&[8]);
    world.put_queue(|queue| queue.limits.max_running = Some(2));
    let jobs: Vec<JobId> = (0..4).map(|_| world.narrow()).collect();
    let elsewhere = world.submit(|spec| spec.queue = "other".parse().unwrap());
    assert!(world.has_started(elsewhere), "another queue has nothing to do with it");
    assert_eq!(jobs.iter().filter(|job| world.has_started(**job)).count(), 2);
    assert_eq!(closed_gate(&world, jobs[2]), Some("limit"));
    world.end_oldest();
    assert!(world.has_started(jobs[2]) && !world.has_started(jobs[3]));
    world.put_queue(|_| {});
    assert!(world.has_started(jobs[3]), "nothing limits it any more");
    // The limit comes back while more run than it allows: nobody is stopped, nobody new starts.
    world.put_queue(|queue| queue.limits.max_running = Some(1));
    let last = world.narrow();
    while world.running.iter().any(|(_, work)| work.queue == QueueName::default()) {
        assert!(!world.has_started(last));
        let place = world.running.iter().position(|(_, work)| work.queue == QueueName::default()).unwrap();
        world.end(place);
        if world.has_started(last) {
            break;
        }
    }
    assert!(world.has_started(last));
}

#[test]
fn a_key_at_its_limit_waits_and_every_other_goes_on() {
    let mut world = World::with_workers(&[8]);
    world.put_queue(|queue| queue.keys.max_running = Some(1));
    let (first, second) = (keyed(&mut world, "a"), keyed(&mut world, "a"));
    let (other, plain) = (keyed(&mut world, "b"), world.narrow());
    assert!([first, other, plain].iter().all(|job| world.has_started(*job)));
    assert!(!world.has_started(second));
    assert_eq!(closed_gate(&world, second), Some("key_limit"));
    let (keys, all) = world.coordinator.keys(None, 10);
    let shown: Vec<_> = keys.iter().map(|key| (key.key.as_str(), key.running, key.waiting)).collect();
    assert_eq!((shown, all), (vec![("a", 1, 1), ("b", 1, 0)], 2));
    world.end_oldest();
    assert!(world.has_started(second));
    // Keys cost nothing once nobody has them.
    while !world.running.is_empty() {
        world.end_oldest();
    }
    assert_eq!(world.coordinator.keys(None, 10).1, 0);
}

#[test]
fn a_closed_key_waits_until_it_opens_by_time_or_by_hand() {
    let mut world = World::with_workers(&[8]);
    assert_eq!(
        world.ask(close("a", &world, Some(seconds(60)))),
        Some(Reply::KeySet(Some(world.now.wall + seconds(60))))
    );
    let waiting = keyed(&mut world, "a");
    let other = keyed(&mut world, "b");
    assert!(!world.has_started(waiting) && world.has_started(other));
    assert_eq!(closed_gate(&world, waiting), Some("key"));
    let why = world.coordinator.explain(waiting, world.now).unwrap();
    assert_eq!(why.estimate, Some(seconds(60)));
    (0..59).for_each(|_| world.pass(seconds(1)));
    assert!(!world.has_started(waiting));
    world.pass(seconds(1));
    assert!(world.has_started(waiting));

    world.ask(close("a", &world, Some(seconds(60))));
    let again = keyed(&mut world, "a");
    assert!(!world.has_started(again));
    assert_eq!(world.ask(close("a", &world, None)), Some(Reply::KeySet(None)));
    assert!(world.has_started(again));
    assert_eq!(world.coordinator.closed_keys(), 0);
}

/// "The other side said 429": the job waits in its place, with all others of its key, and no attempt is burnt.
#[test]
fn a_handler_closes_its_key_and_burns_no_attempt() {
    let mut world = World::with_workers(&[1]);
    let job = world.submit(|spec| {
        spec.options.concurrency_key = Some("api".into());
        spec.options.max_attempts = 1;
    });
    let behind = keyed(&mut world, "api");
    let other = world.narrow();
    world.end_with(0, Report::Throttled(seconds(30)));
    assert_eq!(world.started.last().map(|(_, work)| work.job), Some(other), "others go on");
    assert_eq!(world.states[&job], State::Queued);
    world.end_oldest();
    assert!(world.running.is_empty() && !world.has_started(behind));
    (0..30).for_each(|_| world.pass(seconds(1)));
    let (_, work) = world.started.last().unwrap().clone();
    assert_eq!((work.job, work.attempt), (job, 2), "it is first again, and may try again");
    world.end_oldest();
    assert_eq!(world.states[&job], State::Succeeded);
    assert!(world.has_started(behind));
}

#[test]
fn a_handler_without_a_key_that_is_throttled_waits_alone() {
    let mut world = World::with_workers(&[1]);
    let job = world.submit(|spec| spec.options.max_attempts = 1);
    world.end_with(0, Report::Throttled(seconds(5)));
    assert_eq!(world.states[&job], State::Scheduled);
    let other = world.narrow();
    assert!(world.has_started(other));
    world.end_oldest();
    (0..5).for_each(|_| world.pass(seconds(1)));
    assert_eq!(world.started.last().unwrap().1.job, job);
}

#[test]
fn a_rate_lets_a_burst_go_and_then_one_by_one() {
    let mut world = World::with_workers(&[64]);
    let rate = Rate { n: 2, per: seconds(1), burst: 3 };
    world.put_queue(|queue| queue.limits.rate = Some(rate));
    let jobs: Vec<JobId> = (0..10).map(|_| world.narrow()).collect();
    assert_eq!(world.started.len(), 3);
    assert_eq!(closed_gate(&world, jobs[5]), Some("rate"));
    world.pass(Duration::from_millis(499));
    assert_eq!(world.started.len(), 3);
    world.pass(Duration::from_millis(10));
    assert_eq!(world.started.len(), 4);
    world.pass(Duration::from_millis(1_000));
    assert_eq!(world.started.len(), 6);
    (0..4).for_each(|_| world.pass(Duration::from_millis(600)));
    assert_eq!(world.started.len(), 10);
}

#[test]
fn a_rate_of_keys_is_each_keys_own() {
    let mut world = World::with_workers(&[64]);
    world.put_queue(|queue| queue.keys.rate = Some(Rate { n: 1, per: seconds(10), burst: 1 }));
    for _ in 0..3 {
        keyed(&mut world, "a");
        keyed(&mut world, "b");
    }
    let last = world.narrow();
    assert!(world.has_started(last));
    assert_eq!(world.started.len(), 3, "one of each key, and the one without");
    (0..10).for_each(|_| world.pass(seconds(1)));
    assert_eq!(world.started.len(), 5);
    (0..10).for_each(|_| world.pass(seconds(1)));
    assert_eq!(world.started.len(), 7);
}

/// One tenant came first with a thousand jobs.
#[test]
fn tenants_take_turns_however_many_jobs_either_has() {
    let mut world = World::with_workers(&[1]);
    for _ in 0..1_000 {
        of(&mut world, "large", 1, "k");
    }
    let small: Vec<JobId> = (0..10).map(|_| of(&mut world, "small", 1, "k")).collect();
    for _ in 0..21 {
        world.end_oldest();
    }
    assert!(small.iter().all(|job| world.has_started(*job)), "each waits for one of the other's at most");
}

#[test]
fn tenants_share_by_weight_also_between_kinds() {
    let mut world = World::with_workers(&[1]);
    for _ in 0..200 {
        of(&mut world, "heavy", 3, "one");
    }
    for _ in 0..200 {
        of(&mut world, "light", 1, "two");
    }
    for _ in 0..99 {
        world.end_oldest();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, work) in &world.started {
        *counts.entry(work.kind.to_string()).or_default() += 1;
    }
    assert!((73..=77).contains(&counts["one"]), "{counts:?}");
}

#[test]
fn turns_are_within_a_priority_and_respect_limits() {
    let mut world = World::with_workers(&[1]);
    world.put_queue(|queue| queue.keys.max_running = Some(1));
    let first = of(&mut world, "a", 1, "k");
    let with = |world: &mut World, tenant: &str, key: &str, priority: i8| {
        world.submit(|spec| {
            spec.options.fair_key = Some(tenant.into());
            spec.options.concurrency_key = Some(key.into());
            spec.priority = priority;
        })
    };
    let low = with(&mut world, "b", "x", -1);
    let (a1, a2) = (with(&mut world, "a", "x", 0), with(&mut world, "a", "y", 0));
    let b1 = with(&mut world, "b", "z", 0);
    for _ in 0..5 {
        world.end_oldest();
    }
    let order: Vec<JobId> = world.started.iter().map(|(_, work)| work.job).collect();
    assert_eq!(order, [first, a1, b1, a2, low]);
}

#[test]
fn a_waiting_job_ages_past_a_stream_of_better_ones() {
    let run = |ageing: Option<Ageing>| {
        let mut world = World::with_workers(&[1]);
        world.put_queue(|queue| queue.ageing = ageing);
        world.narrow();
        let low = world.submit(|spec| spec.priority = -3);
        for minute in 0..20 {
            world.submit(|spec| spec.priority = 0);
            (0..6).for_each(|_| world.pass(seconds(10)));
            world.end_oldest();
            if world.has_started(low) {
                return Some(minute);
            }
        }
        None
    };
    assert_eq!(run(None), None, "without ageing it waits for ever");
    let started = run(Some(Ageing { every: seconds(60), at_most: 10 }));
    assert!(started.is_some_and(|minute| (2..=5).contains(&minute)), "{started:?}");
    assert_eq!(run(Some(Ageing { every: seconds(60), at_most: 2 })), None, "it may not gain that much");
}

#[test]
fn a_full_queue_refuses_and_has_room_again_when_something_starts() {
    let mut world = World::with_workers(&[1]);
    world.put_queue(|queue| queue.limits.max_depth = Some(2));
    world.narrow();
    world.narrow_ones(2);
    world.narrow();
    let full = Refusal::QueueFull { queue: QueueName::default(), key: None, depth: 2, max: 2 };
    assert_eq!(world.reply, Some(Reply::Refused(full)));
    world.end_oldest();
    world.narrow();
    assert!(matches!(world.reply, Some(Reply::Submitted(_))), "{:?}", world.reply);
    world.submit(|spec| spec.queue = "other".parse().unwrap());
    assert!(matches!(world.reply, Some(Reply::Submitted(_))), "another queue has room");
}

#[test]
fn the_depth_of_a_key_is_its_own() {
    let mut world = World::with_workers(&[]);
    world.put_queue(|queue| queue.keys = Limits { max_depth: Some(1), ..Limits::default() });
    keyed(&mut world, "a");
    keyed(&mut world, "a");
    assert!(matches!(world.reply, Some(Reply::Refused(Refusal::QueueFull { key: Some(_), .. }))));
    keyed(&mut world, "b");
    assert!(matches!(world.reply, Some(Reply::Submitted(_))));
}

#[test]
fn a_submission_is_held_until_there_is_room_or_its_time_is_over() {
    let mut world = World::with_workers(&[1]);
    world.put_queue(|queue| {
        queue.limits.max_depth = Some(1);
        queue.block = seconds(5);
    });
    world.narrow_ones(2);
    world.reply = None;
    let held = world.narrow();
    assert_eq!(world.reply, None, "it waits");
    world.pass(seconds(1));
    world.end_oldest();
    assert!(matches!(world.reply, Some(Reply::Submitted(_))), "{:?}", world.reply);
    world.reply = None;
    world.narrow();
    (0..4).for_each(|_| world.pass(seconds(1)));
    assert_eq!(world.reply, None);
    world.pass(seconds(2));
    assert!(matches!(world.reply, Some(Reply::Refused(Refusal::QueueFull { .. }))));
    world.end_oldest();
    assert!(world.has_started(held));
}

#[test]
fn only_so_many_submissions_are_held_and_keys_closed() {
    let mut world = World::with_workers(&[]);
    world.put_queue(|queue| {
        queue.limits.max_depth = Some(1);
        queue.block = limits::HELD_FOR;
    });
    world.narrow();
    world.reply = None;
    world.narrow_ones(limits::HELD_SUBMISSIONS);
    assert_eq!(world.reply, None, "all of them wait");
    world.narrow();
    assert!(matches!(world.reply, Some(Reply::Refused(Refusal::QueueFull { .. }))));

    for key in 0..limits::CLOSED_KEYS {
        let closed = world.ask(close(&key.to_string(), &world, Some(seconds(60))));
        assert!(matches!(closed, Some(Reply::KeySet(Some(_)))), "{key}: {closed:?}");
    }
    let one_more = world.ask(close("one more", &world, Some(seconds(60))));
    assert_eq!(one_more, Some(Reply::Refused(Refusal::TooManyClosed)));
    let again = world.ask(close("7", &world, Some(seconds(90))));
    assert!(matches!(again, Some(Reply::KeySet(Some(_)))), "one that is closed can be closed for longer");
}

/// A class with a hundred closed keys at its head: the line holds what can run, and nothing else.
#[test]
fn what_is_parked_comes_out_in_its_order() {
    let mut world = World::with_workers(&[1]);
    world.ask(close("shut", &world, Some(seconds(600))));
    let parked: Vec<JobId> = (0..100).map(|_| keyed(&mut world, "shut")).collect();
    let others: Vec<JobId> = (0..50).map(|_| world.narrow()).collect();
    for _ in 0..50 {
        world.end_oldest();
    }
    let started: Vec<JobId> = world.started.iter().map(|(_, work)| work.job).collect();
    assert_eq!(started, others);
    world.ask(close("shut", &world, None));
    while !world.running.is_empty() {
        world.end_oldest();
    }
    let started: Vec<JobId> = world.started.iter().skip(50).map(|(_, work)| work.job).collect();
    assert_eq!(started, parked);
}

#[test]
fn a_cancelled_job_leaves_its_key_and_its_tenant() {
    let mut world = World::with_workers(&[]);
    let change = |spec: &mut JobSpec| {
        spec.options.concurrency_key = Some("a".into());
        spec.options.fair_key = Some("t".into());
    };
    let job = world.submit(change);
    assert_eq!(world.coordinator.keys(None, 10).1, 1);
    world.ask(Ask::Cancel(job));
    assert_eq!(world.coordinator.keys(None, 10).1, 0);
    assert!(world.coordinator.explain(job, world.now).is_none());
}
