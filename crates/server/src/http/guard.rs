//! Who may ask at all. Runs before every route.
//!
//! A server without tokens is safe only as long as nothing but its user's own programs reaches it. On
//! loopback the danger is the browser: any web page can make it send requests to 127.0.0.1, and a page
//! whose name is made to point there (DNS rebinding) could even read the answers. So the `Host` of a
//! request must be a loopback name, and a request that a page of another origin caused is refused,
//! reading ones included. Nothing is allowed to other origins but to those that somebody named ([`super::cors`]).
//!
//! A request that another server of the cluster relayed has been through all this there: its seal proves it.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse as _, Response};

use super::cors::Accepted;
use super::problem::{Code, Problem};
use crate::relay::Relayed;

/// Longest path and query.
const URI_BYTES: usize = 8 << 10;
/// Most bytes of all headers together.
const HEADER_BYTES: usize = 16 << 10;

/// Which hosts the server answers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPolicy {
    /// Only loopback names and `allowed` are answered. Off where the server listens on other addresses.
    pub loopback_only: bool,
    /// Further host names, without port.
    pub allowed: Vec<String>,
}

impl Default for HostPolicy {
    fn default() -> HostPolicy {
        HostPolicy { loopback_only: true, allowed: Vec::new() }
    }
}

/// Lets in who may ask at all.
pub(super) async fn guard(
    policy: &HostPolicy,
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    if request.extensions().get::<Relayed>().is_some_and(|relayed| relayed.sealed) {
        return next(request).await;
    }
    match check(policy, &request) {
        Ok(()) => match Accepted::preflight(&request) {
            Some(answer) => answer,
            None => next(request).await,
        },
        Err(problem) => problem.into_response(),
    }
}

/// Checks bounds, encoding, host and origin.
fn check<B>(policy: &HostPolicy, request: &axum::http::Request<B>) -> Result<(), Problem> {
    let (uri, headers) = (request.uri(), request.headers());
    let length = uri.path_and_query().map_or(0, |p| p.as_str().len());
    if length > URI_BYTES {
        return Err(Problem::new(Code::UriTooLong, format!("{length} bytes, the limit is {URI_BYTES}")));
    }
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if size > HEADER_BYTES {
        return Err(Problem::new(
            Code::HeadersTooLarge,
            format!("{size} bytes, the limit is {HEADER_BYTES}"),
        ));
    }
    let encoding = headers.get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Problem::new(Code::UnsupportedMediaType, "a compressed body is not read here"));
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    // Probes come with whatever host their platform knows, and learn nothing but that we live.
    if reads && matches!(uri.path(), "/livez" | "/readyz") {
        return Ok(());
    }
    let host = host(request)?;
    if policy.loopback_only && !is_allowed(policy, host.host()) {
        return Err(Problem::new(
            Code::HostNotAllowed,
            format!("the request is for `{}`, which is not a loopback name", shown(host.host())),
        ));
    }
    if request.extensions().get::<Accepted>().is_some() {
        return Ok(());
    }
    // A person who follows a link from elsewhere to one of our pages reads it; the other site does not.
    let page = reads && is_page(uri.path()) && headers.get("sec-fetch-mode").is_some_and(|m| m == "navigate");
    if page { Ok(()) } else { same_origin(headers, &host) }
}

fn host<B>(request: &axum::http::Request<B>) -> Result<Authority, Problem> {
    // HTTP/2 carries the host as part of the address.
    if let Some(authority) = request.uri().authority() {
        return Ok(authority.clone());
    }
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => Authority::try_from(host.as_bytes()).ok(),
        _ => None,
    }
    .ok_or_else(|| Problem::new(Code::HostNotAllowed, "the request has no readable Host header"))
}

fn is_allowed(policy: &HostPolicy, host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    if let Ok(address) = bare.parse::<IpAddr>()
        && address.is_loopback()
    {
        return true;
    }
    let name = bare.to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || policy.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(&name))
}

fn same_origin(headers: &HeaderMap, host: &Authority) -> Result<(), Problem> {
    let refused = |what: String| Err(Problem::new(Code::OriginNotAllowed, what));
    if let Some(site) = headers.get("sec-fetch-site")
        && !matches!(site.as_bytes(), b"same-origin" | b"none")
    {
        return refused("a page of another site caused this request".into());
    }
    for origin in headers.get_all(header::ORIGIN) {
        let text = origin.to_str().unwrap_or_default();
        let authority = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        if !authority.is_some_and(|a| a.eq_ignore_ascii_case(host.as_str())) {
            return refused(format!("the origin `{}` is not this server", shown(text)));
        }
    }
    Ok(())
}

fn is_page(path: &str) -> bool {
    matches!(path, "/" | "/ui" | "/v1/docs") || path.starts_with("/ui/") || path.starts_with("/problems/")
}

fn shown(text: &str) -> String {
    text.chars().take(64).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, path: &str, headers: &[(&str, &str)]) -> Result<(), Code> {
        let mut request = axum::http::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let policy = HostPolicy { loopback_only: true, allowed: vec!["ganger.lan".into()] };
        check(&policy, &request.body(()).unwrap()).map_err(|p| p.code)
    }

    #[test]
    fn only_loopback_names_and_allowed_ones_are_answered() {
        let fine = [
            "localhost",
            "localhost:8080",
            "127.0.0.1:8080",
            "127.9.9.9",
            "[::1]:8080",
            "ui.localhost",
            "Ganger.LAN:80",
        ];
        for host in fine {
            assert_eq!(ask("GET", "/v1/jobs", &[("host", host)]), Ok(()), "{host}");
        }
        let foreign = [
            "evil.example",
            "10.0.0.1",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "a b",
            "",
        ];
        for host in foreign {
            assert_eq!(ask("GET", "/v1/jobs", &[("host", host)]), Err(Code::HostNotAllowed), "{host}");
        }
        assert_eq!(ask("GET", "/v1/jobs", &[]), Err(Code::HostNotAllowed));
        assert_eq!(ask("GET", "/livez", &[("host", "10.0.0.1")]), Ok(()));
    }

    #[test]
    fn no_other_page_can_ask_behind_its_users_back() {
        let host = ("host", "127.0.0.1:8080");
        for method in ["GET", "POST", "PUT"] {
            for other in [
                ("origin", "https://evil.example"),
                ("origin", "null"),
                ("origin", "http://127.0.0.1:3000"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-site", "same-site"),
                ("sec-fetch-site", ""),
            ] {
                assert_eq!(ask(method, "/v1/jobs", &[host, other]), Err(Code::OriginNotAllowed), "{other:?}");
            }
            for own in [
                ("origin", "http://127.0.0.1:8080"),
                ("sec-fetch-site", "same-origin"),
                ("sec-fetch-site", "none"),
            ] {
                assert_eq!(ask(method, "/v1/jobs", &[host, own]), Ok(()), "{own:?}");
            }
        }
    }

    #[test]
    fn a_link_may_lead_to_a_page_but_not_to_the_api() {
        let link = [("host", "localhost"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(ask("GET", "/", &link), Ok(()));
        assert_eq!(ask("GET", "/v1/docs", &link), Ok(()));
        assert_eq!(ask("GET", "/v1/jobs", &link), Err(Code::OriginNotAllowed));
        assert_eq!(ask("POST", "/", &link), Err(Code::OriginNotAllowed));
    }

    #[test]
    fn bounds_hold_at_the_bound_and_refuse_one_past_it() {
        let path = |n: usize| format!("/{}", "a".repeat(n - 1));
        assert_eq!(ask("GET", &path(URI_BYTES), &[("host", "localhost")]), Ok(()));
        assert_eq!(ask("GET", &path(URI_BYTES + 1), &[("host", "localhost")]), Err(Code::UriTooLong));
        let fill = "x".repeat(HEADER_BYTES);
        assert_eq!(ask("GET", "/", &[("host", "localhost"), ("x", &fill)]), Err(Code::HeadersTooLarge));
        let gzip = [("host", "localhost"), ("content-encoding", "gzip")];
        assert_eq!(ask("POST", "/v1/jobs", &gzip), Err(Code::UnsupportedMediaType));
    }
}
