//! What a connection shows to be let in, and whom it believes.

use std::fmt;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use tonic::{Request, Status};

/// A token, if there is one, which goes with every call; for `https://` a certificate of the client's own, and the authority that
/// vouches for the server. Neither token nor key is ever printed.
#[derive(Clone, Default)]
pub struct Credential {
    token: Option<MetadataValue<Ascii>>,
    ca: Option<Certificate>,
    identity: Option<Identity>,
}

impl Credential {
    /// That token; `None` if it has characters that no token has.
    #[must_use]
    pub fn token(text: &str) -> Option<Credential> {
        let mut value: MetadataValue<Ascii> = format!("Bearer {}", text.trim()).parse().ok()?;
        value.set_sensitive(true);
        Some(Credential { token: Some(value), ..Credential::default() })
    }

    /// Believes servers whose certificates this authority has signed (PEM), instead of those that the system knows.
    #[must_use]
    pub fn ca(mut self, pem: impl AsRef<[u8]>) -> Credential {
        self.ca = Some(Certificate::from_pem(pem));
        self
    }

    /// Shows this certificate (PEM, with its key) to a server that asks for one: a worker needs no token then.
    #[must_use]
    pub fn certificate(mut self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Credential {
        self.identity = Some(Identity::from_pem(certificate, key));
        self
    }

    /// How a connection to a server with TLS is made.
    pub(crate) fn tls(&self) -> ClientTlsConfig {
        let tls = ClientTlsConfig::new();
        let tls = match &self.ca {
            Some(ca) => tls.ca_certificate(ca.clone()),
            None => tls.with_native_roots(),
        };
        match &self.identity {
            Some(identity) => tls.identity(identity.clone()),
            None => tls,
        }
    }
}

impl Interceptor for Credential {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.token {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.token.is_some() || self.identity.is_some() {
            "Credential(…)"
        } else {
            "Credential(none)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_with_the_call_and_is_not_printed() {
        let mut credential = Credential::token(" gng_a_hush\n").unwrap();
        let request = credential.call(Request::new(())).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer gng_a_hush");
        assert!(!format!("{credential:?} {request:?}").contains("hush"));
        assert!(Credential::token("a\nb").is_none());
        assert!(Credential::default().call(Request::new(())).unwrap().metadata().is_empty());
    }
}
