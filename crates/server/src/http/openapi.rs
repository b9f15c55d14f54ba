//! The OpenAPI document, made from the handlers.

mod parameters;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use ganger_core::access::policy::{self, Access, Found};
use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::compat::{self, Profiles};
use super::problem::PROBLEM_JSON;
use super::{
    App, audit, auth, batch, claim, cluster, event_stream, export, failures, health, histogram, import,
    job_reads, jobs, keys, kinds, list, operations, page, queues, related, schedules, stats, system,
    timeseries, tokens, ui, users, views, workers,
};
use crate::auth::Auth;

#[derive(OpenApi)]
#[openapi(info(
    title = "Ganger",
    description = "A distributed job scheduler. Errors are RFC 9457 problems; each code has a page under /problems/."
))]
struct Base;

/// What the document calls the token of a caller.
const TOKEN: &str = "token";
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
        .merge(system::routes())
        .merge(timeseries::routes())
        .merge(cluster::routes())
        .merge(auth::routes())
        .merge(audit::routes())
        .merge(users::routes())
        .merge(tokens::routes())
        .merge(event_stream::routes())
        .merge(health::routes())
        .merge(page::routes())
        .merge(ui::routes())
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
    let described =
        operations(&mut json).filter_map(|(.., operation)| operation["responses"].as_object_mut());
    for responses in described {
        let problem = json!({"schema": {"$ref": PROBLEM_SCHEMA}});
        for content in responses.values_mut().filter_map(|response| response.get_mut("content")) {
            if content["application/json"] == problem {
                *content = json!({PROBLEM_JSON: problem.clone()});
            }
        }
        // A response must be described, and most say all by their status.
        for (status, response) in responses.iter_mut().filter(|(_, r)| r.get("description").is_none()) {
            let known =
                status.parse().ok().and_then(|code| StatusCode::from_u16(code).ok()?.canonical_reason());
            response["description"] = known.unwrap_or("Answered").into();
        }
        responses
            .insert("default".into(), json!({"description": "Refused", "content": {PROBLEM_JSON: problem}}));
    }
    parameters::refine(&mut json);
    let bodies = operations(&mut json).filter_map(|(_, _, operation)| operation.get_mut("requestBody"));
    for body in bodies {
        // An object of which nothing is required may be left out.
        if body.pointer("/content/application~1json/schema") == Some(&json!({"type": "object"})) {
            body["required"] = false.into();
        }
    }
    json
}

/// Says which operations need a token, by the same table that asks for it, where somebody is asked.
pub(super) fn secure(document: &mut Value, auth: &Auth) {
    if !auth.is_required() {
        return;
    }
    document["components"]["securitySchemes"] = json!({TOKEN: {"type": "http", "scheme": "bearer"}});
    for (path, method, operation) in operations(document) {
        match policy::find(&method.to_ascii_uppercase(), path) {
            _ if auth.is_open_door(path) => {}
            Found::Operation(Access::Open) | Found::OtherMethod | Found::Nowhere => {}
            Found::Operation(Access::Known | Access::Needs(..)) => {
                operation["security"] = json!([{TOKEN: []}]);
            }
        }
    }
}

/// The operations of a document: path, method, description.
fn operations(document: &mut Value) -> impl Iterator<Item = (&str, &str, &mut Value)> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object_mut().into_iter().flatten();
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    })
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
