//! Workers: list, get, drain.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use ganger_core::SessionId;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::observe::RouteLabel;
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, Segment};
use crate::api::{ProblemBody, WorkerBody, WorkersBody};

/// Verbs of a worker, as in `POST /v1/workers/{id}:drain`.
pub(super) const VERBS: [&str; 1] = ["drain"];

#[derive(OpenApi)]
#[openapi(paths(drain))]
struct Verbs;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Verbs::openapi())
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
#[utoipa::path(get, path = "/v1/workers/{id}", tag = "workers", params(("id" = String, Path)),
    responses((status = 200, body = WorkerBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    show(&app, worker_id(&id)?).await
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    match segment.rsplit_once(':') {
        Some((id, "drain")) => {
            RouteLabel("/v1/workers/{id}:drain").on(drain(&app, id, &params, request).await)
        }
        _ => {
            let detail = format!("a worker has the verb {}: POST /v1/workers/{{id}}:drain", VERBS.join(", "));
            Problem::new(Code::MethodNotAllowed, detail).into_response()
        }
    }
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
    app.service.drain_worker(id).await?;
    show(app, id).await
}

async fn show(app: &App, id: SessionId) -> Answer {
    let worker = app.service.workers().await?.into_iter().find(|worker| worker.session == id);
    match worker {
        Some(worker) => Ok(Json(WorkerBody::from(worker)).into_response()),
        None => Err(Problem::new(Code::NoSuchWorker, format!("there is no worker {id}"))),
    }
}

fn worker_id(text: &str) -> Result<SessionId, Problem> {
    text.parse().map_err(|error| Problem::new(Code::InvalidParameter, format!("{error}")))
}
