//! What the server can do, for every door: REST, gRPC and the CLI's embedded use go through here.
//!
//! Writes go through the coordinator and are answered after the commit. Jobs are read from the store,
//! so whoever was answered finds what was written. Every wait is bounded: a call whose answer does not
//! come says that the outcome is unknown, and never yes.

mod access;
mod ask;
mod audit;
mod cluster;
mod documents;
mod doors;
mod error;
mod failing;
mod failures;
mod histogram;
mod job_events;
mod limits;
mod listening;
mod operations;
mod related;
mod run;
mod scaling;
mod schedules;
mod search;
mod settings;
mod statistics;
mod system;
mod tokens;
mod told;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ganger_core::change::{AttemptRecord, Idempotency, Submitted};
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::Refusal;
use ganger_core::coordinator::view::{Explanation, QueueView, Stats, WorkerView};
use ganger_core::job::JobSpec;
use ganger_core::name::QueueName;
use ganger_core::queue::QueueSettings;
use ganger_core::{JobId, SessionId, redact};
use ganger_store::Store;
use ganger_store::read::{ListQuery, Page, StoredJob};
use tokio::sync::{broadcast, watch};

use crate::about::About;
use crate::accelerator::Accelerator;
use crate::auth::Auth;
use crate::clock::Clock;
use crate::cluster::Membership;
use crate::coordinator_thread::Phase;
use crate::gateway::Gateway;
use crate::ids::JobIds;
use crate::inbox::Inbox;
use crate::operations::Operations;
use crate::trace::Enqueue;
use crate::waiters::Waiters;
use crate::writer::Busy;

pub use access::{LoggedIn, UserChange};
pub use cluster::{ClusterSeen, Role, role};
pub use documents::View;
pub use error::{Answer, ServiceError};
pub use failing::FailingLately;
pub use failures::{FAILURES_WINDOW, FailuresSeen, NO_WINDOW, Recent};
pub use histogram::{Bucket, Histogram};
pub use job_events::{Happened, What};
pub use limits::{ClosedFor, check_key};
pub use operations::{Begun, NewOperation, NewTarget, Preview, Started};
pub use related::{RELATED_MAX, RelatedJobs};
pub use run::Run;
pub use scaling::{QueueScaling, bounds};
pub use schedules::{Backfilled, SchedulePage, ScheduleSet, UPCOMING_DEFAULT};
pub use search::{Pages, Survey};
pub use system::SystemSeen;
pub use tokens::NewToken;

/// The longest that [`Service::wait`] waits.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// A cheap handle on the running server.
#[derive(Clone)]
pub struct Service(Arc<Parts>);

/// What a service is made of.
pub struct Parts {
    /// Where jobs are.
    pub store: Arc<dyn Store>,
    /// The way to the coordinator.
    pub inbox: Inbox,
    /// The streams of workers.
    pub gateway: Gateway,
    /// Time.
    pub clock: Clock,
    /// Makes the ids of jobs.
    pub ids: JobIds,
    /// Callers that wait for an end.
    pub waiters: Waiters,
    /// Since when the present batch is being written.
    pub busy: Busy,
    /// Its place among the other servers.
    pub membership: Membership,
    /// What the coordinator's thread is doing.
    pub phase: watch::Receiver<Phase>,
    /// Whether the server is stopping.
    pub stopping: watch::Receiver<bool>,
    /// Where to listen.
    pub events: broadcast::WeakSender<Arc<Run>>,
    /// Dead jobs removed by one step of a purge.
    pub purge_step: usize,
    /// Changes that may wait to be written; beyond, submissions are refused.
    pub backlog: usize,
    /// Number of the next stream that this server opens on behalf of a client.
    pub streams: AtomicU64,
    /// Redis, if there is one.
    pub accelerator: Option<Accelerator>,
    /// Bulk operations, while this server leads.
    pub operations: Operations,
    /// What failed lately, as it was read last.
    pub failing: FailingLately,
    /// Settings are read, changed and written: by one at a time.
    pub changes: tokio::sync::Mutex<()>,
    /// Who is let in.
    pub auth: Auth,
    /// Only programs of this machine reach it.
    pub loopback: bool,
    /// What it tells people about itself.
    pub about: About,
}

/// A job with what only the leader knows.
#[derive(Clone, Debug)]
pub struct JobView {
    /// As stored.
    pub stored: StoredJob,
    /// How far its handler said it is.
    pub progress: Option<(f32, String)>,
    /// Name of the worker that runs it.
    pub worker: Option<String>,
}

/// What came of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It never starts again.
    AtOnce,
    /// Its worker was told to stop.
    Requested,
}

/// One check of `/readyz`.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// Why it is not well; `None` if it is.
    pub trouble: Option<String>,
    /// Detail for people.
    pub detail: String,
    /// A promise that may be broken although it is well.
    pub warning: Option<String>,
}

/// Where the server stands, for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingNow {
    /// It leads.
    pub leads: bool,
    /// The term in which it leads or follows; zero if it does neither.
    pub term: u64,
    /// The store answers.
    pub store_up: bool,
}

impl Service {
    /// A handle on these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Service {
        Service(Arc::new(parts))
    }

    /// Takes in checked jobs. Ids are chosen here. The answer comes after the commit.
    ///
    /// # Errors
    /// A queue drains, the store refuses, too much waits, or the answer does not come in time.
    pub async fn submit(
        &self,
        idempotency: Option<Idempotency>,
        mut jobs: Vec<JobSpec>,
    ) -> Answer<Submitted> {
        let span = Enqueue::begin(jobs.iter_mut());
        let answer = match (&self.0.accelerator, idempotency) {
            (Some(accelerator), Some(key)) => accelerator.submit(self, key, jobs).await,
            (_, idempotency) => self.ask_submit(idempotency, jobs).await,
        };
        span.answered(&answer);
        answer
    }

    /// A job, live or final.
    ///
    /// # Errors
    /// There is no such job, or the store cannot be read.
    pub async fn job(&self, id: JobId) -> Answer<JobView> {
        let stored = match &self.0.accelerator {
            Some(accelerator) => accelerator.job(self, id).await?,
            None => self.stored(id).await?,
        };
        // Only the leader knows, and a busy one need not be asked: the job itself is in the store.
        let known = match stored.lease {
            Some(lease) => {
                let look =
                    self.look(move |c, _| (c.progress(id), c.worker_name(lease.session).map(Into::into)));
                look.await.ok()
            }
            None => None,
        };
        let (progress, worker) = known.unwrap_or_default();
        Ok(JobView { stored, progress, worker })
    }

    /// A job, once it is final or `wait` (at most a minute) has passed.
    ///
    /// # Errors
    /// There is no such job, the store cannot be read, or too many callers wait.
    pub async fn wait(&self, id: JobId, wait: Duration) -> Answer<JobView> {
        // Before the first look: an end between the two is not missed.
        let mut waiting = self.0.waiters.wait_for(id).ok_or(Refusal::Overloaded)?;
        let before = self.job(id).await?;
        if before.stored.state.is_final() || wait.is_zero() {
            return Ok(before);
        }
        let mut stopping = self.0.stopping.clone();
        let ended = tokio::select! {
            ended = waiting.ended() => ended,
            () = tokio::time::sleep(wait.min(WAIT_MAX)) => None,
            _ = stopping.wait_for(|stopping| *stopping) => None,
        };
        match (self.job(id).await, ended) {
            // Its queue keeps no history: what was seen of it is all there will ever be.
            (Err(ServiceError::NoSuchJob(_)), Some(end)) => {
                let stored = StoredJob { state: end.state, lease: None, end: Some(end), ..before.stored };
                Ok(JobView { stored, progress: None, worker: None })
            }
            (view, _) => view,
        }
    }

    /// One page of jobs. A filter is made as narrow as an index can be.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn list(&self, query: ListQuery) -> Answer<Page> {
        self.search(query).await
    }

    /// The names of the workers that run these jobs, as far as the leader can tell.
    pub async fn names_of_workers(&self, jobs: &[StoredJob]) -> HashMap<SessionId, String> {
        let sessions: HashSet<SessionId> = jobs.iter().filter_map(|j| j.lease).map(|l| l.session).collect();
        if sessions.is_empty() {
            return HashMap::new();
        }
        let name = |c: &Coordinator, session| Some((session, c.worker_name(session)?.to_owned()));
        self.look(move |c, _| sessions.into_iter().filter_map(|s| name(c, s)).collect())
            .await
            .unwrap_or_default()
    }

    /// Stops a job.
    ///
    /// # Errors
    /// There is no such job, it is final, or the write fails.
    pub async fn cancel(&self, id: JobId) -> Answer<Cancelled> {
        self.ask_cancel(id).await
    }

    /// Runs a final job again.
    ///
    /// # Errors
    /// There is no such job, it is live, its unique key is held, or the write fails.
    pub async fn replay(&self, id: JobId) -> Answer<()> {
        let answer = self.ask_replay(id).await;
        if let Some(accelerator) = &self.0.accelerator {
            accelerator.replayed(id, &answer).await;
        }
        answer
    }

    /// Makes a waiting job due.
    ///
    /// # Errors
    /// There is no such job, it does not wait, or the write fails.
    pub async fn run_now(&self, id: JobId) -> Answer<()> {
        self.ask_run_now(id).await
    }

    /// Every recorded attempt.
    ///
    /// # Errors
    /// There is no such job, or the store cannot be read.
    pub async fn attempts(&self, id: JobId) -> Answer<Vec<AttemptRecord>> {
        let attempts = self.0.store.attempts(id).await?;
        if attempts.is_empty() {
            self.stored(id).await?;
        }
        Ok(attempts)
    }

    /// What an attempt logged, and which it was: the last or present one unless told otherwise.
    ///
    /// # Errors
    /// There is no such job, or the store cannot be read.
    pub async fn logs(&self, id: JobId, attempt: Option<u32>) -> Answer<(u32, String)> {
        let attempt = match attempt {
            Some(attempt) => attempt,
            None => {
                let stored = self.job(id).await?.stored;
                stored.lease.map_or(stored.standing.attempt, |lease| lease.attempt)
            }
        };
        let text = if attempt == 0 { String::new() } else { self.log(id, attempt).await? };
        Ok((attempt, text))
    }

    /// What an attempt logged.
    ///
    /// # Errors
    /// There is no such job, or the store cannot be read.
    pub async fn log(&self, id: JobId, attempt: u32) -> Answer<String> {
        let text = self.0.store.log(id, attempt).await?;
        if text.is_empty() {
            self.stored(id).await?;
        }
        // Each message was looked at when it came; a secret may be split over two.
        Ok(redact::text(&text).into_owned())
    }

    /// Why a job is, or is not, running.
    ///
    /// # Errors
    /// There is no such job, or there is no leader.
    pub async fn explain(&self, id: JobId) -> Answer<Explanation> {
        match self.look(move |c, now| c.explain(id, now)).await? {
            Some(explanation) => Ok(explanation),
            None => Ok(told::how_it_ended(self.stored(id).await?)),
        }
    }

    /// Every queue that was ever set or holds a job.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn queues(&self) -> Answer<Vec<QueueView>> {
        self.look(|c, now| c.queues(now)).await
    }

    /// One queue; a queue that was never used has the default settings.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn queue(&self, name: QueueName) -> Answer<QueueView> {
        self.look(move |c, now| c.queue(&name, now)).await
    }

    /// Replaces a queue's settings.
    ///
    /// # Errors
    /// The write fails.
    pub async fn put_queue(&self, name: QueueName, settings: QueueSettings) -> Answer<QueueSettings> {
        self.ask_put_queue(name, settings).await
    }

    /// Removes the dead jobs of a queue; returns how many.
    ///
    /// # Errors
    /// The write fails; what was removed until then is gone.
    pub async fn purge_dead(&self, name: QueueName) -> Answer<u64> {
        let answer = self.ask_purge_dead(name).await;
        if let Some(accelerator) = &self.0.accelerator {
            accelerator.purged(self).await;
        }
        answer
    }

    /// Every worker, lost ones of the last hour included.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn workers(&self) -> Answer<Vec<WorkerView>> {
        self.look(|c, now| c.workers(now)).await
    }

    /// One worker.
    ///
    /// # Errors
    /// There is no such worker, or there is no leader.
    pub async fn worker(&self, id: SessionId) -> Answer<WorkerView> {
        let found = self.workers().await?.into_iter().find(|worker| worker.session == id);
        found.ok_or(ServiceError::NoSuchWorker(id))
    }

    /// Tells a worker to take nothing new.
    ///
    /// # Errors
    /// There is no such worker, or there is no leader.
    pub async fn drain_worker(&self, id: SessionId) -> Answer<WorkerView> {
        self.ask_drain_worker(id).await?;
        self.worker(id).await
    }

    /// The whole, in numbers.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn stats(&self) -> Answer<Stats> {
        self.look(|c, _| c.stats()).await
    }

    /// The checks of `/readyz`.
    pub async fn readiness(&self) -> Vec<Check> {
        self.checks().await
    }
}

/// For the other doors of this crate.
impl Service {
    /// The way to the coordinator.
    #[must_use]
    pub fn inbox(&self) -> &Inbox {
        &self.0.inbox
    }

    /// The streams of workers.
    #[must_use]
    pub fn gateway(&self) -> &Gateway {
        &self.0.gateway
    }

    /// Time.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// A number for a stream that this server opens on behalf of a client, larger than any before. A
    /// leader remembers the streams of its own term only, and a term ends with its process.
    #[must_use]
    pub fn next_stream(&self) -> u64 {
        self.0.streams.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Resolves when the server begins to stop.
    pub async fn stopping(&self) {
        // An error means that the server is gone altogether.
        let _ = self.0.stopping.clone().wait_for(|stopping| *stopping).await;
    }

    /// Redis, if there is one.
    #[must_use]
    pub fn accelerator(&self) -> Option<&Accelerator> {
        self.0.accelerator.as_ref()
    }

    /// An id for a job that is submitted by another way than [`Service::submit`].
    pub(crate) fn next_job_id(&self) -> JobId {
        self.0.ids.next(self.0.clock.now().wall)
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("phase", &*self.0.phase.borrow()).finish_non_exhaustive()
    }
}
