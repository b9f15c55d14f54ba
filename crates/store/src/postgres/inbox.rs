//! What users' transactions submitted: the rows, and a bell that rings when there are new ones.
//!
//! The bell is a connection of its own that listens. It rings whenever something was submitted, and also when it was lost
//! and is back, because nobody knows what was missed meanwhile.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::AsyncMessage;

use super::connection::{CONNECT, Connector};
use super::error::Failure;
use super::{reads, row, sql};
use crate::shared::InboxRow;

/// The pause before it listens again after its connection was lost.
const AGAIN: Duration = Duration::from_secs(1);
/// Bytes after which a look into the inbox reads no further row: one is never larger than a few payloads.
const LOOK_BYTES: i64 = 4 << 20;

/// The oldest rows.
pub(super) async fn read(db: &deadpool_postgres::Object, limit: usize) -> Result<Vec<InboxRow>, Failure> {
    let rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = reads::query(db, sql::READ_INBOX, &[&rows, &LOOK_BYTES]).await?;
    let read = |found: &tokio_postgres::Row| -> Result<InboxRow, Failure> {
        Ok(InboxRow { row: found.try_get(0)?, job: row::job_id(found, 1)?, request: found.try_get(2)? })
    };
    found.iter().map(read).collect()
}

/// Rings when something was submitted. It begins to listen when somebody waits for the first time.
#[derive(Debug)]
pub(super) struct Doorbell {
    connector: Connector,
    bell: Arc<Notify>,
    task: Mutex<Option<AbortHandle>>,
}

impl Doorbell {
    pub(super) fn new(connector: Connector) -> Doorbell {
        Doorbell { connector, bell: Arc::default(), task: Mutex::new(None) }
    }

    /// Returns when it has rung since the last time somebody waited.
    pub(super) async fn rung(&self) {
        self.listen();
        self.bell.notified().await;
    }

    fn listen(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let (connector, bell) = (self.connector.clone(), Arc::clone(&self.bell));
        let listening = tokio::spawn(async move {
            loop {
                if let Err(failure) = listen(&connector, &bell).await {
                    tracing::debug!(?failure, "cannot listen to the inbox");
                }
                bell.notify_one();
                sleep(AGAIN).await;
            }
        });
        *task = Some(listening.abort_handle());
    }
}

impl Drop for Doorbell {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}

/// Listens for as long as the connection lasts.
async fn listen(connector: &Connector, bell: &Notify) -> Result<(), Failure> {
    let connecting = connector.address.config.connect(connector.tls.clone());
    let (client, mut connection) = timeout(CONNECT, connecting).await??;
    let listening = async {
        client.batch_execute("LISTEN ganger_inbox").await?;
        bell.notify_one();
        // Kept open: the connection ends with its client.
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    };
    let heard = async {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(_))) => bell.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            }
        }
    };
    tokio::select! {
        ended = listening => Ok(ended?),
        ended = heard => Ok(ended?),
    }
}
