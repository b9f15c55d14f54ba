//! Keys of queues.

use ganger_core::change::KeyClosure;
use ganger_core::coordinator::port::{Ask, Reply};
use ganger_core::coordinator::view::KeyView;
use ganger_core::name::QueueName;

use super::ask::misplaced;
use super::{Answer, Service};

impl Service {
    /// Keys that have live jobs or are closed, of a queue or of all; at most so many, and how many there are.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn keys(&self, queue: Option<QueueName>, limit: usize) -> Answer<(Vec<KeyView>, usize)> {
        self.look(move |c, _| c.keys(queue.as_ref(), limit)).await
    }

    /// Closes a key for a while, or opens it.
    ///
    /// # Errors
    /// Too many keys are closed, or the write fails.
    pub async fn close_key(&self, closure: KeyClosure) -> Answer<KeyView> {
        let (queue, key) = (closure.queue.clone(), closure.key.clone());
        let Reply::KeySet(_) = self.ask(Ask::CloseKey(closure)).await? else { return Err(misplaced()) };
        self.look(move |c, _| c.key(&queue, &key)).await
    }

    /// Keys that are closed, of all queues.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn closed_keys(&self) -> Answer<usize> {
        self.look(|c, _| c.closed_keys()).await
    }
}
