//! The whole, in numbers, and what this server is and allows.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::request::{Answer, Params};
use crate::api::{CapabilitiesBody, StatsBody};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(stats)).routes(routes!(capabilities))
}

/// Get the counts, and how things are
///
/// The counts are exact, and as cheap with a million jobs as with ten. The verdict is one sentence: what is worst, or that
/// all is well.
#[utoipa::path(get, path = "/v1/stats", tag = "server", responses((status = 200, body = StatsBody)))]
async fn stats(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let (stats, verdict) = app.service.stats_and_verdict().await?;
    Ok(Json(StatsBody { verdict: Some(verdict.into()), ..StatsBody::from(stats) }).into_response())
}

/// Get what this server is and allows
#[utoipa::path(get, path = "/v1/capabilities", tag = "server",
    responses((status = 200, body = CapabilitiesBody)))]
async fn capabilities(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    Ok(Json(CapabilitiesBody::new(app.options.version, app.service.about(), app.service.auth()))
        .into_response())
}
