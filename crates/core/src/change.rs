//! The vocabulary of durable changes: what the coordinator decides and a store makes true.
//!
//! A [`Batch`] is one transaction. Batches of a term are numbered from 1 without gaps; a store
//! applies number n only after n − 1, and answers a number it has already applied with the same
//! outcomes, so that a commit whose answer was lost can simply be sent again.

mod applied;
mod live;
mod usual;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::dependency::Edge;
use crate::document::Document;
use crate::fingerprint::FailureSeen;
use crate::ids::{JobId, SessionId};
use crate::job::{JobOptions, JobSpec, State};
use crate::kind::KindSettings;
use crate::lease::Fence;
use crate::minutes::Counted;
use crate::name::{Kind, Labels, QueueName};
use crate::outcome::Outcome;
use crate::queue::QueueSettings;
use crate::rules::{Death, Standing};
use crate::schedule::ScheduleRecord;
use crate::schedule::ledger::ScheduleChange;
use crate::time::Wall;

pub use applied::{Applied, Intake, Replayed, Submitted};
pub use live::{LivePage, LiveQuery};

/// One transaction's worth of changes, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Position within the term, from 1.
    pub number: u64,
    /// Applied in order; all or none.
    pub changes: Vec<Change>,
    /// What they count for. A store adds [`Counted::settled`] to its buckets, in the same transaction.
    pub counted: Counted,
}

impl Batch {
    /// A batch of which nothing is counted.
    #[must_use]
    pub fn new(number: u64, changes: Vec<Change>) -> Batch {
        Batch { number, changes, counted: Counted::default() }
    }
}

/// One durable change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// New jobs of one request. Answered with [`Applied::Submitted`], or with [`Applied::Taken`] if they come from the
    /// store's inbox and are not there any more.
    Submit(Submission),
    /// Leases given to one session in one dispatch pass. Their jobs are live, or named by a submission earlier in
    /// the same batch; a lease is void if that did not create its job.
    Assign(Assignment),
    /// An attempt is over. The job's lease must be the one named. Answered with [`Applied::Done`], or with
    /// [`Applied::EndedElsewhere`] if the lease is transactional and its job is not live any more.
    End(AttemptEnd),
    /// A job without a lease ends: cancelled, or expired.
    Finish(Finish),
    /// A person asked for a leased job to stop.
    CancelWanted(JobId),
    /// A waiting job becomes due at the given moment, which must not be later than its present one. A blocked job is
    /// released by that: while it is blocked its due time is out of every calendar.
    RunNow(JobId, Wall),
    /// A parent of blocked jobs has ended so. Recorded with those of its edges that this settles and that were not
    /// settled before; its own row may be gone any time.
    Settle(JobId, State),
    /// A final job becomes live again. Answered with [`Applied::Replayed`].
    Replay(Replay),
    /// A worker's session begins. Answered with [`Applied::Done`] or [`Applied::SessionEverClosed`].
    OpenSession(SessionRecord),
    /// A session ends for ever. Its leases are ended by [`Change::End`] in the same batch.
    CloseSession(SessionId, Wall),
    /// The settings of a queue.
    PutQueue(QueueName, QueueSettings),
    /// The settings of a kind. Answered with [`Applied::Done`] or [`Applied::NoTransactions`].
    PutKind(Kind, KindSettings),
    /// A key of a queue is closed for a while, or open again.
    CloseKey(KeyClosure),
    /// The attempt under a lease is about to do what cannot be repeated, or did not do it after all. A store keeps the
    /// last mark of each job.
    Mark(EffectMark),
    /// Text that an attempt logged. A store keeps the last [`crate::limits::LOG_BYTES`] of each.
    Log(LogLines),
    /// An attempt failed: its group counts it. Comes right before the end of that attempt, in the same batch.
    Failed(Box<FailureSeen>),
    /// A document of the server's own.
    PutDocument(Document),
    /// Something about schedules.
    Schedule(Box<ScheduleChange>),
    /// Removes these final jobs, with everything kept beside them; others are left alone. Answered with
    /// [`Applied::Removed`].
    Delete(Vec<JobId>),
    /// Removes up to `limit` dead jobs of a queue. Answered with [`Applied::Removed`].
    PurgeDead {
        /// The queue.
        queue: QueueName,
        /// At most so many, oldest first.
        limit: usize,
    },
    /// Removes what retention no longer keeps, and ledger entries that ran out. Answered with
    /// [`Applied::Removed`].
    Prune {
        /// The moment against which ages are measured.
        now: Wall,
        /// At most so many of each sort.
        limit: usize,
    },
}

/// New jobs of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Same key, same answer.
    pub idempotency: Option<Idempotency>,
    /// In the order of the request.
    pub jobs: Vec<NewJob>,
    /// The row of the store's inbox that the one job comes from.
    pub inbox: Option<InboxOrigin>,
}

impl Submission {
    /// Whether its job is dead from the start.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.inbox.as_ref().is_some_and(|inbox| inbox.refused.is_some())
    }
}

/// Where a job comes from that was submitted inside the store. Taking it in removes the row, in the same
/// transaction; without the row it was taken in before, and is not again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxOrigin {
    /// The row.
    pub row: i64,
    /// Why the job is dead from the start, if it cannot be run. It then holds no unique key.
    pub refused: Option<String>,
}

/// A request's idempotency key.
#[derive(Clone, Debug, PartialEq)]
pub struct Idempotency {
    /// Whose key it is: keys of different callers never meet.
    pub scope: String,
    /// The key itself.
    pub key: String,
    /// Hash of the request; the same key with another one is refused.
    pub fingerprint: [u8; 32],
    /// When it may be forgotten.
    pub until: Wall,
}

/// A job that is to exist.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// Chosen before it is stored, and never for another job, whether or not this one comes to exist.
    pub id: JobId,
    /// The leader's intake sequence.
    pub seq: u64,
    /// When it was taken in.
    pub created_at: Wall,
    /// The later of intake and `run_at`.
    pub due_at: Wall,
    /// What was asked for.
    pub spec: JobSpec,
}

/// Leases given to one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Who may run them.
    pub session: SessionId,
    /// Fence of the first; the i-th has `seq + i`. Identifies the assignment.
    pub first: Fence,
    /// When they were given.
    pub at: Wall,
    /// At most [`crate::limits::ASSIGN_LEASES`].
    pub leases: Vec<Lease>,
}

/// One lease of an assignment; its fence follows from its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// Which attempt this is.
    pub attempt: u32,
    /// Threads granted.
    pub threads: u16,
    /// Its handler may end the job inside its own transaction, by the fence.
    pub transactional: bool,
}

impl Assignment {
    /// Each lease with its fence.
    pub fn fenced(&self) -> impl Iterator<Item = (Fence, Lease)> + '_ {
        self.leases
            .iter()
            .enumerate()
            .map(|(i, lease)| (Fence { term: self.first.term, seq: self.first.seq + i as u64 }, *lease))
    }
}

/// An attempt that is over, and what becomes of its job.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptEnd {
    /// The job.
    pub job: JobId,
    /// The lease under which it ran. Remembered by the job as its last.
    pub fence: Fence,
    /// First fence of the assignment that the lease belongs to.
    pub assignment: Fence,
    /// Whether its handler may have ended the job already.
    pub transactional: bool,
    /// What to keep about the attempt; nothing if its handler never began.
    pub record: Option<AttemptRecord>,
    /// Where the job goes.
    pub after: After,
}

/// What is kept about an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// From 1; never reused.
    pub number: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, where there is a text.
    pub error: Option<String>,
    /// Name of the worker.
    pub worker: String,
    /// The worker's session.
    pub session: SessionId,
    /// Threads it was granted.
    pub threads: u16,
    /// When the lease was given.
    pub leased_at: Wall,
    /// When the handler began.
    pub started_at: Wall,
    /// When the end was recorded.
    pub ended_at: Wall,
    /// Proof of the lease.
    pub fence: Fence,
}

/// Where a job goes after an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// It stays live.
    Again {
        /// When it may run again. Unchanged if it was only handed back.
        due_at: Wall,
        /// Whether it waits because an attempt failed.
        retrying: bool,
        /// How its attempts stand.
        standing: Standing,
    },
    /// It is final.
    Final {
        /// How its attempts stand.
        standing: Standing,
        /// How it ended.
        end: End,
    },
}

/// A job without a lease that ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// The job.
    pub job: JobId,
    /// How it ended.
    pub end: End,
}

/// How a job ended for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Succeeded, dead or cancelled.
    pub state: State,
    /// When.
    pub at: Wall,
    /// What its handler returned.
    pub result: Option<String>,
    /// Why it died or was cancelled.
    pub reason: Option<String>,
    /// Whether the job stays in the history.
    pub keep: bool,
}

impl End {
    /// Whether the unique key of the job is held for its `unique_for` from now on: what must not be done twice was done, or
    /// nobody knows that it was not. Otherwise it is free.
    #[must_use]
    pub fn holds_key(&self) -> bool {
        let unknown = || self.reason.as_deref() == Some(Death::Unknown.reason());
        self.state == State::Succeeded || (self.state == State::Dead && unknown())
    }
}

/// A final job that is to run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The job.
    pub job: JobId,
    /// Its new place in the order of intake.
    pub seq: u64,
    /// When it becomes due.
    pub at: Wall,
}

/// A worker's session as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// One life of a worker process.
    pub id: SessionId,
    /// What it says about itself.
    pub worker: WorkerInfo,
    /// When the session began.
    pub opened_at: Wall,
}

/// What a worker says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerInfo {
    /// A name for people; not an identity.
    pub name: String,
    /// Queues it serves; empty means all.
    pub queues: Vec<QueueName>,
    /// Kinds it handles; empty means all.
    pub kinds: Vec<Kind>,
    /// Its capacity.
    pub threads: u16,
    /// Its labels.
    pub labels: Labels,
    /// Version of its software.
    pub version: String,
    /// It lives inside the server process and dies with it.
    pub local: bool,
    /// Made by the server for one HTTP claim: takes one assignment, and is forgotten when closed.
    pub claim: bool,
    /// How long its leases last without a sign of life.
    pub ttl: Duration,
}

/// Until when a `concurrency_key` of a queue is closed. A store forgets it once that has passed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyClosure {
    /// The queue.
    pub queue: QueueName,
    /// The key.
    pub key: String,
    /// Nothing of it starts before; `None` opens it again.
    pub until: Option<Wall>,
}

/// Whether an attempt may have had an effect that cannot be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectMark {
    /// The job.
    pub job: JobId,
    /// The lease of the attempt. A mark counts under this one only.
    pub fence: Fence,
    /// Whether the mark stands from now on. Taking it off leaves the mark of another lease alone.
    pub stands: bool,
}

/// Text that an attempt logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLines {
    /// The job.
    pub job: JobId,
    /// Its attempt.
    pub attempt: u32,
    /// Whole lines, each ending in a newline.
    pub text: String,
}

/// A live job as the coordinator needs it: everything but the payload.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveJob {
    /// Its identity.
    pub id: JobId,
    /// Picks the handler.
    pub kind: Kind,
    /// The lane it waits in.
    pub queue: QueueName,
    /// Larger runs first.
    pub priority: i8,
    /// Order of intake.
    pub seq: u64,
    /// When it was taken in.
    pub created_at: Wall,
    /// When it may run; the later of intake and due time, so also its order of arrival.
    pub due_at: Wall,
    /// Whether it waits because an attempt failed.
    pub retrying: bool,
    /// A person asked for it to stop.
    pub cancel_wanted: bool,
    /// How its attempts stand.
    pub standing: Standing,
    /// Fence of its last ended lease.
    pub last_fence: Option<Fence>,
    /// Everything else it was submitted with.
    pub options: Arc<JobOptions>,
}

impl From<&NewJob> for LiveJob {
    fn from(new: &NewJob) -> LiveJob {
        LiveJob {
            id: new.id,
            kind: new.spec.kind.clone(),
            queue: new.spec.queue.clone(),
            priority: new.spec.priority,
            seq: new.seq,
            created_at: new.created_at,
            due_at: new.due_at,
            retrying: false,
            cancel_wanted: false,
            standing: Standing::default(),
            last_fence: None,
            options: Arc::new(new.spec.options.clone()),
        }
    }
}

/// Everything a new leader needs, read in one snapshot after its term began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Live jobs, in any order.
    pub jobs: Vec<LiveJob>,
    /// Open sessions.
    pub sessions: Vec<SessionRecord>,
    /// Assignments with at least one lease that has not ended. A lease has ended if its job is not live
    /// (no longer, or it never was) or remembers this fence, or a later one, as its last.
    pub assignments: Vec<Assignment>,
    /// Queues that were ever set.
    pub queues: Vec<(QueueName, QueueSettings)>,
    /// Kinds that were ever set.
    pub kinds: Vec<(Kind, KindSettings)>,
    /// Keys that are closed. Some of them may be open again since.
    pub closed: Vec<KeyClosure>,
    /// Marks that stand. One whose lease has ended means nothing any more.
    pub marks: Vec<(JobId, Fence)>,
    /// Schedules, and how they stand.
    pub schedules: Vec<(ScheduleRecord, crate::schedule::Standing)>,
    /// Final jobs that are kept, counted.
    pub finals: Vec<Tally>,
    /// The edges of blocked jobs.
    pub edges: Vec<Edge>,
    /// Parents of those edges that are not settled, and that are not live: how they ended. `None` if nothing is known of
    /// them any more.
    pub ended: Vec<(JobId, Option<State>)>,
    /// The largest intake sequence ever given.
    pub last_seq: u64,
}

/// A count of final jobs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tally {
    /// Their queue.
    pub queue: QueueName,
    /// Their kind.
    pub kind: Kind,
    /// Their state.
    pub state: State,
    /// How many.
    pub count: u64,
}
