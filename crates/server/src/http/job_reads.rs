//! Reading one job: itself, its attempts, payload, result, logs, and why it waits.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse as _;
use ganger_core::access::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::jobs::job_id;
use super::problem::{Code, Problem};
use super::request::{Answer, Params, Segment};
use super::shown::{self, Include};
use crate::api::{AttemptBody, AttemptsBody, ExplainBody, JobBody, JobEventsBody, ProblemBody};
use crate::auth::Asking;

/// Longest `?wait=`.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(get))
        .routes(routes!(attempts))
        .routes(routes!(events))
        .routes(routes!(result))
        .routes(routes!(payload))
        .routes(routes!(explain))
        .routes(routes!(logs))
}

/// Get a job
///
/// With `wait`, the answer comes once the job is final, or as it is when the time is over.
#[utoipa::path(get, path = "/v1/jobs/{id}", tag = "jobs",
    params(("id" = String, Path), ("wait" = Option<String>, Query, description = "A duration up to 60s")),
    responses((status = 200, body = JobBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(id): Segment, asking: Asking, params: Params) -> Answer {
    params.only(&["wait"])?;
    let id = job_id(&id)?;
    let view = match params.duration("wait", LONGEST_WAIT)? {
        None => app.service.job(id).await?,
        Some(wait) => app.service.wait(id, wait).await?,
    };
    let body = shown::job(view.stored, view.progress, view.worker, Include::of(&asking), app.now().wall);
    Ok(Json(body).into_response())
}

/// List a job's attempts
#[utoipa::path(get, path = "/v1/jobs/{id}/attempts", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = AttemptsBody), (status = 404, body = ProblemBody)))]
async fn attempts(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let records = app.service.attempts(job_id(&id)?).await?;
    let items = records.into_iter().map(AttemptBody::from).collect();
    Ok(Json(AttemptsBody { items }).into_response())
}

/// List what happened to a job
///
/// Its intake, the beginning and end of each attempt, its end, and, for those who may read the audit log, who asked for what;
/// in order.
#[utoipa::path(get, path = "/v1/jobs/{id}/events", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = JobEventsBody), (status = 404, body = ProblemBody)))]
async fn events(State(app): State<App>, Segment(id): Segment, asking: Asking, params: Params) -> Answer {
    params.only(&[])?;
    let audited = asking.0.may.contains(Permission::Audit);
    let events = app.service.job_events(job_id(&id)?, audited).await?;
    Ok(Json(JobEventsBody::from(events)).into_response())
}

/// Get a job's result
///
/// The bytes that its handler returned.
#[utoipa::path(get, path = "/v1/jobs/{id}/result", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = serde_json::Value), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "It is not final yet")))]
async fn result(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let stored = app.service.job(job_id(&id)?).await?.stored;
    let state = stored.state.as_str();
    match stored.end {
        None => {
            Err(Problem::new(Code::WrongState, format!("job {} is {state}, it has no result yet", stored.id)))
        }
        Some(end) => match end.result {
            Some(result) => Ok(json_text(result)),
            None => {
                let reason = end.reason.map_or(String::new(), |reason| format!(": {reason}"));
                Err(Problem::new(Code::NoResult, format!("job {} is {state}{reason}", stored.id)))
            }
        },
    }
}

/// Get a job's payload
///
/// The bytes that were submitted.
#[utoipa::path(get, path = "/v1/jobs/{id}/payload", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = serde_json::Value), (status = 404, body = ProblemBody)))]
async fn payload(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    Ok(json_text(app.service.job(job_id(&id)?).await?.stored.spec.payload))
}

/// Tell why a job is, or is not, running
#[utoipa::path(get, path = "/v1/jobs/{id}/explain", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = ExplainBody), (status = 404, body = ProblemBody)))]
async fn explain(State(app): State<App>, asking: Asking, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let explanation = app.service.explain(job_id(&id)?).await?;
    let explanation = asking.may_know(&app.service, explanation).await?;
    Ok(Json(ExplainBody::from(explanation)).into_response())
}

/// Get what an attempt logged
///
/// The last 64 KiB of it, as text.
#[utoipa::path(get, path = "/v1/jobs/{id}/logs", tag = "jobs",
    params(("id" = String, Path),
        ("attempt" = Option<u32>, Query, description = "The last or present one if not given")),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 404, body = ProblemBody)))]
async fn logs(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&["attempt"])?;
    let id = job_id(&id)?;
    let attempt = params.parsed::<u32>("attempt")?;
    if attempt == Some(0) {
        return Err(Problem::parameter("attempt", "counts from 1"));
    }
    let (_, text) = app.service.logs(id, attempt).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

fn json_text(text: String) -> axum::response::Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
