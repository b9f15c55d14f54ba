//! `http` against a real server on loopback, which the guard is told to allow.

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap as Received;
use axum::routing::{get, post};
use serde_json::json;

use super::*;
use crate::kinds::guard::Lookup;
use futures::future::BoxFuture;
use std::net::IpAddr;

async fn server() -> u16 {
    let routes = Router::new()
        .route("/hello", get(|| async { "hello" }))
        .route(
            "/echo",
            post(|headers: Received, body: Bytes| async move {
                let sort =
                    headers.get("content-type").and_then(|v| v.to_str().ok()).unwrap_or("none").to_owned();
                format!("{sort} {}", String::from_utf8_lossy(&body))
            }),
        )
        .route("/missing", get(|| async { StatusCode::NOT_FOUND }))
        .route("/busy", get(|| async { (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "7")]) }))
        .route("/away", get(|| async { (StatusCode::FOUND, [("location", "http://169.254.169.254/")]) }))
        .route("/large", get(|| async { "\u{1}".repeat(BODY_BYTES + 1) }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    port
}

async fn call(guard: Guard, payload: Value) -> Result<Answer, JobError> {
    let request: Request = serde_json::from_value(payload).unwrap();
    Http::new(guard).run(Ctx::for_test("http"), request).await
}

fn open() -> Guard {
    Guard::default().allow("127.0.0.1".parse().unwrap()).any_port()
}

#[tokio::test]
async fn an_answer_is_the_result_and_a_bad_status_an_error() {
    let port = server().await;
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let answer = call(open(), json!({"url": url("/hello")})).await.unwrap();
    assert_eq!((answer.status, answer.body.as_str(), answer.truncated), (200, "hello", false));
    assert_eq!(answer.headers["content-length"], "5");

    let echoed =
        call(open(), json!({"url": url("/echo"), "method": "POST", "body": {"a": 1}})).await.unwrap();
    assert_eq!(echoed.body, r#"application/json {"a":1}"#);

    let error = call(open(), json!({"url": url("/missing")})).await.unwrap_err();
    assert_eq!(error.to_string(), "status 404 Not Found");
    assert!(call(open(), json!({"url": url("/missing"), "expect": [404, 410]})).await.is_ok());
    assert!(call(open(), json!({"url": url("/hello"), "expect": 204})).await.is_err());

    use ganger_core::outcome::Report;
    let busy = call(open(), json!({"url": url("/busy")})).await.unwrap_err();
    let seven = Duration::from_secs(7);
    assert_eq!(busy.into_report(), Report::RetryAfter(seven, "status 503 Service Unavailable".into()));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let port = server().await;
    let answer = call(open(), json!({"url": format!("http://127.0.0.1:{port}/away")})).await.unwrap();
    assert_eq!((answer.status, answer.headers["location"].as_str()), (302, "http://169.254.169.254/"));
}

#[tokio::test]
async fn a_large_body_is_cut_until_the_result_can_be_kept() {
    let port = server().await;
    let answer = call(open(), json!({"url": format!("http://127.0.0.1:{port}/large")})).await.unwrap();
    assert!(answer.truncated);
    assert!(serde_json::to_string(&answer).unwrap().len() <= limits::RESULT_BYTES);
}

/// Answers every name with loopback.
struct Home;

impl Lookup for Home {
    fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Ok(vec![IpAddr::from([127, 0, 0, 1])])))
    }
}

#[tokio::test]
async fn a_name_is_reached_at_its_checked_address_or_not_at_all() {
    let port = server().await;
    let url = format!("http://name.example:{port}/hello");
    let allowed = call(open().lookup(Home), json!({"url": url})).await.unwrap();
    assert_eq!(allowed.body, "hello");
    let error = call(Guard::default().any_port().lookup(Home), json!({"url": url})).await.unwrap_err();
    assert!(error.is_fatal());
    assert!(error.to_string().contains("address 127.0.0.1 is not public"), "{error}");
    assert!(!error.to_string().contains("name.example"), "the URL may be secret: {error}");
    let literal = call(Guard::default().any_port(), json!({"url": format!("http://127.0.0.1:{port}/hello")}));
    assert!(literal.await.unwrap_err().is_fatal());
}

#[tokio::test]
async fn headers_that_belong_to_the_connection_are_refused() {
    for name in ["Host", "transfer-encoding", "Connection"] {
        let error =
            call(open(), json!({"url": "http://127.0.0.1:1/", "headers": {name: "x"}})).await.unwrap_err();
        assert!(error.is_fatal() && error.to_string().contains("not the job's to set"), "{error}");
    }
    let error =
        call(open(), json!({"url": "http://127.0.0.1:1/", "headers": {"a": "b\r\nc: d"}})).await.unwrap_err();
    assert!(error.is_fatal());
}
