//! What is told of an attempt once its end is durable.

use crate::coordinator::Coordinator;
use crate::coordinator::attempts::{Ended, Moved};
use crate::coordinator::port::Output;
use crate::event::Event;
use crate::time::{Wall, micros};

impl Coordinator {
    /// The event of an attempt that is over; nothing if its handler never began.
    pub(crate) fn attempt_told(&self, at: Wall, ended: &Ended) -> Option<Output> {
        let (outcome, attempt) = ended.outcome?;
        let entry = self.jobs.get(ended.job);
        let key = &self.classes.get(entry.class).key;
        let again = match ended.after {
            Moved::Again { .. } => !entry.cancel_wanted,
            Moved::Final { .. } => false,
        };
        Some(Output::Event(Event::Attempt {
            job: entry.id,
            queue: key.queue.clone(),
            kind: key.kind.clone(),
            attempt,
            outcome,
            reason: ended.reason,
            again,
            worker: ended.worker.clone(),
            ran_us: micros(ended.ran),
            waited_us: micros(ended.waited),
            at,
        }))
    }
}
