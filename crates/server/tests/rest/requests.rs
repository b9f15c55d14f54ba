//! What a client sees, request by request.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::StreamExt as _;
use ganger_server::api::{BatchBody, ImportBody, JobBody, JobPage, QueueBody, StatsBody, SubmittedBody};
use ganger_server::testing;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::site::{PATIENCE, Site};

async fn code(request: RequestBuilder) -> (u16, String) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let problem: Value = answer.json().await.unwrap();
    (status, problem["code"].as_str().unwrap().to_string())
}

#[tokio::test]
async fn a_submitted_job_is_found_where_its_location_says() {
    let site = Site::start().await;
    let payload = "{ \"big\": 12345678901234567890123, \"x\":1,\"x\":2 }";
    let body = format!(
        "{{\"kind\":\"noop\",\"queue\":\"mail\",\"payload\":{payload},\"tags\":[\"eu\"],\"timeout\":\"none\"}}"
    );
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let answer = site.post("/v1/jobs", body).header("traceparent", trace).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    let location = answer.headers()["location"].to_str().unwrap().to_string();
    let receipt: SubmittedBody = answer.json().await.unwrap();
    assert_eq!(location, format!("/v1/jobs/{}", receipt.id));
    assert_eq!((receipt.state.as_str(), receipt.deduplicated), ("queued", false));

    let job: JobBody = site.read(&location).await;
    assert_eq!((job.queue.as_str(), job.tags.as_slice(), job.attempt), ("mail", &["eu".to_string()][..], 0));
    assert_eq!(job.payload.unwrap().get(), payload);
    assert_eq!(job.traceparent.as_deref(), Some(trace));
    assert_eq!(job.timeout.to_string(), "none");
    let raw = site.get(&format!("{location}/payload")).send().await.unwrap();
    assert_eq!(raw.text().await.unwrap(), payload);
    let by_uuid: JobBody = site.read(&format!("/v1/jobs/{}", receipt.id.uuid())).await;
    assert_eq!(by_uuid.id, receipt.id);
    assert_eq!(code(site.get(&format!("{location}/result"))).await, (409, "wrong_state".into()));
    let explain: Value = site.read(&format!("{location}/explain")).await;
    assert!(explain["summary"].as_str().is_some_and(|s| !s.is_empty()));
    let attempts: Value = site.read(&format!("{location}/attempts")).await;
    assert_eq!(attempts["items"], json!([]));
    let logs = site.get(&format!("{location}/logs")).send().await.unwrap();
    assert_eq!(logs.text().await.unwrap(), "");
}

#[tokio::test]
async fn the_same_idempotency_key_gives_the_same_answer() {
    let site = Site::start().await;
    let send = |key: &str, body: &str| {
        site.post("/v1/jobs", body.to_string()).header("Idempotency-Key", key.to_string()).send()
    };
    let body = r#"{"kind":"noop","delay":"1h"}"#;
    let first = send("k1", body).await.unwrap();
    assert_eq!((first.status(), first.headers().get("idempotency-replayed")), (StatusCode::CREATED, None));
    let first = first.bytes().await.unwrap();
    let again = send("\"k1\"", body).await.unwrap();
    assert_eq!(again.status(), StatusCode::CREATED);
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(again.bytes().await.unwrap(), first);
    let other = send("k1", r#"{"kind":"noop"}"#).await.unwrap();
    assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let problem: Value = other.json().await.unwrap();
    assert_eq!(problem["code"], "idempotency_key_reused");
    let stats: StatsBody = site.read("/v1/stats").await;
    assert_eq!(stats.jobs.scheduled, 1);
}

#[tokio::test]
async fn the_same_unique_key_gives_the_same_job() {
    let site = Site::start().await;
    let job = json!({"kind": "noop", "unique_key": "welcome:42"});
    let first = site.submit(&job).await;
    let answer = site.post("/v1/jobs", job.to_string()).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let second: SubmittedBody = answer.json().await.unwrap();
    assert!(second.deduplicated);
    assert_eq!(second.id, first.id);
}

#[tokio::test]
async fn a_batch_answers_each_job() {
    let site = Site::start().await;
    site.post("/v1/queues/closed:drain", "").send().await.unwrap();
    let batch = json!({"jobs": [
        {"kind": "a", "unique_key": "u"}, {"kind": "a", "unique_key": "u"}, {"kind": ""}, {"kind": "b", "queue": "closed"},
    ]});
    let answer = site.post("/v1/jobs:batch", batch.to_string()).send().await.unwrap();
    let first: BatchBody = answer.json().await.unwrap();
    let statuses: Vec<u16> = first.results.iter().map(|r| r.status).collect();
    assert_eq!(statuses, [201, 200, 422, 409]);
    assert_eq!((first.summary.created, first.summary.deduplicated, first.summary.failed), (1, 1, 2));

    let atomic = json!({"atomic": true, "jobs": [{"kind": "a"}, {"kind": "b", "queue": "closed"}]});
    assert_eq!(code(site.post("/v1/jobs:batch", atomic.to_string())).await, (409, "queue_draining".into()));
    let keyed = site.post("/v1/jobs:batch", batch.to_string()).header("Idempotency-Key", "b1");
    assert_eq!(code(keyed).await, (409, "queue_draining".into()));
    let stats: StatsBody = site.read("/v1/stats").await;
    assert_eq!(stats.jobs.queued, 1);
}

#[tokio::test]
async fn a_replayed_batch_gives_the_same_jobs() {
    let site = Site::start().await;
    let batch = json!({"jobs": [{"kind": "a"}, {"kind": ""}, {"kind": "b"}]}).to_string();
    let send = || site.post("/v1/jobs:batch", batch.clone()).header("Idempotency-Key", "b1").send();
    let first = send().await.unwrap().bytes().await.unwrap();
    let again = send().await.unwrap();
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(again.bytes().await.unwrap(), first);
}

#[tokio::test]
async fn an_import_takes_more_than_a_batch_and_can_be_repeated() {
    let site = Site::start().await;
    let mut body: String = (0..2500).map(|n| format!("{{\"kind\":\"a\",\"payload\":{n}}}\n")).collect();
    body.push_str("nonsense\n\n{\"kind\":\"last\"}");
    for _ in 0..2 {
        let import = site.post("/v1/jobs:import", body.clone()).header("Idempotency-Key", "i1");
        let answer: ImportBody = import.send().await.unwrap().json().await.unwrap();
        assert_eq!((answer.accepted, answer.rejected, answer.errors[0].line), (2501, 1, 2501));
    }
    let stats: StatsBody = site.read("/v1/stats").await;
    assert_eq!(stats.jobs.queued, 2501);

    site.post("/v1/queues/closed:drain", "").send().await.unwrap();
    let mixed = "{\"kind\":\"a\"}\n{\"kind\":\"a\",\"queue\":\"closed\"}\n{\"kind\":\"a\"}\n";
    let answer: ImportBody = site.post("/v1/jobs:import", mixed).send().await.unwrap().json().await.unwrap();
    assert_eq!(
        (answer.accepted, answer.errors[0].line, answer.errors[0].code.as_str()),
        (2, 2, "queue_draining")
    );
}

#[tokio::test]
async fn pages_follow_each_other_without_loss_or_repetition() {
    let site = Site::start().await;
    let mut expected = BTreeSet::new();
    for n in 0..7 {
        expected.insert(site.submit(&json!({"kind": "a", "tags": ["x y&z"], "payload": n})).await.id);
    }
    site.submit(&json!({"kind": "other"})).await;
    let mut path = "/v1/jobs?tag=x%20y%26z&state=queued,running&limit=3".to_string();
    let mut seen = Vec::new();
    for _ in 0..5 {
        let answer = site.get(&path).send().await.unwrap();
        let link = answer.headers().get("link").map(|l| l.to_str().unwrap().to_string());
        let page: JobPage = answer.json().await.unwrap();
        assert!(page.scan.complete);
        seen.extend(page.items.iter().map(|job| job.id));
        assert!(page.items.iter().all(|job| job.payload.is_none()));
        assert_eq!(link.is_some(), page.next_cursor.is_some());
        let Some(link) = link else { break };
        path = link.strip_prefix('<').unwrap().split('>').next().unwrap().to_string();
        let other = path.replace("state=queued%2Crunning", "state=queued");
        assert_eq!(code(site.get(&other)).await, (400, "invalid_cursor".into()), "{other}");
    }
    assert_eq!(seen.len(), 7);
    assert!(seen.is_sorted_by(|a, b| a > b), "newest first");
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), expected);
    let full: JobPage = site.read("/v1/jobs?include=payload&limit=1").await;
    assert!(full.items[0].payload.is_some());
}

#[tokio::test]
async fn waiting_ends_when_the_job_does_and_a_final_job_can_be_replayed() {
    let site = Site::start().await;
    let id = site.submit(&json!({"kind": "a", "delay": "1h"})).await.id;
    let cancel = async {
        let answer = site.post(&format!("/v1/jobs/{id}:cancel"), "").send().await.unwrap();
        answer.json::<Value>().await.unwrap()
    };
    let path = format!("/v1/jobs/{id}?wait=60s");
    let (job, cancelled) = tokio::join!(site.read::<JobBody>(&path), cancel);
    assert_eq!((job.state.as_str(), &cancelled["cancelled"]), ("cancelled", &Value::Bool(true)));
    assert!(job.finished_at.is_some());
    assert_eq!(code(site.post(&format!("/v1/jobs/{id}:cancel"), "{}")).await, (409, "wrong_state".into()));
    assert_eq!(code(site.get(&format!("/v1/jobs/{id}/result"))).await, (404, "no_result".into()));
    let replayed = site.post(&format!("/v1/jobs/{id}:replay"), "").send().await.unwrap();
    assert_eq!(replayed.json::<JobBody>().await.unwrap().state.as_str(), "queued");
    assert_eq!(code(site.post(&format!("/v1/jobs/{id}:replay"), "")).await, (409, "wrong_state".into()));
    assert_eq!(
        code(site.post(&format!("/v1/jobs/{id}:explode"), "")).await,
        (405, "method_not_allowed".into())
    );
}

#[tokio::test]
async fn a_refused_method_names_those_there_are() {
    let site = Site::start().await;
    for (method, path, allow) in [
        (Method::DELETE, "/v1/jobs", "POST, GET, HEAD"),
        (Method::POST, "/v1/queues/mail:explode", "GET, PUT, HEAD"),
        (Method::GET, "/v1/auth:login", "POST"),
        (Method::PATCH, "/livez", "GET, HEAD"),
    ] {
        let answer = site.ask(method, path).send().await.unwrap();
        assert_eq!(answer.status(), 405, "{path}");
        assert_eq!(answer.headers()["allow"], allow, "{path}");
    }
}

#[tokio::test]
async fn a_waiting_job_can_be_made_due() {
    let site = Site::start().await;
    let id = site.submit(&json!({"kind": "a", "delay": "1h"})).await.id;
    let answer = site.post(&format!("/v1/jobs/{id}:run-now"), "").send().await.unwrap();
    assert_eq!(answer.json::<JobBody>().await.unwrap().state.as_str(), "queued");
}

#[tokio::test]
async fn a_queue_keeps_what_a_change_leaves_out() {
    let site = Site::start().await;
    let put = |body: Value| site.ask(Method::PUT, "/v1/queues/a:b").body(body.to_string()).send();
    put(json!({"policy": "spread", "retention": {"finished": "forever"}})).await.unwrap();
    let queue: QueueBody = put(json!({"retention": {"dead": "1d"}})).await.unwrap().json().await.unwrap();
    assert_eq!(queue.policy.as_str(), "spread");
    assert_eq!(
        (queue.retention.finished.to_string(), queue.retention.dead.to_string()),
        ("forever".into(), "1d".into())
    );
    // The name has a colon; the verb follows the last one.
    site.post("/v1/queues/a:b:pause", "").send().await.unwrap();
    let queue: QueueBody = site.read("/v1/queues/a:b").await;
    assert!(queue.paused && !queue.draining);
    site.post("/v1/queues/a:b:drain", "").send().await.unwrap();
    let refused = site.post("/v1/jobs", json!({"kind": "x", "queue": "a:b"}).to_string());
    assert_eq!(code(refused).await, (409, "queue_draining".into()));
    let resumed: QueueBody =
        site.post("/v1/queues/a:b:resume", "").send().await.unwrap().json().await.unwrap();
    assert!(!resumed.paused && !resumed.draining);
    let purged: Value = site.post("/v1/queues/a:b:purge", "").send().await.unwrap().json().await.unwrap();
    assert_eq!(purged["purged"], 0);
    let all: Value = site.read("/v1/queues").await;
    assert!(all["items"].as_array().unwrap().iter().any(|q| q["queue"] == "a:b"));
}

/// A shell script with curl can be a worker.
#[tokio::test]
async fn a_job_claimed_and_completed_over_http_has_its_result() {
    let site = Site::start().await;
    let id = site.submit(&json!({"kind": "a", "queue": "x:y", "payload": [1]})).await.id;
    let claim = json!({"max": 1, "wait": "10s"}).to_string();
    let claimed: Value = site.post("/v1/queues/x:y:claim", claim).send().await.unwrap().json().await.unwrap();
    assert_eq!(
        (&claimed["jobs"][0]["id"], &claimed["jobs"][0]["payload"]),
        (&json!(id), &json!([1])),
        "{claimed}"
    );
    let token = claimed["jobs"][0]["lease_token"].as_str().unwrap();
    let body = r#"{"result": {"n":  12345678901234567890123}}"#;
    let answer = site.post(&format!("/v1/leases/{token}:complete"), body).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
    let job: JobBody = site.read(&format!("/v1/jobs/{id}?wait=20s")).await;
    assert_eq!((job.state.as_str(), job.attempt), ("succeeded", 1));
    let result = site.get(&format!("/v1/jobs/{id}/result")).send().await.unwrap();
    assert_eq!(result.text().await.unwrap(), "{\"n\":  12345678901234567890123}");
    let attempts: Value = site.read(&format!("/v1/jobs/{id}/attempts")).await;
    assert_eq!(attempts["items"][0]["outcome"], "ok");
    // Events are counted one step behind the answer.
    let finished = "ganger_jobs_finished_total{queue=\"x:y\",kind=\"a\",outcome=\"succeeded\"} 1";
    let counted = async {
        loop {
            let metrics = site.get("/metrics").send().await.unwrap().text().await.unwrap();
            if metrics.contains(finished) {
                return metrics;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let metrics = tokio::time::timeout(PATIENCE, counted).await.expect("the end is counted");
    assert!(metrics.contains("route=\"/v1/queues/{queue}:claim\""));
}

#[tokio::test]
async fn exec_jobs_need_the_token() {
    let store = std::sync::Arc::new(ganger_store::MemoryStore::new());
    let mut options = testing::options(store);
    options.exec_token = Some("the secret".into());
    let site = Site::over(testing::start_with(options).await);
    let exec = |token: &str| {
        site.post("/v1/jobs", r#"{"kind":"exec","payload":{"command":["true"]}}"#)
            .header("X-Ganger-Exec-Token", token)
    };
    assert_eq!(code(exec("a guess")).await, (403, "exec_not_allowed".into()));
    assert_eq!(exec("the secret").send().await.unwrap().status(), StatusCode::CREATED);
}

/// Reads a stream of events until a text is in it.
pub(crate) async fn until(response: reqwest::Response, text: &str) -> String {
    let mut stream = response.bytes_stream();
    let mut seen = String::new();
    tokio::time::timeout(PATIENCE, async {
        while !seen.contains(text) {
            let chunk = stream.next().await.expect("the stream goes on").unwrap();
            seen.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    })
    .await
    .unwrap_or_else(|_| panic!("{text} did not come: {seen}"));
    seen
}

#[tokio::test]
async fn events_are_told_live_and_again_after_a_break() {
    let site = Site::start().await;
    let events = site.get("/v1/events?topics=job&queue=mail").send().await.unwrap();
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    site.submit(&json!({"kind": "a", "queue": "other"})).await;
    let first = site.submit(&json!({"kind": "a", "queue": "mail"})).await.id;
    let seen = until(events, &first.to_string()).await;
    assert!(!seen.contains("\"other\""), "{seen}");
    let last =
        seen.lines().rev().find_map(|l| l.strip_prefix("id: ").or_else(|| l.strip_prefix("id:"))).unwrap();

    let second = site.submit(&json!({"kind": "a", "queue": "mail"})).await.id;
    let resumed = site.get("/v1/events?topics=job").header("Last-Event-ID", last).send().await.unwrap();
    let seen = until(resumed, &second.to_string()).await;
    assert!(!seen.contains("gap") && !seen.contains(&first.to_string()), "{seen}");
    let lost = site.get("/v1/events").header("Last-Event-ID", "1-1").send().await.unwrap();
    until(lost, "event: gap").await;
    let counts = site.get("/v1/events?topics=counts").send().await.unwrap();
    until(counts, "\"queued\":3").await;
}

#[tokio::test]
async fn a_stop_does_not_wait_for_listeners() {
    let site = Site::start().await;
    let events = site.get("/v1/events").send().await.unwrap();
    let id = site.submit(&json!({"kind": "a"})).await.id;
    let waiting = tokio::spawn(site.get(&format!("/v1/jobs/{id}?wait=60s")).send());
    let Site { server, .. } = site;
    tokio::time::timeout(PATIENCE, server.stop()).await.expect("the server stops");
    drop(events);
    // Answered or cut, but over.
    let _ = tokio::time::timeout(PATIENCE, waiting).await.expect("the waiting read ends");
}

/// Clients are generated from this document.
#[tokio::test]
async fn the_bodies_of_claims_and_leases_have_types() {
    let site = Site::start().await;
    let document: Value = site.read("/v1/openapi.json").await;
    for (path, schema) in [
        ("/v1/queues/{queue}:claim", "ClaimRequest"),
        ("/v1/leases/{token}:complete", "CompleteRequest"),
        ("/v1/leases/{token}:fail", "FailRequest"),
        ("/v1/leases/{token}:release", "ReleaseRequest"),
        ("/v1/leases/{token}:extend", "ExtendRequest"),
        ("/v1/leases/{token}:progress", "ProgressRequest"),
        ("/v1/leases/{token}:log", "LogRequest"),
    ] {
        let body = &document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(body["$ref"], format!("#/components/schemas/{schema}"), "{path}");
        assert_eq!(document["components"]["schemas"][schema]["additionalProperties"], false, "{schema}");
    }
}

#[tokio::test]
async fn every_described_operation_exists() {
    let site = Site::start().await;
    let document: Value = site.read("/v1/openapi.json").await;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let concrete = path.replace("{id}", "nonsense").replace("{queue}", "q").replace("{code}", "internal");
        for method in methods.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let answer = site.ask(method.clone(), &concrete).send().await.unwrap();
            let status = answer.status();
            assert!(status != StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert!(!status.is_server_error(), "{method} {path}: {status}");
            // What has a path may say that there is no such thing, but not that there is no such path.
            if status != StatusCode::NOT_FOUND {
                continue;
            }
            let said = answer.text().await.unwrap();
            assert!(!said.contains("no_such_route"), "{method} {path}: {said}");
        }
    }
}

#[tokio::test]
async fn every_answer_is_named_and_guarded() {
    let site = Site::start().await;
    for path in ["/", "/ui/", "/v1/docs", "/v1/stats", "/livez", "/metrics", "/nothing", "/problems/internal"]
    {
        let answer = site.get(path).header("X-Request-Id", "mine-1").send().await.unwrap();
        let headers = answer.headers();
        assert_eq!(headers["x-request-id"], "mine-1", "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert!(
            headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"),
            "{path}"
        );
        assert!(!headers.contains_key("access-control-allow-origin"), "{path}");
    }
}

#[tokio::test]
async fn health_and_metrics_speak_their_formats() {
    let site = Site::start().await;
    site.submit(&json!({"kind": "noop", "queue": "mail"})).await;
    let ready = site.get("/readyz?verbose").send().await.unwrap().text().await.unwrap();
    assert!(ready.contains("[+]") && ready.ends_with("readyz check passed\n"), "{ready}");
    let json: Value =
        site.get("/readyz").header("Accept", "application/json").send().await.unwrap().json().await.unwrap();
    assert_eq!(json["ready"], true);
    let metrics = site.get("/metrics").send().await.unwrap();
    assert!(metrics.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    let text = metrics.text().await.unwrap();
    for line in [
        "ganger_jobs_enqueued_total{queue=\"mail\",kind=\"noop\"} 1",
        "ganger_queue_jobs{queue=\"mail\",state=\"queued\"} 1",
        "route=\"/v1/jobs\",method=\"POST\",status_class=\"2xx\"",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    let commits = text.lines().find_map(|l| l.strip_prefix("ganger_store_commit_seconds_count ")).unwrap();
    assert!(commits.parse::<u64>().unwrap() > 0, "commits are measured");
}
