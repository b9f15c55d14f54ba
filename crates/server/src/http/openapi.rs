//! The OpenAPI document, made from the handlers.

use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse as _, Response};
use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::compat::{self, Profiles};
use super::problem::PROBLEM_JSON;
use super::{
    App, auth, batch, claim, cluster, event_stream, export, failures, health, histogram, import, job_reads,
    jobs, keys, kinds, list, operations, page, queues, related, schedules, stats, timeseries, tokens, users,
    views, workers,
};

#[derive(OpenApi)]
#[openapi(info(
    title = "Ganger",
    description = "A distributed job scheduler. Errors are RFC 9457 problems; each code has a page under /problems/."
))]
struct Base;

/// Where the document describes a problem.
const PROBLEM_SCHEMA: &str = "#/components/schemas/ProblemBody";

/// Every route with its description.
pub(super) fn routes(doors: Profiles) -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Base::openapi())
        .merge(jobs::routes())
        .merge(batch::routes())
        .merge(import::routes())
        .merge(list::routes())
        .merge(histogram::routes())
        .merge(export::routes())
        .merge(views::routes())
        .merge(failures::routes())
        .merge(operations::routes())
        .merge(job_reads::routes())
        .merge(related::routes())
        .merge(queues::routes())
        .merge(kinds::routes())
        .merge(keys::routes())
        .merge(schedules::routes())
        .merge(workers::routes())
        .merge(stats::routes())
        .merge(timeseries::routes())
        .merge(cluster::routes())
        .merge(auth::routes())
        .merge(users::routes())
        .merge(tokens::routes())
        .merge(event_stream::routes())
        .merge(health::routes())
        .merge(page::routes())
        .merge(compat::routes(doors))
        .merge(OpenApiRouter::with_openapi(claim::Described::openapi()))
        .routes(routes!(openapi))
        .routes(routes!(docs))
}

/// The document as JSON. Every operation can also be refused, and every refusal is a problem document.
pub(super) fn finish(mut document: utoipa::openapi::OpenApi, version: &str) -> Value {
    document.info.version = version.into();
    // A document of texts, numbers and lists always serialises.
    let mut json = serde_json::to_value(&document).unwrap_or_default();
    let paths = json["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    let operations = paths.filter_map(Value::as_object_mut).flat_map(|methods| methods.values_mut());
    for responses in operations.filter_map(|operation| operation["responses"].as_object_mut()) {
        let problem = json!({"schema": {"$ref": PROBLEM_SCHEMA}});
        for content in responses.values_mut().filter_map(|response| response.get_mut("content")) {
            if content["application/json"] == problem {
                *content = json!({PROBLEM_JSON: problem.clone()});
            }
        }
        responses
            .insert("default".into(), json!({"description": "Refused", "content": {PROBLEM_JSON: problem}}));
    }
    json
}

/// Get this document
#[utoipa::path(get, path = "/v1/openapi.json", tag = "server",
    responses((status = 200, body = serde_json::Value)))]
async fn openapi(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], app.openapi.clone()).into_response()
}

/// Read this document as a page
#[utoipa::path(get, path = "/v1/docs", tag = "server",
    responses((status = 200, body = String, content_type = "text/html")))]
async fn docs(State(app): State<App>) -> Response {
    page::with_style(Html(app.docs.clone()))
}
