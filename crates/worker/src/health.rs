//! The worker's own HTTP server, for whoever keeps it running: `/livez`, `/readyz`, `/metrics`, `/jobs`.
//!
//! It runs on the session's thread, so it answers while the handlers are busy, and stops answering
//! when the session does.
//!
//! | request | answer |
//! |---|---|
//! | `GET /livez` | `ok` while the session's thread runs |
//! | `GET /readyz` | `ok`, or 503 and why: draining, or the server is away; as JSON for `ganger health` |
//! | `GET /metrics` | what it did, for Prometheus |
//! | `GET /jobs` | the attempts that run |
//! | `GET /jobs/{id}` | one of them |
//! | `POST /jobs/{id}:cancel` | 202: the server was asked to cancel that job |
//!
//! A cancel goes by way of the server, which decides and makes it durable. Web pages are not answered: a page could otherwise make
//! its visitor's browser cancel jobs on this machine.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use ganger_core::JobId;
use serde_json::{Value, json};

use crate::client::{Client, ClientError};
use crate::error::WorkerError;
use crate::status::Status;

/// Media type of a scrape.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What its routes share.
#[derive(Clone)]
struct Site {
    status: Arc<Status>,
    client: Client,
    /// It listens where only this machine reaches it.
    loopback: bool,
}

/// Takes the address, so that a mistake is told before the worker starts.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, WorkerError> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|cause| WorkerError::Health { address, cause })
}

/// Serves until the runtime ends. Must be called on the session's runtime.
pub(crate) async fn serve(listener: TcpListener, status: Arc<Status>, client: Client) {
    let loopback = listener.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback());
    let site = Site { status, client, loopback };
    let routes = Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/jobs", get(jobs))
        .route("/jobs/{id}", get(job).post(verb))
        .layer(middleware::from_fn_with_state(site.clone(), only_programs))
        .with_state(site);
    let served = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => axum::serve(listener, routes).await,
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::error!("the health server ended: {error}");
    }
}

async fn readyz(State(site): State<Site>, headers: HeaderMap) -> Response {
    let standing = site.status.watch().borrow().clone();
    let ready = standing.open && !standing.draining;
    let said = match standing.trouble {
        _ if ready => "ok".into(),
        _ if standing.draining => "draining".into(),
        Some(trouble) => trouble,
        None => "the session is not open".to_owned(),
    };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("application/json") {
        // As a server tells it, so that `ganger health` understands both.
        let check = json!({ "name": "session", "ok": ready, "detail": said });
        return (status, Json(json!({ "ready": ready, "checks": [check] }))).into_response();
    }
    (status, format!("{said}\n")).into_response()
}

async fn metrics(State(site): State<Site>) -> Response {
    ([(header::CONTENT_TYPE, OPEN_METRICS)], site.status.metrics()).into_response()
}

async fn jobs(State(site): State<Site>) -> Json<Value> {
    Json(site.status.running())
}

async fn job(State(site): State<Site>, Path(id): Path<String>) -> Response {
    let found = id.parse::<JobId>().ok().and_then(|id| site.status.running_job(id));
    match found {
        Some(job) => Json(job).into_response(),
        None => not_here(),
    }
}

async fn verb(State(site): State<Site>, Path(segment): Path<String>) -> Response {
    let Some((id, "cancel")) = segment.rsplit_once(':') else {
        return refused(StatusCode::NOT_FOUND, "a job has one verb here: POST /jobs/{id}:cancel");
    };
    let Some(id) = id.parse::<JobId>().ok().filter(|id| site.status.running_job(*id).is_some()) else {
        return not_here();
    };
    match site.client.cancel(id).await {
        Ok(()) => (StatusCode::ACCEPTED, Json(json!({ "job": id, "cancelling": true }))).into_response(),
        Err(ClientError::Refused(status)) if status.code() == tonic::Code::FailedPrecondition => {
            refused(StatusCode::CONFLICT, status.message())
        }
        // A worker's own token may not cancel: whoever reaches this server was not asked who he is.
        Err(ClientError::Refused(status)) if status.code() == tonic::Code::PermissionDenied => {
            let why =
                "the token of this worker may not cancel jobs; ask the server, with `ganger job cancel`";
            refused(StatusCode::FORBIDDEN, &format!("{why} ({})", status.message()))
        }
        Err(error) => refused(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

fn not_here() -> Response {
    refused(StatusCode::NOT_FOUND, "no such job runs on this worker")
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}

/// Refuses what a web page may have caused: it says where it comes from, or was led here by a name of its own.
async fn only_programs(State(site): State<Site>, request: Request, next: Next) -> Response {
    if is_of_a_page(request.headers()) || (site.loopback && !is_for_loopback(&request)) {
        return refused(StatusCode::FORBIDDEN, "this is not served to web pages");
    }
    next.run(request).await
}

fn is_of_a_page(headers: &HeaderMap) -> bool {
    let led_by_a_person = |site: &header::HeaderValue| site.as_bytes() == b"none";
    headers.contains_key(header::ORIGIN)
        || headers.get("sec-fetch-site").is_some_and(|site| !led_by_a_person(site))
}

fn is_for_loopback(request: &Request) -> bool {
    // Probes come with whatever host their platform knows, and learn nothing but that we live.
    if matches!(request.uri().path(), "/livez" | "/readyz") {
        return true;
    }
    let host = request.headers().get(header::HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let Some(host) = request.uri().authority().cloned().or(host) else { return false };
    let bare = host.host().trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(path: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = axum::http::Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    #[test]
    fn pages_are_told_from_programs() {
        for (headers, page) in [
            (&[][..], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "cross-site")], true),
            (&[("origin", "http://localhost:3000")], true),
        ] {
            assert_eq!(is_of_a_page(request("/jobs", headers).headers()), page, "{headers:?}");
        }
        for (host, fine) in [
            ("127.0.0.1:9000", true),
            ("localhost", true),
            ("[::1]:1", true),
            ("evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            assert_eq!(is_for_loopback(&request("/jobs", &[("host", host)])), fine, "{host}");
        }
        assert!(is_for_loopback(&request("/livez", &[("host", "10.0.0.1")])));
        assert!(!is_for_loopback(&request("/jobs", &[])));
    }
}
