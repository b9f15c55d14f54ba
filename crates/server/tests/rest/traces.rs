//! Trace contexts: whatever door they come through, they come out where work is claimed.

use ganger_core::trace::PROMPT;
use ganger_proto::v1;
use ganger_proto::v1::jobs_client::JobsClient;
use serde_json::{Value, json};

use crate::site::Site;

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER: &str = "00-1bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

async fn claimed(site: &Site, queue: &str) -> Value {
    let claim = json!({"max": 1, "wait": "10s", "lease": "30s"});
    let answer: Value = site.told(&format!("/v1/queues/{queue}:claim"), &claim).await;
    answer["jobs"][0].clone()
}

/// What a claim says of the trace: the two headers, and how to go on.
fn carried(job: &Value) -> (Option<&str>, Option<&str>, Option<&str>) {
    (job["traceparent"].as_str(), job["tracestate"].as_str(), job["trace"].as_str())
}

#[tokio::test]
async fn headers_of_a_request_come_with_the_claim_and_those_that_are_not_valid_do_not() {
    let site = Site::start().await;
    for (parent, state, taken) in [
        (TRACE, "a=1,b=2", (Some(TRACE), Some("a=1,b=2"), Some("child"))),
        (TRACE, "not a state", (Some(TRACE), None, Some("child"))),
        ("00-0-0-00", "a=1", (None, None, None)),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1", (None, None, None)),
    ] {
        let send = site.post("/v1/jobs", r#"{"kind":"k","queue":"q"}"#.to_string());
        let answer = send.header("traceparent", parent).header("tracestate", state).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201, "{parent}");
        let job = claimed(&site, "q").await;
        assert_eq!(carried(&job), taken, "{parent} {state}");
        assert!(job["waited_ms"].as_u64().is_none_or(|waited| waited <= PROMPT.as_millis() as u64), "{job}");
    }
}

#[tokio::test]
async fn jobs_of_a_batch_and_of_an_import_carry_the_request_s_trace_or_their_own() {
    let site = Site::start().await;
    let own = format!(r#"{{"kind":"k","queue":"own","traceparent":"{OTHER}","tracestate":"c=3"}}"#);
    let plain = r#"{"kind":"k","queue":"plain"}"#;
    let batch = format!(r#"{{"jobs":[{own},{plain}]}}"#);
    for (path, body) in [("/v1/jobs:batch", batch), ("/v1/jobs:import", format!("{own}\n{plain}\n"))] {
        let send = site.post(path, body).header("traceparent", TRACE).header("tracestate", "a=1");
        let answer = send.send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
        assert_eq!(
            carried(&claimed(&site, "own").await),
            (Some(OTHER), Some("c=3"), Some("child")),
            "{path}"
        );
        assert_eq!(
            carried(&claimed(&site, "plain").await),
            (Some(TRACE), Some("a=1"), Some("child")),
            "{path}"
        );
    }
}

/// The same call, made again in another span under the same key, is the same call.
#[tokio::test]
async fn the_metadata_of_a_call_counts_and_is_no_part_of_its_key() {
    let site = Site::start().await;
    let mut jobs = JobsClient::connect(site.server.url()).await.unwrap();
    let mut ids = Vec::new();
    for trace in [TRACE, OTHER] {
        let job = v1::NewJob { kind: "k".into(), queue: "q".into(), ..v1::NewJob::default() };
        let call = v1::EnqueueRequest { job: Some(job), idempotency_key: "one".into(), buffered: false };
        let mut call = tonic::Request::new(call);
        call.metadata_mut().insert("traceparent", trace.parse().unwrap());
        call.metadata_mut().insert("tracestate", "a=1".parse().unwrap());
        ids.push(jobs.enqueue(call).await.unwrap().into_inner().id);
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(carried(&claimed(&site, "q").await), (Some(TRACE), Some("a=1"), Some("child")));
    let long = "0".repeat(5_000);
    let job = v1::NewJob { kind: "k".into(), traceparent: long, ..v1::NewJob::default() };
    let call = v1::EnqueueRequest { job: Some(job), idempotency_key: String::new(), buffered: false };
    jobs.enqueue(call).await.expect("what is not valid is ignored");
}

#[tokio::test]
async fn a_retry_is_told_to_begin_a_trace_of_its_own() {
    let site = Site::start().await;
    let body = json!({"kind": "k", "queue": "q", "traceparent": TRACE, "retry": {"base": "1ms"}});
    site.post("/v1/jobs", body.to_string()).send().await.unwrap();
    let first = claimed(&site, "q").await;
    assert_eq!(carried(&first).2, Some("child"));
    let token = first["lease_token"].as_str().unwrap();
    let _: Value = site.told(&format!("/v1/leases/{token}:fail"), &json!({"error": "no"})).await;
    let second = claimed(&site, "q").await;
    assert_eq!(
        (second["attempt"].as_u64(), carried(&second)),
        (Some(2), (Some(TRACE), None, Some("linked_root")))
    );
}

#[tokio::test]
async fn compatible_doors_take_the_headers() {
    let site = Site::start().await;
    let send = site.post("/submit_job", r#"{"name":"default","payload":"x"}"#.to_string());
    let answer = send.header("traceparent", TRACE).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 201);
    assert_eq!(carried(&claimed(&site, "default").await).0, Some(TRACE));
}
