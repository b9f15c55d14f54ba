//! The ways in which earlier drafts of the protocol failed, told one by one.
//!
//! Each is a function, so that `bugs.rs` can tell it again with a mistake switched on.

use std::time::Duration;

use ganger_core::job::State;
use ganger_core::outcome::{Outcome, Report};

use crate::setup::{MS, S, wall};
use crate::stage::{ALICE, BOB, CAROL, Stage, job};
use crate::store::Sort;

/// What a story comes to: nothing, or what went wrong in it.
pub(crate) type Told = Result<(), String>;

/// A scripted scenario and its name.
pub(crate) type Script = (&'static str, fn() -> Told);

/// Every story.
pub(crate) const STORIES: [Script; 8] = [
    ("a deposed leader that still believes", deposed_leader_believes),
    ("an old hello read late", old_hello_read_late),
    ("a third leader and a late result", third_leader_late_result),
    ("a started job of one attempt", started_once),
    ("a handover in the middle of a takeover", handover_within_takeover),
    ("a commit of unknown outcome", unknown_commit),
    ("a close that lands late", close_lands_late),
    ("a welcome older than the TTL", stale_welcome),
];

/// Alice cannot reach the store and does not know that Bob leads. A job becomes due for both. Her worker waits
/// beside her, but her assignment is never written, so it is never sent.
fn deposed_leader_believes() -> Told {
    let mut stage = Stage::new(&[ALICE, ALICE], S);
    stage.wait_open(0);
    stage.wait_open(1);
    let mut spec = job(5);
    spec.run_at = Some(wall(stage.world.now) + Duration::from_secs(2));
    let id = stage.submit(spec);
    stage.just_renewed();
    stage.world.cut_from_store(ALICE, 4 * S);
    stage.take_over(BOB);
    stage.send_to(1, BOB);
    stage.wait_open(1);
    stage.wait_started(id, 1);
    // Her cut ends; what she decided meanwhile reaches the store, in vain.
    stage.run_for(5 * S);
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.finish().map(|_| ())
}

/// Long ago the worker said hello to Bob, who was on standby and did not read it. It works for Alice. Bob takes over
/// and reads the old hello: that proves nothing, neither that the worker is there nor that it holds nothing,
/// and it gives it no less time.
fn old_hello_read_late() -> Told {
    let mut stage = Stage::new(&[BOB, BOB], 7 * S);
    stage.wait("the worker says hello to Bob", |world| world.workers[0].conn.is_some());
    let old = stage.world.workers[0].conn.unwrap_or(0);
    stage.world.conns[old].silent = true;
    stage.run_for(50 * MS);
    stage.send_to(0, ALICE);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.just_renewed();
    stage.world.cut_from_store(ALICE, 15 * S);
    stage.take_over(BOB);
    stage.run_for(4 * S);
    stage.send_to(0, BOB);
    stage.wait_open(0);
    stage.run_for(4 * S);
    stage.expect(stage.starts(id) == 1, "the job went on under its lease");
    stage.finish().map(|_| ())
}

/// Alice gives the job to a worker that then stands still. Bob gives it to another. Carol leads when the first one
/// wakes and reports: she knows whose lease it is, and takes the right result.
fn third_leader_late_result() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 2 * S);
    stage.world.workers[1].script = Some((14 * S, Report::Ok(String::new())));
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    let first = stage.fence(id);
    stage.world.pause_worker(0, 15 * S);
    stage.take_over(BOB);
    stage.wait_started(id, 2);
    let second = stage.fence(id);
    stage.expect(second > first, "a later fence");
    stage.take_over(CAROL);
    stage.send_to(1, CAROL);
    stage.world.workers[0].only = Some(CAROL);
    // The sleeper wakes, hears that it is gone, and offers its result in its next life.
    stage.wait("the sleeper is back", |world| world.workers[0].paused_until < world.now);
    stage.wait_open(0);
    stage.run_for(500 * MS);
    stage.expect(stage.fence(id) == second, "the second worker still has the lease");
    let world = stage.finish()?;
    let end = world.checker.jobs[&id].end.as_ref();
    let result = end.and_then(|end| end.result.clone());
    match result == second.map(|fence| fence.to_string()) {
        true => Ok(()),
        false => Err(format!("the result is {result:?}")),
    }
}

/// A job that may be tried once is handed back after it began: by its own worker, and by a worker that lapsed. It
/// never begins again.
fn started_once() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 10 * S);
    stage.wait_open(0);
    stage.world.workers[0].script = Some((200 * MS, Report::Released { started: true }));
    let handed_back = stage.submit(job(1));
    stage.wait_started(handed_back, 1);
    stage.run_for(500 * MS);
    stage.world.workers[0].script = Some((10 * S, Report::Ok(String::new())));
    let lapsed = stage.submit(job(1));
    stage.wait_started(lapsed, 1);
    stage.world.part(0, None, 3_050 * MS);
    stage.world.workers[1].only = Some(ALICE);
    stage.run_for(8 * S);
    let world = stage.finish()?;
    for id in [handed_back, lapsed] {
        let record = &world.checker.jobs[&id];
        let dead = record.end.as_ref().is_some_and(|end| end.state == State::Dead);
        if !dead || record.started.len() != 1 {
            return Err(format!("began {} times, dead: {dead}", record.started.len()));
        }
    }
    Ok(())
}

/// Bob has begun his term and is about to load when Carol begins hers, loads and leads. What Bob then reads is
/// whole, and a worker waits beside him, but he may not write.
fn handover_within_takeover() -> Told {
    let mut stage = Stage::new(&[ALICE, ALICE], S);
    stage.wait_open(0);
    stage.wait_open(1);
    let mut spec = job(5);
    spec.run_at = Some(wall(stage.world.now) + Duration::from_secs(1));
    let id = stage.submit(spec);
    stage.send_to(1, BOB);
    stage.world.store.late = Some((BOB, Sort::Load, 350 * MS));
    stage.world.take_over(BOB, 0);
    stage.run_for(100 * MS);
    stage.take_over(CAROL);
    stage.send_to(0, CAROL);
    stage.run_for(5 * S);
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.finish().map(|_| ())
}

/// Alice's assignment is on its way to the store for seconds; she sends it again and again. Bob leads meanwhile,
/// and gives the job to another. Then the copies land. Before that, a submission that was written but
/// not answered: its client is not told no.
fn unknown_commit() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], S);
    stage.wait_open(0);
    stage.world.store.unanswered = Some((ALICE, stage.world.now + 900 * MS));
    let unanswered = stage.submit(job(1));
    stage.wait_started(unanswered, 1);
    stage.run_for(2 * S);
    let mut spec = job(5);
    spec.run_at = Some(wall(stage.world.now) + Duration::from_secs(1));
    let id = stage.submit(spec);
    stage.world.store.late = Some((ALICE, Sort::Commit, 3 * S));
    stage.run_for(1_500 * MS);
    stage.take_over(BOB);
    stage.wait_started(id, 1);
    stage.run_for(6 * S);
    stage.expect(stage.starts(id) == 1, "the job ran once");
    stage.finish().map(|_| ())
}

/// The leader decides that a session is over, and the commit takes its time. The worker is seen again before it
/// lands: too late, it gets no answer but `gone`, and its job runs elsewhere.
fn close_lands_late() -> Told {
    let mut stage = Stage::new(&[ALICE, BOB], 20 * S);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.world.store.late = Some((ALICE, Sort::Commit, 380 * MS));
    stage.world.part(0, None, 3_500 * MS);
    stage.world.workers[1].only = Some(ALICE);
    stage.run_for(10 * S);
    stage.world.store.late = None;
    stage.expect(stage.starts(id) == 2, "the job ran again elsewhere");
    let world = stage.finish()?;
    let lost = world.store.state.attempts(id).iter().filter(|a| a.outcome == Outcome::Lost).count();
    if lost == 1 { Ok(()) } else { Err(format!("{lost} attempts were lost")) }
}

/// The welcome takes longer than the TTL. The worker must not count as there while it believes that it lapsed:
/// it greets again, and works.
fn stale_welcome() -> Told {
    let mut stage = Stage::new(&[ALICE], 500 * MS);
    stage.wait("the worker says hello", |world| world.workers[0].conn.is_some());
    let slow = stage.world.workers[0].conn.unwrap_or(0);
    stage.world.conns[slow].late_down = stage.world.now + 3_500 * MS;
    stage.world.conns[slow].keeps = true;
    let id = stage.submit(job(1));
    stage.wait_open(0);
    stage.wait_started(id, 1);
    stage.expect(stage.world.workers[0].conn != Some(slow), "it greeted again");
    stage.finish().map(|_| ())
}

fn told(name: &str) {
    let (_, story) = STORIES.iter().find(|(known, _)| *known == name).expect("the name of a story");
    if let Err(what) = story() {
        panic!("{name}: {what}");
    }
}

#[test]
fn a_deposed_leader_that_still_believes_assigns_nothing() {
    told("a deposed leader that still believes");
}

#[test]
fn an_old_hello_read_late_resumes_nothing() {
    told("an old hello read late");
}

#[test]
fn a_third_leader_refuses_the_first_ones_late_result() {
    told("a third leader and a late result");
}

#[test]
fn a_started_job_of_one_attempt_never_starts_again() {
    told("a started job of one attempt");
}

#[test]
fn a_handover_in_the_middle_of_a_takeover_changes_nothing() {
    told("a handover in the middle of a takeover");
}

#[test]
fn a_commit_of_unknown_outcome_happens_once_or_never() {
    told("a commit of unknown outcome");
}

#[test]
fn a_close_that_lands_late_still_ends_the_session() {
    told("a close that lands late");
}

#[test]
fn a_welcome_older_than_the_ttl_is_no_welcome() {
    told("a welcome older than the TTL");
}
