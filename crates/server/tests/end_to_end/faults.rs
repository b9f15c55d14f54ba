//! The store fails in every way it may: nothing is lost, and nobody is told yes who should not be.

use ganger_core::change::Submitted;
use ganger_core::coordinator::port::Refusal;
use ganger_core::job::State;
use ganger_core::message::{ToLeader, ToWorker};
use ganger_core::outcome::Report;
use ganger_server::coordinator_thread::Phase;
use ganger_server::inbox::INBOX;
use ganger_server::service::ServiceError;
use ganger_server::testing;
use ganger_store::read::ListQuery;

use crate::common::{ended, eventually, is_in, spec, submit, within};
use crate::faulty::{Fault, FaultyStore};
use crate::worker::Worker;

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_submissions_clearly_and_recovers_without_a_restart() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    let service = server.service();
    store.commits(Fault::Full);
    let refused = service.submit(None, vec![spec("x", "1")]).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Refused(Refusal::Store(_))), "{refused}");
    assert!(refused.to_string().starts_with("nothing was written: the disk is full: "), "{refused}");
    let answer = reqwest::Client::new()
        .post(format!("{}/v1/jobs", server.url()))
        .body(r#"{"kind": "x"}"#)
        .header("content-type", "application/json");
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), 503);
    assert!(answer.text().await.unwrap().contains("\"code\":\"store_full\""));
    let checks = service.readiness().await;
    let store_check = checks.iter().find(|check| check.name == "store").unwrap();
    assert!(store_check.trouble.is_some());
    store.commits(Fault::None);
    eventually("the store's recovery", || async { service.submit(None, vec![spec("x", "2")]).await.is_ok() })
        .await;
    assert!(service.readiness().await.iter().all(|check| check.trouble.is_none()));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_reported_while_the_disk_is_full_is_recorded_when_there_is_room_again() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    let job = submit(server.service(), spec("x", "1")).await;
    let mut worker = Worker::start(&server.url()).await;
    let parcel = worker.work().await;
    store.commits(Fault::Full);
    worker.report(&parcel, Report::Ok("1".into())).await;
    eventually("a refused commit", || async { store.tried() > 0 }).await;
    assert_eq!(server.service().job(job).await.unwrap().stored.state, State::Running);
    store.commits(Fault::None);
    worker.acknowledged(&parcel).await;
    assert_eq!(ended(server.service(), job).await.stored.state, State::Succeeded);
    server.stop().await;
}

/// The sixth story: the commit happened, its answer was lost, and it is sent again.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_of_unknown_outcome_is_sent_until_it_is_settled_and_counts_once() {
    for fault in [Fault::AnswerLost, Fault::Vanished] {
        let store = FaultyStore::new();
        let server = testing::start_on(store.clone()).await;
        store.commits(fault);
        let call = tokio::spawn({
            let service = server.service().clone();
            async move { service.submit(None, vec![spec("x", "1")]).await }
        });
        eventually("a second try", || async { store.tried() > 1 }).await;
        assert!(!call.is_finished(), "nobody may be told before it is settled");
        store.commits(Fault::None);
        let Submitted::Accepted(intake) = call.await.unwrap().unwrap() else { panic!("not accepted") };
        let all = server.service().list(ListQuery { limit: 10, ..ListQuery::default() }).await.unwrap();
        assert_eq!(all.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [intake[0].job()]);
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_hangs_is_answered_with_unknown_and_never_with_yes() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    store.commits(Fault::Hangs);
    let call = within("an answer", server.service().submit(None, vec![spec("x", "1")])).await;
    assert!(matches!(call, Err(ServiceError::Unknown(_))), "{call:?}");
    store.commits(Fault::None);
    // It happened after all, which is what unknown means.
    eventually("the job", || async {
        let all = server.service().list(ListQuery { limit: 10, ..ListQuery::default() }).await.unwrap();
        all.jobs.len() == 1
    })
    .await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_lost_its_term_begins_again_and_loses_nothing() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    let service = server.service();
    let job = submit(service, spec("x", "1")).await;
    let mut worker = Worker::start(&server.url()).await;
    let parcel = worker.work().await;
    store.commits(Fault::TermLost);
    let call = service.submit(None, vec![spec("y", "2")]).await;
    assert!(matches!(call, Err(ServiceError::Unknown(_))), "{call:?}");
    within("the end of the stream", worker.stream_ends()).await;
    let mut phase = service.phase();
    within("another term", phase.wait_for(|phase| matches!(phase, Phase::Leading(term) if term.number > 1)))
        .await
        .unwrap();
    let mut worker = Worker::again(&server.url(), &worker).await;
    assert_eq!(worker.work().await.work.fence, parcel.work.fence);
    worker.report(&parcel, Report::Ok("1".into())).await;
    assert_eq!(ended(service, job).await.stored.state, State::Succeeded);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assignment_whose_payload_cannot_be_read_waits_but_the_session_lives() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    let job = submit(server.service(), spec("x", r#""kept""#)).await;
    server.stop().await;

    // Another process: no payload is at hand.
    let server = testing::start_on(store.clone()).await;
    store.reads_fail(true);
    let mut worker = Worker::start(&server.url()).await;
    assert_eq!(worker.hear().await.unwrap(), Some(ToWorker::Pong { number: 1 }));
    eventually("the lease", || async { server.service().workers().await.unwrap()[0].leases.len() == 1 })
        .await;
    for number in 2..5 {
        worker.say(ToLeader::Ping { number }).await;
        assert_eq!(worker.hear().await.unwrap(), Some(ToWorker::Pong { number }));
    }
    store.reads_fail(false);
    let parcel = worker.work().await;
    assert_eq!((parcel.work.job, parcel.payload.as_str()), (job, r#""kept""#));
    is_in(server.service(), job, State::Running).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_panics_ends_the_server_instead_of_serving_lies() {
    let server = testing::start().await;
    let service = server.service();
    let job = submit(service, spec("x", "1")).await;
    let look = service.inbox().look(|_, _| -> () { panic!("a test wants it so") });
    assert!(look.await.is_err());
    let cause = within("the end of the server", server.handle().failed()).await;
    assert!(cause.to_string().contains("panicked"), "{cause}");
    let refused = service.submit(None, vec![spec("y", "2")]).await.unwrap_err();
    assert!(matches!(refused, ServiceError::NotReady(_)), "{refused}");
    assert!(service.readiness().await.iter().any(|check| check.trouble.is_some()));
    // What is in the store is still true.
    assert_eq!(service.job(job).await.unwrap().stored.state, State::Queued);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_more_than_the_inbox_holds_is_refused_at_once_and_the_others_are_served() {
    let server = testing::start().await;
    let service = server.service().clone();
    let (go_on, blocked) = std::sync::mpsc::channel::<()>();
    let (busy, is_busy) = tokio::sync::oneshot::channel();
    let inbox = service.inbox().clone();
    let look = tokio::spawn(async move {
        let block = move |_: &_, _| {
            let _ = busy.send(());
            let _ = blocked.recv();
        };
        inbox.look(block).await
    });
    within("a busy coordinator", is_busy).await.unwrap();
    let mut calls = Vec::new();
    for _ in 0..INBOX {
        let mut call = Box::pin(service.submit(None, vec![spec("x", "1")]));
        assert!(futures::poll!(&mut call).is_pending());
        calls.push(call);
    }
    let refused = service.submit(None, vec![spec("x", "1")]).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Refused(Refusal::Overloaded)), "{refused}");
    go_on.send(()).unwrap();
    look.await.unwrap().unwrap();
    for call in futures::future::join_all(calls).await {
        call.unwrap();
    }
    server.stop().await;
}
