//! Kinds: list, get, set.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::IntoResponse as _;
use ganger_core::name::Kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment};
use crate::api::{KindBody, KindPut, KindsBody, ProblemBody};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get, put))
}

/// List kinds
///
/// Every kind that was ever set; all others have the default settings.
#[utoipa::path(get, path = "/v1/kinds", tag = "kinds", responses((status = 200, body = KindsBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let kinds = app.service.kinds().await?;
    let items = kinds.into_iter().map(|(kind, settings)| KindBody::new(kind, settings)).collect();
    Ok(Json(KindsBody { items }).into_response())
}

/// Get a kind
///
/// A kind that was never set has the default settings.
#[utoipa::path(get, path = "/v1/kinds/{kind}", tag = "kinds", params(("kind" = String, Path)),
    responses((status = 200, body = KindBody)))]
async fn get(State(app): State<App>, Segment(kind): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let kind = name(&kind)?;
    let settings = app.service.kind(kind.clone()).await?;
    Ok(Json(KindBody::new(kind, settings)).into_response())
}

/// Set a kind
///
/// What is left out stays as it is. Jobs that run keep what they were started with.
#[utoipa::path(put, path = "/v1/kinds/{kind}", tag = "kinds", params(("kind" = String, Path)),
    request_body = KindPut,
    responses((status = 200, body = KindBody), (status = 409, body = ProblemBody),
        (status = 422, body = ProblemBody)))]
async fn put(State(app): State<App>, Segment(kind): Segment, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let kind = name(&kind)?;
    let bytes = request::body(request, SMALL_BODY).await?;
    let mut object = Object::parse(fields::text(&bytes)?, &["transactional"], "")?;
    let transactional = object.take::<bool>("transactional");
    object.finish().map_err(Problem::fields)?;
    let settings = app.service.change_kind(kind.clone(), transactional).await?;
    Ok(Json(KindBody::new(kind, settings)).into_response())
}

fn name(text: &str) -> Result<Kind, Problem> {
    text.parse()
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("the name of the kind {error}")))
}
