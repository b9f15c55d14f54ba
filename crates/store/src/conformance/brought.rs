//! Payloads that come along with the leases of their jobs.

use std::sync::Arc;

use ganger_core::JobId;
use ganger_core::change::{Applied, Batch, Change};
use ganger_core::job::JobSpec;
use ganger_core::outcome::Outcome;

use super::attempts::again;
use super::leader::Leader;
use crate::store::{CommitError, Committed, Store, StoreError};

fn with_payload(payload: &str) -> JobSpec {
    let mut spec = JobSpec::new("a".parse().unwrap());
    payload.clone_into(&mut spec.payload);
    spec
}

async fn bring(leader: &Leader, change: Change, wanted: &[JobId]) -> Result<Committed, CommitError> {
    let batch = Batch::new(leader.number + 1, vec![change]);
    leader.store.commit_and_bring(leader.term, Arc::new(batch), &|| wanted.to_vec()).await
}

/// A store may bring none; but what it brings is wanted, is leased, and is what the job was submitted with.
pub(super) async fn what_comes_along_is_a_payload_that_is_wanted_and_leased(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let large = format!("\"{}\"", "x".repeat(100_000));
    let mut ids = Vec::new();
    for payload in ["{\"n\": 1}", &large, "{\"n\": 3}", "{\"n\": 4}"] {
        ids.push(leader.submit(with_payload(payload)).await);
    }
    let [small, large, not_wanted, not_leased] = ids[..] else { panic!("{ids:?}") };
    let lease = Change::Assign(leader.assignment(session, &[small, large, not_wanted]));
    let wanted = [small, large, not_leased, leader.job_id()];
    // The second time it was applied before, and is answered all the same.
    for _ in 0..2 {
        let committed = bring(&leader, lease.clone(), &wanted).await.unwrap();
        assert_eq!(committed.applied, [Applied::Done]);
        for (job, payload) in &committed.payloads {
            assert!([small, large].contains(job), "{job} came along");
            assert_eq!(leader.job(*job).await.spec.payload, *payload);
        }
    }
}

/// Whether a job can be leased is looked at with the same care, whoever wants its payload.
pub(super) async fn wanting_a_payload_excuses_no_lease(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let live = leader.submit(with_payload("1")).await;
    let leased = leader.submit(with_payload("2")).await;
    let lease = Change::Assign(leader.assignment(session, &[leased]));
    leader.commit(vec![lease]).await;
    let stranger = leader.job_id();
    for jobs in [vec![stranger], vec![live, stranger], vec![leased], vec![leased, live]] {
        let lease = Change::Assign(leader.assignment(session, &jobs));
        let refused = bring(&leader, lease, &jobs).await;
        let failed = matches!(&refused, Err(CommitError::Refused(StoreError::Failed(_))));
        assert!(failed, "{jobs:?}: {refused:?}");
    }
    // Nor is a fence that is not later than the last one good enough.
    let (early, late) = (leader.assignment(session, &[live]), leader.assign(session, &[live]).await);
    let end = leader.end(&late, 0, 1, Outcome::Error, again(&leader, 1));
    leader.commit(vec![Change::End(end)]).await;
    assert!(bring(&leader, Change::Assign(early), &[live]).await.is_err());
    let lease = Change::Assign(leader.assignment(session, &[live]));
    assert!(bring(&leader, lease, &[live]).await.is_ok());
}
