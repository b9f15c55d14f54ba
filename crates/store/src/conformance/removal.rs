//! Purge and retention.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::{Applied, Change, Idempotency, Intake, LogLines, Submission, Submitted, Tally};
use ganger_core::job::{JobSpec, State};
use ganger_core::limits;
use ganger_core::queue::{Keep, QueueSettings, Retention};

use super::leader::{Leader, everything, spec, unique};
use crate::store::Store;

const DAY: Duration = Duration::from_secs(86_400);

fn in_queue(queue: &str) -> JobSpec {
    JobSpec { queue: queue.parse().unwrap(), ..spec("a") }
}

fn tally(queue: &str, state: State, count: u64) -> Tally {
    Tally { queue: queue.parse().unwrap(), kind: "a".parse().unwrap(), state, count }
}

fn retention(queue: &str, finished: Keep, dead: Keep) -> Change {
    let settings = QueueSettings { retention: Retention { finished, dead }, ..QueueSettings::default() };
    Change::PutQueue(queue.parse().unwrap(), settings)
}

async fn prune(leader: &mut Leader, limit: usize) -> Vec<Tally> {
    let applied = leader.commit_one(Change::Prune { now: leader.now, limit }).await;
    let Applied::Removed(tallies) = applied else { panic!("{applied:?}") };
    tallies
}

pub(super) async fn purge_removes_the_oldest_dead_of_one_queue(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let other = leader.submit(in_queue("other")).await;
    leader.run_to(session, other, leader.dead()).await;
    let fine = leader.submit(in_queue("mail")).await;
    leader.run_to(session, fine, leader.succeeded()).await;
    let (young, old) = (leader.submit(in_queue("mail")).await, leader.submit(in_queue("mail")).await);
    leader.run_to(session, old, leader.dead()).await;
    leader.pass(Duration::from_secs(1));
    leader.run_to(session, young, leader.dead()).await;
    let purge = Change::PurgeDead { queue: "mail".parse().unwrap(), limit: 1 };
    let one = Applied::Removed(vec![tally("mail", State::Dead, 1)]);
    assert_eq!(leader.commit_one(purge.clone()).await, one);
    assert_eq!(leader.list(everything()).await, [young, fine, other]);
    assert_eq!(leader.commit_one(purge.clone()).await, one);
    assert_eq!(leader.commit_one(purge).await, Applied::Removed(vec![]));
    assert_eq!(leader.list(everything()).await, [fine, other]);
}

pub(super) async fn retention_removes_finished_jobs_before_dead_ones(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let fine = leader.submit(in_queue("mail")).await;
    leader.run_to(session, fine, leader.succeeded()).await;
    let stopped = leader.submit(in_queue("mail")).await;
    leader.run_to(session, stopped, leader.cancelled()).await;
    let dead = leader.submit(in_queue("mail")).await;
    leader.run_to(session, dead, leader.dead()).await;
    let live = leader.submit(in_queue("mail")).await;
    leader.pass(7 * DAY - Duration::from_micros(1));
    assert_eq!(prune(&mut leader, 100).await, []);
    leader.pass(Duration::from_micros(1));
    let gone = [tally("mail", State::Succeeded, 1), tally("mail", State::Cancelled, 1)];
    assert_eq!(prune(&mut leader, 100).await, gone);
    assert_eq!(leader.list(everything()).await, [live, dead]);
    leader.pass(83 * DAY);
    assert_eq!(prune(&mut leader, 100).await, [tally("mail", State::Dead, 1)]);
    leader.pass(10_000 * DAY);
    assert_eq!(prune(&mut leader, 100).await, []);
    assert_eq!(leader.list(everything()).await, [live]);
    assert_eq!(leader.store.load().await.unwrap().finals, []);
}

pub(super) async fn retention_is_per_queue(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    leader
        .commit(vec![
            retention("short", Keep::For(DAY), Keep::For(2 * DAY)),
            retention("ever", Keep::Forever, Keep::Forever),
            retention("none", Keep::None, Keep::Forever),
        ])
        .await;
    let mut kept: Vec<JobId> = Vec::new();
    for queue in ["short", "ever", "none"] {
        for end in [leader.succeeded(), leader.dead()] {
            let id = leader.submit(in_queue(queue)).await;
            leader.run_to(session, id, end).await;
            kept.push(id);
        }
    }
    assert_eq!(prune(&mut leader, 100).await, [tally("none", State::Succeeded, 1)]);
    leader.pass(DAY);
    assert_eq!(prune(&mut leader, 100).await, [tally("short", State::Succeeded, 1)]);
    leader.pass(DAY);
    assert_eq!(prune(&mut leader, 100).await, [tally("short", State::Dead, 1)]);
    leader.pass(10_000 * DAY);
    assert_eq!(prune(&mut leader, 100).await, []);
    assert_eq!(leader.list(everything()).await, [kept[5], kept[3], kept[2]]);
}

pub(super) async fn retention_is_bounded_by_its_limit(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut ids = Vec::new();
    for queue in ["a", "b", "a", "b"] {
        let id = leader.submit(in_queue(queue)).await;
        leader.run_to(session, id, leader.succeeded()).await;
        leader.pass(Duration::from_secs(1));
        ids.push(id);
    }
    leader.pass(8 * DAY);
    // The oldest first, whichever queue they are of.
    let gone = [tally("a", State::Succeeded, 2), tally("b", State::Succeeded, 1)];
    assert_eq!(prune(&mut leader, 3).await, gone);
    assert_eq!(leader.list(everything()).await, [ids[3]]);
}

pub(super) async fn ledger_entries_that_ran_out_are_pruned(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let until = leader.now + limits::IDEMPOTENCY_KEPT;
    let idempotency = Idempotency { scope: "me".into(), key: "k".into(), fingerprint: [1; 32], until };
    let first = leader.new_job(unique("a", "u", limits::IDEMPOTENCY_KEPT));
    let keyed =
        |jobs| Change::Submit(Submission { idempotency: Some(idempotency.clone()), jobs, inbox: None });
    leader.commit(vec![keyed(vec![first.clone()])]).await;
    leader.run_to(session, first.id, leader.succeeded()).await;
    // Both ran out; a submission dated before that would still meet them, were they not pruned.
    let early = leader.new_job(unique("a", "u", DAY));
    leader.pass(limits::IDEMPOTENCY_KEPT);
    assert_eq!(prune(&mut leader, 100).await, []);
    let accepted = Submitted::Accepted(vec![Intake::Created(early.id)]);
    assert_eq!(leader.commit_one(keyed(vec![early])).await, Applied::Submitted(accepted));
}

pub(super) async fn removed_jobs_leave_no_attempts_or_logs(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(in_queue("mail")).await;
    leader.commit(vec![Change::Log(LogLines { job: id, attempt: 1, text: "x\n".into() })]).await;
    leader.run_to(session, id, leader.dead()).await;
    let replay = leader.replay(id);
    leader.commit(vec![replay]).await;
    leader.run_to(session, id, leader.dead()).await;
    assert_eq!(leader.store.attempts(id).await.unwrap().len(), 2);
    leader.commit(vec![Change::PurgeDead { queue: "mail".parse().unwrap(), limit: 9 }]).await;
    assert_eq!(leader.store.attempts(id).await.unwrap(), []);
    assert_eq!(leader.store.log(id, 1).await.unwrap(), "");
    assert_eq!(leader.find(id).await, None);
}
