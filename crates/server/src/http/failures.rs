//! Groups of failures: list, get, and the verbs replay and discard on the dead jobs of a group.

use axum::Json;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::response::{IntoResponse as _, Response};
use ganger_core::fingerprint::Fingerprint;
use ganger_core::limits;
use ganger_core::name::Kind;
use ganger_core::operation::Action;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::operations::{Wanted, begin, manner};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment, Verbs};
use crate::api::{FailureBody, FailuresBody, GroupRequest, OperationBody, PreviewBody, ProblemBody};
use crate::auth::Asking;
use crate::service::{FAILURES_WINDOW, NO_WINDOW, NewOperation, ServiceError};

/// What can be done with a group.
pub(super) const VERBS: Verbs = Verbs {
    of: "a group",
    routes: &["/v1/failures/{fingerprint}:replay", "/v1/failures/{fingerprint}:discard"],
};

#[derive(OpenApi)]
#[openapi(paths(replay, discard))]
struct Described;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(list))
        .routes(routes!(get))
        .route("/v1/failures/{fingerprint}", axum::routing::post(verb))
}

/// List groups of failures
///
/// Attempts that failed for one cause, per kind: numbers, ids, addresses and the like do not tell causes apart. The last seen first.
/// Each with how often it came in the window, over time and as a part of its kind's attempts, for windows of up to seven days.
#[utoipa::path(get, path = "/v1/failures", tag = "failures",
    params(
        ("window" = Option<String>, Query, description = "Seen within this time, such as `1h`, `24h` or `7d`; 24h if not given"),
        ("kind" = Option<String>, Query, description = "Only of this kind"),
        ("limit" = Option<usize>, Query, description = "1 to 500, 50 if not given"),
    ),
    responses((status = 200, body = FailuresBody), (status = 400, body = ProblemBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&["window", "kind", "limit"])?;
    let window = params.duration("window", limits::LONGEST)?.unwrap_or(FAILURES_WINDOW);
    if window.is_zero() {
        return Err(Problem::parameter("window", NO_WINDOW));
    }
    let kind = params.parsed::<Kind>("kind")?;
    let limit = request::limit(&params, limits::PAGE_MAX)?;
    let seen = app.service.failures(window, kind, limit).await?;
    Ok(Json(FailuresBody::from(seen)).into_response())
}

/// Get a group of failures
#[utoipa::path(get, path = "/v1/failures/{fingerprint}", tag = "failures",
    params(("fingerprint" = String, Path)),
    responses((status = 200, body = FailureBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let group = app.service.failure(fingerprint(&segment)?).await?;
    Ok(Json(FailureBody::from(group)).into_response())
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    let handler = |group, verb| async move {
        match verb {
            "replay" => replay(&app, group, &params, request).await,
            "discard" => discard(&app, group, &params, request).await,
            _ => Err(VERBS.unknown()),
        }
    };
    VERBS.dispatch(&segment, handler).await
}

/// Replay the dead jobs of a group
///
/// As a bulk operation: those whose last attempt failed so.
#[utoipa::path(post, path = "/v1/failures/{fingerprint}:replay", tag = "failures",
    params(("fingerprint" = String, Path)), request_body = GroupRequest,
    responses((status = 202, body = OperationBody), (status = 200, body = PreviewBody),
        (status = 404, body = ProblemBody)))]
async fn replay(app: &App, group: &str, params: &Params, request: Request) -> Answer {
    operate(app, Action::Replay, group, params, request).await
}

/// Delete the dead jobs of a group
///
/// As a bulk operation: those whose last attempt failed so. The group stays listed, with its count.
#[utoipa::path(post, path = "/v1/failures/{fingerprint}:discard", tag = "failures",
    params(("fingerprint" = String, Path)), request_body = GroupRequest,
    responses((status = 202, body = OperationBody), (status = 200, body = PreviewBody),
        (status = 404, body = ProblemBody)))]
async fn discard(app: &App, group: &str, params: &Params, request: Request) -> Answer {
    operate(app, Action::Delete, group, params, request).await
}

async fn operate(app: &App, action: Action, group: &str, params: &Params, request: Request) -> Answer {
    params.only(&[])?;
    let fingerprint = fingerprint(group)?;
    let (mut parts, body) = request.into_parts();
    let asking = Asking::from_request_parts(&mut parts, &()).await?;
    let request = Request::from_parts(parts, body);
    let (headers, route) = (request.headers().clone(), format!("POST {}", request.uri().path()));
    let bytes = request::body(request, SMALL_BODY).await?;
    let text = fields::text(&bytes)?;
    let text = if text.trim().is_empty() { "{}" } else { text };
    let mut object = Object::parse(text, &["dry_run", "rate", "reason"], "")?;
    let (dry_run, rate, reason) = manner(&mut object);
    object.finish().map_err(Problem::fields)?;
    let target = app.service.dead_of_failure(fingerprint).await?;
    let new = NewOperation::new(action, target, rate, reason).map_err(ServiceError::from)?;
    begin(app, &asking, Wanted { new, dry_run }, &headers, &route, &bytes).await
}

fn fingerprint(text: &str) -> Result<Fingerprint, Problem> {
    text.parse().map_err(|error| Problem::new(Code::InvalidParameter, format!("{error}")))
}
