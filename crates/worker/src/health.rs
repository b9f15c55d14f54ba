//! The worker's own HTTP server, for whoever keeps it running: `/livez`, `/readyz`, `/jobs`.
//!
//! It runs on the session's thread, so it answers while the handlers are busy, and stops answering
//! when the session does.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::Value;

use crate::error::WorkerError;
use crate::status::Status;

/// Takes the address, so that a mistake is told before the worker starts.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, WorkerError> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|cause| WorkerError::Health { address, cause })
}

/// Serves until the runtime ends. Must be called on the session's runtime.
pub(crate) async fn serve(listener: TcpListener, status: Arc<Status>) {
    let routes = Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(readyz))
        .route("/jobs", get(jobs))
        .with_state(status);
    let served = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => axum::serve(listener, routes).await,
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::error!("the health server ended: {error}");
    }
}

async fn readyz(State(status): State<Arc<Status>>) -> (StatusCode, String) {
    let standing = status.watch().borrow().clone();
    if standing.open && !standing.draining {
        return (StatusCode::OK, "ok\n".into());
    }
    let reason = match standing.trouble {
        _ if standing.draining => "draining".into(),
        Some(trouble) => trouble,
        None => "the session is not open".into(),
    };
    (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"))
}

async fn jobs(State(status): State<Arc<Status>>) -> Json<Value> {
    Json(status.running())
}
