//! A bounded pool of connections that only read. Each read sees one consistent snapshot.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connection;
use super::error::Failure;
use crate::store::StoreError;

/// Connections that only read.
#[derive(Clone, Debug)]
pub(super) struct Readers(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    database: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// As many as there may be connections.
    permits: Semaphore,
}

impl Readers {
    /// Opens so many connections.
    pub(super) fn open(database: &Path, count: usize) -> Result<Readers, StoreError> {
        let count = count.max(1);
        let idle = (0..count).map(|_| connection::reader(database)).collect::<Result<Vec<_>, _>>()?;
        let pool = Pool { database: database.into(), idle: Mutex::new(idle), permits: Semaphore::new(count) };
        Ok(Readers(Arc::new(pool)))
    }

    /// Runs a read on a thread that may block, in a transaction of its own.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = || StoreError::Unavailable("the store's readers have stopped".into());
        let _permit = self.0.permits.acquire().await.map_err(|_| gone())?;
        let pool = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || pool.run(work)).await.map_err(|_| gone())?
    }
}

impl Pool {
    fn run<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // A read that panicked took its connection with it.
        let conn = idle.map_or_else(|| connection::reader(&self.database), Ok)?;
        let done = in_snapshot(&conn, work);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
        done.map_err(Failure::while_reading)
    }
}

fn in_snapshot<T>(
    conn: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let transaction = conn.unchecked_transaction()?;
    let done = work(&transaction);
    transaction.finish()?;
    done
}
