//! Who is behind what is asked of the coordinator, so that it is written down with the change.
//!
//! The porter knows who asks, and says it for the whole of a request; whoever asks the coordinator meanwhile finds it here. So no
//! door has to remember it, and an operation that a new door offers is audited if the table of permissions says that it changes
//! something.

use std::net::IpAddr;

use ganger_core::Wall;
use ganger_core::audit::{AuditEntry, target};
use ganger_core::coordinator::port::Ask;
use ganger_core::document::{Collection, Document};
use tracing::error;

/// Whose request it is.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) who: String,
    pub(crate) from: Option<IpAddr>,
    /// Method and path.
    pub(crate) operation: String,
    pub(crate) request_id: Option<String>,
}

tokio::task_local! {
    static AUTHOR: Author;
}

/// Does it in the name of that author.
pub(crate) async fn by<T>(author: Author, work: impl Future<Output = T>) -> T {
    AUTHOR.scope(author, work).await
}

/// What is asked for, with an entry of who asks, if somebody does who is to be written down.
pub(crate) fn noted(ask: Ask, now: Wall) -> (Ask, bool) {
    let author = AUTHOR.try_with(Author::clone).ok();
    let named = author.zip(target(&ask).filter(|_| !is_housekeeping(&ask)));
    let Some((author, target)) = named else { return (ask, false) };
    let Author { who, from, operation, request_id } = author;
    let from = from.map(|from| from.to_canonical().to_string());
    let entry = AuditEntry { at: now, who, from, operation, target, request_id };
    match entry.document(rand::random()) {
        Ok(document) => (Ask::Audited(Box::new(ask), document), true),
        Err(error) => {
            error!("cannot write down who asked for {}: {error}", entry.operation);
            (ask, false)
        }
    }
}

/// What the server does for itself while it answers.
fn is_housekeeping(ask: &Ask) -> bool {
    let Ask::PutDocument(Document { collection, .. }) = ask else { return false };
    matches!(collection, Collection::SigningKey | Collection::Audit | Collection::ExecToken)
}
