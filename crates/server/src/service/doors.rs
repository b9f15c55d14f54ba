//! What the server tells about itself, heads of queues, kinds, and jobs that users' transactions submitted inside the store.

use ganger_core::JobId;
use ganger_core::coordinator::port::{Ask, InboxJob, Reply};
use ganger_core::coordinator::view::QueueHead;
use ganger_core::job::State;
use ganger_core::kind::KindSettings;
use ganger_core::name::{Kind, QueueName};

use super::ask::misplaced;
use super::{Answer, Service, ServiceError};
use crate::about::About;
use crate::trace::Enqueue;

impl Service {
    /// What whoever started it knows about it.
    #[must_use]
    pub fn about(&self) -> &About {
        &self.0.about
    }

    /// The next jobs of a queue, at most so many, and what holds each of them back.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn head(&self, queue: QueueName, limit: usize) -> Answer<QueueHead> {
        self.look(move |c, now| c.head(&queue, limit, now)).await
    }

    /// Where these jobs are now; nothing of those that are not kept any more.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn states(&self, jobs: &[JobId]) -> Answer<Vec<(JobId, Option<State>)>> {
        let mut states = Vec::with_capacity(jobs.len());
        for id in jobs {
            match self.job(*id).await {
                Ok(view) => states.push((*id, Some(view.stored.state))),
                Err(ServiceError::NoSuchJob(_)) => states.push((*id, None)),
                Err(error) => return Err(error),
            }
        }
        Ok(states)
    }

    /// Every kind that was ever set, by name.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn kinds(&self) -> Answer<Vec<(Kind, KindSettings)>> {
        self.look(|c, _| c.kinds()).await
    }

    /// The settings of a kind; one that was never set has the default ones.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn kind(&self, kind: Kind) -> Answer<KindSettings> {
        self.look(move |c, _| c.kind(&kind)).await
    }

    /// Whether a connected worker names this kind, or there is, or was, a job of it.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn knows_kind(&self, kind: Kind) -> Answer<bool> {
        self.look(move |c, _| c.knows_kind(&kind)).await
    }

    /// Replaces a kind's settings.
    ///
    /// # Errors
    /// The store cannot have them, or the write fails.
    pub async fn put_kind(&self, kind: Kind, settings: KindSettings) -> Answer<KindSettings> {
        let Reply::Kind(settings) = self.ask(Ask::PutKind(kind, settings)).await? else {
            return Err(misplaced());
        };
        Ok(settings)
    }

    /// Takes in what was submitted inside the store. Afterwards it is not in the inbox any more.
    ///
    /// # Errors
    /// The write fails; then what was not taken in is still there.
    pub async fn take_in(&self, mut rows: Vec<InboxJob>) -> Answer<()> {
        let span = Enqueue::begin(rows.iter_mut().map(|row| &mut row.job.spec));
        if let [row] = rows.as_slice() {
            span.is(row.job.id);
        }
        let reply = self.ask(Ask::Intake(rows)).await.inspect_err(|error| span.refused(error))?;
        let Reply::TakenIn = reply else { return Err(misplaced()) };
        Ok(())
    }
}
