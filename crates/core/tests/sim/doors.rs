//! Scenarios around jobs that their handlers end, and clients submit, in transactions of their own.

use ganger_core::coordinator::port::Ask;
use ganger_core::job::State;
use ganger_core::kind::KindSettings;
use ganger_core::{Fence, JobId};

use crate::checker::Completions;
use crate::client::Errand;
use crate::elsewhere::TRANSACTIONAL;
use crate::random::{setup, try_seed};
use crate::setup::{MS, S, wall};
use crate::stage::{ALICE, BOB, Stage, job};
use crate::stories::{Script, Told};

/// Every scenario.
pub(crate) const DOORS: [Script; 5] = [
    ("a worker that dies after its commit", dies_after_its_commit),
    ("a zombie that completes", zombie_completes),
    ("a leader that dies after a completion", leader_dies_after_a_completion),
    ("a replay before the report", replay_before_the_report),
    ("a timeout after a completion", timeout_after_a_completion),
];

/// A stage on which the one kind is transactional.
pub(crate) fn stage(homes: &[usize]) -> Stage {
    let mut stage = Stage::new(homes, 5 * S);
    let settings = KindSettings { transactional: true };
    let ask = Ask::PutKind(TRANSACTIONAL.parse().expect("a kind"), settings);
    stage.world.send_ask(Errand::Other, ask);
    stage.wait("the kind is marked", |world| !world.store.state.load().kinds.is_empty());
    stage.run_for(20 * MS);
    stage
}

/// A job that runs on the first worker, and its fence.
fn running(stage: &mut Stage, max_attempts: u32) -> (JobId, Fence) {
    stage.wait_open(0);
    let id = stage.submit(job(max_attempts));
    stage.wait_started(id, 1);
    stage.run_for(100 * MS);
    (id, stage.fence(id).unwrap_or_default())
}

fn state(stage: &Stage, id: JobId) -> Option<State> {
    let found = stage.world.store.state.jobs(&[id], wall(stage.world.now)).pop();
    found.map(|job| job.state)
}

/// The transaction commits and the process is gone before it can say so. To the leader the attempt is lost, and it was
/// the only one allowed.
fn dies_after_its_commit() -> Told {
    let mut stage = stage(&[ALICE]);
    let (id, fence) = running(&mut stage, 3);
    stage.world.complete(0, None, id, fence);
    let session = stage.world.workers[0].session.id();
    stage.world.crash_worker(0);
    stage.world.worker_died(session);
    stage.run_for(10 * S);
    stage.expect(state(&stage, id) == Some(State::Succeeded), "the job has succeeded");
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.expect(stage.world.checker.completions.otherwise == 1, "the leader took it for lost");
    stage.finish().map(|_| ())
}

/// Alice's worker stands still until its lease is lost and the job runs elsewhere. Then its transaction comes to
/// its commit.
fn zombie_completes() -> Told {
    let mut stage = stage(&[ALICE, BOB]);
    let (id, fence) = running(&mut stage, 5);
    stage.world.workers[1].only = Some(ALICE);
    stage.world.pause_worker(0, 9 * S);
    stage.wait_started(id, 2);
    stage.world.complete(0, None, id, fence);
    stage.expect(state(&stage, id) == Some(State::Running), "the job still runs");
    stage.expect(stage.world.checker.completions.refused == 1, "the zombie was told");
    stage.finish().map(|_| ())
}

/// Alice never learns that the job has ended. Bob finds it final; the report of its worker is nothing new to him.
fn leader_dies_after_a_completion() -> Told {
    let mut stage = stage(&[ALICE]);
    let (id, fence) = running(&mut stage, 5);
    stage.world.complete(0, None, id, fence);
    stage.world.crash_server(ALICE, 30 * S);
    stage.take_over(BOB);
    stage.send_to(0, BOB);
    stage.wait_open(0);
    stage.run_for(8 * S);
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.expect(state(&stage, id) == Some(State::Succeeded), "the job has succeeded");
    stage.finish().map(|_| ())
}

/// The job is final in the store, and a person replays it before its worker has reported. It must not become live
/// under the leader's feet. Once the report is in, it can be replayed.
fn replay_before_the_report() -> Told {
    let mut stage = stage(&[ALICE]);
    let (id, fence) = running(&mut stage, 5);
    stage.world.complete(0, None, id, fence);
    for ask in [Ask::Replay(id), Ask::Cancel(id), Ask::RunNow(id)] {
        stage.world.send_ask(Errand::Other, ask);
    }
    stage.run_for(S);
    stage.expect(state(&stage, id) == Some(State::Succeeded), "the job is not replayed yet");
    stage.run_for(6 * S);
    stage.world.send_ask(Errand::Other, Ask::Replay(id));
    stage.wait_started(id, 2);
    stage.finish().map(|_| ())
}

/// The handler goes on for too long after its commit, and does not hear that it should stop.
fn timeout_after_a_completion() -> Told {
    let mut stage = stage(&[ALICE]);
    stage.wait_open(0);
    let mut spec = job(1);
    spec.options.timeout = Some(std::time::Duration::from_secs(1));
    let id = stage.submit(spec);
    stage.wait_started(id, 1);
    let fence = stage.fence(id).unwrap_or_default();
    stage.world.complete(0, None, id, fence);
    stage.run_for(20 * S);
    stage.expect(state(&stage, id) == Some(State::Succeeded), "the job has succeeded");
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.finish().map(|_| ())
}

#[test]
fn a_job_that_ends_elsewhere_ends_once() {
    for (name, script) in DOORS {
        if let Err(what) = script() {
            panic!("{name}: {what}");
        }
    }
}

/// Without this the random runs would say nothing about users' transactions.
#[test]
fn users_transactions_meet_the_leader_in_every_way() {
    let mut seen = Completions::default();
    for seed in 0..300 {
        if let Ok(world) = try_seed(setup(seed, false)) {
            seen += world.checker.completions;
        }
    }
    let Completions { ended, refused, otherwise, taken_in, taken_in_dead, taken_before } = seen;
    assert!(ended > 200 && refused > 20 && otherwise > 50, "{seen:?}");
    assert!(taken_in > 100 && taken_in_dead > 20 && taken_before > 20, "{seen:?}");
}
