//! Draining the buffer into the store, while this server leads.
//!
//! Each job is submitted under an idempotency key made of its id, and leaves the buffer after its commit. The same job
//! may be seen again: its leader died before it could say so, or its submitter was not told and submitted it itself. An id
//! must not be submitted while it exists, or while the same id is on its way, for the store would take that for a
//! mistake of the leader; so the store is asked first, and what is on its way is left for later. What remains, a job that
//! came and went without a trace, is the ledger's to drop.

use std::collections::HashSet;
use std::time::Duration;

use ganger_core::change::{Idempotency, NewJob, Submitted};
use ganger_core::coordinator::port::{Ask, Reply};
use ganger_core::{JobId, Wall, limits};
use ganger_store::redis::ingest::{BufferedJob, Consumer, DRAIN_JOBS, Entry, NotBuffered};
use tokio::sync::oneshot;
use tracing::{debug, warn};

use super::Accelerator;
use super::finals::leading;
use crate::coordinator_thread::Phase;
use crate::inbox::Answered;
use crate::service::Service;

/// Wait before another attempt, after something failed or could not be taken in.
const AGAIN: Duration = Duration::from_secs(1);
/// Wait after a batch that was not full: one by one, each job would cost a commit of its own, and Redis two more writes. What comes
/// meanwhile is one batch.
const GATHER: Duration = Duration::from_millis(20);
/// What an earlier leader left is looked for after so many batches at the latest.
const LOOK_BACK: usize = 16;
/// The callers whose idempotency keys these are.
const SCOPE: &str = "ingest";

/// Whether a buffered job needs no more attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// It is in the store, or was.
    Yes,
    /// It is not, or nobody knows.
    No,
}

/// Runs as long as the server does.
pub(super) async fn drain(accelerator: Accelerator, service: Service) {
    let mut phase = service.phase();
    while leading(&mut phase).await.is_ok() {
        let mut until = phase.clone();
        tokio::select! {
            ended = drain_while_leading(&accelerator, &service) => {
                if let Err(error) = ended {
                    debug!("stopped draining the buffer: {error}");
                }
            }
            _ = until.wait_for(|phase| !matches!(phase, Phase::Leading(_))) => {}
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn drain_while_leading(accelerator: &Accelerator, service: &Service) -> Result<(), NotBuffered> {
    let Some(mut consumer) = accelerator.redis().consume().await else { return Ok(()) };
    // Whatever was given to a leader before this one is this one's now.
    take_in(accelerator, service, &mut consumer, Which::Left).await?;
    while !consumer.has_seen_all() {
        take_in(accelerator, service, &mut consumer, Which::Left).await?;
    }
    let mut batches = 0;
    loop {
        batches += 1;
        let found = take_in(accelerator, service, &mut consumer, Which::New).await?;
        if found == 0 || batches % LOOK_BACK == 0 {
            take_in(accelerator, service, &mut consumer, Which::Unsettled).await?;
        }
        if (1..DRAIN_JOBS).contains(&found) {
            tokio::time::sleep(GATHER).await;
        }
    }
}

/// Which entries of the buffer.
enum Which {
    Left,
    Unsettled,
    New,
}

/// Takes in one batch. How many jobs were in it.
async fn take_in(
    accelerator: &Accelerator,
    service: &Service,
    consumer: &mut Consumer,
    which: Which,
) -> Result<usize, NotBuffered> {
    let entries = match which {
        Which::Left => consumer.unsettled(true).await?,
        Which::Unsettled => consumer.unsettled(false).await?,
        Which::New => consumer.next().await?,
    };
    if entries.is_empty() {
        return Ok(0);
    }
    let jobs: Vec<BufferedJob> = entries.iter().map(|entry| entry.job.clone()).collect();
    let settled = accelerator.submit_buffered(service, &jobs).await;
    let count = entries.len();
    let done: Vec<Entry> = entries
        .into_iter()
        .zip(settled)
        .filter(|(_, s)| *s == Settled::Yes)
        .map(|(entry, _)| entry)
        .collect();
    consumer.settle(&done).await?;
    if done.len() < count {
        // They stay in the buffer, and are looked at again later.
        warn!("{} buffered jobs could not be taken in now", count - done.len());
        tokio::time::sleep(AGAIN).await;
    }
    Ok(count)
}

impl Accelerator {
    /// Submits buffered jobs, each under its own key, and waits for their commits.
    pub(super) async fn submit_buffered(&self, service: &Service, jobs: &[BufferedJob]) -> Vec<Settled> {
        // Before the look at the store: what is on its way now may be there by then.
        let mine = Submitting::begin(self, jobs.iter().map(|job| job.id));
        let ids: Vec<JobId> = mine.0.iter().copied().collect();
        let Ok(there) = service.exist(&ids).await else { return vec![Settled::No; jobs.len()] };
        let now = service.clock().now().wall;
        let asked: Vec<Asked> = jobs
            .iter()
            .map(|job| match job {
                job if there.contains(&job.id) => Asked::Settled(Settled::Yes),
                job if !mine.0.contains(&job.id) => Asked::Settled(Settled::No),
                job => ask(service, job, now),
            })
            .collect();
        let mut settled = Vec::with_capacity(asked.len());
        for asked in asked {
            settled.push(match asked {
                Asked::Settled(settled) => settled,
                // Without a bound of its own: the leader that was asked answers, or ends.
                Asked::Waiting(reply) => match reply.await {
                    Ok(Ok(reply)) => answered(&reply),
                    Ok(Err(_)) | Err(_) => Settled::No,
                },
            });
        }
        settled
    }
}

enum Asked {
    Settled(Settled),
    Waiting(oneshot::Receiver<Answered>),
}

fn ask(service: &Service, job: &BufferedJob, now: Wall) -> Asked {
    let idempotency = Idempotency {
        scope: SCOPE.into(),
        key: job.id.to_string(),
        // The id stands for one job only.
        fingerprint: [0; 32],
        until: now + limits::IDEMPOTENCY_KEPT,
    };
    let new = NewJob {
        id: job.id,
        seq: 0,
        created_at: Wall::default(),
        due_at: Wall::default(),
        spec: job.spec.clone(),
    };
    let asked = service.inbox().ask(Ask::Submit { idempotency: Some(idempotency), jobs: vec![new] });
    asked.map_or(Asked::Settled(Settled::No), Asked::Waiting)
}

fn answered(reply: &Reply) -> Settled {
    match reply {
        // What has parents is never buffered.
        Reply::Submitted(
            Submitted::Accepted(_) | Submitted::Replayed(_) | Submitted::KeyReused | Submitted::NoParent(..),
        ) => Settled::Yes,
        Reply::Refused(refusal) => {
            debug!("a buffered job was not taken in: {refusal}");
            Settled::No
        }
        Reply::Cancelled
        | Reply::CancelRequested
        | Reply::Due
        | Reply::Replayed
        | Reply::Queue(_)
        | Reply::Purged(_)
        | Reply::Draining
        | Reply::Kind(_)
        | Reply::KeySet(_)
        | Reply::TakenIn
        | Reply::Documented
        | Reply::Schedule(_) => Settled::No,
    }
}

/// Ids that are being submitted by whoever holds this, and by nobody else.
struct Submitting<'a>(HashSet<JobId>, &'a Accelerator);

impl<'a> Submitting<'a> {
    /// Those of the ids that nobody else is submitting.
    fn begin(accelerator: &'a Accelerator, ids: impl Iterator<Item = JobId>) -> Submitting<'a> {
        let mut all = accelerator.submitting();
        Submitting(ids.filter(|id| all.insert(*id)).collect(), accelerator)
    }
}

impl Drop for Submitting<'_> {
    fn drop(&mut self) {
        let mut all = self.1.submitting();
        for id in &self.0 {
            all.remove(id);
        }
    }
}
