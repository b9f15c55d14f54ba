//! One stream of a worker: both directions, and how they end together.
//!
//! A stream that ends proves nothing about its worker: it is only forgotten here. The direction to
//! the leader ends with the one to the worker, and the other way round; a message that cannot be
//! understood ends both, and tells the worker which field it was.

use std::collections::VecDeque;
use std::pin::pin;

use futures::Stream;
use ganger_core::SessionId;
use ganger_core::message::ToLeader;
use ganger_proto::{Down, Parcel, v1};
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Status, Streaming};
use tracing::debug;

use crate::auth::Asking;
use crate::outbox::{Item, Outbox, split};
use crate::service::Service;

/// The direction to the worker.
pub(super) struct SessionStream {
    outbox: Outbox,
    /// The rest of an assignment that takes several messages.
    parts: VecDeque<Vec<Parcel>>,
    /// Why the other direction ended; closed if it just did.
    failed: oneshot::Receiver<Status>,
    over: bool,
    /// Where this server is reached, for the welcome.
    address: String,
    /// Ends the other direction.
    _guard: DropGuard,
}

impl SessionStream {
    /// Starts the direction to the leader.
    pub(super) fn start(
        service: Service,
        asking: Asking,
        (session, stream): (SessionId, u64),
        inbound: Streaming<v1::FromWorker>,
        outbox: Outbox,
    ) -> SessionStream {
        let (tell, failed) = oneshot::channel();
        let cancel = CancellationToken::new();
        let guard = cancel.clone().drop_guard();
        // A server that is alone has nobody to send its workers to.
        let member = service.membership();
        let address = if member.is_shared() { member.server().address.clone() } else { String::new() };
        tokio::spawn(async move {
            let end = tokio::select! {
                end = receive(&service, session, stream, inbound) => end,
                () = cancel.cancelled() => Ok(()),
                () = asking.until_not_let_in(&service) => {
                    // It gets nothing new from now on. What it runs ends with its lease: that it lives is known.
                    if let Err(error) = service.drain_worker(session).await {
                        debug!(worker.session = %session, "cannot drain {session}, which was revoked: {error}");
                    }
                    Err(Status::unauthenticated("the token was revoked, or has expired"))
                }
            };
            if let Err(status) = end {
                debug!(worker.session = %session, "the stream of {session} ended: {status}");
                // The other direction may be over already.
                let _ = tell.send(status);
            }
        });
        SessionStream { outbox, parts: VecDeque::new(), failed, over: false, address, _guard: guard }
    }

    /// As tonic wants it.
    pub(super) fn into_stream(self) -> impl Stream<Item = Result<v1::ToWorker, Status>> + Send {
        futures::stream::unfold(self, |mut stream| async {
            let next = stream.next().await?;
            Some((next, stream))
        })
    }

    async fn next(&mut self) -> Option<Result<v1::ToWorker, Status>> {
        if self.over {
            return None;
        }
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Some(Ok(Down::Assign(part).into()));
            }
            let item = tokio::select! {
                biased;
                failed = &mut self.failed => {
                    self.over = true;
                    return failed.ok().map(Err);
                }
                item = self.outbox.next() => item?,
            };
            match item {
                Item::Down(Down::Assign(parcels)) => self.parts = split(parcels),
                Item::Down(other @ Down::Other(_)) => return Some(Ok(self.signed(other.into()))),
                // Only streams of claims are told.
                Item::LeaseLost(_) => {}
            }
        }
    }
}

impl SessionStream {
    /// A welcome names the leader, for whoever came through another server.
    fn signed(&self, mut message: v1::ToWorker) -> v1::ToWorker {
        if let Some(v1::to_worker::Message::Welcome(welcome)) = &mut message.message {
            welcome.leader.clone_from(&self.address);
        }
        message
    }
}

/// Passes on what the worker says until it ends the stream or says something that it may not.
async fn receive(
    service: &Service,
    session: SessionId,
    stream: u64,
    mut inbound: Streaming<v1::FromWorker>,
) -> Result<(), Status> {
    let mut stopping = pin!(service.stopping());
    loop {
        let message = tokio::select! {
            message = inbound.message() => message?,
            // What is not yet read is sent again to the next leader; the way down stays open for the
            // acknowledgements of what was.
            () = &mut stopping => std::future::pending().await,
        };
        let Some(message) = message else { return Ok(()) };
        let message = ToLeader::try_from(message)?;
        if let ToLeader::Hello(_) = message {
            return Err(Status::invalid_argument("field `hello` is only allowed in the first message"));
        }
        if !service.inbox().from_worker(session, stream, message).await {
            return Err(Status::unavailable("this server does not lead any more"));
        }
    }
}
