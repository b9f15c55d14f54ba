//! A submission and its first lease in one batch.

use std::time::Duration;

use ganger_core::change::{Change, NewJob};
use ganger_core::coordinator::port::{Ask, Input, Options, Refusal, Reply};
use ganger_core::job::{JobSpec, State};
use ganger_core::message::{ToLeader, ToWorker};
use ganger_core::outcome::{Outcome, Report};
use ganger_core::queue::QueueSettings;
use ganger_core::{JobId, Wall};

use crate::leader::{Disk, Leader, TTL, id};

/// Most jobs that may be leased in the batch that submits them.
const JOINT_JOBS: usize = 64;

fn once(spec: &mut JobSpec) {
    spec.options.unique_key = Some("once".into());
}

/// Jobs that the batch on its way leases.
fn leased(leader: &Leader) -> Vec<JobId> {
    let mut jobs = Vec::new();
    for change in leader.held() {
        if let Change::Assign(assignment) = change {
            jobs.extend(assignment.leases.iter().map(|lease| lease.job));
        }
    }
    jobs
}

fn counted(leader: &Leader) -> u64 {
    leader.coordinator.stats().counts.iter().flat_map(|(.., counts)| counts).sum()
}

#[test]
fn a_free_worker_gets_a_job_in_the_batch_that_takes_it_in_and_hears_of_it_afterwards() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.disk = Disk::Holds;
    leader.heard.clear();
    let job = leader.submit(|_| {});
    assert!(matches!(leader.held(), [Change::Submit(_), Change::Assign(_)]), "{:?}", leader.held());
    assert_eq!((leader.heard.len(), leader.replies.len()), (0, 0), "nobody is told");
    assert_eq!(counted(&leader), 0, "it does not count");
    assert!(leader.coordinator.explain(job, leader.now).is_none(), "it cannot be asked about");
    assert!(leader.coordinator.workers(leader.now)[0].leases.is_empty(), "it is in no list");
    let cancel = leader.ask(Ask::Cancel(job));
    let run_now = leader.ask(Ask::RunNow(job));
    for ask in [cancel, run_now] {
        assert_eq!(leader.reply(ask), Some(&Reply::Refused(Refusal::NoSuchJob)));
    }
    leader.release();
    assert_eq!(leader.lease(0).job, job);
    assert!(matches!(leader.replies.last(), Some((_, Reply::Submitted(_)))));
    assert_eq!(leader.stored(job).state, State::Running);
    assert_eq!(counted(&leader), 1);
}

/// A worker that reconnects while the batch is on its way: it hears of the lease when it is written, not before.
#[test]
fn a_session_that_resumes_meanwhile_hears_of_the_lease_after_its_commit() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.disk = Disk::Holds;
    let job = leader.submit(|_| {});
    leader.join(0, 2, 1);
    assert_eq!(leader.assigned(0), []);
    leader.release();
    assert_eq!(leader.lease(0).job, job);
    assert_eq!(leader.last_stream, 2);
}

#[test]
fn a_refused_submission_leaves_neither_a_job_nor_a_lease_nor_a_busy_thread() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.disk = Disk::Holds;
    let refused = leader.submit(|_| {});
    assert_eq!(leased(&leader), [refused]);
    leader.refuse();
    assert!(matches!(leader.replies.last(), Some((_, Reply::Refused(Refusal::Store(_))))));
    assert_eq!((leader.used(0), counted(&leader), leader.coordinator.stats().backlog), ((0, 0), 0, 0));
    leader.disk = Disk::Writes;
    leader.pass(Duration::from_secs(3));
    assert_eq!(leader.assigned(0), []);
    let job = leader.submit(|_| {});
    assert_eq!(leader.lease(0).job, job);
}

#[test]
fn a_duplicate_costs_its_worker_nothing_and_is_never_heard_of() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.join(1, 1, 1);
    let first = leader.submit(once);
    let runs = (0..2).find(|worker| !leader.assigned(*worker).is_empty()).expect("a worker runs it");
    leader.disk = Disk::Holds;
    let second = leader.submit(once);
    assert_eq!(leased(&leader), [second], "nobody knows yet");
    leader.release();
    let other = 1 - runs;
    assert_eq!((leader.assigned(other), leader.used(other)), (vec![], (0, 0)));
    assert_eq!((leader.assigned(runs), leader.used(runs)), (vec![], (1, 0)));
    assert_eq!(counted(&leader), 1);
    assert!(leader.coordinator.explain(first, leader.now).is_some());
    let next = leader.submit(|_| {});
    assert_eq!(leader.lease(other).job, next);
}

/// A claim is made for one assignment: one that turned out to be nothing does not use it up.
#[test]
fn a_claim_that_was_given_a_duplicate_still_waits_for_a_job() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.submit(once);
    leader.assigned(0);
    leader.join_as(1, 1, 1, true);
    leader.disk = Disk::Holds;
    let duplicate = leader.submit(once);
    assert_eq!(leased(&leader), [duplicate]);
    leader.release();
    let job = leader.submit(|_| {});
    assert_eq!(leader.lease(1).job, job);
}

/// The lease in flight is recorded as lost, like any other; its job runs elsewhere.
#[test]
fn a_session_that_ends_meanwhile_loses_the_lease_that_is_being_written() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.disk = Disk::Holds;
    let job = leader.submit(|spec| spec.options.max_attempts = 2);
    leader.give(Input::WorkerDied(id(0)));
    leader.release();
    assert_eq!(leader.assigned(0), []);
    assert_eq!(leader.store.attempts(job).iter().map(|a| a.outcome).collect::<Vec<_>>(), [Outcome::Lost]);
    leader.join(1, 1, 1);
    assert_eq!(leader.lease(1).job, job);
}

/// The end of its lease was decided; then the store knows of neither, and that end must not be written.
#[test]
fn a_session_that_ends_meanwhile_has_nothing_to_lose_of_a_job_that_never_was() {
    for (duplicate, hand_over_early) in [(false, 64), (true, 64), (false, 1), (true, 1)] {
        let mut leader = Leader::with(Options { hand_over_early, ..Leader::options() });
        leader.join(1, 1, 1);
        leader.submit(once);
        assert_eq!(leader.assigned(1).len(), 1);
        leader.join(0, 1, 1);
        leader.disk = Disk::Holds;
        let never = leader.submit(once);
        assert_eq!(leased(&leader), [never]);
        leader.says(0, 1, ToLeader::Goodbye);
        if duplicate {
            leader.release();
        } else {
            leader.refuse();
            leader.disk = Disk::Writes;
        }
        leader.pass(Duration::from_secs(3));
        assert!(leader.heard.iter().any(|(to, m)| *to == 0 && *m == ToWorker::Gone), "it is closed");
        assert_eq!((counted(&leader), leader.coordinator.stats().backlog), (1, 0));
        assert!(leader.store.load().assignments.iter().all(|a| a.session == id(1)));
        leader.pass_with(TTL, &[(1, 1)]);
    }
}

#[test]
fn of_the_jobs_of_one_batch_the_largest_priority_gets_the_free_thread() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.disk = Disk::Holds;
    leader.ask(Ask::PutQueue("other".parse().expect("a queue"), QueueSettings::default()));
    let low = leader.submit(|spec| spec.priority = 1);
    let high = leader.submit(|spec| spec.priority = 2);
    leader.submit(|spec| spec.run_at = Some(Wall(i64::MAX)));
    leader.hold_next();
    assert_eq!(leased(&leader), [high]);
    leader.release();
    assert_eq!(leader.lease(0).job, high);
    assert_eq!(leader.stored(low).state, State::Queued);
}

/// Whatever waits was there before.
#[test]
fn a_job_that_is_being_taken_in_overtakes_nobody_of_its_width() {
    let mut leader = Leader::new();
    leader.join(0, 1, 2);
    let runs = leader.submit(|_| {});
    let fence = leader.lease(0).fence;
    let wide = leader.submit(|spec| spec.options.threads = 2);
    leader.disk = Disk::Holds;
    leader.ends(0, 1, runs, fence, Report::Ok(String::new()));
    let late = leader.submit(|spec| spec.options.threads = 2);
    assert_eq!(leased(&leader), [wide], "it was first, and got what became free");
    leader.hold_next();
    assert_eq!(leased(&leader), []);
    leader.release();
    assert_eq!((leader.lease(0).job, leader.stored(late).state), (wide, State::Queued));
}

#[test]
fn a_queue_that_is_being_paused_starts_nothing_that_was_submitted_behind() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.disk = Disk::Holds;
    leader.ask(Ask::PutQueue("other".parse().expect("a queue"), QueueSettings::default()));
    let paused = QueueSettings { paused: true, ..QueueSettings::default() };
    leader.ask(Ask::PutQueue(Default::default(), paused));
    let job = leader.submit(|_| {});
    leader.hold_next();
    assert_eq!(leased(&leader), []);
    leader.release();
    assert_eq!((leader.assigned(0), leader.stored(job).state), (vec![], State::Queued));
}

#[test]
fn bulk_is_taken_in_by_its_commit_and_a_few_jobs_with_their_leases() {
    for (jobs, joint) in [(JOINT_JOBS, 2), (JOINT_JOBS + 1, 0)] {
        let mut leader = Leader::new();
        leader.join(0, 1, 2);
        leader.disk = Disk::Holds;
        let (created_at, due_at) = (Wall(0), Wall(0));
        let spec = JobSpec::new("k".parse().expect("a kind"));
        let new = |n: usize| NewJob {
            id: JobId::new(n as u64, [3; 10]),
            seq: 0,
            created_at,
            due_at,
            spec: spec.clone(),
        };
        leader.ask(Ask::Submit { idempotency: None, jobs: (0..jobs).map(new).collect() });
        assert_eq!(leased(&leader).len(), joint);
        leader.release();
        assert_eq!(leader.assigned(0).len(), 2, "in the next batch otherwise");
    }
}
