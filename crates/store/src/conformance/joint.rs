//! A submission and its first lease in one batch, also when the submission is nothing new.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{
    After, Applied, Assignment, Batch, Change, Idempotency, Intake, NewJob, Submission, Submitted,
};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;

use super::leader::{Leader, everything, spec, unique};
use crate::read::LeaseView;
use crate::store::Store;

const HOUR: Duration = Duration::from_secs(3600);

fn submit(jobs: Vec<NewJob>) -> Change {
    Change::Submit(Submission { idempotency: None, jobs, inbox: None })
}

fn submit_keyed(leader: &Leader, fingerprint: u8, jobs: Vec<NewJob>) -> Change {
    let (scope, key, until) = ("me".into(), "key".into(), leader.now + HOUR);
    let idempotency = Some(Idempotency { scope, key, fingerprint: [fingerprint; 32], until });
    Change::Submit(Submission { idempotency, jobs, inbox: None })
}

async fn assignments(leader: &Leader) -> Vec<Assignment> {
    leader.store.load().await.unwrap().assignments
}

pub(super) async fn a_job_is_leased_in_the_batch_that_submits_it(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let job = leader.new_job(unique("a", "k", HOUR));
    let id = job.id;
    let assignment = leader.assignment(session, &[id]);
    let changes = vec![submit_keyed(&leader, 1, vec![job]), Change::Assign(assignment.clone())];
    let accepted = Applied::Submitted(Submitted::Accepted(vec![Intake::Created(id)]));
    assert_eq!(leader.commit(changes).await, [accepted, Applied::Done]);
    let job = leader.job(id).await;
    assert_eq!(job.state, State::Running);
    assert_eq!(job.lease, Some(LeaseView { session, attempt: 1, threads: 2, at: leader.now }));
    assert_eq!(assignments(&leader).await, std::slice::from_ref(&assignment));
    leader.run_out(&assignment, id).await;
    assert_eq!(assignments(&leader).await, []);
}

pub(super) async fn a_refused_batch_keeps_neither_the_job_nor_its_lease(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let job = leader.new_job(spec("a"));
    let lease = Change::Assign(leader.assignment(session, &[job.id]));
    let stranger = leader.job_id();
    let wrong = Change::Assign(leader.assignment(session, &[stranger]));
    leader.refused(vec![submit(vec![job.clone()]), lease.clone(), wrong]).await;
    assert!(leader.find(job.id).await.is_none());
    assert_eq!(assignments(&leader).await, []);
    // Nothing of it stands in the way of the same again.
    leader.commit(vec![submit(vec![job.clone()]), lease]).await;
    assert_eq!(leader.job(job.id).await.state, State::Running);
}

/// A client sends its request again, a worker is free, and the leader cannot know better.
pub(super) async fn a_lease_of_a_submission_that_was_nothing_new_is_void(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let first = leader.new_job(unique("a", "k", HOUR));
    let held = first.id;
    let keyed = submit_keyed(&leader, 1, vec![first]);
    leader.commit(vec![keyed]).await;
    let (replayed, reused, duplicate) =
        (leader.new_job(spec("b")), leader.new_job(spec("b")), leader.new_job(unique("a", "k", HOUR)));
    let ids = [replayed.id, reused.id, duplicate.id];
    let submissions = [
        (submit_keyed(&leader, 1, vec![replayed]), Submitted::Replayed(vec![Intake::Created(held)])),
        (submit_keyed(&leader, 2, vec![reused]), Submitted::KeyReused),
        (submit(vec![duplicate]), Submitted::Accepted(vec![Intake::Duplicate(held)])),
    ];
    let mut void = Vec::new();
    for ((submission, answer), id) in submissions.into_iter().zip(ids) {
        let assignment = leader.assignment(session, &[id]);
        let changes = vec![submission, Change::Assign(assignment.clone())];
        let expected = [Applied::Submitted(answer), Applied::Done];
        assert_eq!(leader.commit(changes.clone()).await, expected);
        // As after a lost answer.
        let again = Batch::new(leader.number, changes);
        assert_eq!(leader.store.commit(leader.term, Arc::new(again)).await.unwrap(), expected);
        assert_eq!(assignments(&leader).await, [], "it leaves nothing behind");
        void.push(assignment);
    }
    assert_eq!(leader.list(everything()).await, [held], "and creates nothing");
    let standing = Standing { attempt: 1, burnt: 1, lost: 0 };
    let after = After::Final { standing, end: leader.succeeded() };
    let end = leader.end(&void[0], 0, 1, Outcome::Ok, after);
    assert!(leader.refused(vec![Change::End(end)]).await.contains("not live"), "it has ended already");
    leader.commit(vec![Change::CloseSession(session, leader.now)]).await;
}

pub(super) async fn an_assignment_with_a_void_lease_goes_with_the_last_of_the_others(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let held = leader.submit(unique("a", "k", HOUR)).await;
    let jobs = vec![
        leader.new_job(spec("b")),
        leader.new_job(unique("a", "k", HOUR)),
        leader.new_job(spec("b")),
        leader.new_job(spec("b")),
    ];
    let [one, void, two, three] = [jobs[0].id, jobs[1].id, jobs[2].id, jobs[3].id];
    let assignment = leader.assignment(session, &[one, void, two]);
    let changes = vec![submit(jobs), Change::Assign(assignment.clone())];
    let intake =
        vec![Intake::Created(one), Intake::Duplicate(held), Intake::Created(two), Intake::Created(three)];
    let accepted = Applied::Submitted(Submitted::Accepted(intake));
    assert_eq!(leader.commit(changes).await, [accepted, Applied::Done]);
    // Whole: the fences of the others follow from their positions.
    assert_eq!(assignments(&leader).await, std::slice::from_ref(&assignment));
    assert_eq!(leader.job(three).await.state, State::Queued);
    for (place, id) in [(2, two), (0, one)] {
        assert_eq!(leader.job(id).await.state, State::Running);
        assert!(
            leader.refused(vec![Change::CloseSession(session, leader.now)]).await.contains("has not ended")
        );
        let standing = Standing { attempt: 1, burnt: 1, lost: 0 };
        let after = After::Final { standing, end: leader.succeeded() };
        let end = leader.end(&assignment, place, 1, Outcome::Ok, after);
        leader.commit(vec![Change::End(end)]).await;
    }
    assert_eq!(assignments(&leader).await, []);
    leader.commit(vec![Change::CloseSession(session, leader.now)]).await;
}

/// A void lease is the one exception; whatever else names a job that is not live is a bug of the leader.
pub(super) async fn only_a_submission_before_it_in_the_batch_excuses_a_lease(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    leader.submit(unique("a", "k", HOUR)).await;
    let job = leader.new_job(unique("a", "k", HOUR));
    let again = submit(vec![job.clone()]);
    let lease = Change::Assign(leader.assignment(session, &[job.id]));
    assert!(leader.refused(vec![lease.clone(), again.clone()]).await.contains("not live"), "behind it");
    leader.commit(vec![again.clone()]).await;
    assert!(leader.refused(vec![lease]).await.contains("not live"), "in an earlier batch");
    let stranger = leader.job_id();
    let nobody = leader.assignment(session, &[job.id, stranger]);
    assert!(leader.refused(vec![again.clone(), Change::Assign(nobody)]).await.contains("not live"));
    // The session and the fences are looked at as always.
    let closed = leader.open_session().await;
    leader.commit(vec![Change::CloseSession(closed, leader.now)]).await;
    let to_nobody = Change::Assign(leader.assignment(closed, &[job.id]));
    assert!(leader.refused(vec![again.clone(), to_nobody]).await.contains("not open"));
    let other = leader.submit(spec("b")).await;
    let given = leader.assign(session, &[other]).await;
    let mut known = leader.assignment(session, &[job.id]);
    known.first = given.first;
    assert!(leader.refused(vec![again, Change::Assign(known)]).await.contains("given before"));
}

/// A job that lives, and one that is over, are no less so because a submission names them once more.
pub(super) async fn a_job_that_exists_is_leased_by_its_own_rules_however_often_it_is_named(
    store: Arc<dyn Store>,
) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let (live, over) = (leader.submit(spec("a")).await, leader.submit(spec("a")).await);
    leader.run_to(session, over, leader.succeeded()).await;
    let keyed = leader.new_job(spec("a"));
    let answered = submit_keyed(&leader, 1, vec![keyed.clone()]);
    leader.commit(vec![answered]).await;
    let name = |id| submit_keyed(&leader, 1, vec![NewJob { id, ..keyed.clone() }]);
    let (name_live, name_over) = (name(live), name(over));
    let lease = Change::Assign(leader.assignment(session, &[over]));
    assert!(leader.refused(vec![name_over, lease]).await.contains("not live"));
    let lease = leader.assignment(session, &[live]);
    leader.commit(vec![name_live.clone(), Change::Assign(lease.clone())]).await;
    assert_eq!(leader.job(live).await.state, State::Running);
    assert_eq!(assignments(&leader).await, [lease]);
    let second = Change::Assign(leader.assignment(session, &[live]));
    assert!(leader.refused(vec![name_live, second]).await.contains("leased under"));
}
