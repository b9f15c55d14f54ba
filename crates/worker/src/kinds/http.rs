//! `http`: one request, guarded against private addresses.
//!
//! Payload: `{"url": "https://…", "method": "POST", "headers": {…}, "body": …, "timeout": 10, "expect": 204}`. Only
//! `url` is required. A `body` that is not a string is sent as JSON. A status of 400 or more is an
//! error, or any other than `expect` (a number or a list) where that is given; `Retry-After` is honoured.
//! Redirects are not followed, their status is the result; unless `redirects` says how many may be, at most ten. Each is
//! checked like the first address; the job's headers and body go to no other origin, and nothing goes from https to http.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ganger_core::limits;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::guard::{Denied, Guard};
use crate::context::Ctx;
use crate::error::{Fatal, JobError};
use crate::job::Job;

/// The kind `http`.
pub const HTTP: Job<Request, Answer> = Job::new("http");

/// How long a request may take if the payload does not say.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Read of a response; the rest is left.
const BODY_BYTES: usize = 1 << 20;
/// Most redirects that a job may follow.
const REDIRECTS: u8 = 10;
/// Most headers of a request.
const HEADERS: usize = 64;
/// Headers that belong to the connection and not to the job.
const OURS: [&str; 6] =
    ["host", "connection", "content-length", "transfer-encoding", "upgrade", "proxy-authorization"];

/// A request to make.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Where to.
    pub url: String,
    /// `GET` if not given.
    #[serde(default)]
    pub method: Option<String>,
    /// Headers of the request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// A string is sent as it is, anything else as JSON.
    #[serde(default)]
    pub body: Option<Value>,
    /// Seconds it may take, 30 if not given.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// The status, or statuses, that count as success.
    #[serde(default)]
    pub expect: Option<Expect>,
    /// How many redirects may be followed, none if not given.
    #[serde(default)]
    pub redirects: u8,
}

/// Which statuses count as success.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Expect {
    /// This one.
    One(u16),
    /// One of these.
    Any(Vec<u16>),
}

/// What came back.
#[derive(Debug, Deserialize, Serialize)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body as text; what is not UTF-8 is replaced.
    pub body: String,
    /// There was more of the body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The handler, with the client it makes at its first request.
#[derive(Clone)]
pub(super) struct Http {
    guard: Guard,
    client: Arc<OnceLock<Client>>,
}

impl Http {
    pub(super) fn new(guard: Guard) -> Http {
        Http { guard, client: Arc::default() }
    }

    pub(super) async fn run(self, ctx: Ctx, request: Request) -> Result<Answer, JobError> {
        if request.redirects > REDIRECTS {
            return Err(JobError::fatal(format!(
                "{} redirects, the limit is {REDIRECTS}",
                request.redirects
            )));
        }
        let timeout = match request.timeout {
            Some(seconds) => Duration::try_from_secs_f64(seconds).fatal()?.min(limits::LONGEST),
            None => TIMEOUT,
        };
        let mut first = self.first(&request)?;
        pass_trace_on(&ctx, &mut first.headers);
        let exchange = tokio::time::timeout(timeout, self.follow(first, request.redirects));
        let Ok(done) = ctx.unless_cancelled(exchange).await? else {
            return Err(JobError::retry(format!("no answer within {timeout:?}")));
        };
        let (status, wait, answer) = done?;
        ctx.log(format!("status {status}"));
        judge(status, request.expect.as_ref(), wait)?;
        fitting(answer)
    }

    /// The first request, as the payload has it.
    fn first(&self, request: &Request) -> Result<Hop, JobError> {
        let url = self.guard.check_url(&request.url).fatal()?;
        let method: Method = request.method.as_deref().unwrap_or("GET").parse().fatal()?;
        if method == Method::CONNECT {
            return Err(JobError::fatal("method CONNECT is not a request"));
        }
        let mut headers = headers(&request.headers)?;
        let body = match &request.body {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(json) => {
                headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
                Some(json.to_string())
            }
        };
        Ok(Hop { url, method, headers, body })
    }

    /// Makes a request, and those that its answer leads to.
    async fn follow(
        &self,
        mut hop: Hop,
        redirects: u8,
    ) -> Result<(StatusCode, Option<Duration>, Answer), JobError> {
        let client = self.client()?;
        // Bounded by the redirects that are allowed.
        for left in (0..=redirects).rev() {
            let mut sending =
                client.request(hop.method.clone(), hop.url.clone()).headers(hop.headers.clone());
            if let Some(body) = &hop.body {
                sending = sending.body(body.clone());
            }
            let response = sending.send().await.map_err(failure)?;
            let status = response.status();
            match response.headers().get(LOCATION).filter(|_| redirects > 0 && is_redirect(status)) {
                Some(_) if left == 0 => {
                    return Err(JobError::retry(format!("more than {redirects} redirects")));
                }
                Some(location) => hop = hop.redirected(&self.guard, status, location)?,
                None => {
                    let (wait, headers) = (retry_after(response.headers()), plain(response.headers()));
                    let (body, truncated) = read(response).await.map_err(failure)?;
                    let answer = Answer { status: status.as_u16(), headers, body, truncated };
                    return Ok((status, wait, answer));
                }
            }
        }
        Err(JobError::retry("the last answer was a redirect"))
    }

    /// Made late: it needs the system's certificates, which a worker without `http` jobs does not.
    fn client(&self) -> Result<Client, JobError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = Client::builder()
            .dns_resolver(Arc::new(self.guard.clone()))
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT)
            // A kept connection would go to an address that was checked for an earlier request.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("ganger/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(self.client.get_or_init(|| client).clone())
    }
}

/// One request of the exchange.
struct Hop {
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: Option<String>,
}

impl Hop {
    /// The request that a redirect asks for, checked like the first one.
    fn redirected(self, guard: &Guard, status: StatusCode, location: &HeaderValue) -> Result<Hop, JobError> {
        let location = location.to_str().map_err(|_| "the redirect's location is not text").fatal()?;
        let url = self.url.join(location).map_err(|e| format!("the redirect's location cannot be read: {e}"));
        let url = guard.check_url(url.fatal()?.as_str()).fatal()?;
        if self.url.scheme() == "https" && url.scheme() != "https" {
            return Err(JobError::fatal("the redirect leads from https to http"));
        }
        let post = self.method == Method::POST;
        let get = status == StatusCode::SEE_OTHER
            || (post && matches!(status, StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND));
        let keeps = url.origin() == self.url.origin();
        if !keeps && !get && self.body.is_some() {
            return Err(JobError::fatal("the redirect would send the body to another origin"));
        }
        // What the job sends may be a secret between it and the origin that it named.
        let headers = if keeps { self.headers } else { HeaderMap::new() };
        let (method, body) = if get { (Method::GET, None) } else { (self.method, self.body) };
        Ok(Hop { url, method, headers, body })
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Whoever is called can go on with the trace, unless the job says otherwise.
fn pass_trace_on(ctx: &Ctx, headers: &mut HeaderMap) {
    let Some((parent, state)) = ctx.trace_to_pass_on() else { return };
    if headers.contains_key("traceparent") {
        return;
    }
    for (name, text) in [("traceparent", parent), ("tracestate", state)] {
        if let Some(value) = HeaderValue::from_str(&text).ok().filter(|value| !value.is_empty()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// An address that is denied stays denied; anything else may pass.
fn failure(error: reqwest::Error) -> JobError {
    // The URL may carry a secret: the reason is told without it.
    let error = error.without_url();
    let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
    match causes.take(16).find_map(|cause| cause.downcast_ref::<Denied>()) {
        Some(denied) => JobError::fatal(denied.clone()),
        None => JobError::retry(error),
    }
}

fn headers(wanted: &BTreeMap<String, String>) -> Result<HeaderMap, JobError> {
    if wanted.len() > HEADERS {
        return Err(JobError::fatal(format!("{} headers, the limit is {HEADERS}", wanted.len())));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in wanted {
        let name: HeaderName = name.parse().fatal()?;
        if OURS.contains(&name.as_str()) {
            return Err(JobError::fatal(format!("header `{name}` is not the job's to set")));
        }
        headers.insert(name, value.parse().fatal()?);
    }
    Ok(headers)
}

fn plain(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(limits::LONGEST))
}

async fn read(mut response: Response) -> Result<(String, bool), reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = BODY_BYTES - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok((String::from_utf8_lossy(&body).into_owned(), true));
        }
    }
    Ok((String::from_utf8_lossy(&body).into_owned(), false))
}

fn judge(status: StatusCode, expect: Option<&Expect>, wait: Option<Duration>) -> Result<(), JobError> {
    let fine = match expect {
        None => status.as_u16() < 400,
        Some(Expect::One(code)) => status.as_u16() == *code,
        Some(Expect::Any(codes)) => codes.contains(&status.as_u16()),
    };
    match (fine, wait) {
        (true, _) => Ok(()),
        (false, Some(wait)) => Err(JobError::retry_after(wait, format!("status {status}"))),
        (false, None) => Err(JobError::retry(format!("status {status}"))),
    }
}

/// JSON may need more bytes than the body had: cut until the result can be kept.
fn fitting(mut answer: Answer) -> Result<Answer, JobError> {
    // Halving ends: an empty body fits, or the headers alone are too large.
    while serde_json::to_string(&answer)?.len() > limits::RESULT_BYTES && !answer.body.is_empty() {
        let half = answer.body.floor_char_boundary(answer.body.len() / 2);
        answer.body.truncate(half);
        answer.truncated = true;
    }
    Ok(answer)
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
