//! `explain` and dispatch never disagree: whatever state they are asked in.

use std::collections::BTreeMap;

use ganger_core::JobId;
use ganger_core::change::WorkerInfo;
use ganger_core::coordinator::port::Ask;
use ganger_core::job::{Fallback, State};
use ganger_core::queue::QueueSettings;
use proptest::prelude::*;

use crate::world::{TTL, World};

/// One thing that happens. Names are few, so that things meet.
#[derive(Clone, Debug)]
enum Step {
    Join { threads: u16, queue: Option<u8>, kind: Option<u8>, label: bool },
    Submit(Job),
    End(u8),
    Pause(u8, bool),
    Cancel(u8),
    Pass(u8),
}

#[derive(Clone, Debug)]
struct Job {
    queue: u8,
    kind: u8,
    threads: u16,
    min_threads: u16,
    single: bool,
    label: bool,
    priority: i8,
    delay: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let job = (0u8..2, 0u8..2, 1u16..7, 1u16..7, any::<bool>(), prop::bool::weighted(0.2), -1i8..2)
        .prop_flat_map(|(queue, kind, threads, min, single, label, priority)| {
            prop::bool::weighted(0.1).prop_map(move |delay| {
                let min_threads = if min % 3 == 0 { min.min(threads) } else { 1 };
                Job { queue, kind, threads, min_threads, single, label, priority, delay }
            })
        });
    prop_oneof![
        2 => (1u16..6, prop::option::of(0u8..2), prop::option::of(0u8..2), any::<bool>())
            .prop_map(|(threads, queue, kind, label)| Step::Join { threads, queue, kind, label }),
        8 => job.prop_map(Step::Submit),
        2 => any::<u8>().prop_map(Step::End),
        1 => (0u8..2, any::<bool>()).prop_map(|(queue, paused)| Step::Pause(queue, paused)),
        1 => any::<u8>().prop_map(Step::Cancel),
        1 => (0u8..4).prop_map(Step::Pass),
    ]
}

/// Lives through it; the jobs that were submitted.
fn live(steps: &[Step]) -> (World, Vec<JobId>) {
    let (mut world, mut jobs) = (World::exact(), Vec::new());
    for step in steps {
        match step {
            Step::Join { threads, queue, kind, label } => {
                let labels = label.then(|| ("gpu".to_owned(), "yes".to_owned()));
                world.join_as(WorkerInfo {
                    name: format!("w{}", world.workers.len()),
                    queues: queue.iter().map(|q| format!("q{q}").parse().unwrap()).collect(),
                    kinds: kind.iter().map(|k| format!("k{k}").parse().unwrap()).collect(),
                    threads: *threads,
                    labels: labels.into_iter().collect::<BTreeMap<_, _>>(),
                    version: "1".into(),
                    local: false,
                    claim: false,
                    ttl: TTL,
                });
            }
            Step::Submit(job) => jobs.push(submit(&mut world, job)),
            Step::End(at) => {
                if let Some(at) = usize::from(*at).checked_rem(world.running.len()) {
                    world.end(at);
                }
            }
            Step::Pause(queue, paused) => {
                let settings = QueueSettings { paused: *paused, ..QueueSettings::default() };
                world.ask(Ask::PutQueue(format!("q{queue}").parse().unwrap(), settings));
            }
            Step::Cancel(at) => {
                if let Some(at) = usize::from(*at).checked_rem(jobs.len()) {
                    world.ask(Ask::Cancel(jobs[at]));
                }
            }
            Step::Pass(seconds) => world.pass(std::time::Duration::from_secs((*seconds).into())),
        }
    }
    (world, jobs)
}

fn submit(world: &mut World, job: &Job) -> JobId {
    let later = world.now.wall + std::time::Duration::from_secs(3600);
    world.submit(|spec| {
        spec.queue = format!("q{}", job.queue).parse().unwrap();
        spec.kind = format!("k{}", job.kind).parse().unwrap();
        spec.priority = job.priority;
        spec.run_at = job.delay.then_some(later);
        spec.options.threads = job.threads;
        spec.options.min_threads = job.min_threads;
        spec.options.fallback = if job.single { Fallback::Single } else { Fallback::Widest };
        if job.label {
            spec.options.require = [("gpu".to_owned(), "yes".to_owned())].into();
        }
    })
}

/// The gates that hold a job back, if it waits.
fn closed(world: &World, job: JobId) -> Option<Vec<&'static str>> {
    let explained = world.coordinator.explain(job, world.now)?;
    let waits = matches!(explained.state, State::Queued | State::Scheduled);
    waits.then(|| explained.gates.iter().filter(|gate| gate.closed).map(|gate| gate.gate).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// What keeps a job that waits is either ahead of it, or told: with everything else gone it starts if and only if
    /// `explain` names nothing but threads that others have. And of a job that waits something is always told.
    #[test]
    fn explain_says_that_nothing_blocks_a_job_if_and_only_if_it_would_start(
        steps in prop::collection::vec(step(), 1..40),
        choice in any::<prop::sample::Index>(),
    ) {
        let (mut world, jobs) = live(&steps);
        let waiting: Vec<(JobId, Vec<&str>)> =
            jobs.iter().filter_map(|job| Some((*job, closed(&world, *job)?))).collect();
        for (job, gates) in &waiting {
            prop_assert!(!gates.is_empty(), "{job} waits, and nothing is said to hold it back");
        }
        prop_assume!(!waiting.is_empty());
        let (job, gates) = waiting[choice.index(waiting.len())].clone();
        for (other, _) in waiting.iter().filter(|(other, _)| *other != job) {
            world.ask(Ask::Cancel(*other));
        }
        for _ in 0..1_000 {
            match world.running.iter().position(|(_, work)| work.job != job) {
                Some(at) => world.end(at),
                None => break,
            }
        }
        let blocked = gates.iter().any(|gate| *gate != "threads");
        prop_assert_eq!(world.has_started(job), !blocked, "{:?}", gates);
        if !blocked {
            prop_assert!(world.coordinator.explain(job, world.now).unwrap().gates.is_empty());
        }
    }
}
