//! Dispatch as a whole: who starts where, in which order, with how many threads.

use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Input, Options, Ticket};
use ganger_core::name::Kind;
use ganger_core::queue::Policy;
use ganger_core::{JobId, limits};
use proptest::prelude::*;

use crate::limits::close;
use crate::world::World;

/// Twelve jobs on three workers of one thread, each ending before the next is taken in.
fn order_of_workers(policy: Policy) -> Vec<usize> {
    let mut world = World::with_workers(&[1, 1, 1]);
    world.put_policy(policy);
    for _ in 0..12 {
        world.narrow();
        world.end_oldest();
    }
    world.started.iter().map(|(worker, _)| *worker).collect()
}

#[test]
fn least_recently_used_and_round_robin_take_idle_workers_in_turn() {
    let turns: Vec<usize> = (0..12).map(|n| n % 3).collect();
    assert_eq!(order_of_workers(Policy::LeastRecentlyUsed), turns);
    assert_eq!(order_of_workers(Policy::RoundRobin), turns);
}

/// Where they differ: a worker that was busy in its turn. Round robin goes on after the last one served;
/// least recently used comes back to the one that has waited longest.
#[test]
fn a_worker_that_was_busy_in_its_turn_is_next_by_use_and_not_by_round() {
    for (policy, last) in [(Policy::LeastRecentlyUsed, 0), (Policy::RoundRobin, 2)] {
        let mut world = World::with_workers(&[1, 1, 1]);
        world.put_policy(policy);
        world.narrow_ones(3);
        // The first worker stays busy while the second is served again and again.
        world.end(1);
        world.narrow();
        assert_eq!(world.started.last().unwrap().0, 1, "{policy:?}: it alone is free");
        (0..3).for_each(|_| world.end_oldest());
        world.narrow();
        assert_eq!(world.started.last().unwrap().0, last, "{policy:?}");
    }
}

#[test]
fn best_fit_packs_and_spread_spreads() {
    for (policy, expected) in [(Policy::BestFit, [0, 0, 1, 1, 1, 1]), (Policy::Spread, [1, 1, 0, 1, 0, 1])] {
        let mut world = World::with_workers(&[2, 4]);
        world.put_policy(policy);
        world.narrow_ones(6);
        let chosen: Vec<usize> = world.started.iter().map(|(worker, _)| *worker).collect();
        assert_eq!(chosen, expected, "{policy:?}");
    }
}

#[test]
fn threads_are_given_all_or_none_and_the_rest_keeps_waiting() {
    let mut world = World::with_workers(&[4]);
    let first = world.wide(3);
    let second = world.wide(3);
    assert!(world.has_started(first) && !world.has_started(second));
    assert_eq!(world.used(0), 3);
    world.end_oldest();
    assert!(world.has_started(second));
}

#[test]
fn a_job_wider_than_any_worker_gets_the_widest_or_one_thread_as_it_asks() {
    use ganger_core::job::Fallback;
    let mut world = World::with_workers(&[2, 4]);
    for (fallback, granted) in [(Fallback::Widest, 4), (Fallback::Single, 1)] {
        world.submit(|spec| {
            spec.options.threads = 16;
            spec.options.fallback = fallback;
        });
        assert_eq!(world.started.last().unwrap().1.threads, granted, "{fallback:?}");
        world.end_oldest();
    }
    let proud = world.submit(|spec| {
        spec.options.threads = 16;
        spec.options.min_threads = 5;
    });
    assert!(!world.has_started(proud), "no worker has five threads");
    let why = world.coordinator.explain(proud, world.now).unwrap();
    let width = why.gates.iter().find(|gate| gate.closed).unwrap();
    assert_eq!((width.gate, width.evidence.contains('5')), ("width", true), "{why:?}");
    world.join(6);
    assert!(world.has_started(proud), "now there is one");
    assert_eq!(world.started.last().unwrap().1.threads, 6);
}

/// Narrow jobs never stop coming and always find a thread; the wide one needs all four at once.
#[test]
fn a_wide_job_starts_after_a_bounded_number_of_narrow_ones() {
    let mut world = World::with_workers(&[4]);
    world.narrow_ones(8);
    let wide = world.wide(4);
    let before = world.started.len();
    let bound = usize::try_from(Options::default().reserve_overtakes).unwrap();
    for _ in 0..2 * bound + 16 {
        if world.has_started(wide) {
            break;
        }
        world.narrow();
        world.end_oldest();
    }
    assert!(world.has_started(wide), "{} narrow ones overtook it", world.started.len() - before);
    // The wide job was submitted before all but four narrow ones that waited ahead of it.
    let overtook = world.started.iter().skip(before).take_while(|(_, work)| work.job != wide).count();
    assert!(overtook <= bound + 4, "{overtook} narrow ones started before it");
}

/// The same stream, slow: it is time that runs out, not the count of those that overtook.
#[test]
fn a_wide_job_reserves_after_two_seconds_however_few_overtook_it() {
    let mut world = World::with_workers(&[4]);
    world.narrow_ones(4);
    let wide = world.wide(4);
    let mut waited = Duration::ZERO;
    // Attempts last two seconds, one ends every half.
    while !world.has_started(wide) && waited < Duration::from_secs(60) {
        world.narrow();
        world.pass(Duration::from_millis(500));
        waited += Duration::from_millis(500);
        if !world.running.is_empty() {
            world.end_oldest();
        }
    }
    let longest_attempt = Duration::from_secs(2);
    let bound = Options::default().reserve_after + longest_attempt + Duration::from_secs(1);
    assert!(waited <= bound, "it waited {waited:?}");
}

#[test]
fn a_reservation_keeps_one_worker_and_the_narrow_go_on_elsewhere() {
    let mut world = World::with_workers(&[4, 4]);
    world.narrow_ones(8);
    let wide = world.wide(4);
    world.narrow_ones(20);
    // A narrow one overtakes it, and two seconds later its patience is over.
    world.end_oldest();
    world.pass(Duration::from_secs(1));
    world.pass(Duration::from_millis(1_100));
    let why = world.coordinator.explain(wide, world.now).unwrap();
    let threads = why.gates.iter().find(|gate| gate.gate == "threads").unwrap();
    let named = |worker: &usize| threads.evidence.contains(&format!("worker w{worker} is kept free"));
    let kept = (0..2).find(named).unwrap_or_else(|| panic!("{why:?}"));

    let of = |world: &World, worker| world.running.iter().position(|(w, _)| *w == worker);
    let before = world.started.len();
    world.end(of(&world, 1 - kept).unwrap());
    assert_eq!(world.started.len(), before + 1, "the other worker goes on with narrow ones");
    for _ in 0..4 {
        assert!(!world.has_started(wide));
        world.end(of(&world, kept).unwrap());
    }
    assert_eq!(world.started.last().map(|(worker, work)| (*worker, work.job)), Some((kept, wide)));
    assert_eq!(world.started.len(), before + 2, "nothing else was given to the worker that was kept");
}

/// Attempts that are over in milliseconds are given ahead of the threads that will run them, within a bound.
#[test]
fn prefetch_goes_beyond_the_threads_of_a_worker_up_to_its_bound() {
    let mut world = World::new(Options::default());
    world.join(2);
    teach_that_it_is_short(&mut world);
    world.narrow_ones(usize::from(limits::PREFETCH) + 10);
    assert_eq!(world.used(0), 2 + u32::from(limits::PREFETCH));
}

#[test]
fn what_is_given_ahead_is_shared_by_the_workers_that_are_alike() {
    let mut world = World::new(Options::default());
    let workers = 8;
    for _ in 0..workers {
        world.join(1);
    }
    teach_that_it_is_short(&mut world);
    world.narrow_ones(limits::PREFETCH_TOGETHER + 100);
    let each = u32::try_from(limits::PREFETCH_TOGETHER / workers).unwrap();
    assert_eq!((0..workers).map(|worker| world.used(worker)).collect::<Vec<_>>(), vec![1 + each; workers]);
}

/// So many jobs are handed out when their queue is resumed. How many messages that takes.
fn hand_out(world: &mut World, jobs: usize, policy: Policy) -> usize {
    world.put_queue(|queue| queue.paused = true);
    world.narrow_ones(jobs);
    let before = world.messages;
    world.put_policy(policy);
    world.messages - before
}

fn with_short_jobs(workers: usize, threads: u16) -> World {
    let mut world = World::new(Options::default());
    for _ in 0..workers {
        world.join(threads);
    }
    teach_that_it_is_short(&mut world);
    world
}

/// The least recently used of many idle workers is another one for each job: each would get them one by one.
#[test]
fn short_jobs_go_out_in_portions() {
    let (workers, threads) = (5_000, 4);
    let jobs = workers * usize::from(threads);
    let mut world = with_short_jobs(workers, threads);
    assert_eq!(hand_out(&mut world, jobs, Policy::LeastRecentlyUsed), workers);
    assert!((0..workers).all(|worker| world.used(worker) == u32::from(threads)), "everybody got as much");
    let mut world = with_short_jobs(workers, threads);
    assert!(hand_out(&mut world, jobs, Policy::RoundRobin) > 2 * workers, "in turn means one by one");
}

#[test]
fn portions_are_even() {
    let mut world = with_short_jobs(4, 1);
    hand_out(&mut world, 42, Policy::LeastRecentlyUsed);
    let used: Vec<u32> = (0..4).map(|worker| world.used(worker)).collect();
    assert_eq!(used.iter().sum::<u32>(), 42);
    assert!(
        used.iter().all(|used| (10..=12).contains(used)),
        "ten each, and two that are left over: {used:?}"
    );
}

/// What workers may be given ahead together is little for each of very many: a message for every few jobs. So each is
/// given its even share at once, within a bound.
#[test]
fn many_workers_are_given_their_even_share_ahead() {
    let workers = limits::PREFETCH_TOGETHER / 4;
    for (each, used) in [(2, 2), (8, 8), (40, 40), (100, 1 + limits::PREFETCH_EACH)] {
        let mut world = with_short_jobs(workers, 1);
        let messages = hand_out(&mut world, each * workers, Policy::LeastRecentlyUsed);
        let given: Vec<u32> = (0..workers).map(|worker| world.used(worker)).collect();
        // Where a pass ends in the middle of a portion, what is missing goes to others, one by one.
        let most = given.iter().max().copied().unwrap_or_default() as usize;
        assert!((used..=used + 1).contains(&most), "{each} for each worker, {most} for one");
        assert_eq!(given.iter().sum::<u32>() as usize, used * workers, "{each} for each worker");
        assert!(
            messages < workers * 5 / 4,
            "{each} for each worker: {messages} messages for {workers} workers"
        );
    }
}

/// Whoever is asked first makes no difference where every free thread is taken; where some are left over, jobs are spread.
#[test]
fn jobs_that_may_be_long_go_out_in_portions_only_if_they_take_every_thread() {
    let (workers, threads) = (5_000, 4);
    let idle = || {
        let mut world = World::new(Options::default());
        for _ in 0..workers {
            world.join(threads);
        }
        world
    };
    let every = workers * usize::from(threads);
    let mut world = idle();
    assert_eq!(hand_out(&mut world, every + 1, Policy::LeastRecentlyUsed), workers, "a message for each");
    assert!(
        (0..workers).all(|worker| world.used(worker) == u32::from(threads)),
        "everybody has all he can run"
    );
    let mut world = idle();
    hand_out(&mut world, workers, Policy::LeastRecentlyUsed);
    assert!((0..workers).all(|worker| world.used(worker) == 1), "one each");
}

/// Of many that wait a limit lets few start: those are spread.
#[test]
fn what_a_limit_lets_through_is_spread_over_idle_workers() {
    let mut world = World::new(Options::default());
    for _ in 0..3 {
        world.join(16);
    }
    world.put_queue(|queue| queue.paused = true);
    world.narrow_ones(120);
    world.put_queue(|queue| queue.limits.max_running = Some(6));
    assert_eq!((0..3).map(|worker| world.used(worker)).collect::<Vec<_>>(), [2, 2, 2]);
}

/// Jobs that cannot run are nobody's share.
#[test]
fn what_stands_beside_a_closed_key_is_spread_over_idle_workers() {
    let workers = limits::PREFETCH_TOGETHER / 4;
    let mut world = with_short_jobs(workers, 1);
    world.put_queue(|queue| queue.paused = true);
    let shut = close("shut", &world, Some(Duration::from_secs(3_600)));
    assert!(world.ask(shut).is_some());
    for _ in 0..10 * workers {
        world.submit(|spec| spec.options.concurrency_key = Some("shut".into()));
    }
    hand_out(&mut world, workers / 2, Policy::LeastRecentlyUsed);
    let most = (0..workers).map(|worker| world.used(worker)).max();
    assert_eq!(most, Some(1), "half of the workers have one job each");
}

/// What is given ahead stays with workers that have nothing better to do, and waits for nobody who could run it at once.
#[test]
fn nothing_is_given_ahead_to_workers_of_another_sort() {
    let (kind, better): (Kind, Kind) = ("k".parse().unwrap(), "better".parse().unwrap());
    let mut world = World::new(Options::default());
    world.join_for(1, vec![kind.clone()]);
    world.join_for(1, vec![kind.clone(), better.clone()]);
    teach_that_it_is_short(&mut world);
    world.put_queue(|queue| queue.paused = true);
    for _ in 0..4 {
        world.submit(|spec| (spec.kind, spec.priority) = (better.clone(), 5));
    }
    hand_out(&mut world, 20, Policy::LeastRecentlyUsed);
    let of_second = |world: &World, kind: &Kind| {
        world.running.iter().filter(|(worker, work)| *worker == 1 && work.kind == *kind).count()
    };
    assert_eq!((of_second(&world, &better), of_second(&world, &kind)), (1, 0), "the better ones come first");
    assert_eq!(world.used(0), 20, "the other worker has all that it can run");
}

/// One short attempt is enough.
fn teach_that_it_is_short(world: &mut World) {
    world.narrow();
    world.end_after(0, Duration::from_micros(10));
}

#[derive(Clone, Debug)]
enum Step {
    Submit { threads: u16, priority: i8, queue: bool },
    End { at: usize },
    Join { threads: u16 },
    Cancel { job: u64 },
    Pass { millis: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1u16..9, -2i8..3, any::<bool>()).prop_map(|(threads, priority, queue)| Step::Submit { threads, priority, queue }),
        5 => (0usize..64).prop_map(|at| Step::End { at }),
        1 => (1u16..9).prop_map(|threads| Step::Join { threads }),
        1 => (1u64..64).prop_map(|job| Step::Cancel { job }),
        1 => (1u64..1_500).prop_map(|millis| Step::Pass { millis }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn threads_are_never_oversubscribed_and_everything_runs_once(steps in prop::collection::vec(step(), 0..120)) {
        let mut world = World::with_workers(&[3]);
        let mut cancelled = Vec::new();
        for step in steps {
            match step {
                Step::Submit { threads, priority, queue } => {
                    world.submit(|spec| {
                        spec.options.threads = threads;
                        spec.priority = priority;
                        spec.queue = if queue { "a" } else { "b" }.parse().unwrap();
                    });
                }
                Step::End { at } if !world.running.is_empty() => world.end(at % world.running.len()),
                Step::End { .. } => {}
                Step::Join { threads } => if world.workers.len() < 6 {
                    world.join(threads);
                },
                Step::Cancel { job } => {
                    let id = JobId::new(job, [0; 10]);
                    if job <= world.jobs && !world.has_started(id) && !cancelled.contains(&id) {
                        world.give(vec![Input::Ask(Ticket(1_000), Ask::Cancel(id))]);
                        cancelled.push(id);
                    }
                }
                Step::Pass { millis } => world.pass(Duration::from_millis(millis)),
            }
            for worker in 0..world.workers.len() {
                prop_assert!(world.used(worker) <= u32::from(world.workers[worker].threads));
            }
        }
        // Every job is started once, and none that was cancelled before.
        for _ in 0..1_000 {
            world.pass(Duration::from_millis(100));
            if world.running.is_empty() {
                break;
            }
            world.end_oldest();
            for worker in 0..world.workers.len() {
                prop_assert!(world.used(worker) <= u32::from(world.workers[worker].threads));
            }
        }
        let mut started: Vec<JobId> = world.started.iter().map(|(_, work)| work.job).collect();
        started.sort_unstable();
        let all = (1..=world.jobs).map(|job| JobId::new(job, [0; 10]));
        let expected: Vec<JobId> = all.filter(|job| !cancelled.contains(job)).collect();
        prop_assert_eq!(started, expected);
    }

    /// One worker of one thread: the order of starts is that of a plain sorted list.
    #[test]
    fn jobs_start_by_priority_and_then_in_order_of_arrival(priorities in prop::collection::vec((-3i8..4, 0u64..3), 1..60)) {
        let mut world = World::with_workers(&[1]);
        let first = world.narrow();
        let mut expected = Vec::new();
        for (priority, millis) in priorities {
            world.pass(Duration::from_millis(millis));
            let id = world.submit(|spec| spec.priority = priority);
            expected.push((std::cmp::Reverse(priority), id));
        }
        expected.sort();
        while !world.running.is_empty() {
            world.end_oldest();
        }
        let started: Vec<JobId> = world.started.iter().map(|(_, work)| work.job).collect();
        let expected: Vec<JobId> = std::iter::once(first).chain(expected.into_iter().map(|(_, id)| id)).collect();
        prop_assert_eq!(started, expected);
    }
}
