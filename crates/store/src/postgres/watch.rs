//! Notices that a leader is gone: waits for the lock of its term.
//!
//! The wait blocks a connection inside the database, where it would stay blocked if its caller went away. So there is
//! one task for it, whoever calls and however often, and what it waits for is cancelled when another term is asked about.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ganger_core::Term;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::CancelToken;

use super::connection::Connector;
use super::error::Failure;
use super::pipeline::param;
use super::sql;

/// After an error nothing is known; whoever asks is told so, but not in a hot loop.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// Longest wait for a lock that is free.
const LOOK: Duration = Duration::from_secs(3600);

/// Waits for locks of terms.
#[derive(Debug)]
pub(super) struct Watch {
    connector: Connector,
    present: Mutex<Option<Present>>,
}

/// The wait under way.
struct Present {
    term: Term,
    gone: watch::Receiver<bool>,
    token: Arc<Mutex<Option<CancelToken>>>,
    task: AbortHandle,
}

impl std::fmt::Debug for Present {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Present({:?})", self.term)
    }
}

impl Watch {
    pub(super) fn new(connector: Connector) -> Watch {
        Watch { connector, present: Mutex::new(None) }
    }

    /// Returns when the lock of a term is free, or cannot be waited for.
    pub(super) async fn vacated(&self, term: Term) {
        let mut gone = self.subscribe(term);
        // An error means that the task is over, which is as good as an answer.
        let _ = gone.wait_for(|gone| *gone).await;
    }

    fn subscribe(&self, term: Term) -> watch::Receiver<bool> {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(present) = &*present
            && present.term == term
            && !present.task.is_finished()
        {
            return present.gone.clone();
        }
        if let Some(old) = present.take() {
            self.end(old);
        }
        let (tell, gone) = watch::channel(false);
        let token = Arc::new(Mutex::new(None));
        let (connector, slot) = (self.connector.clone(), Arc::clone(&token));
        let task = tokio::spawn(async move {
            if let Err(failure) = wait(&connector, term, &slot).await {
                tracing::debug!(?failure, "cannot wait for the end of the term");
                sleep(AFTER_ERROR).await;
            }
            let _ = tell.send(true);
        });
        let task = task.abort_handle();
        *present = Some(Present { term, gone: gone.clone(), token, task });
        gone
    }

    /// Ends a wait, also inside the database.
    fn end(&self, present: Present) {
        present.task.abort();
        let token = present.token.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(token), Ok(runtime)) = (token, tokio::runtime::Handle::try_current()) {
            let connector = self.connector.clone();
            runtime.spawn(async move { connector.cancel(token).await });
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(present) = present {
            self.end(present);
        }
    }
}

async fn wait(connector: &Connector, term: Term, slot: &Mutex<Option<CancelToken>>) -> Result<(), Failure> {
    let connection = connector.plain(&[sql::AWAIT_TERM]).await?;
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection.client.cancel_token());
    let statement = connection.statement(sql::AWAIT_TERM)?;
    let number = param(term.number.cast_signed());
    timeout(LOOK, connection.client.query(statement, &[&*number])).await??;
    // The connection closes and gives the lock back.
    Ok(())
}
