//! Starting and stopping a server.
//!
//! `start` binds first, so that an address that is taken costs nothing; then it takes over, loads, and
//! only then answers. Where several servers share the store it leads or follows, and a store that does not answer is
//! waited for: first a little before it answers, then while it answers that it is not ready. `stop` goes the other
//! way: no new connections or calls, what clients wait for is finished and written, leadership is resigned, workers
//! are let go (they keep running and find the next leader), and the store is released last.

mod joining;

pub use joining::Exposure;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use ganger_core::SessionId;
use ganger_core::access::Bounds;
use ganger_core::coordinator::port;
use ganger_core::minutes::Bucket;
use ganger_store::Store;
use ganger_store::redis::Redis;
use ganger_store::shared::ServerRecord;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::about::About;
use crate::accelerator::{Accelerator, Tasks};
use crate::auth::{self, Auth, AuthOptions, KeepToken};
use crate::clock::Clock;
use crate::cluster::{Membership, Presence};
use crate::coordinator_thread::{CoordinatorThread, Phase};
use crate::gateway::Gateway;
use crate::grpc;
use crate::http::{self, CompatOptions, ExecToken, HostPolicy, HttpOptions};
use crate::ids::JobIds;
use crate::inbox::{Inbox, Message};
use crate::listener::{ListenerOptions, Listeners};
use crate::metrics::Metrics;
use crate::operations::OperationsTask;
use crate::payloads::Payloads;
use crate::relay::{Relay, RelayOptions, RelayParts, SECRET_BYTES};
use crate::releasable::ReleasableStore;
use crate::service::{FailingLately, Parts, Run, Service};
use crate::sql_intake::SqlIntake;
use crate::store_health::StoreHealth;
use crate::story;
use crate::tls::{Tls, TlsError, TlsPem, Trust};
use crate::waiters::Waiters;
use crate::writer::{Busy, Observer, WriterParts};

/// Runs of events kept for a listener that is slow; each is as long as [`coordinator_thread::RUN`] at most.
const RUNS: usize = 2_048;
/// In-flight calls, and connections after them, have this long to finish.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// Without a renewal for so long another server may take over, unless told otherwise.
const LEADER_TTL: Duration = Duration::from_secs(5);

/// How long a start waits for a shared store, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a server is to be.
pub struct ServerOptions {
    /// Where to listen; port 0 takes a free one.
    pub listen: Vec<SocketAddr>,
    /// Where jobs are kept.
    pub store: Arc<dyn Store>,
    /// Name of this server in the store. No other server may have it, nor may this one after a restart.
    pub name: String,
    /// Where other servers and workers reach this one, such as `http://10.0.0.7:8080`; where it listens, if not
    /// given.
    pub advertise: Option<String>,
    /// Without a renewal for so long another server may take over the leadership of a shared store.
    pub leader_ttl: Duration,
    /// A shared store that cannot be reached is waited for so long; then the server starts all the same, says that
    /// it is not ready, and goes on trying.
    pub patience: Duration,
    /// What servers of one cluster know, and nobody else.
    pub cluster_secret: Option<String>,
    /// Whether an address that others can reach is allowed although nobody is asked who he is.
    pub insecure_no_auth: bool,
    /// Whether anybody is asked who he is.
    pub auth: AuthOptions,
    /// What it shows to its clients; without, nothing is protected on its way.
    pub tls: Option<TlsPem>,
    /// Authorities that vouch for other servers, as PEM; those of the system, if not given.
    pub ca: Option<Vec<u8>>,
    /// Whoever submits jobs of kind `exec`, or has them run again, must know this.
    pub exec_token: Option<ExecToken>,
    /// Gets that token from the store, once it is known. Without, it is the one above.
    pub keep_exec_token: Option<KeepToken>,
    /// How the coordinator behaves.
    pub coordinator: port::Options,
    /// Sessions of workers inside this process.
    pub local_sessions: Vec<SessionId>,
    /// Further host names that requests may be addressed to, besides loopback ones.
    pub allowed_hosts: Vec<String>,
    /// How much is held while another server leads, or none does.
    pub relay: RelayOptions,
    /// Redis in front of the store.
    pub redis: Option<Redis>,
    /// Whether jobs may be submitted as buffered: kept by Redis alone, until they are in the store.
    pub allow_buffered: bool,
    /// How connections are accepted.
    pub listener: ListenerOptions,
    /// How much one caller may have at a time.
    pub bounds: Bounds,
    /// The compatible doors.
    pub compat: CompatOptions,
    /// What it tells people about itself.
    pub about: About,
}

impl ServerOptions {
    /// A server on these addresses, with the defaults for everything else.
    #[must_use]
    pub fn new(listen: Vec<SocketAddr>, store: Arc<dyn Store>) -> ServerOptions {
        ServerOptions {
            listen,
            store,
            name: format!("ganger-{:08x}", rand::random::<u32>()),
            advertise: None,
            leader_ttl: LEADER_TTL,
            patience: PATIENCE,
            cluster_secret: None,
            insecure_no_auth: false,
            auth: AuthOptions::default(),
            tls: None,
            ca: None,
            exec_token: None,
            keep_exec_token: None,
            coordinator: port::Options::default(),
            local_sessions: Vec::new(),
            allowed_hosts: Vec::new(),
            relay: RelayOptions::default(),
            redis: None,
            allow_buffered: false,
            listener: ListenerOptions::default(),
            bounds: Bounds::default(),
            compat: CompatOptions::default(),
            about: About::default(),
        }
    }
}

/// Why a server does not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Nobody could reach it.
    #[error("no address to listen on was given")]
    NoAddress,
    /// Others could reach it, and it asks nobody who he is.
    #[error(
        "refused to listen on {0}: other machines could submit jobs there without being asked who they are (--insecure-no-auth allows it)"
    )]
    NotLoopback(SocketAddr),
    /// Anyone could pass for a server of the cluster.
    #[error(
        "refused to share a store with other servers on {0} without a cluster secret: servers recognise each other by it, and only loopback addresses can do without"
    )]
    NoClusterSecret(SocketAddr),
    /// It could be guessed.
    #[error("the cluster secret has {0} bytes, at least {SECRET_BYTES} are needed")]
    ShortClusterSecret(usize),
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// Others would not know where to reach it.
    #[error(
        "cannot tell other servers where to reach this one: {0} is every address (--advertise names one)"
    )]
    NoAdvertise(SocketAddr),
    /// It has nothing to show.
    #[error("cannot speak TLS: {0}")]
    Tls(#[from] TlsError),
    /// The operating system gives no thread.
    #[error("cannot start the coordinator's thread")]
    Thread(#[source] std::io::Error),
    /// It cannot lead, or could not go on.
    #[error("cannot lead: {0}")]
    Leader(String),
}

/// Starts servers.
#[derive(Clone, Copy, Debug)]
pub struct Server;

/// A running server. Dropping it tells it to stop, without waiting.
#[derive(Debug)]
pub struct ServerHandle {
    service: Service,
    addresses: Vec<SocketAddr>,
    listeners: Listeners,
    tls: Option<Tls>,
    stopping: watch::Sender<bool>,
    /// Ends live event streams and waiting reads.
    streams: CancellationToken,
    phase: watch::Receiver<Phase>,
    store: Arc<ReleasableStore>,
    presence: Option<Presence>,
    sql_intake: Option<SqlIntake>,
    operations: Option<OperationsTask>,
    thread: Option<JoinHandle<()>>,
    /// What uses Redis beside the calls.
    tasks: Tasks,
}

impl Server {
    /// Binds, takes over, loads, and serves.
    ///
    /// # Errors
    /// An address is refused or taken, or the store cannot be led.
    pub async fn start(options: ServerOptions) -> Result<ServerHandle, ServerError> {
        Exposure::of(&options).check()?;
        let now = Clock::start().now().wall;
        let tls = options.tls.as_ref().map(|pem| Tls::new(pem, now)).transpose()?;
        let listeners = bind(&options.listen).await?;
        let addresses: Vec<SocketAddr> = listeners.iter().filter_map(|l| l.local_addr().ok()).collect();
        let (stopping, stop) = watch::channel(false);
        let metrics = Metrics::with_doors(env!("CARGO_PKG_VERSION"), options.compat.profiles);
        let store = Arc::new(ReleasableStore::new(options.store.clone()));
        let address = joining::advertised(&options, &addresses)?;
        let (service, thread) =
            lead(&options, address, store.clone(), stop, Arc::new(Measured(metrics.clone())))?;
        let mut phase = service.phase();
        joining::begun(&service, &mut phase, options.patience).await?;
        // Before anyone asks whether it is ready; a store that is away is asked later.
        if *phase.borrow() != Phase::TakingOver {
            service.membership().look_for_dangers().await;
        }
        let presence = Some(Presence::start(service.membership().clone()));
        let sql_intake = SqlIntake::start(&service);
        story::start(&service);
        let operations = Some(OperationsTask::start(&service));
        tokio::spawn(auth::introduce(service.clone(), options.auth.clone()));
        for session in &options.local_sessions {
            service.gateway().register_local(*session);
        }
        let tasks = service.accelerator().map(|accelerator| accelerator.start(&service)).unwrap_or_default();
        joining::exec_token(&service, &options).await;
        let streams = CancellationToken::new();
        let router = router(&service, &options, metrics, streams.clone());
        let listeners = Listeners::start(listeners, router, tls.clone(), &options.listener);
        joining::say_if_readable(&addresses, tls.is_some());
        info!("listens on {}", addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        Ok(ServerHandle {
            service,
            addresses,
            listeners,
            tls,
            stopping,
            streams,
            phase,
            store,
            presence,
            sql_intake: Some(sql_intake),
            operations,
            thread: Some(thread),
            tasks,
        })
    }
}

impl ServerHandle {
    /// Where it listens, in the order asked for.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What it can do.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// This session lives inside this process and dies with it.
    pub fn register_local(&self, session: SessionId) {
        self.service.gateway().register_local(session);
    }

    /// What is shown to whoever connects from now on can be replaced here, if there is TLS.
    #[must_use]
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// Resolves if the server cannot go on; the process should then end.
    pub async fn failed(&self) -> ServerError {
        let mut phase = self.phase.clone();
        let failed = phase.wait_for(|phase| matches!(phase, Phase::Failed(_))).await;
        match failed.as_deref() {
            Ok(Phase::Failed(cause)) => ServerError::Leader(cause.clone()),
            Ok(_) | Err(_) => ServerError::Leader("the coordinator's thread is gone".into()),
        }
    }

    /// Stops: finishes what clients wait for, writes it, lets workers go, and releases the store.
    pub async fn stop(mut self) {
        self.begin_to_stop();
        drop(self.sql_intake.take());
        drop(self.operations.take());
        // Behind everything that clients have asked until now.
        self.service.inbox().send(Message::Stop).await;
        let ended = |phase: &Phase| matches!(phase, Phase::Stopped | Phase::Failed(_));
        let mut phase = self.phase.clone();
        // The thread bounds its own end; this is for the case that it hangs.
        if tokio::time::timeout(STOP_WITHIN * 2, phase.wait_for(ended)).await.is_err() {
            warn!("the coordinator does not end");
        } else if let Some(thread) = self.thread.take()
            && tokio::task::spawn_blocking(|| thread.join()).await.is_err()
        {
            warn!("the coordinator's thread could not be joined");
        }
        if let Some(presence) = self.presence.take() {
            presence.stop().await;
        }
        self.listeners.stop(STOP_WITHIN).await;
        self.tasks = Tasks::default();
        self.store.release().await;
        info!("stopped");
    }

    fn begin_to_stop(&self) {
        self.stopping.send_replace(true);
        self.streams.cancel();
        self.listeners.close();
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.begin_to_stop();
        // The thread would lead on otherwise, and keep the store.
        self.service.inbox().stop_soon();
    }
}

async fn bind(addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, ServerError> {
    let mut listeners = Vec::with_capacity(addresses.len());
    for address in addresses {
        let bound = TcpListener::bind(address).await;
        listeners.push(bound.map_err(|source| ServerError::Bind { address: *address, source })?);
    }
    Ok(listeners)
}

/// Starts the coordinator's thread and everything around it.
fn lead(
    options: &ServerOptions,
    address: String,
    store: Arc<ReleasableStore>,
    stopping: watch::Receiver<bool>,
    observer: Arc<dyn Observer>,
) -> Result<(Service, JoinHandle<()>), ServerError> {
    let clock = Clock::start();
    let (inbox, messages) = Inbox::open();
    let payloads = Arc::new(Payloads::new(store.clone()));
    let gateway = Gateway::new(inbox.clone(), payloads.clone(), clock.clone());
    let (waiters, busy) = (Waiters::default(), Busy::default());
    let (events, _) = broadcast::channel::<Arc<Run>>(RUNS);
    let (phase, seen) = watch::channel(Phase::TakingOver);
    let server = ServerRecord {
        name: options.name.clone(),
        address,
        version: env!("CARGO_PKG_VERSION").into(),
        started_at: clock.now().wall,
    };
    let health = StoreHealth::default();
    let seat = joining::seat(options, &server, &health, inbox.clone());
    let shared = seat.as_ref().map(|seat| seat.shared.clone());
    let service = Service::new(Parts {
        store: store.clone(),
        inbox: inbox.clone(),
        gateway: gateway.clone(),
        clock: clock.clone(),
        ids: JobIds::default(),
        waiters: waiters.clone(),
        busy: busy.clone(),
        membership: Membership::new(server, shared, health),
        phase: seen,
        stopping,
        events: events.downgrade(),
        purge_step: options.coordinator.prune_limit,
        backlog: options.coordinator.backlog,
        streams: AtomicU64::new(0),
        accelerator: options.redis.clone().map(|redis| Accelerator::new(redis, options.allow_buffered)),
        failing: FailingLately::default(),
        operations: Default::default(),
        changes: Default::default(),
        auth: Auth::new(&options.auth, &options.compat, options.bounds),
        loopback: options.listen.iter().all(is_loopback),
        about: options.about.clone(),
    });
    let parts = WriterParts { store: store.clone(), payloads, waiters, clock, busy, observer };
    let thread = CoordinatorThread {
        server: options.name.clone(),
        options: port::Options {
            leader_ttl: seat.as_ref().map(|seat| seat.candidate.ttl),
            ..options.coordinator.clone()
        },
        seat,
        parts,
        inbox: messages,
        gateway,
        events,
        phase,
        runtime: tokio::runtime::Handle::current(),
    };
    Ok((service, thread.spawn().map_err(ServerError::Thread)?))
}

/// Every door behind one port.
pub(crate) fn router(
    service: &Service,
    options: &ServerOptions,
    metrics: Metrics,
    stopping: CancellationToken,
) -> Router {
    let clock = service.clock().clone();
    let exec_token = options.exec_token.clone();
    let relay = Relay::start(RelayParts {
        server: options.name.clone(),
        secret: options.cluster_secret.clone(),
        service: service.clone(),
        phase: service.phase(),
        stopping: stopping.clone(),
        metrics: metrics.clone(),
        options: options.relay.clone(),
        trust: Trust::new(options.ca.clone()),
    });
    let http = HttpOptions {
        hosts: HostPolicy {
            loopback_only: options.listen.iter().all(is_loopback),
            allowed: options.allowed_hosts.clone(),
        },
        exec_token: exec_token.clone(),
        metrics: metrics.clone(),
        stopping,
        claim: Some(http::claim::routes(service.clone())),
        relay: Some(relay.clone()),
        compat: options.compat.clone(),
        ..HttpOptions::new(env!("CARGO_PKG_VERSION"), Arc::new(move || clock.now()))
    };
    http::router(service.clone(), http).merge(grpc::router(
        service,
        exec_token,
        metrics,
        env!("CARGO_PKG_VERSION"),
        relay,
        &options.compat,
    ))
}

fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Feeds the metrics of the writer. Events reach them by the way of every listener.
struct Measured(Metrics);

impl Observer for Measured {
    fn committed(&self, took: Duration, changes: usize) {
        self.0.commit(took, changes);
    }
    fn counted(&self, buckets: &[Bucket]) {
        self.0.counted(buckets);
    }
    fn reconciled(&self, came: &port::Reconciled) {
        self.0.reconciled(came);
    }
    fn renewed(&self) {
        self.0.renewed();
    }
}
