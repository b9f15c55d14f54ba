//! The bounds as a client meets them: at the bound a request is served, one past it refused by name.

use std::collections::BTreeMap;

use ganger_core::limits;
use serde_json::{Value, json};

use crate::site::Site;

/// Submits a job, claims it and reports with this verb; returns the job.
async fn ended_with(site: &Site, verb: &str, body: &Value) -> Value {
    let id = site.submit(&json!({"kind": "a", "queue": "q", "max_attempts": 1})).await.id;
    let lease = site.claim("q").await;
    site.report(&lease, verb, body).await;
    site.read(&format!("/v1/jobs/{id}?wait=20s")).await
}

fn job(change: Value) -> Value {
    let mut job = json!({"kind": "a"});
    for (field, value) in change.as_object().unwrap() {
        job[field] = value.clone();
    }
    job
}

fn text(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// As many tags as that, each as long as that.
fn tags(count: usize, bytes: usize) -> Value {
    json!((0..count).map(|n| format!("{n:0>bytes$}")).collect::<Vec<_>>())
}

/// As many labels as that; names and values are as long as that.
fn labels(count: usize, bytes: usize) -> Value {
    json!((0..count).map(|n| (format!("{n:0>bytes$}"), text(bytes))).collect::<BTreeMap<_, _>>())
}

#[tokio::test]
async fn each_field_of_a_job_is_taken_at_its_bound_and_refused_one_past_it() {
    let site = Site::start().await;
    let year = limits::LONGEST.as_secs();
    for (field, fits, past) in [
        ("kind", json!(text(limits::NAME_BYTES)), json!(text(limits::NAME_BYTES + 1))),
        ("queue", json!(text(limits::NAME_BYTES)), json!(text(limits::NAME_BYTES + 1))),
        ("tags", tags(limits::TAGS, 4), tags(limits::TAGS + 1, 4)),
        ("tags", tags(1, limits::TAG_BYTES), tags(1, limits::TAG_BYTES + 1)),
        ("require", labels(limits::LABELS, 4), labels(limits::LABELS + 1, 4)),
        ("require", labels(1, limits::LABEL_BYTES), labels(1, limits::LABEL_BYTES + 1)),
        ("unique_key", json!(text(limits::KEY_BYTES)), json!(text(limits::KEY_BYTES + 1))),
        ("threads", json!(limits::THREADS), json!(limits::THREADS + 1)),
        ("max_attempts", json!(limits::ATTEMPTS), json!(limits::ATTEMPTS + 1)),
        ("priority", json!(127), json!(128)),
        ("priority", json!(-128), json!(-129)),
        ("timeout", json!(format!("{year}s")), json!(format!("{}s", year + 1))),
    ] {
        let answer = site.post("/v1/jobs", job(json!({field: fits})).to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 201, "{field} at its bound: {}", answer.text().await.unwrap());
        let answer = site.post("/v1/jobs", job(json!({field: past})).to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 422, "{field} one past its bound");
        let problem: Value = answer.json().await.unwrap();
        let pointer = problem["errors"][0]["pointer"].as_str().unwrap();
        assert!(pointer.starts_with(&format!("/{field}")), "{field}: {problem}");
    }
}

#[tokio::test]
async fn headers_and_pages_are_taken_at_their_bounds_and_refused_one_past_them() {
    let site = Site::start().await;
    for (length, status) in [(limits::KEY_BYTES, 201), (limits::KEY_BYTES + 1, 400)] {
        let request = site.post("/v1/jobs", r#"{"kind":"a"}"#).header("Idempotency-Key", text(length));
        assert_eq!(request.send().await.unwrap().status(), status, "a key of {length} bytes");
    }
    for (path, status) in [
        (format!("/v1/jobs?limit={}", limits::PAGE_MAX), 200),
        (format!("/v1/jobs?limit={}", limits::PAGE_MAX + 1), 400),
        (format!("/v1/jobs?tag={}", text(limits::TAG_BYTES)), 200),
        (format!("/v1/jobs?tag={}", text(limits::TAG_BYTES + 1)), 400),
        (format!("/v1/jobs?unique_key={}", text(limits::KEY_BYTES)), 200),
        (format!("/v1/jobs?unique_key={}", text(limits::KEY_BYTES + 1)), 400),
        (format!("/v1/queues/{}", text(limits::NAME_BYTES)), 200),
        (format!("/v1/queues/{}", text(limits::NAME_BYTES + 1)), 400),
    ] {
        assert_eq!(site.get(&path).send().await.unwrap().status(), status, "{path}");
    }
}

/// A result is a string here: its quotes count.
#[tokio::test]
async fn a_result_at_its_bound_is_kept_and_one_past_it_ends_the_job() {
    let site = Site::start().await;
    let kept = ended_with(&site, "complete", &json!({"result": text(limits::RESULT_BYTES - 2)})).await;
    assert_eq!(kept["state"], "succeeded");
    assert_eq!(kept["result"].as_str().unwrap().len(), limits::RESULT_BYTES - 2);
    let refused = ended_with(&site, "complete", &json!({"result": text(limits::RESULT_BYTES - 1)})).await;
    assert_eq!(refused["state"], "dead");
    assert!(refused["last_error"].as_str().unwrap().starts_with("result_too_large: 1048577 bytes"));
}

#[tokio::test]
async fn an_error_at_its_bound_is_kept_whole_and_one_past_it_is_cut() {
    let site = Site::start().await;
    for length in [limits::ERROR_BYTES, limits::ERROR_BYTES + 1] {
        let job = ended_with(&site, "fail", &json!({"error": text(length), "fatal": true})).await;
        assert_eq!(job["state"], "dead");
        assert_eq!(job["last_error"].as_str().unwrap().len(), limits::ERROR_BYTES, "{length} bytes");
    }
}

#[tokio::test]
async fn a_batch_is_taken_at_its_bound_of_bytes_and_refused_one_past_it() {
    let site = Site::start().await;
    let batch = |bytes: usize| {
        let jobs = json!({"jobs": [{"kind": "a"}]}).to_string();
        let padding = " ".repeat(bytes - jobs.len());
        jobs + &padding
    };
    for (bytes, status) in [(limits::BATCH_BYTES, 200), (limits::BATCH_BYTES + 1, 413)] {
        let answer = site.post("/v1/jobs:batch", batch(bytes)).send().await.unwrap();
        assert_eq!(answer.status(), status, "{bytes} bytes");
    }
}
