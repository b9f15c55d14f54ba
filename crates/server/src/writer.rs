//! Makes the coordinator's decisions durable, one batch after the other.
//!
//! While a batch is written the next one forms in the coordinator, and if it grows large it follows
//! before the first is answered, so that the store need not wait for us. The coordinator's thread itself waits for the store's answers beside everything else that it waits
//! for: a task in between would be two more switches of threads in the life of every job. What can go
//! wrong, and why it is harmless ([`Sending`]):
//! - *Refused.* Nothing was written, nor anything that was sent behind it. The coordinator hears it and decides what to
//!   do; nothing is tried again here.
//! - *Unknown.* The answer was lost. The same batch, with the same number, is sent until the store
//!   says yes or that the term is over, and nothing later is sent meanwhile. A number that was already applied is
//!   answered with its outcomes, so sending it again changes nothing; and a refusal proves nothing any more.
//! - *The term is over.* Another leader has begun: this one steps down.
//! - *The store panics.* As unknown: it may have happened before or after the write.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use ganger_core::change::{Applied, Batch};
use ganger_core::coordinator::port::Reconciled;
use ganger_core::minutes::Bucket;
use ganger_core::sending::{Sending, Verdict};
use ganger_core::{Mono, Term};
use ganger_store::{CommitError, Committed, Store, heard};
use tokio::runtime::Runtime;
use tokio::time::Sleep;
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
    runtime: Arc<Runtime>,
    /// In order.
    outstanding: VecDeque<Outstanding>,
    sending: Sending,
    trouble: Option<Trouble>,
}

/// A batch that is not settled.
struct Outstanding {
    batch: Arc<Batch>,
    /// Since when the store has nothing else to do.
    since: Mono,
    /// The copy that is under way.
    copy: Option<BoxFuture<'static, Answer>>,
    /// What was heard of the last one.
    answer: Option<Answer>,
}

/// The first batch is sent again and again.
struct Trouble {
    /// How long it waits the next time.
    pause: Duration,
    /// What it waits for now.
    until: Option<Pin<Box<Sleep>>>,
}

type Answer = Result<Vec<Applied>, CommitError>;

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
    /// The writer of this term. What the store does, it does on this runtime, which must be one that only the
    /// thread of the caller drives: its connection is served where its answers are waited for, and nobody has to be woken in between.
    #[must_use]
    pub fn new(runtime: Arc<Runtime>, parts: WriterParts, term: Term) -> Writer {
        // The batches of a term are numbered from one.
        parts.busy.0.last.store(0, Ordering::Relaxed);
        let (outstanding, sending) = (VecDeque::new(), Sending::default());
        Writer { parts, term, runtime, outstanding, sending, trouble: None }
    }

    /// Gives this batch to the store, behind those that it has; [`Writer::settled`] waits for it.
    pub fn write(&mut self, batch: Arc<Batch>) {
        let since = self.parts.clock.now().mono;
        if self.outstanding.is_empty() {
            self.parts.busy.begin(since);
        }
        self.sending.add(batch.number);
        self.outstanding.push_back(Outstanding { batch, since, copy: None, answer: None });
        if !self.is_pausing() {
            let runtime = Arc::clone(&self.runtime);
            let there = runtime.enter();
            self.send();
            drop(there);
            // It leaves at once, however long the caller takes until it waits.
            runtime.block_on(tokio::task::yield_now());
        }
    }

    /// Whether a batch is not settled.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// Waits until the first batch is settled; for ever if there is none. Giving up the future loses nothing.
    pub async fn settled(&mut self) -> Settled {
        std::future::poll_fn(|context| self.poll_settled(context)).await
    }

    fn poll_settled(&mut self, context: &mut Context<'_>) -> Poll<Settled> {
        if let Some(until) = self.trouble.as_mut().and_then(|trouble| trouble.until.as_mut()) {
            ready!(until.as_mut().poll(context));
            self.pause_is_over();
        }
        // Bounded: each round hears of a copy that was under way, or ends.
        loop {
            for outstanding in &mut self.outstanding {
                let Some(Poll::Ready(answer)) =
                    outstanding.copy.as_mut().map(|copy| copy.poll_unpin(context))
                else {
                    continue;
                };
                self.sending.hear(outstanding.batch.number, heard(&answer));
                (outstanding.copy, outstanding.answer) = (None, Some(answer));
            }
            match self.sending.verdict() {
                None => return Poll::Pending,
                Some(Verdict::SendAgain) => self.wait_to_send_again(context),
                Some(verdict) => return self.settle(verdict).map_or(Poll::Pending, Poll::Ready),
            }
            if self.is_pausing() {
                return Poll::Pending;
            }
        }
    }

    /// Gives the store what it may have.
    fn send(&mut self) {
        while let Some(number) = self.sending.send() {
            let Some(outstanding) = self.outstanding.iter_mut().find(|o| o.batch.number == number) else {
                return;
            };
            let mut copy = commit(self.parts.clone(), self.term, outstanding.batch.clone()).boxed();
            // Nobody waits yet, so nobody is to be woken: waiting asks again.
            outstanding.copy = Some(match copy.poll_unpin(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(answer) => std::future::ready(answer).boxed(),
                Poll::Pending => copy,
            });
        }
    }

    /// What is to be told of the first batch.
    fn settle(&mut self, verdict: Verdict) -> Option<Settled> {
        let Outstanding { batch, since, answer, .. } = self.outstanding.pop_front()?;
        let number = batch.number;
        let now = self.parts.clock.now().mono;
        let (outcome, told) = match (verdict, answer) {
            (Verdict::Written, Some(Ok(applied))) => {
                if self.trouble.take().is_some() {
                    info!(number, "the store is back: batch {number} is written");
                }
                let told = self.parts.written(&batch, &applied, now.since(since));
                (Written::Durable(applied), Some(told))
            }
            (Verdict::TermLost, _) => (Written::TermLost, None),
            (Verdict::NotWritten, Some(Err(cause))) => {
                warn!(number, "batch {number} was not written: {cause}");
                self.outstanding.clear();
                (Written::Refused(cause.to_string()), None)
            }
            (Verdict::BeginAgain, Some(Err(cause))) => (Written::InDoubt(cause.to_string()), None),
            // A yes is settled as written, and only a yes is.
            (Verdict::Written | Verdict::NotWritten | Verdict::BeginAgain | Verdict::SendAgain, _) => {
                (Written::InDoubt("the store contradicts itself".into()), None)
            }
        };
        match self.outstanding.front_mut() {
            // The store had the one before to do.
            Some(next) => {
                next.since = now;
                self.parts.busy.begin(now);
            }
            None => self.parts.busy.end(),
        }
        self.send();
        Some(Settled { number, outcome, told })
    }

    /// The outcome of a batch is unknown: it waits before it is sent again.
    fn wait_to_send_again(&mut self, context: &mut Context<'_>) {
        let cause = match self.outstanding.iter().find_map(|o| o.answer.as_ref()?.as_ref().err()) {
            Some(CommitError::Unknown(cause)) => cause.clone(),
            Some(refused @ (CommitError::Refused(_) | CommitError::TermLost)) => refused.to_string(),
            None => "a later batch was heard of first".to_owned(),
        };
        let number = self.outstanding.front().map_or(0, |first| first.batch.number);
        let pause = match &self.trouble {
            None => {
                warn!(number, "the store is away: batch {number} is sent again: {cause}");
                SEND_AGAIN
            }
            Some(trouble) => {
                debug!(number, "batch {number} is sent again: {cause}");
                trouble.pause
            }
        };
        *self.parts.busy.kept_by() = Some(cause);
        let mut until = Box::pin(tokio::time::sleep(pause));
        // So that whoever waits is woken.
        let over = until.as_mut().poll(context).is_ready();
        self.trouble = Some(Trouble { pause: (pause * 2).min(SEND_AGAIN_MAX), until: Some(until) });
        if over {
            self.pause_is_over();
        }
    }

    fn is_pausing(&self) -> bool {
        self.trouble.as_ref().is_some_and(|trouble| trouble.until.is_some())
    }

    fn pause_is_over(&mut self) {
        if let Some(trouble) = &mut self.trouble {
            trouble.until = None;
        }
        self.send();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.parts.busy.end();
    }
}

impl WriterParts {
    /// A batch is durable: who is to be told, once the coordinator was.
    fn written(&self, batch: &Batch, applied: &[Applied], took: Duration) -> Told {
        self.busy.0.last.store(batch.number, Ordering::Relaxed);
        self.observer.committed(took, batch.changes.len());
        self.observer.counted(&batch.counted.settled(&batch.changes, applied));
        // Before the coordinator can assign them.
        self.payloads.submitted(batch, applied);
        self.payloads.ended(batch, applied);
        self.waiters.take(batch, applied)
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

    /// A batch is on its way from now on.
    fn begin(&self, now: Mono) {
        self.0.since.store(now.0.max(1), Ordering::Relaxed);
        *self.kept_by() = None;
    }

    /// None is.
    fn end(&self) {
        self.0.since.store(0, Ordering::Relaxed);
        *self.kept_by() = None;
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

async fn commit(parts: WriterParts, term: Term, batch: Arc<Batch>) -> Answer {
    let wanted = || parts.payloads.wanted(&batch);
    let commit = parts.store.commit_and_bring(term, batch.clone(), &wanted);
    match AssertUnwindSafe(commit).catch_unwind().await {
        Ok(answer) => answer.map(|Committed { applied, payloads }| {
            parts.payloads.brought(payloads);
            applied
        }),
        Err(_) => {
            error!(batch.number, "the store panicked while it wrote batch {}", batch.number);
            Err(CommitError::Unknown("the store panicked".into()))
        }
    }
}
