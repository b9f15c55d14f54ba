//! Scenarios in which one rule of the protocol is all that stands between a job and running twice.

use crate::setup::{MS, S};
use crate::stage::{ALICE, BOB, Stage, job};
use crate::store::Sort;
use crate::stories::{Script, Told};

/// Every trap.
pub(crate) const TRAPS: [Script; 11] = [
    ("a deaf leader", deaf_leader),
    ("a slow bump", slow_bump),
    ("a worker that goes back", worker_goes_back),
    ("a late pong", late_pong),
    ("drifting clocks", drifting_clocks),
    ("an assignment of another life", assignment_of_another_life),
    ("a submission refused with its lease", refused_with_its_lease),
    ("a duplicate that found a free worker", duplicate_finds_a_free_worker),
    ("a worker that dies with a job that never was", dies_with_a_job_that_never_was),
    ("a worker that dies with a duplicate", dies_with_a_duplicate),
    ("a refusal that overtakes", refusal_that_overtakes),
];

/// Alice cannot reach the store but goes on talking to her worker, as long as her authority lasts. Bob, who leads
/// since the first moment of it, must wait that long and then as long as the worker may believe her.
fn deaf_leader() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 20 * S);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.just_renewed();
    stage.world.cut_from_store(ALICE, 20 * S);
    stage.take_over(BOB);
    stage.wait_open(1);
    stage.run_for(16 * S);
    stage.expect(stage.starts(id) == 2, "the job ran again, once the first worker had given up");
    stage.finish().map(|_| ())
}

/// The same, and Bob's first step took seconds to be written: until then Alice renewed her authority, so
/// Bob's patience begins with the answer.
fn slow_bump() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 20 * S);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.just_renewed();
    // Alice renews every third of five seconds: the bump lands just after the third time from here.
    stage.world.store.late = Some((BOB, Sort::Bump, 5_010 * MS));
    stage.world.take_over(BOB, 0);
    stage.wait("Bob's term begins", |world| world.store.state.term().number == 2);
    stage.world.cut_from_store(ALICE, 20 * S);
    stage.wait("Bob leads", |world| world.leader() == Some(BOB));
    stage.wait_open(1);
    stage.run_for(16 * S);
    stage.expect(stage.starts(id) == 2, "the job ran again, once the first worker had given up");
    stage.finish().map(|_| ())
}

/// The worker has obeyed Bob and holds a lease of his. Its stream breaks, and it comes to Alice, who does not know
/// that she is deposed. She must not take its report: she would call it lost and have the worker forget it.
fn worker_goes_back() -> Told {
    let mut stage = Stage::new(&[ALICE], S);
    stage.wait_open(0);
    stage.just_renewed();
    stage.world.cut_from_store(ALICE, 20 * S);
    stage.take_over(BOB);
    stage.send_to(0, BOB);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.send_to(0, ALICE);
    stage.run_for(2 * S);
    stage.send_to(0, BOB);
    stage.wait_open(0);
    stage.run_for(3 * S);
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.finish().map(|_| ())
}

/// The answer to a ping comes two seconds late, and then the worker is cut off. It gives up a TTL after it sent
/// that ping, however fresh the answer looked.
fn late_pong() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 20 * S);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.just_pinged(0);
    let conn = stage.world.workers[0].conn.unwrap_or(0);
    stage.world.conns[conn].late_down = stage.world.now + 2 * S;
    stage.world.run_for(1_100 * MS);
    stage.world.workers[1].only = Some(ALICE);
    // Up to here its pings arrived; from here on nothing does, while the old answers still reach it.
    stage.world.conns[conn].late_up = stage.world.now + 20 * S;
    stage.world.workers[0].only = Some(BOB);
    stage.run_for(12 * S);
    stage.expect(stage.starts(id) == 2, "the job ran again, once the first worker had given up");
    stage.finish().map(|_| ())
}

/// The worker's clock is slow and the leader's is fast: only the slack keeps the leader from being first.
fn drifting_clocks() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 20 * S);
    stage.world.servers[ALICE].clock.fast = 10_000;
    stage.world.workers[0].clock.fast = -10_000;
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.world.workers[1].only = Some(ALICE);
    stage.run_for(5 * S);
    stage.just_pinged(0);
    stage.world.part(0, None, 10 * S);
    stage.run_for(9 * S);
    stage.expect(stage.starts(id) == 2, "the job ran again, once the first worker had given up");
    stage.finish().map(|_| ())
}

/// An assignment is under way when the stream breaks, and arrives when the worker has long become another session,
/// whose streams it must not pass for.
fn assignment_of_another_life() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], S);
    stage.wait_open(0);
    let conn = stage.world.workers[0].conn.unwrap_or(0);
    stage.world.conns[conn].late_down = stage.world.now + 8 * S;
    stage.world.conns[conn].late_up = stage.world.now + 8 * S;
    stage.world.conns[conn].keeps = true;
    let id = stage.submit(job(5));
    stage.wait("the lease is given", |world| {
        world.checker.jobs.get(&id).is_some_and(|record| record.lease.is_some())
    });
    stage.world.workers[0].only = Some(BOB);
    stage.world.workers[1].only = Some(ALICE);
    stage.wait_started(id, 1);
    stage.world.workers[0].only = Some(ALICE);
    stage.wait_open(0);
    stage.run_for(10 * S);
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.finish().map(|_| ())
}

/// The disk is full when a job is submitted, and a worker is free. The client is told no; then nothing of it may be
/// left, neither the lease, which was in the same batch, nor the threads that it took.
fn refused_with_its_lease() -> Told {
    let mut stage = Stage::new(&[ALICE], S);
    stage.wait_open(0);
    stage.world.store.full_until = stage.world.now + 300 * MS;
    let id = stage.submit(job(1));
    stage.wait_started(id, 1);
    stage.expect(stage.world.checker.joint.refused > 0, "a lease was refused with its job");
    stage.expect(stage.world.checker.joint.keyed > 0, "a lease was written with its job");
    stage.finish().map(|_| ())
}

/// A job runs and holds its unique key when it is submitted again. A second worker is free, and its lease is written
/// before anyone knows that there is nothing new to run.
fn duplicate_finds_a_free_worker() -> Told {
    let mut stage = Stage::new(&[ALICE, ALICE], 3 * S);
    stage.wait_open(0);
    stage.wait_open(1);
    let mut spec = job(1);
    spec.options.unique_key = Some("once".into());
    let first = stage.submit(spec.clone());
    stage.wait_started(first, 1);
    let second = stage.submit(spec);
    stage.run_for(S);
    stage.expect(second == first, "the first job answers the second request");
    stage.expect(stage.world.checker.joint.void > 0, "a lease was written in vain");
    stage.expect(stage.world.checker.starts == [first], "one handler began");
    stage.finish().map(|_| ())
}

/// While a job and its lease are on their way to a full disk the worker dies. The end of that lease is decided, and
/// then there is neither lease nor job.
fn dies_with_a_job_that_never_was() -> Told {
    let mut stage = Stage::new(&[ALICE], S);
    stage.wait_open(0);
    stage.world.store.full_until = stage.world.now + S;
    stage.world.store.late = Some((ALICE, Sort::Commit, 200 * MS));
    let client = stage.send(job(1));
    stage.run_for(100 * MS);
    let session = stage.world.workers[0].session.id();
    stage.world.crash_worker(0);
    stage.world.worker_died(session);
    stage.run_for(S);
    stage.world.store.late = None;
    stage.expect(stage.world.checker.joint.refused > 0, "a lease was refused with its job");
    let id = stage.wait_acked(client);
    stage.wait_started(id, 1);
    stage.expect(stage.world.checker.lost == 0, "what never was is not lost");
    stage.finish().map(|_| ())
}

/// While a job and its lease are on their way the worker dies, and the end of that lease is decided. Then there was
/// nothing new to run: the end must still be there to be taken back, and not on its way to the store.
fn dies_with_a_duplicate() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 5 * S);
    stage.wait_open(0);
    let mut spec = job(1);
    spec.options.unique_key = Some("once".into());
    let first = stage.submit(spec.clone());
    stage.wait_started(first, 1);
    stage.send_to(1, ALICE);
    stage.wait_open(1);
    stage.world.store.late = Some((ALICE, Sort::Commit, 200 * MS));
    let client = stage.send(spec);
    stage.run_for(100 * MS);
    let session = stage.world.workers[1].session.id();
    stage.world.crash_worker(1);
    stage.world.worker_died(session);
    stage.run_for(S);
    stage.world.store.late = None;
    stage.expect(stage.world.checker.joint.void > 0, "a lease was written in vain");
    let answer = stage.wait_acked(client);
    stage.expect(answer == first, "the first job answers the second request");
    stage.expect(stage.world.checker.lost == 0, "what never was is not lost");
    stage.finish().map(|_| ())
}

/// A submission takes seconds to reach the store. Its second copy finds the disk full and is refused; then there is
/// room again, and the first copy lands. Whoever took the refusal for a no has told the client so.
fn refusal_that_overtakes() -> Told {
    let mut stage = Stage::new(&[ALICE], S);
    stage.wait_open(0);
    stage.just_renewed();
    stage.world.store.late = Some((ALICE, Sort::Commit, 3 * S));
    let client = stage.send(job(5));
    stage.run_for(100 * MS);
    stage.world.store.late = None;
    stage.world.store.full_until = stage.world.now + 2 * S;
    stage.run_for(5 * S);
    stage.wait_acked(client);
    stage.finish().map(|_| ())
}

#[test]
fn in_every_trap_the_job_is_safe() {
    for (name, trap) in TRAPS {
        if let Err(what) = trap() {
            panic!("{name}: {what}");
        }
    }
}
