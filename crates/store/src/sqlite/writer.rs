//! The thread that writes. It owns the one writing connection and takes requests in order.

use std::sync::Arc;
use std::thread::JoinHandle;

use ganger_core::Term;
use ganger_core::change::{Applied, Batch};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::checkpoint::Checkpoints;
use super::dir::{DataDir, Identity};
use super::{error, transaction};
use crate::store::{CommitError, StoreError};

/// Requests that wait for the writer. The server sends a batch or two at a time; the rest are rare.
const WAITING: usize = 16;

/// What the writer is asked for.
enum Request {
    TakeOver { server: String, more_than: u64, reply: oneshot::Sender<Result<Term, StoreError>> },
    Commit { term: Term, batch: Arc<Batch>, reply: oneshot::Sender<Result<Vec<Applied>, CommitError>> },
    LimitPages { pages: u32, reply: oneshot::Sender<Result<(), StoreError>> },
}

/// The way to the writer. Dropping it ends the thread once everything asked for is done.
#[derive(Debug)]
pub(super) struct Writer {
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread, which holds the lock on the data directory until it has closed the database.
    pub(super) fn start(conn: Connection, dir: DataDir) -> Result<Writer, StoreError> {
        let (requests, inbox) = mpsc::channel(WAITING);
        let identity = Identity::of(dir.database())?;
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || {
                run(&conn, &identity, Checkpoints::new(&dir.database()), inbox);
                drop(conn);
                drop(dir);
            })
            .map_err(|error| StoreError::Failed(format!("cannot start the store's writer: {error}")))?;
        Ok(Writer { requests: Some(requests), thread: Some(thread) })
    }

    pub(super) async fn take_over(&self, server: &str, more_than: u64) -> Result<Term, StoreError> {
        let (reply, answer) = oneshot::channel();
        let request = Request::TakeOver { server: server.into(), more_than, reply };
        self.send(request).await?;
        answer.await.map_err(|_| stopped())?
    }

    pub(super) async fn commit(&self, term: Term, batch: Arc<Batch>) -> Result<Vec<Applied>, CommitError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Commit { term, batch, reply }).await.map_err(CommitError::Refused)?;
        match answer.await {
            Ok(outcome) => outcome,
            // The writer took the batch and died over it.
            Err(_) => Err(CommitError::Unknown("the store's writer has stopped".into())),
        }
    }

    pub(super) async fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::LimitPages { pages, reply }).await?;
        answer.await.map_err(|_| stopped())?
    }

    async fn send(&self, request: Request) -> Result<(), StoreError> {
        match &self.requests {
            Some(requests) => requests.send(request).await.map_err(|_| stopped()),
            None => Err(stopped()),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing the channel is the signal to stop; the wait is for the batch in progress.
        self.requests = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer panicked");
        }
    }
}

fn behind_doubt() -> StoreError {
    StoreError::Unavailable("what became of the batch before it is not known yet".into())
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the store's writer has stopped".into())
}

fn run(
    conn: &Connection,
    identity: &Identity,
    mut checkpoints: Checkpoints,
    mut inbox: mpsc::Receiver<Request>,
) {
    let mut leases = None;
    // The log may end with this batch, which was answered as unknown.
    let mut doubtful: Option<(Term, u64)> = None;
    while let Some(request) = inbox.blocking_recv() {
        // Whoever asked may be gone; what was done stays done.
        match request {
            Request::TakeOver { server, more_than, reply } => {
                let taken = transaction::take_over(conn, &server, more_than);
                doubtful = doubtful.filter(|_| taken.is_err());
                let _ = reply.send(taken);
            }
            Request::Commit { term, batch, reply } => {
                let this = (term, batch.number);
                let committed = match identity.check() {
                    // It was sent behind one that has to be settled first.
                    Ok(()) if doubtful.is_some_and(|(of, number)| of == term && number < batch.number) => {
                        let _ = reply.send(Err(CommitError::Refused(behind_doubt())));
                        continue;
                    }
                    Ok(()) => transaction::commit(conn, &mut leases, term, &batch),
                    Err(gone) => Err(CommitError::Refused(gone)),
                };
                let committed = committed.map_err(|error| still_unknown(error, doubtful.is_some()));
                doubtful = matches!(committed, Err(CommitError::Unknown(_))).then_some(this);
                let written = committed.is_ok();
                let _ = reply.send(committed);
                checkpoints.after_commit(conn, written);
            }
            Request::LimitPages { pages, reply } => {
                let limited = conn
                    .pragma_update(None, "max_page_count", pages)
                    .map_err(|error| error::writing("cannot limit the size of the database", &error));
                let _ = reply.send(limited);
            }
        }
    }
}

/// A batch that may be in the log is not refused because a later try fails before it writes anything: the
/// next process would find it there.
fn still_unknown(error: CommitError, doubtful: bool) -> CommitError {
    match error {
        CommitError::Refused(cause) if doubtful => CommitError::Unknown(cause.to_string()),
        CommitError::Refused(_) | CommitError::TermLost | CommitError::Unknown(_) => error,
    }
}
