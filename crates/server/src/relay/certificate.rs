//! The certificate of a worker whose call is relayed: the leader does not see it, and is told by the server that did.
//!
//! ```text
//! Ganger-Certificate: 1700000000000000;gpu*,mail;gpu-1.lan
//! ```
//! The seal covers it. Without a secret it proves nothing, and is not believed: such a worker must reach the leader itself.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use ganger_core::Wall;
use ganger_core::access::{Certificate, QueueScope};

use crate::tls::Secured;

/// The header.
pub(super) const CERTIFICATE: HeaderName = HeaderName::from_static("ganger-certificate");

/// What the client of a request showed, if it did.
pub(super) fn write(parts: &Parts) -> Option<HeaderValue> {
    let Secured(certificate) = parts.extensions.get::<Secured>()?;
    let Certificate { name, queues, until } = &**certificate.as_ref()?;
    HeaderValue::try_from(format!("{};{};{name}", until.0, queues.globs().join(","))).ok()
}

/// Takes it off a relayed request, in place of what the connection between the servers shows.
pub(super) fn take(parts: &mut Parts, sealed: bool) {
    let told = parts.headers.remove(CERTIFICATE);
    let told = told.filter(|_| sealed).and_then(|told| read(told.to_str().ok()?));
    let secured = parts.extensions.remove::<Secured>().is_some();
    if secured || told.is_some() {
        parts.extensions.insert(Secured(told.map(Arc::new)));
    }
}

fn read(text: &str) -> Option<Certificate> {
    let mut fields = text.splitn(3, ';');
    let until = Wall(fields.next()?.parse().ok()?);
    let queues = QueueScope::parse(fields.next()?.split(',')).ok()?;
    let name = fields.next().filter(|name| !name.is_empty())?.to_owned();
    Some(Certificate { name, queues, until })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(shown: Option<Certificate>) -> Parts {
        let (mut parts, ()) = axum::http::Request::new(()).into_parts();
        parts.extensions.insert(Secured(shown.map(Arc::new)));
        parts
    }

    #[test]
    fn what_one_server_saw_the_other_knows_if_it_is_sealed() {
        let queues = QueueScope::parse(["gpu*", "mail"]).unwrap();
        let certificate = Certificate { name: "spiffe://lan/a;b".into(), queues, until: Wall(9) };
        let header = write(&parts(Some(certificate.clone()))).unwrap();
        for sealed in [true, false] {
            // The leader's own connection shows another one, which is not the client's.
            let mut there = parts(Some(Certificate { name: "server".into(), ..certificate.clone() }));
            there.headers.insert(CERTIFICATE, header.clone());
            take(&mut there, sealed);
            let expected = sealed.then(|| Arc::new(certificate.clone()));
            assert_eq!(there.extensions.get::<Secured>(), Some(&Secured(expected)));
            assert!(there.headers.is_empty());
        }
        assert_eq!(write(&parts(None)), None);
    }
}
