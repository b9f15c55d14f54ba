//! A job's name and types, shared by who enqueues it and who handles it.

use std::marker::PhantomData;
use std::time::Duration;

use ganger_core::job::JobSpec;
use ganger_core::name::{Kind, NameError};

/// A kind of job with the types of its payload and its result, and the defaults of its jobs. A
/// constant, without macros:
///
/// ```
/// # use std::time::Duration;
/// # use ganger_worker::Job;
/// # struct SendEmail; struct Receipt;
/// pub const SEND_EMAIL: Job<SendEmail, Receipt> =
///     Job::new("email.send").queue("mail").max_attempts(8).timeout(Duration::from_secs(30));
/// ```
pub struct Job<P, R> {
    kind: &'static str,
    queue: &'static str,
    priority: i8,
    threads: u16,
    max_attempts: Option<u32>,
    timeout: Option<Duration>,
    types: PhantomData<fn(P) -> R>,
}

impl<P, R> Job<P, R> {
    /// A job of this kind, in the queue `default`, with the server's defaults.
    #[must_use]
    pub const fn new(kind: &'static str) -> Job<P, R> {
        Job {
            kind,
            queue: "default",
            priority: 0,
            threads: 1,
            max_attempts: None,
            timeout: None,
            types: PhantomData,
        }
    }

    /// The queue its jobs wait in.
    #[must_use]
    pub const fn queue(mut self, queue: &'static str) -> Job<P, R> {
        self.queue = queue;
        self
    }

    /// Larger runs first.
    #[must_use]
    pub const fn priority(mut self, priority: i8) -> Job<P, R> {
        self.priority = priority;
        self
    }

    /// Threads it wants, all or none.
    #[must_use]
    pub const fn threads(mut self, threads: u16) -> Job<P, R> {
        self.threads = threads;
        self
    }

    /// Attempts allowed in all, the first included.
    #[must_use]
    pub const fn max_attempts(mut self, attempts: u32) -> Job<P, R> {
        self.max_attempts = Some(attempts);
        self
    }

    /// Longest run of one attempt.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Job<P, R> {
        self.timeout = Some(timeout);
        self
    }

    /// Its kind, as text.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// What a submission of it says, but for the payload.
    pub(crate) fn spec(&self) -> Result<JobSpec, (&'static str, &'static str, NameError)> {
        let kind: Kind = self.kind.parse().map_err(|e| ("kind", self.kind, e))?;
        let mut spec = JobSpec::new(kind);
        spec.queue = self.queue.parse().map_err(|e| ("queue", self.queue, e))?;
        spec.priority = self.priority;
        spec.options.threads = self.threads;
        if let Some(attempts) = self.max_attempts {
            spec.options.max_attempts = attempts;
        }
        if let Some(timeout) = self.timeout {
            spec.options.timeout = Some(timeout);
        }
        Ok(spec)
    }
}

// Derived ones would ask the same of the payload and the result.
impl<P, R> Clone for Job<P, R> {
    fn clone(&self) -> Job<P, R> {
        *self
    }
}
impl<P, R> Copy for Job<P, R> {}

impl<P, R> std::fmt::Debug for Job<P, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Job({} in {})", self.kind, self.queue)
    }
}
