//! A connection of our own: bounded in time, with its statements prepared.

use std::collections::HashMap;
use std::future::poll_fn;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, CancelToken, Client, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{Failure, plain};
use super::sql::Sql;
use super::url::Address;
use super::{migrate, tls};
use crate::store::StoreError;

/// Longest wait for a connection.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// Longest wait for the answer to a statement or to a batch.
pub(super) const ANSWER: Duration = Duration::from_secs(10);
/// The oldest server that is good enough, as its version number.
const OLDEST_SERVER: i32 = 130_000;

/// Settings of a connection that writes. Its statements find rows by their keys, whatever the planner believes about the
/// size of a table: a plan made while it was empty must not be a scan when it is not. An index can be walked from end to end,
/// too, and that is what looks best for a table that was empty when it was last analysed: each job that is there, against each of the batch.
/// What goes by bitmaps cannot be without a condition. So a hash join is only ever one of rows that were found by their keys, or
/// given; without it those would be compared each with each. A transaction whose client is
/// silent must not hold its locks for long, nor wait for ever for those of others.
pub(super) const WRITER: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
    SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_mergejoin = off; \
    SET jit = off; SET idle_in_transaction_session_timeout = '5s'; \
    SET lock_timeout = '8s'; SET statement_timeout = '30s'; SET search_path = ''";
/// Settings of a connection that reads. It goes by indexes, too: of a day that nobody has analysed yet, and the database takes minutes to come to
/// one that fills quickly, the planner believes that a page of a list is most of it, and scans it on every core.
pub(super) const READER: &str =
    "SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off";
/// And for as long as everything is read: tables are gone through as they lie.
pub(super) const READS_ALL: &str = "SET LOCAL enable_seqscan = on";
/// Settings of a connection for the election, and for administration.
const PLAIN: &str = "SET idle_in_transaction_session_timeout = '5s'; SET search_path = ''";

/// How to reach the database.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) address: Address,
    pub(super) tls: MakeRustlsConnect,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.address.fmt(f)
    }
}

impl Connector {
    /// Reads an address; connects to nothing yet.
    pub(super) fn new(url: &str) -> Result<Connector, StoreError> {
        let mut address = Address::parse(url)?;
        if address.config.get_connect_timeout().is_none() {
            address.config.connect_timeout(CONNECT);
        }
        // A peer that vanished is noticed in seconds and not in hours.
        address.config.keepalives_idle(Duration::from_secs(5)).keepalives_interval(Duration::from_secs(2));
        address.config.keepalives_retries(3).tcp_user_timeout(ANSWER);
        let tls = tls::connector(&address)?;
        Ok(Connector { address, tls })
    }

    /// Opens a connection for writing batches, with its statements prepared.
    pub(super) async fn writer(&self, statements: &[Sql]) -> Result<Connection, StoreError> {
        self.open(WRITER, statements).await
    }

    /// Opens a connection for anything else.
    pub(super) async fn plain(&self, statements: &[Sql]) -> Result<Connection, StoreError> {
        self.open(PLAIN, statements).await
    }

    /// Opens a connection as it comes, which keeps nothing in its session.
    pub(super) async fn bare(&self) -> Result<Connection, StoreError> {
        self.open("", &[]).await
    }

    async fn open(&self, settings: &str, statements: &[Sql]) -> Result<Connection, StoreError> {
        let connecting = async {
            let (client, connection) = self.address.config.connect(self.tls.clone()).await?;
            let task = tokio::spawn(attend(connection));
            let mut opened = Connection { client, task: task.abort_handle(), prepared: HashMap::new() };
            opened.client.batch_execute(settings).await?;
            opened.prepare(statements).await?;
            Ok::<_, Failure>(opened)
        };
        let opened = timeout(CONNECT, connecting).await.unwrap_or(Err(Failure::Late));
        opened.map_err(|failure| failure.into_error("cannot connect to the database"))
    }

    /// Checks once that the server and the database are good enough, and says clearly if not.
    pub(super) async fn check(&self, client: &Client) -> Result<(), StoreError> {
        let asking = client.query_one(
            "SELECT current_setting('server_version_num')::integer, current_setting('server_version'), \
             current_setting('server_encoding')",
            &[],
        );
        let failed = |error| plain("cannot ask the database for its version", &error);
        let row = timeout(ANSWER, asking)
            .await
            .map_err(|_| StoreError::Unavailable("the database does not answer".into()))?
            .map_err(failed)?;
        let (number, version, encoding): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
        if number < OLDEST_SERVER {
            return Err(StoreError::Failed(format!(
                "the database is PostgreSQL {version}; Ganger needs 13 or newer"
            )));
        }
        if encoding != "UTF8" {
            return Err(StoreError::Failed(format!(
                "the database has the encoding {encoding}; Ganger needs one made with ENCODING 'UTF8'"
            )));
        }
        Ok(())
    }

    /// Cancels what a connection is doing. Best effort, bounded.
    pub(super) async fn cancel(&self, token: CancelToken) {
        let _ = timeout(CONNECT, token.cancel_query(self.tls.clone())).await;
    }

    /// Opens a connection for changing the schema, which may take its time.
    pub(super) async fn migrator(&self) -> Result<Connection, StoreError> {
        let connection = self.plain(&[]).await?;
        self.check(&connection.client).await?;
        migrate::prepare(&connection.client).await?;
        Ok(connection)
    }
}

/// Carries what goes over a connection. Bounded by it: this ends when the client is dropped or the server is gone. The driver by
/// itself would tell an operator of every notice, and the pool of every connection; whoever needs one says what came of it.
pub(super) async fn attend<S, T>(mut connection: tokio_postgres::Connection<S, T>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notice(notice))) => tracing::debug!("the database remarks: {notice}"),
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection to the database is lost");
                return;
            }
            None => return,
        }
    }
}

/// An open connection. Dropped, it is closed: a transaction that was open in it is rolled back by the server.
pub(super) struct Connection {
    pub(super) client: Client,
    task: AbortHandle,
    prepared: HashMap<&'static str, Statement>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection")
    }
}

impl Connection {
    /// A prepared statement.
    pub(super) fn statement(&self, sql: Sql) -> Result<&Statement, Failure> {
        self.prepared.get(sql.name).ok_or_else(|| {
            Failure::Refused(StoreError::Failed(format!("the statement {} was not prepared", sql.name)))
        })
    }

    /// Whether it is known to be closed.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    async fn prepare(&mut self, statements: &[Sql]) -> Result<(), tokio_postgres::Error> {
        // All of them on their way at once.
        let preparing = statements.iter().map(|sql| self.client.prepare(sql.text));
        let prepared = try_join_all(preparing).await?;
        self.prepared = statements.iter().map(|sql| sql.name).zip(prepared).collect();
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // What was not yet sent must not be sent any more.
        self.task.abort();
    }
}
