//! TLS to the database.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::url::{Address, Trust};
use crate::store::StoreError;

/// What makes connections secure, as the address asks for.
pub(super) fn connector(address: &Address) -> Result<MakeRustlsConnect, StoreError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Failed(format!("cannot set up TLS: {error}")))?;
    let config = match address.trust {
        Trust::VerifyFull => {
            builder.with_root_certificates(roots(address.root.as_deref())?).with_no_client_auth()
        }
        Trust::VerifyCa => {
            let roots = Arc::new(roots(address.root.as_deref())?);
            let inner = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                .build()
                .map_err(|error| StoreError::Failed(format!("cannot set up TLS: {error}")))?;
            let verifier = Arc::new(Lenient { provider, inner: Some(inner) });
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        Trust::Disable | Trust::Prefer | Trust::Require => {
            let verifier = Arc::new(Lenient { provider, inner: None });
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, StoreError> {
    let mut store = RootCertStore::empty();
    if let Some(file) = file {
        let unreadable = |error: &dyn std::fmt::Display| {
            StoreError::Failed(format!("cannot read {}: {error}", file.display()))
        };
        let certificates = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| unreadable(&error))?;
            store.add(certificate).map_err(|error| unreadable(&error))?;
        }
    } else {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if store.is_empty() {
        return Err(StoreError::Failed(
            "cannot trust the database: there is no root certificate; name one with sslrootcert".into(),
        ));
    }
    Ok(store)
}

/// Checks less of a certificate than the world's authorities would like, because the address said so: with `inner`
/// everything but the name of the host, without it nothing. The handshake is verified in any case.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    inner: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The chain is checked before the name.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
