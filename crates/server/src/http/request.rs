//! Taking a request apart: its path segment, its query, its headers, its body. Every bound is applied
//! before anything of the body is kept.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use ganger_core::change::Idempotency;
use ganger_core::{Wall, limits};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use sha2::{Digest as _, Sha256};

use super::fields::{self, Object};
use super::observe::RouteLabel;
use super::problem::{Code, Problem};
use crate::api::duration;
use crate::auth;
use crate::relay;

/// A body arrives within this.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// So much of a body that is too large is read all the same, within so long, so that its client hears why.
const DISCARDED_BYTES: usize = 4 * limits::BATCH_BYTES;
const DISCARD_WITHIN: Duration = Duration::from_secs(2);
/// Largest body of a request that is neither a submission nor an import.
pub(super) const SMALL_BODY: usize = 64 << 10;

/// What a handler answers.
pub(super) type Answer = Result<Response, Problem>;

/// The one captured segment of a path.
pub(super) struct Segment(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Segment, Problem> {
        let path: Result<Path<String>, PathRejection> = Path::from_request_parts(parts, state).await;
        path.map(|Path(text)| Segment(text))
            .map_err(|e| Problem::new(Code::InvalidParameter, format!("the path cannot be read: {e}")))
    }
}

/// The verbs of a resource. They share one captured segment with its name, as in `POST /v1/queues/{queue}:pause`.
pub(super) struct Verbs {
    /// Whose verbs they are, with its article.
    pub(super) of: &'static str,
    /// The route of each, which ends with it.
    pub(super) routes: &'static [&'static str],
}

impl Verbs {
    /// Has a verb answered by its handler, which gets the name and the verb, and counts the answer under the verb's
    /// route. A name may itself contain colons: the verb follows the last one.
    pub(super) async fn dispatch<'a, F: Future<Output = Answer>>(
        &self,
        segment: &'a str,
        handler: impl FnOnce(&'a str, &'a str) -> F,
    ) -> Response {
        let (name, verb) = segment.rsplit_once(':').unwrap_or((segment, ""));
        match self.routes.iter().find(|route| verb_of(route) == verb) {
            Some(route) => RouteLabel(route).on(handler(name, verb).await),
            None => self.unknown().into_response(),
        }
    }

    /// The answer to a verb that is none of these.
    pub(super) fn unknown(&self) -> Problem {
        let verbs: Vec<&str> = self.routes.iter().map(|route| verb_of(route)).collect();
        let (noun, known) = (if verbs.len() == 1 { "verb" } else { "verbs" }, verbs.join(", "));
        let example = self.routes.first().copied().unwrap_or_default();
        let detail = format!("{} has the {noun} {known}: POST {example}", self.of);
        Problem::new(Code::MethodNotAllowed, detail)
    }
}

fn verb_of(route: &str) -> &str {
    route.rsplit_once(':').map_or("", |(_, verb)| verb)
}

/// A page of at most so many: [`limits::PAGE_DEFAULT`] if nobody says.
pub(super) fn limit(params: &Params, most: usize) -> Result<usize, Problem> {
    limit_or(params, limits::PAGE_DEFAULT, most)
}

/// A page of at most so many, and of so many if nobody says.
pub(super) fn limit_or(params: &Params, unsaid: usize, most: usize) -> Result<usize, Problem> {
    match params.parsed::<usize>("limit")? {
        None => Ok(unsaid),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit),
        Some(limit) => Err(Problem::parameter("limit", format!("is {limit}, allowed are 1 to {most}"))),
    }
}

/// The query of a request, its parameters checked against the known ones.
pub(super) struct Params(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Params, Problem> {
        let query: Result<Query<Vec<(String, String)>>, QueryRejection> =
            Query::from_request_parts(parts, state).await;
        query
            .map(|Query(pairs)| Params(pairs))
            .map_err(|e| Problem::new(Code::InvalidParameter, format!("the query cannot be read: {e}")))
    }
}

impl Params {
    /// Refuses parameters that the route does not have: a misspelt filter must not list everything.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                let shown: String = name.chars().take(64).collect();
                Err(Problem::parameter(
                    &shown,
                    format!("is not a parameter of this route; known are: {known}"),
                ))
            }
        }
    }

    /// A parameter that is given at most once.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.0.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let first = values.next();
        match values.next() {
            None => Ok(first),
            Some(_) => Err(Problem::parameter(name, "is given more than once")),
        }
    }

    /// A parameter that may be repeated or hold several values with commas between.
    pub(super) fn many(&self, name: &str) -> Vec<&str> {
        let given = self.0.iter().filter(|(n, _)| n == name);
        given.flat_map(|(_, value)| value.split(',')).filter(|value| !value.is_empty()).collect()
    }

    /// A parameter read as that type.
    pub(super) fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Problem> {
        let parse = |text: &str| text.parse().map_err(|e: T::Err| Problem::parameter(name, format!("{e}")));
        self.one(name)?.map(parse).transpose()
    }

    /// A duration up to `most`.
    pub(super) fn duration(&self, name: &str, most: Duration) -> Result<Option<Duration>, Problem> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let value = duration::parse(text).map_err(|e| Problem::parameter(name, e.to_string()))?;
        if value > most {
            return Err(Problem::parameter(name, format!("is longer than {}", duration::format(most))));
        }
        Ok(Some(value))
    }

    /// Whether a flag is there: `?verbose`, `?verbose=true`.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.iter().any(|(n, value)| n == name && value != "false")
    }

    /// Every parameter, as given.
    pub(super) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

/// Reads a whole body of at most `limit` bytes.
///
/// # Errors
/// Too large, too slow, of the wrong sort, or cut off.
pub(super) async fn body(request: Request, limit: usize) -> Result<Bytes, Problem> {
    is_json(request.headers())?;
    let waits = request.headers().contains_key(header::EXPECT);
    let mut body = request.into_body();
    let too_large = || Problem::new(Code::BodyTooLarge, format!("the body has more than {limit} bytes"));
    if body.size_hint().lower() > limit as u64 {
        // Whoever asks before sending has sent nothing yet.
        if !waits {
            discard(body).await;
        }
        return Err(too_large());
    }
    let read = tokio::time::timeout(BODY_TIMEOUT, Limited::new(&mut body, limit).collect()).await;
    match read {
        Err(_) => Err(Problem::new(
            Code::RequestTimeout,
            format!("the body took longer than {}", duration::format(BODY_TIMEOUT)),
        )),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            discard(body).await;
            Err(too_large())
        }
        Ok(Err(error)) => {
            Err(Problem::new(Code::InvalidParameter, format!("the body could not be read: {error}")))
        }
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
}

/// Reads the rest of a body that is refused, within bounds, and keeps nothing of it. Most clients read no answer before
/// they have sent their request: a connection that is closed on them meanwhile is all that they would hear.
async fn discard(mut body: Body) {
    let reading = async {
        let mut left = DISCARDED_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let read = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(read) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // Whoever sends more, or more slowly, hears what he hears.
    let _ = tokio::time::timeout(DISCARD_WITHIN, reading).await;
}

/// Reads the body of a verb that takes no fields: nothing, or an empty object.
///
/// # Errors
/// Anything else in the body.
pub(super) async fn no_fields(request: Request) -> Result<(), Problem> {
    let bytes = body(request, SMALL_BODY).await?;
    let text = fields::text(&bytes)?;
    if text.trim().is_empty() {
        return Ok(());
    }
    Object::parse(text, &[], "")?.finish().map_err(Problem::fields)
}

/// Sends the body of an import on without reading it.
pub(super) fn stream(request: Request) -> Body {
    request.into_body()
}

/// `curl -d` says that a body is a form although it is not, so that is let through: what a browser may
/// send across sites without asking is refused by its origin instead.
fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let media = text.split(';').next().unwrap_or_default().trim();
    let fine = matches!(media, "" | "application/json" | "application/x-www-form-urlencoded" | "text/plain")
        || media.ends_with("+json");
    if fine {
        Ok(())
    } else {
        let shown: String = media.chars().take(64).collect();
        Err(Problem::new(Code::UnsupportedMediaType, format!("`{shown}` is not read here")))
    }
}

/// The request's idempotency key, bare or as a quoted string.
///
/// # Errors
/// A key that is empty, too long, not printable ASCII, or given twice.
pub(super) fn idempotency(
    headers: &HeaderMap,
    now: Wall,
    route: &str,
    body: &[u8],
) -> Result<Option<Idempotency>, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else {
        let relayed = relay::key::given(headers);
        return Ok(relayed.map(|key| relay::key::idempotency(key, fingerprint(route, body), now)));
    };
    let refused = |detail: &str| Err(Problem::parameter("Idempotency-Key", detail));
    if values.next().is_some() {
        return refused("is given more than once");
    }
    let Ok(text) = value.to_str() else { return refused("must be printable ASCII") };
    let key = unquoted(text.trim());
    if key.is_empty() {
        return refused("is empty");
    }
    if key.len() > limits::KEY_BYTES {
        return refused(&format!("has {} bytes, the limit is {}", key.len(), limits::KEY_BYTES));
    }
    Ok(Some(Idempotency {
        scope: auth::caller(headers).into(),
        key,
        fingerprint: fingerprint(route, body),
        until: now + limits::IDEMPOTENCY_KEPT,
    }))
}

/// What tells one request from another under the same key.
pub(super) fn fingerprint(route: &str, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(route.as_bytes());
    hash.update([0]);
    hash.update(body);
    hash.finalize().into()
}

fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) else { return text.into() };
    let mut key = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => key.extend(characters.next()),
            other => key.push(other),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str) -> Result<Option<String>, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", value.parse().unwrap());
        idempotency(&headers, Wall(0), "POST /v1/jobs", b"{}").map(|i| i.map(|i| i.key))
    }

    #[test]
    fn a_key_is_the_same_bare_or_quoted() {
        assert_eq!(key("abc").unwrap().unwrap(), "abc");
        assert_eq!(key("\"abc\"").unwrap().unwrap(), "abc");
        assert_eq!(key(r#""a\"b""#).unwrap().unwrap(), "a\"b");
        assert_eq!(idempotency(&HeaderMap::new(), Wall(0), "", b"").unwrap(), None);
    }

    #[test]
    fn a_key_is_taken_at_the_bound_and_refused_one_past_it() {
        assert!(key(&"k".repeat(limits::KEY_BYTES)).is_ok());
        assert!(key(&"k".repeat(limits::KEY_BYTES + 1)).unwrap_err().detail.contains("256"));
        assert!(key("\"\"").is_err());
    }

    #[test]
    fn another_body_or_route_has_another_fingerprint() {
        assert_ne!(fingerprint("a", b"x"), fingerprint("a", b"y"));
        assert_ne!(fingerprint("a", b"x"), fingerprint("b", b"x"));
    }

    #[tokio::test]
    async fn a_body_is_taken_at_the_bound_and_refused_one_past_it() {
        let request = |n: usize| Request::new(Body::from(vec![b' '; n]));
        assert_eq!(body(request(10), 10).await.unwrap().len(), 10);
        assert_eq!(body(request(11), 10).await.unwrap_err().code, Code::BodyTooLarge);
        assert!(no_fields(request(3)).await.is_ok());
        assert!(no_fields(Request::new(Body::from("{\"a\":1}"))).await.is_err());
    }
}
