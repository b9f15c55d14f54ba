//! The audit log: reading it, and forgetting the oldest.

use ganger_core::audit::AuditEntry;
use ganger_core::coordinator::port::Ask;
use ganger_core::document::{Collection, Document};
use ganger_core::limits;
use tracing::{debug, warn};

use super::{Answer, Service};

/// The log is looked through for what is too old once in so many entries.
pub(super) const FORGET_EVERY: u64 = 256;

impl Service {
    /// Who changed what, the last first, from behind the entry of that name on; and the name of the last one if there are more.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn audit(
        &self,
        behind: Option<&str>,
        limit: usize,
        such: impl Fn(&AuditEntry) -> bool,
    ) -> Answer<(Vec<(String, AuditEntry)>, Option<String>)> {
        let documents = self.documents(Collection::Audit).await?;
        let read = |(name, body): (String, String)| match serde_json::from_str(&body) {
            Ok(entry) => Some((name, entry)),
            Err(error) => {
                warn!("the audit entry `{name}` cannot be read: {error}");
                None
            }
        };
        let older =
            documents.into_iter().rev().filter(|(name, _)| behind.is_none_or(|last| name.as_str() < last));
        let mut found: Vec<(String, AuditEntry)> =
            older.filter_map(read).filter(|(_, entry)| such(entry)).take(limit + 1).collect();
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(name, _)| name.clone());
        Ok((found, next))
    }

    /// Forgets the oldest entries if there are too many. Nobody waits for it.
    pub(super) fn forget_old_entries(&self) {
        let service = self.clone();
        tokio::spawn(async move {
            let Ok(documents) = service.documents(Collection::Audit).await else { return };
            let too_many = documents.len().saturating_sub(limits::AUDIT_ENTRIES);
            for (key, _) in documents.into_iter().take(too_many) {
                let document = Document { collection: Collection::Audit, key, body: None };
                if let Err(error) = service.ask(Ask::PutDocument(document)).await {
                    debug!("cannot forget an old audit entry: {error}");
                    return;
                }
            }
        });
    }
}
