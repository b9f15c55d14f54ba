//! One call on its way to the leader: what is kept of it so that it can be sent again, and what of it is sent.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, Version, header};
use bytes::{Bytes, BytesMut};
use ganger_core::{Wall, limits};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::body::Passing;
use super::certificate::{self, CERTIFICATE};
use super::key::{self, RELAY_KEY};
use super::route::{Again, Reading, Route};
use super::seal::{Relayed, SEAL, Seal};
use crate::http::problem::{Code, Problem};
use crate::listener::Peer;

/// Largest body that is kept: a batch at its limit, and what gRPC puts around it.
pub(super) const KEPT_BYTES: usize = limits::BATCH_BYTES + (64 << 10);
/// A body that is kept arrives within this.
pub(super) const BODY_WITHIN: Duration = Duration::from_secs(30);

/// Headers that belong to one connection and not to the request.
const OF_THE_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// A call.
pub(super) struct Call {
    parts: Parts,
    body: Kept,
    route: Route,
    /// The key that we gave it.
    key: Option<HeaderValue>,
    /// It went to a leader, which may have carried it out.
    sent: bool,
    /// The answer was lost.
    lost: bool,
}

/// What a body that does not arrive in time is answered with.
pub(super) fn too_slow() -> Problem {
    let detail = format!("the body took longer than {} s", BODY_WITHIN.as_secs());
    Problem::new(Code::RequestTimeout, detail)
}

/// What is there of a body.
enum Kept {
    Unread(Body),
    /// All of it, with the room that it takes up.
    Whole(Bytes, Vec<OwnedSemaphorePermit>),
    /// Too large to keep, or endless: it can be sent once.
    Passing(VecDeque<Bytes>, Body),
    /// Sent, and gone.
    Spent,
}

impl Call {
    /// A call that has just arrived.
    pub(super) fn new(request: Request, route: Route) -> Call {
        let (parts, body) = request.into_parts();
        let keyed = parts.headers.contains_key("idempotency-key");
        let key = if route.again == Again::Keyed && !keyed { key::fresh() } else { None };
        Call { parts, body: Kept::Unread(body), route, key, sent: false, lost: false }
    }

    pub(super) fn route(&self) -> Route {
        self.route
    }

    /// Whether another server sent it.
    pub(super) fn is_relayed(&self) -> bool {
        self.parts.extensions.get::<Relayed>().is_some()
    }

    pub(super) fn is_unread(&self) -> bool {
        matches!(self.body, Kept::Unread(_))
    }

    /// Whether there is still something to send.
    pub(super) fn is_spent(&self) -> bool {
        matches!(self.body, Kept::Spent)
    }

    /// It was sent, and may or may not have been carried out.
    pub(super) fn answer_was_lost(&mut self) {
        self.lost = true;
    }

    /// Whether it can be sent, and if it may have been carried out, sent again.
    pub(super) fn may_be_sent(&self) -> bool {
        let harmless = match self.route.again {
            Again::Harmless | Again::Keyed => true,
            Again::No => false,
        };
        !self.is_spent() && (harmless || !self.lost)
    }

    /// Whether it may have changed something, and nobody knows.
    pub(super) fn is_uncertain(&self) -> bool {
        self.lost && !self.parts.method.is_safe()
    }

    /// Reads the body, as far as it is to be kept and there is room. What does not fit is passed on as it comes: such a call
    /// goes its way, and only cannot be sent a second time.
    pub(super) async fn read(&mut self, room: &Arc<Semaphore>) -> Result<(), Problem> {
        let Kept::Unread(body) = std::mem::replace(&mut self.body, Kept::Spent) else { return Ok(()) };
        let large = body.size_hint().lower() > KEPT_BYTES as u64;
        if self.route.body == Reading::Passing || large {
            self.body = Kept::Passing(VecDeque::new(), body);
            return Ok(());
        }
        match tokio::time::timeout(BODY_WITHIN, kept(body, room)).await {
            Ok(kept) => self.body = kept?,
            Err(_) => return Err(too_slow()),
        }
        Ok(())
    }

    /// The request as it came, to be served here. If an earlier leader may have carried it out, the key tells.
    pub(super) fn into_request(self) -> Request {
        let mut parts = self.parts;
        if let Some(key) = self.key.filter(|_| self.sent) {
            parts.headers.insert(RELAY_KEY, key);
        }
        let body = match self.body {
            Kept::Unread(body) => body,
            Kept::Whole(bytes, _) => Body::from(bytes),
            Kept::Passing(first, rest) => Body::new(Passing::new(first, rest, CancellationToken::new())),
            Kept::Spent => Body::empty(),
        };
        Request::from_parts(parts, body)
    }

    /// The request as it is sent to that server; a body that passes through ends with `over`. `None` if there is
    /// nothing left to send.
    pub(super) fn outgoing(
        &mut self,
        seal: &Seal,
        to: &str,
        address: &str,
        over: CancellationToken,
        now: Wall,
    ) -> Option<Request> {
        let body = match std::mem::replace(&mut self.body, Kept::Spent) {
            Kept::Unread(body) => Body::new(Passing::new(VecDeque::new(), body, over)),
            Kept::Passing(first, rest) => Body::new(Passing::new(first, rest, over)),
            Kept::Whole(bytes, room) => {
                self.body = Kept::Whole(bytes.clone(), room);
                Body::from(bytes)
            }
            Kept::Spent => return None,
        };
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = self.parts.method.clone();
        parts.uri = self.address_at(address)?;
        parts.version = Version::HTTP_2;
        parts.headers = self.headers();
        let seal = seal.write(&parts, to, self.client(), now)?;
        parts.headers.insert(SEAL, seal);
        self.sent = true;
        Some(Request::from_parts(parts, body))
    }

    /// Takes back what was not sent after all.
    pub(super) fn take_back(&mut self, body: Body) {
        if self.is_spent() {
            self.body = Kept::Passing(VecDeque::new(), body);
        }
    }

    fn client(&self) -> Option<SocketAddr> {
        self.parts.extensions.get::<Peer>().map(|peer| peer.0)
    }

    /// The address under the host that the client asked for, or the leader's if it named none.
    fn address_at(&self, leader: &str) -> Option<Uri> {
        let host = self.parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let asked = self.parts.uri.authority().map(|authority| authority.as_str()).or(host);
        let leader =
            leader.trim_start_matches("http://").trim_start_matches("https://").trim_end_matches('/');
        let path = self.parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let at = |host: &str| Uri::builder().scheme("http").authority(host).path_and_query(path).build().ok();
        asked.and_then(at).or_else(|| at(leader))
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = self.parts.headers.clone();
        let trailers = headers.get(header::TE).is_some_and(|te| te == "trailers");
        without_those_of_the_connection(&mut headers);
        // Without it a gRPC server does not know that its client understands trailers.
        if trailers {
            headers.insert(header::TE, HeaderValue::from_static("trailers"));
        }
        for ours in [header::HOST, header::EXPECT, SEAL, RELAY_KEY, CERTIFICATE] {
            headers.remove(ours);
        }
        if let Some(key) = &self.key {
            headers.insert(RELAY_KEY, key.clone());
        }
        if let Some(shown) = certificate::write(&self.parts) {
            headers.insert(CERTIFICATE, shown);
        }
        headers
    }
}

/// Removes what does not travel further than one connection.
pub(super) fn without_those_of_the_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_THE_CONNECTION) {
        headers.remove(name);
    }
}

/// Reads until the end, or until there is no more room.
async fn kept(mut body: Body, room: &Arc<Semaphore>) -> Result<Kept, Problem> {
    let mut parts = VecDeque::new();
    let mut permits = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Problem::new(Code::InvalidParameter, format!("the body could not be read: {error}"))
        })?;
        let Ok(bytes) = frame.into_data() else { continue };
        length += bytes.len();
        let permit =
            u32::try_from(bytes.len()).ok().and_then(|n| room.clone().try_acquire_many_owned(n).ok());
        parts.push_back(bytes);
        match permit {
            Some(permit) if length <= KEPT_BYTES => permits.push(permit),
            Some(_) | None => return Ok(Kept::Passing(parts, body)),
        }
    }
    let whole = match parts.pop_front() {
        Some(only) if parts.is_empty() => only,
        first => {
            let mut whole = BytesMut::with_capacity(length);
            first.iter().chain(&parts).for_each(|part| whole.extend_from_slice(part));
            whole.freeze()
        }
    };
    Ok(Kept::Whole(whole, permits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, uri: &str, headers: &[(&str, &str)], body: Body) -> Call {
        let mut request = axum::http::Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).unwrap();
        let route = Route::of(request.method(), request.uri());
        Call::new(request, route)
    }

    fn sent(call: &mut Call) -> Option<Request> {
        let seal = Seal::new("a", Some("a secret of sufficient length"));
        call.outgoing(&seal, "b", "http://10.0.0.7:1", CancellationToken::new(), Wall(1))
    }

    #[tokio::test]
    async fn what_belongs_to_the_connection_and_what_a_client_must_not_say_stays_behind() {
        let headers = [
            ("host", "localhost:8080"),
            ("connection", "close, x-secret"),
            ("x-secret", "1"),
            ("keep-alive", "5"),
            ("te", "trailers"),
            ("expect", "100-continue"),
            ("ganger-relay", "v1;forged"),
            ("ganger-relay-key", "forged"),
            ("x-request-id", "req_1"),
            ("authorization", "Bearer t"),
        ];
        let mut call = call("POST", "/v1/jobs?a=b", &headers, Body::from("{}"));
        call.read(&Arc::new(Semaphore::new(10))).await.unwrap();
        let request = sent(&mut call).unwrap();
        assert_eq!(request.uri(), "http://localhost:8080/v1/jobs?a=b");
        let mut names: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "ganger-relay", "ganger-relay-key", "te", "x-request-id"]);
        assert_ne!(request.headers()[RELAY_KEY], "forged");
        assert!(!request.headers()[SEAL].to_str().unwrap().contains("forged"));
    }

    #[tokio::test]
    async fn a_submission_keeps_its_key_and_a_key_of_the_client_is_left_alone() {
        let room = Arc::new(Semaphore::new(100));
        let mut plain = call("POST", "/v1/jobs", &[], Body::from("{}"));
        plain.read(&room).await.unwrap();
        let (first, second) = (sent(&mut plain).unwrap(), sent(&mut plain).unwrap());
        assert_eq!(first.headers()[RELAY_KEY], second.headers()[RELAY_KEY]);
        assert_ne!(first.headers()[SEAL], second.headers()[SEAL]);
        let mut keyed = call("POST", "/v1/jobs", &[("idempotency-key", "k")], Body::from("{}"));
        keyed.read(&room).await.unwrap();
        assert!(!sent(&mut keyed).unwrap().headers().contains_key(RELAY_KEY));
        keyed.answer_was_lost();
        assert!(keyed.may_be_sent() && keyed.is_uncertain());
    }

    #[tokio::test]
    async fn a_body_is_kept_at_the_bound_and_passed_on_whole_one_past_it() {
        let body = |n: usize| {
            let halves = [vec![b'a'; n / 2], vec![b'b'; n - n / 2]]
                .map(|half| Ok::<_, std::io::Error>(Bytes::from(half)));
            Body::from_stream(futures::stream::iter(halves))
        };
        for (size, room, again) in [
            (KEPT_BYTES, KEPT_BYTES, true),
            (KEPT_BYTES + 1, KEPT_BYTES * 2, false),
            (100, 99, false),
            (100, 100, true),
        ] {
            let room = Arc::new(Semaphore::new(room));
            let mut call = call("POST", "/v1/jobs", &[], body(size));
            call.read(&room).await.unwrap();
            let whole = sent(&mut call).unwrap().into_body().collect().await.unwrap().to_bytes();
            assert_eq!(whole.len(), size);
            assert!(
                whole[..size / 2].iter().all(|b| *b == b'a') && whole[size / 2..].iter().all(|b| *b == b'b')
            );
            assert_eq!(call.may_be_sent(), again, "{size}");
            assert_eq!(sent(&mut call).is_some(), again, "{size}");
        }
    }

    #[tokio::test]
    async fn room_is_given_back_with_the_call() {
        let room = Arc::new(Semaphore::new(100));
        let mut call = call("POST", "/v1/jobs", &[], Body::from(vec![b' '; 60]));
        call.read(&room).await.unwrap();
        assert_eq!(room.available_permits(), 40);
        drop(call);
        assert_eq!(room.available_permits(), 100);
    }
}
