//! A running server with a certificate, its authority, and clients that believe it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ganger_server::auth::AuthOptions;
use ganger_server::testing::{self, TestServer};
use ganger_server::{ServerOptions, TlsPem};
use ganger_store::{MemoryStore, Store};
use reqwest::{Certificate, Client, ClientBuilder, Identity};
use serde_json::Value;
use tonic::transport::{Channel, ClientTlsConfig};

use crate::authority::{Authority, Signed};

/// No wait of a test is longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Site {
    pub(crate) authority: Authority,
    pub(crate) server: TestServer,
    /// May do everything.
    pub(crate) admin: String,
}

impl Site {
    pub(crate) async fn start() -> Site {
        let authority = Authority::new();
        let (options, first) = asking(&authority, Arc::new(MemoryStore::default()));
        let server = testing::start_with(options).await;
        let admin = first_token(&first).await;
        let site = Site { authority, server, admin };
        for _ in 0..1_000 {
            if site.status(&site.client(None), "/v1/whoami", &site.admin).await == 200 {
                return site;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the first token does not hold");
    }

    /// A client that believes the server, and shows that certificate.
    pub(crate) fn client(&self, shown: Option<&Signed>) -> Client {
        client(&self.authority, shown).build().unwrap()
    }

    pub(crate) async fn status(&self, client: &Client, path: &str, token: &str) -> u16 {
        self.ask(client, path, token).await.0
    }

    pub(crate) async fn ask(&self, client: &Client, path: &str, token: &str) -> (u16, Value) {
        let request = client.get(format!("{}{path}", self.server.url())).timeout(PATIENCE);
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or(Value::Null))
    }

    /// A gRPC connection.
    pub(crate) async fn channel(&self) -> Channel {
        let ca = tonic::transport::Certificate::from_pem(&self.authority.pem);
        let tls = ClientTlsConfig::new().ca_certificate(ca);
        let endpoint = Channel::from_shared(self.server.url()).unwrap().tls_config(tls).unwrap();
        endpoint.connect().await.unwrap()
    }
}

/// A server that asks, with a certificate, and believes workers of the same authority.
pub(crate) fn asking(
    authority: &Authority,
    store: Arc<dyn Store>,
) -> (ServerOptions, Arc<Mutex<Option<String>>>) {
    let first: Arc<Mutex<Option<String>>> = Arc::default();
    let kept = first.clone();
    let mut options = testing::options(store);
    options.auth = AuthOptions::Required {
        jwt_secret: None,
        first_token: Arc::new(move |token| {
            *kept.lock().unwrap() = Some(token.into());
            Ok(())
        }),
    };
    options.tls = Some(pem(authority, &authority.server()));
    options.ca = Some(authority.pem.clone().into_bytes());
    (options, first)
}

pub(crate) fn pem(authority: &Authority, signed: &Signed) -> TlsPem {
    TlsPem {
        certificate: signed.certificate.clone().into_bytes(),
        key: signed.key.clone().into_bytes(),
        client_ca: Some(authority.pem.clone().into_bytes()),
    }
}

pub(crate) fn client(authority: &Authority, shown: Option<&Signed>) -> ClientBuilder {
    let ca = Certificate::from_pem(authority.pem.as_bytes()).unwrap();
    let builder = Client::builder().tls_certs_only([ca]);
    match shown {
        Some(Signed { certificate, key }) => {
            builder.identity(Identity::from_pem(format!("{certificate}\n{key}").as_bytes()).unwrap())
        }
        None => builder,
    }
}

pub(crate) async fn first_token(first: &Mutex<Option<String>>) -> String {
    for _ in 0..2_000 {
        if let Some(token) = first.lock().unwrap().clone() {
            return token;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited in vain for the first token");
}
