//! What the leader tells of its own accord: when a job should start, and how things are.

use std::time::Duration;

use ganger_core::change::WorkerInfo;
use ganger_core::coordinator::port::Ask;
use ganger_core::outcome::{Outcome, Report};
use ganger_core::reason::Reason;
use ganger_core::verdict::Severity;

use crate::world::{TTL, World};

const SECOND: Duration = Duration::from_secs(1);

/// One thread, and a job per second: the eleventh starts in about ten seconds.
#[test]
fn the_estimate_follows_from_the_place_in_line_and_the_rate_of_starts() {
    let mut world = World::with_workers(&[1]);
    world.narrow_ones(41);
    for _ in 0..30 {
        world.pass(SECOND);
        world.end_oldest();
    }
    let last = world.narrow();
    let told = world.coordinator.explain(last, world.now).unwrap();
    let (position, pace) = (told.position.unwrap(), told.pace.unwrap());
    assert_eq!((position.ahead, position.exact), (10, true));
    assert!((0.9..1.2).contains(&pace), "{pace}");
    let estimate = told.estimate.unwrap().as_secs_f64();
    assert!((9.0..12.5).contains(&estimate), "{estimate}");
}

#[test]
fn nothing_is_estimated_of_a_job_that_is_held_back_or_of_a_queue_at_rest() {
    let mut world = World::with_workers(&[1]);
    world.narrow_ones(4);
    world.end_oldest();
    let job = world.narrow();
    assert!(world.coordinator.explain(job, world.now).unwrap().estimate.is_some());
    world.put_queue(|settings| settings.paused = true);
    let told = world.coordinator.explain(job, world.now).unwrap();
    assert_eq!((told.estimate, told.pace), (None, None));
    world.put_queue(|settings| settings.paused = false);
    for _ in 0..80 {
        world.pass(SECOND);
    }
    assert_eq!(world.coordinator.explain(job, world.now).unwrap().estimate, None);
}

#[test]
fn the_verdict_follows_what_happens() {
    let mut world = World::exact();
    let said = |world: &World| {
        let verdict = world.coordinator.verdict(world.now);
        (verdict.severity, verdict.text)
    };
    assert_eq!(said(&world), (Severity::Ok, "0 queues, nothing waiting".into()));
    world.narrow();
    assert_eq!(said(&world), (Severity::Ok, "1 queue, 1 waiting, 0 running".into()));
    world.pass(SECOND * 10);
    assert_eq!(said(&world), (Severity::Watch, "no worker serves queue default (1 job waits)".into()));
    world.join_as(WorkerInfo {
        name: "w".into(),
        queues: vec![],
        kinds: vec!["other".parse().unwrap()],
        threads: 1,
        labels: [].into(),
        version: "1".into(),
        local: false,
        claim: false,
        ttl: TTL,
    });
    assert_eq!(said(&world), (Severity::Watch, "no worker handles k (1 job waits)".into()));
    world.put_queue(|settings| settings.paused = true);
    assert_eq!(said(&world), (Severity::Watch, "default is paused, 1 job waits there".into()));
    world.put_queue(|settings| settings.paused = false);
    world.join(1);
    let (severity, text) = said(&world);
    assert_eq!(severity, Severity::Ok);
    assert!(text.starts_with("1 queue, 0 waiting, 1 running"), "{text}");
    // What waits behind a long job waits for it.
    world.narrow();
    for _ in 0..120 {
        world.pass(SECOND);
    }
    assert_eq!(
        said(&world),
        (Severity::Watch, "default waits for free threads: oldest 2 m 0 s, 1 run".into())
    );
    world.end_oldest();
    world.end_oldest();
    assert_eq!(said(&world), (Severity::Ok, "1 queue, nothing waiting".into()));
}

/// One worker serves every queue, another only `mail`: its threads are free for `mail` alone.
#[test]
fn the_threads_of_a_queue_are_those_that_its_jobs_hold_and_those_that_are_free_for_it() {
    let mut world = World::with_workers(&[4]);
    world.join_as(WorkerInfo {
        name: "m".into(),
        queues: vec!["mail".parse().unwrap()],
        kinds: vec![],
        threads: 8,
        labels: Default::default(),
        version: "1".into(),
        local: false,
        claim: false,
        ttl: TTL,
    });
    let mail = |spec: &mut ganger_core::job::JobSpec| {
        spec.queue = "mail".parse().unwrap();
        spec.options.threads = 2;
    };
    world.submit(mail);
    world.narrow();
    let seen = |world: &World| {
        let queues = world.coordinator.gauges(world.now).queues;
        let told =
            queues.into_iter().map(|(view, threads)| (view.queue.to_string(), threads.used, threads.free));
        told.collect::<Vec<_>>()
    };
    let free = 12 - 2 - 1;
    let of_all = 4 - world.used(0);
    assert_eq!(seen(&world), [("default".into(), 1, of_all.into()), ("mail".into(), 2, free)]);
    while !world.running.is_empty() {
        world.end_oldest();
    }
    assert_eq!(seen(&world), [("default".into(), 0, 4), ("mail".into(), 0, 12)]);
}

/// Why an attempt ended and whether its job goes on is told with it.
#[test]
fn an_attempt_is_told_with_its_reason_and_whether_the_job_runs_again() {
    let mut world = World::with_workers(&[1]);
    for (report, expected) in [
        (Report::Ok("1".into()), (Outcome::Ok, Reason::Returned, false)),
        (Report::Error("no".into()), (Outcome::Error, Reason::Failed, true)),
        (Report::Fatal("no".into()), (Outcome::Error, Reason::Fatal, false)),
        (Report::Snooze(SECOND), (Outcome::Released, Reason::Snoozed, true)),
        (Report::Timeout, (Outcome::Timeout, Reason::TimedOut, true)),
    ] {
        let job = world.narrow();
        world.end_with(0, report);
        assert_eq!(world.ends.last(), Some(&expected));
        world.ask(Ask::Cancel(job));
    }
}
