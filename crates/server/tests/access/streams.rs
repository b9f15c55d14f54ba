//! gRPC: calls and the stream of a worker show a token too, and a revoked one ends the stream.

use ganger_proto::v1;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_proto::v1::worker_client::WorkerClient;
use reqwest::Method;
use serde_json::json;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::MetadataValue;
use tonic::{Code, Request};

use crate::site::{PATIENCE, Site};

fn with_token<T>(token: &str, body: T) -> Request<T> {
    let mut request = Request::new(body);
    if !token.is_empty() {
        let value: MetadataValue<_> = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    request
}

fn enqueue(queue: &str) -> v1::EnqueueRequest {
    let job =
        v1::NewJob { kind: "a".into(), queue: queue.into(), payload: "{}".into(), ..Default::default() };
    v1::EnqueueRequest { job: Some(job), ..Default::default() }
}

#[tokio::test]
async fn calls_need_a_token_and_its_permission() {
    let site = Site::start().await;
    let mut jobs = JobsClient::connect(site.server.url()).await.unwrap();
    let refused = jobs.enqueue(with_token("", enqueue("mail"))).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");
    let viewer = site.role("viewer").await;
    let refused = jobs.enqueue(with_token(&viewer, enqueue("mail"))).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    let confined = site.token(json!({"name": "m", "role": "submitter", "queues": ["mail"]})).await;
    let refused = jobs.enqueue(with_token(&confined, enqueue("pay"))).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    let taken = jobs.enqueue(with_token(&confined, enqueue("mail"))).await.unwrap().into_inner();
    let foreign = jobs.enqueue(with_token(&site.admin, enqueue("pay"))).await.unwrap().into_inner();
    let get = |id: &str| v1::GetRequest { id: id.into(), wait: None };
    assert!(jobs.get(with_token(&confined, get(&taken.id))).await.is_ok());
    let hidden = jobs.get(with_token(&confined, get(&foreign.id))).await.unwrap_err();
    assert_eq!(hidden.code(), Code::NotFound);
}

fn hello(queues: &[&str]) -> v1::FromWorker {
    let session = uuid::Uuid::now_v7().into_bytes().to_vec();
    let hello = v1::Hello {
        session,
        stream: 1,
        name: "w".into(),
        queues: queues.iter().map(ToString::to_string).collect(),
        threads: 1,
        version: "1".into(),
        ..Default::default()
    };
    v1::FromWorker { message: Some(v1::from_worker::Message::Hello(hello)) }
}

#[tokio::test]
async fn a_worker_shows_a_token_serves_its_own_queues_and_leaves_when_it_is_revoked() {
    let site = Site::start().await;
    let mut door = WorkerClient::connect(site.server.url()).await.unwrap();
    let open = async |door: &mut WorkerClient<_>, token: &str, queues: &[&str]| {
        let (say, said) = tokio::sync::mpsc::channel(4);
        say.send(hello(queues)).await.unwrap();
        let opened = door.session(with_token(token, ReceiverStream::new(said))).await;
        opened.map(|stream| (say, stream.into_inner()))
    };
    let viewer = site.role("viewer").await;
    assert_eq!(open(&mut door, "", &[]).await.unwrap_err().code(), Code::Unauthenticated);
    assert_eq!(open(&mut door, &viewer, &[]).await.unwrap_err().code(), Code::PermissionDenied);
    let confined = site.token(json!({"name": "m", "role": "worker", "queues": ["mail*"]})).await;
    for others in [&[][..], &["pay"], &["mail", "pay"]] {
        let refused = open(&mut door, &confined, others).await.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{others:?}");
    }
    let (_say, mut stream) = open(&mut door, &confined, &["mail.out"]).await.unwrap();
    assert!(stream.message().await.unwrap().is_some(), "it is welcome");
    let id = confined.split('_').nth(1).unwrap();
    let revoked = site.ask(&site.admin, Method::DELETE, &format!("/v1/tokens/{id}"), None).await;
    assert_eq!(revoked.0, 204);
    let over = tokio::time::timeout(PATIENCE, async {
        loop {
            match stream.message().await {
                Ok(Some(_)) => {}
                Ok(None) => return Code::Ok,
                Err(status) => return status.code(),
            }
        }
    });
    assert_eq!(over.await.expect("the stream ends"), Code::Unauthenticated);
    let (_, workers) = site.get(&site.admin, "/v1/workers").await;
    let left = workers["items"].as_array().unwrap().iter().all(|worker| worker["state"] != "available");
    assert!(left, "it gets nothing new: {workers}");
}

/// Ids of sessions are seen by whoever lists workers.
#[tokio::test]
async fn a_session_is_of_the_token_that_opened_it() {
    let site = Site::start().await;
    let mut door = WorkerClient::connect(site.server.url()).await.unwrap();
    let (first, second) = (site.role("worker").await, site.role("worker").await);
    let greeting = hello(&[]);
    let Some(v1::from_worker::Message::Hello(ref greeted)) = greeting.message else { unreachable!() };
    let session = greeted.session.clone();
    let again = |stream| {
        let hello = v1::Hello { stream, ..greeted.clone() };
        v1::FromWorker { message: Some(v1::from_worker::Message::Hello(hello)) }
    };
    let open = async |door: &mut WorkerClient<_>, token: &str, hello: v1::FromWorker| {
        let (say, said) = tokio::sync::mpsc::channel(4);
        say.send(hello).await.unwrap();
        let opened = door.session(with_token(token, ReceiverStream::new(said))).await;
        opened.map(|stream| (say, stream.into_inner()))
    };
    let (_say, mut stream) = open(&mut door, &first, again(1)).await.unwrap();
    assert!(stream.message().await.unwrap().is_some(), "it is welcome");
    assert_eq!(open(&mut door, &second, again(2)).await.unwrap_err().code(), Code::PermissionDenied);
    let dead = v1::ReportDeathRequest { session };
    let refused = door.report_death(with_token(&second, dead.clone())).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    assert!(open(&mut door, &first, again(3)).await.is_ok(), "its own worker comes back");
    assert!(door.report_death(with_token(&first, dead)).await.is_ok());
}
