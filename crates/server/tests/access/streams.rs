//! gRPC: calls and the stream of a worker show a token too, and a revoked one ends the stream.

use ganger_proto::v1;
use ganger_proto::v1::close_key_request::Long;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_proto::v1::keys_client::KeysClient;
use ganger_proto::v1::queues_client::QueuesClient;
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

/// Asks by a token about his own and about a foreign thing: the first must be answered, the other refused so.
macro_rules! only_his {
    ($client:ident.$call:ident, $token:expr, $own:expr, $foreign:expr, $code:expr) => {
        let refused = $client.$call(with_token($token, $foreign)).await.map(drop).unwrap_err();
        assert_eq!(refused.code(), $code, "{}: {refused}", stringify!($call));
        $client.$call(with_token($token, $own)).await.unwrap();
    };
}

#[tokio::test]
async fn a_confined_program_has_over_grpc_what_it_has_over_rest() {
    let site = Site::start().await;
    let mut jobs = JobsClient::connect(site.server.url()).await.unwrap();
    let token = &site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    let mut ids = Vec::new();
    for queue in ["mail", "pay"] {
        ids.push(jobs.enqueue(with_token(&site.admin, enqueue(queue))).await.unwrap().into_inner().id);
    }
    let (own, foreign) = (ids[0].clone(), ids[1].clone());
    let missing = Code::NotFound;
    let of = |id: &str| v1::AttemptsRequest { id: id.into() };
    only_his!(jobs.attempts, token, of(&own), of(&foreign), missing);
    let of = |id: &str| v1::ExplainRequest { id: id.into() };
    only_his!(jobs.explain, token, of(&own), of(&foreign), missing);
    let of = |id: &str| v1::CancelRequest { id: id.into() };
    only_his!(jobs.cancel, token, of(&own), of(&foreign), missing);
    let of = |id: &str| v1::ReplayRequest { id: id.into() };
    only_his!(jobs.replay, token, of(&own), of(&foreign), missing);
    jobs.cancel(with_token(token, v1::CancelRequest { id: own.clone() })).await.unwrap();
    let of = |id: &str| v1::DeleteRequest { id: id.into() };
    only_his!(jobs.delete, token, of(&own), of(&foreign), missing);
    for id in [&foreign, &own] {
        let logs = v1::LogsRequest { id: id.clone(), attempt: 0 };
        assert_eq!(jobs.logs(with_token(token, logs)).await.unwrap_err().code(), missing);
        let now = v1::RunNowRequest { id: id.clone() };
        assert_eq!(jobs.run_now(with_token(token, now)).await.unwrap_err().code(), missing);
    }
    jobs.enqueue(with_token(token, enqueue("mail.out"))).await.unwrap();
    for q in ["", "queue:*", "queue:pay or queue:mail.out"] {
        let list = v1::ListRequest { q: q.into(), ..Default::default() };
        let listed = jobs.list(with_token(token, list.clone())).await.unwrap().into_inner().jobs;
        assert_eq!(listed.iter().map(|job| job.queue.as_str()).collect::<Vec<_>>(), ["mail.out"], "{q}");
        let count = v1::HistogramRequest { jobs: Some(list), ..Default::default() };
        assert_eq!(jobs.histogram(with_token(token, count)).await.unwrap().into_inner().matched, 1, "{q}");
    }
}

#[tokio::test]
async fn a_confined_program_keeps_to_its_queues_and_their_keys_over_grpc() {
    let site = Site::start().await;
    let token = &site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    let mut queues = QueuesClient::connect(site.server.url()).await.unwrap();
    let denied = Code::PermissionDenied;
    let of = |queue: &str| v1::GetQueueRequest { queue: queue.into() };
    only_his!(queues.get, token, of("mail"), of("pay"), denied);
    let of = |queue: &str| v1::PutQueueRequest { queue: queue.into(), ..Default::default() };
    only_his!(queues.put, token, of("mail"), of("pay"), denied);
    let of = |queue: &str| v1::PauseQueueRequest { queue: queue.into() };
    only_his!(queues.pause, token, of("mail"), of("pay"), denied);
    let of = |queue: &str| v1::ResumeQueueRequest { queue: queue.into() };
    only_his!(queues.resume, token, of("mail"), of("pay"), denied);
    let of = |queue: &str| v1::DrainQueueRequest { queue: queue.into() };
    only_his!(queues.drain, token, of("mail"), of("pay"), denied);
    let of = |queue: &str| v1::PurgeQueueRequest { queue: queue.into() };
    only_his!(queues.purge, token, of("mail"), of("pay"), denied);
    let pause = v1::PauseQueueRequest { queue: "pay".into() };
    queues.pause(with_token(&site.admin, pause)).await.unwrap();
    let seen = queues.list(with_token(token, v1::ListQueuesRequest {})).await.unwrap().into_inner().queues;
    assert!(seen.iter().all(|queue| queue.queue != "pay") && !seen.is_empty(), "{seen:?}");

    let mut keys = KeysClient::connect(site.server.url()).await.unwrap();
    let long = || Some(Long::For(prost_types::Duration { seconds: 60, nanos: 0 }));
    let of = |queue: &str| v1::CloseKeyRequest { queue: queue.into(), key: "k".into(), long: long() };
    only_his!(keys.close, token, of("mail"), of("pay"), denied);
    let of = |queue: &str| v1::ListKeysRequest { queue: queue.into(), limit: 0 };
    only_his!(keys.list, token, of("mail"), of("pay"), denied);
    assert_eq!(keys.list(with_token(token, of(""))).await.unwrap_err().code(), denied, "that is all queues");
    let of = |queue: &str| v1::OpenKeyRequest { queue: queue.into(), key: "k".into() };
    only_his!(keys.open, token, of("mail"), of("pay"), denied);
}

/// Attempts and events name the session of a claim, and fences can be counted: the token of a lease can be made up.
#[tokio::test]
async fn a_claim_is_of_the_token_that_made_it() {
    let site = Site::start().await;
    let (first, second) = (site.role("worker").await, site.role("worker").await);
    for _ in 0..2 {
        let job = json!({"kind": "a", "queue": "mail"});
        assert_eq!(site.post(&site.admin, "/v1/jobs", job).await.0, 201);
    }
    let (status, claimed) = site.post(&first, "/v1/queues/mail:claim", json!({"lease": "30s"})).await;
    assert_eq!(status, 200, "{claimed}");
    let lease = claimed["jobs"][0]["lease_token"].as_str().unwrap();
    for verb in ["extend", "progress", "log", "complete", "fail", "release"] {
        let body = match verb {
            "progress" => json!({"fraction": 0.5}),
            "log" => json!({"text": "x"}),
            _ => json!({}),
        };
        let (status, refused) = site.post(&second, &format!("/v1/leases/{lease}:{verb}"), body).await;
        assert_eq!((status, &refused["code"]), (409, &json!("lease_lost")), "{verb}: {refused}");
    }
    // Nor can he greet as the worker that the claim stands for.
    let session = lease.parse::<ganger_server::claims::Token>().unwrap().session;
    let mut door = WorkerClient::connect(site.server.url()).await.unwrap();
    let (say, said) = tokio::sync::mpsc::channel(4);
    let mut greeting = hello(&[]);
    if let Some(v1::from_worker::Message::Hello(hello)) = &mut greeting.message {
        hello.session = session.uuid().into_bytes().to_vec();
        hello.stream = u64::MAX / 2;
    }
    say.send(greeting).await.unwrap();
    let refused = door.session(with_token(&second, ReceiverStream::new(said))).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    let (status, done) =
        site.post(&first, &format!("/v1/leases/{lease}:complete"), json!({"result": 1})).await;
    assert_eq!((status, &done["recorded"]), (200, &json!(true)), "{done}");
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
