//! Makes the coordinator's decisions durable, one batch after the other.
//!
//! There is never more than one batch outstanding: while it is written the next one forms in the
//! coordinator. The coordinator's thread itself waits for the store's answer beside everything else that it waits
//! for: a task in between would be two more switches of threads in the life of every job. What can go
//! wrong, and why it is harmless:
//! - *Refused.* Nothing was written. The coordinator hears it and decides what to do; nothing is tried
//!   again here.
//! - *Unknown.* The answer was lost. The same batch, with the same number, is sent until the store
//!   says yes or that the term is over, and nothing later is sent meanwhile. A number that was already applied is
//!   answered with its outcomes, so sending it again changes nothing; and a refusal proves nothing any more
//!   ([`Settling`]).
//! - *The term is over.* Another leader has begun: this one steps down.
//! - *The store panics.* As unknown: it may have happened before or after the write.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use ganger_core::change::{Applied, Batch};
use ganger_core::coordinator::port::Reconciled;
use ganger_core::leadership::{Heard, Settling, Verdict};
use ganger_core::minutes::Bucket;
use ganger_core::{Mono, Term};
use ganger_store::{CommitError, Store, StoreError};
use tokio::runtime::Handle;
use tracing::{debug, error, info, warn};

use crate::clock::Clock;
use crate::inbox::Written;
use crate::payloads::Payloads;
use crate::waiters::{Told, Waiters};

/// Wait before a batch of unknown outcome is sent again, the first time.
const SEND_AGAIN: Duration = Duration::from_millis(50);
/// Wait before a batch of unknown outcome is sent again, at the most.
const SEND_AGAIN_MAX: Duration = Duration::from_secs(1);

/// Told what happened, for metrics. Called on hot paths: must return at once.
pub trait Observer: Send + Sync + 'static {
    /// A batch of so many changes is durable.
    fn committed(&self, took: Duration, changes: usize);
    /// What it counts for.
    fn counted(&self, buckets: &[Bucket]);
    /// Memory was compared with the store.
    fn reconciled(&self, came: &Reconciled);
    /// The leader's row was renewed.
    fn renewed(&self);
}

/// Everything a writer works with.
#[derive(Clone)]
pub struct WriterParts {
    /// Where to write.
    pub store: Arc<dyn Store>,
    /// Fresh payloads are kept.
    pub payloads: Arc<Payloads>,
    /// Callers that wait for an end.
    pub waiters: Waiters,
    /// Time.
    pub clock: Clock,
    /// Since when the present batch is being written.
    pub busy: Busy,
    /// Metrics.
    pub observer: Arc<dyn Observer>,
}

/// The writer of one term. Ends when dropped: a batch that is then still on its way belongs to a term
/// that is over, and the store refuses it.
pub struct Writer {
    parts: WriterParts,
    term: Term,
    runtime: Handle,
    writing: Option<BoxFuture<'static, Settled>>,
}

/// A batch that is settled.
#[derive(Debug)]
pub struct Settled {
    /// Which.
    pub number: u64,
    /// What came of it.
    pub outcome: Written,
    /// Callers whose wait it ends. To be told after the coordinator, so that whoever acts on the end finds
    /// it there.
    pub told: Option<Told>,
}

/// Since when the present batch is being written, what keeps it, and which was the last.
#[derive(Clone, Debug, Default)]
pub struct Busy(Arc<Progress>);

#[derive(Debug, Default)]
struct Progress {
    since: AtomicU64,
    last: AtomicU64,
    trouble: Mutex<Option<String>>,
}

impl Writer {
    /// The writer of this term. What the store does meanwhile, it does on this runtime.
    #[must_use]
    pub fn new(runtime: Handle, parts: WriterParts, term: Term) -> Writer {
        // The batches of a term are numbered from one.
        parts.busy.0.last.store(0, Ordering::Relaxed);
        Writer { parts, term, runtime, writing: None }
    }

    /// Gives this batch to the store, which works on it from now on; [`Writer::settled`] waits for it. `false` if one
    /// is already being written.
    #[must_use]
    pub fn write(&mut self, batch: Arc<Batch>) -> bool {
        if self.writing.is_some() {
            return false;
        }
        let mut writing = write(self.parts.clone(), self.term, batch).boxed();
        let _there = self.runtime.enter();
        // Nobody waits yet, so nobody is to be woken: waiting asks again.
        let begun = writing.poll_unpin(&mut Context::from_waker(Waker::noop()));
        self.writing = Some(match begun {
            Poll::Ready(settled) => std::future::ready(settled).boxed(),
            Poll::Pending => writing,
        });
        true
    }

    /// Waits until the batch is settled; for ever if there is none. Giving up the future loses nothing.
    pub async fn settled(&mut self) -> Settled {
        let Some(writing) = &mut self.writing else { return std::future::pending().await };
        let runtime = &self.runtime;
        let settled = std::future::poll_fn(|context| {
            // The store's sockets and timers belong to the runtime of the server, not to that of the wait.
            let _there = runtime.enter();
            writing.poll_unpin(context)
        })
        .await;
        self.writing = None;
        settled
    }
}

impl Busy {
    /// How long the present batch has been on its way; zero if there is none.
    #[must_use]
    pub fn lasts(&self, now: Mono) -> Duration {
        match self.0.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => now.since(Mono(since)),
        }
    }

    /// The last batch of the present term that is durable; zero if there is none.
    #[must_use]
    pub fn last_batch(&self) -> u64 {
        self.0.last.load(Ordering::Relaxed)
    }

    /// A batch is on its way until the guard is dropped, also if its task is aborted.
    fn begin(&self, now: Mono) -> BusyUntilDropped<'_> {
        self.0.since.store(now.0.max(1), Ordering::Relaxed);
        BusyUntilDropped(self)
    }

    /// Why the outcome of the present batch is not known yet.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.kept_by().clone()
    }

    fn kept_by(&self) -> MutexGuard<'_, Option<String>> {
        // A panic while the lock is held leaves a whole text, never half of one.
        self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct BusyUntilDropped<'a>(&'a Busy);

impl Drop for BusyUntilDropped<'_> {
    fn drop(&mut self) {
        self.0.0.since.store(0, Ordering::Relaxed);
        *self.0.kept_by() = None;
    }
}

async fn write(parts: WriterParts, term: Term, batch: Arc<Batch>) -> Settled {
    let began = parts.clock.now().mono;
    let busy = parts.busy.begin(began);
    let outcome = write_until_settled(&parts, term, &batch).await;
    drop(busy);
    let mut told = None;
    if let Written::Durable(applied) = &outcome {
        parts.busy.0.last.store(batch.number, Ordering::Relaxed);
        parts.observer.committed(parts.clock.now().mono.since(began), batch.changes.len());
        parts.observer.counted(&batch.counted.settled(&batch.changes, applied));
        // Before the coordinator can assign them.
        parts.payloads.submitted(&batch, applied);
        parts.payloads.ended(&batch, applied);
        told = Some(parts.waiters.take(&batch, applied));
    }
    Settled { number: batch.number, outcome, told }
}

/// Sends a batch until it is settled.
async fn write_until_settled(parts: &WriterParts, term: Term, batch: &Arc<Batch>) -> Written {
    let mut pause = SEND_AGAIN;
    let mut settling = Settling::default();
    let mut well = true;
    loop {
        let answer = commit(parts, term, batch).await;
        let verdict = settling.hear(heard(&answer));
        match (verdict, answer) {
            (Verdict::Written, Ok(applied)) => {
                if !well {
                    info!(batch.number, "the store is back: batch {} is written", batch.number);
                }
                return Written::Durable(applied);
            }
            (Verdict::TermLost, _) => return Written::TermLost,
            (Verdict::NotWritten, Err(cause)) => {
                warn!(batch.number, "batch {} was not written: {cause}", batch.number);
                return Written::Refused(cause.to_string());
            }
            (Verdict::SendAgain, Err(cause)) => {
                if std::mem::take(&mut well) {
                    warn!(batch.number, "the store is away: batch {} is sent again: {cause}", batch.number);
                } else {
                    debug!(batch.number, "batch {} is sent again: {cause}", batch.number);
                }
                *parts.busy.kept_by() = Some(match cause {
                    CommitError::Unknown(cause) => cause,
                    refused @ (CommitError::Refused(_) | CommitError::TermLost) => refused.to_string(),
                });
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(SEND_AGAIN_MAX);
            }
            (Verdict::BeginAgain, Err(cause)) => return Written::InDoubt(cause.to_string()),
            // A yes is settled as written, and only a yes is.
            (Verdict::NotWritten | Verdict::SendAgain | Verdict::BeginAgain, Ok(_))
            | (Verdict::Written, Err(_)) => return Written::InDoubt("the store contradicts itself".into()),
        }
    }
}

fn heard(answer: &Result<Vec<Applied>, CommitError>) -> Heard {
    match answer {
        Ok(_) => Heard::Written,
        Err(CommitError::TermLost) => Heard::TermLost,
        Err(CommitError::Refused(StoreError::Failed(_))) => Heard::Contradicted,
        Err(CommitError::Refused(StoreError::Full(_) | StoreError::Unavailable(_))) => Heard::Refused,
        Err(CommitError::Unknown(_)) => Heard::Nothing,
    }
}

async fn commit(parts: &WriterParts, term: Term, batch: &Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
    match AssertUnwindSafe(parts.store.commit(term, batch.clone())).catch_unwind().await {
        Ok(answer) => answer,
        Err(_) => {
            error!(batch.number, "the store panicked while it wrote batch {}", batch.number);
            Err(CommitError::Unknown("the store panicked".into()))
        }
    }
}
