//! What a handler knows about its attempt, and what it can say meanwhile.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use ganger_core::message::{CancelWhy, Work};
use ganger_core::name::{Kind, QueueName};
use ganger_core::{Fence, JobId};
use ganger_proto::Trace;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::chatter::Chatter;
use crate::client::{Client, ClientError};
use crate::clock;
use crate::desk::Shared;
use crate::error::JobError;
use crate::parents::Parent;
use crate::trace;

/// One attempt, as its handler sees it. Cheap to clone and to send to other threads.
#[derive(Clone)]
pub struct Ctx(Arc<Inner>);

struct Inner {
    work: Work,
    trace: Option<Box<Trace>>,
    /// Of the trace, as text.
    traceparent: Option<String>,
    deadline: Option<Instant>,
    cancel: CancellationToken,
    why: OnceLock<CancelWhy>,
    chatter: Chatter,
    /// None in tests of handlers without a server.
    client: Option<Client>,
    /// Where marks are asked for. Weak: the desk holds the attempts that run.
    desk: OnceLock<Weak<Shared>>,
    /// Whether the mark stands, once that is answered. Made when the first is asked for: few handlers ever do.
    mark: OnceLock<watch::Sender<Option<bool>>>,
}

impl Ctx {
    pub(crate) fn new(
        work: Work,
        trace: Option<Box<Trace>>,
        bell: Arc<Notify>,
        client: Option<Client>,
    ) -> Ctx {
        let deadline = work.timeout.and_then(|timeout| clock::instant().checked_add(timeout));
        Ctx(Arc::new(Inner {
            work,
            traceparent: trace.as_ref().map(|trace| trace.context.parent.to_string()),
            trace,
            deadline,
            cancel: CancellationToken::new(),
            why: OnceLock::new(),
            chatter: Chatter::new(bell),
            client,
            desk: OnceLock::new(),
            mark: OnceLock::new(),
        }))
    }

    pub(crate) fn with_desk(self, desk: Weak<Shared>) -> Ctx {
        let _ = self.0.desk.set(desk);
        self
    }

    /// The job. The same for every attempt: a good idempotency key for effects elsewhere.
    #[must_use]
    pub fn job_id(&self) -> JobId {
        self.0.work.job
    }

    /// What sort of job it is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.0.work.kind
    }

    /// Where it waited.
    #[must_use]
    pub fn queue(&self) -> &QueueName {
        &self.0.work.queue
    }

    /// Which attempt this is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.work.attempt
    }

    /// Attempts allowed in all.
    #[must_use]
    pub fn max_attempts(&self) -> u32 {
        self.0.work.max_attempts
    }

    /// Threads granted; perhaps fewer than the job asked for.
    #[must_use]
    pub fn threads(&self) -> u16 {
        self.0.work.threads
    }

    /// Proof of the lease, which only grows from attempt to attempt: a store that remembers the
    /// largest it has seen can refuse a handler that lost its lease.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.0.work.fence
    }

    /// W3C trace context of whoever submitted the job, the same for every attempt. Where spans are collected, the
    /// handler runs in a span of its own, which is the current one of `tracing` and of OpenTelemetry.
    #[must_use]
    pub fn traceparent(&self) -> Option<&str> {
        self.0.traceparent.as_deref()
    }

    /// The `tracestate` that came with it.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.0.trace.as_ref().map(|trace| trace.context.state.as_str()).filter(|state| !state.is_empty())
    }

    /// `traceparent` and `tracestate` for what the handler calls: of its own span if there is one, else of whoever
    /// submitted the job. Call it where the handler runs. The second is empty if there is none.
    #[must_use]
    pub fn trace_to_pass_on(&self) -> Option<(String, String)> {
        let of_job = || self.0.trace.as_ref().map(|trace| trace.context.clone());
        trace::current().or_else(of_job).map(|context| (context.parent.to_string(), context.state))
    }

    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.0.trace.as_deref()
    }

    /// The jobs that this one waited for, oldest first. Asked of the server when it is called; the results of each are
    /// fetched when they are asked for.
    ///
    /// # Errors
    /// The server is away for too long.
    pub async fn parents(&self) -> Result<Vec<Parent>, ClientError> {
        match &self.0.client {
            Some(client) => client.parents(self.job_id()).await,
            None => Ok(Vec::new()),
        }
    }

    /// When the attempt runs out of time.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Time left; `None` if there is no timeout.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.0.deadline.map(|at| at.saturating_duration_since(clock::instant()))
    }

    /// Whether the handler is to stop. An error returned after that is no failure of the job.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    /// Waits until the handler is to stop.
    pub async fn cancelled(&self) {
        self.0.cancel.cancelled().await;
    }

    /// Why the handler is to stop, once it is.
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelWhy> {
        self.0.why.get().copied()
    }

    /// Does this, but no longer than until the handler is to stop.
    ///
    /// # Errors
    /// The handler was told to stop first.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, JobError> {
        tokio::select! {
            done = work => Ok(done),
            () = self.cancelled() => Err(JobError::retry("told to stop")),
        }
    }

    /// Says that this attempt is about to do what can neither be undone nor repeated, such as handing a mail to its
    /// server. When this returns, that is durable. From then on the job is not tried again by itself: unless the handler
    /// succeeds, or fails for good, the job dies with the reason `delivery unknown`, for a person to look into and
    /// replay. A handler that learns with certainty that nothing happened says so with [`Ctx::unmark_effect`], and may
    /// fail like any other.
    ///
    /// # Errors
    /// The lease is lost, or the handler is to stop: do not go on.
    pub async fn mark_effect(&self) -> Result<(), JobError> {
        self.set_mark(true).await
    }

    /// Says that what [`Ctx::mark_effect`] announced did certainly not happen.
    ///
    /// # Errors
    /// The lease is lost, or the handler is to stop.
    pub async fn unmark_effect(&self) -> Result<(), JobError> {
        self.set_mark(false).await
    }

    async fn set_mark(&self, stands: bool) -> Result<(), JobError> {
        // Without a server, in tests of handlers, there is nobody to ask.
        let Some(desk) = self.0.desk.get() else { return Ok(()) };
        let mark = self.0.mark.get_or_init(|| watch::Sender::new(None));
        let mut answer = mark.subscribe();
        mark.send_replace(None);
        let Some(desk) = desk.upgrade() else { return Err(JobError::retry("the worker is over")) };
        desk.mark(self.fence(), stands);
        drop(desk);
        let answered = self.unless_cancelled(answer.wait_for(Option::is_some)).await?;
        match answered.map(|stands| *stands) {
            Ok(Some(so)) if so == stands => Ok(()),
            Ok(_) | Err(_) => Err(JobError::retry("the lease is lost: nothing may be done under it")),
        }
    }

    pub(crate) fn marked(&self, stands: bool) {
        if let Some(mark) = self.0.mark.get() {
            mark.send_replace(Some(stands));
        }
    }

    /// How far it is, from 0 to 1, and in words. Never blocks; only the latest is sent.
    pub fn progress(&self, fraction: f32, note: impl Into<String>) {
        self.0.chatter.progress(fraction, note.into());
    }

    /// A line for the attempt's log. Never blocks; if the server cannot keep up, the oldest lines are
    /// dropped.
    pub fn log(&self, line: impl AsRef<str>) {
        self.0.chatter.log(line.as_ref());
    }

    pub(crate) fn cancel(&self, why: CancelWhy) {
        // The first reason stands.
        let _ = self.0.why.set(why);
        self.0.cancel.cancel();
    }

    pub(crate) fn work(&self) -> &Work {
        &self.0.work
    }

    pub(crate) fn chatter(&self) -> &Chatter {
        &self.0.chatter
    }

    #[cfg(test)]
    pub(crate) fn for_test(kind: &str) -> Ctx {
        Ctx::for_attempt(kind, 1)
    }

    #[cfg(test)]
    pub(crate) fn for_attempt(kind: &str, attempt: u32) -> Ctx {
        let work = Work {
            job: JobId::new(1, [7; 10]),
            fence: Fence::default(),
            attempt,
            threads: 2,
            kind: kind.parse().expect("a kind"),
            queue: QueueName::default(),
            timeout: None,
            max_attempts: 5,
        };
        Ctx::new(work, None, Arc::new(Notify::new()), None)
    }
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ctx({} attempt {})", self.job_id(), self.attempt())
    }
}
