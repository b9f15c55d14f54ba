//! Submitting one job, and the verbs on a job: cancel, replay, run-now.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ganger_core::change::{Intake, Submitted};
use ganger_core::job::{JobSpec, State as JobState};
use ganger_core::limits;
use ganger_core::{JobId, Wall};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, Segment, Verbs};
use super::shown::{self, Include};
use super::{App, buffered, exec_token, fields, intake, parents};
use crate::accelerator::Taken;
use crate::api::{CancelBody, Durability, JobBody, NewJobRequest, ProblemBody, SubmittedBody};
use crate::auth;
use crate::service::Cancelled;

/// A payload at its limit and everything else a job can say.
pub(super) const JOB_BODY: usize = limits::PAYLOAD_BYTES + (64 << 10);

/// Where a job is submitted.
pub(super) const PATH: &str = "/v1/jobs";

/// What can be done with a job.
pub(super) const VERBS: Verbs =
    Verbs { of: "a job", routes: &["/v1/jobs/{id}:cancel", "/v1/jobs/{id}:replay", "/v1/jobs/{id}:run-now"] };

#[derive(OpenApi)]
#[openapi(paths(cancel, replay, run_now))]
struct Described;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(submit))
        .routes(routes!(delete))
        .route("/v1/jobs/{id}", axum::routing::post(verb))
}

/// Submit a job
///
/// The job is durable before the answer, unless it asks for `durability: buffered`. `Idempotency-Key` makes a repeated
/// request harmless.
#[utoipa::path(post, path = "/v1/jobs", tag = "jobs", request_body = NewJobRequest,
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "Same key and body: the same answer, for 24 h"),
        ("X-Ganger-Exec-Token" = Option<String>, Header, description = "Needed for jobs of kind exec"),
        ("traceparent" = Option<String>, Header, description = "W3C trace context, handed to the worker"),
        ("tracestate" = Option<String>, Header, description = "What tracing systems add to it"),
    ),
    responses(
        (status = 201, body = SubmittedBody, description = "It exists now"),
        (status = 202, body = SubmittedBody, description = "It is buffered, as it asked for"),
        (status = 200, body = SubmittedBody, description = "Its unique key is held by this job"),
        (status = 422, body = ProblemBody, content_type = "application/problem+json", description = "Not valid"),
    ))]
async fn submit(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let headers = request.headers().clone();
    let bytes = request::body(request, JOB_BODY).await?;
    let now = app.now().wall;
    let (spec, durability) = intake::job_alone(fields::text(&bytes)?, "", context(&app, &headers, now))?;
    let idempotency = request::idempotency(&headers, now, "POST /v1/jobs", &bytes)?;
    auth::parents(&app.service, auth::queues(&headers), std::slice::from_ref(&spec), "").await?;
    let receipt = Receipt::of(&spec);
    let specs = match buffered::take(&app.service, durability, idempotency.is_some(), vec![spec]).await? {
        Taken::Not(specs) => specs,
        Taken::Buffered(ids) => return taken_in(receipt, &ids, Durability::Buffered),
        Taken::Durable(ids) => return taken_in(receipt, &ids, Durability::Durable),
    };
    let (intakes, replayed) = match app.service.submit(idempotency, specs).await? {
        Submitted::Accepted(intakes) => (intakes, false),
        Submitted::Replayed(intakes) => (intakes, true),
        Submitted::KeyReused => return Err(key_reused()),
        Submitted::NoParent(parent, place) => return Err(parents::missing(parent, place, "")),
    };
    let Some(intake) = intakes.first().copied() else { return Err(unanswered()) };
    let mut response = match intake {
        Intake::Created(id) => (StatusCode::CREATED, Json(receipt.created(id))).into_response(),
        Intake::Duplicate(id) => {
            let queues = auth::queues(&headers);
            (StatusCode::OK, Json(receipt.duplicate(&app, id, queues).await)).into_response()
        }
    };
    locate(&mut response, intake.job());
    if replayed {
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Buffers a job that asks for it and has nothing wrong with it.
///
/// # Errors
/// It is not known whether it was buffered.
pub(super) async fn buffered(
    app: &App,
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<Option<Response>, Problem> {
    let now = app.now().wall;
    let read = fields::text(bytes).and_then(|text| intake::job_alone(text, "", context(app, headers, now)));
    let Ok((spec, durability)) = read else { return Ok(None) };
    let has_key = buffered::has_key(headers);
    let receipt = Receipt::of(&spec);
    match buffered::take(&app.service, durability, has_key, vec![spec]).await? {
        Taken::Not(_) => Ok(None),
        Taken::Buffered(ids) => taken_in(receipt, &ids, Durability::Buffered).map(Some),
        Taken::Durable(ids) => taken_in(receipt, &ids, Durability::Durable).map(Some),
    }
}

/// The answer to a job that came by the buffer.
fn taken_in(receipt: Receipt, ids: &[JobId], durability: Durability) -> Answer {
    let Some(id) = ids.first().copied() else { return Err(unanswered()) };
    let status = match durability {
        Durability::Durable => StatusCode::CREATED,
        Durability::Buffered => StatusCode::ACCEPTED,
    };
    let body = SubmittedBody { durability, ..receipt.created(id) };
    let mut response = (status, Json(body)).into_response();
    locate(&mut response, id);
    Ok(response)
}

fn locate(response: &mut Response, id: JobId) {
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/jobs/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
}

fn unanswered() -> Problem {
    Problem::new(Code::Internal, "the submission was not answered")
}

/// What the headers of a submission say about its jobs.
pub(super) fn context<'a>(app: &App, headers: &'a HeaderMap, now: Wall) -> intake::Context<'a> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    intake::Context {
        now,
        traceparent: header("traceparent"),
        tracestate: header("tracestate"),
        exec_allowed: exec_token::allows(app.options.exec_token.as_ref(), headers),
        queues: auth::queues(headers),
        items: None,
    }
}

pub(super) fn key_reused() -> Problem {
    Problem::new(Code::IdempotencyKeyReused, "this Idempotency-Key came before with another body")
}

/// What a receipt needs of a job. Nothing of it changes later, so a replayed request gets the very same
/// receipt without a look at the store.
struct Receipt {
    kind: ganger_core::name::Kind,
    queue: ganger_core::name::QueueName,
    priority: i8,
    max_attempts: u32,
    run_at: Option<Wall>,
    /// It waits for others; those may be final already.
    blocked: bool,
}

impl Receipt {
    fn of(spec: &JobSpec) -> Receipt {
        Receipt {
            kind: spec.kind.clone(),
            queue: spec.queue.clone(),
            priority: spec.priority,
            max_attempts: spec.options.max_attempts,
            run_at: spec.run_at,
            blocked: !spec.depends_on.is_empty(),
        }
    }

    fn created(self, id: JobId) -> SubmittedBody {
        // An id tells when it was made, to the millisecond, for ever.
        let taken_in = id.uuid().get_timestamp().map_or(0, |t| {
            let (seconds, nanos) = t.to_unix();
            i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000) + i64::from(nanos / 1000)
        });
        let later = self.run_at.is_some_and(|run_at| run_at.0 > taken_in);
        SubmittedBody {
            id,
            kind: self.kind,
            queue: self.queue,
            state: match (self.blocked, later) {
                (true, _) => JobState::Blocked,
                (false, true) => JobState::Scheduled,
                (false, false) => JobState::Queued,
            },
            priority: self.priority,
            attempt: 0,
            max_attempts: self.max_attempts,
            deduplicated: false,
            durability: Durability::Durable,
        }
    }

    /// The job that holds the unique key, as it is now, if it is of a queue that the request is confined to.
    async fn duplicate(self, app: &App, id: JobId, queues: Option<&str>) -> SubmittedBody {
        match app.service.job(id).await {
            Ok(view) if auth::in_queues(queues, &view.stored.spec.queue).is_ok() => SubmittedBody {
                id,
                kind: view.stored.spec.kind,
                queue: view.stored.spec.queue,
                state: view.stored.state,
                priority: view.stored.spec.priority,
                attempt: view.stored.standing.attempt,
                max_attempts: view.stored.spec.options.max_attempts,
                deduplicated: true,
                durability: Durability::Durable,
            },
            // It ended meanwhile and was not kept, or cannot be read, or is not his to see: its id still answers.
            Ok(_) | Err(_) => SubmittedBody { deduplicated: true, ..self.created(id) },
        }
    }
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    let handler = |id, verb| async move {
        match verb {
            "cancel" => cancel(&app, id, &params, request).await,
            "replay" => replay(&app, id, &params, request).await,
            "run-now" => run_now(&app, id, &params, request).await,
            _ => Err(VERBS.unknown()),
        }
    };
    VERBS.dispatch(&segment, handler).await
}

/// Cancel a job
///
/// A waiting job is cancelled at once (200); a running one is told to stop (202).
#[utoipa::path(post, path = "/v1/jobs/{id}:cancel", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = CancelBody), (status = 202, body = CancelBody, description = "It was told to stop"),
        (status = 409, body = ProblemBody)))]
async fn cancel(app: &App, id: &str, params: &Params, request: Request) -> Answer {
    let id = prepare(id, params, request).await?;
    let (status, cancelled) = match app.service.cancel(id).await? {
        Cancelled::AtOnce => (StatusCode::OK, true),
        Cancelled::Requested => (StatusCode::ACCEPTED, false),
    };
    Ok((status, Json(CancelBody { id, cancelled, requested: !cancelled })).into_response())
}

/// Run a final job again
///
/// It keeps its id and the numbers of its attempts; its allowance of attempts is renewed.
#[utoipa::path(post, path = "/v1/jobs/{id}:replay", tag = "jobs",
    params(("id" = String, Path),
        ("X-Ganger-Exec-Token" = Option<String>, Header, description = "Needed for jobs of kind exec")),
    responses((status = 200, body = JobBody), (status = 403, body = ProblemBody), (status = 409, body = ProblemBody)))]
async fn replay(app: &App, id: &str, params: &Params, request: Request) -> Answer {
    let include = included(&request);
    let exec = exec_token::allows(app.options.exec_token.as_ref(), request.headers());
    let id = prepare(id, params, request).await?;
    exec_token::may_replay(&app.service, id, exec).await?;
    app.service.replay(id).await?;
    show(app, id, include).await
}

/// Make a waiting job due now
#[utoipa::path(post, path = "/v1/jobs/{id}:run-now", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = JobBody), (status = 409, body = ProblemBody)))]
async fn run_now(app: &App, id: &str, params: &Params, request: Request) -> Answer {
    let include = included(&request);
    let id = prepare(id, params, request).await?;
    app.service.run_now(id).await?;
    show(app, id, include).await
}

/// Delete a final job
///
/// For ever, with its attempts and logs. A live one must be cancelled first.
#[utoipa::path(delete, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = String, Path)),
    responses((status = 204, description = "It is gone"), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "It is live")))]
async fn delete(State(app): State<App>, Segment(id): Segment, params: Params, request: Request) -> Answer {
    let id = prepare(&id, &params, request).await?;
    app.service.delete(id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn prepare(id: &str, params: &Params, request: Request) -> Result<JobId, Problem> {
    params.only(&[])?;
    let id = job_id(id)?;
    request::no_fields(request).await?;
    Ok(id)
}

pub(super) fn job_id(text: &str) -> Result<JobId, Problem> {
    text.parse().map_err(|error| Problem::new(Code::InvalidParameter, format!("{error}")))
}

/// What this caller may see of a job.
fn included(request: &Request) -> Include {
    let nothing = Include { payload: false, result: false };
    request.extensions().get::<auth::Asking>().map_or(nothing, Include::of)
}

async fn show(app: &App, id: JobId, include: Include) -> Answer {
    let view = app.service.job(id).await?;
    let body = shown::job(view.stored, view.progress, view.worker, include, app.now().wall);
    Ok(Json(body).into_response())
}
