//! Small documents that a server keeps in the store beside jobs: saved views, bulk operations, users, tokens, the audit log.
//!
//! To core and the store they are texts under a name; what is in them is the server's business. They are written by
//! the leader, in the same batches as everything else, so that a deposed one writes none.

use serde::{Deserialize, Serialize};

/// Largest document, in bytes.
pub const DOCUMENT_BYTES: usize = 64 << 10;
/// Most documents of a collection.
pub const DOCUMENTS: usize = 1_000;

/// What sort of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collection {
    /// Filters with a name.
    View,
    /// Bulk operations.
    Operation,
    /// People who may log in.
    User,
    /// By which programs are recognised.
    Token,
    /// What access tokens are signed with.
    SigningKey,
    /// Who changed what.
    Audit,
    /// What proves that a caller may have commands run.
    ExecToken,
}

impl Collection {
    /// Every collection.
    pub const ALL: [Collection; 7] = [
        Collection::View,
        Collection::Operation,
        Collection::User,
        Collection::Token,
        Collection::SigningKey,
        Collection::Audit,
        Collection::ExecToken,
    ];

    /// The word for it, also in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Collection::View => "view",
            Collection::Operation => "operation",
            Collection::User => "user",
            Collection::Token => "token",
            Collection::SigningKey => "signing_key",
            Collection::Audit => "audit",
            Collection::ExecToken => "exec_token",
        }
    }
}

/// A document, or that there is none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What sort.
    pub collection: Collection,
    /// Its name within the collection.
    pub key: String,
    /// Its text; `None` removes it.
    pub body: Option<String>,
}

/// A value that cannot be kept as a document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It has no text.
    #[error("the document cannot be written as JSON")]
    Unwritable(#[source] serde_json::Error),
    /// Its text is too long.
    #[error("the document has {0} bytes, the limit is {DOCUMENT_BYTES}")]
    TooLarge(usize),
}

impl Document {
    /// A value as a document.
    ///
    /// # Errors
    /// It cannot be written, or it is larger than [`DOCUMENT_BYTES`].
    pub fn of(
        collection: Collection,
        key: impl Into<String>,
        value: &impl Serialize,
    ) -> Result<Document, DocumentError> {
        let body = serde_json::to_string(value).map_err(DocumentError::Unwritable)?;
        if body.len() > DOCUMENT_BYTES {
            return Err(DocumentError::TooLarge(body.len()));
        }
        Ok(Document { collection, key: key.into(), body: Some(body) })
    }

    /// That there is none any more.
    #[must_use]
    pub fn removed(collection: Collection, key: impl Into<String>) -> Document {
        Document { collection, key: key.into(), body: None }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_document_is_kept_at_the_bound_and_refused_one_past_it() {
        // Two quotation marks are of the text.
        let of = |bytes: usize| Document::of(Collection::View, "v", &"x".repeat(bytes - 2));
        assert_eq!(of(DOCUMENT_BYTES).unwrap().body.map(|body| body.len()), Some(DOCUMENT_BYTES));
        assert!(matches!(of(DOCUMENT_BYTES + 1), Err(DocumentError::TooLarge(n)) if n == DOCUMENT_BYTES + 1));
    }

    #[test]
    fn what_cannot_be_written_is_no_empty_document() {
        let no_json = BTreeMap::from([(vec![1], 2)]);
        assert!(matches!(Document::of(Collection::User, "u", &no_json), Err(DocumentError::Unwritable(_))));
    }
}
