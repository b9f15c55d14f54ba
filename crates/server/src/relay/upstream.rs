//! The leader as a standby sees it: where it is, the connections to it, and what came of sending it a call.

use std::error::Error;
use std::time::Duration;

use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use ganger_core::Wall;
use ganger_store::shared::LeaderView;
use hyper::body::Incoming;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::body::{Answer, Ending};
use super::call::{Call, without_those_of_the_connection};
use super::measures::RelayMeasures;
use super::pool::{NoRoom, Pool, Room};
use super::route::{Reading, Route};
use super::seal::Seal;
use crate::clock::Clock;
use crate::http::problem::{CODE, Code};
use crate::tls::Trust;

/// An answer may still be on its way when its leader is already known to be replaced: a leader that hands over
/// answers first.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// A connection that carries nothing for so long is closed.
const IDLE: Duration = Duration::from_secs(60);

/// One leader.
pub(super) struct Upstream {
    server: String,
    address: String,
    pool: Pool,
    /// Another one leads.
    retired: CancellationToken,
}

/// What came of sending a call.
pub(super) enum Carried {
    /// This is the answer.
    Answered(Response),
    /// Nobody has carried it out.
    NotHandled(String),
    /// Nor this: the leader does not accept our seal, and says why.
    Refused(Response),
    /// It may or may not have been carried out.
    Lost(String),
    /// Too many calls are under way.
    Full(String),
}

impl Upstream {
    /// The leader of that view.
    pub(super) fn new(
        leader: &LeaderView,
        seal: &Seal,
        trust: Trust,
        (clock, measures): (Clock, RelayMeasures),
    ) -> Upstream {
        Upstream {
            server: leader.server.clone(),
            address: leader.address.clone(),
            pool: Pool::new(&leader.address, !seal.has_secret(), trust, (clock, measures)),
            retired: CancellationToken::new(),
        }
    }

    /// Its name.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// Whether this is that leader.
    pub(super) fn is(&self, leader: &LeaderView) -> bool {
        self.server == leader.server && self.address == leader.address
    }

    /// It leads no more: live streams end at once, other calls have a moment.
    pub(super) fn retire(&self) {
        self.retired.cancel();
        self.pool.let_go();
    }

    /// Closes connections that are not used.
    pub(super) fn close_idle(&self) {
        self.pool.close_idle(IDLE);
    }

    /// Sends a call and waits for the beginning of its answer. Live streams also end with `stopping`.
    pub(super) async fn carry(
        &self,
        call: &mut Call,
        seal: &Seal,
        now: Wall,
        stopping: &CancellationToken,
    ) -> Carried {
        let room = match self.retired.run_until_cancelled(self.pool.room()).await {
            Some(Ok(room)) => room,
            Some(Err(full @ NoRoom::Full)) => return Carried::Full(full.to_string()),
            Some(Err(error @ NoRoom::Unreachable { .. })) => return Carried::NotHandled(error.to_string()),
            None => return Carried::NotHandled("the leader has changed".into()),
        };
        let over = CancellationToken::new();
        let guard = over.clone().drop_guard();
        let Some(request) = call.outgoing(seal, &self.server, &self.address, over, now) else {
            return Carried::NotHandled("the call cannot be put into a request".into());
        };
        let mut sender = room.sender();
        let answer = tokio::select! {
            answer = sender.try_send_request(request) => answer,
            () = self.given_up(call.route()) => {
                return Carried::Lost(format!("{} was replaced before it answered", self.server));
            }
        };
        match answer {
            Ok(response) => self.answered(response, call, room, guard, stopping),
            Err(mut error) => match error.take_message() {
                Some(request) => {
                    guard.disarm();
                    call.take_back(request.into_body());
                    Carried::NotHandled("the connection to the leader was just closed".into())
                }
                None if not_processed(error.error()) => {
                    Carried::NotHandled(format!("{} takes no more calls", self.server))
                }
                None => Carried::Lost(format!("the connection to {} broke: {}", self.server, error.error())),
            },
        }
    }

    /// Resolves when no answer is to be expected any more.
    async fn given_up(&self, route: Route) {
        self.retired.cancelled().await;
        match route.body {
            Reading::Kept => tokio::time::sleep(LAST_ANSWERS).await,
            Reading::Passing => {}
        }
    }

    fn answered(
        &self,
        response: hyper::Response<Incoming>,
        call: &Call,
        room: Room,
        guard: DropGuard,
        stopping: &CancellationToken,
    ) -> Carried {
        let code = not_handled(&response, call);
        if let Some(code) = code.filter(|code| *code != Code::RelayRefused) {
            return Carried::NotHandled(format!("{} answers `{}`", self.server, code.as_str()));
        }
        let (parts, body) = response.into_parts();
        let media = parts.headers.get(header::CONTENT_TYPE).map_or(&[][..], |value| value.as_bytes());
        let (grpc, events) =
            (media.starts_with(b"application/grpc"), media.starts_with(b"text/event-stream"));
        let ending = match (grpc, events) {
            (true, _) => Ending::Status,
            (false, true) => Ending::Silence,
            (false, false) => Ending::Break,
        };
        let live = events || (grpc && call.route().body == Reading::Passing);
        let mut answer = Answer::new(body, ending, room, guard);
        if live {
            let (retired, stopping) = (self.retired.clone(), stopping.clone());
            answer = answer.until(async move {
                tokio::select! {
                    () = retired.cancelled() => {}
                    () = stopping.cancelled() => {}
                }
            });
        }
        let mut response = Response::new(Body::new(answer));
        *response.status_mut() = parts.status;
        *response.headers_mut() = parts.headers;
        without_those_of_the_connection(response.headers_mut());
        if code.is_some() { Carried::Refused(response) } else { Carried::Answered(response) }
    }
}

/// The code of an answer that says that nothing was done, and that another server or a later moment is the right one.
fn not_handled<B>(response: &hyper::Response<B>, call: &Call) -> Option<Code> {
    let code = response.headers().get(CODE)?.to_str().ok().and_then(Code::parse)?;
    let elsewhere = matches!(code, Code::NotLeading | Code::RelayRefused | Code::NoLeader);
    // An import that breaks off says how far it came: that is an answer.
    let later = code == Code::NotReady && !call.is_spent();
    (elsewhere || later).then_some(code)
}

/// HTTP/2 tells apart what a server has never looked at: a stream that it refused, or one beyond the last that it
/// took before it began to close the connection.
fn not_processed(error: &hyper::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(h2) = error.downcast_ref::<h2::Error>() {
            let refused = h2.reason() == Some(h2::Reason::REFUSED_STREAM);
            return h2.is_remote() && (h2.is_go_away() || refused);
        }
        cause = error.source();
    }
    false
}
