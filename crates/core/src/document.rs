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
