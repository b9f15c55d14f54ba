//! The server as a whole.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use ganger_core::access::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::request::{Answer, Params};
use crate::api::SystemBody;
use crate::auth::Asking;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(system))
}

/// Get the server as a whole
///
/// Version, store, health, who leads, what is kept how long, and the settings in force with where each came from. Every
/// server answers by itself. Settings, with secrets masked, are for administrators.
#[utoipa::path(get, path = "/v1/system", tag = "server", responses((status = 200, body = SystemBody)))]
async fn system(State(app): State<App>, asking: Asking, params: Params) -> Answer {
    params.only(&[])?;
    let seen = app.service.system(asking.0.may.contains(Permission::Admin)).await;
    let label = app.service.about().label.clone();
    Ok(Json(SystemBody::new(app.options.version, label, seen)).into_response())
}
