//! A token for an administrator who has lost every other one.
//!
//! Whoever has the credentials of the database, or may write to the data directory, can change whatever is in it: a token for him takes
//! nothing from anybody. It is written beside the others, with an entry in the audit log.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::access::{Permissions, QueueScope, Role, Token, TokenText};
use ganger_core::audit::AuditEntry;
use ganger_core::document::{Collection, Document};

use super::hash;

/// How long such a token lasts: long enough to make others.
const LASTS: Duration = Duration::from_secs(24 * 3600);
/// Who makes it.
const BY: &str = "ganger token recover";

/// A fresh token that may do everything for a day, and the documents that make it hold once they are in the store. `None` if it could not
/// be written down.
#[must_use]
pub fn recovery_token(now: Wall) -> Option<(String, Vec<Document>)> {
    let mut random = [0; 64];
    rand::fill(&mut random);
    let (id, secret, text) = TokenText::made_of(&random);
    let token = Token {
        name: "recovered".into(),
        role: Role::Admin,
        scopes: Permissions::ALL,
        queues: QueueScope::all(),
        also_enqueue: None,
        secret: hash(&secret),
        rate: None,
        created_at: now,
        created_by: BY.into(),
        expires_at: Some(now + LASTS),
        used_at: None,
    };
    let entry = AuditEntry {
        at: now,
        who: BY.into(),
        from: None,
        operation: BY.into(),
        target: format!("token {id}"),
        request_id: None,
    };
    let token = Document::of(Collection::Token, id, &token).ok()?;
    Some((text, vec![token, entry.document(rand::random()).ok()?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_make_the_token_hold_for_a_day() {
        let (text, documents) = recovery_token(Wall(0)).unwrap();
        let shown = TokenText::parse(&text).unwrap();
        assert_eq!(documents[0].key, shown.id);
        let token: Token = serde_json::from_str(documents[0].body.as_deref().unwrap()).unwrap();
        let caller = token.admits(shown.id, &hash(shown.secret), Wall(0)).unwrap();
        assert_eq!(caller.may, Permissions::ALL);
        assert_eq!(token.admits(shown.id, &hash(shown.secret), Wall(0) + LASTS), None);
        assert_eq!(documents[1].collection, Collection::Audit);
        assert!(!documents[1].body.as_deref().unwrap().contains(shown.secret));
    }
}
