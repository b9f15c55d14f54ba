//! `http` against a real server on loopback, which the guard is told to allow.

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap as Received;
use axum::routing::{get, post};
use serde_json::json;

use super::*;
use crate::kinds::guard::{Connect, Lookup};
use futures::future::BoxFuture;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The internet of these tests: every name has a public address, and every address leads to a server on loopback.
struct Internet(u16, Arc<std::sync::Mutex<Vec<IpAddr>>>);

impl Connect for Internet {
    fn connect(&self, checked: IpAddr) -> SocketAddr {
        self.1.lock().unwrap().push(checked);
        SocketAddr::from(([127, 0, 0, 1], self.0))
    }
}

/// Names and their addresses; `flips.example` is public when it is asked first, and private ever after.
#[derive(Default)]
struct Names(Arc<AtomicUsize>);

impl Lookup for Names {
    fn lookup(&self, host: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let flips = host == "flips.example" && self.0.fetch_add(1, Ordering::SeqCst) > 0;
        let address = match host.as_str() {
            _ if flips => "127.0.0.1",
            "inside.example" => "10.0.0.8",
            "other.example" => "93.184.216.35",
            _ => "93.184.216.34",
        };
        Box::pin(std::future::ready(Ok(vec![address.parse().unwrap()])))
    }
}

/// A server that sends whoever asks to where the path says, and else tells what it was asked.
async fn crossroads() -> u16 {
    let ask = |headers: Received, method: Method, uri: axum::http::Uri, body: String| async move {
        let to = uri.query().and_then(|query| query.strip_prefix("to="));
        let status = uri.path().trim_start_matches('/').parse().ok().filter(|_| to.is_some());
        match (to, status.and_then(|code| StatusCode::from_u16(code).ok())) {
            (Some(to), Some(status)) => (status, [("location", to.to_owned())], String::new()),
            _ => {
                let host = headers["host"].to_str().unwrap_or_default().to_owned();
                let secret = headers.contains_key("x-secret");
                (StatusCode::OK, [("location", String::new())], format!("{method} {host} {secret} {body}"))
            }
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(ask)).await.unwrap() });
    port
}

#[tokio::test]
async fn redirects_are_followed_as_far_as_the_job_allows_and_carry_nothing_to_strangers() {
    let seen = Arc::default();
    let guard =
        Guard::default().lookup(Names::default()).connect(Internet(crossroads().await, Arc::clone(&seen)));
    let ask = |url: &str, method: &str, body: Value| {
        let payload =
            json!({"url": url, "method": method, "body": body, "headers": {"x-secret": "s"}, "redirects": 2});
        call(guard.clone(), payload)
    };
    let said = |answer: Result<Answer, JobError>| answer.unwrap().body;
    assert_eq!(said(ask("http://a.example/307?to=/end", "POST", json!("b")).await), "POST a.example true b");
    assert_eq!(said(ask("http://a.example/302?to=/end", "POST", json!("b")).await), "GET a.example true ");
    assert_eq!(
        said(ask("http://a.example/303?to=http://other.example/end", "PUT", json!("b")).await),
        "GET other.example false "
    );
    assert_eq!(
        seen.lock().unwrap().last().copied(),
        Some("93.184.216.35".parse().unwrap()),
        "the address that was checked is the one that is connected to"
    );
    let error =
        ask("http://a.example/308?to=http://other.example/end", "POST", json!("b")).await.unwrap_err();
    assert_eq!(error.to_string(), "the redirect would send the body to another origin");
    let error = ask("http://a.example/302?to=/302?to=/302?to=/end", "GET", Value::Null).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.is_fatal()), ("more than 2 redirects", false));
    let many = json!({"url": "http://a.example/", "redirects": REDIRECTS + 1});
    assert_eq!(call(guard.clone(), many).await.unwrap_err().to_string(), "11 redirects, the limit is 10");
}

#[tokio::test]
async fn a_redirect_to_where_the_job_may_not_go_is_fatal() {
    let port = crossroads().await;
    for to in [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:10.0.0.1]/",
        "//10.0.0.1/",
        "http://inside.example/",
        "http://a.example:22/",
        "http://user:pw@a.example/",
        "file:///etc/passwd",
        "gopher://a.example/",
    ] {
        let seen = Arc::default();
        let guard = Guard::default().lookup(Names::default()).connect(Internet(port, Arc::clone(&seen)));
        let payload = json!({"url": format!("http://a.example/302?to={to}"), "redirects": 5});
        let error = call(guard, payload).await.unwrap_err();
        assert!(error.is_fatal(), "{to}: {error}");
        assert_eq!(*seen.lock().unwrap(), ["93.184.216.34".parse::<IpAddr>().unwrap()], "{to}");
    }
}

/// The name is public when it is checked and private when it is used: it must not be asked between the two, and the
/// next hop asks, and checks, anew.
#[tokio::test]
async fn a_name_that_changes_its_mind_is_caught() {
    let (seen, names) = (Arc::default(), Names::default());
    let asked = names.0.clone();
    let guard = Guard::default().lookup(names).connect(Internet(crossroads().await, Arc::clone(&seen)));
    let once = call(guard.clone(), json!({"url": "http://flips.example/end"})).await.unwrap();
    assert_eq!((once.body.as_str(), asked.load(Ordering::SeqCst)), ("GET flips.example false ", 1));
    asked.store(0, Ordering::SeqCst);
    let back = json!({"url": "http://flips.example/302?to=/end", "redirects": 1});
    let error = call(guard, back).await.unwrap_err();
    assert!(error.is_fatal() && error.to_string().contains("127.0.0.1 is not public"), "{error}");
    let public: IpAddr = "93.184.216.34".parse().unwrap();
    assert_eq!(*seen.lock().unwrap(), [public, public], "only what was checked was connected to");
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
