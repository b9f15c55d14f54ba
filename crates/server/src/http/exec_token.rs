//! The secret that lets a local user submit jobs that run commands.

use std::fmt;
use std::sync::Arc;

use axum::http::HeaderMap;
use sha2::{Digest as _, Sha256};

/// The header that carries it.
pub(super) const HEADER: &str = "x-ganger-exec-token";

/// A secret that a client must show. Only its hash is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecToken(Arc<[u8; 32]>);

impl ExecToken {
    /// A token with that secret.
    #[must_use]
    pub fn new(secret: &str) -> ExecToken {
        ExecToken(Arc::new(Sha256::digest(secret.trim().as_bytes()).into()))
    }

    /// Whether that is the secret. Takes as long for a near miss as for a far one.
    #[must_use]
    pub fn is(&self, shown: &str) -> bool {
        let shown: [u8; 32] = Sha256::digest(shown.trim().as_bytes()).into();
        let difference = self.0.iter().zip(shown).fold(0u8, |sum, (a, b)| sum | (a ^ b));
        difference == 0
    }
}

impl fmt::Debug for ExecToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExecToken(…)")
    }
}

/// Whether a request may submit jobs of kind `exec`.
pub(super) fn allows(token: Option<&ExecToken>, headers: &HeaderMap) -> bool {
    let shown = headers.get(HEADER).and_then(|value| value.to_str().ok());
    match (token, shown) {
        (Some(token), Some(shown)) => token.is(shown),
        (Some(_), None) | (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_token_lets_a_command_through() {
        let token = ExecToken::new("secret\n");
        let mut headers = HeaderMap::new();
        assert!(!allows(Some(&token), &headers));
        headers.insert(HEADER, "Secret".parse().unwrap());
        assert!(!allows(Some(&token), &headers));
        headers.insert(HEADER, "secret".parse().unwrap());
        assert!(allows(Some(&token), &headers));
        assert!(!allows(None, &headers));
        assert!(!format!("{token:?}").contains("secret"));
    }
}
