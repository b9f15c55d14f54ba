//! Starting and stopping: nothing that was accepted is lost, and nothing is served that should not be.

use std::net::SocketAddr;
use std::sync::Arc;

use ganger_core::change::Submitted;
use ganger_core::job::State;
use ganger_core::outcome::Report;
use ganger_server::{Server, ServerError, testing};
use ganger_store::{MemoryStore, SqliteStore};

use crate::common::{ended, eventually, is_in, spec, submit, within};
use crate::worker::Worker;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_before_a_stop_runs_after_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Arc::new(SqliteStore::open(dir.path(), Default::default()).unwrap());
    let server = testing::start_on(open()).await;
    let service = server.service().clone();
    let calls: Vec<_> = (0..100)
        .map(|n| {
            let service = service.clone();
            tokio::spawn(async move { service.submit(None, vec![spec("after", &n.to_string())]).await })
        })
        .collect();
    let first = calls.len() / 2;
    let mut accepted = Vec::new();
    let mut calls = calls.into_iter();
    for call in calls.by_ref().take(first) {
        if let Ok(Submitted::Accepted(intake)) = call.await.unwrap() {
            accepted.push(intake[0].job());
        }
    }
    server.stop().await;
    for call in calls {
        if let Ok(Submitted::Accepted(intake)) = call.await.unwrap() {
            accepted.push(intake[0].job());
        }
    }
    assert!(accepted.len() >= first);
    drop(service);

    let server = testing::start_on(open()).await;
    let mut worker = Worker::start(&server.url()).await;
    while !accepted.is_empty() {
        let parcel = worker.work().await;
        accepted.retain(|job| *job != parcel.work.job);
        worker.report(&parcel, Report::Ok("1".into())).await;
    }
    server.stop().await;
}

/// The ninth promise: the leader goes, its worker goes on, and the next leader records the result.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_runs_while_the_server_restarts_runs_once_and_its_result_counts() {
    let store = Arc::new(MemoryStore::new());
    let server = testing::start_on(store.clone()).await;
    let job = submit(server.service(), spec("long", "1")).await;
    let mut worker = Worker::start(&server.url()).await;
    let parcel = worker.work().await;
    server.stop().await;
    within("the end of the stream", worker.stream_ends()).await;

    let server = testing::start_on(store).await;
    is_in(server.service(), job, State::Running).await;
    let mut worker = Worker::again(&server.url(), &worker).await;
    let again = worker.work().await;
    assert_eq!(again.work.fence, parcel.work.fence);
    worker.report(&parcel, Report::Ok("1".into())).await;
    let view = ended(server.service(), job).await;
    assert_eq!((view.stored.state, view.stored.standing.attempt), (State::Succeeded, 1));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_accepts_nothing_and_says_so() {
    let server = testing::start().await;
    let service = server.service().clone();
    let address = server.address();
    server.stop().await;
    let refused = service.submit(None, vec![spec("late", "1")]).await.unwrap_err();
    assert!(refused.to_string().contains("not ready"), "{refused}");
    assert!(service.readiness().await.iter().any(|check| check.trouble.is_some()));
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_refused_unless_it_is_wanted() {
    let open: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.listen = vec![open];
    let refused = Server::start(options).await.unwrap_err();
    assert!(matches!(refused, ServerError::NotLoopback(address) if address == open), "{refused}");
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.listen = vec![open];
    options.insecure_no_auth = true;
    Server::start(options).await.unwrap().stop().await;
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let server = testing::start().await;
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.listen = vec![server.address()];
    let refused = Server::start(options).await.unwrap_err();
    assert!(refused.to_string().contains(&server.address().to_string()), "{refused}");
    server.stop().await;
}

/// What the watchdog of a service manager asks: not whether the process runs, but whether the one thread does that decides.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_deciding_thread_hangs_is_not_alive_until_it_goes_on() {
    let server = testing::start().await;
    let service = server.service().clone();
    assert!(service.is_alive().await);
    let (go_on, held) = std::sync::mpsc::channel::<()>();
    let inbox = service.inbox().clone();
    let hanging = tokio::spawn(async move { inbox.look(move |_, _| held.recv().is_ok()).await });
    eventually("it hangs", || async { !service.is_alive().await }).await;
    go_on.send(()).unwrap();
    assert!(hanging.await.unwrap().unwrap());
    assert!(service.is_alive().await);
    server.stop().await;
    assert!(!service.is_alive().await, "one that has stopped is not alive");
}
