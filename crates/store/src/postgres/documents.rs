//! Keeping documents in a database from outside, while servers use it.

use ganger_core::document::Document;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;

use super::connection::{ANSWER, Connector};
use super::error::Failure;
use super::sql;
use crate::store::StoreError;

/// Keeps these documents, for a person who has the credentials of the database. Servers find them within seconds.
///
/// # Errors
/// The database cannot be reached, has no schema of ours, or cannot be written to.
pub async fn put_documents(url: &str, documents: &[Document]) -> Result<(), StoreError> {
    let connection = Connector::new(url)?.plain(&[]).await?;
    let column = |of: fn(&Document) -> &str| documents.iter().map(of).collect::<Vec<&str>>();
    let collections = column(|document| document.collection.as_str());
    let keys = column(|document| &document.key);
    let bodies = column(|document| document.body.as_deref().unwrap_or_default());
    let values: [&(dyn ToSql + Sync); 3] = [&collections, &keys, &bodies];
    let written = timeout(ANSWER, connection.client.execute(sql::PUT_DOCUMENTS.text, &values)).await;
    let written = written.map_err(|_| Failure::Late).and_then(|written| written.map_err(Failure::from));
    written.map(drop).map_err(|failure| failure.into_error("cannot write into the database"))
}
