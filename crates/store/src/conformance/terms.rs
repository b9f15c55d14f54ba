//! The term guard and the numbering of batches.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::Term;
use ganger_core::change::{After, Applied, Batch, Change, Intake, Replayed, Submission, Submitted};
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;

use super::leader::{Leader, everything, spec, unique};
use crate::conformance::dump;
use crate::store::{CommitError, Store};

pub(super) async fn a_term_is_larger_than_every_earlier_one_and_than_what_was_asked_for(
    store: Arc<dyn Store>,
) {
    let first = store.take_over("a", 0).await.unwrap();
    let second = store.take_over("b", 0).await.unwrap();
    let third = store.take_over("c", 40).await.unwrap();
    assert_eq!((first.number, second.number, third.number), (1, 2, 41));
    assert_ne!(first.id, second.id);
}

pub(super) async fn a_deposed_leader_changes_nothing(store: Arc<dyn Store>) {
    let mut old = Leader::begin(Arc::clone(&store)).await;
    let kept = old.submit(spec("a")).await;
    let mut new = Leader::begin(Arc::clone(&store)).await;
    let job = old.new_job(spec("b"));
    let submission = Change::Submit(Submission { idempotency: None, jobs: vec![job], inbox: None });
    for number in [1, old.number, old.number + 1, old.number + 2] {
        let batch = Batch::new(number, vec![submission.clone()]);
        assert_eq!(store.commit(old.term, Arc::new(batch)).await, Err(CommitError::TermLost));
    }
    assert_eq!(new.list(everything()).await, [kept]);
    new.commit(vec![]).await;
}

pub(super) async fn two_terms_of_one_number_are_told_apart(store: Arc<dyn Store>) {
    let term = store.take_over("a", 0).await.unwrap();
    let other = Term { number: term.number, id: term.id.wrapping_add(1) };
    let batch = Arc::new(Batch::new(1, vec![]));
    assert_eq!(store.commit(other, Arc::clone(&batch)).await, Err(CommitError::TermLost));
    assert_eq!(store.commit(term, batch).await, Ok(vec![]));
}

/// The answer to a commit is lost; the leader sends it again, and again.
pub(super) async fn a_number_is_applied_once_and_answered_again(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.session();
    let job = leader.new_job(spec("a"));
    let id = job.id;
    let changes = vec![
        Change::Submit(Submission { idempotency: None, jobs: vec![job], inbox: None }),
        Change::OpenSession(session),
        Change::CancelWanted(id),
    ];
    let batch = Batch::new(1, changes.clone());
    let first = leader.commit(changes).await;
    for _ in 0..2 {
        assert_eq!(store.commit(leader.term, Arc::new(batch.clone())).await, Ok(first.clone()));
    }
    assert_eq!(leader.list(everything()).await, [id]);
    leader.submit(spec("b")).await;
}

/// Answers that do not follow from the request alone: a duplicate, a replay, what was removed.
pub(super) async fn an_unusual_answer_is_also_given_again(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.open_session().await;
    let closed = leader.session();
    let dead = leader.submit(spec("a")).await;
    leader.run_to(session, dead, leader.dead()).await;
    let purged = leader.submit(spec("b")).await;
    leader.pass(Duration::from_secs(1));
    leader.run_to(session, purged, leader.dead()).await;
    let held = leader.submit(unique("a", "k", Duration::ZERO)).await;
    leader.commit(vec![Change::CloseSession(closed.id, leader.now)]).await;
    let changes = vec![
        Change::Submit(Submission {
            idempotency: None,
            jobs: vec![leader.new_job(unique("a", "k", Duration::ZERO)), leader.new_job(spec("b"))],
            inbox: None,
        }),
        leader.replay(dead),
        Change::CancelWanted(dead),
        Change::PurgeDead { queue: "default".parse().unwrap(), limit: 10 },
        leader.replay(held),
        Change::OpenSession(closed),
    ];
    let outcomes = leader.commit(changes.clone()).await;
    assert!(
        matches!(&outcomes[0], Applied::Submitted(Submitted::Accepted(i)) if i[0] == Intake::Duplicate(held))
    );
    assert!(matches!(&outcomes[1], Applied::Replayed(Replayed::Live(job, _)) if !job.cancel_wanted));
    assert!(matches!(&outcomes[3], Applied::Removed(gone) if gone[0].count == 1));
    assert_eq!(outcomes[4], Applied::Replayed(Replayed::NotFinal));
    assert_eq!(outcomes[5], Applied::SessionEverClosed);
    let before = dump(&*store, leader.now).await;
    let again = store.commit(leader.term, Arc::new(Batch::new(leader.number, changes))).await;
    assert_eq!(again, Ok(outcomes));
    assert_eq!(dump(&*store, leader.now).await, before);
}

pub(super) async fn a_number_that_does_not_follow_is_refused(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    for number in [0, 2] {
        let batch = Arc::new(Batch::new(number, vec![]));
        let refused = store.commit(leader.term, batch).await;
        assert!(matches!(refused, Err(CommitError::Refused(_))), "{number}: {refused:?}");
    }
    for _ in 0..3 {
        leader.commit(vec![]).await;
    }
    for number in [1, 5] {
        let batch = Arc::new(Batch::new(number, vec![]));
        let refused = store.commit(leader.term, batch).await;
        assert!(matches!(refused, Err(CommitError::Refused(_))), "{number}: {refused:?}");
    }
}

pub(super) async fn numbers_begin_again_with_each_term(store: Arc<dyn Store>) {
    let mut first = Leader::begin(Arc::clone(&store)).await;
    first.commit(vec![]).await;
    first.commit(vec![]).await;
    let mut second = Leader::begin(store).await;
    second.commit(vec![]).await;
    assert_eq!(second.number, 1);
}

pub(super) async fn a_refused_batch_leaves_no_trace_and_takes_no_number(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.open_session().await;
    let leased = leader.submit(spec("a")).await;
    let assignment = leader.assign(session, &[leased]).await;
    let before = dump(&*store, leader.now).await;

    let job = leader.new_job(unique("b", "k", Duration::ZERO));
    let id = job.id;
    let good = leader.assignment(session, &[id]);
    let after = After::Final { standing: Standing::default(), end: leader.succeeded() };
    let change = Change::End(leader.end(&assignment, 0, 1, Outcome::Ok, after));
    leader
        .refused(vec![
            Change::Submit(Submission { idempotency: None, jobs: vec![job.clone()], inbox: None }),
            Change::Assign(good),
            change.clone(),
            Change::CancelWanted(id),
            // It has just ended.
            change.clone(),
        ])
        .await;
    assert_eq!(dump(&*store, leader.now).await, before);
    // The same number serves, the lease is still there to end, and the unique key is free.
    leader
        .commit(vec![Change::Submit(Submission { idempotency: None, jobs: vec![job], inbox: None }), change])
        .await;
}
