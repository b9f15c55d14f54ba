//! The streams of workers: they break, come back, lie and die.

use ganger_core::job::State;
use ganger_core::message::ToLeader;
use ganger_core::outcome::Report;
use ganger_core::{Term, limits};
use ganger_proto::v1;
use ganger_proto::v1::worker_client::WorkerClient;
use ganger_server::coordinator_thread::Phase;
use ganger_server::testing;
use tonic::Code;

use crate::common::{ended, is_in, spec, submit, within};
use crate::worker::{self, Worker};

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_stream_broke_hears_of_its_lease_again_under_the_same_fence() {
    let server = testing::start().await;
    let job = submit(server.service(), spec("x", "1")).await;
    let mut first = Worker::start(&server.url()).await;
    let parcel = first.work().await;
    let mut second = Worker::again(&server.url(), &first).await;
    within("the end of the older stream", first.stream_ends()).await;
    let again = second.work().await;
    assert_eq!((again.work.fence, again.payload), (parcel.work.fence, parcel.payload.clone()));
    second.report(&parcel, Report::Ok("1".into())).await;
    second.acknowledged(&parcel).await;
    let view = ended(server.service(), job).await;
    assert_eq!((view.stored.state, view.stored.standing.attempt), (State::Succeeded, 1));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_stream_of_a_session_is_not_opened_beside_a_newer_one() {
    let server = testing::start().await;
    let session = worker::session();
    let _newer = Worker::greet(&server.url(), worker::hello(session, 5)).await.unwrap();
    let refused = Worker::open(&server.url(), worker::hello(session, 4)).await.err().unwrap();
    assert_eq!(refused.code(), Code::Aborted);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_word_of_a_supervisor_moves_the_jobs_of_a_dead_worker_at_once() {
    let server = testing::start().await;
    let job = submit(server.service(), spec("x", "1")).await;
    let mut doomed = Worker::start(&server.url()).await;
    let lost = doomed.work().await;
    let mut other = Worker::start(&server.url()).await;
    let mut client = WorkerClient::connect(server.url()).await.unwrap();
    let session = doomed.session.uuid().as_bytes().to_vec();
    client.report_death(v1::ReportDeathRequest { session }).await.unwrap();
    let parcel = other.work().await;
    assert_eq!((parcel.work.job, parcel.work.attempt), (job, 2));
    assert!(parcel.work.fence > lost.work.fence);
    // The zombie wakes up, finds its session gone, and reports in its next life: nothing changes.
    within("the end of the stream", doomed.stream_ends()).await;
    let mut reborn = Worker::start(&server.url()).await;
    reborn.report(&lost, Report::Ok("false".into())).await;
    reborn.acknowledged(&lost).await;
    other.report(&parcel, Report::Ok("true".into())).await;
    let view = ended(server.service(), job).await;
    assert_eq!(view.stored.end.unwrap().result.as_deref(), Some("true"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_has_seen_a_later_term_makes_the_leader_take_a_higher_one() {
    let server = testing::start().await;
    let job = submit(server.service(), spec("x", "1")).await;
    let mut hello = worker::hello(worker::session(), 1);
    hello.highest = Term { number: 41, id: 7 };
    let mut turned_away = Worker::open(&server.url(), hello.clone()).await.unwrap();
    within("the end of the stream", turned_away.stream_ends()).await;
    let mut phase = server.service().phase();
    within("a higher term", phase.wait_for(|p| matches!(p, Phase::Leading(term) if term.number == 42)))
        .await
        .unwrap();
    hello.stream = 2;
    let mut worker = Worker::greet(&server.url(), hello).await.unwrap();
    assert_eq!(worker.term.number, 42);
    assert_eq!(worker.work().await.work.job, job);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_begins_wrongly_is_refused_and_the_field_is_named() {
    let server = testing::start().await;
    let url = server.url();
    let ping = ToLeader::Ping { number: 1 }.into();
    let mut no_threads: v1::FromWorker = ToLeader::Hello(worker::hello(worker::session(), 1)).into();
    if let Some(v1::from_worker::Message::Hello(hello)) = &mut no_threads.message {
        hello.threads = 0;
    }
    // Believed, it would use up every term there is.
    let mut from_the_future = worker::hello(worker::session(), 1);
    from_the_future.highest = Term { number: limits::TERMS_AHEAD + 2, id: 7 };
    for (first, named) in [
        (ping, "`hello`"),
        (no_threads, "`hello.threads`"),
        (ToLeader::Hello(from_the_future).into(), "`hello.highest.number`"),
        (v1::FromWorker { message: None }, "`message`"),
    ] {
        let refused = worker::connect(&url, first).await.err().unwrap();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(refused.message().contains(named), "{refused}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rubbish_in_the_middle_of_a_stream_ends_it_and_the_field_is_named() {
    let server = testing::start().await;
    let hello = || ToLeader::Hello(worker::hello(worker::session(), 1)).into();
    let rubbish = v1::FromWorker {
        message: Some(v1::from_worker::Message::Progress(v1::Progress {
            job: vec![1],
            ..Default::default()
        })),
    };
    for (message, named) in [(hello(), "`hello`"), (rubbish, "`job`")] {
        let (up, mut down) = worker::connect(&server.url(), hello()).await.unwrap();
        up.send(message).await.unwrap();
        let refused = within("the end of the stream", async {
            loop {
                match down.message().await {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("the stream ended without a reason"),
                    Err(status) => return status,
                }
            }
        })
        .await;
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(refused.message().contains(named), "{refused}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_inside_the_process_is_known_as_such_whatever_it_says() {
    let server = testing::start().await;
    let session = worker::session();
    server.handle().register_local(session);
    let _local = Worker::greet(&server.url(), worker::hello(session, 1)).await.unwrap();
    let _remote = Worker::start(&server.url()).await;
    let workers = server.service().workers().await.unwrap();
    for view in workers {
        assert_eq!(view.worker.local, view.session == session);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assignment_larger_than_a_message_arrives_whole_and_in_order() {
    let server = testing::start().await;
    let large = format!("\"{}\"", "x".repeat(700_000));
    let jobs = vec![spec("big", &large); 4];
    server.service().submit(None, jobs).await.unwrap();
    let mut worker = Worker::start(&server.url()).await;
    let mut last = None;
    for _ in 0..4 {
        let parcel = worker.work().await;
        assert_eq!(parcel.payload.len(), large.len());
        assert!(last < Some(parcel.work.fence));
        last = Some(parcel.work.fence);
        is_in(server.service(), parcel.work.job, State::Running).await;
    }
    server.stop().await;
}

/// Fences of one term are easily guessed by whoever has one.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_cannot_end_what_another_one_runs() {
    let server = testing::start().await;
    let job = submit(server.service(), spec("transfer", "1")).await;
    let mut owner = Worker::start(&server.url()).await;
    let parcel = owner.work().await;
    let mut thief = Worker::start(&server.url()).await;
    thief.report(&parcel, Report::Ok("\"forged\"".into())).await;
    thief.acknowledged(&parcel).await;
    assert_eq!(server.service().job(job).await.unwrap().stored.state, State::Running);
    owner.report(&parcel, Report::Ok("1".into())).await;
    let view = ended(server.service(), job).await;
    assert_eq!(view.stored.end.unwrap().result.as_deref(), Some("1"));
    server.stop().await;
}
