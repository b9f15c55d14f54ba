//! `ganger.v1.Jobs`: what programs can do over gRPC.

use std::sync::Arc;

use ganger_core::outcome::Report;
use ganger_proto::v1;
use ganger_proto::v1::batch_item::Answer;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_server::testing;
use ganger_store::MemoryStore;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use crate::common::within;
use crate::worker::Worker;

fn job(kind: &str, payload: &str) -> v1::NewJob {
    v1::NewJob { kind: kind.into(), payload: payload.into(), ..Default::default() }
}

fn enqueue(job: v1::NewJob, key: &str) -> v1::EnqueueRequest {
    v1::EnqueueRequest { job: Some(job), idempotency_key: key.into(), ..Default::default() }
}

async fn client(url: &str) -> JobsClient<Channel> {
    JobsClient::connect(url.to_owned()).await.unwrap()
}

fn code(status: &Status) -> String {
    status.metadata().get("ganger-code").map(|v| v.to_str().unwrap().into()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_submits_waits_lists_and_replays() {
    let server = testing::start().await;
    let mut client = client(&server.url()).await;
    let id = client.enqueue(enqueue(job("a", r#"{"x":1}"#), "")).await.unwrap().into_inner().id;
    let mut worker = Worker::start(&server.url()).await;
    let parcel = worker.work().await;
    worker.report(&parcel, Report::Fatal("broken".into())).await;
    let wait = Some(prost_types::Duration { seconds: 20, nanos: 0 });
    let dead = client.get(v1::GetRequest { id: id.clone(), wait }).await.unwrap().into_inner();
    assert_eq!((dead.state.as_str(), dead.last_error.as_str()), ("dead", "broken"));
    assert_eq!(dead.payload, r#"{"x":1}"#);

    let replayed = client.replay(v1::ReplayRequest { id: id.clone() }).await.unwrap().into_inner();
    assert!(replayed.finished_at.is_none());
    let parcel = worker.work().await;
    worker.report(&parcel, Report::Ok("[2]".into())).await;
    let done = client.get(v1::GetRequest { id: id.clone(), wait }).await.unwrap().into_inner();
    assert_eq!((done.state.as_str(), done.result.as_str(), done.attempt), ("succeeded", "[2]", 2));
    let attempts = client.attempts(v1::AttemptsRequest { id }).await.unwrap().into_inner().attempts;
    assert_eq!(attempts.iter().map(|a| a.outcome.as_str()).collect::<Vec<_>>(), ["error", "ok"]);

    for n in 0..5 {
        client.enqueue(enqueue(job("page", &n.to_string()), "")).await.unwrap();
    }
    let mut request = v1::ListRequest { kind: "page".into(), limit: 2, ..Default::default() };
    let mut seen = Vec::new();
    loop {
        let page = client.list(request.clone()).await.unwrap().into_inner();
        seen.extend(page.jobs.into_iter().map(|job| job.payload));
        if page.next_cursor.is_empty() {
            break;
        }
        request.cursor = page.next_cursor;
    }
    assert_eq!(seen, ["4", "3", "2", "1", "0"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_is_the_same_answer_and_each_job_of_a_batch_is_answered_by_itself() {
    let server = testing::start().await;
    let mut client = client(&server.url()).await;
    let first = client.enqueue(enqueue(job("a", "1"), "k")).await.unwrap().into_inner();
    let again = client.enqueue(enqueue(job("a", "1"), "k")).await.unwrap().into_inner();
    assert_eq!((again.id, again.replayed), (first.id, true));
    let other = client.enqueue(enqueue(job("a", "2"), "k")).await.unwrap_err();
    assert_eq!(code(&other), "idempotency_key_reused");

    let jobs = vec![job("a", "1"), job("a b", "1"), job("a", "{"), job("exec", "1"), job("c", "2")];
    let batch = v1::EnqueueBatchRequest { jobs: jobs.clone(), ..Default::default() };
    let answer = client.enqueue_batch(batch).await.unwrap().into_inner();
    let told: Vec<String> = answer
        .items
        .into_iter()
        .map(|item| match item.answer.unwrap() {
            Answer::Job(_) => "taken".into(),
            Answer::Problem(problem) => problem.code,
        })
        .collect();
    assert_eq!(told, ["taken", "validation_failed", "validation_failed", "exec_not_allowed", "taken"]);
    let atomic = v1::EnqueueBatchRequest { jobs, atomic: true, ..Default::default() };
    let refused = client.enqueue_batch(atomic).await.unwrap_err();
    assert!(refused.message().contains("jobs[1]"), "{refused}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_need_the_token_of_the_machine() {
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.exec_token = Some("secret".into());
    let server = testing::start_with(options).await;
    let mut client = client(&server.url()).await;
    for (token, allowed) in [(None, false), (Some("guess"), false), (Some("secret"), true)] {
        let mut request = Request::new(enqueue(job("exec", "{}"), ""));
        if let Some(token) = token {
            request.metadata_mut().insert("x-ganger-exec-token", token.parse().unwrap());
        }
        let answer = client.enqueue(request).await;
        assert_eq!(answer.is_ok(), allowed, "{token:?}");
        if let Err(refused) = answer {
            assert_eq!((refused.code(), code(&refused)), (Code::PermissionDenied, "exec_not_allowed".into()));
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_exist_or_is_not_valid_is_told_by_a_stable_code() {
    let server = testing::start().await;
    let mut client = client(&server.url()).await;
    let id = ganger_core::JobId::new(1, [1; 10]).to_string();
    let unknown = client.cancel(v1::CancelRequest { id }).await.unwrap_err();
    assert_eq!((unknown.code(), code(&unknown)), (Code::NotFound, "no_such_job".into()));
    let rubbish = client.get(v1::GetRequest { id: "x".into(), wait: None }).await.unwrap_err();
    assert_eq!((rubbish.code(), code(&rubbish)), (Code::InvalidArgument, "invalid_parameter".into()));
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let refused = client.enqueue(enqueue(job("a", &deep), "")).await.unwrap_err();
    assert!(refused.message().contains("deeper than 64"), "{refused}");
    let many = vec![job("a", "1"); ganger_core::limits::BATCH_JOBS + 1];
    let refused = client.enqueue_batch(v1::EnqueueBatchRequest { jobs: many, ..Default::default() });
    assert_eq!(code(&refused.await.unwrap_err()), "body_too_large");
    server.stop().await;
}

/// A page whose name points to this machine can send HTTP/1, and what it sends has an origin.
#[tokio::test(flavor = "multi_thread")]
async fn a_web_page_cannot_speak_grpc() {
    let server = testing::start().await;
    let url = format!("{}/ganger.v1.Jobs/Enqueue", server.url());
    let post = reqwest::Client::new().post(&url).header("content-type", "application/grpc").body(vec![0; 5]);
    let answer = within("an answer", post.send()).await.unwrap();
    assert_eq!(answer.headers().get("grpc-status").unwrap(), "7");

    let mut client = client(&server.url()).await;
    let mut request = Request::new(enqueue(job("a", "1"), ""));
    request.metadata_mut().insert("origin", "http://evil.example".parse().unwrap());
    assert_eq!(client.enqueue(request).await.unwrap_err().code(), Code::PermissionDenied);
    server.stop().await;
}
