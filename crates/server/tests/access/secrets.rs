//! What looks like a secret is hidden where many jobs are shown, and payloads are for those who may read them.

use ganger_proto::v1;
use ganger_proto::v1::jobs_client::JobsClient;
use serde_json::json;

use crate::site::Site;

#[tokio::test]
async fn secrets_are_hidden_in_lists_and_shown_in_the_one_job() {
    let site = Site::start().await;
    let payload = json!({"to": "ada", "smtpPassword": "hunter2"});
    let (_, job) = site.post(&site.admin, "/v1/jobs", json!({"kind": "mail", "payload": payload})).await;
    let id = job["id"].as_str().unwrap();
    let (_, page) = site.get(&site.admin, "/v1/jobs?include=payload").await;
    assert_eq!(page["items"][0]["payload"], json!({"to": "ada", "smtpPassword": "[redacted]"}));
    let (_, one) = site.get(&site.admin, &format!("/v1/jobs/{id}")).await;
    assert_eq!(one["payload"]["smtpPassword"], "hunter2");
    let bearer = format!("Bearer {}", site.admin);
    let mut jobs = JobsClient::connect(site.server.url()).await.unwrap();
    let mut list = tonic::Request::new(v1::ListRequest::default());
    list.metadata_mut().insert("authorization", bearer.parse().unwrap());
    let listed = jobs.list(list).await.unwrap().into_inner().jobs;
    assert!(
        !listed[0].payload.contains("hunter2") && listed[0].payload.contains("ada"),
        "{}",
        listed[0].payload
    );
}

#[tokio::test]
async fn verbs_over_grpc_show_payloads_only_to_those_who_may_read_them() {
    let site = Site::start().await;
    let blind = site.token(json!({"name": "b", "role": "operator", "scopes": ["read", "cancel"]})).await;
    for (token, sees) in [(blind, false), (site.role("operator").await, true)] {
        let (_, job) = site.post(&site.admin, "/v1/jobs", json!({"kind": "mail", "payload": {"n": 7}})).await;
        let mut cancel = tonic::Request::new(v1::CancelRequest { id: job["id"].as_str().unwrap().into() });
        cancel.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let mut jobs = JobsClient::connect(site.server.url()).await.unwrap();
        let shown = jobs.cancel(cancel).await.unwrap().into_inner();
        assert_eq!((shown.state.as_str(), shown.payload.contains('7')), ("cancelled", sees));
    }
}
