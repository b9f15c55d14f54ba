//! Reading certificates and keys, and saying what is wrong with them.

use std::sync::Arc;

use ganger_core::Wall;
use ganger_core::access::Certificate;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// What is spoken inside, the best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// What a server shows and whom it believes, as PEM.
#[derive(Clone)]
pub struct TlsPem {
    /// Its certificate, and those between it and the authority.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
    /// Authorities that sign certificates of workers.
    pub client_ca: Option<Vec<u8>>,
}

/// Why a certificate cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// There is none.
    #[error("the certificate file holds no certificate (PEM, `BEGIN CERTIFICATE`)")]
    NoCertificate,
    /// There is none.
    #[error("the key file holds no private key without a passphrase (PEM, `BEGIN PRIVATE KEY`)")]
    NoKey,
    /// They are not a pair.
    #[error("the key is not that of the certificate")]
    NotAPair,
    /// There is none.
    #[error("the file of the client authority holds no certificate (PEM, `BEGIN CERTIFICATE`)")]
    NoClientCa,
    /// Something else.
    #[error("{what} cannot be used: {why}")]
    Unusable {
        /// What.
        what: &'static str,
        /// Why.
        why: String,
    },
}

/// A certificate that can be used.
pub(super) struct Loaded {
    pub(super) config: Arc<ServerConfig>,
    pub(super) since: Wall,
    pub(super) until: Wall,
}

impl TlsPem {
    pub(super) fn load(&self) -> Result<Loaded, TlsError> {
        let unusable = |what, why: String| TlsError::Unusable { what, why };
        let chain = certificates(&self.certificate, "the certificate")?;
        let first = chain.first().ok_or(TlsError::NoCertificate)?;
        let (since, until) =
            validity(first).ok_or_else(|| unusable("the certificate", "it is not X.509".into()))?;
        let key = match PrivateKeyDer::from_pem_slice(&self.key) {
            Ok(key) => key,
            Err(pem::Error::NoItemsFound) => return Err(TlsError::NoKey),
            Err(error) => return Err(unusable("the key", error.to_string())),
        };
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable("TLS", error.to_string()))?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(ca) => {
                let roots = Arc::new(roots(ca, "the client authority")?.ok_or(TlsError::NoClientCa)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                // Whoever shows none shows a token.
                let verifier = verifier.allow_unauthenticated().build();
                let verifier =
                    verifier.map_err(|error| unusable("the client authority", error.to_string()))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| {
            let torn = matches!(error, rustls::Error::InconsistentKeys(_));
            let unusable = || unusable("the certificate or the key", error.to_string());
            if torn { TlsError::NotAPair } else { unusable() }
        })?;
        config.alpn_protocols = PROTOCOLS.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Loaded { config: Arc::new(config), since, until })
    }
}

fn certificates(pem: &[u8], what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    all.map_err(|error| TlsError::Unusable { what, why: error.to_string() })
}

/// The authorities in a text; `None` if there is none.
pub(super) fn roots(pem: &[u8], what: &'static str) -> Result<Option<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, what)? {
        roots.add(certificate).map_err(|error| TlsError::Unusable { what, why: error.to_string() })?;
    }
    Ok((!roots.is_empty()).then_some(roots))
}

/// From when until when a certificate is valid.
fn validity(certificate: &CertificateDer<'_>) -> Option<(Wall, Wall)> {
    let read = x509_cert::Certificate::from_der(certificate).ok()?;
    let validity = &read.tbs_certificate.validity;
    Some((wall(validity.not_before), wall(validity.not_after)))
}

fn wall(time: x509_cert::time::Time) -> Wall {
    Wall(i64::try_from(time.to_unix_duration().as_micros()).unwrap_or(i64::MAX))
}

/// Whose certificate a client showed, if it names a worker. Its signatures have been verified.
pub(super) fn shown(certificate: &CertificateDer<'_>) -> Option<Certificate> {
    let read = x509_cert::Certificate::from_der(certificate).ok()?;
    let until = wall(read.tbs_certificate.validity.not_after);
    let (mut dns, mut uris) = (Vec::new(), Vec::new());
    let (_, names) = read.tbs_certificate.get::<SubjectAltName>().ok()??;
    for name in names.0 {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the other sorts of names are not ours to list")]
        match name {
            GeneralName::DnsName(name) => dns.push(name.to_string()),
            GeneralName::UniformResourceIdentifier(uri) => uris.push(uri.to_string()),
            _ => {}
        }
    }
    Certificate::of(&dns, &uris, until)
}
