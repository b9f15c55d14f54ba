//! Keys of queues.

use std::time::Duration;

use ganger_core::change::KeyClosure;
use ganger_core::coordinator::port::{Ask, Reply};
use ganger_core::coordinator::view::KeyView;
use ganger_core::job::SpecError;
use ganger_core::name::QueueName;
use ganger_core::{Wall, limits};

use super::ask::misplaced;
use super::{Answer, Service};

/// How long a key is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedFor {
    /// So long from now.
    For(Duration),
    /// Until this moment.
    Until(Wall),
}

impl ClosedFor {
    /// The moment at which it opens.
    ///
    /// # Errors
    /// It has passed, or is too far away.
    pub fn end(self, now: Wall) -> Result<Wall, SpecError> {
        let (field, at) = match self {
            ClosedFor::For(long) => ("for", now + long),
            ClosedFor::Until(moment) => ("until", moment),
        };
        if at <= now {
            return Err(SpecError::new(field, "must lie in the future; a key is opened with :open"));
        }
        if at.since(now) > limits::LONGEST + Duration::from_secs(1) {
            let days = limits::LONGEST.as_secs() / 86_400;
            return Err(SpecError::new(field, format!("is longer than {days} days")));
        }
        Ok(at)
    }
}

/// Whether a job could have this key.
///
/// # Errors
/// It could not, and why.
pub fn check_key(key: &str) -> Result<(), SpecError> {
    let wrong = |what: String| Err(SpecError::new("key", what));
    match key {
        "" => wrong("is empty".into()),
        _ if key.len() > limits::KEY_BYTES => wrong(format!("has more than {} bytes", limits::KEY_BYTES)),
        _ if key.chars().any(char::is_control) => wrong("contains a control character".into()),
        _ => Ok(()),
    }
}

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
