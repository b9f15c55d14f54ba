//! A bounded pool of connections that only read. Each read sees one consistent snapshot.

use std::time::Duration;

use deadpool_postgres::{
    ClientWrapper, Connect, Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError,
    RecyclingMethod, Runtime,
};
use futures::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error, IsolationLevel};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{ANSWER, CONNECT, Connector, READER, READS_ALL, attend};
use super::error::{Failure, plain};
use crate::store::StoreError;

/// Longest wait for a connection of the pool.
const TURN: Duration = Duration::from_secs(10);
/// Longest a read may take.
const READ: Duration = Duration::from_secs(30);
/// Longest it may take to load everything.
const LOAD: Duration = Duration::from_secs(600);

/// Connections that only read.
#[derive(Clone, Debug)]
pub(super) struct Readers(Pool);

/// A read in one snapshot.
pub(super) type Snapshot<'a> = deadpool_postgres::Transaction<'a>;

impl Readers {
    /// Opens nothing yet.
    pub(super) fn new(connector: &Connector, count: usize) -> Result<Readers, StoreError> {
        let manager = Manager::from_connect(
            connector.address.config.clone(),
            Dial(connector.tls.clone()),
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        // The pool would find out by itself, and warn an operator of what it then mends.
        let open = Hook::sync_fn(|client: &mut ClientWrapper, _| match client.is_closed() {
            true => Err(HookError::message("it is closed")),
            false => Ok(()),
        });
        let pool = Pool::builder(manager)
            .max_size(count.max(1))
            .runtime(Runtime::Tokio1)
            .pre_recycle(open)
            .wait_timeout(Some(TURN))
            .create_timeout(Some(CONNECT))
            .recycle_timeout(Some(ANSWER))
            .build()
            .map_err(|error| StoreError::Failed(format!("cannot set up the readers: {error}")))?;
        Ok(Readers(pool))
    }

    /// Runs a read in a transaction of its own.
    pub(super) async fn read<T>(
        &self,
        work: impl AsyncFnOnce(&Snapshot<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.bounded(READ, work).await
    }

    /// Runs a read of everything.
    pub(super) async fn load<T>(
        &self,
        work: impl AsyncFnOnce(&Snapshot<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let all = async |db: &Snapshot<'_>| {
            db.batch_execute(READS_ALL).await?;
            work(db).await
        };
        self.bounded(LOAD, all).await
    }

    /// Runs one statement, which needs no transaction around it: what is repeated every second costs the
    /// database one statement, not three.
    pub(super) async fn look<T>(
        &self,
        work: impl AsyncFnOnce(&Object) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let client = self.client().await?;
        let done = tokio::time::timeout(READ, work(&client)).await.unwrap_or(Err(Failure::Late));
        settled(client, done)
    }

    async fn bounded<T>(
        &self,
        bound: Duration,
        work: impl AsyncFnOnce(&Snapshot<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut client = self.client().await?;
        let reading = async {
            let transaction = client
                .build_transaction()
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true)
                .start()
                .await?;
            let done = work(&transaction).await?;
            transaction.commit().await?;
            Ok::<_, Failure>(done)
        };
        let done = tokio::time::timeout(bound, reading).await.unwrap_or(Err(Failure::Late));
        settled(client, done)
    }

    async fn client(&self) -> Result<Object, StoreError> {
        self.0.get().await.map_err(|error| {
            let operation = "cannot connect to the database";
            if let PoolError::Backend(error) = &error {
                return plain(operation, error);
            }
            StoreError::Unavailable(format!("{operation}: {error}"))
        })
    }
}

/// Connects for the pool, as everywhere else.
struct Dial(MakeRustlsConnect);

impl Connect for Dial {
    fn connect(&self, config: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        let (tls, config) = (self.0.clone(), config.clone());
        Box::pin(async move {
            let (client, connection) = config.connect(tls).await?;
            // Whoever gives up waiting for the settings leaves nothing behind.
            let task = AbortOnDropHandle::new(tokio::spawn(attend(connection)));
            client.batch_execute(READER).await?;
            Ok((client, task.detach()))
        })
    }
}

/// Gives the connection back, unless nobody knows what it is still waiting for.
fn settled<T>(client: Object, done: Result<T, Failure>) -> Result<T, StoreError> {
    if done.as_ref().is_err_and(|failure| !failure.is_certain()) {
        drop(Object::take(client));
    }
    done.map_err(|failure| failure.into_error("cannot read from the database"))
}
