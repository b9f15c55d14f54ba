//! What `explain` says is what dispatch does: a job is held back by nothing if, and only if, it starts once everything
//! else that waits is gone.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::Wall;
use ganger_core::change::{Change, NewJob};
use ganger_core::coordinator::port::{Ask, Input, Options, Output, Ticket};
use ganger_core::job::{JobSpec, State};
use ganger_core::name::QueueName;
use ganger_core::queue::{Ageing, QueueSettings, Rate};
use ganger_core::scaling::Bounds;
use proptest::prelude::*;

use crate::limits::close;
use crate::world::{World, apply};

#[derive(Clone, Debug)]
enum Step {
    Submit(JobOp),
    End(usize),
    Close(u8, u64),
    Open(u8),
    Put(SettingsOp),
    Pass(u64),
}

#[derive(Clone, Debug)]
struct JobOp {
    threads: u16,
    priority: i8,
    key: Option<u8>,
    tenant: Option<u8>,
    kind: bool,
}

#[derive(Clone, Debug)]
struct SettingsOp {
    paused: bool,
    running: Option<u32>,
    rate: Option<u32>,
    key_running: Option<u32>,
    key_rate: Option<u32>,
    ageing: bool,
}

fn job() -> impl Strategy<Value = JobOp> {
    (1u16..4, -2i8..3, prop::option::of(0u8..3), prop::option::of(0u8..3), any::<bool>())
        .prop_map(|(threads, priority, key, tenant, kind)| JobOp { threads, priority, key, tenant, kind })
}

fn settings() -> impl Strategy<Value = SettingsOp> {
    let some = |most: u32| prop::option::of(1..most);
    (prop::bool::weighted(0.1), some(4), some(4), some(3), some(3), any::<bool>()).prop_map(
        |(paused, running, rate, key_running, key_rate, ageing)| SettingsOp {
            paused,
            running,
            rate,
            key_running,
            key_rate,
            ageing,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => job().prop_map(Step::Submit),
        5 => (0usize..64).prop_map(Step::End),
        1 => (0u8..3, 1u64..20_000).prop_map(|(key, millis)| Step::Close(key, millis)),
        1 => (0u8..3).prop_map(Step::Open),
        1 => settings().prop_map(Step::Put),
        3 => (1u64..2_500).prop_map(Step::Pass),
    ]
}

fn specify(op: &JobOp) -> impl Fn(&mut JobSpec) + '_ {
    move |spec| {
        spec.kind = if op.kind { "k" } else { "l" }.parse().unwrap();
        spec.priority = op.priority;
        spec.options.threads = op.threads;
        spec.options.concurrency_key = op.key.map(|key| format!("key-{key}"));
        spec.options.fair_key = op.tenant.map(|tenant| format!("tenant-{tenant}"));
    }
}

fn queue(op: &SettingsOp) -> QueueSettings {
    let rate = |n: u32| Rate { n, per: Duration::from_secs(2), burst: n };
    let mut settings = QueueSettings { paused: op.paused, ..QueueSettings::default() };
    settings.limits.max_running = op.running;
    settings.limits.rate = op.rate.map(rate);
    settings.keys.max_running = op.key_running;
    settings.keys.rate = op.key_rate.map(rate);
    settings.ageing = op.ageing.then_some(Ageing { every: Duration::from_secs(1), at_most: 3 });
    settings
}

fn play(world: &mut World, steps: &[Step], last: &mut QueueSettings) {
    let bounds = Bounds { threads_per_worker: None, max: 100 };
    for step in steps {
        match step {
            Step::Submit(op) => drop(world.submit(specify(op))),
            Step::End(at) if !world.running.is_empty() => world.end(at % world.running.len()),
            Step::End(_) => {}
            Step::Close(key, millis) => {
                world.ask(close(&format!("key-{key}"), world, Some(Duration::from_millis(*millis))));
            }
            Step::Open(key) => drop(world.ask(close(&format!("key-{key}"), world, None))),
            Step::Put(op) => {
                *last = queue(op);
                world.ask(Ask::PutQueue(QueueName::default(), *last));
            }
            Step::Pass(millis) => world.pass(Duration::from_millis(*millis)),
        }
        // Both count what stands in line, and compare that with each strand in tests.
        let _ = world.coordinator.verdict(world.now);
        let _ = world.coordinator.load_of(&QueueName::default(), bounds, world.now);
    }
}

/// Takes in a last submission, up to the moment before its jobs are dispatched. A change of settings in the same batch keeps
/// them from being leased with it.
fn take_in(world: &mut World, ops: &[JobOp], last: QueueSettings) {
    let mut out = Vec::new();
    let jobs = ops.iter().map(|op| {
        world.jobs += 1;
        let mut spec = JobSpec::new("k".parse().unwrap());
        specify(op)(&mut spec);
        let id = JobId::new(world.jobs, [0; 10]);
        NewJob { id, seq: 0, created_at: Wall::default(), due_at: Wall::default(), spec }
    });
    let submit = Ask::Submit { idempotency: None, jobs: jobs.collect() };
    let put = Ask::PutQueue(QueueName::default(), last);
    world.coordinator.handle(world.now, Input::Ask(Ticket(1), submit), &mut out);
    world.coordinator.handle(world.now, Input::Ask(Ticket(2), put), &mut out);
    world.coordinator.settle(world.now, &mut out);
    let batch = out.iter().find_map(|output| match output {
        Output::Commit(batch) => Some(batch.clone()),
        Output::Reply(..)
        | Output::Send { .. }
        | Output::Event(_)
        | Output::ReadLive(_)
        | Output::Reconciled(_)
        | Output::StepDown { .. } => None,
    });
    let batch = batch.expect("a submission is written");
    let applied = batch.changes.iter().map(apply).collect();
    world.coordinator.handle(world.now, Input::Committed { number: batch.number, applied }, &mut out);
    world.coordinator.handle(world.now, Input::Tick, &mut out);
}

/// Whether the next dispatch takes this job when nothing else waits.
fn is_taken_alone(world: &mut World, job: JobId) -> bool {
    let mut out = Vec::new();
    for other in (1..=world.jobs).map(|n| JobId::new(n, [0; 10])).filter(|other| *other != job) {
        let waits =
            world.coordinator.explain(other, world.now).is_some_and(|why| why.state != State::Running);
        if waits {
            world.coordinator.handle(world.now, Input::Ask(Ticket(3), Ask::Cancel(other)), &mut out);
        }
    }
    world.coordinator.settle(world.now, &mut out);
    out.iter().any(|output| match output {
        Output::Commit(batch) => batch.changes.iter().any(
            |change| matches!(change, Change::Assign(given) if given.leases.iter().any(|lease| lease.job == job)),
        ),
        Output::Reply(..)
        | Output::Send { .. }
        | Output::Event(_)
        | Output::ReadLive(_)
        | Output::Reconciled(_)
        | Output::StepDown { .. } => false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_job_is_held_back_by_nothing_if_and_only_if_alone_it_is_taken(
        first in settings(), steps in prop::collection::vec(step(), 0..60),
        fresh in prop::collection::vec(job(), 1..6), pick in any::<prop::sample::Index>(),
    ) {
        // A worker that is kept free for a wide job is kept by somebody ahead.
        let (reserve_after, reserve_overtakes) = (Duration::from_secs(100_000), u32::MAX);
        let prefetch_below = Duration::ZERO;
        let mut world =
            World::new(Options { prefetch_below, reserve_after, reserve_overtakes, ..Options::default() });
        world.join(3);
        world.join(2);
        let mut last = queue(&first);
        world.ask(Ask::PutQueue(QueueName::default(), last));
        play(&mut world, &steps, &mut last);
        take_in(&mut world, &fresh, last);
        let ready = |world: &World, id: JobId| {
            world.coordinator.explain(id, world.now).is_some_and(|why| why.state == State::Queued)
        };
        let waiting: Vec<JobId> =
            (1..=world.jobs).map(|n| JobId::new(n, [0; 10])).filter(|id| ready(&world, *id)).collect();
        prop_assume!(!waiting.is_empty());
        let job = *pick.get(&waiting);
        let why = world.coordinator.explain(job, world.now).unwrap();
        let free = why.gates.iter().all(|gate| !gate.closed);
        prop_assert_eq!(is_taken_alone(&mut world, job), free, "{:?}", why);
    }

    /// Whatever happens, the limits hold at every moment, and everything runs in the end.
    #[test]
    fn limits_hold_at_every_moment_and_nothing_is_left_behind(
        first in settings(), steps in prop::collection::vec(step(), 0..100),
    ) {
        let mut world = World::with_workers(&[3, 2]);
        let mut last = QueueSettings { paused: false, ..queue(&first) };
        world.ask(Ask::PutQueue(QueueName::default(), last));
        let same: Vec<Step> = steps.into_iter().filter(|step| !matches!(step, Step::Put(_))).collect();
        for one in &same {
            play(&mut world, std::slice::from_ref(one), &mut last);
            check(&world, &last)?;
        }
        for _ in 0..1_000 {
            world.pass(Duration::from_millis(500));
            check(&world, &last)?;
            if world.running.is_empty() && world.started.len() as u64 == world.jobs {
                break;
            }
            if !world.running.is_empty() {
                world.end_oldest();
            }
        }
        prop_assert_eq!(world.started.len() as u64, world.jobs);
        (0..20).for_each(|_| world.pass(Duration::from_secs(1)));
        prop_assert_eq!(world.coordinator.closed_keys(), 0);
    }
}

fn check(world: &World, settings: &QueueSettings) -> Result<(), TestCaseError> {
    let running = u32::try_from(world.running.len()).unwrap();
    prop_assert!(settings.limits.max_running.is_none_or(|max| running <= max));
    for key in world.coordinator.keys(None, 100).0 {
        prop_assert!(settings.keys.max_running.is_none_or(|max| key.running <= max));
    }
    Ok(())
}
