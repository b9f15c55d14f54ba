//! Between servers: a standby calls its leader by TLS, and tells it whose certificate it saw.

use std::sync::Arc;

use ganger_server::testing;
use ganger_store::{MemoryStore, Store};
use serde_json::Value;

use crate::authority::Authority;
use crate::site::{asking, client, first_token};

const SECRET: &str = "what the servers of this test share";

#[tokio::test]
async fn a_standby_relays_by_tls_and_tells_who_showed_a_certificate() {
    let authority = Authority::new();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let (mut options, first) = asking(&authority, store.clone());
    options.name = "leader-1".into();
    options.cluster_secret = Some(SECRET.into());
    let leader = testing::start_with(options).await;
    let admin = first_token(&first).await;
    let (mut options, _) = asking(&authority, store);
    options.name = "standby-1".into();
    options.cluster_secret = Some(SECRET.into());
    let standby = testing::standby(options).await;
    standby.follow("leader-1", &leader.url());
    let gpu = client(&authority, Some(&authority.worker("gpu-1.lan", &["gpu"]))).build().unwrap();
    let get = async |client: &reqwest::Client, path: &str, token: &str| {
        let request = client.get(format!("{}{path}", standby.url())).bearer_auth(token);
        let request = if token.is_empty() { client.get(format!("{}{path}", standby.url())) } else { request };
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    let plain = client(&authority, None).build().unwrap();
    let mut status = 0;
    for _ in 0..500 {
        status = get(&plain, "/v1/queues", &admin).await.0;
        if status == 200 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(status, 200, "through the standby");
    // The leader makes of it who it is: a worker that is confined sees its own queues only.
    let (status, body) = get(&gpu, "/v1/jobs", "").await;
    assert_eq!(status, 200, "{body}");
    let (status, body) = get(&gpu, "/v1/tokens", "").await;
    assert_eq!(status, 403, "{body}");
    let forged = plain
        .get(format!("{}/v1/jobs", leader.url()))
        .header("ganger-certificate", "9999999999999999;*;gpu-1.lan")
        .send()
        .await
        .unwrap();
    assert_eq!(forged.status().as_u16(), 401, "nobody but a server is believed about certificates");
    standby.stop().await;
    leader.stop().await;
}

#[tokio::test]
async fn a_leader_whose_certificate_is_not_believed_is_not_relayed_to() {
    let authority = Authority::new();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let (mut options, first) = asking(&authority, store.clone());
    options.name = "leader-1".into();
    options.cluster_secret = Some(SECRET.into());
    let leader = testing::start_with(options).await;
    let admin = first_token(&first).await;
    let (mut options, _) = asking(&authority, store);
    options.cluster_secret = Some(SECRET.into());
    options.ca = Some(Authority::new().pem.into_bytes());
    options.relay.hold = std::time::Duration::from_millis(300);
    let standby = testing::standby(options).await;
    standby.follow("leader-1", &leader.url());
    let plain = client(&authority, None).build().unwrap();
    let answer = plain.get(format!("{}/v1/queues", standby.url())).bearer_auth(&admin).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 503, "{}", answer.text().await.unwrap());
    standby.stop().await;
    leader.stop().await;
}
