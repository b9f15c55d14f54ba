//! How many workers a queue could use: for autoscalers, which read one number of a JSON document.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::queues;
use super::request::{Answer, Params, Segment};
use crate::api::{ProblemBody, ScalingBody};
use crate::service::bounds;

const PARAMS: &[&str] = &["max", "threads_per_worker"];

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(scaling))
}

/// Get how many workers a queue could use
///
/// For KEDA's `metrics-api` scaler with `valueLocation: desired_workers` and `targetValue: "1"`, and for others of its sort. It
/// is zero when nothing of the queue runs and nothing could start. A paused queue counts what still runs; limits of the queue
/// count too.
#[utoipa::path(get, path = "/v1/scaling/{queue}", tag = "queues",
    params(
        ("queue" = String, Path),
        ("max" = Option<u32>, Query, description = "Never ask for more workers than this; 100 if not given"),
        ("threads_per_worker" = Option<u16>, Query,
            description = "Threads that a new worker brings; if not given, as many as the narrowest that serves the queue, or 4"),
    ),
    responses((status = 200, body = ScalingBody), (status = 400, body = ProblemBody)))]
async fn scaling(State(app): State<App>, Segment(queue): Segment, params: Params) -> Answer {
    params.only(PARAMS)?;
    let queue = queues::name(&queue)?;
    let bounds = bounds(params.parsed("max")?, params.parsed("threads_per_worker")?)?;
    Ok(Json(ScalingBody::from(app.service.scaling(queue, bounds).await?)).into_response())
}
