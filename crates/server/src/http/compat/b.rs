//! Profile B: jobs with a priority and a demand for threads.
//!
//! `POST /jobs` takes four types of jobs, in snake or Camel case, which are the kinds of the same names. `/jobs` shows all
//! jobs of these kinds as they are at this moment, `/db/jobs` the final ones with how long everything took. A job that wants
//! more threads than any worker has runs on one.

mod body;
mod payload;

use std::borrow::Cow;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use ganger_core::JobId;
use ganger_core::job::{Fallback, State as JobState};
use ganger_core::limits;
use ganger_store::read::{ListQuery, StoredJob};
use serde_json::value::RawValue;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{JOB_BODY, link_next, name_job, taken_in};
use crate::api::NewJobRequest;
use crate::http::problem::{Code, Problem};
use crate::http::request::{self, Answer, Params, Segment};
use crate::http::shown::{self, Include};
use crate::http::{App, cursor, fields};
use body::{ErrorObject, JobObject, JobType, NewJob};

/// Jobs of one answer.
pub(in crate::http) const MOST: usize = 1_000;
/// Payloads and results of one answer, in bytes: what is beyond is on the next page.
const MOST_BYTES: usize = 8 << 20;
/// Jobs that are read at a time.
const AT_A_TIME: usize = 50;
/// How many jobs there are in all.
const TOTAL: &str = "x-total-count";
/// A tag that starts so holds the name of a job.
const NAME: &str = "name:";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(submit, list))
        .routes(routes!(get))
        .routes(routes!(list_final))
        .routes(routes!(get_final))
}

/// Submit a job (profile B)
///
/// `Idempotency-Key` works here too.
#[utoipa::path(post, path = "/jobs", tag = "compat", request_body = NewJob,
    responses((status = 202, body = JobObject, headers(("Location" = String), ("X-Job-Id" = String))),
        (status = 400, body = ErrorObject, description = "What is wrong, e.g. `unsupported job type`"),
        (status = 413, body = ErrorObject, description = "The body is too large")))]
async fn submit(State(app): State<App>, request: Request) -> Answer {
    let headers = request.headers().clone();
    let bytes = match request::body(request, JOB_BODY).await {
        Ok(bytes) => bytes,
        Err(problem) if problem.code == Code::BodyTooLarge => {
            return Ok(refused(StatusCode::PAYLOAD_TOO_LARGE, problem.detail));
        }
        Err(problem) => return Err(problem),
    };
    let job = match read(&bytes) {
        Ok(job) => job,
        Err(why) => return Ok(refused(StatusCode::BAD_REQUEST, why)),
    };
    let intake = match taken_in(&app, &headers, "POST /jobs", &bytes, &job).await {
        Ok(intake) => intake,
        Err(Problem { code: Code::ValidationFailed | Code::MalformedJson, .. }) => {
            return Ok(refused(StatusCode::BAD_REQUEST, "invalid request body"));
        }
        Err(problem) => return Err(problem),
    };
    let object = match find(&app, intake.job()).await? {
        Some(stored) => object(stored, &app),
        // It is over already, in a queue that keeps nothing.
        None => JobObject::gone(intake.job(), &job, app.now().wall),
    };
    let mut response = (StatusCode::ACCEPTED, Json(object)).into_response();
    name_job(&mut response, intake.job());
    Ok(response)
}

/// List jobs (profile B)
///
/// Newest first, at most 1,000 and 8 MiB of payloads and results at a time.
#[utoipa::path(get, path = "/jobs", tag = "compat",
    params(("limit" = Option<usize>, Query, description = "1 to 1000, 1000 if not given"),
        ("cursor" = Option<String>, Query, description = "Where the `Link` of the page before points to")),
    responses((status = 200, body = Vec<JobObject>, headers(("X-Total-Count" = u64), ("Link" = String)))))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    page(&app, &params, "/jobs", Vec::new(), object).await
}

/// Show a job (profile B)
#[utoipa::path(get, path = "/jobs/{id}", tag = "compat", params(("id" = String, Path)),
    responses((status = 200, body = JobObject), (status = 404, body = ErrorObject, description = "`job not found`")))]
async fn get(State(app): State<App>, Segment(id): Segment) -> Answer {
    show(&app, &id, |_| true, object).await
}

/// List final jobs (profile B)
///
/// As they are in the store, newest first, with their times.
#[utoipa::path(get, path = "/db/jobs", tag = "compat",
    params(("limit" = Option<usize>, Query, description = "1 to 1000, 1000 if not given"),
        ("cursor" = Option<String>, Query, description = "Where the `Link` of the page before points to")),
    responses((status = 200, body = Vec<JobObject>, headers(("X-Total-Count" = u64), ("Link" = String)))))]
async fn list_final(State(app): State<App>, params: Params) -> Answer {
    let states = JobState::ALL.into_iter().filter(|state| state.is_final()).collect();
    page(&app, &params, "/db/jobs", states, timed).await
}

/// Show a final job (profile B)
#[utoipa::path(get, path = "/db/jobs/{id}", tag = "compat", params(("id" = String, Path)),
    responses((status = 200, body = JobObject), (status = 404, body = ErrorObject, description = "`job not found`")))]
async fn get_final(State(app): State<App>, Segment(id): Segment) -> Answer {
    show(&app, &id, JobState::is_final, timed).await
}

/// The job that a body asks for, or what is wrong with it in a few words.
fn read(bytes: &[u8]) -> Result<NewJobRequest, Cow<'static, str>> {
    const UNREADABLE: &str = "invalid request body";
    let text = fields::text(bytes).map_err(|_| UNREADABLE)?;
    // A list would do for the derived reader as well.
    if !text.trim_start().starts_with('{') {
        return Err(UNREADABLE.into());
    }
    let new: NewJob = serde_json::from_str(text).map_err(|_| UNREADABLE)?;
    let of_type = JobType::parse(&new.of_type).ok_or("unsupported job type")?;
    let priority = i8::try_from(new.priority).map_err(|_| "priority must be from -128 to 127")?;
    let threads = u64::try_from(new.thread_demand).map_err(|_| "thread_demand must not be negative")?;
    // No worker has more; such a job falls back to one thread in any case.
    let threads = u16::try_from(threads).unwrap_or(u16::MAX).clamp(1, limits::THREADS);
    let tag = new.name.filter(|name| !name.is_empty()).map(|name| format!("{NAME}{name}"));
    if tag.as_ref().is_some_and(|tag| tag.len() > limits::TAG_BYTES) {
        return Err("name is too long".into());
    }
    let given = new.payload.as_deref().map_or("null", RawValue::get);
    if given.len() > limits::PAYLOAD_BYTES {
        return Err(format!("the payload has more than {} bytes", limits::PAYLOAD_BYTES).into());
    }
    payload::check(of_type, given)
        .map_err(|error| format!("invalid payload for {}: {error}", of_type.shown()))?;
    Ok(NewJobRequest {
        kind: of_type.kind().into(),
        payload: new.payload,
        priority: Some(priority),
        threads: Some(threads),
        fallback: Some(Fallback::Single),
        tags: tag.map(|tag| vec![tag]),
        ..NewJobRequest::default()
    })
}

async fn find(app: &App, id: JobId) -> Result<Option<StoredJob>, Problem> {
    match app.service.job(id).await.map_err(Problem::from) {
        Ok(view) => Ok(Some(view.stored)),
        Err(problem) if problem.code == Code::NoSuchJob => Ok(None),
        Err(problem) => Err(problem),
    }
}

async fn show(
    app: &App,
    id: &str,
    such: impl Fn(JobState) -> bool,
    object: impl Fn(StoredJob, &App) -> JobObject,
) -> Answer {
    let found = match id.parse() {
        Ok(id) => find(app, id).await?,
        Err(_) => None,
    };
    let ours = |job: &StoredJob| such(job.state) && JobType::of_kind(job.spec.kind.as_str()).is_some();
    Ok(match found.filter(ours) {
        Some(stored) => Json(object(stored, app)).into_response(),
        None => refused(StatusCode::NOT_FOUND, "job not found"),
    })
}

async fn page(
    app: &App,
    params: &Params,
    path: &str,
    states: Vec<JobState>,
    object: impl Fn(StoredJob, &App) -> JobObject,
) -> Answer {
    let limit = request::limit_or(params, MOST, MOST)?;
    let mut query = ListQuery { filter: Some(JobType::filter()), states, ..ListQuery::default() };
    if let Some(text) = params.one("cursor")? {
        query.before = Some(cursor::decode(&query, text)?);
    }
    let total = total(app, &query.states).await?;
    let (mut jobs, mut bytes, mut rows) = (Vec::new(), 0, 0);
    loop {
        query.limit = AT_A_TIME.min(limit - jobs.len());
        let found = app.service.list(query.clone()).await?;
        query.before = found.next;
        rows += found.examined;
        bytes += found.jobs.iter().map(shown_bytes).sum::<usize>();
        jobs.extend(found.jobs.into_iter().map(|stored| object(stored, app)));
        // Whatever ends the answer early, it says where to go on.
        let enough = jobs.len() >= limit || bytes > MOST_BYTES || rows > limits::SCAN_ROWS;
        if query.before.is_none() || enough {
            break;
        }
    }
    let mut response = Json(jobs).into_response();
    response.headers_mut().insert(TOTAL, total.into());
    if let Some(id) = query.before {
        query.limit = limit;
        link_next(&mut response, path, &query, id);
    }
    Ok(response)
}

/// What an answer shows of a job and has no small bound.
fn shown_bytes(job: &StoredJob) -> usize {
    job.spec.payload.len() + job.end.as_ref().and_then(|end| end.result.as_ref()).map_or(0, String::len)
}

/// How many there are in all, by the counters.
async fn total(app: &App, states: &[JobState]) -> Result<u64, Problem> {
    let counts = app.service.stats().await?.counts;
    let ours = counts.iter().filter(|(_, kind, _)| JobType::of_kind(kind.as_str()).is_some());
    let counted = |state: &JobState| states.is_empty() || states.contains(state);
    let of = |row: &[u64; JobState::ALL.len()]| {
        JobState::ALL.iter().zip(row).filter(|(state, _)| counted(state)).map(|(_, n)| n).sum::<u64>()
    };
    Ok(ours.map(|(_, _, row)| of(row)).sum())
}

fn object(stored: StoredJob, app: &App) -> JobObject {
    JobObject::of(shown::job(stored, None, None, Include { payload: true, result: true }, app.now().wall))
}

fn timed(stored: StoredJob, app: &App) -> JobObject {
    JobObject::timed(shown::job(stored, None, None, Include { payload: true, result: true }, app.now().wall))
}

fn refused(status: StatusCode, why: impl Into<String>) -> Response {
    (status, Json(ErrorObject { error: why.into() })).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job with the payload that its type needs.
    fn read_text(text: &str) -> Result<NewJobRequest, Cow<'static, str>> {
        let whole = text.replace('}', ",\"payload\":{\"x\":1,\"y\":2,\"text\":\"a\",\"numbers\":[],\"url\":\"u\",\"width\":1,\"height\":1}}");
        read(whole.as_bytes())
    }

    #[test]
    fn a_payload_is_taken_at_its_bound_and_refused_one_past_it() {
        let of = |bytes: usize| {
            let text = "x".repeat(bytes - "{\"text\":\"\"}".len());
            read(format!("{{\"type\":\"ReverseString\",\"payload\":{{\"text\":\"{text}\"}}}}").as_bytes())
        };
        assert!(of(limits::PAYLOAD_BYTES).is_ok());
        assert_eq!(of(limits::PAYLOAD_BYTES + 1).unwrap_err(), "the payload has more than 1048576 bytes");
    }

    #[test]
    fn a_type_is_read_in_both_cases_and_nothing_else_is_one() {
        for (kind, camel) in [
            ("add_numbers", "AddNumbers"),
            ("reverse_string", "ReverseString"),
            ("resize_image", "ResizeImage"),
            ("large_array_sum", "LargeArraySum"),
        ] {
            for text in [kind, camel] {
                assert_eq!(read_text(&format!("{{\"type\":\"{text}\"}}")).unwrap().kind, kind);
            }
        }
        for wrong in ["", "exec", "Exec", "add_Numbers", "addnumbers", "add_numbers "] {
            let body = format!("{{\"type\":\"{wrong}\"}}");
            assert_eq!(read_text(&body).unwrap_err(), "unsupported job type", "{wrong}");
        }
    }

    #[test]
    fn numbers_are_taken_at_their_bounds_and_refused_or_cut_past_them() {
        let job = |more: &str| read_text(&format!("{{\"type\":\"AddNumbers\",{more}}}"));
        for (demand, threads) in [(0u64, 1), (1, 1), (1024, 1024), (1025, 1024), (4_294_967_296, 1024)] {
            assert_eq!(job(&format!("\"thread_demand\":{demand}")).unwrap().threads, Some(threads));
        }
        assert_eq!(job("\"thread_demand\":-1").unwrap_err(), "thread_demand must not be negative");
        assert_eq!(job("\"priority\":127").unwrap().priority, Some(127));
        assert_eq!(job("\"priority\":-128").unwrap().priority, Some(-128));
        for priority in ["128", "-129"] {
            let why = job(&format!("\"priority\":{priority}")).unwrap_err();
            assert_eq!(why, "priority must be from -128 to 127");
        }
        let longest = "n".repeat(limits::TAG_BYTES - NAME.len());
        assert!(job(&format!("\"name\":\"{longest}\"")).is_ok());
        assert_eq!(job(&format!("\"name\":\"{longest}n\"")).unwrap_err(), "name is too long");
        for wrong in ["\"priority\":1.5", "\"priority\":\"high\"", "\"name\":7", "\"thread_demand\":null1"] {
            assert_eq!(job(wrong).unwrap_err(), "invalid request body", "{wrong}");
        }
    }
}
