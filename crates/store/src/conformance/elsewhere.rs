//! What users' transactions may do, as far as the leader's batches tell of it.

use std::sync::Arc;

use ganger_core::change::{After, Applied, Batch, Change, End, InboxOrigin, Submission};
use ganger_core::job::State;
use ganger_core::kind::KindSettings;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;

use super::leader::{Leader, spec};
use crate::store::Store;

pub(super) async fn kind_settings_read_back(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let settings = KindSettings::default();
    leader.commit(vec![Change::PutKind("b".parse().unwrap(), settings)]).await;
    leader.commit(vec![Change::PutKind("a".parse().unwrap(), settings)]).await;
    leader.commit(vec![Change::PutKind("b".parse().unwrap(), settings)]).await;
    let mut kinds = leader.store.load().await.unwrap().kinds;
    kinds.sort_by(|x, y| x.0.cmp(&y.0));
    assert_eq!(kinds, [("a".parse().unwrap(), settings), ("b".parse().unwrap(), settings)]);
}

/// A store that users' transactions do not reach says so, and keeps what it had.
pub(super) async fn a_kind_is_transactional_or_the_store_says_that_it_cannot_be(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let settings = KindSettings { transactional: true };
    let applied = leader.commit_one(Change::PutKind("a".parse().unwrap(), settings)).await;
    let kinds = leader.store.load().await.unwrap().kinds;
    if applied == Applied::NoTransactions {
        assert_eq!(kinds, []);
    } else {
        assert_eq!(applied, Applied::Done);
        assert_eq!(kinds, [("a".parse().unwrap(), settings)]);
    }
}

pub(super) async fn a_lease_remembers_that_it_is_transactional(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let (a, b) = (leader.submit(spec("a")).await, leader.submit(spec("b")).await);
    let mut assignment = leader.assignment(session, &[a, b]);
    assignment.leases[1].transactional = true;
    leader.commit(vec![Change::Assign(assignment.clone())]).await;
    assert_eq!(leader.store.load().await.unwrap().assignments, [assignment]);
}

pub(super) async fn a_transactional_lease_can_end_like_any_other(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    let mut assignment = leader.assignment(session, &[id]);
    assignment.leases[0].transactional = true;
    leader.commit(vec![Change::Assign(assignment.clone())]).await;
    let end = leader.end(&assignment, 0, 1, Outcome::Ok, over(leader.succeeded()));
    assert_eq!(leader.commit_one(Change::End(end)).await, Applied::Done);
    assert_eq!(leader.job(id).await.state, State::Succeeded);
    assert_eq!(leader.store.load().await.unwrap().assignments, []);
}

/// Only a transactional lease can have ended elsewhere; of any other it is a contradiction.
pub(super) async fn the_end_of_a_job_that_is_gone_is_answered_with_how_it_ended(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    for keep in [true, false] {
        let id = leader.submit(spec("a")).await;
        let mut assignment = leader.assignment(session, &[id]);
        assignment.leases[0].transactional = true;
        leader.commit(vec![Change::Assign(assignment.clone())]).await;
        let how = End { keep, ..leader.succeeded() };
        let end = leader.end(&assignment, 0, 1, Outcome::Ok, over(how));
        leader.commit(vec![Change::End(end.clone())]).await;
        let mut plain = end.clone();
        plain.transactional = false;
        assert!(leader.refused(vec![Change::End(plain)]).await.contains("not live"));
        let elsewhere = Applied::EndedElsewhere { state: State::Succeeded, kept: keep };
        assert_eq!(twice(&mut leader, Change::End(end)).await, elsewhere);
    }
}

pub(super) async fn a_row_that_is_not_in_the_inbox_was_taken_in_before(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let before = leader.store.load().await.unwrap();
    for refused in [None, Some("it cannot be run".to_owned())] {
        let jobs = vec![leader.new_job(spec("a"))];
        let inbox = Some(InboxOrigin { row: 1, refused });
        let submission = Submission { idempotency: None, jobs, inbox };
        assert_eq!(twice(&mut leader, Change::Submit(submission)).await, Applied::Taken);
    }
    assert_eq!(leader.store.load().await.unwrap(), before);
}

fn over(end: End) -> After {
    After::Final { standing: Standing { attempt: 1, burnt: 1, lost: 0 }, end }
}

/// Commits a change, and again as after a lost answer, which must be the same.
async fn twice(leader: &mut Leader, change: Change) -> Applied {
    let first = leader.commit_one(change.clone()).await;
    let batch = Batch::new(leader.number, vec![change]);
    let again = leader.store.commit(leader.term, Arc::new(batch)).await.unwrap();
    assert_eq!(again, std::slice::from_ref(&first));
    first
}
