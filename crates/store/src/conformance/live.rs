//! Live jobs as a leader compares them with its memory.

use std::sync::Arc;

use ganger_core::JobId;
use ganger_core::change::{Change, Finish, LiveJob, LivePage, LiveQuery, Submission};
use ganger_core::dependency::{self, Dependency, OnDead};
use ganger_core::job::State;

use super::leader::{Leader, spec};
use crate::store::Store;

async fn page(leader: &Leader, after: Option<JobId>, limit: usize) -> LivePage {
    leader.store.live(&LiveQuery { after, limit, sought: Vec::new() }).await.unwrap()
}

fn ids(page: &LivePage) -> Vec<JobId> {
    page.jobs.iter().map(|job| job.id).collect()
}

pub(super) async fn live_jobs_come_in_pages_by_id(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    assert_eq!(page(&leader, None, 10).await.jobs, []);
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(leader.submit(spec("a")).await);
    }
    all.sort_unstable();
    assert_eq!(ids(&page(&leader, None, 5).await), all);
    assert_eq!(ids(&page(&leader, None, 2).await), all[..2]);
    assert_eq!(ids(&page(&leader, Some(all[1]), 2).await), all[2..4]);
    assert_eq!(ids(&page(&leader, Some(all[3]), 2).await), all[4..]);
    assert_eq!(ids(&page(&leader, Some(all[4]), 2).await), []);
    let by_id = |mut jobs: Vec<LiveJob>| {
        jobs.sort_by_key(|job| job.id);
        jobs
    };
    let loaded = leader.store.load().await.unwrap().jobs;
    assert_eq!(page(&leader, None, 9).await.jobs, by_id(loaded), "as a leader that begins knows them");
}

pub(super) async fn a_page_says_at_which_batch_of_which_term_it_was_read(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let read = page(&leader, None, 1).await;
    assert_eq!((read.term, read.batch), (leader.term, 0));
    leader.submit(spec("a")).await;
    leader.submit(spec("a")).await;
    let read = page(&leader, None, 1).await;
    assert_eq!((read.term, read.batch), (leader.term, leader.number));
    let next = Leader::begin(store).await;
    let read = page(&leader, None, 1).await;
    assert_eq!((read.term, read.batch), (next.term, 0));
}

pub(super) async fn a_page_has_the_leases_and_the_edges_of_its_own_jobs(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let (held, other) = (leader.submit(spec("a")).await, leader.submit(spec("a")).await);
    let assignment = leader.assign(session, &[held]).await;
    let another = leader.assign(session, &[other]).await;
    let dead = leader.submit(spec("a")).await;
    let end = leader.dead();
    leader.commit(vec![Change::Finish(Finish { job: dead, end })]).await;
    let mut waits = spec("b");
    waits.depends_on = vec![
        Dependency { job: held, on_dead: OnDead::Cancel },
        Dependency { job: dead, on_dead: OnDead::Wait },
    ];
    let mut child = leader.new_job(waits);
    child.due_at = dependency::park(child.due_at);
    let id = child.id;
    leader.commit_one(Change::Submit(Submission { idempotency: None, jobs: vec![child], inbox: None })).await;

    let whole = page(&leader, None, 9).await;
    let firsts: Vec<_> = whole.assignments.iter().map(|assignment| assignment.first).collect();
    assert!(firsts.contains(&assignment.first) && firsts.contains(&another.first) && firsts.len() == 2);
    let parents: Vec<_> = whole.edges.iter().map(|edge| (edge.child, edge.ended)).collect();
    assert_eq!(parents, [(id, None), (id, None)]);
    assert_eq!(whole.ended, [(dead, Some(State::Dead))]);

    let mut all = [held, other, id];
    all.sort_unstable();
    for at in 0..all.len() {
        let alone = page(&leader, at.checked_sub(1).map(|before| all[before]), 1).await;
        assert_eq!(ids(&alone), [all[at]]);
        let leases = usize::from(all[at] != id);
        assert_eq!((alone.assignments.len(), alone.edges.len()), (leases, 2 * (1 - leases)));
    }
    leader.commit(vec![Change::Delete(vec![dead])]).await;
    assert_eq!(page(&leader, None, 9).await.ended, [(dead, None)], "nothing is known of it any more");
}

pub(super) async fn what_is_sought_and_not_live_is_told_with_its_end(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let live = leader.submit(spec("a")).await;
    let (dead, done, nowhere) =
        (leader.submit(spec("a")).await, leader.submit(spec("a")).await, leader.job_id());
    leader.run_to(session, dead, leader.dead()).await;
    leader.run_to(session, done, leader.succeeded()).await;
    let sought = vec![live, dead, done, nowhere];
    let read = leader.store.live(&LiveQuery { after: None, limit: 0, sought }).await.unwrap();
    assert_eq!(read.jobs, []);
    let mut gone = read.gone;
    gone.sort_unstable();
    let mut expected = [(dead, Some(State::Dead)), (done, Some(State::Succeeded)), (nowhere, None)];
    expected.sort_unstable();
    assert_eq!(gone, expected);
}
