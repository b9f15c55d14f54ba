//! Bulk operations: one action on every job that a filter means.
//!
//! An operation is a document that the leader keeps in the store and carries out bit by bit, at a rate. It must
//! survive a crash at any moment, the next leader must go on with it, and no job may be acted upon twice. Three rules
//! see to that, and [`Carrier`] is the machine that keeps them:
//!
//! 1. **The boundary.** It concerns jobs as they were when it was asked for: those taken in until then and, where it
//!    needs final ones, those that were final by then. A job that it replayed and that died again ended after
//!    the boundary, and is never taken for one that is still to be replayed. A filter that speaks of ages is
//!    pinned to the boundary.
//! 2. **The plan.** Before anything is done to a few jobs, a commit names them and moves the cursor past them.
//! 3. **The second look.** Whoever finds a plan and does not know what became of it (the next leader, or the same one
//!    after a commit of unknown outcome) looks at each of its jobs: what shows that it was done counts
//!    as done, what does not is done now.
//!
//! So counts are exact across crashes: each job that the operation concerns is done or skipped, once.

mod carrier;
mod judge;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{JobId, OperationId};
use crate::job::State;
use crate::time::Wall;

pub use carrier::{Carrier, Settled, Step};
pub use judge::Seen;

/// What is done to each job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Run it again.
    Replay,
    /// Stop it.
    Cancel,
    /// Remove it for ever.
    Delete,
}

impl Action {
    /// Every action.
    pub const ALL: [Action; 3] = [Action::Replay, Action::Cancel, Action::Delete];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Action::Replay => "replay",
            Action::Cancel => "cancel",
            Action::Delete => "delete",
        }
    }

    /// The action of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == text)
    }

    /// The states of jobs that it is for. A filter finds no others.
    #[must_use]
    pub fn states(self) -> Vec<State> {
        let wants_final = match self {
            Action::Replay | Action::Delete => true,
            Action::Cancel => false,
        };
        State::ALL.into_iter().filter(|state| state.is_final() == wants_final).collect()
    }
}

/// Which jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Those that a filter means.
    Filter {
        /// As it was asked for.
        text: String,
        /// The same with every age turned into a moment.
        pinned: String,
    },
    /// These.
    Ids(Vec<JobId>),
    /// All of them.
    All,
}

/// Where an operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationState {
    /// It goes on.
    Running,
    /// Every job was looked at.
    Done,
    /// A person stopped it.
    Cancelled,
}

impl OperationState {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OperationState::Running => "running",
            OperationState::Done => "done",
            OperationState::Cancelled => "cancelled",
        }
    }
}

/// Why a job was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// It is live, and only final ones can be replayed or deleted.
    Live,
    /// It is final, and only live ones can be cancelled.
    Final,
    /// It is not as it was when the operation was asked for: it came, or ended, later.
    Changed,
    /// There is no such job any more.
    Gone,
    /// Another job holds its unique key.
    UniqueKeyHeld,
    /// It runs a command, and whoever asked for the operation did not prove that he may have one run.
    ExecNotAllowed,
}

impl Skip {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Skip::Live => "live",
            Skip::Final => "final",
            Skip::Changed => "changed",
            Skip::Gone => "gone",
            Skip::UniqueKeyHeld => "unique_key_held",
            Skip::ExecNotAllowed => "exec_not_allowed",
        }
    }
}

/// A bulk operation, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its identity.
    pub id: OperationId,
    /// What is done.
    pub action: Action,
    /// To which jobs.
    pub target: Target,
    /// Jobs per second, at the most.
    pub rate: u32,
    /// Why, in the words of whoever asked for it.
    pub reason: Option<String>,
    /// Whether whoever asked for it may have commands run.
    #[serde(default)]
    pub exec_allowed: bool,
    /// Who asked for it. Not known of one that an older server began.
    #[serde(default)]
    pub by: Option<String>,
    /// How many jobs it was for when it was asked for, if they could be counted.
    #[serde(default)]
    pub total: Option<u64>,
    /// When it was asked for: the boundary.
    pub created_at: Wall,
    /// What tells one request from another under the same idempotency key.
    pub fingerprint: String,
    /// Where it stands.
    pub state: OperationState,
    /// When it was over.
    pub finished_at: Option<Wall>,
    /// Rows looked at.
    pub examined: u64,
    /// Jobs to which it was done.
    pub done: u64,
    /// Jobs that were left alone, by why.
    pub skipped: BTreeMap<Skip, u64>,
    /// Of a filter: jobs with this id or a larger one were looked at. Of a list: how many were.
    cursor: Cursor,
    /// The plan: jobs that are being acted upon.
    pending: Vec<JobId>,
}

/// How far an operation has looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cursor {
    /// Nowhere yet.
    Start,
    /// As far as this job, which was looked at.
    After(JobId),
    /// So many of a list.
    Index(usize),
    /// At everything.
    End,
}

impl Operation {
    /// An operation that begins.
    #[must_use]
    pub fn new(id: OperationId, action: Action, target: Target, rate: u32, created_at: Wall) -> Operation {
        Operation {
            id,
            action,
            target,
            rate,
            reason: None,
            exec_allowed: false,
            by: None,
            total: None,
            created_at,
            fingerprint: String::new(),
            state: OperationState::Running,
            finished_at: None,
            examined: 0,
            done: 0,
            skipped: BTreeMap::new(),
            cursor: Cursor::Start,
            pending: Vec::new(),
        }
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state != OperationState::Running
    }

    /// Jobs that were left alone, for whatever reason.
    #[must_use]
    pub fn skipped_in_all(&self) -> u64 {
        self.skipped.values().sum()
    }

    fn skip(&mut self, why: Skip) {
        *self.skipped.entry(why).or_default() += 1;
    }
}
