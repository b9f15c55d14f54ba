//! Schedules: list, make, change, delete, look ahead and back, and the verbs pause, resume, run, backfill.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use ganger_core::Wall;
use ganger_core::limits;
use ganger_core::name::ScheduleName;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::fields::{self, Object};
use super::intake::Context;
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment, Verbs};
use super::schedule_intake::{self, Read};
use super::{App, exec_token};
use crate::api::{
    BackfillRequest, FiredBody, InstantBody, OccurrencesBody, ProblemBody, ScheduleBody, SchedulePreview,
    ScheduleRequest, SchedulesBody, UpcomingBody,
};
use crate::service::UPCOMING_DEFAULT;

/// What can be done with a schedule.
pub(super) const VERBS: Verbs = Verbs {
    of: "a schedule",
    routes: &[
        "/v1/schedules/{name}:pause",
        "/v1/schedules/{name}:resume",
        "/v1/schedules/{name}:run",
        "/v1/schedules/{name}:backfill",
    ],
};

/// A payload at its limit and everything else a schedule can say.
const SCHEDULE_BODY: usize = limits::SCHEDULE_PAYLOAD_BYTES + (64 << 10);

#[derive(OpenApi)]
#[openapi(paths(pause, resume, run, backfill))]
struct Described;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(list, create))
        .routes(routes!(preview))
        .routes(routes!(get, put, delete))
        .routes(routes!(next))
        .routes(routes!(occurrences))
        .route("/v1/schedules/{name}", axum::routing::post(verb))
}

/// List schedules
///
/// By name.
#[utoipa::path(get, path = "/v1/schedules", tag = "schedules",
    params(("limit" = Option<usize>, Query, description = "1 to 500, 50 if not given"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before")),
    responses((status = 200, body = SchedulesBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&["limit", "cursor"])?;
    let limit = request::limit(&params, limits::PAGE_MAX)?;
    let after = params.one("cursor")?.map(cursor).transpose()?;
    let page = app.service.schedule_page(after, limit).await?;
    let last = page.items.last().map(|view| view.record.schedule.name.to_string());
    let items = page.items.into_iter().map(ScheduleBody::from).collect();
    Ok(Json(SchedulesBody { items, next_cursor: last.filter(|_| page.more) }).into_response())
}

/// Make a schedule
///
/// It must not exist. Its first instant is the first one after this moment.
#[utoipa::path(post, path = "/v1/schedules", tag = "schedules", request_body = ScheduleRequest,
    responses((status = 201, body = ScheduleBody), (status = 409, body = ProblemBody),
        (status = 422, body = ProblemBody)))]
async fn create(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let read = read(&app, None, request).await?;
    let set = app.service.put_schedule(read.schedule, read.paused, true).await?;
    Ok((StatusCode::CREATED, Json(ScheduleBody::from(set.view))).into_response())
}

/// Preview a schedule
///
/// Checks it, spells out its defaults, and tells when it would fire. Nothing is changed.
#[utoipa::path(post, path = "/v1/schedules:preview", tag = "schedules", request_body = ScheduleRequest,
    responses((status = 200, body = SchedulePreview), (status = 422, body = ProblemBody)))]
async fn preview(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let Read { schedule, paused } = read(&app, None, request).await?;
    let (schedule, next) = app.service.preview_schedule(schedule, paused).await?;
    let next = next.into_iter().map(InstantBody::from).collect();
    Ok(Json(SchedulePreview { schedule: ScheduleBody::from(&schedule), next }).into_response())
}

/// Get a schedule
#[utoipa::path(get, path = "/v1/schedules/{name}", tag = "schedules", params(("name" = String, Path)),
    responses((status = 200, body = ScheduleBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let view = app.service.schedule(name(&segment)?).await?;
    Ok(Json(ScheduleBody::from(view)).into_response())
}

/// Make or replace a schedule
///
/// The same again changes nothing. What is left out has its default, but a schedule that is paused stays so. With another
/// rule it fires from this moment on.
#[utoipa::path(put, path = "/v1/schedules/{name}", tag = "schedules", params(("name" = String, Path)),
    request_body = ScheduleRequest,
    responses((status = 200, body = ScheduleBody), (status = 201, body = ScheduleBody),
        (status = 422, body = ProblemBody)))]
async fn put(State(app): State<App>, Segment(segment): Segment, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let read = read(&app, Some(name(&segment)?), request).await?;
    let set = app.service.put_schedule(read.schedule, read.paused, false).await?;
    let status = if set.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(ScheduleBody::from(set.view))).into_response())
}

/// Delete a schedule
///
/// With its ledger. Jobs that it made stay.
#[utoipa::path(delete, path = "/v1/schedules/{name}", tag = "schedules", params(("name" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody)))]
async fn delete(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&[])?;
    app.service.delete_schedule(name(&segment)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Tell when a schedule fires next
///
/// With the local time, and what the clocks do where they change. A paused schedule is shown as if it were not.
#[utoipa::path(get, path = "/v1/schedules/{name}/next", tag = "schedules",
    params(("name" = String, Path), ("n" = Option<usize>, Query, description = "1 to 1000, 10 if not given"),
        ("from" = Option<String>, Query, description = "Instants after this moment (RFC 3339); after now if not given")),
    responses((status = 200, body = UpcomingBody), (status = 404, body = ProblemBody)))]
async fn next(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&["n", "from"])?;
    let from = params.parsed::<Wall>("from")?;
    let count = match params.parsed::<usize>("n")? {
        None => UPCOMING_DEFAULT,
        Some(n) if (1..=limits::UPCOMING).contains(&n) => n,
        Some(n) => {
            return Err(Problem::parameter("n", format!("is {n}, allowed are 1 to {}", limits::UPCOMING)));
        }
    };
    let upcoming = app.service.upcoming(name(&segment)?, from, count).await?;
    let items = upcoming.into_iter().map(InstantBody::from).collect();
    Ok(Json(UpcomingBody { items }).into_response())
}

/// List what became of a schedule's occurrences
///
/// The firing ledger, newest instant first. Instants that were too many for a row each share one.
#[utoipa::path(get, path = "/v1/schedules/{name}/occurrences", tag = "schedules",
    params(("name" = String, Path), ("limit" = Option<usize>, Query, description = "1 to 500, 50 if not given"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before")),
    responses((status = 200, body = OccurrencesBody), (status = 404, body = ProblemBody)))]
async fn occurrences(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&["limit", "cursor"])?;
    let limit = request::limit(&params, limits::PAGE_MAX)?;
    let before = params.one("cursor")?.map(cursor::<i64>).transpose()?.map(Wall);
    let page = app.service.occurrences(name(&segment)?, before, limit).await?;
    let next_cursor = page.items.last().filter(|_| page.more).map(|row| row.due_at.0.to_string());
    let items = page.items.into_iter().map(Into::into).collect();
    Ok(Json(OccurrencesBody { items, next_cursor }).into_response())
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    let handler = |name, verb| async move {
        match verb {
            "pause" => pause(&app, name, &params, request).await,
            "resume" => resume(&app, name, &params, request).await,
            "run" => run(&app, name, &params, request).await,
            "backfill" => backfill(&app, name, &params, request).await,
            _ => Err(VERBS.unknown()),
        }
    };
    VERBS.dispatch(&segment, handler).await
}

/// Pause a schedule
///
/// It fires nothing until it is resumed.
#[utoipa::path(post, path = "/v1/schedules/{name}:pause", tag = "schedules", params(("name" = String, Path)),
    responses((status = 200, body = ScheduleBody), (status = 404, body = ProblemBody)))]
async fn pause(app: &App, name: &str, params: &Params, request: Request) -> Answer {
    let name = prepare(name, params, request).await?;
    let set = app.service.pause_schedule(name, true).await?;
    Ok(Json(ScheduleBody::from(set.view)).into_response())
}

/// Resume a schedule
///
/// What was due meanwhile is in the ledger as skipped; a backfill makes up for it.
#[utoipa::path(post, path = "/v1/schedules/{name}:resume", tag = "schedules", params(("name" = String, Path)),
    responses((status = 200, body = ScheduleBody), (status = 404, body = ProblemBody)))]
async fn resume(app: &App, name: &str, params: &Params, request: Request) -> Answer {
    let exec = exec_token::allows(app.options.exec_token.as_ref(), request.headers());
    let name = prepare(name, params, request).await?;
    exec_token::may_fire(&app.service, &name, exec).await?;
    let set = app.service.pause_schedule(name, false).await?;
    Ok(Json(ScheduleBody::from(set.view)).into_response())
}

/// Fire a schedule now
///
/// Whatever it says, also while it is paused or a job of it runs. Sent twice it fires twice.
#[utoipa::path(post, path = "/v1/schedules/{name}:run", tag = "schedules", params(("name" = String, Path)),
    responses((status = 200, body = FiredBody), (status = 404, body = ProblemBody)))]
async fn run(app: &App, name: &str, params: &Params, request: Request) -> Answer {
    let exec = exec_token::allows(app.options.exec_token.as_ref(), request.headers());
    let name = prepare(name, params, request).await?;
    exec_token::may_fire(&app.service, &name, exec).await?;
    let rows = app.service.run_schedule(name).await?;
    let occurrences = rows.into_iter().map(Into::into).collect();
    Ok(Json(FiredBody { considered: 1, occurrences, instants: Vec::new() }).into_response())
}

/// Make up for a range of the past
///
/// Instants of the range that did not fire do so now, at most 1000. With `preview` it only tells which instants there
/// are. Sent twice it changes nothing the second time.
#[utoipa::path(post, path = "/v1/schedules/{name}:backfill", tag = "schedules", params(("name" = String, Path)),
    request_body = BackfillRequest,
    responses((status = 200, body = FiredBody), (status = 404, body = ProblemBody),
        (status = 422, body = ProblemBody)))]
async fn backfill(app: &App, text: &str, params: &Params, request: Request) -> Answer {
    params.only(&[])?;
    let name = name(text)?;
    let exec = exec_token::allows(app.options.exec_token.as_ref(), request.headers());
    let bytes = request::body(request, SMALL_BODY).await?;
    let mut object = Object::parse(fields::text(&bytes)?, &["from", "to", "preview"], "")?;
    let (from, to): (Option<Wall>, Option<Wall>) = (object.take("from"), object.take("to"));
    let preview = object.take("preview").unwrap_or(false);
    for field in ["from", "to"] {
        if object.raw(field).is_none() {
            object.refuse(field, "is missing");
        }
    }
    object.finish().map_err(Problem::fields)?;
    let (Some(from), Some(to)) = (from, to) else {
        return Err(Problem::new(Code::Internal, "the range could not be read"));
    };
    if !preview {
        exec_token::may_fire(&app.service, &name, exec).await?;
    }
    let backfilled = app.service.backfill_schedule(name, from, to, preview).await?;
    Ok(Json(FiredBody::from(backfilled)).into_response())
}

async fn read(app: &App, named: Option<ScheduleName>, request: Request) -> Result<Read, Problem> {
    let headers: HeaderMap = request.headers().clone();
    let bytes = request::body(request, SCHEDULE_BODY).await?;
    // Whoever makes a schedule is no part of what its jobs do, maybe years later.
    let context = Context {
        traceparent: None,
        tracestate: None,
        ..super::jobs::context(app, &headers, app.now().wall)
    };
    schedule_intake::schedule(fields::text(&bytes)?, named, context)
}

async fn prepare(text: &str, params: &Params, request: Request) -> Result<ScheduleName, Problem> {
    params.only(&[])?;
    let name = name(text)?;
    request::no_fields(request).await?;
    Ok(name)
}

fn name(text: &str) -> Result<ScheduleName, Problem> {
    text.parse()
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("the name of the schedule {error}")))
}

fn cursor<T: std::str::FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::new(Code::InvalidCursor, "the text is not a cursor of this list"))
}
