//! Bodies on their way through a standby, in both directions.
//!
//! The two directions of a call end together: when the answer is over or nobody wants it any more, the rest of the request is
//! not sent; when the leader changes or this server stops, a live stream ends, and is told so in the way of its
//! protocol, so that its client comes back and finds the next leader.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFutureOwned};

use super::pool::Room;
use crate::http::problem::Code;

/// A body that cannot be sent a second time: what was read of it already, and the rest.
pub(super) struct Passing {
    first: VecDeque<Bytes>,
    rest: Body,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Passing {
    /// Passes on until `over`.
    pub(super) fn new(first: VecDeque<Bytes>, rest: Body, over: CancellationToken) -> Passing {
        Passing { first, rest, over: Box::pin(over.cancelled_owned()) }
    }
}

impl HttpBody for Passing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(bytes) = self.first.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if self.over.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err("the call is over".into())));
        }
        Pin::new(&mut self.rest).poll_frame(cx).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let read: u64 = self.first.iter().map(|bytes| bytes.len() as u64).sum();
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint
    }
}

/// How an answer ends that does not end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a status that tells a gRPC client to try again.
    Status,
    /// Without a word, as a stream of events does: its client comes back by itself.
    Silence,
    /// Broken, so that nobody takes half an answer for a whole one.
    Break,
}

/// The answer of the leader.
pub(super) struct Answer {
    inner: Incoming,
    ending: Ending,
    /// Resolves when a live stream must end.
    until: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    over: bool,
    _room: Room,
    /// Ends the request with the answer.
    _guard: DropGuard,
}

impl Answer {
    /// The whole answer, whatever happens meanwhile.
    pub(super) fn new(inner: Incoming, ending: Ending, room: Room, guard: DropGuard) -> Answer {
        Answer { inner, ending, until: None, over: false, _room: room, _guard: guard }
    }

    /// A live stream, until then.
    pub(super) fn until(mut self, until: impl Future<Output = ()> + Send + 'static) -> Answer {
        self.until = Some(Box::pin(until));
        self
    }

    fn end(&mut self, why: BoxError) -> Option<Result<Frame<Bytes>, BoxError>> {
        self.over = true;
        match self.ending {
            Ending::Status => Some(Ok(Frame::trailers(unavailable()))),
            Ending::Silence => None,
            Ending::Break => Some(Err(why)),
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.over {
            return Poll::Ready(None);
        }
        if self.until.as_mut().is_some_and(|until| until.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(self.end("the leader has changed".into()));
        }
        Poll::Ready(match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
            Some(Err(error)) => self.end(error.into()),
            Some(Ok(frame)) => Some(Ok(frame)),
            None => {
                self.over = true;
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.over || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

fn unavailable() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("14"));
    trailers.insert("grpc-message", HeaderValue::from_static("the leader has changed"));
    trailers.insert("ganger-code", HeaderValue::from_static(Code::NoLeader.as_str()));
    trailers
}
