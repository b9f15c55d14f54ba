//! A new leader, and what it owes to the workers of the old one.

use std::time::Duration;

use ganger_core::Term;
use ganger_core::coordinator::port::Ask;
use ganger_core::job::State;
use ganger_core::message::{CancelWhy, Hello, ToLeader, ToWorker};
use ganger_core::outcome::{Outcome, Report};

use crate::leader::{Disk, Leader, TTL, id};

/// P9: the worker comes back on a new stream and hears of what it has, under the same fences.
#[test]
fn a_takeover_sends_leases_and_wanted_cancels_again() {
    let mut leader = Leader::new();
    leader.join(0, 1, 2);
    let (kept, cancelled) = (leader.submit(|_| {}), leader.submit(|_| {}));
    let before = leader.assigned(0);
    leader.ask(Ask::Cancel(cancelled));
    leader.heard.clear();

    leader.take_over();
    assert_eq!(leader.heard, [], "nobody hears anything before it resumes");
    leader.join(0, 2, 2);
    assert_eq!(leader.assigned(0), before);
    assert_eq!(leader.stopped(0), [(cancelled, CancelWhy::Cancelled)]);

    leader.ends(0, 2, kept, before[0].fence, Report::Ok("1".into()));
    leader.ends(0, 2, cancelled, before[1].fence, Report::Cancelled);
    assert_eq!(leader.stored(kept).state, State::Succeeded);
    assert_eq!(leader.stored(cancelled).state, State::Cancelled);
}

/// The hello alone proves nothing: it may be old.
#[test]
fn a_session_has_resumed_with_its_first_ping_and_not_before() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.submit(|_| {});
    let lease = leader.lease(0);
    leader.take_over();
    let hello = Hello {
        session: id(0),
        stream: 2,
        worker: leader.store.load().sessions[0].worker.clone(),
        highest: Term::default(),
        draining: false,
    };
    leader.says(0, 2, ToLeader::Hello(hello));
    assert!(leader.assigned(0).is_empty());
    leader.says(0, 2, ToLeader::Ping { number: 1 });
    assert_eq!(leader.lease(0).fence, lease.fence);
}

/// A worker that does not come back is lost, after the time that it may still believe the old leader.
#[test]
fn a_worker_that_does_not_come_back_after_a_takeover_loses_its_job() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    let job = leader.submit(|_| {});
    leader.assigned(0);
    leader.take_over();
    leader.join(1, 1, 1);
    leader.pass_with(TTL, &[(1, 1)]);
    assert!(leader.assigned(1).is_empty(), "not before its TTL and the slack are over");
    leader.pass_with(Duration::from_secs(4), &[(1, 1)]);
    assert_eq!(leader.lease(1).attempt, 2);
    assert_eq!(leader.store.attempts(job)[0].outcome, Outcome::Lost);
}

/// What is decided and not written dies with its leader: the job is where it was.
#[test]
fn an_assignment_that_was_never_written_was_never_given() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    let due = leader.now.wall + Duration::from_secs(1);
    let job = leader.submit(|spec| spec.run_at = Some(due));
    leader.disk = Disk::Holds;
    leader.pass(Duration::from_secs(2));
    assert!(leader.assigned(0).is_empty(), "nobody hears of what is not written");
    leader.take_over();
    leader.join(0, 2, 1);
    let lease = leader.lease(0);
    assert_eq!((lease.job, lease.attempt, lease.fence.term.number), (job, 1, 2));
}

/// A worker made for one HTTP claim takes one assignment, and its session ends with it.
#[test]
fn a_claim_takes_one_assignment_and_is_gone() {
    let mut leader = Leader::new();
    let jobs: Vec<_> = (0..3).map(|_| leader.submit(|_| {})).collect();
    leader.join_as(0, 1, 1, true);
    let lease = leader.lease(0);
    assert_eq!(lease.job, jobs[0]);
    leader.ends(0, 1, lease.job, lease.fence, Report::Ok("1".into()));
    assert!(leader.assigned(0).is_empty(), "one is all it takes");
    assert!(leader.heard.iter().any(|(_, message)| *message == ToWorker::Gone));
    assert!(leader.store.load().sessions.is_empty());
    assert_eq!(leader.stored(jobs[1]).state, State::Queued);
}
