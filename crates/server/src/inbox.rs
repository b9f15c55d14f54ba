//! The way into the coordinator: one bounded queue for clients, workers and the writer.
//!
//! Clients are refused at once when it is full; workers and the writer wait their turn, which slows
//! down the connection they came on.

use std::fmt;

use ganger_core::change::Applied;
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Ask, Reply};
use ganger_core::message::ToLeader;
use ganger_core::{Mono, Now, SessionId, Term};
use tokio::sync::{mpsc, oneshot};

use crate::reader::Read;

/// Messages that may wait.
pub const INBOX: usize = 8_192;

/// A look at the coordinator, run on its thread.
pub type Look = Box<dyn FnOnce(&Coordinator, Now) + Send>;

/// What the coordinator's thread is told.
pub enum Message {
    /// A client asks and waits.
    Ask(Ask, ReplyTo),
    /// A worker said something on the stream of that number.
    FromWorker {
        /// Its session.
        session: SessionId,
        /// The stream on which it came.
        stream: u64,
        /// What it said.
        message: ToLeader,
    },
    /// A supervisor saw the process of this session die.
    WorkerDied(SessionId),
    /// A batch is settled.
    Written {
        /// The term in which it was sent.
        term: Term,
        /// Which.
        number: u64,
        /// What came of it.
        outcome: Written,
    },
    /// The leader's row was renewed.
    Renewed {
        /// The term that it was renewed for.
        term: Term,
        /// When the renewal was sent.
        sent_at: Mono,
    },
    /// Another term has begun, so that this one is over.
    TermLost {
        /// The term that is over.
        term: Term,
    },
    /// What was read for the leader to compare its memory with.
    LiveRead(Read),
    /// Somebody wants to see something.
    Look(Look),
    /// Finish what clients wait for, and end.
    Stop,
}

/// What comes back to whoever asked; the channel closes without one if nobody can tell.
pub type Answered = Result<Reply, NotTaken>;

/// The way back to whoever asked. If it is dropped before the question was taken, nobody has looked at the question, and
/// it says so: whoever asked may ask another leader.
pub struct ReplyTo(Option<oneshot::Sender<Answered>>);

/// What came of a batch.
#[derive(Debug)]
pub enum Written {
    /// It is durable.
    Durable(Vec<Applied>),
    /// It was certainly not written.
    Refused(String),
    /// Another leader has begun.
    TermLost,
    /// Nobody can tell, and sending it again leads nowhere.
    InDoubt(String),
}

/// The inbox does not take the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// Too much waits.
    Full,
    /// The coordinator has ended.
    Ended,
}

/// The sending end. Cheap to clone.
#[derive(Clone)]
pub struct Inbox(mpsc::Sender<Message>);

impl Inbox {
    /// Both ends.
    #[must_use]
    pub fn open() -> (Inbox, mpsc::Receiver<Message>) {
        let (tx, rx) = mpsc::channel(INBOX);
        (Inbox(tx), rx)
    }

    /// Asks; the answer comes on the channel returned, which closes without one if the leader steps
    /// down after it has taken the question.
    ///
    /// # Errors
    /// The inbox is full, or nobody reads it any more.
    pub fn ask(&self, ask: Ask) -> Result<oneshot::Receiver<Answered>, NotTaken> {
        let (tx, rx) = oneshot::channel();
        self.try_send(Message::Ask(ask, ReplyTo(Some(tx))))?;
        Ok(rx)
    }

    /// Looks at the coordinator between two of its steps.
    ///
    /// # Errors
    /// The inbox is full, or nobody reads it any more.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Coordinator, Now) -> T + Send + 'static,
    ) -> Result<T, NotTaken> {
        let (tx, rx) = oneshot::channel();
        self.try_send(Message::Look(Box::new(move |coordinator, now| {
            // Whoever asked may have gone away meanwhile.
            let _ = tx.send(look(coordinator, now));
        })))?;
        rx.await.map_err(|_| NotTaken::Ended)
    }

    /// Passes on what a worker said, waiting for room. `false` if nobody reads any more.
    pub async fn from_worker(&self, session: SessionId, stream: u64, message: ToLeader) -> bool {
        self.send(Message::FromWorker { session, stream, message }).await
    }

    /// Waits for room. `false` if nobody reads any more.
    pub async fn send(&self, message: Message) -> bool {
        self.0.send(message).await.is_ok()
    }

    /// Tells the coordinator to stop, if there is room to say so.
    pub fn stop_soon(&self) {
        // A full inbox belongs to a coordinator that hangs, and a closed one to none.
        let _ = self.try_send(Message::Stop);
    }

    fn try_send(&self, message: Message) -> Result<(), NotTaken> {
        self.0.try_send(message).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NotTaken::Full,
            mpsc::error::TrySendError::Closed(_) => NotTaken::Ended,
        })
    }
}

impl ReplyTo {
    /// From now on the question may be carried out.
    #[must_use]
    pub fn taken(mut self) -> Option<oneshot::Sender<Answered>> {
        self.0.take()
    }
}

impl Drop for ReplyTo {
    fn drop(&mut self) {
        if let Some(waiting) = self.0.take() {
            // Whoever asked may have gone away meanwhile.
            let _ = waiting.send(Err(NotTaken::Ended));
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("room", &self.0.capacity()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leader that stops does not empty its inbox: what is left in it was not carried out, and nobody has to wonder.
    #[tokio::test]
    async fn a_question_that_nobody_took_was_certainly_not_carried_out() {
        let (inbox, mut coordinator) = Inbox::open();
        let ask = || Ask::PurgeDead("q".parse().unwrap());
        let (taken, left, dropped) =
            (inbox.ask(ask()).unwrap(), inbox.ask(ask()).unwrap(), inbox.ask(ask()).unwrap());
        let Some(Message::Ask(_, reply)) = coordinator.recv().await else { panic!("no question") };
        drop(reply.taken());
        assert!(taken.await.is_err(), "it may have been carried out");
        drop(coordinator.recv().await);
        assert_eq!(left.await, Ok(Err(NotTaken::Ended)));
        drop(coordinator);
        assert_eq!(dropped.await, Ok(Err(NotTaken::Ended)));
    }
}
