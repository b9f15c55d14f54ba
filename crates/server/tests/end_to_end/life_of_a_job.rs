//! A job's life through the whole server: submitted, run by a worker over gRPC, ended, read.

use ganger_core::Wall;
use ganger_core::change::{Idempotency, Intake, Submitted};
use ganger_core::job::State;
use ganger_core::message::ToLeader;
use ganger_core::outcome::Report;
use ganger_server::service::{Cancelled, ServiceError};
use ganger_server::testing;

use crate::common::{ended, eventually, is_in, spec, submit};
use crate::worker::Worker;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_on_a_worker_and_its_result_is_read_back() {
    let server = testing::start().await;
    let job = submit(server.service(), spec("email.send", r#"{"to": "a"}"#)).await;
    let mut worker = Worker::start(&server.url()).await;

    let parcel = worker.work().await;
    assert_eq!((parcel.work.job, parcel.work.attempt), (job, 1));
    assert_eq!(parcel.payload, r#"{"to": "a"}"#);
    is_in(server.service(), job, State::Running).await;
    let view = server.service().job(job).await.unwrap();
    assert_eq!(view.worker.as_deref(), Some("by-hand"), "it is told by its name, not by its session");

    worker.report(&parcel, Report::Ok("42".into())).await;
    worker.acknowledged(&parcel).await;
    let view = ended(server.service(), job).await;
    assert_eq!(view.stored.state, State::Succeeded);
    assert_eq!(view.stored.end.unwrap().result.as_deref(), Some("42"));
    assert_eq!(server.service().attempts(job).await.unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_log_lines_of_a_running_job_are_seen() {
    let server = testing::start().await;
    let job = submit(server.service(), spec("encode", "1")).await;
    let mut worker = Worker::start(&server.url()).await;
    let parcel = worker.work().await;
    let fence = parcel.work.fence;
    worker.say(ToLeader::Progress { job, fence, fraction: 0.5, note: "half".into() }).await;
    worker.say(ToLeader::Log { job, fence, text: "hello\n".into() }).await;
    eventually("progress", || async {
        server.service().job(job).await.unwrap().progress == Some((0.5, "half".into()))
    })
    .await;
    eventually("log", || async { server.service().log(job, 1).await.unwrap() == "hello\n" }).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_unique_key_is_one_job_however_many_submit_it_at_once() {
    let server = testing::start().await;
    let mut unique = spec("report", "1");
    unique.options.unique_key = Some("today".into());
    let calls = (0..50).map(|_| server.service().submit(None, vec![unique.clone()]));
    let mut created = Vec::new();
    let mut jobs = Vec::new();
    for answer in futures::future::join_all(calls).await {
        let Submitted::Accepted(intake) = answer.unwrap() else { panic!("not accepted") };
        jobs.push(intake[0].job());
        created.extend(intake.into_iter().filter(|i| matches!(i, Intake::Created(_))));
    }
    jobs.dedup();
    assert_eq!((created.len(), jobs.len()), (1, 1));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_idempotency_key_gets_the_same_answer_and_another_request_is_refused() {
    let server = testing::start().await;
    let key = |byte| {
        let until = Wall(i64::MAX);
        Some(Idempotency { scope: "test".into(), key: "k".into(), fingerprint: [byte; 32], until })
    };
    let call = |byte| server.service().submit(key(byte), vec![spec("pay", "1")]);
    let answers = futures::future::join_all((0..20).map(|_| call(7))).await;
    let mut accepted = 0;
    let mut ids = Vec::new();
    for answer in answers {
        let (Submitted::Accepted(intake) | Submitted::Replayed(intake)) = answer.unwrap() else {
            panic!("the key was refused");
        };
        accepted += usize::from(!ids.contains(&intake[0].job()));
        ids.push(intake[0].job());
    }
    assert_eq!(accepted, 1);
    assert_eq!(call(8).await.unwrap(), Submitted::KeyReused);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_job_is_cancelled_through_its_worker_and_a_queued_one_at_once() {
    let server = testing::start().await;
    let service = server.service();
    let running = submit(service, spec("long", "1")).await;
    let mut worker = Worker::start(&server.url()).await;
    let parcel = worker.work().await;
    assert_eq!(service.cancel(running).await.unwrap(), Cancelled::Requested);
    worker.told_to_stop(&parcel).await;
    worker.report(&parcel, Report::Cancelled).await;
    assert_eq!(ended(service, running).await.stored.state, State::Cancelled);
    let again = service.cancel(running).await.unwrap_err();
    assert!(matches!(again, ServiceError::WrongState(_, State::Cancelled)), "{again}");

    let mut later = spec("long", "1");
    later.run_at = Some(Wall(i64::MAX / 2));
    let queued = submit(service, later).await;
    assert_eq!(service.cancel(queued).await.unwrap(), Cancelled::AtOnce);
    assert_eq!(ended(service, queued).await.stored.state, State::Cancelled);
    let unknown = ganger_core::JobId::new(1, [1; 10]);
    assert!(matches!(service.cancel(unknown).await, Err(ServiceError::NoSuchJob(_))));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_job_is_explained_replayed_and_purged() {
    let server = testing::start().await;
    let service = server.service();
    let mut worker = Worker::start(&server.url()).await;
    let job = submit(service, spec("pay", "1")).await;
    let parcel = worker.work().await;
    worker.report(&parcel, Report::Fatal("no such card".into())).await;
    assert_eq!(ended(service, job).await.stored.state, State::Dead);
    let why = service.explain(job).await.unwrap();
    assert!(why.summary.contains("no such card"), "{}", why.summary);

    service.replay(job).await.unwrap();
    let parcel = worker.work().await;
    assert_eq!((parcel.work.job, parcel.work.attempt), (job, 2));
    assert!(matches!(service.replay(job).await, Err(ServiceError::WrongState(_, State::Running))));
    worker.report(&parcel, Report::Fatal("still not".into())).await;
    assert_eq!(ended(service, job).await.stored.state, State::Dead);
    assert_eq!(service.purge_dead("default".parse().unwrap()).await.unwrap(), 1);
    assert!(matches!(service.job(job).await, Err(ServiceError::NoSuchJob(_))));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_job_without_history_is_still_told_to_whoever_waits() {
    let server = testing::start().await;
    let service = server.service().clone();
    let mut settings = service.queue("default".parse().unwrap()).await.unwrap().settings;
    settings.retention.finished = ganger_core::queue::Keep::None;
    service.put_queue("default".parse().unwrap(), settings).await.unwrap();
    let mut worker = Worker::start(&server.url()).await;
    let job = submit(&service, spec("fleeting", "1")).await;
    let parcel = worker.work().await;
    is_in(&service, job, State::Running).await;
    // The caller waits from its first step on, which comes before the report.
    let (view, ()) = tokio::join!(ended(&service, job), worker.report(&parcel, Report::Ok("7".into())));
    assert_eq!(view.stored.end.unwrap().result.as_deref(), Some("7"));
    assert!(matches!(service.job(job).await, Err(ServiceError::NoSuchJob(_))));
    server.stop().await;
}
