//! Jobs that wait for others.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::{Applied, Change, Finish, Intake, NewJob, Submission, Submitted};
use ganger_core::dependency::{self, Dependency, Edge, OnDead, Place};
use ganger_core::job::State;

use super::leader::{Leader, everything, spec, unique};
use crate::read::{ListQuery, Related};
use crate::store::Store;

const HOUR: Duration = Duration::from_secs(3600);

/// A job that waits for these.
fn child(leader: &mut Leader, parents: &[(JobId, OnDead)]) -> NewJob {
    let mut spec = spec("child");
    spec.depends_on =
        parents.iter().map(|(job, on_dead)| Dependency { job: *job, on_dead: *on_dead }).collect();
    let mut job = leader.new_job(spec);
    job.due_at = dependency::park(job.due_at);
    job
}

async fn submit(leader: &mut Leader, jobs: Vec<NewJob>) -> Applied {
    leader.commit_one(Change::Submit(Submission { idempotency: None, jobs, inbox: None })).await
}

async fn blocked(leader: &mut Leader, parents: &[(JobId, OnDead)]) -> JobId {
    let job = child(leader, parents);
    let id = job.id;
    let applied = submit(leader, vec![job]).await;
    assert!(
        matches!(applied, Applied::Submitted(Submitted::Accepted(_)) | Applied::Linked(..)),
        "{applied:?}"
    );
    id
}

async fn finish(leader: &mut Leader, job: JobId, end: ganger_core::change::End) {
    leader.commit(vec![Change::Finish(Finish { job, end })]).await;
}

async fn edges(leader: &Leader, job: JobId, of: Related) -> Vec<Edge> {
    leader.store.related(job, of, None, 500).await.unwrap()
}

/// How each of the job's edges was settled, in the order of its parents.
async fn ended(leader: &Leader, job: JobId) -> Vec<Option<State>> {
    edges(leader, job, Related::Parents).await.iter().map(|edge| edge.ended).collect()
}

pub(super) async fn a_blocked_job_is_shown_as_such_until_it_is_released(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let parent = leader.submit(spec("a")).await;
    let id = blocked(&mut leader, &[(parent, OnDead::Cancel)]).await;
    let job = leader.job(id).await;
    assert_eq!((job.state, job.due_at), (State::Blocked, leader.now));
    let of = |state| ListQuery { states: vec![state], ..everything() };
    assert_eq!(leader.list(of(State::Blocked)).await, [id]);
    assert_eq!(leader.list(of(State::Queued)).await, [parent]);
    leader.pass(HOUR);
    leader.commit(vec![Change::RunNow(id, leader.now)]).await;
    let job = leader.job(id).await;
    assert_eq!((job.state, job.due_at), (State::Queued, leader.now));
}

/// A blocked job that is cancelled keeps no trace of having been parked.
pub(super) async fn a_blocked_job_can_end(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let parent = leader.submit(spec("a")).await;
    let id = blocked(&mut leader, &[(parent, OnDead::Cancel)]).await;
    let end = leader.cancelled();
    finish(&mut leader, id, end).await;
    let job = leader.job(id).await;
    assert_eq!((job.state, job.due_at), (State::Cancelled, leader.now));
    assert_eq!(leader.store.load().await.unwrap().edges, []);
    let replay = leader.replay(id);
    leader.commit(vec![replay]).await;
    assert_eq!(leader.job(id).await.state, State::Queued);
}

pub(super) async fn a_parent_that_is_not_there_takes_nothing_in(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let (there, nowhere) = (leader.submit(spec("a")).await, leader.job_id());
    let jobs =
        vec![leader.new_job(spec("b")), child(&mut leader, &[(there, OnDead::Run), (nowhere, OnDead::Run)])];
    let place = Place { job: 1, nth: 1 };
    assert_eq!(submit(&mut leader, jobs).await, Applied::Submitted(Submitted::NoParent(nowhere, place)));
    assert_eq!(leader.list(everything()).await, [there]);
    assert_eq!(edges(&leader, there, Related::Children).await, []);
}

pub(super) async fn parents_that_are_final_settle_their_edges_at_once(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let (dead, done, live) =
        (leader.submit(spec("a")).await, leader.submit(spec("a")).await, leader.submit(spec("a")).await);
    let (died, succeeded) = (leader.dead(), leader.succeeded());
    finish(&mut leader, dead, died).await;
    finish(&mut leader, done, succeeded).await;
    let job = child(&mut leader, &[(dead, OnDead::Wait), (done, OnDead::Wait), (live, OnDead::Cancel)]);
    let id = job.id;
    let answer = Submitted::Accepted(vec![Intake::Created(id)]);
    let states = vec![(dead, State::Dead), (done, State::Succeeded)];
    assert_eq!(submit(&mut leader, vec![job]).await, Applied::Linked(answer, states));
    assert_eq!(ended(&leader, id).await, [None, Some(State::Succeeded), None]);
    let other = blocked(&mut leader, &[(dead, OnDead::Run)]).await;
    assert_eq!(ended(&leader, other).await, [Some(State::Dead)]);
}

/// The jobs of a request wait for each other, and one of them turns out to be there already.
pub(super) async fn a_duplicate_parent_stands_for_the_job_that_holds_its_key(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let held = leader.submit(unique("a", "live", HOUR)).await;
    let gone = leader.submit(unique("a", "gone", HOUR)).await;
    let end = ganger_core::change::End { keep: false, ..leader.succeeded() };
    finish(&mut leader, gone, end).await;
    let (first, second) =
        (leader.new_job(unique("a", "live", HOUR)), leader.new_job(unique("a", "gone", HOUR)));
    let third = leader.new_job(spec("b"));
    let job = child(
        &mut leader,
        &[(first.id, OnDead::Cancel), (second.id, OnDead::Cancel), (third.id, OnDead::Cancel)],
    );
    let (id, fresh) = (job.id, third.id);
    let applied = submit(&mut leader, vec![job, first, second, third]).await;
    let intakes =
        vec![Intake::Created(id), Intake::Duplicate(held), Intake::Duplicate(gone), Intake::Created(fresh)];
    let states = vec![(gone, State::Succeeded)];
    assert_eq!(applied, Applied::Linked(Submitted::Accepted(intakes), states));
    let found = edges(&leader, id, Related::Parents).await;
    let found: Vec<_> = found.iter().map(|edge| (edge.parent, edge.ended)).collect();
    assert_eq!(found, [(held, None), (gone, Some(State::Succeeded)), (fresh, None)]);
}

/// What waits for a success is settled by nothing else; what is settled stays so.
pub(super) async fn an_edge_is_settled_by_its_policy_and_once(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let parent = leader.submit(spec("a")).await;
    let mut children = Vec::new();
    for on_dead in OnDead::ALL {
        children.push(blocked(&mut leader, &[(parent, on_dead)]).await);
    }
    leader.commit(vec![Change::Settle(parent, State::Dead)]).await;
    let mut found = Vec::new();
    for child in &children {
        found.extend(ended(&leader, *child).await);
    }
    assert_eq!(found, [Some(State::Dead), Some(State::Dead), None]);
    leader.commit(vec![Change::Settle(parent, State::Succeeded)]).await;
    assert_eq!(ended(&leader, children[0]).await, [Some(State::Dead)]);
    assert_eq!(ended(&leader, children[2]).await, [Some(State::Succeeded)]);
}

/// Changes of one batch hold in their order: an edge is settled by the first end after it, not by one before it.
pub(super) async fn an_edge_is_settled_in_the_order_of_the_batch(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let parent = leader.submit(spec("a")).await;
    let before = blocked(&mut leader, &[(parent, OnDead::Run)]).await;
    let job = child(&mut leader, &[(parent, OnDead::Run)]);
    let after = job.id;
    leader
        .commit(vec![
            Change::Settle(parent, State::Dead),
            Change::Submit(Submission { idempotency: None, jobs: vec![job], inbox: None }),
            Change::Settle(parent, State::Cancelled),
        ])
        .await;
    assert_eq!(ended(&leader, before).await, [Some(State::Dead)]);
    assert_eq!(ended(&leader, after).await, [Some(State::Cancelled)]);
}

/// Whoever leads next knows who waits for whom, and who has ended meanwhile, be it that nothing is left of it.
pub(super) async fn a_leader_that_begins_knows_who_waits_for_whom(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let mut parents = Vec::new();
    for _ in 0..4 {
        parents.push(leader.submit(spec("a")).await);
    }
    let all: Vec<_> = parents.iter().map(|parent| (*parent, OnDead::Cancel)).collect();
    let id = blocked(&mut leader, &all).await;
    let released = blocked(&mut leader, &all[..1]).await;
    let (died, forgotten) = (leader.dead(), ganger_core::change::End { keep: false, ..leader.succeeded() });
    finish(&mut leader, parents[1], died).await;
    finish(&mut leader, parents[2], forgotten).await;
    leader
        .commit(vec![Change::Settle(parents[3], State::Succeeded), Change::RunNow(released, leader.now)])
        .await;
    let mut snapshot = leader.store.load().await.unwrap();
    snapshot.edges.sort();
    snapshot.ended.sort();
    let edge = |nth: usize, ended| Edge { child: id, parent: parents[nth], on_dead: OnDead::Cancel, ended };
    assert_eq!(
        snapshot.edges,
        [edge(0, None), edge(1, None), edge(2, None), edge(3, Some(State::Succeeded))]
    );
    assert_eq!(snapshot.ended, [(parents[1], Some(State::Dead)), (parents[2], None)]);
    assert!(snapshot.jobs.iter().any(|job| job.id == id && dependency::is_parked(job.due_at)));
}

pub(super) async fn an_edge_is_known_as_long_as_its_child(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let parent = leader.submit(spec("a")).await;
    let (kept, gone) = (
        blocked(&mut leader, &[(parent, OnDead::Run)]).await,
        blocked(&mut leader, &[(parent, OnDead::Run)]).await,
    );
    let end = ganger_core::change::End { keep: false, ..leader.cancelled() };
    finish(&mut leader, gone, end).await;
    let (done, stopped) = (leader.succeeded(), leader.cancelled());
    finish(&mut leader, parent, done).await;
    finish(&mut leader, kept, stopped).await;
    leader.commit(vec![Change::Delete(vec![parent])]).await;
    let known = edges(&leader, parent, Related::Children).await;
    assert_eq!(known.iter().map(|edge| edge.child).collect::<Vec<_>>(), [kept]);
    leader.commit(vec![Change::Delete(vec![kept])]).await;
    assert_eq!(edges(&leader, parent, Related::Children).await, []);
    assert_eq!(edges(&leader, kept, Related::Parents).await, []);
}

pub(super) async fn related_jobs_come_in_pages(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let parent = leader.submit(spec("a")).await;
    let mut children = Vec::new();
    for _ in 0..3 {
        children.push(blocked(&mut leader, &[(parent, OnDead::Run)]).await);
    }
    let page = |after, limit| {
        let store = Arc::clone(&leader.store);
        async move {
            let found = store.related(parent, Related::Children, after, limit).await.unwrap();
            found.iter().map(|edge| edge.child).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(None, 2).await, children[..2]);
    assert_eq!(page(Some(children[1]), 2).await, children[2..]);
    assert_eq!(page(Some(children[2]), 2).await, []);
}
