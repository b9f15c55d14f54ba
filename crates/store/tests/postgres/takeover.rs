//! Taking over from a leader that sleeps, and going on after a lost answer.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{Applied, Batch, Intake, Submitted};
use ganger_store::shared::{Candidate, Election, SharedStore};
use ganger_store::testing::{Durability, Postgres};
use ganger_store::{CommitError, PgOptions, PgStore, Store, StoreError};
use tokio::time::timeout;

use crate::support::{Leader, connect, fresh, open, submission};

const LONG: Duration = Duration::from_secs(30);

/// A leader is stopped between the first and the last statement of a transaction: it holds the guard.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_sleeps_in_a_transaction_is_taken_over_from() {
    let (alice, url) = fresh().await;
    let mut leader = Leader::begin(&alice).await;
    leader.submit(1).await;
    let sleeper = connect(&url).await;
    let (number, id) = (leader.term.number.cast_signed(), leader.term.id.cast_signed());
    sleeper.batch_execute("BEGIN").await.unwrap();
    sleeper.execute("SELECT ganger.begin_batch($1, $2, 3)", &[&number, &id]).await.unwrap();
    let expire = "UPDATE ganger.leader SET renewed_at = renewed_at - interval '1 hour'";
    connect(&url).await.batch_execute(expire).await.unwrap();

    let bob = open(&url).await;
    let candidate = Candidate { server: "bob".into(), address: String::new(), ttl: LONG };
    let stood = timeout(LONG, bob.stand(&candidate, 0)).await.unwrap().unwrap();
    let Election::Leads(term) = stood else { panic!("{stood:?}") };
    assert!(sleeper.batch_execute("COMMIT").await.is_err());
    Leader::of_term(&bob, term).await.submit(1).await;
    assert_eq!(bob.load().await.unwrap().jobs.len(), 2);
}

/// The answer to a commit is lost with its connection; sent again, it is answered as if nothing had happened.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_settled_by_sending_it_again_after_its_connection_was_lost() {
    let (alice, url) = fresh().await;
    let mut leader = Leader::begin(&alice).await;
    let killer = connect(&url).await;
    let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND datname = current_database() AND application_name = 'ganger'";
    for _ in 0..20 {
        let job = leader.new_job("null");
        let id = job.id;
        let batch = Arc::new(Batch::new(leader.number + 1, vec![submission(vec![job])]));
        let (commit, _) =
            tokio::join!(alice.commit(leader.term, Arc::clone(&batch)), killer.query(kill, &[]));
        let mut outcome = commit;
        let mut doubted = false;
        while let Err(error) = &outcome {
            match error {
                CommitError::Unknown(_) => doubted = true,
                CommitError::Refused(StoreError::Unavailable(_)) => {
                    assert!(!doubted, "in doubt, nothing but a commit settles it: {error}");
                }
                CommitError::Refused(_) | CommitError::TermLost => panic!("{error}"),
            }
            outcome = alice.commit(leader.term, Arc::clone(&batch)).await;
        }
        let created = Applied::Submitted(Submitted::Accepted(vec![Intake::Created(id)]));
        assert_eq!(outcome, Ok(vec![created]));
        leader.number += 1;
    }
    assert_eq!(alice.load().await.unwrap().jobs.len(), 20);
}

/// A copy of a batch is still under way in a connection that was given up when the batch is sent again.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_waits_for_its_copy_that_is_under_way_and_is_applied_once() {
    let (alice, url) = fresh().await;
    let mut leader = Leader::begin(&alice).await;
    let job = leader.new_job("null");
    let id = job.id;
    let copy = connect(&url).await;
    let (number, term_id) = (leader.term.number.cast_signed(), leader.term.id.cast_signed());
    copy.batch_execute("BEGIN").await.unwrap();
    copy.execute("SELECT ganger.begin_batch($1, $2, 2)", &[&number, &term_id]).await.unwrap();
    let sending = tokio::spawn({
        let (alice, term) = (alice.clone(), leader.term);
        let batch = Arc::new(Batch::new(leader.number + 1, vec![submission(vec![job])]));
        async move { alice.commit(term, batch).await }
    });
    let client = connect(&url).await;
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    timeout(LONG, async {
        while client.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            assert!(!sending.is_finished(), "it did not wait");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap();
    // The copy did all that there was to do; here that is nothing but to take the number.
    copy.batch_execute("UPDATE ganger.batch SET number = 2; COMMIT").await.unwrap();
    let created = Applied::Submitted(Submitted::Accepted(vec![Intake::Created(id)]));
    assert_eq!(sending.await.unwrap(), Ok(vec![created]));
    assert_eq!(alice.load().await.unwrap().jobs, []);
}

/// The database stops answering with its connections open, as when its machine is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_database_leaves_a_batch_in_doubt_until_it_answers() {
    let cluster = Postgres::start_with(Durability::None);
    let url = cluster.migrated_database().await;
    let store = open(&url).await;
    let mut leader = Leader::begin(&store).await;
    leader.submit(1).await;
    let job = leader.new_job("null");
    let batch = Arc::new(Batch::new(leader.number + 1, vec![submission(vec![job])]));
    cluster.pause();
    let silent = timeout(LONG, store.commit(leader.term, Arc::clone(&batch))).await.unwrap();
    assert!(matches!(silent, Err(CommitError::Unknown(_))), "{silent:?}");
    let renewed = timeout(LONG, store.renew(leader.term)).await.unwrap();
    assert!(matches!(renewed, Err(CommitError::Unknown(_) | CommitError::Refused(_))), "{renewed:?}");
    // There is no way to connect either; the doubt stays.
    let silent = timeout(LONG, store.commit(leader.term, Arc::clone(&batch))).await.unwrap();
    assert!(matches!(silent, Err(CommitError::Unknown(_))), "{silent:?}");
    cluster.resume();
    timeout(LONG, async {
        while store.commit(leader.term, Arc::clone(&batch)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .unwrap();
    store.renew(leader.term).await.unwrap();
    assert_eq!(store.load().await.unwrap().jobs.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_there_is_said_to_be_unavailable() {
    let cluster = Postgres::start_with(Durability::None);
    let url = cluster.migrated_database().await;
    let store = open(&url).await;
    let leader = Leader::begin(&store).await;
    drop(cluster);
    let refused = leader.try_commit(vec![]).await;
    assert!(matches!(
        refused,
        Err(CommitError::Refused(StoreError::Unavailable(_)) | CommitError::Unknown(_))
    ));
    assert!(matches!(store.load().await, Err(StoreError::Unavailable(_))));
    let error = PgStore::connect(&PgOptions::new(url)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
}
