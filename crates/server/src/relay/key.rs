//! The idempotency key that a standby adds to a submission that has none.
//!
//! If the answer is lost, because the leader died after its commit or before it, the standby sends the
//! submission again to the next leader under the same key, and the ledger settles whether it was carried out.
//! Such a key is random and needed for seconds only. It has its own header and its own scope, so that it never meets
//! a key of a client, is soon forgotten, and binds nothing that a client has not asked to be bound.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ganger_core::change::Idempotency;
use ganger_core::{Wall, limits};

/// The header that carries it.
pub(crate) const RELAY_KEY: HeaderName = HeaderName::from_static("ganger-relay-key");
/// How long it is remembered: longer than any standby tries.
const KEPT: Duration = Duration::from_secs(300);
const SCOPE: &str = "relay";

/// A fresh key.
pub(super) fn fresh() -> Option<HeaderValue> {
    HeaderValue::try_from(uuid::Uuid::new_v4().simple().to_string()).ok()
}

/// The key in these headers.
pub(crate) fn given(headers: &HeaderMap) -> Option<String> {
    let key = headers.get(&RELAY_KEY)?.to_str().ok()?;
    (1..=limits::KEY_BYTES).contains(&key.len()).then(|| key.into())
}

/// What that key stands for.
pub(crate) fn idempotency(key: String, fingerprint: [u8; 32], now: Wall) -> Idempotency {
    Idempotency { scope: SCOPE.into(), key, fingerprint, until: now + KEPT }
}

/// Whether a standby made this key, and not a client.
pub(crate) fn is_ours(idempotency: &Idempotency) -> bool {
    idempotency.scope == SCOPE
}
