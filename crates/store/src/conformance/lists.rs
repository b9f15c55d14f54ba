//! Lists: order, pages, filters, states.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::{After, Change};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;

use super::leader::{Leader, START, everything, spec};
use crate::read::ListQuery;
use crate::store::Store;

fn of_states(states: &[State]) -> ListQuery {
    ListQuery { states: states.to_vec(), ..everything() }
}

/// Live and final jobs, mixed, come in one order.
pub(super) async fn a_list_is_newest_first_and_pages_by_key(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut ids = Vec::new();
    for i in 0..10 {
        let id = leader.submit(spec("a")).await;
        match i % 3 {
            0 => drop(leader.run_to(session, id, leader.succeeded()).await),
            1 => drop(leader.run_to(session, id, leader.dead()).await),
            _ => {}
        }
        ids.push(id);
    }
    ids.reverse();
    assert_eq!(leader.list(everything()).await, ids);
    let mut query = ListQuery { limit: 3, ..ListQuery::default() };
    let mut paged: Vec<JobId> = Vec::new();
    for rows in [3, 3, 3, 1] {
        let page = leader.store.list(&query, leader.now).await.unwrap();
        assert_eq!((page.jobs.len(), page.complete), (rows, true));
        paged.extend(page.jobs.iter().map(|job| job.id));
        query.before = page.next;
    }
    assert_eq!((paged, query.before), (ids.clone(), None));
    let one_by_one = leader.store.jobs(&ids, leader.now).await.unwrap();
    let listed = leader.store.list(&everything(), leader.now).await.unwrap().jobs;
    assert_eq!(one_by_one, listed);
}

pub(super) async fn the_last_page_says_so(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let none = leader.store.list(&everything(), leader.now).await.unwrap();
    assert_eq!((none.jobs.len(), none.next, none.complete), (0, None, true));
    for _ in 0..3 {
        leader.submit(spec("a")).await;
        leader.submit(spec("b")).await;
    }
    let kind = Some("a".parse().unwrap());
    let query = ListQuery { kind, limit: 3, ..ListQuery::default() };
    // The page is full, and there is no fourth one that matches.
    let page = leader.store.list(&query, leader.now).await.unwrap();
    assert_eq!((page.jobs.len(), page.next), (3, None));
    let page = leader.store.list(&ListQuery { limit: 2, ..query }, leader.now).await.unwrap();
    assert_eq!((page.jobs.len(), page.next), (2, Some(page.jobs[1].id)));
}

pub(super) async fn each_filter_holds_alone_and_with_others(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut ids = Vec::new();
    for (kind, queue, tags, key) in [
        ("a", "x", vec!["red"], Some("k1")),
        ("a", "y", vec!["red", "blue"], None),
        ("b", "x", vec![], Some("k1")),
        ("b", "y", vec!["redder"], Some("k2")),
    ] {
        let mut one = spec(kind);
        one.queue = queue.parse().unwrap();
        one.options.tags = tags.into_iter().map(str::to_owned).collect();
        one.options.unique_key = key.map(str::to_owned);
        ids.push(leader.submit(one).await);
        leader.pass(Duration::from_secs(1));
    }
    // Half of them are final: the filters hold there too.
    leader.run_to(session, ids[0], leader.succeeded()).await;
    leader.run_to(session, ids[3], leader.dead()).await;
    let queries = [
        (ListQuery { kind: Some("a".parse().unwrap()), ..everything() }, vec![ids[1], ids[0]]),
        (ListQuery { queue: Some("x".parse().unwrap()), ..everything() }, vec![ids[2], ids[0]]),
        (ListQuery { tag: Some("red".into()), ..everything() }, vec![ids[1], ids[0]]),
        (ListQuery { unique_key: Some("k1".into()), ..everything() }, vec![ids[2], ids[0]]),
        (
            ListQuery { created_from: Some(START + Duration::from_secs(2)), ..everything() },
            vec![ids[3], ids[2]],
        ),
        (
            ListQuery { created_before: Some(START + Duration::from_secs(2)), ..everything() },
            vec![ids[1], ids[0]],
        ),
        (
            ListQuery {
                kind: Some("a".parse().unwrap()),
                tag: Some("red".into()),
                unique_key: Some("k1".into()),
                before: Some(ids[1]),
                ..of_states(&[State::Succeeded, State::Running])
            },
            vec![ids[0]],
        ),
    ];
    for (query, expected) in queries {
        assert_eq!(leader.list(query.clone()).await, expected, "{query:?}");
    }
}

pub(super) async fn states_follow_the_lease_and_the_clock(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut later = spec("a");
    later.run_at = Some(leader.now + Duration::from_secs(10));
    let scheduled = leader.submit(later).await;
    let queued = leader.submit(spec("a")).await;
    let (running, retrying) = (leader.submit(spec("a")).await, leader.submit(spec("a")).await);
    let assignment = leader.assign(session, &[running, retrying]).await;
    let again = After::Again {
        due_at: leader.now + Duration::from_secs(5),
        retrying: true,
        standing: Standing { attempt: 1, burnt: 1, lost: 0 },
    };
    let end = leader.end(&assignment, 1, 1, Outcome::Error, again);
    leader.commit(vec![Change::End(end)]).await;
    for (state, id) in [
        (State::Scheduled, scheduled),
        (State::Queued, queued),
        (State::Running, running),
        (State::Retrying, retrying),
    ] {
        assert_eq!(leader.list(of_states(&[state])).await, [id], "{state:?}");
        assert_eq!(leader.job(id).await.state, state);
    }
    let two = of_states(&[State::Running, State::Scheduled]);
    assert_eq!(leader.list(two).await, [running, scheduled]);
    leader.pass(Duration::from_secs(10));
    assert_eq!(leader.list(of_states(&[State::Queued])).await, [retrying, queued, scheduled]);
    assert_eq!(leader.list(of_states(&[State::Running])).await, [running]);
    assert_eq!(leader.list(of_states(&[State::Scheduled, State::Retrying])).await, []);
}

pub(super) async fn final_states_are_listed_apart(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut ids = Vec::new();
    for end in [leader.succeeded(), leader.dead(), leader.cancelled(), leader.dead()] {
        let id = leader.submit(spec("a")).await;
        leader.run_to(session, id, end).await;
        ids.push(id);
    }
    leader.submit(spec("a")).await;
    assert_eq!(leader.list(of_states(&[State::Succeeded])).await, [ids[0]]);
    assert_eq!(leader.list(of_states(&[State::Dead])).await, [ids[3], ids[1]]);
    assert_eq!(leader.list(of_states(&[State::Cancelled])).await, [ids[2]]);
    let both = of_states(&[State::Cancelled, State::Dead]);
    assert_eq!(leader.list(both.clone()).await, [ids[3], ids[2], ids[1]]);
    assert_eq!(leader.list(ListQuery { before: Some(ids[3]), ..both }).await, [ids[2], ids[1]]);
}

pub(super) async fn payloads_come_in_the_order_asked_for(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let mut ids = Vec::new();
    for number in 0..3 {
        let mut one = spec("a");
        one.payload = number.to_string();
        ids.push(leader.submit(one).await);
    }
    let unknown = leader.job_id();
    let payloads = leader.store.payloads(&[ids[2], unknown, ids[0], ids[2]]).await.unwrap();
    assert_eq!(payloads, [Some("2".into()), None, Some("0".into()), Some("2".into())]);
    let jobs = leader.store.jobs(&[ids[1], unknown, ids[0]], leader.now).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [ids[1], ids[0]]);
}
