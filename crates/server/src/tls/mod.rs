//! TLS on the one port, and towards other servers.
//!
//! ```text
//!  accept ─▶ first byte: TLS? ─▶ a place for its handshake ─▶ handshake, within 5 s ─▶ HTTP/2 or HTTP/1 by ALPN
//! ```
//! **What can go wrong.** *A client that begins and says no more* holds a place for seconds, never the accept loop; one address
//! has only so many places. *A client without TLS* is told so in HTTP. *A certificate is renewed* while the server runs:
//! the new one counts from the next handshake on, and what is connected stays; one that cannot be used changes nothing. *A
//! worker's certificate expires* while it is connected: its stream ends then. Certificates of clients are asked
//! for where an authority for them was named, and nobody needs one: whoever shows none shows a token.

mod accept;
mod dial;
mod pem;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use ganger_core::Wall;
use ganger_core::access::Certificate;
use rustls::ServerConfig;
use tracing::{error, warn};

pub(crate) use accept::Handshakes;
pub(crate) use dial::Trust;
pub use pem::{TlsError, TlsPem};

/// A certificate that ends within this is worth a warning.
const SOON_MICROS: i64 = 7 * 24 * 3600 * 1_000_000;

/// The connection is protected; whose certificate the client showed, if it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secured(pub Option<Arc<Certificate>>);

/// What the next handshake is made with. Cheap to clone.
#[derive(Clone)]
pub struct Tls(Arc<RwLock<Arc<ServerConfig>>>);

impl Tls {
    /// With this certificate. One that has expired is taken, and complained about: those who are told not to care can
    /// still ask.
    ///
    /// # Errors
    /// It cannot be read or used.
    pub fn new(pem: &TlsPem, now: Wall) -> Result<Tls, TlsError> {
        let loaded = pem.load()?;
        complain(loaded.since, loaded.until, now);
        Ok(Tls(Arc::new(RwLock::new(loaded.config))))
    }

    /// From now on with this one. What is connected stays.
    ///
    /// # Errors
    /// It cannot be read or used; the one before it stays.
    pub fn replace(&self, pem: &TlsPem, now: Wall) -> Result<(), TlsError> {
        let loaded = pem.load()?;
        complain(loaded.since, loaded.until, now);
        // A panic while the lock is held leaves one or the other.
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = loaded.config;
        Ok(())
    }

    fn config(&self) -> Arc<ServerConfig> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(…)")
    }
}

fn complain(since: Wall, until: Wall, now: Wall) {
    let days = |micros: i64| micros / (24 * 3600 * 1_000_000);
    if until <= now {
        error!(
            "THE CERTIFICATE HAS EXPIRED, {} days ago: clients refuse it; renew it",
            days(now.0 - until.0)
        );
    } else if now < since {
        error!("THE CERTIFICATE IS NOT VALID YET: clients refuse it; look at the clock of this machine");
    } else if until.0 - now.0 < SOON_MICROS {
        warn!("the certificate expires in {} days; renew it", days(until.0 - now.0));
    }
}
