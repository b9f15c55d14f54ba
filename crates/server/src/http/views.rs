//! Saved views: list, get, set, delete.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use ganger_core::name::QueueName;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment};
use crate::api::{ProblemBody, ViewBody, ViewPut, ViewsBody};
use crate::service::View;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get, put, delete))
}

/// List saved views
#[utoipa::path(get, path = "/v1/views", tag = "views", responses((status = 200, body = ViewsBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let items = app.service.views().await?.into_iter().map(|(name, view)| shown(name, view)).collect();
    Ok(Json(ViewsBody { items }).into_response())
}

/// Get a saved view
#[utoipa::path(get, path = "/v1/views/{name}", tag = "views", params(("name" = String, Path)),
    responses((status = 200, body = ViewBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let name = name(&segment)?;
    let view = app.service.view(&name).await?;
    Ok(Json(shown(name, view)).into_response())
}

/// Save a view
///
/// A filter with a name. One of that name is replaced.
#[utoipa::path(put, path = "/v1/views/{name}", tag = "views", params(("name" = String, Path)),
    request_body = ViewPut,
    responses((status = 200, body = ViewBody), (status = 201, body = ViewBody, description = "It is new"),
        (status = 400, body = ProblemBody, description = "Its filter cannot be understood"),
        (status = 422, body = ProblemBody)))]
async fn put(State(app): State<App>, Segment(segment): Segment, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let name = name(&segment)?;
    let bytes = request::body(request, SMALL_BODY).await?;
    let mut object = Object::parse(fields::text(&bytes)?, &["query", "description"], "")?;
    let query = object.take::<String>("query");
    let description = object.take::<String>("description");
    if query.is_none() && !object.is_refused() {
        object.refuse("query", "is missing");
    }
    object.finish().map_err(Problem::fields)?;
    let (view, new) = app.service.put_view(&name, query.unwrap_or_default(), description).await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(shown(name, view))).into_response())
}

/// Delete a saved view
#[utoipa::path(delete, path = "/v1/views/{name}", tag = "views", params(("name" = String, Path)),
    responses((status = 204, description = "It is gone"), (status = 404, body = ProblemBody)))]
async fn delete(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Answer {
    params.only(&[])?;
    let name = name(&segment)?;
    request::no_fields(request).await?;
    app.service.delete_view(&name).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Views have names like queues.
fn name(text: &str) -> Result<String, Problem> {
    let name: Result<QueueName, _> = text.parse();
    name.map(|name| name.to_string())
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("the name of the view {error}")))
}

fn shown(name: String, view: View) -> ViewBody {
    ViewBody { name, query: view.query, description: view.description, updated_at: view.updated_at }
}
