//! Taking in jobs that ask for no more than a buffer.
//!
//! What needs the ledger's word is never buffered: a request with an idempotency key, and a job with a unique key, could
//! otherwise be promised an id that turns out to be another's, and a job with parents that they are there. They are taken in durably, and their answer says so.
//!
//! If Redis does not say whether it took a job, the leader submits the same job, with the same id, under the key that
//! draining would use: whichever copy comes second is dropped by the ledger.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::job::JobSpec;
use ganger_store::redis::ingest::{BufferedJob, NotBuffered};

use super::Accelerator;
use super::drain::Settled;
use crate::service::{Answer, Service, ServiceError};
use crate::trace::Enqueue;

/// Nobody waits longer for a job that the buffer may have taken to be in the store.
const SETTLED_WITHIN: Duration = Duration::from_secs(5);

/// What became of jobs that were to be buffered.
#[derive(Debug)]
pub enum Taken {
    /// They are in the buffer, under these ids.
    Buffered(Vec<JobId>),
    /// They are in the store, under these ids.
    Durable(Vec<JobId>),
    /// They are nowhere: submit them the durable way.
    Not(Vec<JobSpec>),
}

impl Accelerator {
    /// Buffers checked jobs that came without an idempotency key.
    ///
    /// # Errors
    /// It is not known whether they were taken in.
    pub(crate) async fn buffer(&self, service: &Service, mut specs: Vec<JobSpec>) -> Answer<Taken> {
        if specs.iter().any(|spec| spec.options.unique_key.is_some() || !spec.depends_on.is_empty()) {
            return Ok(Taken::Not(specs));
        }
        // Whoever submits what is not taken here is inside it.
        let _span = Enqueue::begin(specs.iter_mut());
        let jobs: Vec<BufferedJob> =
            specs.into_iter().map(|spec| BufferedJob { id: service.next_job_id(), spec }).collect();
        let ids = jobs.iter().map(|job| job.id).collect();
        match self.redis().buffer(&jobs).await {
            Ok(()) => Ok(Taken::Buffered(ids)),
            Err(NotBuffered::Away(_)) => Ok(Taken::Not(jobs.into_iter().map(|job| job.spec).collect())),
            Err(NotBuffered::Unknown(why)) => match self.settle(service, jobs).await {
                true => Ok(Taken::Durable(ids)),
                false => Err(ServiceError::Unknown(format!("the buffer may have taken it: {why}"))),
            },
        }
    }

    /// Submits jobs that the buffer may have taken. Whether all of them are in the store.
    async fn settle(&self, service: &Service, jobs: Vec<BufferedJob>) -> bool {
        let (accelerator, service) = (self.clone(), service.clone());
        // A task of its own: that it is under way must be known until it is over, however long anyone waits for it.
        let submitting = tokio::spawn(async move { accelerator.submit_buffered(&service, &jobs).await });
        match tokio::time::timeout(SETTLED_WITHIN, submitting).await {
            Ok(Ok(settled)) => settled.iter().all(|settled| *settled == Settled::Yes),
            Ok(Err(_)) | Err(_) => false,
        }
    }
}
