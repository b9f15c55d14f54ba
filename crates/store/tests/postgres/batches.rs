//! Batches larger than those of the suite, which take other ways into the database.

use ganger_core::change::{Applied, Intake, NewJob, Submitted};
use ganger_store::{CommitError, Store};

use crate::support::{Leader, fresh, submission};

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
