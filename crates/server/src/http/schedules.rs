//! Schedules: list, make, change, delete, look ahead and back, and the verbs pause, resume, run, backfill.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use ganger_core::Wall;
use ganger_core::coordinator::port::{ScheduleRefusal, ScheduleView};
use ganger_core::limits;
use ganger_core::name::ScheduleName;
use ganger_core::schedule::timing::Timing;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::intake::Context;
use super::observe::RouteLabel;
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment};
use super::schedule_intake::{self, Read};
use crate::api::{
    BackfillRequest, FiredBody, InstantBody, OccurrencesBody, ProblemBody, ScheduleBody, SchedulePreview,
    ScheduleRequest, SchedulesBody, UpcomingBody,
};

/// Verbs of a schedule, as in `POST /v1/schedules/{name}:pause`.
pub(super) const VERBS: [&str; 4] = ["pause", "resume", "run", "backfill"];

/// A payload at its limit and everything else a schedule can say.
const SCHEDULE_BODY: usize = limits::SCHEDULE_PAYLOAD_BYTES + (64 << 10);
/// Instants that a preview shows.
const PREVIEWED: usize = 10;

#[derive(OpenApi)]
#[openapi(paths(pause, resume, run, backfill))]
struct Verbs;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Verbs::openapi())
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
    let limit = limit(&params)?;
    let after = params.one("cursor")?.map(cursor).transpose()?;
    let mut views = app.service.schedules(after, limit + 1).await?;
    let more = views.len() > limit;
    views.truncate(limit);
    let last = views.last().map(|view| view.record.schedule.name.to_string());
    let items = views.into_iter().map(ScheduleBody::from).collect();
    Ok(Json(SchedulesBody { items, next_cursor: last.filter(|_| more) }).into_response())
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
    let Read { mut schedule, paused } = read(&app, None, request).await?;
    let now = app.now().wall;
    // One that exists may have fired for the last time; whatever else is wrong is wrong here too.
    let known = app.service.schedule(schedule.name.clone()).await.ok();
    let timing = match &known {
        Some(view) if view.record.schedule.when == schedule.when => {
            Timing::new(&schedule, view.standing.anchor).and_then(|timing| {
                schedule.check_fields(now)?;
                Ok(timing)
            })
        }
        Some(_) | None => schedule.check(now),
    };
    let timing = timing.map_err(|error| Problem::from(ScheduleRefusal::Invalid(error)))?;
    if let Some(view) = known {
        schedule.paused = paused.unwrap_or(view.record.schedule.paused);
    }
    let next = timing.upcoming(now, PREVIEWED).into_iter().map(InstantBody::from).collect();
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
    params(("name" = String, Path), ("n" = Option<usize>, Query, description = "1 to 100, 10 if not given")),
    responses((status = 200, body = UpcomingBody), (status = 404, body = ProblemBody)))]
async fn next(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&["n"])?;
    let count = match params.parsed::<usize>("n")? {
        None => PREVIEWED,
        Some(n) if (1..=limits::UPCOMING).contains(&n) => n,
        Some(n) => {
            return Err(Problem::parameter("n", format!("is {n}, allowed are 1 to {}", limits::UPCOMING)));
        }
    };
    let view = app.service.schedule(name(&segment)?).await?;
    let timing = timing(&view)?;
    let from = app.now().wall.max(view.standing.settled);
    let items = timing.upcoming(from, count).into_iter().map(InstantBody::from).collect();
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
    let limit = limit(&params)?;
    let before = params.one("cursor")?.map(cursor::<i64>).transpose()?.map(Wall);
    let mut rows = app.service.occurrences(name(&segment)?, before, limit + 1).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = rows.last().filter(|_| more).map(|row| row.due_at.0.to_string());
    let items = rows.into_iter().map(Into::into).collect();
    Ok(Json(OccurrencesBody { items, next_cursor }).into_response())
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    // A schedule's name may itself contain colons: the verb follows the last one.
    let (name, verb) = segment.rsplit_once(':').unwrap_or((&segment, ""));
    let (label, answer) = match verb {
        "pause" => ("/v1/schedules/{name}:pause", pause(&app, name, &params, request).await),
        "resume" => ("/v1/schedules/{name}:resume", resume(&app, name, &params, request).await),
        "run" => ("/v1/schedules/{name}:run", run(&app, name, &params, request).await),
        "backfill" => ("/v1/schedules/{name}:backfill", backfill(&app, name, &params, request).await),
        _ => {
            let known = VERBS.join(", ");
            let detail = format!("a schedule has the verbs {known}: POST /v1/schedules/{{name}}:pause");
            return Problem::new(Code::MethodNotAllowed, detail).into_response();
        }
    };
    RouteLabel(label).on(answer)
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
    let name = prepare(name, params, request).await?;
    let set = app.service.pause_schedule(name, false).await?;
    Ok(Json(ScheduleBody::from(set.view)).into_response())
}

/// Fire a schedule now
///
/// Whatever it says, also while it is paused or a job of it runs. Sent twice it fires twice.
#[utoipa::path(post, path = "/v1/schedules/{name}:run", tag = "schedules", params(("name" = String, Path)),
    responses((status = 200, body = FiredBody), (status = 404, body = ProblemBody)))]
async fn run(app: &App, name: &str, params: &Params, request: Request) -> Answer {
    let name = prepare(name, params, request).await?;
    let rows = app.service.run_schedule(name).await?;
    Ok(Json(fired(1, rows)).into_response())
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
    let view = app.service.schedule(name.clone()).await?;
    let instants = view.backfill(from, to, app.now().wall).map_err(Problem::from)?;
    if preview {
        let timing = timing(&view)?;
        let shown = |at| InstantBody { at, local: timing.local(at), note: None };
        let (considered, instants) = (instants.len(), instants.into_iter().map(shown).collect());
        return Ok(Json(FiredBody { considered, occurrences: Vec::new(), instants }).into_response());
    }
    let rows = app.service.backfill_schedule(name, from, to).await?;
    Ok(Json(fired(instants.len(), rows)).into_response())
}

fn fired(considered: usize, rows: Vec<ganger_core::schedule::ledger::Occurrence>) -> FiredBody {
    let occurrences = rows.into_iter().map(Into::into).collect();
    FiredBody { considered, occurrences, instants: Vec::new() }
}

async fn read(app: &App, named: Option<ScheduleName>, request: Request) -> Result<Read, Problem> {
    let headers: HeaderMap = request.headers().clone();
    let bytes = request::body(request, SCHEDULE_BODY).await?;
    // Whoever makes a schedule is no part of what its jobs do, maybe years later.
    let context = Context { traceparent: None, ..super::jobs::context(app, &headers, app.now().wall) };
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

fn timing(view: &ScheduleView) -> Result<Timing, Problem> {
    Timing::new(&view.record.schedule, view.standing.anchor)
        .map_err(|error| ScheduleRefusal::Invalid(error).into())
}

fn limit(params: &Params) -> Result<usize, Problem> {
    match params.parsed::<usize>("limit")? {
        None => Ok(limits::PAGE_DEFAULT),
        Some(limit) if (1..=limits::PAGE_MAX).contains(&limit) => Ok(limit),
        Some(limit) => {
            let detail = format!("is {limit}, allowed are 1 to {}", limits::PAGE_MAX);
            Err(Problem::parameter("limit", detail))
        }
    }
}

fn cursor<T: std::str::FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::new(Code::InvalidCursor, "the text is not a cursor of this list"))
}
