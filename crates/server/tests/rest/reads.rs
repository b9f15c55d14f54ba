//! What can be read of jobs: lists with every filter, final jobs, logs, and metrics that each move when the
//! thing they count happens.

use std::time::Duration;

use ganger_core::{JobId, limits};
use ganger_server::api::JobPage;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::site::{PATIENCE, Site};

async fn listed(site: &Site, query: &str) -> Vec<JobId> {
    let page: JobPage = site.read(&format!("/v1/jobs?{query}")).await;
    page.items.iter().map(|job| job.id).collect()
}

/// Waits until a metric is more than nothing: events are counted a step behind the answer.
async fn moves(site: &Site, line: &str) {
    let moved = async {
        loop {
            let text = site.text("/metrics").await;
            let value = text.lines().find_map(|l| l.strip_prefix(line)?.trim().parse::<f64>().ok());
            if value.is_some_and(|value| value > 0.0) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, moved).await.is_err() {
        panic!("`{line}` did not move in\n{}", site.text("/metrics").await);
    }
}

#[tokio::test]
async fn every_filter_finds_its_jobs_and_no_others() {
    let site = Site::start().await;
    let plain = site.submit(&json!({"kind": "a"})).await.id;
    let keyed = site.submit(&json!({"kind": "a", "unique_key": "user 42"})).await.id;
    let other = site.submit(&json!({"kind": "b", "queue": "mail", "tags": ["eu"]})).await.id;
    let later = site.submit(&json!({"kind": "b", "delay": "1h"})).await.id;
    let token = site.claim("mail").await;
    site.report(&token, "complete", &json!({})).await;
    for (query, expected) in [
        ("unique_key=user%2042", vec![keyed]),
        ("unique_key=user%2043", vec![]),
        ("kind=b", vec![later, other]),
        ("queue=mail", vec![other]),
        ("tag=eu", vec![other]),
        ("state=succeeded", vec![other]),
        ("state=queued", vec![keyed, plain]),
        ("state=scheduled&kind=b", vec![later]),
        ("state=scheduled&kind=a", vec![]),
    ] {
        assert_eq!(listed(&site, query).await, expected, "{query}");
    }
}

/// From is inclusive, before is not, so that two neighbouring ranges share no job and miss none.
#[tokio::test]
async fn a_range_of_time_begins_with_its_first_moment_and_ends_before_its_last() {
    let site = Site::start().await;
    let mut jobs = Vec::new();
    for n in 0..3 {
        let id = site.submit(&json!({"kind": "a", "payload": n})).await.id;
        let job: Value = site.read(&format!("/v1/jobs/{id}")).await;
        jobs.push((id, job["created_at"].as_str().unwrap().to_owned()));
    }
    let (_, middle) = &jobs[1];
    assert!(jobs.windows(2).all(|pair| pair[0].1 < pair[1].1), "they came at different moments: {jobs:?}");
    let from = listed(&site, &format!("created_from={middle}")).await;
    let before = listed(&site, &format!("created_before={middle}")).await;
    assert_eq!(from, [jobs[2].0, jobs[1].0]);
    assert_eq!(before, [jobs[0].0]);
}

#[tokio::test]
async fn a_final_job_tells_how_it_ended_on_every_route() {
    let site = Site::start().await;
    let id =
        site.submit(&json!({"kind": "a", "queue": "q", "max_attempts": 1, "payload": {"n": 1.0}})).await.id;
    let token = site.claim("q").await;
    site.report(&token, "fail", &json!({"error": "smtp: 451"})).await;
    let job: Value = site.read(&format!("/v1/jobs/{id}?wait=20s")).await;
    assert_eq!(job["state"], "dead");
    assert_eq!(job["last_error"], "smtp: 451");
    for time in ["queue_time_ms", "execution_time_ms", "total_time_ms"] {
        assert!(job[time].is_u64(), "{time} in {job}");
    }
    assert_eq!(site.text(&format!("/v1/jobs/{id}/payload")).await, r#"{"n":1.0}"#);
    let attempts: Value = site.read(&format!("/v1/jobs/{id}/attempts")).await;
    let attempt = &attempts["items"][0];
    assert_eq!((&attempt["outcome"], &attempt["error"]), (&json!("error"), &json!("smtp: 451")));
    assert!(attempt["worker"].is_string() && attempt["threads"] == 1, "{attempt}");
    let explain: Value = site.read(&format!("/v1/jobs/{id}/explain")).await;
    assert_eq!(explain["state"], "dead");
    assert!(explain["summary"].as_str().unwrap().contains("no attempts left"), "{explain}");
    assert!(explain["next_step"].as_str().unwrap().contains("replay"), "{explain}");
    let result = site.get(&format!("/v1/jobs/{id}/result")).send().await.unwrap();
    assert_eq!(result.status(), StatusCode::NOT_FOUND);
    assert!(result.text().await.unwrap().contains("no_result"));
}

#[tokio::test]
async fn the_last_64_kib_of_a_log_are_kept_and_read_per_attempt() {
    let site = Site::start().await;
    let id = site.submit(&json!({"kind": "a", "queue": "q", "retry": {"base": "1ms"}})).await.id;
    let token = site.claim("q").await;
    let line = format!("{}\n", "x".repeat(1023));
    for _ in 0..5 {
        site.report(&token, "log", &json!({"text": line.repeat(15)})).await;
    }
    site.report(&token, "log", &json!({"text": "the last\n"})).await;
    site.report(&token, "fail", &json!({"error": "again"})).await;
    let token = site.claim("q").await;
    site.report(&token, "log", &json!({"text": "second\n"})).await;
    site.report(&token, "complete", &json!({})).await;
    let _: Value = site.read(&format!("/v1/jobs/{id}?wait=20s")).await;

    let first = site.text(&format!("/v1/jobs/{id}/logs?attempt=1")).await;
    assert!(first.len() <= limits::LOG_BYTES && first.len() > limits::LOG_BYTES - 2048, "{}", first.len());
    assert!(first.starts_with('x') && first.ends_with("\nthe last\n"), "whole lines, the last ones");
    assert_eq!(site.text(&format!("/v1/jobs/{id}/logs?attempt=2")).await, "second\n");
    assert_eq!(site.text(&format!("/v1/jobs/{id}/logs")).await, "second\n", "the last attempt");
    assert_eq!(site.text(&format!("/v1/jobs/{id}/logs?attempt=3")).await, "");
}

#[tokio::test]
async fn each_basic_metric_moves_when_what_it_counts_happens() {
    let site = Site::start().await;
    let lane = r#"queue="q",kind="a""#;
    let id = site.submit(&json!({"kind": "a", "queue": "q"})).await.id;
    moves(&site, &format!("ganger_jobs_enqueued_total{{{lane}}}")).await;
    moves(&site, r#"ganger_queue_jobs{queue="q",state="queued"}"#).await;
    moves(&site, r#"ganger_queue_oldest_ready_age_seconds{queue="q"}"#).await;
    let token = site.claim("q").await;
    moves(&site, r#"ganger_queue_jobs{queue="q",state="running"}"#).await;
    site.report(&token, "complete", &json!({})).await;
    let _: Value = site.read(&format!("/v1/jobs/{id}?wait=20s")).await;
    for line in [
        format!("ganger_jobs_finished_total{{{lane},outcome=\"succeeded\"}}"),
        format!("ganger_attempts_total{{{lane},outcome=\"ok\",reason=\"returned\"}}"),
        format!("ganger_job_wait_seconds_count{{{lane}}}"),
        format!("ganger_job_run_seconds_count{{{lane}}}"),
        format!("ganger_job_end_to_end_seconds_count{{{lane}}}"),
        r#"ganger_queue_jobs{queue="q",state="succeeded"}"#.to_owned(),
        "ganger_store_commit_seconds_count".to_owned(),
        "ganger_store_batch_changes_count".to_owned(),
        r#"ganger_api_request_seconds_count{route="/v1/jobs",method="POST",status_class="2xx"}"#.to_owned(),
    ] {
        moves(&site, &line).await;
    }
    // A report under a lease that is over.
    site.submit(&json!({"kind": "a", "queue": "q"})).await;
    let lost = site.claim_for("q", "1s").await;
    let again = site.claim("q").await;
    let answer = site.post(&format!("/v1/leases/{lost}:complete"), "{}").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    site.report(&again, "complete", &json!({})).await;
    moves(&site, &format!("ganger_attempts_total{{{lane},outcome=\"lost\",reason=\"session_closed\"}}"))
        .await;
}
