//! Leases, attempts, and live jobs between them.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::{After, Applied, Assignment, Change, LiveJob};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;

use super::leader::{Leader, spec};
use crate::read::LeaseView;
use crate::store::Store;

pub(super) fn again(leader: &Leader, attempt: u32) -> After {
    let standing = Standing { attempt, burnt: attempt, lost: 1 };
    After::Again { due_at: leader.now + Duration::from_secs(2), retrying: true, standing }
}

async fn loaded(leader: &Leader) -> Vec<LiveJob> {
    leader.store.load().await.unwrap().jobs
}

async fn assignments(leader: &Leader) -> Vec<Assignment> {
    leader.store.load().await.unwrap().assignments
}

pub(super) async fn a_new_job_reads_back_whole(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let mut full = spec("video.encode");
    full.queue = "gpu".parse().unwrap();
    full.priority = -3;
    full.run_at = Some(leader.now + Duration::from_secs(9));
    full.payload = "{ \"b\":1,  \"a\": \"é\\u0000\" }".into();
    full.options.threads = 8;
    full.options.tags = vec!["red".into(), "blue".into()];
    full.options.timeout = None;
    full.options.unique_key = Some("k".into());
    full.options.expires_at = Some(leader.now + Duration::from_secs(99));
    let new = leader.new_job(full.clone());
    leader.submit_all(vec![new.clone()]).await;
    let job = leader.job(new.id).await;
    assert_eq!(job.spec, full);
    assert_eq!((job.state, job.seq), (State::Scheduled, new.seq));
    assert_eq!((job.created_at, job.due_at), (new.created_at, new.due_at));
    assert_eq!((job.standing, job.cancel_wanted), (Standing::default(), false));
    assert_eq!((job.lease, job.last_attempt, job.end), (None, None, None));
    assert_eq!(loaded(&leader).await, [LiveJob::from(&new)]);
}

pub(super) async fn a_lease_makes_a_job_running_and_its_end_does_not(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    assert_eq!(leader.job(id).await.state, State::Queued);
    let assignment = leader.assign(session, &[id]).await;
    let job = leader.job(id).await;
    assert_eq!(job.state, State::Running);
    assert_eq!(job.lease, Some(LeaseView { session, attempt: 1, threads: 2, at: leader.now }));
    let end = leader.end(&assignment, 0, 1, Outcome::Error, again(&leader, 1));
    leader.commit(vec![Change::End(end)]).await;
    let job = leader.job(id).await;
    assert_eq!((job.state, job.lease), (State::Retrying, None));
    leader.pass(Duration::from_secs(2));
    assert_eq!(leader.job(id).await.state, State::Queued);
}

pub(super) async fn an_assignment_stays_until_its_last_lease_ended(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let (a, b) = (leader.submit(spec("a")).await, leader.submit(spec("b")).await);
    let assignment = leader.assign(session, &[a, b]).await;
    assert_eq!(assignments(&leader).await, std::slice::from_ref(&assignment));
    let end = leader.end(&assignment, 0, 1, Outcome::Error, again(&leader, 1));
    leader.commit(vec![Change::End(end)]).await;
    assert_eq!(assignments(&leader).await, std::slice::from_ref(&assignment));
    assert_eq!((leader.job(a).await.state, leader.job(b).await.state), (State::Retrying, State::Running));
    // The first runs again under a later fence, while its ended lease is still in the old assignment.
    let later = leader.assign(session, &[a]).await;
    assert_eq!(leader.job(a).await.state, State::Running);
    let end = leader.end(&assignment, 1, 1, Outcome::Error, again(&leader, 1));
    leader.commit(vec![Change::End(end)]).await;
    assert_eq!(assignments(&leader).await, [later]);
}

pub(super) async fn a_failed_attempt_is_kept_and_the_job_waits(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    let mut records = Vec::new();
    for number in 1..=3 {
        leader.pass(Duration::from_secs(10));
        let assignment = leader.assign(session, &[id]).await;
        let end = leader.end(&assignment, 0, number, Outcome::Timeout, again(&leader, number));
        records.extend(end.record.clone());
        leader.commit(vec![Change::End(end.clone())]).await;
        let job = leader.job(id).await;
        assert_eq!(job.last_attempt, end.record);
        assert_eq!(job.standing, Standing { attempt: number, burnt: number, lost: 1 });
        assert_eq!(job.due_at, leader.now + Duration::from_secs(2));
        assert_eq!(leader.store.attempts(id).await.unwrap(), records);
        let live = loaded(&leader).await.remove(0);
        assert_eq!((live.last_fence, live.retrying), (Some(end.fence), true));
    }
}

pub(super) async fn an_attempt_that_never_began_leaves_no_record(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    let assignment = leader.assign(session, &[id]).await;
    let after = After::Again { due_at: leader.now, retrying: false, standing: Standing::default() };
    let mut end = leader.end(&assignment, 0, 1, Outcome::Released, after);
    end.record = None;
    leader.commit(vec![Change::End(end.clone())]).await;
    assert_eq!(leader.store.attempts(id).await.unwrap(), []);
    assert_eq!(leader.job(id).await.state, State::Queued);
    assert_eq!(loaded(&leader).await[0].last_fence, Some(end.fence));
}

/// The zombie: Alice stalls, her lease is ended, Bob takes over, then Alice wakes and reports.
pub(super) async fn a_late_report_under_a_lost_lease_is_refused(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let (alice, bob) = (leader.open_session().await, leader.open_session().await);
    let id = leader.submit(spec("a")).await;
    let lost = leader.assign(alice, &[id]).await;
    let end = leader.end(&lost, 0, 1, Outcome::Lost, again(&leader, 1));
    leader.commit(vec![Change::End(end.clone())]).await;
    assert!(leader.refused(vec![Change::End(end.clone())]).await.contains("not its open lease"));
    let held = leader.assign(bob, &[id]).await;
    assert!(leader.refused(vec![Change::End(end)]).await.contains("not its open lease"));
    let mut strange = leader.end(&held, 0, 2, Outcome::Ok, again(&leader, 2));
    strange.assignment = lost.first;
    leader.refused(vec![Change::End(strange)]).await;
    leader.run_out(&held, id).await;
    let late = leader.end(&held, 0, 2, Outcome::Ok, again(&leader, 2));
    assert!(leader.refused(vec![Change::End(late)]).await.contains("not live"));
}

pub(super) async fn a_job_has_one_lease(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    let twice = leader.assignment(session, &[id, id]);
    leader.refused(vec![Change::Assign(twice)]).await;
    leader.assign(session, &[id]).await;
    let second = leader.assignment(session, &[id]);
    assert!(leader.refused(vec![Change::Assign(second)]).await.contains("leased under"));
    let unknown: JobId = leader.job_id();
    let nobody = leader.assignment(session, &[unknown]);
    assert!(leader.refused(vec![Change::Assign(nobody)]).await.contains("not live"));
}

pub(super) async fn a_fence_only_grows(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    let early = leader.assignment(session, &[id]);
    let late = leader.assign(session, &[id]).await;
    let end = leader.end(&late, 0, 1, Outcome::Error, again(&leader, 1));
    leader.commit(vec![Change::End(end)]).await;
    leader.refused(vec![Change::Assign(early)]).await;
    leader.refused(vec![Change::Assign(late)]).await;
}

pub(super) async fn cancel_and_run_now_touch_only_live_jobs(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut later = spec("a");
    later.run_at = Some(leader.now + Duration::from_secs(60));
    let id = leader.submit(later).await;
    let soon = leader.now + Duration::from_secs(5);
    leader.commit(vec![Change::RunNow(id, soon), Change::CancelWanted(id)]).await;
    let job = leader.job(id).await;
    assert_eq!((job.due_at, job.cancel_wanted), (soon, true));
    // Never later than it was.
    leader.commit(vec![Change::RunNow(id, soon + Duration::from_secs(5))]).await;
    assert_eq!(leader.job(id).await.due_at, soon);
    leader.run_to(session, id, leader.succeeded()).await;
    let before = leader.job(id).await;
    let unknown = leader.job_id();
    for id in [id, unknown] {
        let ignored = leader.commit(vec![Change::RunNow(id, leader.now), Change::CancelWanted(id)]).await;
        assert_eq!(ignored, [Applied::Done, Applied::Done]);
    }
    assert_eq!(leader.job(id).await, before);
}
