//! Tokens: long random texts by which programs are recognised.
//!
//! ```text
//! gng_4k2m9x7q0b1c_Zr81…       the prefix for scanners of leaked secrets, the id, the secret
//! ```
//! The id finds the record, the secret proves the right to it. Only a hash of the secret is kept: whoever reads the
//! database cannot ask in somebody's name.

use serde::{Deserialize, Serialize};

use super::{Caller, Permissions, QueueScope, Role, SecretHash, Who, same};
use crate::time::Wall;

/// What a token begins with.
const PREFIX: &str = "gng_";
/// Characters of an id.
pub(super) const ID: usize = 12;
/// Characters of a secret: 43 of 62 are 256 bits.
pub(super) const SECRET: usize = 43;
const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What it is for, in words.
    pub name: String,
    /// What it may do at the most.
    pub role: Role,
    /// What of that it may do.
    pub scopes: Permissions,
    /// With which queues.
    pub queues: QueueScope,
    /// Queues besides, into which it may only enqueue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also_enqueue: Option<QueueScope>,
    /// By which its secret is known.
    pub secret: SecretHash,
    /// Requests per second; none is as many as it likes.
    pub rate: Option<u32>,
    /// When it was made.
    pub created_at: Wall,
    /// By whom.
    pub created_by: String,
    /// When it ends.
    pub expires_at: Option<Wall>,
    /// When it was last used, give or take a minute.
    pub used_at: Option<Wall>,
}

impl Token {
    /// Whether it is over.
    #[must_use]
    pub fn has_expired(&self, now: Wall) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Who shows it, if the secret is right and its time is not over.
    #[must_use]
    pub fn admits(&self, id: &str, secret: &SecretHash, now: Wall) -> Option<Caller> {
        // In this order: a wrong secret takes as long whether the token has expired or not.
        let right = same(&self.secret, secret);
        (right && !self.has_expired(now)).then(|| Caller {
            who: Who::Token { id: id.into(), name: self.name.clone() },
            may: self.scopes.and(self.role.permissions()),
            queues: self.queues.clone(),
            also_enqueue: self.also_enqueue.clone(),
            until: self.expires_at,
        })
    }
}

/// A token as its holder has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenText<'a> {
    /// Finds it.
    pub id: &'a str,
    /// Proves it.
    pub secret: &'a str,
}

impl<'a> TokenText<'a> {
    /// Takes a text apart; `None` if it can be no token.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<TokenText<'a>> {
        split(text, PREFIX).map(|(id, secret)| TokenText { id, secret })
    }

    /// A fresh id and secret, and the whole text, made of so much randomness.
    #[must_use]
    pub fn made_of(random: &[u8; 64]) -> (String, String, String) {
        made_of(random, PREFIX)
    }
}

/// Id and secret of a text that begins so.
pub(super) fn split<'a>(text: &'a str, prefix: &str) -> Option<(&'a str, &'a str)> {
    let (id, secret) = text.strip_prefix(prefix)?.split_once('_')?;
    let plain = |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_alphanumeric());
    (plain(id, ID) && plain(secret, SECRET)).then_some((id, secret))
}

/// Id, secret and text that begins so, made of randomness: a byte for each character, give or take a hair.
pub(super) fn made_of(random: &[u8; 64], prefix: &str) -> (String, String, String) {
    let of = |bytes: &[u8], letters: usize| -> String {
        bytes.iter().map(|b| char::from(LETTERS[usize::from(*b) % letters])).collect()
    };
    let (id, secret) = (of(&random[..ID], 36), of(&random[ID..ID + SECRET], 62));
    let text = format!("{prefix}{id}_{secret}");
    (id, secret, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(expires_at: Option<Wall>) -> Token {
        Token {
            name: "ci".into(),
            role: Role::Submitter,
            scopes: Permissions::ALL,
            queues: QueueScope::all(),
            also_enqueue: None,
            secret: [1; 32],
            rate: None,
            created_at: Wall(0),
            created_by: "anyone".into(),
            expires_at,
            used_at: None,
        }
    }

    #[test]
    fn a_token_is_read_as_it_was_made() {
        let random: [u8; 64] = std::array::from_fn(|i| (i * 37) as u8);
        let (id, secret, text) = TokenText::made_of(&random);
        assert_eq!(TokenText::parse(&text), Some(TokenText { id: &id, secret: &secret }));
        for broken in [&text[1..], &text[..text.len() - 1], &format!("{text}x"), "gng__", "", "gng_a_b"] {
            assert_eq!(TokenText::parse(broken), None, "{broken}");
        }
        assert!(!id.bytes().any(|b| b.is_ascii_uppercase()));
    }

    #[test]
    fn only_the_right_secret_in_time_is_admitted_and_only_to_what_the_role_may() {
        let live = token(Some(Wall(100)));
        let caller = live.admits("a", &[1; 32], Wall(99)).unwrap();
        assert_eq!(caller.may, Role::Submitter.permissions());
        assert_eq!(caller.who.to_string(), "token:a");
        assert_eq!(live.admits("a", &[2; 32], Wall(99)), None);
        assert_eq!(live.admits("a", &[1; 32], Wall(100)), None);
        assert!(token(None).admits("a", &[1; 32], Wall(i64::MAX)).is_some());
    }
}
