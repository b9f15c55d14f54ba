//! What goes into the coordinator and what comes out of it.

use std::sync::Arc;
use std::time::Duration;

use crate::change::{Applied, Batch, Idempotency, KeyClosure, LivePage, LiveQuery, NewJob, Submitted};
pub use crate::coordinator::reconcile::Reconciled;
pub use crate::coordinator::schedules::port::{ScheduleAsk, ScheduleRefusal, ScheduleReply, ScheduleView};
use crate::dependency;
use crate::document::Document;
use crate::event::Event;
use crate::ids::{JobId, SessionId};
use crate::job::State;
use crate::kind::KindSettings;
use crate::message::{ToLeader, ToWorker};
use crate::name::{Kind, QueueName};
use crate::queue::QueueSettings;
use crate::time::{Mono, Wall};

/// Names a caller that waits for a [`Output::Reply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Something that happened outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Time passed. Must come at least every [`Options::tick`], or the coordinator takes itself for stalled.
    Tick,
    /// A client asks; the answer comes as [`Output::Reply`].
    Ask(Ticket, Ask),
    /// A worker said something on the stream of that number. A hello names its own.
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
    /// The batch of that number is durable.
    Committed {
        /// Which.
        number: u64,
        /// One per change.
        applied: Vec<Applied>,
    },
    /// The batch of that number was certainly not written, and none that was handed over after it was or will be.
    Refused {
        /// Which.
        number: u64,
        /// Why, for people.
        reason: String,
    },
    /// The leader's row was renewed by a call that was sent at this moment.
    Renewed {
        /// When the renewal was sent.
        sent_at: Mono,
    },
    /// What was asked for by [`Output::ReadLive`]; `None` if it could not be read.
    LiveRead(Option<Box<LivePage>>),
}

/// What a client may ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Take in these jobs. Their `seq`, `created_at` and `due_at` are set by the coordinator.
    Submit {
        /// Same key, same answer.
        idempotency: Option<Idempotency>,
        /// Checked specifications with their ids.
        jobs: Vec<NewJob>,
    },
    /// Stop this job.
    Cancel(JobId),
    /// A waiting job need not wait for its due time.
    RunNow(JobId),
    /// Run a final job again.
    Replay(JobId),
    /// Change a queue's settings.
    PutQueue(QueueName, QueueSettings),
    /// Change a kind's settings.
    PutKind(Kind, KindSettings),
    /// Close a key of a queue for a while, or open it.
    CloseKey(KeyClosure),
    /// Take in what was submitted inside the store, in this order; at most [`crate::limits::INBOX_ROWS`].
    Intake(Vec<InboxJob>),
    /// Remove the dead jobs of a queue, a bounded number at a time.
    PurgeDead(QueueName),
    /// Remove these final jobs, at most [`crate::limits::DELETED_AT_ONCE`]; live ones are left alone.
    Delete(Vec<JobId>),
    /// Keep, or forget, a document of the server's own.
    PutDocument(Document),
    /// Something about schedules.
    Schedule(ScheduleAsk),
    /// Do this, and write down in the same transaction who asked for it.
    Audited(Box<Ask>, Document),
    /// Take nothing new on this worker.
    DrainWorker(SessionId),
}

/// A job that was submitted inside the store.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxJob {
    /// Its row in the inbox.
    pub row: i64,
    /// What was asked for. Its `seq`, `created_at` and `due_at` are set by the coordinator.
    pub job: NewJob,
    /// Why it cannot be run, if so: then it is dead from the start.
    pub refused: Option<String>,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// What became of the submission.
    Submitted(Submitted),
    /// Cancelled at once: it never starts again.
    Cancelled,
    /// It runs; its worker was told to stop.
    CancelRequested,
    /// It is due now.
    Due,
    /// It is live again.
    Replayed,
    /// The queue has these settings now.
    Queue(QueueSettings),
    /// The kind has these settings now.
    Kind(KindSettings),
    /// The key is closed until then, or open.
    KeySet(Option<Wall>),
    /// Everything that was handed over from the inbox is out of it.
    TakenIn,
    /// So many were removed; the purge is complete if fewer than asked for.
    Purged(u64),
    /// The document is kept, or forgotten.
    Documented,
    /// What became of the schedule.
    Schedule(ScheduleReply),
    /// The worker was told.
    Draining,
    /// It cannot be done.
    Refused(Refusal),
}

/// Why an ask was refused. An ordinary answer, not an error of the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such live job. It may be final.
    #[error("there is no such live job")]
    NoSuchJob,
    /// The job's state does not allow it.
    #[error("the job is {}", .0.as_str())]
    WrongState(State),
    /// The job runs at this moment.
    #[error("the job is live, only a final one can be replayed")]
    NotFinal,
    /// Its unique key is held by another job.
    #[error("its unique key is held by {0}")]
    UniqueHeld(JobId),
    /// The queue takes nothing new.
    #[error("queue `{0}` is draining")]
    QueueDraining(QueueName),
    /// The queue, or the key of it, is as deep as it may be.
    #[error("{}queue `{queue}` has {depth} jobs waiting, at most {max} may", key.as_ref().map_or_else(String::new, |key| format!("key `{key}` of ")))]
    QueueFull {
        /// The queue.
        queue: QueueName,
        /// The key that is full, if it is not the whole queue.
        key: Option<String>,
        /// Jobs that wait.
        depth: u64,
        /// So many may.
        max: u64,
    },
    /// More keys are closed than may be at a time.
    #[error("{max} keys are closed already, and no more may be", max = crate::limits::CLOSED_KEYS)]
    TooManyClosed,
    /// There is no such worker.
    #[error("there is no such worker")]
    NoSuchWorker,
    /// Users' transactions do not reach this store.
    #[error("kind `{0}` cannot be transactional: that needs jobs to be kept in PostgreSQL")]
    NoTransactions(Kind),
    /// What the jobs of the request wait for can never be.
    #[error("a job of the request cannot wait so: {0}")]
    Parents(dependency::Wrong),
    /// The schedule does not allow it.
    #[error(transparent)]
    Schedule(#[from] ScheduleRefusal),
    /// Nothing was written; the same request may succeed later.
    #[error("nothing was written: {0}")]
    Store(String),
    /// Too much is waiting to be written.
    #[error("too many requests are waiting to be written")]
    Overloaded,
}

/// Something that is to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Write this batch, after those that are outstanding, and answer each with [`Input::Committed`], in order, or the
    /// first with [`Input::Refused`] once none of them can be written any more.
    Commit(Arc<Batch>),
    /// Answer a client.
    Reply(Ticket, Reply),
    /// Send to the worker, on the stream of that number; drop it if that stream is gone.
    Send {
        /// The worker's session.
        session: SessionId,
        /// The stream.
        stream: u64,
        /// What to say.
        message: ToWorker,
    },
    /// Tell whoever listens.
    Event(Event),
    /// Read this from the store, in a snapshot that begins from now on, and answer with [`Input::LiveRead`]. There is
    /// never more than one outstanding.
    ReadLive(LiveQuery),
    /// Memory was compared with the store, from the first job to the last.
    Reconciled(Reconciled),
    /// Stop leading at once; lead again in a term larger than this, if at all.
    StepDown {
        /// Larger than this.
        more_than: u64,
        /// Why, for people.
        reason: &'static str,
    },
}

/// The durations and bounds that a coordinator works with.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Authority lasts this long after a renewal was sent. `None`: an exclusive lock is held, and
    /// authority does not run out.
    pub leader_ttl: Option<Duration>,
    /// The shortest session TTL granted.
    pub min_session_ttl: Duration,
    /// The longest session TTL granted.
    pub max_session_ttl: Duration,
    /// Added to a session's TTL on the leader's side: clock drift, and the time a handler needs to stop.
    pub slack: Duration,
    /// A silence of the coordinator longer than this is a stall.
    pub stall: Duration,
    /// How often [`Input::Tick`] comes at the least.
    pub tick: Duration,
    /// After a timeout or a cancel the handler has this long to stop.
    pub grace: Duration,
    /// A wide job overtaken for this long reserves a worker.
    pub reserve_after: Duration,
    /// A wide job overtaken this often reserves a worker.
    pub reserve_overtakes: u32,
    /// Kinds with a mean run time below this are prefetched.
    pub prefetch_below: Duration,
    /// Changes that may wait for the next batch before asks are refused.
    pub backlog: usize,
    /// So many changes are handed over while a batch is written, or before it is announced. Fewer are not
    /// worth a commit of their own, while what the announcement decides would wait for it.
    pub hand_over_early: usize,
    /// Batches that may be outstanding.
    pub in_flight: usize,
    /// How often retention is looked after.
    pub prune_every: Duration,
    /// The first look after a start.
    pub prune_first: Duration,
    /// Final jobs removed by one purge or prune.
    pub prune_limit: usize,
    /// How often memory is compared with the store; `None` for never.
    pub reconcile_every: Option<Duration>,
    /// Jobs of one page of that.
    pub reconcile_page: usize,
    /// The pause between two pages.
    pub reconcile_pause: Duration,
    /// Seed of the jitter.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            leader_ttl: None,
            min_session_ttl: Duration::from_secs(1),
            max_session_ttl: Duration::from_secs(3600),
            slack: Duration::from_secs(2),
            stall: Duration::from_secs(3),
            tick: Duration::from_secs(1),
            grace: Duration::from_secs(10),
            reserve_after: Duration::from_secs(2),
            reserve_overtakes: 64,
            prefetch_below: Duration::from_millis(20),
            backlog: 65_536,
            hand_over_early: 64,
            in_flight: 2,
            prune_every: Duration::from_secs(60),
            prune_first: Duration::from_secs(10),
            prune_limit: 1_000,
            reconcile_every: Some(Duration::from_secs(600)),
            reconcile_page: 1_000,
            reconcile_pause: Duration::from_millis(50),
            seed: 0,
        }
    }
}
