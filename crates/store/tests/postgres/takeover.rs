//! Taking over from a leader that sleeps, and going on after a lost answer.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{Applied, Batch, Intake, Submitted};
use ganger_core::sending::{Sending, Verdict};
use ganger_store::shared::{Candidate, Election, SharedStore};
use ganger_store::testing::{Durability, Postgres};
use ganger_store::{CommitError, PgOptions, PgStore, Store, StoreError, heard};
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

/// Two batches are under way when their connection is lost. Sent again as a server does, each is applied once.
#[tokio::test(flavor = "multi_thread")]
async fn two_batches_are_settled_by_sending_them_again_after_their_connection_was_lost() {
    let (alice, url) = fresh().await;
    let mut leader = Leader::begin(&alice).await;
    let killer = connect(&url).await;
    let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND datname = current_database() AND application_name = 'ganger'";
    let (mut doubted, mut both_stood) = (0, 0);
    for round in 0..60 {
        let jobs = [leader.new_job("null"), leader.new_job("null")];
        let ids = [jobs[0].id, jobs[1].id];
        let numbers = leader.number + 1..;
        let batches: Vec<_> = numbers
            .zip(jobs)
            .map(|(number, job)| Arc::new(Batch::new(number, vec![submission(vec![job])])))
            .collect();
        let commit = |nth: usize| alice.commit(leader.term, Arc::clone(&batches[nth]));
        let killing = async {
            tokio::time::sleep(Duration::from_micros(round * 50)).await;
            killer.query(kill, &[]).await
        };
        let (first, second, _) = tokio::join!(commit(0), commit(1), killing);
        let mut sending = Sending::default();
        for batch in &batches {
            sending.add(batch.number);
            assert_eq!(sending.send(), Some(batch.number));
        }
        sending.hear(batches[0].number, heard(&first));
        sending.hear(batches[1].number, heard(&second));
        doubted += u32::from(sending.is_in_doubt());
        let mut answers = vec![first, second];
        while !sending.is_empty() {
            match sending.verdict() {
                Some(Verdict::NotWritten) => {
                    sending.add(batches[0].number);
                    sending.add(batches[1].number);
                }
                Some(Verdict::Written | Verdict::SendAgain) | None => {}
                Some(verdict @ (Verdict::TermLost | Verdict::BeginAgain)) => {
                    panic!("{verdict:?}: {answers:?}")
                }
            }
            while let Some(number) = sending.send() {
                let nth = usize::from(number == batches[1].number);
                both_stood += u32::from(nth == 0 && answers[1].is_ok());
                answers[nth] = commit(nth).await;
                sending.hear(number, heard(&answers[nth]));
            }
        }
        let created = |nth: usize| Applied::Submitted(Submitted::Accepted(vec![Intake::Created(ids[nth])]));
        assert_eq!(answers, [Ok(vec![created(0)]), Ok(vec![created(1)])]);
        leader.number += 2;
    }
    assert_eq!(alice.load().await.unwrap().jobs.len(), 120);
    println!("{doubted} pairs in doubt; {both_stood} times the second was known to stand before the first");
}

/// Nobody waits for the answers to two batches, and both are written: each is told what it came to when it is sent again.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_in_doubt_is_answered_again_although_another_followed_it() {
    let (alice, url) = fresh().await;
    let mut leader = Leader::begin(&alice).await;
    let looker = connect(&url).await;
    let mut doubted = 0;
    for _ in 0..100 {
        if doubted == 5 {
            break;
        }
        leader.submit(1).await;
        let jobs = [leader.new_job("null"), leader.new_job("null")];
        let created =
            jobs.each_ref().map(|job| Applied::Submitted(Submitted::Accepted(vec![Intake::Created(job.id)])));
        let numbers = [leader.number + 1, leader.number + 2];
        let [one, two] = jobs.map(|job| vec![submission(vec![job])]);
        let batches = [Batch::new(numbers[0], one), Batch::new(numbers[1], two)].map(Arc::new);
        let mut commits = batches.each_ref().map(|batch| alice.commit(leader.term, Arc::clone(batch)));
        // Sent when they are polled first. The answer may be there at once, if the machine is busy; then nothing is in doubt.
        let mut answered = [false; 2];
        for (commit, answered) in commits.iter_mut().zip(&mut answered) {
            *answered = futures::poll!(commit).is_ready();
        }
        drop(commits);
        let last = "SELECT number FROM ganger.batch";
        let written = async {
            while looker.query_one(last, &[]).await.unwrap().get::<_, i64>(0) < numbers[1].cast_signed() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(LONG, written).await.expect("both are written");
        for ((batch, created), answered) in batches.iter().zip(created).zip(answered) {
            if !answered {
                assert_eq!(alice.commit(leader.term, Arc::clone(batch)).await, Ok(vec![created]));
            }
        }
        leader.number += 2;
        doubted += u64::from(answered == [false; 2]);
    }
    assert_eq!(doubted, 5, "two in doubt, five times");
    // Each of the batches but the first, which opened a session, is a job.
    assert_eq!(alice.load().await.unwrap().jobs.len() as u64, leader.number - 1);
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
