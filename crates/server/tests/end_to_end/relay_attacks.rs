//! The relay as an attacker would use it: forged and repeated seals, loops, pages of other sites, slow clients.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use ganger_server::listener::Listeners;
use ganger_server::{Server, ServerError, testing};
use ganger_store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::common::{eventually, within};
use crate::relay::{LEADER, get, metric, pair, pair_with, post, server};

/// Sends with these headers, and answers status and code.
async fn send(url: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let mut request = reqwest::Client::new().post(format!("{url}/v1/jobs")).body("{\"kind\":\"x\"}");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = within("an answer", request.send()).await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json::<Value>().await.unwrap()["code"].as_str().unwrap_or_default().to_owned())
}

/// Where the leader should be sits somebody who writes down what he gets.
async fn eavesdropper() -> (String, Arc<Mutex<Vec<(String, HeaderMap)>>>, Listeners) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let writes = heard.clone();
    let router = Router::new().fallback(move |request: Request| {
        let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        writes.lock().unwrap().push((host, request.headers().clone()));
        async { "{}" }
    });
    (address, heard, Listeners::start(vec![listener], router, None, &Default::default()))
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_passes_for_a_server_without_the_secret() {
    let pair = pair().await;
    let forged = "v1;server=standby-1;to=leader-1;client=10.0.0.1:1;time=1;nonce=1-1;mac=AAAA";
    let unsealed = "v1;server=standby-1;to=leader-1;time=1;nonce=1-1";
    for url in [pair.leader.url(), pair.standby.url()] {
        for seal in [forged, unsealed, "rubbish", ""] {
            assert_eq!(send(&url, &[("ganger-relay", seal)]).await, (401, "relay_refused".into()), "{seal}");
        }
        // It opens no other door either: the host is checked as before.
        let (status, code) = send(&url, &[("ganger-relay", forged), ("host", "evil.example")]).await;
        assert_eq!((status, code.as_str()), (421, "host_not_allowed"));
    }
    assert!(metric(&pair.leader.url(), "ganger_relay_refused_total").await >= Some(4.0));
    assert_eq!(get(&pair.leader.url(), "/v1/jobs").await.1["items"], json!([]));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relayed_request_that_somebody_saw_is_of_no_use_to_him() {
    let pair = pair_with(|_| ()).await;
    let (address, heard, _listening) = eavesdropper().await;
    pair.standby.follow(LEADER, &address);
    assert_eq!(post(&pair.standby.url(), "/v1/jobs", json!({"kind": "x"})).await.0, 200);
    // It was also knocked at.
    let submitted = |(_, headers): &&(String, HeaderMap)| headers.contains_key("ganger-relay-key");
    let (host, headers) = heard.lock().unwrap().iter().find(submitted).unwrap().clone();
    let value = |name: &str| headers[name].to_str().unwrap().to_owned();
    let (seal, key) = (value("ganger-relay"), value("ganger-relay-key"));
    assert!(seal.contains("client=127.0.0.1:") && !seal.contains(crate::relay::SECRET), "{seal}");
    let as_heard =
        [("ganger-relay", seal.as_str()), ("ganger-relay-key", key.as_str()), ("host", host.as_str())];
    // Passed on at once it is what it was; anything else of it is refused.
    let another = [as_heard[0], ("ganger-relay-key", "another"), as_heard[2]];
    let url = pair.leader.url();
    assert_eq!(send(&url, &another).await, (401, "relay_refused".into()));
    assert_eq!(send(&url, &as_heard).await, (201, String::new()));
    assert_eq!(send(&url, &as_heard).await, (401, "relay_refused".into()));
    // Nor is it good for another server of the cluster.
    assert_eq!(send(&pair.standby.url(), &as_heard).await, (401, "relay_refused".into()));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_with_different_secrets_do_not_serve_each_other_and_say_why() {
    let pair = pair_with(|options| {
        options.cluster_secret = Some("another secret than the leader's".into());
        options.relay.hold = Duration::from_millis(100);
    })
    .await;
    pair.standby.follow(LEADER, &pair.leader.url());
    let (status, body) = post(&pair.standby.url(), "/v1/jobs", json!({"kind": "x"})).await;
    assert_eq!((status, &body["code"]), (503, &json!("no_leader")));
    let detail = body["detail"].as_str().unwrap();
    assert!(detail.contains("relay_refused") && detail.contains("GANGER_CLUSTER_SECRET"), "{body}");
    pair.stop().await;
}

/// It follows the leader, for they meet in the store; but no client should be sent to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_its_leader_does_not_recognise_is_not_ready_and_says_what_to_do() {
    let pair =
        pair_with(|options| options.cluster_secret = Some("another secret than the leader's".into())).await;
    let url = pair.standby.url();
    pair.standby.follow(LEADER, &pair.leader.url());
    eventually("the refusal", || async { get(&url, "/readyz").await.0 == 503 }).await;
    let (_, text) = get(&url, "/readyz").await;
    let line = text.as_str().unwrap().lines().find(|line| line.starts_with("[-]leader failed: ")).unwrap();
    for word in [LEADER, "do not have the same cluster secret", "; set GANGER_CLUSTER_SECRET"] {
        assert!(line.contains(word), "{line}");
    }
    // The next leader may think otherwise, and is asked.
    let mut options = server("leader-2", &pair.store);
    options.cluster_secret = Some("another secret than the leader's".into());
    let second = testing::start_with(options).await;
    pair.standby.follow("leader-2", &second.url());
    assert_eq!(get(&url, "/readyz").await.0, 200);
    assert_eq!(post(&url, "/v1/jobs", json!({"kind": "x"})).await.0, 201);
    second.stop().await;
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_secret_loopback_servers_relay_and_no_guard_is_relaxed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut options = server(LEADER, &store);
    options.cluster_secret = None;
    let leader = testing::start_with(options).await;
    let mut options = server("standby-1", &store);
    options.cluster_secret = None;
    let standby = testing::standby(options).await;
    standby.follow(LEADER, &leader.url());
    assert_eq!(post(&standby.url(), "/v1/jobs", json!({"kind": "x"})).await.0, 201);
    let unsealed = ("ganger-relay", "v1;server=a;to=leader-1;time=1;nonce=1-1");
    for url in [leader.url(), standby.url()] {
        let page = [unsealed, ("origin", "http://evil.example")];
        assert_eq!(send(&url, &page).await, (403, "origin_not_allowed".into()));
        assert_eq!(send(&url, &[unsealed, ("host", "evil.example")]).await, (421, "host_not_allowed".into()));
    }
    // All that it does is to keep a request from being relayed again.
    assert_eq!(send(&standby.url(), &[unsealed]).await, (503, "not_leading".into()));
    standby.stop().await;
    leader.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_site_is_refused_where_it_asks() {
    let pair = pair().await;
    let url = pair.standby.url();
    let before = metric(&url, "ganger_relay_requests_total{outcome=\"answered\"}").await;
    assert_eq!(send(&url, &[("origin", "http://evil.example")]).await, (403, "origin_not_allowed".into()));
    assert_eq!(send(&url, &[("host", "evil.example")]).await, (421, "host_not_allowed".into()));
    let grpc = reqwest::Client::new().post(format!("{url}/ganger.v1.Jobs/Enqueue")).body(vec![0; 5]);
    let answer = within("an answer", grpc.send()).await.unwrap();
    assert_eq!(answer.headers()["grpc-status"], "7");
    assert_eq!(metric(&url, "ganger_relay_requests_total{outcome=\"answered\"}").await, before);
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_that_take_each_other_for_the_leader_do_not_send_calls_in_circles() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let standby = |name: &str| {
        let mut options = server(name, &store);
        options.relay.hold = Duration::from_millis(200);
        testing::standby(options)
    };
    let (a, b) = (standby("a").await, standby("b").await);
    a.follow("b", &b.url());
    b.follow("a", &a.url());
    let (status, body) = post(&a.url(), "/v1/jobs", json!({"kind": "x"})).await;
    assert_eq!((status, &body["code"]), (503, &json!("no_leader")));
    assert!(body["detail"].as_str().unwrap().contains("not_leading"), "{body}");
    for url in [a.url(), b.url()] {
        let relayed = metric(&url, "ganger_relay_streams").await;
        assert_eq!(relayed, Some(0.0));
    }
    assert_eq!(metric(&b.url(), "ganger_relay_requests_total{outcome=\"no_leader\"}").await, Some(0.0));
    a.stop().await;
    b.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_share_a_store_in_the_open_need_a_secret_and_a_good_one() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut options = server(LEADER, &store);
    options.cluster_secret = Some("short".into());
    assert!(matches!(Server::start(options).await, Err(ServerError::ShortClusterSecret(5))));
}

/// Clients that ask for much and never read must not hold up anybody, although all share one connection.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_do_not_read_hold_up_nobody() {
    let pair = pair().await;
    let url = pair.standby.url();
    let address: std::net::SocketAddr = url.trim_start_matches("http://").parse().unwrap();
    let large = "x".repeat(1_000_000);
    for _ in 0..16 {
        assert_eq!(post(&url, "/v1/jobs", json!({"kind": "x", "payload": large})).await.0, 201);
    }
    let mut deaf = Vec::new();
    for _ in 0..6 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        let request = format!("GET /v1/jobs?include=payload HTTP/1.1\r\nhost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        within("the head of an answer", stream.read_exact(&mut first)).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        deaf.push(stream);
    }
    // Another one promises a body and sends half of it.
    let mut half = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /v1/jobs HTTP/1.1\r\nhost: {address}\r\ncontent-length: 100\r\n\r\n{{\"kind\"");
    half.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..50 {
        assert_eq!(get(&url, "/v1/stats").await.0, 200);
    }
    assert_eq!(metric(&url, "ganger_relay_streams").await, Some(6.0));
    drop((deaf, half));
    eventually("their end", || async { metric(&url, "ganger_relay_streams").await == Some(0.0) }).await;
    pair.stop().await;
}
