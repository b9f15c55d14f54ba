//! The gRPC doors: the stream of a worker, and jobs for programs.
//!
//! gRPC is spoken over HTTP/2 only, and not to web pages: a browser speaks HTTP/2 only where there is
//! TLS, so whatever arrives here in plain HTTP/2 was sent by a program.

mod intake;
mod jobs;
mod session;
mod shown;
mod status;
mod worker;

use axum::Router;
use axum::extract::Request;
use axum::http::{Version, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use ganger_proto::MESSAGE_BYTES;
use ganger_proto::v1::jobs_server::JobsServer;
use ganger_proto::v1::worker_server::WorkerServer;
use tonic::Status;
use tonic::server::NamedService;

use crate::http::ExecToken;
use crate::http::problem::Problem;
use crate::metrics::Metrics;
use crate::relay::{self, Door, Relay};
use crate::service::Service;

/// The gRPC services as routes, to be served on the same port as everything else.
pub fn router(service: &Service, exec_token: Option<ExecToken>, metrics: Metrics, relay: Relay) -> Router {
    let worker = WorkerServer::new(worker::WorkerDoor::new(service.clone()))
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    let jobs = JobsServer::new(jobs::JobsDoor { service: service.clone(), exec_token, metrics })
        .max_decoding_message_size(MESSAGE_BYTES);
    Router::new()
        .route_service(&path(&worker), worker)
        .route_service(&path(&jobs), jobs)
        .layer(middleware::from_fn_with_state((relay, Door::Grpc), relay::through))
        .layer(middleware::from_fn(only_programs))
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
async fn only_programs(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let page = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if page || request.version() != Version::HTTP_2 {
        return Status::permission_denied("gRPC is served over HTTP/2 and not to web pages").into_http();
    }
    next.run(request).await
}
