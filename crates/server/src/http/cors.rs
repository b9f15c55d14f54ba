//! Pages of other origins that may ask, because somebody said so.
//!
//! Nothing is allowed to other origins unless it is named: with `--cors-origin` for every route, and in `ganger dev` two
//! usual addresses of a page under development for the compatible doors alone. It is always without credentials: the
//! cookies of such a request are dropped before anyone looks at them, so that a page acts with what it was given, never with
//! what its visitor's browser happens to hold.

use std::fmt;
use std::str::FromStr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::compat::{CompatOptions, Profile};

/// Most origins that can be named.
const ORIGINS: usize = 64;
/// What a page may read of an answer besides its body.
const EXPOSED: &str = "location, link, x-job-id, x-total-count, x-request-id, retry-after";
const METHODS: &str = "GET, HEAD, POST, PUT, DELETE";
const HEADERS: &str = "authorization, content-type, idempotency-key, traceparent, tracestate, x-request-id";
/// A browser need not ask again for so long, in seconds.
const MAX_AGE: &str = "600";

/// Origins such as `http://localhost:5173`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// The usual addresses of a page under development.
    #[must_use]
    pub fn of_development() -> Origins {
        Origins(vec!["http://localhost:5173".into(), "http://localhost:3000".into()])
    }

    fn has(&self, origin: &str) -> bool {
        self.0.iter().any(|known| known == origin)
    }
}

impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Origins, String> {
        let origins: Vec<String> =
            text.split(',').map(|word| origin(word.trim())).collect::<Result<_, _>>()?;
        if origins.len() > ORIGINS {
            return Err(format!("it names {} origins, the limit is {ORIGINS}", origins.len()));
        }
        Ok(Origins(origins))
    }
}

/// One origin, as browsers write it.
fn origin(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is not an origin; an example is https://jobs.example.com");
    let lower = text.to_ascii_lowercase();
    let (scheme, rest) = lower.split_once("://").ok_or_else(wrong)?;
    let authority = Authority::from_str(rest).map_err(|_| wrong())?;
    if !matches!(scheme, "http" | "https") || rest.contains('@') || authority.host().contains('*') {
        return Err(wrong());
    }
    // Browsers leave out the port that the scheme has anyway.
    let usual = if scheme == "http" { 80 } else { 443 };
    match authority.port_u16() {
        Some(port) if port != usual => Ok(lower),
        _ => Ok(format!("{scheme}://{}", authority.host())),
    }
}

/// A request of a page whose origin may ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted;

impl Accepted {
    /// The answer to a browser that asks before it sends the request itself.
    pub(super) fn preflight(request: &Request) -> Option<Response> {
        request.extensions().get::<Accepted>()?;
        let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        (asks && *request.method() == Method::OPTIONS).then(|| {
            let headers = [
                (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
                (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
                (header::ACCESS_CONTROL_MAX_AGE, MAX_AGE),
            ];
            (StatusCode::NO_CONTENT, headers).into_response()
        })
    }
}

/// Around everything else: what is refused further in is readable to an accepted page as well.
pub(super) async fn cors(
    options: &CompatOptions,
    mut request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let Some(origin) = accepted(options, request.uri().path(), request.headers()) else {
        return next(request).await;
    };
    request.headers_mut().remove(header::COOKIE);
    request.extensions_mut().insert(Accepted);
    let mut response = next(request).await;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(policy, HeaderValue::from_static("cross-origin"));
    response
}

/// The origin of a request, if its pages may use that path.
fn accepted(options: &CompatOptions, path: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (origin, None) = (origins.next()?, origins.next()) else { return None };
    let text = origin.to_str().ok()?;
    let door = Profile::of(path).is_some_and(|profile| options.profiles.has(profile));
    (options.origins.has(text) || (door && options.door_origins.has(text))).then(|| origin.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_browsers_write_and_nothing_wider() {
        for (text, origin) in [
            ("http://localhost:5173", "http://localhost:5173"),
            ("HTTPS://Jobs.Example.com", "https://jobs.example.com"),
            ("https://a:443,http://b:80", "https://a,http://b"),
            ("http://[::1]:3000", "http://[::1]:3000"),
        ] {
            assert_eq!(text.parse::<Origins>().unwrap().to_string(), origin);
        }
        for wrong in [
            "",
            "*",
            "null",
            "localhost:5173",
            "http://a/b",
            "http://*.a",
            "ftp://a",
            "http://u@a",
            "http://a,",
        ] {
            assert!(wrong.parse::<Origins>().is_err(), "{wrong}");
        }
        let many = |n: usize| vec!["http://a"; n].join(",").parse::<Origins>();
        assert!(many(ORIGINS).is_ok() && many(ORIGINS + 1).is_err());
    }

    #[test]
    fn development_pages_reach_the_doors_and_nothing_else() {
        let dev = CompatOptions { door_origins: Origins::of_development(), ..CompatOptions::default() };
        let ask = |options: &CompatOptions, path: &str, origins: &[&str]| {
            let mut headers = HeaderMap::new();
            for origin in origins {
                headers.append(header::ORIGIN, origin.parse().unwrap());
            }
            accepted(options, path, &headers).is_some()
        };
        assert!(ask(&dev, "/submit_job", &["http://localhost:5173"]));
        assert!(ask(&dev, "/jobs/x", &["http://localhost:3000"]));
        assert!(!ask(&dev, "/v1/jobs", &["http://localhost:5173"]));
        assert!(!ask(&dev, "/submit_job", &["http://localhost:5174"]));
        assert!(!ask(&dev, "/submit_job", &["http://localhost:5173", "http://localhost:5173"]));
        assert!(!ask(&dev, "/submit_job", &["http://localhost:5173.evil.example"]));
        assert!(!ask(&dev, "/submit_job", &[]));
        let off = CompatOptions { profiles: super::super::compat::Profiles::NONE, ..dev };
        assert!(!ask(&off, "/submit_job", &["http://localhost:5173"]));
        let named = CompatOptions { origins: "http://a".parse().unwrap(), ..CompatOptions::default() };
        assert!(ask(&named, "/v1/jobs", &["http://a"]));
    }
}
