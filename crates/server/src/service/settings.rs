//! Changing what is set for queues and kinds. A change is read, made and written by one at a time, so that two of them
//! never undo each other.

use ganger_core::coordinator::view::QueueView;
use ganger_core::job::SpecError;
use ganger_core::kind::KindSettings;
use ganger_core::name::{Kind, QueueName};
use ganger_core::queue::QueueSettings;

use super::{Answer, Service};

impl Service {
    /// Changes the settings of a queue.
    ///
    /// # Errors
    /// They would be out of bounds, or the write fails.
    pub async fn change_queue(
        &self,
        name: QueueName,
        edit: impl FnOnce(&mut QueueSettings) -> Result<(), SpecError>,
    ) -> Answer<QueueView> {
        let _one_at_a_time = self.0.changes.lock().await;
        let mut settings = self.queue(name.clone()).await?.settings;
        edit(&mut settings)?;
        settings.check()?;
        self.put_queue(name.clone(), settings).await?;
        self.queue(name).await
    }

    /// Nothing of a queue starts; submissions are accepted.
    ///
    /// # Errors
    /// The write fails.
    pub async fn pause_queue(&self, name: QueueName) -> Answer<QueueView> {
        self.change_queue(name, |settings| {
            settings.paused = true;
            Ok(())
        })
        .await
    }

    /// Ends a pause and a drain.
    ///
    /// # Errors
    /// The write fails.
    pub async fn resume_queue(&self, name: QueueName) -> Answer<QueueView> {
        self.change_queue(name, |settings| {
            settings.paused = false;
            settings.draining = false;
            Ok(())
        })
        .await
    }

    /// Submissions to a queue are refused; what is there runs.
    ///
    /// # Errors
    /// The write fails.
    pub async fn drain_queue(&self, name: QueueName) -> Answer<QueueView> {
        self.change_queue(name, |settings| {
            settings.draining = true;
            Ok(())
        })
        .await
    }

    /// Changes the settings of a kind; what is not given stays as it is.
    ///
    /// # Errors
    /// The store cannot have them, or the write fails.
    pub async fn change_kind(&self, kind: Kind, transactional: Option<bool>) -> Answer<KindSettings> {
        let _one_at_a_time = self.0.changes.lock().await;
        let before = self.kind(kind.clone()).await?;
        let settings = KindSettings { transactional: transactional.unwrap_or(before.transactional) };
        self.put_kind(kind, settings).await
    }
}
