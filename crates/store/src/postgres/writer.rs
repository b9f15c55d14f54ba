//! Batches into the database, one after the other, each in its transaction ([`super::transaction`]).
//!
//! Most batches need nothing to be read: they are sent while the one before is under way, over the same
//! connection, so that the database goes on with them at once. What can go wrong, and why it is harmless:
//! - A batch fails after the next one was sent behind it: that is refused by its number, and both are written again, one
//!   after the other.
//! - What was sent may lie in some buffer and be executed later. So a batch in doubt stays so until it is
//!   committed, or contradicts what is stored (then the other one does as well): a full disk does not settle it. Nothing is sent
//!   behind it.
//! - Whoever waits for the commit goes away in the middle: the connection goes with it, and what is remembered too.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures::poll;
use ganger_core::change::Batch;
use ganger_core::{JobId, Term};
use tokio::sync::Mutex;

use super::connection::{Connection, Connector};
use super::known::Known;
use super::order::{Order, Place};
use super::transaction::{Attempt, Stop};
use super::{plan, sql};
use crate::refusal;
use crate::store::{CommitError, Committed, StoreError};

/// The way to write.
#[derive(Debug)]
pub(super) struct Writer {
    connector: Connector,
    state: Mutex<State>,
    order: Order,
}

/// What came of sending a batch behind those that are under way.
enum Ahead {
    Settled(Result<Committed, CommitError>),
    /// It was not sent, or certainly not written.
    Alone {
        /// The rows were not as it says, or may well not be.
        contradicted: bool,
    },
}

/// Batches with idempotency keys that are not believed after one that was wrong: whoever sends a request again often sends
/// several, and each would be written twice.
const WARY: u32 = 32;

/// What lasts from one batch to the next.
#[derive(Debug, Default)]
struct State {
    connection: Option<Arc<Connection>>,
    known: Option<Known>,
    /// How many more batches with idempotency keys are not believed.
    wary: u32,
    /// Batches whose outcome is unknown.
    doubts: Vec<(Term, u64)>,
}

impl Writer {
    pub(super) fn new(connector: Connector) -> Writer {
        Writer { connector, state: Mutex::default(), order: Order::default() }
    }

    /// Applies a batch. The next one may be given before this one is answered.
    pub(super) async fn commit(
        &self,
        term: Term,
        batch: &Arc<Batch>,
        wanted: &[JobId],
    ) -> Result<Committed, CommitError> {
        let place = self.order.join((term, batch.number));
        let outcome = match self.ahead(&place, term, batch, wanted).await {
            Ahead::Settled(outcome) => outcome,
            Ahead::Alone { contradicted } => {
                place.turn().await;
                self.alone(term, batch, wanted, contradicted).await
            }
        };
        place.leave();
        outcome
    }

    /// Sends a batch at once, behind those that are under way, if nothing has to be read for it and it comes to what is
    /// usual. Otherwise it is to be written alone: also where that went wrong, and certainly left nothing behind.
    ///
    /// What the batch does is believed before it is answered, so that the next one can follow. A failure ends that
    /// belief; whatever followed is refused by its number.
    async fn ahead(&self, place: &Place<'_>, term: Term, batch: &Arc<Batch>, wanted: &[JobId]) -> Ahead {
        let mut state = self.state.lock().await;
        self.forget_abandoned(&mut state);
        if !place.may_follow() || !state.doubts.is_empty() || !plan::is_plain(&batch.changes) {
            return Ahead::Alone { contradicted: false };
        }
        if state.wary > 0 && plan::has_keys(&batch.changes) {
            state.wary -= 1;
            return Ahead::Alone { contradicted: true };
        }
        let State { connection, known, .. } = &mut *state;
        let (Some(connection), Some(known)) = (
            connection.clone().filter(|connection| !connection.is_closed()),
            known.as_mut().filter(|known| known.term == term && known.has_days(batch)),
        ) else {
            return Ahead::Alone { contradicted: false };
        };
        let attempt = Attempt::new(&connection, term, batch, wanted);
        let Some((pipeline, applied)) = attempt.believing(known) else {
            return Ahead::Alone { contradicted: false };
        };
        place.sent();
        let mut sending = pin!(attempt.send_last(pipeline));
        let sent = poll!(sending.as_mut());
        drop(state);
        let outcome = match sent {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => sending.await,
        };
        let outcome = match outcome {
            Ok(payloads) => Ahead::Settled(Ok(Committed { applied, payloads })),
            Err(stop) => self.disappointed(stop, &attempt, &connection).await,
        };
        place.answered();
        outcome
    }

    /// What comes of a batch that was believed before it was answered, and should not have been.
    async fn disappointed(&self, stop: Stop, attempt: &Attempt<'_>, connection: &Arc<Connection>) -> Ahead {
        let mut state = self.state.lock().await;
        state.known = None;
        if attempt.is_broken() || matches!(stop, Stop::Unknown(_)) {
            state.let_go(connection);
        }
        match stop {
            Stop::Unknown(why) => {
                state.doubts.push(attempt.which());
                Ahead::Settled(Err(CommitError::Unknown(why)))
            }
            Stop::Contradiction(_) => {
                state.wary = WARY;
                Ahead::Alone { contradicted: true }
            }
            Stop::TermLost | Stop::Failed(_) | Stop::Numbered(_) | Stop::MissingDay => {
                Ahead::Alone { contradicted: false }
            }
        }
    }

    /// Writes a batch with nothing else under way. One that contradicted what is stored is not believed again.
    async fn alone(
        &self,
        term: Term,
        batch: &Arc<Batch>,
        wanted: &[JobId],
        contradicted: bool,
    ) -> Result<Committed, CommitError> {
        let mut state = self.state.lock().await;
        self.forget_abandoned(&mut state);
        let this = (term, batch.number);
        state.doubts.retain(|(of, _)| *of == term);
        if let Some((_, earlier)) = state.doubts.iter().find(|(_, number)| *number < batch.number) {
            let why = format!("what became of batch {earlier} is not known yet");
            return Err(CommitError::Refused(StoreError::Unavailable(why)));
        }
        let in_doubt = state.doubts.contains(&this);
        // Taken out while the batch is under way: if nobody waits for it any more, they are gone. Only an attempt
        // that ends in good order puts them back.
        let (connection, known) = (state.connection.take(), state.known.take());
        let connection = match connection.filter(|connection| !connection.is_closed()) {
            Some(open) => Ok(open),
            None => self.connector.writer(sql::WRITES).await.map(Arc::new),
        };
        let connection = match connection {
            Ok(connection) => connection,
            Err(error) => {
                state.known = known;
                return Err(if in_doubt {
                    CommitError::Unknown(error.to_string())
                } else {
                    CommitError::Refused(error)
                });
            }
        };
        let mut attempt =
            Attempt::new(&connection, term, batch, wanted).knowing(known, in_doubt, contradicted);
        let outcome = attempt.run().await;
        let (known, broken) = (attempt.known.take(), attempt.is_broken());
        let (error, doubt) = match outcome {
            Ok(committed) => {
                (state.connection, state.known) = (Some(connection), known);
                state.doubts.retain(|doubt| *doubt != this);
                return Ok(committed);
            }
            Err(Stop::TermLost) => (CommitError::TermLost, false),
            Err(Stop::Contradiction(error)) => (CommitError::Refused(error), false),
            Err(Stop::Failed(error)) if in_doubt => (CommitError::Unknown(error.to_string()), true),
            Err(Stop::Failed(error)) => (CommitError::Refused(error), false),
            Err(Stop::Numbered(last)) => (CommitError::Refused(refusal::number(batch.number, last)), false),
            Err(Stop::MissingDay) => {
                let why = "a day has no table for the jobs that finish on it, and gets none";
                (CommitError::Refused(StoreError::Unavailable(why.into())), false)
            }
            Err(Stop::Unknown(why)) => (CommitError::Unknown(why), true),
        };
        state.doubts.retain(|doubt| *doubt != this);
        if doubt {
            state.doubts.push(this);
        } else if !broken {
            (state.connection, state.known) = (Some(connection), known);
        }
        Err(error)
    }

    /// Nobody waits any more for a batch that was under way: what is believed of it, and its connection, are gone.
    fn forget_abandoned(&self, state: &mut State) {
        let abandoned = self.order.abandoned();
        if !abandoned.is_empty() {
            (state.connection, state.known) = (None, None);
            state.doubts.extend(abandoned);
        }
    }
}

impl State {
    /// This connection is not used again.
    fn let_go(&mut self, connection: &Arc<Connection>) {
        if self.connection.as_ref().is_some_and(|present| Arc::ptr_eq(present, connection)) {
            self.connection = None;
        }
    }
}
