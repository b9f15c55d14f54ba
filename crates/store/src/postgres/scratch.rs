//! A database of its own beside a given one, for what must not touch that one: a benchmark.

use std::time::Duration;

use tokio::time::timeout;

use super::connection::{ANSWER, Connector};
use super::error::Failure;
use super::sql;
use crate::store::StoreError;

/// Making a database copies a template, and a checkpoint writes whatever was changed, on a disk that may be busy.
const WRITTEN: Duration = Duration::from_secs(60);

/// An empty database that was made for a purpose. It stays until it is removed.
#[derive(Debug)]
pub struct Scratch {
    /// The database beside which it is.
    beside: Connector,
    own: Connector,
    name: String,
    url: String,
}

impl Scratch {
    /// Makes a database of this name beside that of an address, with the rights of its user.
    ///
    /// # Errors
    /// If the name is not one of lower-case letters, digits and `_`, if there is such a database, or if the user may not
    /// make one.
    pub async fn make(beside: &str, name: &str) -> Result<Scratch, StoreError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(StoreError::Failed(format!("`{name}` is no name for a database of ours")));
        }
        let url = renamed(beside, name);
        let (beside, own) = (Connector::new(beside)?, Connector::new(&url)?);
        command(&beside, &format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0"))
            .await
            .map_err(|failure| failure.into_error(&format!("cannot make the database {name}")))?;
        Ok(Scratch { beside, own, name: name.into(), url })
    }

    /// Where it is, password included.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many bytes its server has ever written to its log, for whichever database.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn wal_bytes(&self) -> Result<u64, StoreError> {
        let connection = self.own.plain(&[sql::WAL_POSITION]).await?;
        let asking = async {
            let row = connection.client.query_one(connection.statement(sql::WAL_POSITION)?, &[]).await?;
            Ok::<_, Failure>(row.try_get::<_, i64>(0)?.cast_unsigned())
        };
        let asked = timeout(ANSWER, asking).await.unwrap_or(Err(Failure::Late));
        asked.map_err(|failure| failure.into_error("cannot read how much the database has logged"))
    }

    /// Has its server write to its files whatever is only in its log and its memory.
    ///
    /// # Errors
    /// If the user may not ask for that (`pg_checkpoint` may), or the server does not answer.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        let done = command(&self.own, "CHECKPOINT").await;
        done.map_err(|failure| failure.into_error("cannot have the database write a checkpoint"))
    }

    /// Removes it, whoever is still connected.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub async fn remove(self) -> Result<(), StoreError> {
        command(&self.beside, &format!("DROP DATABASE {} WITH (FORCE)", self.name))
            .await
            .map_err(|failure| failure.into_error(&format!("cannot remove the database {}", self.name)))
    }
}

async fn command(connector: &Connector, text: &str) -> Result<(), Failure> {
    let connection = connector.plain(&[]).await.map_err(Failure::Refused)?;
    let running = async { Ok(connection.client.batch_execute(text).await?) };
    timeout(WRITTEN, running).await.unwrap_or(Err(Failure::Late))
}

/// The same address with another database.
fn renamed(url: &str, name: &str) -> String {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
    let authority = rest.split('/').next().unwrap_or_default();
    let kept: Vec<&str> =
        query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("dbname=")).collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{authority}/{name}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_the_database_stays_in_an_address() {
        for (url, expected) in [
            ("postgres://u:p@h:5432/jobs?sslmode=require", "postgres://u:p@h:5432/mine?sslmode=require"),
            ("postgresql://h", "postgresql://h/mine"),
            ("postgres:///jobs?host=/run&dbname=other", "postgres:///mine?host=/run"),
        ] {
            assert_eq!(renamed(url, "mine"), expected);
        }
    }
}
