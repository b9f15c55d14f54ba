//! Through a standby while leaders come and go.

use std::time::Duration;

use futures::future::join_all;
use ganger_core::job::State;
use ganger_core::outcome::Report;
use ganger_proto::v1;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_server::testing;
use serde_json::{Value, json};

use crate::common::{ended, eventually, is_in, spec, submit, within};
use crate::relay::{LEADER, Pair, get, metric, pair, pair_with, post, server};
use crate::relay_wires::{Closing, Wire, closing_leader};
use crate::worker::Worker;

/// A pair whose standby reaches its leader by a wire that swallows every answer.
async fn deaf_pair() -> (Pair, Wire) {
    let pair = pair_with(|_| ()).await;
    let wire = Wire::to(pair.leader.address()).await;
    pair.standby.follow(LEADER, &wire.address);
    assert_eq!(get(&pair.standby.url(), "/v1/stats").await.0, 200);
    wire.swallow();
    (pair, wire)
}

async fn jobs(url: &str) -> Vec<Value> {
    get(url, "/v1/jobs?limit=500").await.1["items"].as_array().unwrap().clone()
}

async fn held(pair: &Pair) -> f64 {
    metric(&pair.standby.url(), "ganger_relay_held").await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_held_while_nobody_leads_and_answered_when_somebody_does() {
    let pair = pair_with(|_| ()).await;
    let url = pair.standby.url();
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let url = url.clone();
            tokio::spawn(async move { post(&url, "/v1/jobs", json!({"kind": "x", "payload": n})).await })
        })
        .collect();
    eventually("twenty held calls", || async { held(&pair).await == 20.0 }).await;
    pair.standby.follow(LEADER, &pair.leader.url());
    for answer in join_all(calls).await {
        assert_eq!(answer.unwrap().0, 201);
    }
    assert_eq!((held(&pair).await, jobs(&url).await.len()), (0.0, 20));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_held_no_longer_than_the_bound_and_told_so() {
    let pair = pair_with(|options| options.relay.hold = Duration::from_millis(150)).await;
    let url = pair.standby.url();
    let refused = reqwest::Client::new().post(format!("{url}/v1/jobs")).body("{\"kind\":\"x\"}").send();
    let refused = within("a refusal", refused).await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (503, "1"));
    let body: Value = refused.json().await.unwrap();
    assert_eq!((&body["code"], &body["retryable"]), (&json!("no_leader"), &json!(true)));
    // Nobody listens where the leader should be.
    pair.standby.follow(LEADER, "http://127.0.0.1:1");
    let (status, body) = get(&url, "/v1/stats").await;
    assert_eq!((status, &body["code"]), (503, &json!("no_leader")));
    assert!(body["detail"].as_str().unwrap().contains("127.0.0.1:1"), "{body}");
    let mut programs = JobsClient::connect(url.clone()).await.unwrap();
    let refused = programs.list(v1::ListRequest::default()).await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.metadata().get("ganger-code").unwrap().to_str().unwrap()),
        (tonic::Code::Unavailable, "no_leader")
    );
    // What is about the server itself is answered all the same.
    assert_eq!(get(&url, "/livez").await.0, 200);
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn held_calls_are_bounded_and_one_past_the_bound_is_refused_at_once() {
    let pair = pair_with(|options| options.relay.most_held = 2).await;
    let url = pair.standby.url();
    let two: Vec<_> = (0..2)
        .map(|_| {
            tokio::spawn({
                let url = url.clone();
                async move { get(&url, "/v1/stats").await }
            })
        })
        .collect();
    eventually("two held calls", || async { held(&pair).await == 2.0 }).await;
    let (status, body) = post(&url, "/v1/jobs", json!({"kind": "x"})).await;
    assert_eq!((status, &body["code"]), (429, &json!("overloaded")));
    pair.standby.follow(LEADER, &pair.leader.url());
    for answer in join_all(two).await {
        assert_eq!(answer.unwrap().0, 200);
    }
    pair.stop().await;
}

/// The leader commits and dies before its answer arrives. The standby asks the next one, which knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_submission_whose_answer_was_lost_is_sent_again_and_carried_out_once() {
    let (pair, wire) = deaf_pair().await;
    let url = pair.standby.url();
    let single = tokio::spawn({
        let url = url.clone();
        async move { post(&url, "/v1/jobs", json!({"kind": "single"})).await }
    });
    let batch = tokio::spawn({
        let url = url.clone();
        async move { post(&url, "/v1/jobs:batch", json!({"jobs": [{"kind": "batch"}, {"kind": "batch"}]})).await }
    });
    let program = tokio::spawn({
        let url = url.clone();
        async move {
            let job = v1::NewJob { kind: "grpc".into(), payload: "1".into(), ..Default::default() };
            let request = v1::EnqueueRequest { job: Some(job), ..Default::default() };
            JobsClient::connect(url).await.unwrap().enqueue(request).await
        }
    });
    let leader = pair.leader.url();
    eventually("the commits", || async { jobs(&leader).await.len() == 4 }).await;
    drop(wire);
    pair.standby.follow(LEADER, &leader);
    let (status, job) = within("an answer", single).await.unwrap();
    assert_eq!(status, 201, "{job}");
    let (status, results) = within("an answer", batch).await.unwrap();
    assert_eq!((status, &results["summary"]["created"]), (200, &json!(2)), "{results}");
    let answer = within("an answer", program).await.unwrap().unwrap().into_inner();
    let all = jobs(&leader).await;
    assert_eq!(all.len(), 4, "{all:?}");
    let kind =
        |id: &Value| all.iter().find(|j| j["id"] == *id).map(|j| j["kind"].as_str().unwrap().to_owned());
    assert_eq!(kind(&job["id"]).as_deref(), Some("single"));
    assert_eq!(kind(&json!(answer.id)).as_deref(), Some("grpc"));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_twice_is_answered_with_unknown_and_what_can_is_done() {
    let (pair, wire) = deaf_pair().await;
    let url = pair.standby.url();
    let id = submit(pair.leader.service(), spec("x", "1")).await;
    let cancel = tokio::spawn({
        let url = url.clone();
        async move { post(&url, &format!("/v1/jobs/{id}:cancel"), json!({})).await }
    });
    let pause = tokio::spawn({
        let url = url.clone();
        async move { post(&url, "/v1/queues/q:pause", json!({})).await }
    });
    is_in(pair.leader.service(), id, State::Cancelled).await;
    let queue = || async { pair.leader.service().queue("q".parse().unwrap()).await.unwrap().settings.paused };
    eventually("the pause", queue).await;
    drop(wire);
    pair.standby.follow(LEADER, &pair.leader.url());
    let (status, body) = within("an answer", cancel).await.unwrap();
    assert_eq!((status, &body["code"]), (503, &json!("outcome_unknown")));
    let (status, body) = within("an answer", pause).await.unwrap();
    assert_eq!((status, &body["paused"]), (200, &json!(true)));
    pair.stop().await;
}

/// HTTP/2 says which calls a server never looked at before it closed the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_a_closing_leader_never_looked_at_is_sent_again_whatever_it_does() {
    for (closing, expected) in [(Closing::NeverLooked, 200), (Closing::Breaks, 503)] {
        let pair = pair_with(|_| ()).await;
        let (address, mut calls) = closing_leader(closing).await;
        pair.standby.follow(LEADER, &address);
        let purge = tokio::spawn({
            let url = pair.standby.url();
            async move { post(&url, "/v1/queues/default:purge", json!({})).await }
        });
        within("the call", calls.recv()).await.unwrap();
        pair.standby.follow(LEADER, &pair.leader.url());
        let (status, body) = within("an answer", purge).await.unwrap();
        assert_eq!(status, expected, "{closing:?}: {body}");
        pair.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submission_that_may_have_happened_is_never_said_not_to_have() {
    let pair = pair_with(|options| options.relay.hold = Duration::from_millis(200)).await;
    let wire = Wire::to(pair.leader.address()).await;
    pair.standby.follow(LEADER, &wire.address);
    assert_eq!(get(&pair.standby.url(), "/v1/stats").await.0, 200);
    wire.swallow();
    let call = tokio::spawn({
        let url = pair.standby.url();
        async move { post(&url, "/v1/jobs", json!({"kind": "x"})).await }
    });
    let leader = pair.leader.url();
    eventually("the commit", || async { jobs(&leader).await.len() == 1 }).await;
    drop(wire);
    let (status, body) = within("an answer", call).await.unwrap();
    assert_eq!((status, &body["code"]), (503, &json!("outcome_unknown")), "{body}");
    pair.stop().await;
}

/// Leaders hand over while clients submit: no call fails, no job is lost and none is there twice.
#[tokio::test(flavor = "multi_thread")]
async fn no_call_fails_while_leaders_hand_over_in_good_order() {
    let Pair { store, leader, standby } = pair().await;
    let url = standby.url();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let (url, stopped) = (url.clone(), stopped.clone());
            tokio::spawn(async move {
                let mut ids = Vec::new();
                while !*stopped.borrow() {
                    let (status, job) = post(&url, "/v1/jobs", json!({"kind": "x", "payload": client})).await;
                    assert_eq!(status, 201, "{job}");
                    ids.push(job["id"].as_str().unwrap().to_owned());
                    // What is never sent twice gets through as well: a leader that stops answers or says no.
                    let (status, purged) = post(&url, "/v1/queues/default:purge", json!({})).await;
                    assert_eq!(status, 200, "{purged}");
                }
                ids
            })
        })
        .collect();
    let submitted =
        |service: ganger_server::Service| async move { service.stats().await.unwrap().counts.len() };
    let mut leader = leader;
    for next in ["leader-2", "leader-3"] {
        let service = leader.service().clone();
        eventually("jobs", || {
            let service = service.clone();
            async move { submitted(service).await > 0 }
        })
        .await;
        leader.stop().await;
        standby.lose_the_leader();
        leader = testing::start_with(server(next, &store)).await;
        standby.follow(next, &leader.url());
    }
    let before = metric(&url, "ganger_relay_requests_total{outcome=\"answered\"}").await;
    eventually("more calls", || async {
        metric(&url, "ganger_relay_requests_total{outcome=\"answered\"}").await > before.map(|n| n + 8.0)
    })
    .await;
    stop.send_replace(true);
    let mut ids: Vec<String> = join_all(clients).await.into_iter().flat_map(|ids| ids.unwrap()).collect();
    ids.sort();
    let (submitted, counted) = (ids.len(), leader.service().stats().await.unwrap());
    ids.dedup();
    assert_eq!(ids.len(), submitted, "no id was given twice");
    let there: u64 = counted.counts.iter().map(|(_, _, by_state)| by_state.iter().sum::<u64>()).sum();
    assert_eq!(there, submitted as u64);
    standby.stop().await;
    leader.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_keeps_its_lease_over_a_change_of_leaders_behind_its_standby() {
    let Pair { store, leader, standby } = pair().await;
    let job = submit(leader.service(), spec("x", "1")).await;
    let mut worker = Worker::start(&standby.url()).await;
    let parcel = worker.work().await;
    leader.stop().await;
    within("the end of the stream", worker.stream_ends()).await;
    standby.lose_the_leader();
    let again = tokio::spawn({
        let url = standby.url();
        async move { Worker::again(&url, &worker).await }
    });
    let leader = testing::start_with(server("leader-2", &store)).await;
    standby.follow("leader-2", &leader.url());
    let mut worker = within("a welcome", again).await.unwrap();
    assert_eq!(worker.work().await.work.fence, parcel.work.fence);
    worker.report(&parcel, Report::Ok("1".into())).await;
    let view = ended(leader.service(), job).await;
    assert_eq!((view.stored.state, view.stored.standing.attempt), (State::Succeeded, 1));
    standby.stop().await;
    leader.stop().await;
}
