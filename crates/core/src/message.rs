//! What a worker and the leader say to each other, on one ordered stream.
//!
//! The wire form is in `proto`; payloads travel beside [`Work`] and are none of the protocol's
//! business.

use std::time::Duration;

use crate::change::WorkerInfo;
use crate::ids::{JobId, SessionId};
use crate::lease::{Fence, Term};
use crate::name::{Kind, QueueName};
use crate::outcome::Report;

/// From a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum ToLeader {
    /// First on every stream.
    Hello(Hello),
    /// A sign of life for the session and all its leases.
    Ping {
        /// Counts up within the session, so that an answer names what it answers.
        number: u64,
    },
    /// Attempts that are over on the worker's side. Sent again until acknowledged.
    Results(Vec<AttemptReport>),
    /// How far a handler is.
    Progress {
        /// The job.
        job: JobId,
        /// Its lease.
        fence: Fence,
        /// From 0 to 1.
        fraction: f32,
        /// In words.
        note: String,
    },
    /// What a handler logged: whole lines.
    Log {
        /// The job.
        job: JobId,
        /// Its lease.
        fence: Fence,
        /// Whole lines, each ending in a newline.
        text: String,
    },
    /// A handler is about to do what cannot be undone or repeated (or, if not `stands`, is certain that it did not
    /// happen). Sent again on every stream until it is answered with [`ToWorker::Marked`].
    Mark {
        /// The job.
        job: JobId,
        /// Its lease.
        fence: Fence,
        /// Whether the mark is to stand.
        stands: bool,
    },
    /// It takes nothing new and finishes what it holds.
    Drain,
    /// It holds nothing any more and ends its session.
    Goodbye,
}

/// Who a worker is.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    /// This life of the worker process.
    pub session: SessionId,
    /// Grows with every stream of the session.
    pub stream: u64,
    /// What it says about itself.
    pub worker: WorkerInfo,
    /// The highest term it has accepted; zero if none.
    pub highest: Term,
    /// It takes nothing new.
    pub draining: bool,
}

/// An attempt that is over on the worker's side.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptReport {
    /// The job.
    pub job: JobId,
    /// The lease under which it ran.
    pub fence: Fence,
    /// What came of it.
    pub report: Report,
    /// How long its handler ran.
    pub ran: Duration,
}

/// To a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum ToWorker {
    /// Answers a hello.
    Welcome {
        /// The leader's term.
        term: Term,
        /// How long the session lasts without an answered sign of life.
        ttl: Duration,
    },
    /// Answers a ping.
    Pong {
        /// Which.
        number: u64,
    },
    /// Leases, in the order of their fences.
    Assign(Vec<Work>),
    /// These results are recorded, or will never be: forget them.
    Ack(Vec<Fence>),
    /// Stop this one.
    Cancel {
        /// The job.
        job: JobId,
        /// Its lease.
        fence: Fence,
        /// Why.
        why: CancelWhy,
    },
    /// Answers a [`ToLeader::Mark`]: so it is durable. A mark that was asked for and does not stand was refused.
    Marked {
        /// The lease.
        fence: Fence,
        /// Whether the mark stands now.
        stands: bool,
    },
    /// Take nothing new, finish what you hold.
    Drain,
    /// The session is closed for ever.
    Gone,
}

/// A lease as its worker hears of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The job.
    pub job: JobId,
    /// Proof of the lease.
    pub fence: Fence,
    /// Which attempt this is.
    pub attempt: u32,
    /// Threads granted.
    pub threads: u16,
    /// Picks the handler.
    pub kind: Kind,
    /// Where it waited.
    pub queue: QueueName,
    /// Longest run.
    pub timeout: Option<Duration>,
    /// Attempts allowed in all.
    pub max_attempts: u32,
}

/// Why a handler is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CancelWhy {
    /// A person cancelled the job.
    Cancelled,
    /// It ran longer than its timeout.
    Timeout,
    /// The worker lost touch with the leader for too long.
    Lapsed,
    /// The session is gone, and the lease with it.
    LeaseLost,
    /// The worker is stopping.
    Draining,
}
