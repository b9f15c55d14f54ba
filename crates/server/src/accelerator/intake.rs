//! Idempotency keys: Redis first, the ledger decides.

use std::time::Duration;

use ganger_core::change::{Idempotency, Submitted};
use ganger_core::job::JobSpec;
use ganger_store::redis::idempotency::{Begun, Claim};

use super::Accelerator;
use crate::service::{Answer, Service};

/// How long an answer is kept that the ledger gave again: it may soon forget it.
const AGAIN_KEPT: Duration = Duration::from_secs(60);

impl Accelerator {
    /// Submits under a key. Of several such requests at once one asks the ledger, and the others get its answer.
    pub(crate) async fn submit(
        &self,
        service: &Service,
        key: Idempotency,
        jobs: Vec<JobSpec>,
    ) -> Answer<Submitted> {
        match self.redis().begin(&key.scope, &key.key, &key.fingerprint).await {
            Begun::Mine(claim) => self.ask_ledger(service, claim, key, jobs).await,
            Begun::Answer(intakes) => Ok(Submitted::Replayed(intakes)),
            Begun::Other(waiting) => match self.redis().answer_of_another(&waiting).await {
                Some(intakes) => Ok(Submitted::Replayed(intakes)),
                None => service.ask_submit(Some(key), jobs).await,
            },
            Begun::Ledger => service.ask_submit(Some(key), jobs).await,
        }
    }

    async fn ask_ledger(
        &self,
        service: &Service,
        claim: Claim,
        key: Idempotency,
        jobs: Vec<JobSpec>,
    ) -> Answer<Submitted> {
        let until = key.until;
        let answer = service.ask_submit(Some(key), jobs).await;
        match &answer {
            Ok(Submitted::Accepted(intakes)) => {
                let kept = until.since(service.clock().now().wall);
                self.redis().answered(claim, intakes, kept).await;
            }
            Ok(Submitted::Replayed(intakes)) => self.redis().answered(claim, intakes, AGAIN_KEPT).await,
            Ok(Submitted::KeyReused | Submitted::NoParent(..)) | Err(_) => self.redis().give_up(claim).await,
        }
        answer
    }
}
