//! Through a standby: everything that a leader can do, as its clients and workers see it.

use std::sync::Arc;

use futures::StreamExt as _;
use ganger_core::job::State;
use ganger_core::outcome::Report;
use ganger_proto::v1;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_server::ServerOptions;
use ganger_server::testing::{self, TestServer, TestStandby};
use ganger_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::common::{ended, eventually, is_in, spec, submit, within};
use crate::worker::Worker;

pub const SECRET: &str = "what the servers of this test share";
pub const LEADER: &str = "leader-1";

/// A leader and a standby on one store.
pub struct Pair {
    pub store: Arc<dyn Store>,
    pub leader: TestServer,
    pub standby: TestStandby,
}

/// A server of that name on that store.
pub fn server(name: &str, store: &Arc<dyn Store>) -> ServerOptions {
    let mut options = testing::options(store.clone());
    options.name = name.into();
    options.cluster_secret = Some(SECRET.into());
    options
}

/// A pair whose standby follows its leader.
pub async fn pair() -> Pair {
    let pair = pair_with(|_| ()).await;
    pair.standby.follow(LEADER, &pair.leader.url());
    pair
}

/// A pair whose standby is to be like this, and does not know its leader yet.
pub async fn pair_with(change: impl FnOnce(&mut ServerOptions)) -> Pair {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let leader = testing::start_with(server(LEADER, &store)).await;
    let mut options = server("standby-1", &store);
    change(&mut options);
    let standby = testing::standby(options).await;
    Pair { store, leader, standby }
}

impl Pair {
    pub async fn stop(self) {
        self.standby.stop().await;
        self.leader.stop().await;
    }
}

/// Asks, and answers the status and the body.
pub async fn ask(method: &str, url: &str, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
    let request = reqwest::Client::new().request(method.parse().unwrap(), format!("{url}{path}")).body(body);
    let answer = within(path, request.send()).await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

pub async fn post(url: &str, path: &str, body: Value) -> (u16, Value) {
    ask("POST", url, path, body.to_string()).await
}

pub async fn get(url: &str, path: &str) -> (u16, Value) {
    ask("GET", url, path, "").await
}

/// The value of a metric of that server.
pub async fn metric(url: &str, name: &str) -> Option<f64> {
    let (_, text) = get(url, "/metrics").await;
    let line = text.as_str()?.lines().find(|line| line.split(' ').next() == Some(name))?.to_owned();
    line.split(' ').nth(1)?.parse().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_submitted_claimed_completed_and_read_through_a_standby() {
    let pair = pair().await;
    let url = pair.standby.url();
    let (status, job) = post(&url, "/v1/jobs", json!({"kind": "resize", "payload": [1]})).await;
    assert_eq!(status, 201, "{job}");
    let path = format!("/v1/jobs/{}", job["id"].as_str().unwrap());
    assert_eq!(get(&url, &path).await.1["state"], "queued");
    let waits = tokio::spawn({
        let (url, path) = (url.clone(), path.clone());
        async move { get(&url, &format!("{path}?wait=20s")).await }
    });
    let (status, claimed) = post(&url, "/v1/queues/default:claim", json!({"wait": "10s"})).await;
    assert_eq!(status, 200, "{claimed}");
    let token = claimed["jobs"][0]["lease_token"].as_str().unwrap();
    assert_eq!(post(&url, &format!("/v1/leases/{token}:progress"), json!({"fraction": 0.5})).await.0, 200);
    assert_eq!(get(&url, &path).await.1["progress"]["fraction"], 0.5, "only the leader knows");
    let (status, done) = post(&url, &format!("/v1/leases/{token}:complete"), json!({"result": 7})).await;
    assert_eq!((status, &done["recorded"]), (200, &json!(true)));
    assert_eq!(within("the end", waits).await.unwrap().1["state"], "succeeded");
    assert_eq!(metric(&url, "ganger_relay_streams").await, Some(0.0));
    assert!(metric(&url, "ganger_relay_requests_total{outcome=\"answered\"}").await > Some(4.0));

    // History needs no leader.
    pair.standby.lose_the_leader();
    for (part, shown) in [("", json!("succeeded")), ("/result", json!(7)), ("/attempts", json!("ok"))] {
        let (status, body) = get(&url, &format!("{path}{part}")).await;
        assert_eq!(status, 200, "{part}: {body}");
        let seen = [&body, &body["state"], &body["items"][0]["outcome"]];
        assert!(seen.contains(&&shown), "{part}: {body}");
    }
    let (status, list) = get(&url, "/v1/jobs?state=succeeded,dead").await;
    assert_eq!((status, list["items"].as_array().unwrap().len()), (200, 1));
    let mut program = JobsClient::connect(url).await.unwrap();
    let id = job["id"].as_str().unwrap();
    let read = program.get(v1::GetRequest { id: id.into(), wait: None }).await.unwrap().into_inner();
    assert_eq!(read.state, "succeeded");
    let attempts = program.attempts(v1::AttemptsRequest { id: id.into() }).await.unwrap().into_inner();
    assert_eq!(attempts.attempts.len(), 1);
    let finals = v1::ListRequest { states: vec!["succeeded".into(), "dead".into()], ..Default::default() };
    let listed = within("a list", program.list(finals.clone())).await.unwrap().into_inner();
    assert_eq!(listed.jobs.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(), [id]);
    let counted = v1::HistogramRequest { jobs: Some(finals), buckets: 3 };
    let counted = within("a histogram", program.histogram(counted)).await.unwrap().into_inner();
    assert_eq!(counted.matched, 1);
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_and_request_ids_of_the_leader_arrive_as_they_are() {
    let pair = pair().await;
    let client = reqwest::Client::new();
    let mut answers = Vec::new();
    for url in [pair.leader.url(), pair.standby.url()] {
        let request =
            client.post(format!("{url}/v1/jobs")).header("x-request-id", "mine-7").body("{\"knd\":1}");
        let answer = within("an answer", request.send()).await.unwrap();
        let headers = answer.headers().clone();
        let named = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let shown = (answer.status(), named("x-request-id"), named("content-type"), named("x-frame-options"));
        answers.push((shown, answer.json::<Value>().await.unwrap()));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].1["request_id"], "mine-7");
    assert_eq!(get(&pair.standby.url(), "/v1/nowhere").await.1["code"], "no_such_route");
    pair.stop().await;
}

/// Reads events until one of this name; answers its id.
async fn event(
    stream: &mut (impl futures::Stream<Item = reqwest::Result<bytes::Bytes>> + Unpin),
    name: &str,
) -> String {
    let mut text = String::new();
    within(name, async {
        loop {
            let chunk = stream.next().await.expect("the stream is open").unwrap();
            text.push_str(std::str::from_utf8(&chunk).unwrap());
            let found = text.split("\n\n").find(|e| e.lines().any(|line| line == format!("event: {name}")));
            if let Some(id) = found.and_then(|e| e.lines().find_map(|line| line.strip_prefix("id: "))) {
                return id.to_owned();
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_followed_and_resumed_through_a_standby() {
    let pair = pair().await;
    let url = format!("{}/v1/events?topics=job,queue", pair.standby.url());
    let client = reqwest::Client::new();
    let mut first = within("events", client.get(&url).send()).await.unwrap().bytes_stream();
    submit(pair.leader.service(), spec("x", "1")).await;
    let seen = event(&mut first, "job").await;
    drop(first);
    assert_eq!(post(&pair.standby.url(), "/v1/queues/mail:pause", json!({})).await.0, 200);
    let again = client.get(&url).header("last-event-id", seen).send();
    let mut second = within("events", again).await.unwrap().bytes_stream();
    event(&mut second, "queue").await;
    // The stream ends when the leader is gone, in good order: its client comes back by itself.
    pair.standby.lose_the_leader();
    within("the end of the stream", async {
        while let Some(chunk) = second.next().await {
            chunk.unwrap();
        }
    })
    .await;
    pair.stop().await;
}

/// A listener who stays with a deposed leader would hear nothing and believe that nothing happens.
#[tokio::test(flavor = "multi_thread")]
async fn listeners_of_a_server_that_no_longer_leads_are_let_go() {
    let pair = pair().await;
    let url = format!("{}/v1/events", pair.standby.url());
    pair.standby.lead();
    let listening = reqwest::Client::new().get(&url).send();
    let mut events = within("events", listening).await.unwrap().bytes_stream();
    pair.standby.follow(LEADER, &pair.leader.url());
    let end = async {
        while let Some(chunk) = events.next().await {
            chunk.unwrap();
        }
    };
    within("the end of the stream", end).await;
    pair.stop().await;
}

/// A key that the standby adds must not change what the batch means.
#[tokio::test(flavor = "multi_thread")]
async fn a_draining_queue_refuses_its_own_jobs_of_a_batch_only() {
    let pair = pair().await;
    assert_eq!(post(&pair.leader.url(), "/v1/queues/old:drain", json!({})).await.0, 200);
    let batch = json!({"jobs": [{"kind": "a"}, {"kind": "a", "queue": "old"}]});
    for url in [pair.leader.url(), pair.standby.url()] {
        let (status, answer) = post(&url, "/v1/jobs:batch", batch.clone()).await;
        assert_eq!(
            (status, &answer["summary"]),
            (200, &json!({"created": 1, "deduplicated": 0, "failed": 1}))
        );
    }
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_streams_through_a_standby() {
    let pair = pair().await;
    let lines: Vec<Result<String, std::io::Error>> =
        (0..2_500).map(|n| Ok(format!("{{\"kind\":\"x\",\"payload\":{n}}}\n"))).collect();
    let body = reqwest::Body::wrap_stream(futures::stream::iter(lines));
    let (status, answer) = ask("POST", &pair.standby.url(), "/v1/jobs:import", body).await;
    assert_eq!((status, &answer["accepted"]), (200, &json!(2_500)), "{answer}");
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_and_workers_speak_grpc_through_a_standby() {
    let pair = pair().await;
    let url = pair.standby.url();
    let mut jobs = JobsClient::connect(url.clone()).await.unwrap();
    let job = v1::NewJob { kind: "x".into(), payload: "[1]".into(), ..Default::default() };
    let request = v1::EnqueueRequest { job: Some(job), ..Default::default() };
    let id = within("an answer", jobs.enqueue(request)).await.unwrap().into_inner().id;
    let unknown = jobs.get(v1::GetRequest { id: "rubbish".into(), wait: None }).await.unwrap_err();
    assert_eq!(unknown.code(), tonic::Code::InvalidArgument);

    let mut worker = Worker::start(&url).await;
    let parcel = worker.work().await;
    assert_eq!((parcel.work.job.to_string(), parcel.payload.as_str()), (id, "[1]"));
    is_in(pair.leader.service(), parcel.work.job, State::Running).await;
    worker.report(&parcel, Report::Ok("\"done\"".into())).await;
    worker.acknowledged(&parcel).await;
    let view = ended(pair.leader.service(), parcel.work.job).await;
    assert_eq!(view.stored.end.unwrap().result.as_deref(), Some("\"done\""));
    assert_eq!(metric(&url, "ganger_relay_streams").await, Some(1.0));
    // A worker that goes away is gone at the leader too.
    drop(worker);
    eventually("the end of the stream", || async { metric(&url, "ganger_relay_streams").await == Some(0.0) })
        .await;
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_a_worker_ends_at_once_when_the_leader_changes_and_when_the_standby_stops() {
    let pair = pair().await;
    let mut worker = Worker::start(&pair.standby.url()).await;
    pair.standby.lose_the_leader();
    let status = within("the end", async {
        loop {
            if let Err(status) = worker.hear().await {
                return status;
            }
        }
    })
    .await;
    assert_eq!(status.code(), tonic::Code::Unavailable);
    // It comes back at once, is held, and finds the next leader.
    let again = tokio::spawn({
        let (url, before) = (pair.standby.url(), worker);
        async move { Worker::again(&url, &before).await }
    });
    eventually("a held stream", || async {
        metric(&pair.standby.url(), "ganger_relay_held").await == Some(1.0)
    })
    .await;
    pair.standby.follow(LEADER, &pair.leader.url());
    let mut worker = within("a welcome", again).await.unwrap();
    let (ends, stops) = tokio::join!(within("the end", worker.stream_ends()), pair.standby.stop());
    assert_eq!((ends, stops), ((), ()));
    pair.leader.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_leader_refuses_as_too_large_is_refused_through_a_standby_and_the_largest_arrives() {
    let pair = pair().await;
    let url = pair.standby.url();
    let largest = "x".repeat(ganger_core::limits::PAYLOAD_BYTES - 2);
    let (status, job) = post(&url, "/v1/jobs", json!({"kind": "a", "payload": largest})).await;
    assert_eq!(status, 201, "{job}");
    let batch = |n: usize| format!("{{\"jobs\":[{{\"kind\":\"a\"}}]{}}}", " ".repeat(n));
    let bytes = ganger_core::limits::BATCH_BYTES;
    let frame = batch(0).len();
    assert_eq!(ask("POST", &url, "/v1/jobs:batch", batch(bytes - frame)).await.0, 200);
    for size in [bytes + 1, bytes * 2] {
        // By HTTP/2, where a refusal before the end of the body does not break the connection.
        let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
        let request = client.post(format!("{url}/v1/jobs:batch")).body(batch(size - frame));
        let refused = within("a refusal", request.send()).await.unwrap();
        assert_eq!(refused.status().as_u16(), 413);
        assert_eq!(refused.json::<Value>().await.unwrap()["code"], "body_too_large");
    }
    // By HTTP/1.1 a client sends all of its body before it reads: it hears the refusal, and no broken connection.
    for url in [&url, &pair.leader.url()] {
        for _ in 0..10 {
            let (status, refused) = ask("POST", url, "/v1/jobs:batch", batch(bytes * 2)).await;
            assert_eq!((status, &refused["code"]), (413, &json!("body_too_large")), "{refused}");
        }
    }
    let (status, _) = get(&url, &format!("/{}", "a".repeat(9_000))).await;
    assert_eq!(status, 414, "bounds of a request are checked where it arrives");
    pair.stop().await;
}
