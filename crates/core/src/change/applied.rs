//! What changes came to, as a store answers them.

use serde::{Deserialize, Serialize};

use super::{LiveJob, Tally};
use crate::dependency::Place;
use crate::ids::JobId;
use crate::job::State;
use crate::schedule::ledger::Fate;

/// What a change came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Applied {
    /// As asked.
    Done,
    /// The submission's answer.
    Submitted(Submitted),
    /// The submission's answer, where parents that it names are final already: with how they ended.
    Linked(Submitted, Vec<(JobId, State)>),
    /// The submission's row of the inbox is gone: it was taken in before, and is not again.
    Taken,
    /// The session's id was closed before; it stays closed.
    SessionEverClosed,
    /// The replay's answer.
    Replayed(Replayed),
    /// What was removed.
    Removed(Vec<Tally>),
    /// The job's own handler had ended it, in its own transaction, whatever the leader says of the attempt.
    EndedElsewhere {
        /// How it ended.
        state: State,
        /// Whether it is in the history.
        kept: bool,
    },
    /// Nothing was set: users' transactions do not reach this store.
    NoTransactions,
    /// What the ledger says of each occurrence now; `None` where it had its say before.
    Fired(Vec<Option<Fate>>),
}

/// What became of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// Taken in now.
    Accepted(Vec<Intake>),
    /// The idempotency key was used before with the same request: the same answer again.
    Replayed(Vec<Intake>),
    /// The idempotency key was used before with another request; nothing was taken in.
    KeyReused,
    /// There is no such parent, live or final; nothing was taken in.
    NoParent(JobId, Place),
}

/// What became of one job of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intake {
    /// It exists now.
    Created(JobId),
    /// Its unique key is held by this job.
    Duplicate(JobId),
}

impl Intake {
    /// The job that answers the request.
    #[must_use]
    pub const fn job(self) -> JobId {
        match self {
            Intake::Created(id) | Intake::Duplicate(id) => id,
        }
    }
}

/// What became of a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// It is live again; this was its final state.
    Live(Box<LiveJob>, State),
    /// There is no such job.
    NotFound,
    /// It is live already.
    NotFinal,
    /// Its unique key is held by another job.
    UniqueHeld(JobId),
}
