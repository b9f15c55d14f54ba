//! The handle of a running worker.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::SessionId;
use tokio::sync::{mpsc, oneshot, watch};

use crate::error::WorkerError;
use crate::session::{Command, Finish};
use crate::status::{Standing, Status};

/// A running worker. Cheap to clone; dropping it does not stop the worker.
#[derive(Clone, Debug)]
pub struct WorkerHandle {
    commands: mpsc::Sender<Command>,
    status: Arc<Status>,
    finished: watch::Receiver<Option<Finish>>,
    health: Option<SocketAddr>,
}

impl WorkerHandle {
    pub(crate) fn new(
        commands: mpsc::Sender<Command>,
        status: Arc<Status>,
        finished: watch::Receiver<Option<Finish>>,
        health: Option<SocketAddr>,
    ) -> WorkerHandle {
        WorkerHandle { commands, status, finished, health }
    }

    /// Takes nothing new and finishes what runs, within the worker's drain grace. Returns at once;
    /// [`WorkerHandle::finished`] tells when it is over.
    pub fn drain(&self) {
        // If so many commands wait, one of them is a drain already.
        let _ = self.commands.try_send(Command::Drain(None));
    }

    /// Drains within this grace, and waits until it is over.
    ///
    /// # Errors
    /// The session's thread died.
    pub async fn stop(&self, grace: Duration) -> Result<Finish, WorkerError> {
        // An error means that the session is over already.
        let _ = self.commands.send(Command::Drain(Some(grace))).await;
        self.finished().await
    }

    /// Leaves at once: handlers are dropped, and the programs they started are killed. The jobs run
    /// elsewhere when the session has run out.
    ///
    /// # Errors
    /// The session's thread died.
    pub async fn abandon(&self) -> Result<Finish, WorkerError> {
        // An error means that the session is over already.
        let _ = self.commands.send(Command::Abandon).await;
        self.finished().await
    }

    /// Waits until the worker has drained.
    ///
    /// # Errors
    /// The session's thread died.
    pub async fn finished(&self) -> Result<Finish, WorkerError> {
        let mut finished = self.finished.clone();
        match finished.wait_for(Option::is_some).await.map(|finish| *finish) {
            Ok(Some(finish)) => Ok(finish),
            Ok(None) | Err(_) => Err(WorkerError::SessionDied),
        }
    }

    /// Whether the session's thread answers within this. One that waits for its server does; one that hangs does not.
    pub async fn answers(&self, within: Duration) -> bool {
        let (ping, answer) = oneshot::channel();
        let asking = async { self.commands.send(Command::Ping(ping)).await.is_ok() && answer.await.is_ok() };
        tokio::time::timeout(within, asking).await.unwrap_or(false)
    }

    /// The present session. It changes if the server closes it.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        self.standing().session
    }

    /// How the session stands now.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.status.watch().borrow().clone()
    }

    /// Tells every change of how the session stands.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Standing> {
        self.status.watch()
    }

    /// Waits until the server has welcomed the session.
    ///
    /// # Errors
    /// The worker was over before that.
    pub async fn opened(&self) -> Result<(), WorkerError> {
        let mut standing = self.status.watch();
        tokio::select! {
            open = standing.wait_for(|s| s.open) => open.map(drop).map_err(|_| WorkerError::SessionDied),
            over = self.finished() => over.and(Err(WorkerError::SessionDied)),
        }
    }

    /// Where the health server listens, if there is one.
    #[must_use]
    pub fn health_address(&self) -> Option<SocketAddr> {
        self.health
    }

    /// The running attempts, as JSON: what `/jobs` of the health server shows.
    #[must_use]
    pub fn running(&self) -> serde_json::Value {
        self.status.running()
    }
}
