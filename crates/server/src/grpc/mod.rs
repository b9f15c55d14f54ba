//! The gRPC doors: the stream of a worker, for programs what REST offers, health, and the compatible door of profile D.
//!
//! gRPC is spoken over HTTP/2 only, and not to web pages: a browser speaks HTTP/2 only where there is
//! TLS, so whatever arrives here in plain HTTP/2 was sent by a program.

mod dts;
mod failures;
mod health;
mod intake;
mod jobs;
mod keys;
mod kinds;
mod observe;
mod operations;
mod queues;
mod read;
mod schedules;
mod server;
mod session;
mod shown;
mod status;
mod views;
mod worker;
mod workers;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Version, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use ganger_proto::MESSAGE_BYTES;
use ganger_proto::dts::client_service_server::ClientServiceServer;
use ganger_proto::health::health_server::HealthServer;
use ganger_proto::v1::failures_server::FailuresServer;
use ganger_proto::v1::jobs_server::JobsServer;
use ganger_proto::v1::keys_server::KeysServer;
use ganger_proto::v1::kinds_server::KindsServer;
use ganger_proto::v1::operations_server::OperationsServer;
use ganger_proto::v1::queues_server::QueuesServer;
use ganger_proto::v1::schedules_server::SchedulesServer;
use ganger_proto::v1::server_server::ServerServer;
use ganger_proto::v1::views_server::ViewsServer;
use ganger_proto::v1::worker_server::WorkerServer;
use ganger_proto::v1::workers_server::WorkersServer;
use tonic::Status;
use tonic::metadata::MetadataMap;
use tonic::server::NamedService;

use crate::auth::porter;
use crate::http::ExecToken;
use crate::http::compat::{CompatOptions, Profile};
use crate::http::problem::Problem;
use crate::metrics::Metrics;
use crate::relay::{self, Door, Relay};
use crate::service::Service;

/// The header that lets a client submit jobs of kind `exec`.
const EXEC_TOKEN: &str = "x-ganger-exec-token";

/// The gRPC services as routes, to be served on the same port as everything else.
pub fn router(
    service: &Service,
    exec_token: Option<ExecToken>,
    metrics: Metrics,
    version: &'static str,
    relay: Relay,
    compat: &CompatOptions,
) -> Router {
    let worker = WorkerServer::new(worker::WorkerDoor::new(service.clone()))
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    let jobs = jobs::JobsDoor { service: service.clone(), exec_token: exec_token.clone() };
    let dts = dts::DtsDoor { jobs: jobs.clone(), open: compat.open_commands };
    let jobs = JobsServer::new(jobs).max_decoding_message_size(MESSAGE_BYTES);
    let schedules = schedules::SchedulesDoor { service: service.clone(), exec_token: exec_token.clone() };
    let server = server::ServerDoor { service: service.clone(), version };
    let router = Router::new().route_service(&path(&worker), worker).route_service(&path(&jobs), jobs);
    let router = small(router, SchedulesServer::new(schedules));
    let router = small(router, ServerServer::new(server));
    let router = small(router, QueuesServer::new(queues::QueuesDoor(service.clone())));
    let router = small(router, KeysServer::new(keys::KeysDoor(service.clone())));
    let router = small(router, KindsServer::new(kinds::KindsDoor(service.clone())));
    let router =
        small(router, OperationsServer::new(operations::OperationsDoor(service.clone(), exec_token.clone())));
    let router = small(router, FailuresServer::new(failures::FailuresDoor(service.clone(), exec_token)));
    let router = small(router, ViewsServer::new(views::ViewsDoor(service.clone())));
    let router = small(router, WorkersServer::new(workers::WorkersDoor(service.clone())));
    let router = small(router, HealthServer::new(health::HealthDoor::new(service.clone(), relay.clone())));
    let router = match compat.profiles.has(Profile::D) {
        true => small(router, ClientServiceServer::new(dts)),
        // Not left to the REST door, whose problems a gRPC client cannot read.
        false => router.route("/dts.ClientService/{method}", any(switched_off)),
    };
    let gate = Arc::new(Gate { service: service.clone(), metrics, relay });
    router.layer(middleware::from_fn_with_state(gate, enter))
}

/// What stands between the port and a service.
struct Gate {
    service: Service,
    metrics: Metrics,
    relay: Relay,
}

/// One layer, because each more would be copied for every request with all that is inside it.
async fn enter(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let Gate { service, metrics, relay } = &*gate;
    observe::observe(metrics, service.clock(), relay.admit(request), async |request| {
        if !is_of_program(&request) {
            return Status::permission_denied("gRPC is served over HTTP/2 and not to web pages").into_http();
        }
        porter(service, Door::Grpc, request, async |request| {
            relay::through(relay, Door::Grpc, request, next).await
        })
        .await
    })
    .await
}

/// Adds a service whose messages keep to tonic's own limit of 4 MiB.
fn small<S>(router: Router, service: S) -> Router
where
    S: NamedService + tower::Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    router.route_service(&path(&service), service)
}

/// Whether a call may submit jobs of kind `exec`.
fn exec_allowed(token: Option<&ExecToken>, metadata: &MetadataMap) -> bool {
    let shown = metadata.get(EXEC_TOKEN).and_then(|value| value.to_str().ok());
    match (token, shown) {
        (Some(token), Some(shown)) => token.is(shown),
        (Some(_), None) | (None, _) => false,
    }
}

async fn switched_off() -> Response {
    Status::unimplemented("this compatible door is switched off").into_http()
}

/// A refusal as a gRPC client understands it.
pub(crate) fn refusal(problem: Problem) -> Response {
    status::status(problem).into_http()
}

/// Where a service is found. Every method of it is one segment below its name.
fn path<S: NamedService>(_: &S) -> String {
    format!("/{}/{{method}}", S::NAME)
}

/// Without this a page whose name is made to point to this machine could submit jobs.
fn is_of_program(request: &Request) -> bool {
    let headers = request.headers();
    let page = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    !page && request.version() == Version::HTTP_2
}
