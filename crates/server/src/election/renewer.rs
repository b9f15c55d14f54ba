//! Staying the leader: the row is renewed until the reign is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ganger_core::{Mono, Term};
use ganger_store::CommitError;
use tokio_util::task::AbortOnDropHandle;
use tracing::{error, warn};

use super::Seat;
use crate::clock::Clock;
use crate::inbox::{Inbox, Message};
use crate::writer::Observer;

/// Renewals within one TTL: three may fail before authority runs out.
const RENEWALS_PER_TTL: u32 = 5;

/// The last moment at which the coordinator's thread was seen to turn. A leader whose thread hangs must not keep
/// its row: others could take over.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// The thread turns.
    pub(crate) fn beat(&self, now: Mono) {
        self.0.store(now.0, Ordering::Relaxed);
    }

    fn last(&self) -> Mono {
        Mono(self.0.load(Ordering::Relaxed))
    }
}

/// Renews the leader's row until it is dropped, or the term is over.
pub(crate) struct Renewer {
    _task: AbortOnDropHandle<()>,
}

impl Renewer {
    /// Starts on the present runtime.
    pub(super) fn start(
        seat: &Seat,
        term: Term,
        clock: Clock,
        inbox: Inbox,
        observer: Arc<dyn Observer>,
    ) -> Renewer {
        let seat = seat.clone();
        let task = tokio::spawn(async move {
            loop {
                tokio::time::sleep(seat.candidate.ttl / RENEWALS_PER_TTL).await;
                let Some(told) = renew(&seat, term, &clock, observer.as_ref()).await else { continue };
                let over = matches!(told, Message::TermLost { .. });
                if !inbox.send(told).await || over {
                    return;
                }
            }
        });
        Renewer { _task: AbortOnDropHandle::new(task) }
    }
}

/// Renews once. What the coordinator is to be told of it: nothing, if nobody knows what came of it.
async fn renew(seat: &Seat, term: Term, clock: &Clock, observer: &dyn Observer) -> Option<Message> {
    let sent_at = clock.now().mono;
    if sent_at.since(seat.pulse.last()) > seat.candidate.ttl {
        error!("the coordinator's thread stands still: the leader's row is not renewed");
        return None;
    }
    match tokio::time::timeout(seat.candidate.ttl, seat.shared.renew(term)).await {
        Ok(Ok(())) => {
            seat.health.well();
            observer.renewed();
            Some(Message::Renewed { term, sent_at })
        }
        Ok(Err(CommitError::TermLost)) => Some(Message::TermLost { term }),
        Ok(Err(cause @ (CommitError::Refused(_) | CommitError::Unknown(_)))) => {
            not_renewed(seat, sent_at, &cause.to_string())
        }
        Err(_) => not_renewed(seat, sent_at, "the store does not answer"),
    }
}

fn not_renewed(seat: &Seat, now: Mono, cause: &str) -> Option<Message> {
    if seat.health.failed(now, cause) {
        warn!("cannot renew the leader's row: {cause}; trying again");
    }
    None
}
