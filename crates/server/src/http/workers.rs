//! Workers: list, get, drain.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use ganger_core::SessionId;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, Segment, Verbs};
use crate::api::{HeldBody, ProblemBody, WorkerBody, WorkersBody};

/// What can be done with a worker.
pub(super) const VERBS: Verbs = Verbs { of: "a worker", routes: &["/v1/workers/{id}:drain"] };

#[derive(OpenApi)]
#[openapi(paths(drain))]
struct Described;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(list))
        .routes(routes!(get))
        .route("/v1/workers/{id}", axum::routing::post(verb))
}

/// List workers
///
/// Lost ones of the last hour included.
#[utoipa::path(get, path = "/v1/workers", tag = "workers", responses((status = 200, body = WorkersBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let items = app.service.workers().await?.into_iter().map(WorkerBody::from).collect();
    Ok(Json(WorkersBody { items }).into_response())
}

/// Get a worker
///
/// Of one that left, with why it did, and what became of the jobs that it held.
#[utoipa::path(get, path = "/v1/workers/{id}", tag = "workers", params(("id" = String, Path)),
    responses((status = 200, body = WorkerBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let worker = app.service.worker(worker_id(&id)?).await?;
    let held = worker.left.as_ref().map(|left| left.jobs.clone()).unwrap_or_default();
    let mut body = WorkerBody::from(worker);
    if let Some(left) = &mut body.left {
        let states = app.service.states(&held).await?;
        left.jobs = states.into_iter().map(|(job, state)| HeldBody { job, state }).collect();
    }
    Ok(Json(body).into_response())
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    let handler = |id, verb| async move {
        match verb {
            "drain" => drain(&app, id, &params, request).await,
            _ => Err(VERBS.unknown()),
        }
    };
    VERBS.dispatch(&segment, handler).await
}

/// Drain a worker
///
/// It finishes what it holds and takes nothing new.
#[utoipa::path(post, path = "/v1/workers/{id}:drain", tag = "workers", params(("id" = String, Path)),
    responses((status = 200, body = WorkerBody), (status = 404, body = ProblemBody)))]
async fn drain(app: &App, id: &str, params: &Params, request: Request) -> Answer {
    params.only(&[])?;
    let id = worker_id(id)?;
    request::no_fields(request).await?;
    let worker = app.service.drain_worker(id).await?;
    Ok(Json(WorkerBody::from(worker)).into_response())
}

fn worker_id(text: &str) -> Result<SessionId, Problem> {
    text.parse().map_err(|error| Problem::new(Code::InvalidParameter, format!("{error}")))
}
