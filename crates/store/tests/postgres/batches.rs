//! Batches larger than those of the suite, which take other ways into the database.

use std::sync::Arc;

use ganger_core::change::{Applied, Batch, Change, Idempotency, Intake, NewJob, Submission, Submitted};
use ganger_store::{CommitError, Store, StoreError};

use crate::support::{Leader, NOW, connect, fresh, submission};

/// Enough for COPY.
const MANY: usize = 1_200;

#[tokio::test(flavor = "multi_thread")]
async fn many_jobs_at_once_read_back_whole() {
    let (store, _) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let mut jobs: Vec<NewJob> = (0..MANY).map(|n| leader.new_job(&format!("{{\"n\": {n}}}"))).collect();
    jobs[1].spec.priority = -128;
    jobs[2].spec.run_at = Some(jobs[2].due_at);
    jobs[3].spec.payload = format!("\"{}\"", "x".repeat(100_000));
    jobs[4].spec.options.tags = vec!["red".into(), "blue".into()];
    jobs[5].spec.options.max_attempts = 1;
    leader.submit_all(jobs.clone()).await;
    for jobs in jobs.chunks(500) {
        let ids: Vec<_> = jobs.iter().map(|job| job.id).collect();
        let found = store.jobs(&ids, jobs[0].created_at).await.unwrap();
        let specs: Vec<_> = found.iter().map(|job| (&job.spec, job.seq)).collect();
        assert_eq!(specs, jobs.iter().map(|job| (&job.spec, job.seq)).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_jobs_of_which_one_is_known_are_refused_whole() {
    let (store, _) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let known = leader.new_job("null");
    leader.submit_all(vec![known.clone()]).await;
    let mut jobs: Vec<NewJob> = (0..MANY).map(|_| leader.new_job("null")).collect();
    let good = jobs.clone();
    jobs[MANY / 2] = known.clone();
    let refused = leader.try_commit(vec![submission(jobs)]).await;
    let Err(CommitError::Refused(error)) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("there is a job of that id"), "{error}");
    assert!(error.to_string().contains(&known.id.to_string()), "{error}");
    assert_eq!(store.load().await.unwrap().jobs.len(), 1);
    // The same connection goes on as if nothing had happened.
    leader.submit_all(good).await;
    assert_eq!(store.load().await.unwrap().jobs.len(), MANY + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_jobs_with_unique_keys_are_taken_in_once_each() {
    let (store, _) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let mut jobs: Vec<NewJob> = (0..MANY).map(|_| leader.new_job("null")).collect();
    for (n, job) in jobs.iter_mut().enumerate() {
        job.spec.options.unique_key = Some(format!("key-{}", n / 2));
    }
    let answer = leader.commit(vec![submission(jobs.clone())]).await;
    let expected = jobs.chunks(2).flat_map(|two| [Intake::Created(two[0].id), Intake::Duplicate(two[0].id)]);
    assert_eq!(answer, [Applied::Submitted(Submitted::Accepted(expected.collect()))]);
    assert_eq!(store.load().await.unwrap().jobs.len(), MANY / 2);
}

/// The look at the rows of jobs that are leased brings their payloads along: of those that are wanted, but for the large ones, which are not in
/// their rows. A batch that contradicts what is stored brings nothing.
#[tokio::test(flavor = "multi_thread")]
async fn payloads_come_along_with_the_look_at_their_jobs() {
    let (store, _) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let mut jobs: Vec<NewJob> = (0..MANY).map(|n| leader.new_job(&format!("{{\"n\": {n}}}"))).collect();
    jobs[3].spec.payload = format!("\"{}\"", "x".repeat(100_000));
    leader.submit_all(jobs.clone()).await;
    for some in jobs.chunks(100) {
        let ids: Vec<_> = some.iter().map(|job| job.id).collect();
        let lease = Change::Assign(leader.assignment(&ids));
        let batch = Arc::new(Batch::new(leader.number + 1, vec![lease]));
        let mut committed = store.commit_and_bring(leader.term, batch, &|| ids[..90].to_vec()).await.unwrap();
        leader.number += 1;
        committed.payloads.sort();
        let inline = some[..90].iter().filter(|job| job.spec.payload.len() < 1_000);
        let expected: Vec<_> = inline.map(|job| (job.id, job.spec.payload.clone())).collect();
        assert_eq!(committed.payloads, expected);
    }
    let leased = [jobs[0].id];
    let batch = Arc::new(Batch::new(leader.number + 1, vec![Change::Assign(leader.assignment(&leased))]));
    let refused = store.commit_and_bring(leader.term, batch, &|| leased.to_vec()).await;
    assert!(matches!(&refused, Err(CommitError::Refused(_))), "{refused:?}");
}

/// A trigger of that timing which fails as long as somebody wants it to.
async fn trouble(client: &tokio_postgres::Client, timing: &str) {
    client
        .batch_execute(&format!(
            "CREATE TABLE public.trouble (); \
             CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 IF to_regclass('public.trouble') IS NOT NULL THEN \
                     RAISE EXCEPTION 'trouble' USING ERRCODE = 'disk_full'; \
                 END IF; \
                 RETURN NULL; \
             END $$; \
             CREATE CONSTRAINT TRIGGER failing AFTER INSERT ON ganger.job {timing} \
             FOR EACH ROW EXECUTE FUNCTION fail()"
        ))
        .await
        .unwrap();
}

/// Before the commit the disk is full: nothing was written, and that is certain.
#[tokio::test(flavor = "multi_thread")]
async fn a_submission_that_fails_before_it_commits_is_refused() {
    let (store, url) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    trouble(&client, "NOT DEFERRABLE").await;
    let job = leader.new_job("null");
    let refused = leader.try_commit(vec![submission(vec![job])]).await;
    assert!(matches!(&refused, Err(CommitError::Refused(StoreError::Full(_)))), "{refused:?}");
    client.batch_execute("DROP TABLE public.trouble").await.unwrap();
    leader.submit(1).await;
    assert_eq!(store.load().await.unwrap().jobs.len(), 1);
}

/// What is said while it commits may be said after it was done: it stays in doubt until it is sent again.
#[tokio::test(flavor = "multi_thread")]
async fn a_submission_that_fails_while_it_commits_is_in_doubt_until_it_is_sent_again() {
    let (store, url) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    trouble(&client, "DEFERRABLE INITIALLY DEFERRED").await;
    let job = leader.new_job("null");
    for _ in 0..2 {
        let unknown = leader.try_commit(vec![submission(vec![job.clone()])]).await;
        assert!(matches!(&unknown, Err(CommitError::Unknown(_))), "{unknown:?}");
    }
    client.batch_execute("DROP TABLE public.trouble").await.unwrap();
    leader.submit_all(vec![job]).await;
    assert_eq!(store.load().await.unwrap().jobs.len(), 1);
}

/// Submissions with keys and first leases: as many transactions as batches, and nothing read before.
#[tokio::test(flavor = "multi_thread")]
async fn a_submission_with_its_key_and_its_lease_is_one_statement() {
    let (store, url) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    // Told after each statement of the client that wrote, and before the next one.
    client
        .batch_execute(
            "CREATE TABLE public.seen (at timestamptz, transaction xid8); \
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 INSERT INTO public.seen VALUES (statement_timestamp(), pg_current_xact_id()); RETURN NULL; \
             END $$; \
             CREATE TRIGGER seen AFTER INSERT ON ganger.job EXECUTE FUNCTION see(); \
             CREATE TRIGGER seen AFTER INSERT ON ganger.idempotency EXECUTE FUNCTION see(); \
             CREATE TRIGGER seen AFTER INSERT ON ganger.assignment EXECUTE FUNCTION see(); \
             CREATE TRIGGER seen AFTER UPDATE ON ganger.batch EXECUTE FUNCTION see()",
        )
        .await
        .unwrap();
    for n in 0..3 {
        let job = leader.new_job("null");
        let lease = Change::Assign(leader.assignment(&[job.id]));
        let until = NOW + std::time::Duration::from_secs(60);
        let key = Idempotency { scope: "ada".into(), key: format!("{n}"), fingerprint: [1; 32], until };
        let submit = Change::Submit(Submission { idempotency: Some(key), inbox: None, jobs: vec![job] });
        leader.commit(vec![submit, lease]).await;
    }
    let told = "SELECT count(*), count(DISTINCT at), count(DISTINCT transaction) FROM public.seen";
    let row = client.query_one(told, &[]).await.unwrap();
    let (writes, statements, transactions): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
    assert_eq!((writes, statements, transactions), (12, 3, 3));
}
