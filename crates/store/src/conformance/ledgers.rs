//! Idempotency keys and unique keys.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{
    Applied, Change, End, Finish, Idempotency, Intake, NewJob, Replayed, Submission, Submitted,
};
use ganger_core::limits;
use ganger_core::rules::Death;

use super::leader::{Leader, everything, spec, unique};
use crate::store::Store;

const HOUR: Duration = Duration::from_secs(3600);

async fn submit_keyed(leader: &mut Leader, scope: &str, fingerprint: u8, jobs: Vec<NewJob>) -> Submitted {
    let until = leader.now + HOUR;
    let idempotency =
        Idempotency { scope: scope.into(), key: "key".into(), fingerprint: [fingerprint; 32], until };
    let applied = leader
        .commit_one(Change::Submit(Submission { idempotency: Some(idempotency), jobs, inbox: None }))
        .await;
    let Applied::Submitted(submitted) = applied else { panic!("{applied:?}") };
    submitted
}

/// A client sends its request twice, because the first answer was lost.
pub(super) async fn an_idempotency_key_gives_the_same_answer(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let held = leader.submit(unique("a", "k", HOUR)).await;
    let jobs = vec![leader.new_job(spec("b")), leader.new_job(unique("a", "k", HOUR))];
    let answer = vec![Intake::Created(jobs[0].id), Intake::Duplicate(held)];
    assert_eq!(submit_keyed(&mut leader, "me", 1, jobs).await, Submitted::Accepted(answer.clone()));
    let again = vec![leader.new_job(spec("b")), leader.new_job(unique("a", "k", HOUR))];
    assert_eq!(submit_keyed(&mut leader, "me", 1, again).await, Submitted::Replayed(answer));
    assert_eq!(leader.list(everything()).await.len(), 2);
}

pub(super) async fn an_idempotency_key_with_another_request_takes_nothing_in(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let jobs = vec![leader.new_job(spec("a"))];
    submit_keyed(&mut leader, "me", 1, jobs).await;
    let other = vec![leader.new_job(spec("b"))];
    assert_eq!(submit_keyed(&mut leader, "me", 2, other).await, Submitted::KeyReused);
    assert_eq!(leader.list(everything()).await.len(), 1);
}

pub(super) async fn an_idempotency_key_that_ran_out_is_new_again(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let jobs = vec![leader.new_job(spec("a"))];
    submit_keyed(&mut leader, "me", 1, jobs).await;
    leader.pass(HOUR - Duration::from_micros(1));
    let early = vec![leader.new_job(spec("a"))];
    assert!(matches!(submit_keyed(&mut leader, "me", 1, early).await, Submitted::Replayed(_)));
    leader.pass(Duration::from_micros(1));
    let late = vec![leader.new_job(spec("b"))];
    let answer = vec![Intake::Created(late[0].id)];
    assert_eq!(submit_keyed(&mut leader, "me", 2, late).await, Submitted::Accepted(answer.clone()));
    let again = vec![leader.new_job(spec("b"))];
    assert_eq!(submit_keyed(&mut leader, "me", 2, again).await, Submitted::Replayed(answer));
}

pub(super) async fn idempotency_keys_of_two_callers_never_meet(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    for caller in ["alice", "bob"] {
        let jobs = vec![leader.new_job(spec("a"))];
        assert!(matches!(submit_keyed(&mut leader, caller, 1, jobs).await, Submitted::Accepted(_)));
    }
}

pub(super) async fn a_unique_key_is_held_while_its_job_lives(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let first = leader.submit(unique("a", "k", Duration::ZERO)).await;
    for _ in 0..2 {
        let second = leader.new_job(unique("a", "k", Duration::ZERO));
        assert_eq!(leader.submit_all(vec![second]).await, [Intake::Duplicate(first)]);
    }
    leader.run_to(session, first, leader.succeeded()).await;
    leader.submit(unique("a", "k", Duration::ZERO)).await;
}

pub(super) async fn two_jobs_of_one_submission_share_a_unique_key(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let twins: Vec<_> = (0..2).map(|_| leader.new_job(unique("a", "k", HOUR))).collect();
    let first = twins[0].id;
    assert_eq!(leader.submit_all(twins).await, [Intake::Created(first), Intake::Duplicate(first)]);
    assert_eq!(leader.list(everything()).await, [first]);
}

pub(super) async fn a_unique_key_is_scoped_by_kind(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    leader.submit(unique("a", "k", HOUR)).await;
    leader.submit(unique("b", "k", HOUR)).await;
    leader.submit(unique("a", "l", HOUR)).await;
}

pub(super) async fn success_holds_a_unique_key_as_long_as_asked(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let first = leader.submit(unique("a", "k", HOUR)).await;
    leader.run_to(session, first, leader.succeeded()).await;
    leader.pass(HOUR - Duration::from_micros(1));
    let early = leader.new_job(unique("a", "k", HOUR));
    assert_eq!(leader.submit_all(vec![early]).await, [Intake::Duplicate(first)]);
    leader.pass(Duration::from_micros(1));
    leader.submit(unique("a", "k", HOUR)).await;
}

pub(super) async fn death_and_cancellation_free_a_unique_key(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let dead = leader.submit(unique("a", "k", HOUR)).await;
    leader.run_to(session, dead, leader.dead()).await;
    let cancelled = leader.submit(unique("a", "k", HOUR)).await;
    leader.commit(vec![Change::Finish(Finish { job: cancelled, end: leader.cancelled() })]).await;
    leader.submit(unique("a", "k", HOUR)).await;
}

/// A key without an end outlives everything, the job itself included.
pub(super) async fn success_holds_a_unique_key_for_ever_if_asked(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let first = leader.submit(unique("a", "k", limits::FOREVER)).await;
    leader.run_to(session, first, leader.succeeded()).await;
    let unkept = leader.submit(unique("a", "l", limits::FOREVER)).await;
    leader.run_to(session, unkept, End { keep: false, ..leader.succeeded() }).await;
    leader.pass(Duration::from_secs(1_000 * 366 * 24 * 3600));
    for (key, holder) in [("k", first), ("l", unkept)] {
        let late = leader.new_job(unique("a", key, limits::FOREVER));
        assert_eq!(leader.submit_all(vec![late]).await, [Intake::Duplicate(holder)], "{key}");
    }
}

/// The mail may be on its way: whoever asks for it again gets the job that nobody knows about, until a person decides.
pub(super) async fn a_death_that_nobody_knows_about_holds_a_unique_key_like_success(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    for keep in [true, false] {
        let first = leader.submit(unique("a", "k", HOUR)).await;
        let reason = Some(Death::Unknown.reason().to_owned());
        leader.run_to(session, first, End { reason, keep, ..leader.dead() }).await;
        leader.pass(HOUR - Duration::from_micros(1));
        let early = leader.new_job(unique("a", "k", HOUR));
        assert_eq!(leader.submit_all(vec![early]).await, [Intake::Duplicate(first)], "{keep}");
        if keep {
            let replay = leader.replay(first);
            assert!(matches!(leader.commit_one(replay).await, Applied::Replayed(Replayed::Live(..))));
            leader.run_to(session, first, leader.dead()).await;
            continue;
        }
        leader.pass(Duration::from_micros(1));
        leader.submit(unique("a", "k", HOUR)).await;
    }
    let free = leader.submit(unique("a", "other", Duration::ZERO)).await;
    let reason = Some(Death::Unknown.reason().to_owned());
    leader.run_to(session, free, End { reason, ..leader.dead() }).await;
    leader.submit(unique("a", "other", Duration::ZERO)).await;
}

pub(super) async fn replay_claims_a_unique_key_again(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let first = leader.submit(unique("a", "k", HOUR)).await;
    leader.run_to(session, first, leader.dead()).await;
    let second = leader.submit(unique("a", "k", HOUR)).await;
    let replay = leader.replay(first);
    let held = Applied::Replayed(Replayed::UniqueHeld(second));
    assert_eq!(leader.commit_one(replay).await, held);
    // After success the key is still the second one's, who may take it back itself.
    leader.run_to(session, second, leader.succeeded()).await;
    let replay = leader.replay(first);
    assert_eq!(leader.commit_one(replay).await, held);
    let replay = leader.replay(second);
    assert!(matches!(leader.commit_one(replay).await, Applied::Replayed(Replayed::Live(..))));
    leader.run_to(session, second, leader.dead()).await;
    let replay = leader.replay(first);
    assert!(matches!(leader.commit_one(replay).await, Applied::Replayed(Replayed::Live(..))));
    let third = leader.new_job(unique("a", "k", HOUR));
    assert_eq!(leader.submit_all(vec![third]).await, [Intake::Duplicate(first)]);
}

pub(super) async fn an_id_is_used_once(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let job = leader.new_job(spec("a"));
    let submit = Change::Submit(Submission { idempotency: None, jobs: vec![job.clone()], inbox: None });
    leader.refused(vec![submit.clone(), submit.clone()]).await;
    leader.commit(vec![submit.clone()]).await;
    leader.refused(vec![submit.clone()]).await;
    leader.run_to(session, job.id, leader.succeeded()).await;
    leader.refused(vec![submit]).await;
}
