//! Bulk operations that are interrupted: by a restart, by a store that fails, by the death of the leader. Each job is
//! acted upon once, and counted once.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::filter::Filter;
use ganger_core::job::State;
use ganger_core::operation::{Action, Operation, OperationState};
use ganger_core::{OperationId, limits};
use ganger_server::Service;
use ganger_server::coordinator_thread::Phase;
use ganger_server::service::{NewOperation, NewTarget};
use ganger_server::testing;
use ganger_store::read::ListQuery;
use ganger_store::{SqliteStore, Store};

use crate::common::{eventually, metric, spec, submit, within};
use crate::faulty::{Fault, FaultyStore};
use crate::link::{Link, Passes, shared_store};

fn all_of(action: Action, rate: u32) -> NewOperation {
    let text = "kind:bulk";
    NewOperation {
        action,
        target: NewTarget::Filter(text.into(), Filter::parse(text).unwrap()),
        rate,
        reason: None,
        exec_allowed: false,
        by: None,
        id: None,
        fingerprint: String::new(),
    }
}

async fn fill(service: &Service, jobs: usize) {
    for n in 0..jobs {
        submit(service, spec("bulk", &n.to_string())).await;
    }
    submit(service, spec("other", "1")).await;
}

async fn start(service: &Service, action: Action, rate: u32) -> OperationId {
    service.start_operation(all_of(action, rate)).await.unwrap().operation.id
}

/// Waits until so many are done; the operation must still be under way.
async fn is_half_done(service: &Service, id: OperationId, done: u64) {
    eventually("half of it", || async { service.operation(id).await.unwrap().done >= done }).await;
    assert_eq!(service.operation(id).await.unwrap().state, OperationState::Running);
}

async fn over(service: &Service, id: OperationId) -> Operation {
    eventually("the end of the operation", || async {
        service.operation(id).await.is_ok_and(|operation| operation.is_over())
    })
    .await;
    service.operation(id).await.unwrap()
}

async fn count(store: &dyn Store, service: &Service, state: State) -> usize {
    let query = ListQuery { states: vec![state], limit: limits::PAGE_MAX, ..ListQuery::default() };
    store.list(&query, service.clock().now().wall).await.unwrap().jobs.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_goes_on_after_a_restart_and_counts_every_job_once() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Arc::new(SqliteStore::open(dir.path(), Default::default()).unwrap());
    let server = testing::start_on(open()).await;
    fill(server.service(), 120).await;
    let cancel = start(server.service(), Action::Cancel, 60).await;
    is_half_done(server.service(), cancel, 20).await;
    let running = |action| format!("ganger_operations_running{{action=\"{action}\"}}");
    assert_eq!(metric(&server.url(), &running("cancel")).await, Some(1.0));
    assert_eq!(metric(&server.url(), &running("replay")).await, Some(0.0));
    server.stop().await;

    let store = open();
    let server = testing::start_on(store.clone()).await;
    let done = over(server.service(), cancel).await;
    assert_eq!((done.done, done.skipped_in_all(), done.state), (120, 0, OperationState::Done));
    let replay = start(server.service(), Action::Replay, 60).await;
    is_half_done(server.service(), replay, 20).await;
    server.stop().await;
    drop(store);

    let store = open();
    let server = testing::start_on(store.clone()).await;
    let done = over(server.service(), replay).await;
    assert_eq!((done.done, done.skipped_in_all()), (120, 0));
    assert_eq!(count(&*store, server.service(), State::Queued).await, 121);
    // Both are remembered, the newest first.
    let remembered: Vec<_> = server.service().operations().await.unwrap().iter().map(|o| o.id).collect();
    assert_eq!(remembered, [replay, cancel]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_lost_neither_repeat_nor_lose_a_job_of_an_operation() {
    for fault in [Fault::AnswerLost, Fault::Vanished, Fault::Full] {
        let store = FaultyStore::new();
        let server = testing::start_on(store.clone()).await;
        let service = server.service();
        fill(service, 60).await;
        let cancel = start(service, Action::Cancel, 200).await;
        for _ in 0..3 {
            store.commits(fault);
            eventually("a commit that fails", || async {
                store.tried() > 0 || finished(service, cancel).await
            })
            .await;
            store.commits(Fault::None);
            eventually("a commit that succeeds", || async {
                store.tried() > 2 || finished(service, cancel).await
            })
            .await;
        }
        let done = over(service, cancel).await;
        assert_eq!((done.done, done.skipped_in_all()), (60, 0), "{fault:?}");
        assert_eq!(count(&*store, service, State::Cancelled).await, 60, "{fault:?}");
        server.stop().await;
    }
}

async fn finished(service: &Service, id: OperationId) -> bool {
    service.operation(id).await.is_ok_and(|operation| operation.is_over())
}

/// The leader dies without a word; the next one finds the plan and goes on.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_leader_goes_on_with_an_operation() {
    let store = shared_store();
    let member = |link: Link| {
        let mut options = testing::options(Arc::new(link));
        options.leader_ttl = Duration::from_secs(2);
        testing::start_with(options)
    };
    let link = Link::to(&store);
    let first = member(link.clone()).await;
    let second = member(Link::to(&store)).await;
    fill(first.service(), 100).await;
    let cancel = start(first.service(), Action::Cancel, 50).await;
    is_half_done(first.service(), cancel, 15).await;
    link.pass(Passes::Nothing);
    drop(first);
    let mut phase = second.service().phase();
    within("leadership", phase.wait_for(|phase| matches!(phase, Phase::Leading(_)))).await.unwrap();
    let done = over(second.service(), cancel).await;
    assert_eq!((done.done, done.skipped_in_all()), (100, 0));
    assert_eq!(count(&*store, second.service(), State::Cancelled).await, 100);
    second.stop().await;
}
