//! Profile A: a submitter and its coordinator.
//!
//! `POST /submit_job {"name","payload"}` is answered with one sentence. `name` is the kind. The original ran every
//! name that it did not know as a sleep, and demonstrations rely on it: a name that no connected worker has and that no job
//! ever had becomes the kind `default`, and is kept as a tag.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ganger_core::limits;
use ganger_core::name::Kind;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{JOB_BODY, name_job, taken_in};
use crate::api::NewJobRequest;
use crate::http::problem::{Code, Problem};
use crate::http::request::{self, Answer};
use crate::http::{App, fields};

/// The sentence of a success.
const CREATED: &str = "Job created successfully";
/// The sentence of anything wrong with the body.
const INVALID: &str = "Invalid request payload";
/// Attempts of its jobs, the first included.
const ATTEMPTS: u32 = 4;
/// The kind of a job without a name, or with one that nobody knows.
const DEFAULT: &str = "default";
/// Names that are kinds whether or not a worker is there yet.
const DEMO_KINDS: [&str; 5] = [DEFAULT, "cpu_intensive", "io_intensive", "mixed_workload", "network_task"];

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(submit_job))
}

/// A job as the submitter takes it. What else is in the body is left aside, as it was there.
#[derive(Debug, Deserialize, ToSchema)]
struct SubmitJob {
    /// Its kind; `default` if there is none.
    #[serde(default)]
    name: Option<String>,
    /// Kept byte for byte; usually a text.
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Value>)]
    payload: Option<Box<RawValue>>,
}

/// Submit a job (profile A)
///
/// Four attempts with exponential backoff, then dead. `Idempotency-Key` works here too.
#[utoipa::path(post, path = "/submit_job", tag = "compat", request_body = SubmitJob,
    responses(
        (status = 201, body = String, content_type = "text/plain", description = "`Job created successfully`",
            headers(("Location" = String), ("X-Job-Id" = String))),
        (status = 400, body = String, content_type = "text/plain", description = "`Invalid request payload`"),
    ))]
async fn submit_job(State(app): State<App>, request: Request) -> Answer {
    let headers = request.headers().clone();
    let bytes = request::body(request, JOB_BODY).await?;
    let Some(submitted) = read(&bytes) else { return Ok(invalid()) };
    let job = match job(&app, submitted).await? {
        Some(job) => job,
        None => return Ok(invalid()),
    };
    match taken_in(&app, &headers, "POST /submit_job", &bytes, &job).await {
        Ok(intake) => {
            let mut response = plain(StatusCode::CREATED, CREATED);
            name_job(&mut response, intake.job());
            Ok(response)
        }
        Err(Problem { code: Code::ValidationFailed | Code::MalformedJson, .. }) => Ok(invalid()),
        Err(problem) => Err(problem),
    }
}

fn read(bytes: &[u8]) -> Option<SubmitJob> {
    let text = fields::text(bytes).ok()?;
    // A list of two would do for the derived reader as well.
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The job that a submission stands for, if its name can be one.
async fn job(app: &App, submitted: SubmitJob) -> Result<Option<NewJobRequest>, Problem> {
    let name = submitted.name.filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT.into());
    let mut job = NewJobRequest {
        kind: name.clone(),
        payload: submitted.payload.or_else(|| RawValue::from_string("\"\"".into()).ok()),
        max_attempts: Some(ATTEMPTS),
        ..NewJobRequest::default()
    };
    if DEMO_KINDS.contains(&name.as_str()) {
        return Ok(Some(job));
    }
    let known = match name.parse::<Kind>() {
        Ok(kind) if kind.as_str() == "exec" => true,
        Ok(kind) => app.service.knows_kind(kind).await?,
        Err(_) => false,
    };
    if !known {
        let tag = format!("name:{name}");
        if tag.len() > limits::TAG_BYTES {
            return Ok(None);
        }
        job.kind = DEFAULT.into();
        job.tags = Some(vec![tag]);
    }
    Ok(Some(job))
}

fn invalid() -> Response {
    plain(StatusCode::BAD_REQUEST, INVALID)
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_a_submission() {
        for fine in ["{}", " {\"name\":null}", "{\"name\":\"a\",\"payload\":{\"x\":1},\"more\":1}"] {
            assert!(read(fine.as_bytes()).is_some(), "{fine}");
        }
        for wrong in ["", "[]", "[\"a\",\"b\"]", "null", "{\"name\":1}", "{", "{} {}", "\u{feff}{}"] {
            assert!(read(wrong.as_bytes()).is_none(), "{wrong}");
        }
        let payload = "{ \"b\":1,  \"a\": \"\\u00e4\" }";
        let kept = read(format!("{{\"payload\": {payload}}}").as_bytes()).unwrap();
        assert_eq!(kept.payload.unwrap().get(), payload);
    }
}
