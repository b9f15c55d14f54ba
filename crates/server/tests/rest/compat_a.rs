//! Profile A, line by line: what its clients sent, and what they were answered.

use ganger_server::api::JobBody;
use ganger_server::http::compat::Profiles;
use ganger_server::testing;
use ganger_store::MemoryStore;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::site::Site;

async fn submit(site: &Site, body: &str) -> Response {
    site.post("/submit_job", body.to_owned()).send().await.unwrap()
}

/// The job that an answer names, which both headers must do alike.
async fn job_of(site: &Site, answer: &Response) -> JobBody {
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let id = answer.headers()["x-job-id"].to_str().unwrap();
    assert_eq!(location, format!("/v1/jobs/{id}"));
    site.read(&location).await
}

#[tokio::test]
async fn a_submission_is_answered_with_the_sentence_of_the_original() {
    let site = Site::start().await;
    for (body, kind, payload) in [
        (r#"{"name":"cpu_intensive","payload":"Job 1: heavy"}"#, "cpu_intensive", r#""Job 1: heavy""#),
        (r#"{"name":"io_intensive","payload":"a \u00e4 \" b"}"#, "io_intensive", r#""a \u00e4 \" b""#),
        (r#"{"name":"network_task","payload":{"targets": [ ]}}"#, "network_task", r#"{"targets": [ ]}"#),
        (r#"{"name":"mixed_workload","payload":"x","other":1}"#, "mixed_workload", r#""x""#),
        (r#"{"payload":"no name"}"#, "default", r#""no name""#),
        (r#"{"name":"","payload":"x"}"#, "default", r#""x""#),
        (r#"{"name":"default"}"#, "default", r#""""#),
        (r#"{}"#, "default", r#""""#),
    ] {
        let answer = submit(&site, body).await;
        assert_eq!(answer.status(), StatusCode::CREATED, "{body}");
        assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
        let job = job_of(&site, &answer).await;
        assert_eq!(answer.text().await.unwrap(), "Job created successfully");
        assert_eq!((job.kind.as_str(), job.queue.as_str(), job.max_attempts), (kind, "default", 4), "{body}");
        assert_eq!(job.payload.unwrap().get(), payload, "kept byte for byte");
    }
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_a_sleep_and_one_that_somebody_knows_is_a_kind() {
    let site = Site::start().await;
    for name in ["send_report", "Report of May!", "größer"] {
        let answer = submit(&site, &json!({"name": name, "payload": "x"}).to_string()).await;
        let job = job_of(&site, &answer).await;
        assert_eq!((job.kind.as_str(), job.tags), ("default", vec![format!("name:{name}")]));
    }
    // There is a job of that kind now, so it is one.
    site.submit(&json!({"kind": "send_report"})).await;
    let answer = submit(&site, r#"{"name":"send_report","payload":"x"}"#).await;
    let job = job_of(&site, &answer).await;
    assert_eq!((job.kind.as_str(), job.tags.len()), ("send_report", 0));
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_answered_with_the_other_sentence() {
    let site = Site::start().await;
    let long_name = json!({"name": "n".repeat(200), "payload": "x"}).to_string();
    let large = format!("{{\"payload\":\"{}\"}}", "x".repeat((1 << 20) - 1));
    for body in
        ["", "{", "nonsense", "[]", "[\"a\",\"b\"]", "null", r#"{"name":7}"#, r#"{"name":"a\u0000b"}"#]
            .into_iter()
            .chain([long_name.as_str(), large.as_str()])
    {
        let answer = submit(&site, body).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{}", &body[..body.len().min(60)]);
        assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
        assert_eq!(answer.text().await.unwrap(), "Invalid request payload");
    }
    // The largest payload is taken here as it is by `/v1/jobs`.
    let fits = format!("{{\"payload\":\"{}\"}}", "x".repeat((1 << 20) - 2));
    assert_eq!(submit(&site, &fits).await.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn the_door_is_no_way_around_the_token_for_commands() {
    let site = Site::start().await;
    let answer = submit(&site, r#"{"name":"exec","payload":{"argv":["id"]}}"#).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(problem["code"], "exec_not_allowed");
}

#[tokio::test]
async fn an_idempotency_key_makes_a_repeated_submission_harmless() {
    let site = Site::start().await;
    let send = |body: &'static str| site.post("/submit_job", body).header("Idempotency-Key", "k").send();
    let first = send(r#"{"name":"default"}"#).await.unwrap();
    let again = send(r#"{"name":"default"}"#).await.unwrap();
    assert_eq!(first.headers()["x-job-id"], again.headers()["x-job-id"]);
    assert_eq!(again.status(), StatusCode::CREATED);
    assert_eq!(send(r#"{"name":"default","payload":"other"}"#).await.unwrap().status(), 422);
}

#[tokio::test]
async fn a_door_that_is_switched_off_is_not_there() {
    let mut options = testing::options(std::sync::Arc::new(MemoryStore::new()));
    options.compat.profiles = Profiles::NONE;
    let mut site = Site::start().await;
    site.server = testing::start_with(options).await;
    let answer = submit(&site, r#"{"name":"default"}"#).await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    let document: Value = site.read("/v1/openapi.json").await;
    assert!(document["paths"].get("/submit_job").is_none());
}

#[tokio::test]
async fn a_page_of_an_accepted_origin_may_use_the_doors_and_no_other_page_may() {
    let mut options = testing::options(std::sync::Arc::new(MemoryStore::new()));
    options.compat.door_origins = "http://localhost:5173,http://localhost:3000".parse().unwrap();
    options.compat.origins = "https://jobs.example.com".parse().unwrap();
    let mut site = Site::start().await;
    site.server = testing::start_with(options).await;
    let ask = |method: Method, path: &str, origin: &str| {
        site.ask(method, path)
            .header("origin", origin.to_owned())
            .header("sec-fetch-site", "same-site")
            .header("access-control-request-method", "POST")
            .body(r#"{"kind":"a"}"#)
            .send()
    };
    for (path, origin) in [
        ("/submit_job", "http://localhost:5173"),
        ("/submit_job", "http://localhost:3000"),
        ("/v1/jobs", "https://jobs.example.com"),
    ] {
        let before = ask(Method::OPTIONS, path, origin).await.unwrap();
        assert_eq!(before.status(), StatusCode::NO_CONTENT, "{path} {origin}");
        assert!(before.headers()["access-control-allow-methods"].to_str().unwrap().contains("POST"));
        assert!(before.headers()["access-control-allow-headers"].to_str().unwrap().contains("content-type"));
        let answer = ask(Method::POST, path, origin).await.unwrap();
        assert_eq!(answer.status(), StatusCode::CREATED, "{path} {origin}");
        for answer in [before, answer] {
            assert_eq!(answer.headers()["access-control-allow-origin"], origin);
            assert_eq!(answer.headers()["vary"], "origin");
            assert_eq!(answer.headers()["cross-origin-resource-policy"], "cross-origin");
            assert!(!answer.headers().contains_key("access-control-allow-credentials"));
        }
        let refused = ask(Method::DELETE, path, origin).await.unwrap();
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(refused.headers()["access-control-allow-origin"], origin, "a refusal can be read as well");
    }
    for (path, origin) in [
        ("/submit_job", "http://localhost:5174"),
        ("/v1/jobs", "http://localhost:5173"),
        ("/submit_job", "null"),
    ] {
        for method in [Method::OPTIONS, Method::POST] {
            let answer = ask(method, path, origin).await.unwrap();
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{path} {origin}");
            assert!(!answer.headers().contains_key("access-control-allow-origin"));
        }
    }
}
