//! Callers that are confined to some queues.

use reqwest::Method;
use serde_json::{Value, json};

use crate::site::Site;

async fn submitted(site: &Site, queue: &str) -> String {
    let (status, job) = site.post(&site.admin, "/v1/jobs", json!({"kind": "a", "queue": queue})).await;
    assert_eq!(status, 201, "{job}");
    job["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn jobs_of_other_queues_are_not_there() {
    let site = Site::start().await;
    let (own, foreign) = (submitted(&site, "mail.out").await, submitted(&site, "pay").await);
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    assert_eq!(site.get(&token, &format!("/v1/jobs/{own}")).await.0, 200);
    let missing = "job_01J9X7QK5V8M3N2P4R6S8T0V1W";
    for path in ["", "/payload", "/attempts", "/explain", "/logs"] {
        let (status, problem) = site.get(&token, &format!("/v1/jobs/{foreign}{path}")).await;
        let (_, absent) = site.get(&token, &format!("/v1/jobs/{missing}{path}")).await;
        assert_eq!((status, &problem["code"]), (404, &absent["code"]), "{path}: {problem}");
    }
    for verb in ["cancel", "run-now", "replay"] {
        let (status, problem) = site.post(&token, &format!("/v1/jobs/{foreign}:{verb}"), json!({})).await;
        assert_eq!(status, 404, "{verb}: {problem}");
        let (status, _) = site.post(&token, &format!("/v1/jobs/{foreign}%3A{verb}"), json!({})).await;
        assert_eq!(status, 404, "{verb}, written otherwise");
    }
    let uuid = foreign.parse::<ganger_core::JobId>().unwrap().uuid();
    for spelling in [format!("%6Aob_{}", &foreign[4..]), uuid.to_string(), format!("urn:uuid:{uuid}")] {
        let (status, answer) = site.get(&token, &format!("/v1/jobs/{spelling}")).await;
        assert!(matches!(status, 400 | 404), "{spelling}: {status} {answer}");
    }
    assert_eq!(site.ask(&token, Method::DELETE, &format!("/v1/jobs/{foreign}"), None).await.0, 404);
    let (_, listed) = site.get(&token, "/v1/jobs").await;
    let ids: Vec<&str> =
        listed["items"].as_array().unwrap().iter().filter_map(|j| j["id"].as_str()).collect();
    assert_eq!(ids, [own.as_str()]);
    let (_, asked) = site.get(&token, "/v1/jobs?queue=pay").await;
    assert_eq!(asked["items"], json!([]));
}

#[tokio::test]
async fn nothing_can_be_put_into_other_queues_nor_wait_for_their_jobs() {
    let site = Site::start().await;
    let foreign = submitted(&site, "pay").await;
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    let post = async |path: &str, body: Value| site.post(&token, path, body).await;
    assert_eq!(post("/v1/jobs", json!({"kind": "a", "queue": "mail"})).await.0, 201);
    assert_eq!(post("/v1/jobs", json!({"kind": "a", "queue": "pay"})).await.0, 403);
    assert_eq!(post("/v1/jobs", json!({"kind": "a"})).await.0, 403, "the default queue is another one");
    let jobs = json!([{"kind": "a", "queue": "mail"}, {"kind": "a", "queue": "pay"}]);
    let (status, batch) = post("/v1/jobs:batch", json!({"jobs": jobs})).await;
    assert_eq!(status, 200, "{batch}");
    let text = batch.to_string();
    assert!(text.contains("forbidden"), "each item is looked at: {text}");
    let waiting = json!({"kind": "a", "queue": "mail", "depends_on": [foreign]});
    assert_eq!(post("/v1/jobs", waiting.clone()).await.0, 422, "a parent of another queue is not there");
    assert_eq!(post("/v1/jobs:batch", json!({"jobs": [waiting]})).await.0, 422);
}

#[tokio::test]
async fn other_queues_are_not_his_and_neither_is_the_whole() {
    let site = Site::start().await;
    submitted(&site, "mail").await;
    submitted(&site, "pay").await;
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail", "a:b"]})).await;
    assert_eq!(site.post(&token, "/v1/queues/mail:pause", json!({})).await.0, 200);
    for path in
        ["/v1/queues/pay:pause", "/v1/queues/pay:purge", "/v1/queues/pay%3Apause", "/v1/queues/mail:x:pause"]
    {
        assert_eq!(site.post(&token, path, json!({})).await.0, 403, "{path}");
    }
    assert_eq!(site.post(&token, "/v1/queues/a:b:pause", json!({})).await.0, 200);
    assert_eq!(site.get(&token, "/v1/queues/pay").await.0, 403);
    assert_eq!(site.get(&token, "/v1/queues/pay/keys").await.0, 403);
    let (_, queues) = site.get(&token, "/v1/queues").await;
    assert!(!queues.to_string().contains("\"pay\""), "{queues}");
    for whole in
        ["/v1/stats", "/v1/events", "/v1/workers", "/v1/failures", "/v1/jobs:export", "/v1/operations"]
    {
        assert_eq!(site.get(&token, whole).await.0, 403, "{whole}");
    }
    let everything = json!({"action": "cancel", "filter": "state:queued"});
    assert_eq!(site.post(&token, "/v1/operations", everything).await.0, 403);
}
