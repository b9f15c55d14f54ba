//! Who leads and who is there.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::request::{Answer, Params};
use crate::api::ClusterBody;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(cluster))
}

/// Get the servers and their leader
///
/// Every server answers by itself, also while the store does not: then it tells what it knows, and why that may
/// not be all.
#[utoipa::path(get, path = "/v1/cluster", tag = "server", responses((status = 200, body = ClusterBody)))]
async fn cluster(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    Ok(Json(ClusterBody::from(app.service.cluster().await)).into_response())
}
