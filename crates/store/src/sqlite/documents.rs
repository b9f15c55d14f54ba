//! Keeping documents in a data directory that no server uses.

use std::path::Path;

use ganger_core::document::Document;
use rusqlite::params;

use super::dir::DataDir;
use super::{connection, error, migrate, sql};
use crate::store::StoreError;

/// Keeps these documents, for a person who may read and write the directory. The next server that uses it finds them.
///
/// # Errors
/// There is no store in the directory, a server uses it, or the disk fails.
pub fn put_documents(dir: &Path, documents: &[Document]) -> Result<(), StoreError> {
    if !dir.join(super::dir::DATABASE).exists() {
        return Err(StoreError::Failed(format!(
            "there is no database in {}; name the data directory of the server with --data",
            dir.display()
        )));
    }
    let dir = DataDir::lock(dir)?;
    let mut conn = connection::writer(&dir.create_database()?)?;
    migrate::climb(&mut conn, migrate::latest())?;
    let write = |conn: &rusqlite::Connection| -> rusqlite::Result<()> {
        let mut statement = conn.prepare(sql::PUT_DOCUMENT)?;
        for document in documents {
            statement.execute(params![document.collection.as_str(), document.key, document.body])?;
        }
        Ok(())
    };
    let transaction = conn.transaction().map_err(|cause| error::writing("cannot begin to write", &cause))?;
    let written = write(&transaction).and_then(|()| transaction.commit());
    written.map_err(|cause| error::writing("cannot write into the database", &cause))
}
