//! A whole server for tests: a free port, and a store in memory unless another is given. And a standby
//! that follows whoever the test says.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use ganger_core::{Term, Wall};
use ganger_store::shared::{LeaderView, ServerRecord};
use ganger_store::{MemoryStore, Store};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::cluster::Membership;
use crate::coordinator_thread::Phase;
use crate::gateway::Gateway;
use crate::ids::JobIds;
use crate::inbox::{Inbox, Message};
use crate::listener::Listeners;
use crate::metrics::Metrics;
use crate::payloads::Payloads;
use crate::server::{self, Server, ServerHandle, ServerOptions};
use crate::service::{FailingLately, Parts, Run, Service};
use crate::tls::Tls;

/// A running server.
#[derive(Debug)]
pub struct TestServer {
    handle: ServerHandle,
}

/// A server that never leads, with every door of a real one.
#[derive(Debug)]
pub struct TestStandby {
    address: SocketAddr,
    secured: bool,
    phase: watch::Sender<Phase>,
    stopping: watch::Sender<bool>,
    streams: CancellationToken,
    listeners: Listeners,
    /// Nobody reads it: whatever got here instead of to the leader would wait for ever.
    _inbox: mpsc::Receiver<Message>,
    _events: broadcast::Sender<Arc<Run>>,
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

/// Reads the JSON of one job, as the doors do.
///
/// # Errors
/// What a client would be told.
pub fn read_job(text: &str, now: Wall) -> Result<ganger_core::job::JobSpec, String> {
    crate::http::read_job(text, now).map_err(|problem| problem.detail)
}

impl TestServer {
    /// Where it is, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.handle.tls().is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address())
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

/// Starts a standby that is to be like this. It knows no leader yet.
///
/// # Panics
/// There is no free port.
pub async fn standby(options: ServerOptions) -> TestStandby {
    let listener = TcpListener::bind(options.listen.as_slice()).await.expect("a free port can be had");
    let address = listener.local_addr().expect("a listener has an address");
    let (phase, seen) = watch::channel(Phase::TakingOver);
    let (stopping, stop) = watch::channel(false);
    let (inbox, messages) = Inbox::open();
    let (events, _) = broadcast::channel(1);
    let clock = Clock::start();
    let payloads = Arc::new(Payloads::new(options.store.clone()));
    let record = ServerRecord {
        name: options.name.clone(),
        address: format!("http://{address}"),
        version: "test".into(),
        started_at: clock.now().wall,
    };
    let service = Service::new(Parts {
        store: options.store.clone(),
        gateway: Gateway::new(inbox.clone(), payloads, clock.clone()),
        inbox,
        clock,
        ids: JobIds::default(),
        waiters: Default::default(),
        busy: Default::default(),
        membership: Membership::new(record, None, Default::default()),
        phase: seen,
        stopping: stop,
        events: events.downgrade(),
        purge_step: 1,
        backlog: 1,
        streams: Default::default(),
        accelerator: None,
        failing: FailingLately::default(),
        operations: Default::default(),
        changes: Default::default(),
        auth: crate::auth::Auth::new(&options.auth, &options.compat, options.bounds),
        loopback: true,
        about: options.about.clone(),
    });
    let streams = CancellationToken::new();
    let tls = options.tls.as_ref().map(|pem| Tls::new(pem, Wall::default()));
    let tls = tls.transpose().expect("the certificate of a test can be used");
    let router = server::router(&service, &options, Metrics::new("test"), streams.clone());
    let listeners = Listeners::start(vec![listener], router, tls.clone(), &options.listener);
    TestStandby {
        address,
        secured: tls.is_some(),
        phase,
        stopping,
        streams,
        listeners,
        _inbox: messages,
        _events: events,
    }
}

impl TestStandby {
    /// Where it is, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.secured { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Another server leads, of that name and at that address.
    pub fn follow(&self, server: &str, address: &str) {
        self.phase.send_replace(Phase::Following(LeaderView {
            term: Term { number: 1, id: 1 },
            server: server.into(),
            address: address.into(),
            since: Wall::default(),
            renewed_ago: Default::default(),
            batch: 0,
        }));
    }

    /// This server itself leads; but there is no coordinator in it.
    pub fn lead(&self) {
        self.phase.send_replace(Phase::Leading(Term { number: 2, id: 2 }));
    }

    /// Nobody leads.
    pub fn lose_the_leader(&self) {
        self.phase.send_replace(Phase::TakingOver);
    }

    /// Stops it as SIGTERM would.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        self.streams.cancel();
        self.listeners.stop(std::time::Duration::from_secs(10)).await;
    }
}
