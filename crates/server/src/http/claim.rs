//! The worker protocol over plain HTTP, so that a shell script with curl can be a worker.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router, routing};
use ganger_core::name::{Kind, QueueName};
use ganger_core::outcome::Report;
use ganger_core::trace::{Relation, Story};
use ganger_core::{JobId, limits};
use ganger_proto::{Parcel, Trace};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::{OpenApi, ToSchema};

use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, Segment};
use crate::api::{
    self, CompleteRequest, ExtendRequest, FailRequest, HumanDuration, LogRequest, ProblemBody,
    ProgressRequest, ReleaseRequest,
};
use crate::auth::Asking;
use crate::claims::{
    CLAIM_JOBS, CLAIM_WAIT, ClaimRequest, Claimed, Claims, Extended, Reported, Token, TokenError,
};
use crate::service::Service;

/// How long a claimed job is held if the client does not say.
const LEASE_DEFAULT: Duration = Duration::from_secs(30);
/// The shortest lease: a client must be able to speak again in time.
const LEASE_MIN: Duration = Duration::from_secs(1);
/// The longest lease: a dead client must be noticed some day.
const LEASE_MAX: Duration = Duration::from_secs(3600);
/// How long a claim waits for a job if the client does not say.
const WAIT_DEFAULT: Duration = Duration::from_secs(5);
/// A result just beyond its limit still arrives, and ends the attempt; much larger ones are refused.
const RESULT_BODY: usize = limits::RESULT_BYTES + (64 << 10);
/// Room for an error text or log lines at their limits, escaped.
const TEXT_BODY: usize = 512 << 10;
/// Longest note beside a fraction.
const NOTE_BYTES: usize = 1 << 10;

/// Verbs of a lease, as in `POST /v1/leases/{token}:complete`.
pub(super) const VERBS: [&str; 6] = ["complete", "fail", "release", "extend", "progress", "log"];

/// What the OpenAPI document says about these routes.
#[derive(OpenApi)]
#[openapi(
    paths(claim, complete, fail, release, extend, progress, log),
    components(schemas(ClaimBody, ClaimedJobBody, HeldBody, RecordedBody))
)]
pub(super) struct Described;

/// The routes; [`super::HttpOptions::claim`] takes them.
pub fn routes(service: Service) -> Router {
    Router::new()
        .route("/v1/queues/{segment}", routing::post(claim))
        .route("/v1/leases/{segment}", routing::post(lease))
        .with_state(Claims::new(service))
}

/// What a claim got.
#[derive(Debug, Serialize, ToSchema)]
struct ClaimBody {
    jobs: Vec<ClaimedJobBody>,
}

/// A job, and the token with which its end is reported.
#[derive(Debug, Serialize, ToSchema)]
struct ClaimedJobBody {
    #[schema(value_type = String)]
    id: JobId,
    #[schema(value_type = String)]
    kind: Kind,
    #[schema(value_type = String)]
    queue: QueueName,
    attempt: u32,
    max_attempts: u32,
    /// Threads it was granted.
    threads: u16,
    #[schema(value_type = serde_json::Value)]
    payload: Box<RawValue>,
    /// Longest run of this attempt, if there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracestate: Option<String>,
    /// With a `traceparent`: how long ago the job was submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_ms: Option<u64>,
    /// With a `traceparent`: whether this attempt belongs into that trace, or into a new one with a link to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<TraceRelation>,
    /// Names the lease in `ganger.complete(job, fence, result)`.
    fence: String,
    /// Proves the lease: shown with every report, and to nobody else.
    lease_token: String,
    /// The next report must come within this.
    lease_expires_in_ms: u64,
}

/// How an attempt goes on with the trace of whoever submitted the job.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum TraceRelation {
    /// A child of the submitter's span.
    Child,
    /// The root of a trace of its own, with a link to the submitter's span.
    LinkedRoot,
}

impl TraceRelation {
    fn of(trace: &Trace, attempt: u32) -> TraceRelation {
        let story = Story { attempt, waited: trace.waited, occurrence: trace.occurrence };
        match story.relation() {
            Relation::Child => TraceRelation::Child,
            Relation::LinkedRoot => TraceRelation::LinkedRoot,
        }
    }
}

/// A lease that is held.
#[derive(Debug, Serialize, ToSchema)]
struct HeldBody {
    /// The next report must come within this.
    lease_expires_in_ms: u64,
    /// A person wants the job to stop: stop it, and report `:fail` with `cancelled`.
    cancel_requested: bool,
}

/// A report that counts.
#[derive(Debug, Serialize, ToSchema)]
struct RecordedBody {
    recorded: bool,
}

/// Claim jobs
///
/// Waits for a job of the queue and leases it to the caller. Body, all of it optional: `max` (1 to 64),
/// `lease` (`"30s"`), `wait` (`"5s"`, at most `"1m"`), `kinds`, `worker` (a name for people).
#[utoipa::path(post, path = "/v1/queues/{queue}:claim", tag = "leases", params(("queue" = String, Path)),
    request_body = api::ClaimRequest,
    responses((status = 200, body = ClaimBody, description = "An empty list if none came in time")))]
async fn claim(
    State(claims): State<Claims>,
    Segment(segment): Segment,
    asking: Asking,
    params: Params,
    request: Request,
) -> Answer {
    let Some(queue) = segment.strip_suffix(":claim") else {
        return Err(super::no_route(request.uri().path()));
    };
    params.only(&[])?;
    let queue = queue.parse::<QueueName>().map_err(|e| Problem::parameter("queue", e.to_string()))?;
    let bytes = request::body(request, request::SMALL_BODY).await?;
    let claimed = claims.claim(claim_request(queue, text(&bytes)?)?, asking.0).await?;
    Ok(Json(claim_body(claimed)?).into_response())
}

fn claim_request(queue: QueueName, text: &str) -> Result<ClaimRequest, Problem> {
    let mut object = Object::parse(text, &["max", "lease", "wait", "kinds", "worker"], "")?;
    let max = object.integer("max", 1..=CLAIM_JOBS.into()).unwrap_or(1);
    let lease = within(&mut object, "lease", LEASE_MIN, LEASE_MAX).unwrap_or(LEASE_DEFAULT);
    let wait = within(&mut object, "wait", Duration::ZERO, CLAIM_WAIT).unwrap_or(WAIT_DEFAULT);
    let kinds: Vec<Kind> = object.take("kinds").unwrap_or_default();
    if kinds.len() > limits::WORKER_NAMES {
        object.refuse("kinds", format!("has {} kinds, the limit is {}", kinds.len(), limits::WORKER_NAMES));
    }
    let worker: String = object.take("worker").unwrap_or_else(|| "http".into());
    if worker.len() > limits::NAME_BYTES || worker.chars().any(char::is_control) {
        let limit = limits::NAME_BYTES;
        object.refuse("worker", format!("must be at most {limit} bytes without control characters"));
    }
    object.finish().map_err(Problem::fields)?;
    Ok(ClaimRequest { queue, kinds, max: u16::try_from(max).unwrap_or(1), lease, wait, worker })
}

fn within(object: &mut Object<'_>, field: &str, low: Duration, high: Duration) -> Option<Duration> {
    let given = object.take::<HumanDuration>(field)?.0;
    if (low..=high).contains(&given) {
        return Some(given);
    }
    let (low, high) = (HumanDuration(low), HumanDuration(high));
    object.refuse(field, format!("is {}, allowed are {low} to {high}", HumanDuration(given)));
    None
}

fn claim_body(claimed: Claimed) -> Result<ClaimBody, Problem> {
    let lease_ms = millis(claimed.lease);
    let body = |(token, parcel): (Token, Parcel)| -> Result<ClaimedJobBody, Problem> {
        let (work, trace) = (parcel.work, parcel.trace.map(|trace| *trace));
        let payload = RawValue::from_string(parcel.payload)
            .map_err(|_| Problem::new(Code::Internal, format!("the payload of {} is not JSON", work.job)))?;
        Ok(ClaimedJobBody {
            id: work.job,
            kind: work.kind,
            queue: work.queue,
            attempt: work.attempt,
            max_attempts: work.max_attempts,
            threads: work.threads,
            payload,
            timeout_ms: work.timeout.map(millis),
            traceparent: trace.as_ref().map(|trace| trace.context.parent.to_string()),
            waited_ms: trace.as_ref().map(|trace| millis(trace.waited)),
            trace: trace.as_ref().map(|trace| TraceRelation::of(trace, work.attempt)),
            tracestate: trace.map(|trace| trace.context.state).filter(|state| !state.is_empty()),
            fence: token.fence.to_string(),
            lease_token: token.to_string(),
            lease_expires_in_ms: lease_ms,
        })
    };
    Ok(ClaimBody { jobs: claimed.jobs.into_iter().map(body).collect::<Result<_, _>>()? })
}

async fn lease(
    State(claims): State<Claims>,
    Segment(segment): Segment,
    asking: Asking,
    params: Params,
    request: Request,
) -> Answer {
    let Some((token, verb)) = segment.split_once(':') else {
        return Err(super::no_route(request.uri().path()));
    };
    if !VERBS.contains(&verb) {
        let detail = format!("a lease has the verbs {}", VERBS.join(", "));
        return Err(Problem::new(Code::MethodNotAllowed, detail));
    }
    params.only(&[])?;
    let token = token.parse().map_err(|e: TokenError| Problem::new(Code::InvalidParameter, e.to_string()))?;
    if !claims.are_of(token, &asking.0) {
        // As if it were over: whose it is is nobody else's business.
        return Err(lost());
    }
    match verb {
        "complete" => complete(&claims, token, request).await,
        "fail" => fail(&claims, token, request).await,
        "release" => release(&claims, token, request).await,
        "progress" => progress(&claims, token, request).await,
        "log" => log(&claims, token, request).await,
        _ => extend(&claims, token, request).await,
    }
}

/// Complete a claimed job
///
/// The answer comes when the result is durable. Body: `result`, any JSON up to 1 MiB.
#[utoipa::path(post, path = "/v1/leases/{token}:complete", tag = "leases", params(("token" = String, Path)),
    request_body = CompleteRequest,
    responses((status = 200, body = RecordedBody), (status = 409, body = ProblemBody, description = "The lease is over")))]
async fn complete(claims: &Claims, token: Token, request: Request) -> Answer {
    let bytes = request::body(request, RESULT_BODY).await?;
    recorded(claims.report(token, completed(text(&bytes)?)?).await?)
}

/// Fail a claimed job
///
/// The retry policy decides what follows. Body: `error`, and `fatal` (no retry), `retry_after` (a delay), `throttled` (a
/// duration: the job's `concurrency_key` is closed for so long, and no attempt is burnt), or `cancelled` (it stopped because it
/// was asked to).
#[utoipa::path(post, path = "/v1/leases/{token}:fail", tag = "leases", params(("token" = String, Path)),
    request_body = FailRequest,
    responses((status = 200, body = RecordedBody), (status = 409, body = ProblemBody, description = "The lease is over")))]
async fn fail(claims: &Claims, token: Token, request: Request) -> Answer {
    let bytes = request::body(request, TEXT_BODY).await?;
    recorded(claims.report(token, failed(text(&bytes)?)?).await?)
}

/// Hand a claimed job back
///
/// It costs no attempt if `started` is false, or if the job may be tried more than once.
#[utoipa::path(post, path = "/v1/leases/{token}:release", tag = "leases", params(("token" = String, Path)),
    request_body = ReleaseRequest,
    responses((status = 200, body = RecordedBody), (status = 409, body = ProblemBody, description = "The lease is over")))]
async fn release(claims: &Claims, token: Token, request: Request) -> Answer {
    let bytes = request::body(request, request::SMALL_BODY).await?;
    recorded(claims.report(token, released(text(&bytes)?)?).await?)
}

/// Extend the lease
///
/// Holds every job of the same claim for another while. So does every other report.
#[utoipa::path(post, path = "/v1/leases/{token}:extend", tag = "leases", params(("token" = String, Path)),
    request_body = ExtendRequest,
    responses((status = 200, body = HeldBody), (status = 409, body = ProblemBody, description = "The lease is over")))]
async fn extend(claims: &Claims, token: Token, request: Request) -> Answer {
    request::no_fields(request).await?;
    held(claims.extend(token).await?)
}

/// Tell how far a claimed job is
///
/// Body: `fraction` from 0 to 1, and a `note`.
#[utoipa::path(post, path = "/v1/leases/{token}:progress", tag = "leases", params(("token" = String, Path)),
    request_body = ProgressRequest,
    responses((status = 200, body = HeldBody), (status = 409, body = ProblemBody, description = "The lease is over")))]
async fn progress(claims: &Claims, token: Token, request: Request) -> Answer {
    let bytes = request::body(request, request::SMALL_BODY).await?;
    let (fraction, note) = how_far(text(&bytes)?)?;
    held(claims.progress(token, fraction, note).await?)
}

/// Log for a claimed job
///
/// Body: `text`. The last 64 KiB of each attempt are kept.
#[utoipa::path(post, path = "/v1/leases/{token}:log", tag = "leases", params(("token" = String, Path)),
    request_body = LogRequest,
    responses((status = 200, body = HeldBody), (status = 409, body = ProblemBody, description = "The lease is over")))]
async fn log(claims: &Claims, token: Token, request: Request) -> Answer {
    let bytes = request::body(request, TEXT_BODY).await?;
    held(claims.log(token, lines(text(&bytes)?)?).await?)
}

/// A body that is left out is an empty object.
fn text(bytes: &[u8]) -> Result<&str, Problem> {
    let text = fields::text(bytes)?;
    Ok(if text.trim().is_empty() { "{}" } else { text })
}

fn completed(text: &str) -> Result<Report, Problem> {
    let object = Object::parse(text, &["result"], "")?;
    let result = object.raw("result").map_or("null", RawValue::get).to_owned();
    object.finish().map_err(Problem::fields)?;
    Ok(Report::of_result(result))
}

fn failed(text: &str) -> Result<Report, Problem> {
    let mut object = Object::parse(text, &["error", "fatal", "retry_after", "throttled", "cancelled"], "")?;
    let error: String = object.take("error").unwrap_or_else(|| "failed".into());
    let fatal: bool = object.take("fatal").unwrap_or(false);
    let retry_after = within(&mut object, "retry_after", Duration::ZERO, limits::LONGEST);
    if fatal && retry_after.is_some() {
        object.refuse("retry_after", "cannot be given for a fatal error");
    }
    let throttled = within(&mut object, "throttled", Duration::ZERO, limits::LONGEST);
    if throttled.is_some() && (fatal || retry_after.is_some()) {
        object.refuse("throttled", "cannot be given together with `fatal` or `retry_after`");
    }
    let cancelled: bool = object.take("cancelled").unwrap_or(false);
    if cancelled && (fatal || retry_after.is_some() || throttled.is_some()) {
        object.refuse("cancelled", "cannot be given together with `fatal`, `retry_after` or `throttled`");
    }
    object.finish().map_err(Problem::fields)?;
    if cancelled {
        return Ok(Report::Cancelled);
    }
    let report = match (fatal, retry_after, throttled) {
        (true, ..) => Report::Fatal(error),
        (false, Some(delay), _) => Report::RetryAfter(delay, error),
        (false, None, Some(long)) => Report::Throttled(long),
        (false, None, None) => Report::Error(error),
    };
    Ok(report.shortened())
}

/// Unless the client says that it did not begin, it did: a job that may run once must not run twice.
fn released(text: &str) -> Result<Report, Problem> {
    let mut object = Object::parse(text, &["started"], "")?;
    let started = object.take("started").unwrap_or(true);
    object.finish().map_err(Problem::fields)?;
    Ok(Report::Released { started })
}

fn how_far(text: &str) -> Result<(f32, String), Problem> {
    let mut object = Object::parse(text, &["fraction", "note"], "")?;
    let fraction: f32 = object.take("fraction").unwrap_or(0.0);
    if !(0.0..=1.0).contains(&fraction) {
        object.refuse("fraction", "must be from 0 to 1");
    }
    let mut note: String = object.take("note").unwrap_or_default();
    object.finish().map_err(Problem::fields)?;
    note.truncate(note.floor_char_boundary(NOTE_BYTES));
    Ok((fraction, note))
}

/// Whole lines, and of a long text its end.
fn lines(text: &str) -> Result<String, Problem> {
    let mut object = Object::parse(text, &["text"], "")?;
    let mut lines: String = object.take("text").unwrap_or_default();
    object.finish().map_err(Problem::fields)?;
    if !lines.ends_with('\n') {
        lines.push('\n');
    }
    let surplus = lines.len().saturating_sub(limits::LOG_BYTES);
    Ok(lines.split_off(lines.ceil_char_boundary(surplus)))
}

fn recorded(reported: Reported) -> Answer {
    match reported {
        Reported::Recorded => Ok(Json(RecordedBody { recorded: true }).into_response()),
        Reported::LeaseLost => Err(lost()),
    }
}

fn held(extended: Option<Extended>) -> Result<Response, Problem> {
    let held = extended.ok_or_else(lost)?;
    let body = HeldBody { lease_expires_in_ms: millis(held.lease), cancel_requested: held.cancel_wanted };
    Ok(Json(body).into_response())
}

fn lost() -> Problem {
    Problem::new(Code::LeaseLost, "this lease is over: nothing was changed")
}

fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_millis()).unwrap_or(u64::MAX)
}
