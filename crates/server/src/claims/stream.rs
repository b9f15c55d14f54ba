//! One stream of a claim: greeted, resumed, and then used for one request.

use std::time::Duration;

use ganger_core::message::{Hello, ToLeader, ToWorker};
use ganger_core::{SessionId, Term};
use ganger_proto::Down;

use crate::gateway::NotOpened;
use crate::outbox::{Item, Outbox};
use crate::service::Service;

/// The leader answers within this, or the client is told that it does not.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Why nothing more is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// The session is closed for ever.
    Gone,
    /// The stream was closed: another leader, or a newer stream.
    Closed,
    /// It could not be opened.
    NotOpened(NotOpened),
    /// Nothing came in time.
    TooLong,
}

pub(super) struct ClaimStream {
    service: Service,
    session: SessionId,
    number: u64,
    outbox: Outbox,
    ttl: Duration,
}

impl ClaimStream {
    /// Opens the next stream of the session, and says and hears what makes it resume.
    pub(super) async fn greet(service: &Service, mut hello: Hello) -> Result<ClaimStream, Silence> {
        hello.stream = service.next_stream();
        hello.highest = Term::default();
        let outbox = service.gateway().open(&mut hello).map_err(Silence::NotOpened)?;
        let (session, number, ttl) = (hello.session, hello.stream, hello.worker.ttl);
        let mut stream = ClaimStream { service: service.clone(), session, number, outbox, ttl };
        stream.say(ToLeader::Hello(hello)).await;
        let welcome = |item: &Item| matches!(item, Item::Down(Down::Other(ToWorker::Welcome { .. })));
        if let Item::Down(Down::Other(ToWorker::Welcome { ttl, .. })) = stream.hear_until(welcome).await? {
            stream.ttl = ttl;
        }
        stream.say(ToLeader::Ping { number: 1 }).await;
        let pong = |item: &Item| *item == Item::Down(Down::Other(ToWorker::Pong { number: 1 }));
        stream.hear_until(pong).await?;
        Ok(stream)
    }

    /// How long the leader lets the session live without a sign of life.
    pub(super) fn ttl(&self) -> Duration {
        self.ttl
    }

    pub(super) async fn say(&mut self, message: ToLeader) {
        // If nobody reads any more, the stream is closed too, and that is heard.
        self.service.inbox().from_worker(self.session, self.number, message).await;
    }

    pub(super) async fn hear(&mut self) -> Result<Item, Silence> {
        match self.outbox.next().await {
            None => Err(Silence::Closed),
            Some(Item::Down(Down::Other(ToWorker::Gone))) => Err(Silence::Gone),
            Some(item) => Ok(item),
        }
    }

    /// Hears until it is what was waited for, and passes over the rest.
    pub(super) async fn hear_until(
        &mut self,
        mut wanted: impl FnMut(&Item) -> bool,
    ) -> Result<Item, Silence> {
        let heard = tokio::time::timeout(ANSWER_WITHIN, async {
            loop {
                let item = self.hear().await?;
                if wanted(&item) {
                    return Ok(item);
                }
            }
        });
        heard.await.unwrap_or(Err(Silence::TooLong))
    }
}
