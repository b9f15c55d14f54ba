//! What happened, told after it was committed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{JobId, SessionId};
use crate::job::State;
use crate::lease::Fence;
use crate::name::{Kind, QueueName, ScheduleName};
use crate::outcome::Outcome;
use crate::reason::Reason;
use crate::schedule::ledger::{Cause, Fate};
use crate::time::Wall;

/// Something that happened. Never carries a payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A job is in another state.
    Job {
        /// The job.
        job: JobId,
        /// Its queue.
        queue: QueueName,
        /// Its kind.
        kind: Kind,
        /// Where it is now.
        state: State,
        /// Number of its last or present attempt.
        attempt: u32,
        /// When the job was taken in.
        created_at: Wall,
        /// When.
        at: Wall,
    },
    /// An attempt is over.
    Attempt {
        /// The job.
        job: JobId,
        /// Its queue.
        queue: QueueName,
        /// Its kind.
        kind: Kind,
        /// The attempt's number.
        attempt: u32,
        /// How it ended.
        outcome: Outcome,
        /// What led to it.
        reason: Reason,
        /// The job is not over: it runs again, at once or later.
        again: bool,
        /// Name of its worker.
        worker: Arc<str>,
        /// How long the handler ran, in microseconds.
        ran_us: u64,
        /// How long the job had waited before it, in microseconds.
        waited_us: u64,
        /// When.
        at: Wall,
    },
    /// A worker reported under a lease that it no longer holds; nothing was changed.
    LeaseLost {
        /// The job.
        job: JobId,
        /// The fence that it reported under.
        fence: Fence,
        /// Who.
        session: SessionId,
    },
    /// A handler told how far it is.
    Progress {
        /// The job.
        job: JobId,
        /// From 0 to 1.
        fraction: f32,
        /// In words.
        note: String,
    },
    /// A worker came, went or changed.
    Worker {
        /// Its session.
        session: SessionId,
        /// Its name.
        worker: Arc<str>,
        /// What it is now.
        state: WorkerState,
        /// When.
        at: Wall,
    },
    /// A due instant of a schedule was decided.
    Occurrence {
        /// The schedule.
        schedule: ScheduleName,
        /// The instant.
        due_at: Wall,
        /// What became of it.
        fate: Fate,
        /// Why it was due.
        cause: Cause,
        /// How much later than its instant that was, in microseconds.
        late_us: u64,
        /// When.
        at: Wall,
    },
    /// An instant of a schedule is due for long, and nothing could be decided about it.
    ScheduleOverdue {
        /// The schedule.
        schedule: ScheduleName,
        /// The instant.
        due_at: Wall,
        /// When.
        at: Wall,
    },
    /// A schedule was made, changed or deleted.
    Schedule {
        /// The schedule.
        schedule: ScheduleName,
        /// Whether it is paused.
        paused: bool,
        /// Whether it is gone.
        deleted: bool,
        /// When.
        at: Wall,
    },
    /// A queue's settings changed.
    Queue {
        /// The queue.
        queue: QueueName,
        /// Whether it is paused.
        paused: bool,
        /// Whether it is draining.
        draining: bool,
        /// When.
        at: Wall,
    },
    /// The leader's memory and the store did not agree about a job. Repaired, and a bug.
    Difference {
        /// The job.
        job: JobId,
        /// In what.
        what: Difference,
        /// When that was noticed.
        at: Wall,
    },
}

/// In what the leader's memory and the store do not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// A live job was not in memory.
    Missing,
    /// A job was in memory that is not live.
    LeftOver,
    /// A job was due at another time, or its attempts stood otherwise.
    Moved,
    /// Who holds the lease of a job.
    Lease,
    /// What a blocked job waits for.
    Edges,
    /// A blocked job was not told that a parent has ended.
    Parent,
}

impl Difference {
    /// Every one of them.
    pub const ALL: [Difference; 6] = [
        Difference::Missing,
        Difference::LeftOver,
        Difference::Moved,
        Difference::Lease,
        Difference::Edges,
        Difference::Parent,
    ];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Difference::Missing => "missing",
            Difference::LeftOver => "left_over",
            Difference::Moved => "moved",
            Difference::Lease => "lease",
            Difference::Edges => "edges",
            Difference::Parent => "parent",
        }
    }
}

/// What a worker is, as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It has free threads.
    Available,
    /// All its threads are taken.
    Busy,
    /// It finishes what it holds and takes nothing new.
    Draining,
    /// It has not been heard of since the leader started, or its welcome is not yet answered.
    Unavailable,
    /// Its session was closed without a goodbye.
    Lost,
    /// It said goodbye.
    Gone,
}

impl WorkerState {
    /// Whether its session is open.
    #[must_use]
    pub const fn is_present(self) -> bool {
        match self {
            WorkerState::Available | WorkerState::Busy | WorkerState::Draining | WorkerState::Unavailable => {
                true
            }
            WorkerState::Lost | WorkerState::Gone => false,
        }
    }

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            WorkerState::Available => "available",
            WorkerState::Busy => "busy",
            WorkerState::Draining => "draining",
            WorkerState::Unavailable => "unavailable",
            WorkerState::Lost => "lost",
            WorkerState::Gone => "gone",
        }
    }
}
