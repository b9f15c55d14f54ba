//! The audit log: what is written down, for whom, and what is not.

use ganger_proto::v1;
use ganger_proto::v1::jobs_client::JobsClient;
use reqwest::Method;
use serde_json::{Value, json};

use crate::site::Site;

async fn log(site: &Site, query: &str) -> Vec<Value> {
    let (status, page) = site.get(&site.admin, &format!("/v1/audit{query}")).await;
    assert_eq!(status, 200, "{page}");
    page["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_people_and_programs_change_is_written_down_with_who_they_are() {
    let site = Site::start().await;
    let operator = site.role("operator").await;
    let (_, job) = site.post(&operator, "/v1/jobs", json!({"kind": "echo"})).await;
    let id = job["id"].as_str().unwrap().to_owned();
    let pause =
        site.request(&operator, Method::POST, "/v1/queues/mail:pause").header("x-request-id", "req-7");
    assert_eq!(pause.send().await.unwrap().status().as_u16(), 200);
    let bearer = format!("Bearer {operator}");
    let mut jobs = JobsClient::connect(site.server.url()).await.unwrap();
    let mut cancel = tonic::Request::new(v1::CancelRequest { id: id.clone() });
    cancel.metadata_mut().insert("authorization", bearer.parse().unwrap());
    jobs.cancel(cancel).await.unwrap();
    let entries = log(&site, "").await;
    let told: Vec<_> =
        entries.iter().map(|e| (e["operation"].as_str().unwrap(), e["target"].as_str().unwrap())).collect();
    assert_eq!(told[0], ("POST /ganger.v1.Jobs/Cancel", id.as_str()));
    assert_eq!(told[1], ("POST /v1/queues/mail:pause", "queue mail"));
    assert_eq!(told[2].0, "POST /v1/tokens");
    assert!(told[2].1.starts_with("token "), "{told:?}");
    assert_eq!(entries.len(), 3, "a submission is its job's own history: {told:?}");
    assert_eq!((&entries[1]["request_id"], &entries[1]["from"]), (&json!("req-7"), &json!("127.0.0.1")));
    let who = entries[0]["who"].as_str().unwrap();
    assert!(operator.contains(who.strip_prefix("token:").unwrap()), "{who}");
    assert!(!entries.iter().any(|entry| entry.to_string().contains(&operator)), "no secret is written down");
    assert_eq!(log(&site, "?target=queue%20mail").await.len(), 1);
    assert_eq!(log(&site, &format!("?who={who}")).await.len(), 2);
}

#[tokio::test]
async fn what_is_refused_leaves_no_entry_and_pages_follow_each_other() {
    let site = Site::start().await;
    let viewer = site.role("viewer").await;
    assert_eq!(site.post(&viewer, "/v1/queues/mail:pause", json!({})).await.0, 403);
    assert_eq!(site.get(&viewer, "/v1/audit").await.0, 403, "it takes the permission");
    assert_eq!(site.get(&site.role("operator").await, "/v1/audit").await.0, 200);
    let unknown = "/v1/jobs/job_00000000000000000000000000:cancel";
    assert_eq!(site.post(&site.admin, unknown, json!({})).await.0, 404);
    for queue in ["a", "b", "c"] {
        assert_eq!(site.post(&site.admin, &format!("/v1/queues/{queue}:pause"), json!({})).await.0, 200);
    }
    let (_, first) = site.get(&site.admin, "/v1/audit?limit=2").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let (_, rest) = site.get(&site.admin, &format!("/v1/audit?cursor={cursor}")).await;
    let targets = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|entry| entry["target"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(targets(&first), ["queue c", "queue b"]);
    assert_eq!(targets(&rest)[0], "queue a");
    assert_eq!(targets(&rest).len(), 3, "and the two tokens");
    assert!(rest["next_cursor"].is_null());
}
