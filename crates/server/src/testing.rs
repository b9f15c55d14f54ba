//! A whole server for tests: a free port, and a store in memory unless another is given.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use ganger_store::{MemoryStore, Store};

use crate::server::{Server, ServerHandle, ServerOptions};
use crate::service::Service;

/// A running server.
#[derive(Debug)]
pub struct TestServer {
    handle: ServerHandle,
}

/// Starts a server that keeps its jobs in memory.
pub async fn start() -> TestServer {
    start_on(Arc::new(MemoryStore::new())).await
}

/// Starts a server on this store.
pub async fn start_on(store: Arc<dyn Store>) -> TestServer {
    start_with(options(store)).await
}

/// Starts a server that is to be like this.
///
/// # Panics
/// It does not start.
pub async fn start_with(options: ServerOptions) -> TestServer {
    let handle = Server::start(options).await.expect("a test server starts on a free port");
    TestServer { handle }
}

/// What a test server is like: on a free port of the loopback interface.
#[must_use]
pub fn options(store: Arc<dyn Store>) -> ServerOptions {
    ServerOptions::new(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))], store)
}

impl TestServer {
    /// Where it is, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Where it listens.
    ///
    /// # Panics
    /// Never: a server that started has an address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        *self.handle.addresses().first().expect("a server that started has an address")
    }

    /// What it can do.
    #[must_use]
    pub fn service(&self) -> &Service {
        self.handle.service()
    }

    /// The handle itself.
    #[must_use]
    pub fn handle(&self) -> &ServerHandle {
        &self.handle
    }

    /// Stops it as SIGTERM would.
    pub async fn stop(self) {
        self.handle.stop().await;
    }
}
