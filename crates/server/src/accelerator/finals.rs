//! Final jobs: read from Redis where it has them, and forgotten there when they run again.

use std::time::Duration;

use ganger_core::JobId;
use ganger_store::read::StoredJob;
use ganger_store::redis::finals::{Found, TOMBSTONE, VOUCH_EVERY};

use super::Accelerator;
use crate::coordinator_thread::Phase;
use crate::service::{Answer, Service, ServiceError};

/// A replay of unknown outcome may be committed much later: until then the old end must not come back.
const LONG_TOMBSTONE: Duration = Duration::from_secs(900);

impl Accelerator {
    /// A job: from Redis if it is final and there, else from the store.
    pub(crate) async fn job(&self, service: &Service, id: JobId) -> Answer<StoredJob> {
        match self.redis().final_job(id).await {
            Found::Job(job) => Ok(*job),
            Found::Nothing(ticket) => {
                let job = service.stored(id).await?;
                if job.state.is_final() {
                    self.redis().fill(ticket, &job).await;
                }
                Ok(job)
            }
            Found::Unknown => service.stored(id).await,
        }
    }

    /// A replay was carried out, or may have been: from its answer on nobody sees the old end.
    pub(crate) async fn replayed(&self, id: JobId, answer: &Answer<()>) {
        match answer {
            Ok(()) => self.redis().forget(id, TOMBSTONE).await,
            Err(ServiceError::Unknown(_)) => self.redis().forget(id, LONG_TOMBSTONE).await,
            Err(
                ServiceError::NoSuchJob(_)
                | ServiceError::WrongState(..)
                | ServiceError::NoSuchView(_)
                | ServiceError::NoSuchOperation(_)
                | ServiceError::NoSuchFailure(_)
                | ServiceError::NoSuchWorker(_)
                | ServiceError::OperationOver(..)
                | ServiceError::Invalid(_)
                | ServiceError::Filter(..)
                | ServiceError::TooMany(..)
                | ServiceError::KeyReused
                | ServiceError::Refused(_)
                | ServiceError::Store(_)
                | ServiceError::NotReady(_),
            ) => {}
        }
    }

    /// These jobs were removed, or may have been: nobody is shown them again.
    pub(crate) async fn deleted(&self, ids: &[JobId], answer: &Answer<u64>) {
        let lasting = if answer.is_ok() { TOMBSTONE } else { LONG_TOMBSTONE };
        for id in ids {
            self.redis().forget(*id, lasting).await;
        }
    }

    /// Dead jobs were removed, nobody knows which: nothing that is kept is shown again.
    pub(crate) async fn purged(&self, service: &Service) {
        self.redis().forget_all();
        let phase = service.phase().borrow().clone();
        if let Phase::Leading(term) = phase {
            self.redis().vouch(term).await;
        }
    }
}

/// While this server leads it vouches for what is kept.
pub(super) async fn vouch(accelerator: Accelerator, service: Service) {
    let mut phase = service.phase();
    loop {
        let Ok(term) = leading(&mut phase).await else { return };
        accelerator.redis().vouch(term).await;
        // Sooner if its term is over, or another one has begun.
        if let Ok(Err(_)) = tokio::time::timeout(VOUCH_EVERY, phase.changed()).await {
            return;
        }
    }
}

/// Waits until this server leads. An error if it never will.
pub(super) async fn leading(
    phase: &mut tokio::sync::watch::Receiver<Phase>,
) -> Result<ganger_core::Term, tokio::sync::watch::error::RecvError> {
    loop {
        if let Phase::Leading(term) = &*phase.borrow_and_update() {
            return Ok(*term);
        }
        phase.changed().await?;
    }
}
