//! What the coordinator shows of itself: workers, queues, counts, and why a job is not running.

use std::time::Duration;

use serde::Serialize;

use crate::change::WorkerInfo;
use crate::event::WorkerState;
use crate::ids::{JobId, SessionId};
use crate::job::State;
use crate::lease::{Fence, Term};
use crate::name::{Kind, Labels, QueueName};
use crate::queue::{QueueSettings, Rate};
use crate::time::Wall;

/// A worker as the leader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerView {
    /// Its session.
    pub session: SessionId,
    /// What it said about itself.
    pub worker: WorkerInfo,
    /// What it is.
    pub state: WorkerState,
    /// Threads in use, those of stuck handlers and of leases that are being written included.
    pub used: u16,
    /// Leases given and not yet started or running.
    pub leases: Vec<LeaseShown>,
    /// Handlers that were told to stop, did not, and still occupy threads.
    pub stuck: usize,
    /// When the session began.
    pub opened_at: Wall,
    /// How long ago it was last heard.
    pub silent: Duration,
    /// How it left, if it did.
    pub left: Option<Left>,
}

/// How a worker left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// When that was decided.
    pub at: Wall,
    /// Why.
    pub why: LeftWhy,
    /// How many jobs it held.
    pub held: usize,
    /// The first of them, [`limits::LEFT_JOBS`](crate::limits::LEFT_JOBS) at the most.
    pub jobs: Vec<JobId>,
}

/// Why a worker left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftWhy {
    /// It was not heard for so long.
    Silent(Duration),
    /// Its supervisor saw it die.
    Died,
    /// It lived in the process of a server that ended.
    ServerEnded,
    /// It said goodbye.
    Goodbye,
}

impl LeftWhy {
    /// For people.
    #[must_use]
    pub fn told(self) -> String {
        match self {
            LeftWhy::Silent(long) => format!("it was not heard for {} s", long.as_secs()),
            LeftWhy::Died => "its supervisor saw it die".to_owned(),
            LeftWhy::ServerEnded => "it lived in a server process that ended".to_owned(),
            LeftWhy::Goodbye => "it said goodbye".to_owned(),
        }
    }
}

/// A lease as shown in a worker's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseShown {
    /// The job.
    pub job: JobId,
    /// Proof of the lease.
    pub fence: Fence,
    /// Which attempt.
    pub attempt: u32,
    /// Threads granted.
    pub threads: u16,
    /// When it was given.
    pub since: Wall,
}

/// A queue as the leader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueView {
    /// Its name.
    pub queue: QueueName,
    /// Its settings.
    pub settings: QueueSettings,
    /// Jobs in each state, in the order of [`State::ALL`].
    pub counts: [u64; State::ALL.len()],
    /// How long the first job in line has been ready.
    pub oldest_ready: Option<Duration>,
    /// Workers that serve it.
    pub workers: usize,
}

/// The next jobs of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueHead {
    /// The queue.
    pub queue: QueueName,
    /// The jobs, in the order in which they would start if nothing held them back.
    pub items: Vec<HeadShown>,
    /// Whether the order is certain. It is not where tenants have jobs of several kinds, or where there are very many tenants.
    pub exact: bool,
    /// Jobs of other queues that start before the first of these, as the turns of the queues are now.
    pub others: Vec<QueueAhead>,
}

/// One of the next jobs of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadShown {
    /// The job.
    pub job: JobId,
    /// Its kind.
    pub kind: Kind,
    /// Its priority.
    pub priority: i8,
    /// Number of the attempt that is next.
    pub attempt: u32,
    /// Since when it could run.
    pub ready_since: Wall,
    /// What holds it back, if anything does: the first gate that is closed.
    pub held: Option<GateShown>,
}

/// A `concurrency_key` of a queue as the leader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyView {
    /// The queue.
    pub queue: QueueName,
    /// The key.
    pub key: String,
    /// Live jobs that have it and hold no lease.
    pub waiting: u32,
    /// Leases of jobs that have it.
    pub running: u32,
    /// Nothing of it starts before.
    pub closed_until: Option<Wall>,
}

/// The whole, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// The leader's term.
    pub term: Term,
    /// Jobs by queue, kind and state, in the order of [`State::ALL`].
    pub counts: Vec<(QueueName, Kind, [u64; State::ALL.len()])>,
    /// Workers by state.
    pub workers: Vec<(WorkerState, usize)>,
    /// Threads of all workers.
    pub threads: u64,
    /// Threads in use.
    pub threads_used: u64,
    /// Queued jobs that do not start as things are: their queue is paused, or no connected worker fits.
    pub cannot_start: u64,
    /// Keys that are closed, of all queues.
    pub closed_keys: usize,
    /// Changes that wait for the next batch.
    pub backlog: usize,
    /// Why nothing can be written at present, if so.
    pub store_trouble: Option<String>,
    /// Schedules.
    pub schedules: ScheduleCounts,
}

/// How many schedules there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleCounts {
    /// All of them.
    pub known: usize,
    /// Those that are paused.
    pub paused: usize,
    /// Those with an instant that is due for long, and not decided.
    pub overdue: usize,
}

/// Why a job is, or is not, running.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The job.
    pub job: JobId,
    /// Where it is.
    pub state: State,
    /// One sentence for people.
    pub summary: String,
    /// Everything that was checked, in the order in which dispatch checks it.
    pub gates: Vec<GateShown>,
    /// Its place in line, if it is ready.
    pub position: Option<Position>,
    /// When it should start, if that can be said.
    pub estimate: Option<Duration>,
    /// Jobs of its queue that were started per second lately, if there is an estimate.
    pub pace: Option<f64>,
    /// What to do about it, if anything.
    pub next_step: Option<String>,
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateShown {
    /// Its stable name.
    pub gate: &'static str,
    /// Whether it holds the job back.
    pub closed: bool,
    /// The evidence, for people.
    pub evidence: String,
}

/// A place in line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Jobs of the same queue that come before it.
    pub ahead: usize,
    /// Whether that is exact, or at least that many.
    pub exact: bool,
    /// Jobs of other queues that start before it, as the turns of the queues are now.
    pub others: Vec<QueueAhead>,
}

/// Jobs of another queue that come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueAhead {
    /// The queue; `None` stands for all that the caller may not see.
    pub queue: Option<QueueName>,
    /// How many of its jobs.
    pub jobs: u64,
}

impl QueueAhead {
    /// Takes the names out that a caller may not see; their jobs still count.
    pub fn hide(others: &mut Vec<QueueAhead>, sees: impl Fn(&QueueName) -> bool) {
        let mut hidden = 0;
        others.retain(|other| {
            let shown = other.queue.as_ref().is_some_and(&sees);
            hidden += if shown { 0 } else { other.jobs };
            shown
        });
        if hidden > 0 {
            others.push(QueueAhead { queue: None, jobs: hidden });
        }
    }
}

/// A reason not to dispatch a class of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The queue is paused.
    QueuePaused(QueueName),
    /// As much of the queue runs as may.
    QueueRunning {
        /// The queue.
        queue: QueueName,
        /// Leases of it.
        running: u32,
        /// So many are allowed.
        max: u32,
    },
    /// As much of the queue was started lately as may be.
    QueueRate {
        /// The queue.
        queue: QueueName,
        /// What is allowed.
        rate: Rate,
        /// So long until the next.
        wait: Duration,
    },
    /// The key is closed.
    KeyClosed {
        /// The key.
        key: String,
        /// Until then; `None` while that is being written.
        until: Option<Wall>,
    },
    /// As many jobs with this key run as may.
    KeyRunning {
        /// The key.
        key: String,
        /// Leases of them.
        running: u32,
        /// So many are allowed.
        max: u32,
    },
    /// As many jobs with this key were started lately as may be.
    KeyRate {
        /// The key.
        key: String,
        /// What is allowed.
        rate: Rate,
        /// So long until the next.
        wait: Duration,
    },
    /// No connected worker serves the queue, handles the kind and carries the labels.
    NoWorker {
        /// The queue.
        queue: QueueName,
        /// The kind.
        kind: Kind,
        /// The labels required.
        require: Labels,
        /// Workers that serve the queue at all.
        serving_queue: usize,
        /// Of those, workers that handle the kind.
        handling_kind: usize,
    },
    /// Every worker that could run it is narrower than the least it accepts.
    TooNarrow {
        /// The least it accepts.
        min_threads: u16,
        /// The widest there is.
        widest: u16,
    },
}
