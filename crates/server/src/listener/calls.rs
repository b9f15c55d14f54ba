//! Counts the requests under way on a connection: from the head of a request until its answer is sent, or nobody wants it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::http::{Request, Response};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tower::Service;

use super::places::{Call, Place};

/// A service whose requests are counted.
#[derive(Clone, Debug)]
pub(super) struct Counted<S> {
    inner: S,
    place: Arc<Place>,
}

impl<S> Counted<S> {
    pub(super) fn new(inner: S, place: Arc<Place>) -> Counted<S> {
        Counted { inner, place }
    }
}

impl<S, B> Service<Request<B>> for Counted<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let call = self.place.call();
        let answer = self.inner.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| Body::new(Answer { body, _call: call }))) })
    }
}

/// A body that ends its call when it is dropped.
struct Answer {
    body: Body,
    _call: Call,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
