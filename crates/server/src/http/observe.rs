//! Names each request, measures it, logs what failed, and sets the headers that
//! every answer has.

use std::any::Any;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ganger_core::access::policy;

use super::App;
use super::problem::{Code, Problem};
use super::request::Answer;
use crate::listener::Peer;
use crate::tls::Secured;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The route of a request for the metrics, where the matched path does not tell its verb.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteLabel(pub(super) &'static str);

impl RouteLabel {
    /// An answer that counts under this route.
    pub(super) fn on(self, answer: Answer) -> Response {
        let mut response = answer.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Around everything that answers.
pub(super) async fn observe(
    app: &App,
    mut request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let started = app.now().mono;
    let id = request_id(request.headers());
    // The leader names a relayed request as we do.
    if let Ok(id) = HeaderValue::from_str(&id) {
        request.headers_mut().insert(REQUEST_ID, id);
    }
    let peer = request.extensions().get::<Peer>().copied();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let secured = request.extensions().get::<Secured>().is_some();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        response = with_id(response, problem, &id, peer);
    }
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        // Routes that share a captured segment do not know of each other.
        if let Ok(methods) = HeaderValue::try_from(policy::methods(uri.path()).join(", ")) {
            response.headers_mut().insert(header::ALLOW, methods);
        }
    }
    let label = match response.extensions().get::<RouteLabel>() {
        Some(RouteLabel(verb)) => verb,
        None => matched.as_ref().map_or("unmatched", MatchedPath::as_str),
    };
    let elapsed = app.now().mono.since(started);
    app.options.metrics.request(label, &method, response.status(), elapsed);
    set_headers(response.headers_mut(), &id);
    if secured {
        let year = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    response
}

/// What a panic in a handler is answered with. The process lives on.
pub(super) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let what = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into());
    tracing::error!(panic = %what, "a request handler panicked: {what}");
    Problem::new(Code::Internal, "the server met a bug while it handled this request").into_response()
}

/// A problem again, now with the request's id, and logged if it is ours.
fn with_id(response: Response, problem: Problem, id: &str, peer: Option<Peer>) -> Response {
    if problem.code.status().is_server_error() {
        let (code, detail) = (problem.code.as_str(), problem.detail.as_str());
        let client = peer.map_or_else(|| "unknown".into(), |peer| peer.0.to_string());
        tracing::warn!(request.id = id, error.code = code, client, "request {id} was not served: {detail}");
    }
    let label = response.extensions().get::<RouteLabel>().copied();
    let mut named = problem.answer(Some(id));
    if let Some(label) = label {
        named.extensions_mut().insert(label);
    }
    named
}

/// The caller's own id if it is a plain word, or a fresh one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let plain = |text: &&str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
    };
    match given.filter(plain) {
        Some(id) => id.to_string(),
        None => format!("req_{}", uuid::Uuid::new_v4().simple()),
    }
}

fn set_headers(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    let defaults = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in defaults {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_id_is_kept_if_it_is_a_plain_word() {
        let id = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, text.parse().unwrap());
            request_id(&headers)
        };
        assert_eq!(id("abc-1.2_3"), "abc-1.2_3");
        for odd in ["", "a b", "<script>", &"x".repeat(65)] {
            assert!(id(odd).starts_with("req_"), "{odd}");
        }
    }
}
