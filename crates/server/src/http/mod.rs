//! The REST door: `/v1`, live events, metrics, health, and the pages that explain them.
//!
//! ```text
//!  request ─▶ admit (is it relayed?) ─▶ cors ─▶ observe (id, time, problems, headers) ─▶ catch panic ─▶ guard (bounds, host, origin)
//!                ─▶ porter (who asks, may he) ─▶ buffered (if there is no leader) ─▶ relay (unless this server leads) ─▶ route
//!                ─▶ fields/intake (every mistake named) ─▶ Service ─▶ api body
//! ```
//! Handlers know nothing of how [`Service`] works: they read, call and show. Custom verbs
//! (`/v1/jobs/{id}:cancel`) share one captured segment with the id, so each resource splits its own.

mod audit;
mod auth;
mod batch;
pub(crate) mod buffered;
pub mod claim;
mod cluster;
pub mod compat;
mod cookies;
pub mod cors;
pub(crate) mod cursor;
mod event_stream;
mod events;
pub(crate) mod exec_token;
mod export;
mod failures;
mod fields;
mod from_inbox;
mod guard;
mod health;
mod histogram;
mod import;
mod intake;
mod job_reads;
mod jobs;
mod keys;
mod kinds;
mod lines;
mod list;
mod observe;
mod openapi;
mod operations;
mod pace;
mod page;
pub(crate) mod parents;
pub mod problem;
mod progress;
mod queues;
mod related;
mod request;
mod scaling;
mod schedule_intake;
mod schedules;
mod scrape;
mod shown;
mod stats;
mod system;
mod timeseries;
mod tokens;
pub mod ui;
mod users;
mod views;
mod workers;

#[cfg(test)]
mod parity;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use futures::FutureExt as _;
use ganger_core::Now;
use tokio_util::sync::CancellationToken;

pub use compat::CompatOptions;
pub use exec_token::ExecToken;
pub(crate) use fields::depth as json_depth;
pub(crate) use from_inbox::from_inbox;
pub use guard::HostPolicy;
pub(crate) use intake::alone as read_job;

use crate::auth::porter;
use crate::metrics::Metrics;
use crate::relay::{self, Door, Relay};
use crate::service::Service;
use problem::{Code, Problem};

/// What the REST door is told at the start.
#[derive(Clone)]
pub struct HttpOptions {
    /// Which hosts are answered.
    pub hosts: HostPolicy,
    /// Lets a client submit jobs of kind `exec`; without one nobody can.
    pub exec_token: Option<ExecToken>,
    /// Version of the server, for people.
    pub version: &'static str,
    /// Where requests and events are counted.
    pub metrics: Metrics,
    /// The clock.
    pub now: Arc<dyn Fn() -> Now + Send + Sync>,
    /// Ends live event streams, so that a stop does not wait for them.
    pub stopping: CancellationToken,
    /// Most clients of `/v1/events` at a time.
    pub event_clients: usize,
    /// The worker protocol over HTTP: gets `POST /v1/queues/{queue}:claim` and `/v1/leases/…`.
    pub claim: Option<Router>,
    /// Passes requests on while another server leads; without one every request is answered here.
    pub relay: Option<Relay>,
    /// The compatible doors.
    pub compat: CompatOptions,
}

impl HttpOptions {
    /// The defaults, with that clock.
    #[must_use]
    pub fn new(version: &'static str, now: Arc<dyn Fn() -> Now + Send + Sync>) -> HttpOptions {
        HttpOptions {
            hosts: HostPolicy::default(),
            exec_token: None,
            version,
            metrics: Metrics::new(version),
            now,
            stopping: CancellationToken::new(),
            event_clients: ganger_core::limits::EVENT_STREAMS,
            claim: None,
            relay: None,
            compat: CompatOptions::default(),
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions").field("hosts", &self.hosts).field("version", &self.version).finish()
    }
}

/// What every handler shares.
pub(crate) type App = Arc<Shared>;

/// See [`App`].
pub(crate) struct Shared {
    service: Service,
    options: HttpOptions,
    events: events::Hub,
    /// The OpenAPI document, as text.
    openapi: String,
    /// The same, for people.
    docs: String,
}

impl Shared {
    fn now(&self) -> Now {
        (self.options.now)()
    }
}

/// Every route of the REST door. Starts the task that follows the server's events, so it must be called
/// within a runtime.
pub fn router(service: Service, options: HttpOptions) -> Router {
    let receiver = service.events();
    let hub = events::Hub::start(receiver, service.clone(), &options);
    assemble(service, options, hub)
}

fn assemble(service: Service, options: HttpOptions, events: events::Hub) -> Router {
    let (router, document) = openapi::routes(options.compat.profiles).split_for_parts();
    let mut document = openapi::finish(document, options.version);
    openapi::secure(&mut document, service.auth());
    let app: App = Arc::new(Shared {
        service,
        events,
        docs: page::docs(&document),
        openapi: document.to_string(),
        options,
    });
    router
        .route("/v1/leases/{token}", axum::routing::any(queues::to_claim))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(app.clone(), enter))
        .with_state(app)
}

/// Everything between the port and a route; what is inmost is written first. One layer, because each more would be copied for every request with
/// all that is inside it.
async fn enter(State(app): State<App>, request: Request, next: Next) -> Response {
    let (app, options) = (&app, &app.options);
    let request = match &options.relay {
        Some(relay) => relay.admit(request),
        None => request,
    };
    let answer = async |request| match &options.relay {
        Some(relay) => relay::through(relay, Door::Rest, request, next).await,
        None => next.run(request).await,
    };
    // Outside the relay: what is only buffered needs no leader.
    let buffer = async |request| buffered::without_a_leader(app, request, answer).await;
    let ask = async |request| porter(&app.service, Door::Rest, request, buffer).await;
    let guard = async |request| {
        let guarded = AssertUnwindSafe(guard::guard(&options.hosts, request, ask));
        guarded.catch_unwind().await.unwrap_or_else(observe::panicked)
    };
    let observe = async |request| observe::observe(app, request, guard).await;
    cors::cors(&options.compat, request, observe).await
}

async fn not_found(request: Request) -> Problem {
    no_route(request.uri().path())
}

fn no_route(path: &str) -> Problem {
    let shown: String = path.chars().take(128).collect();
    Problem::new(Code::NoSuchRoute, format!("there is nothing at `{shown}`"))
}

async fn method_not_allowed(request: Request) -> Problem {
    let shown: String = request.uri().path().chars().take(128).collect();
    Problem::new(Code::MethodNotAllowed, format!("`{shown}` has no method {}", request.method()))
}
