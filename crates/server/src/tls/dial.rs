//! TLS towards another server: whom this one believes.

use std::sync::{Arc, OnceLock};

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::pem;

/// The authorities that vouch for other servers. They are read when they are first needed.
#[derive(Clone, Default)]
pub(crate) struct Trust {
    ca: Option<Arc<Vec<u8>>>,
    config: Arc<OnceLock<Result<Arc<ClientConfig>, String>>>,
}

impl Trust {
    /// Those of that PEM text, or those of the system.
    pub(crate) fn new(ca: Option<Vec<u8>>) -> Trust {
        Trust { ca: ca.map(Arc::new), config: Arc::default() }
    }

    /// Secures a connection to the server of that name, for HTTP/2.
    pub(crate) async fn secure(&self, host: &str, stream: TcpStream) -> Result<TlsStream<TcpStream>, String> {
        let config = self.config.get_or_init(|| self.config()).clone()?;
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let secured = TlsConnector::from(config).connect(name, stream).await;
        secured.map_err(|error| format!("{error}; GANGER_CA names the authority of its certificate"))
    }

    fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let roots = match &self.ca {
            Some(ca) => pem::roots(ca, "the authority").map_err(|error| error.to_string())?,
            None => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                Some(roots).filter(|roots| !roots.is_empty())
            }
        };
        let roots = roots.ok_or("there is no authority to believe; GANGER_CA names one")?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Arc::new(config))
    }
}
