//! Sessions of workers, and settings of queues.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{After, Applied, Change, EffectMark, KeyClosure};
use ganger_core::outcome::Outcome;
use ganger_core::queue::{Ageing, Keep, Limits, Policy, QueueSettings, Rate, Retention};
use ganger_core::rules::Standing;
use ganger_core::{Fence, Term};

use super::leader::{Leader, spec};
use crate::store::Store;

pub(super) async fn a_closed_session_stays_closed(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let record = leader.session();
    let open = Change::OpenSession(record.clone());
    assert_eq!(leader.commit_one(open.clone()).await, Applied::Done);
    // A second hello of a session that is open is no news.
    assert_eq!(leader.commit_one(open.clone()).await, Applied::Done);
    leader.commit(vec![Change::CloseSession(record.id, leader.now)]).await;
    assert_eq!(store.load().await.unwrap().sessions, []);
    assert_eq!(leader.commit_one(open.clone()).await, Applied::SessionEverClosed);
    // Also where the same batch closes it again.
    let close = Change::CloseSession(record.id, leader.now);
    let both = leader.commit(vec![open.clone(), close]).await;
    assert_eq!(both, [Applied::SessionEverClosed, Applied::Done]);
    leader.pass(Duration::from_secs(1_000 * 86_400));
    leader.commit(vec![Change::Prune { now: leader.now, limit: 100 }]).await;
    let mut next = Leader::begin(Arc::clone(&store)).await;
    assert_eq!(next.commit_one(open).await, Applied::SessionEverClosed);
    assert_eq!(store.load().await.unwrap().sessions, []);
}

pub(super) async fn a_claim_is_forgotten_when_closed(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let mut claim = leader.session();
    claim.worker.claim = true;
    leader.commit(vec![Change::OpenSession(claim.clone())]).await;
    assert_eq!(leader.store.load().await.unwrap().sessions, [claim.clone()]);
    leader.commit(vec![Change::CloseSession(claim.id, leader.now)]).await;
    assert_eq!(leader.store.load().await.unwrap().sessions, []);
    assert_eq!(leader.commit_one(Change::OpenSession(claim)).await, Applied::Done);
}

pub(super) async fn a_session_reads_back_whole(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let (mut a, mut b) = (leader.session(), leader.session());
    a.worker.kinds = vec!["x".parse().unwrap(), "y.z".parse().unwrap()];
    a.worker.ttl = Duration::from_millis(1_500);
    b.worker.local = true;
    leader.commit(vec![Change::OpenSession(a.clone()), Change::OpenSession(b.clone())]).await;
    let mut sessions = leader.store.load().await.unwrap().sessions;
    sessions.sort_by_key(|session| session.id);
    assert_eq!(sessions, [a, b]);
}

pub(super) async fn only_open_sessions_get_leases(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let id = leader.submit(spec("a")).await;
    let never = leader.session().id;
    let assignment = leader.assignment(never, &[id]);
    assert!(leader.refused(vec![Change::Assign(assignment)]).await.contains("not open"));
    let closed = leader.open_session().await;
    leader.commit(vec![Change::CloseSession(closed, leader.now)]).await;
    let assignment = leader.assignment(closed, &[id]);
    assert!(leader.refused(vec![Change::Assign(assignment)]).await.contains("not open"));
    let open = leader.open_session().await;
    let nothing = leader.assignment(open, &[]);
    leader.refused(vec![Change::Assign(nothing)]).await;
}

/// Expiry is one commit: the session closes and its leases end, in either order.
pub(super) async fn a_session_cannot_be_closed_over_a_lease(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let (a, b) = (leader.submit(spec("a")).await, leader.submit(spec("a")).await);
    let (first, second) = (leader.assign(session, &[a]).await, leader.assign(session, &[b]).await);
    let close = Change::CloseSession(session, leader.now);
    let again = After::Again {
        due_at: leader.now,
        retrying: true,
        standing: Standing { attempt: 1, burnt: 1, lost: 1 },
    };
    let end_a = Change::End(leader.end(&first, 0, 1, Outcome::Lost, again.clone()));
    let end_b = Change::End(leader.end(&second, 0, 1, Outcome::Lost, again));
    assert!(leader.refused(vec![close.clone()]).await.contains("has not ended"));
    leader.refused(vec![end_a.clone(), close.clone()]).await;
    leader.commit(vec![end_a, close, end_b]).await;
    let snapshot = leader.store.load().await.unwrap();
    assert_eq!((snapshot.sessions, snapshot.assignments), (vec![], vec![]));
    assert_eq!(snapshot.jobs.len(), 2);
}

pub(super) async fn queue_settings_read_back(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let rate = Rate { n: 100, per: Duration::from_micros(60_000_001), burst: 20 };
    let settings = QueueSettings {
        paused: true,
        draining: true,
        policy: Policy::Spread,
        retention: Retention { finished: Keep::None, dead: Keep::For(Duration::from_micros(5)) },
        limits: Limits { max_running: Some(3), rate: Some(rate), max_depth: Some(9) },
        keys: Limits { max_running: Some(1), ..Limits::default() },
        block: Duration::from_millis(1_500),
        ageing: Some(Ageing { every: Duration::from_secs(60), at_most: 7 }),
        weight: 1_000,
        precedence: -128,
    };
    let name: ganger_core::name::QueueName = "mail".parse().unwrap();
    leader.commit(vec![Change::PutQueue(name.clone(), QueueSettings::default())]).await;
    leader.commit(vec![Change::PutQueue(name.clone(), settings)]).await;
    assert_eq!(leader.store.load().await.unwrap().queues, [(name, settings)]);
}

pub(super) async fn a_mark_is_known_until_its_own_lease_takes_it_off(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(leader.submit(spec("mail")).await);
    }
    let fence = |seq| Fence { term: Term { number: u64::MAX, id: 1 }, seq };
    let (early, late) = (fence(7), fence(u64::MAX));
    let mark = |job, fence, stands| Change::Mark(EffectMark { job, fence, stands });
    let marks = async |leader: &Leader| {
        let mut marks = leader.store.load().await.unwrap().marks;
        marks.sort();
        marks
    };
    leader
        .commit(vec![mark(ids[0], early, true), mark(ids[1], early, true), mark(ids[2], early, true)])
        .await;
    assert_eq!(marks(&leader).await, [(ids[0], early), (ids[1], early), (ids[2], early)]);
    // In one batch, in order: the mark of a later lease takes the place of the earlier one, whose end comes late.
    leader
        .commit(vec![
            mark(ids[0], late, true),
            mark(ids[0], early, false),
            mark(ids[1], late, true),
            mark(ids[1], late, false),
            mark(ids[2], late, false),
        ])
        .await;
    assert_eq!(marks(&leader).await, [(ids[0], late), (ids[2], early)]);
    let nobody = leader.session().id;
    let refused = Change::Assign(leader.assignment(nobody, &[]));
    leader.refused(vec![mark(ids[0], late, false), mark(ids[1], late, true), refused]).await;
    assert_eq!(marks(&leader).await, [(ids[0], late), (ids[2], early)]);
    leader.commit(vec![mark(ids[0], late, false), mark(ids[2], early, false)]).await;
    assert_eq!(marks(&leader).await, []);
}

pub(super) async fn a_closed_key_is_known_until_it_is_opened_or_its_time_has_passed(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let begin = leader.now;
    let until = |seconds| begin + Duration::from_secs(seconds);
    let closure = |queue: &str, key: &str, until| KeyClosure {
        queue: queue.parse().unwrap(),
        key: key.to_owned(),
        until,
    };
    let short = closure("mail", "süd/1 %", Some(until(5)));
    let long = closure("mail", "b", Some(until(50)));
    let elsewhere = closure("other", "b", Some(until(60)));
    let longer = closure("mail", "b", Some(until(70)));
    let again = closure("mail", "c", Some(until(80)));
    let changes = [&short, &long, &elsewhere, &again].map(|one| Change::CloseKey(one.clone()));
    leader.commit(changes.to_vec()).await;
    // In one batch, the last word counts.
    let opened = closure("mail", "c", None);
    leader
        .commit(vec![Change::CloseKey(longer.clone()), Change::CloseKey(again), Change::CloseKey(opened)])
        .await;
    let closed = async |leader: &Leader| {
        let mut closed = leader.store.load().await.unwrap().closed;
        closed.sort();
        closed
    };
    assert_eq!(closed(&leader).await, [longer.clone(), short.clone(), elsewhere.clone()]);
    let nobody = leader.session().id;
    let refused = Change::Assign(leader.assignment(nobody, &[]));
    leader.refused(vec![Change::CloseKey(closure("other", "b", None)), refused]).await;
    leader.pass(Duration::from_secs(5));
    leader.commit(vec![Change::Prune { now: leader.now, limit: 10 }]).await;
    assert_eq!(closed(&leader).await, [longer.clone(), elsewhere.clone()]);
    leader.commit(vec![Change::CloseKey(closure("other", "b", None))]).await;
    assert_eq!(closed(&leader).await, [longer]);
}
