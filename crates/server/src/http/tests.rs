//! The router as a whole, as far as it can be seen without a running server.

use std::collections::BTreeSet;
use std::sync::Arc;

use ganger_core::{Mono, Now, Wall};
use serde_json::Value;

use super::compat::Profiles;
use super::{
    HttpOptions, claim, failures, jobs, keys, openapi, operations as bulk, queues, schedules, workers,
};

/// Options with a clock that stands still.
pub(super) fn options() -> HttpOptions {
    let now = Now { mono: Mono(1), wall: Wall(1_700_000_000_000_000) };
    HttpOptions::new("0.0.0-test", Arc::new(move || now))
}

fn document() -> Value {
    let (_, document) = openapi::routes(Profiles::ALL).split_for_parts();
    openapi::finish(document, "1.2.3")
}

pub(super) fn operations() -> BTreeSet<(String, String)> {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let each = |(path, methods): (&String, &Value)| -> Vec<(String, String)> {
        methods.as_object().unwrap().keys().map(|m| (m.to_uppercase(), path.clone())).collect()
    };
    paths.iter().flat_map(each).collect()
}

#[test]
fn the_document_is_openapi_3_1_and_describes_every_operation() {
    let document = document();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(document["info"]["version"], "1.2.3");
    assert!(document["components"]["schemas"]["ProblemBody"].is_object());
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path} has a summary");
            assert!(operation["responses"].as_object().is_some_and(|r| r.len() > 1), "{method} {path}");
            let refused = &operation["responses"]["default"]["content"]["application/problem+json"];
            assert_eq!(refused["schema"]["$ref"], "#/components/schemas/ProblemBody", "{method} {path}");
        }
    }
}

/// Routes without a verb are registered and described by one call; verbs are dispatched by hand, so here
/// their tables are compared with the document, both ways.
#[test]
fn every_verb_is_described_and_every_described_verb_exists() {
    let mut dispatched: BTreeSet<String> =
        claim::VERBS.map(|verb| format!("/v1/leases/{{token}}:{verb}")).into();
    for verbs in [
        jobs::VERBS,
        queues::VERBS,
        schedules::VERBS,
        keys::VERBS,
        workers::VERBS,
        bulk::VERBS,
        failures::VERBS,
    ] {
        dispatched.extend(verbs.routes.iter().map(ToString::to_string));
    }
    let described: BTreeSet<String> =
        operations().into_iter().map(|(_, path)| path).filter(|path| path.contains("}:")).collect();
    assert_eq!(dispatched, described);
}

#[test]
fn the_routes_that_a_user_needs_are_all_described() {
    let operations = operations();
    for (method, path) in [
        ("POST", "/submit_job"),
        ("POST", "/jobs"),
        ("GET", "/jobs"),
        ("GET", "/jobs/{id}"),
        ("GET", "/db/jobs"),
        ("GET", "/db/jobs/{id}"),
        ("POST", "/signup"),
        ("POST", "/login"),
        ("POST", "/refreshToken"),
        ("POST", "/addJob"),
        ("GET", "/failedJobs"),
        ("GET", "/health"),
        ("POST", "/v1/jobs"),
        ("GET", "/v1/jobs"),
        ("POST", "/v1/jobs:batch"),
        ("POST", "/v1/jobs:import"),
        ("GET", "/v1/jobs:histogram"),
        ("GET", "/v1/jobs:export"),
        ("GET", "/v1/jobs/{id}"),
        ("DELETE", "/v1/jobs/{id}"),
        ("GET", "/v1/jobs/{id}/attempts"),
        ("GET", "/v1/jobs/{id}/result"),
        ("GET", "/v1/jobs/{id}/payload"),
        ("GET", "/v1/jobs/{id}/explain"),
        ("GET", "/v1/jobs/{id}/related"),
        ("GET", "/v1/jobs/{id}/parents"),
        ("GET", "/v1/jobs/{id}/children"),
        ("GET", "/v1/jobs/{id}/logs"),
        ("GET", "/v1/queues"),
        ("GET", "/v1/queues/{queue}"),
        ("PUT", "/v1/queues/{queue}"),
        ("GET", "/v1/audit"),
        ("GET", "/v1/views"),
        ("PUT", "/v1/views/{name}"),
        ("DELETE", "/v1/views/{name}"),
        ("GET", "/v1/failures"),
        ("GET", "/v1/failures/{fingerprint}"),
        ("GET", "/v1/operations"),
        ("POST", "/v1/operations"),
        ("GET", "/v1/operations/{id}"),
        ("GET", "/v1/workers"),
        ("GET", "/v1/workers/{id}"),
        ("GET", "/v1/stats"),
        ("GET", "/v1/stats/timeseries"),
        ("GET", "/v1/capabilities"),
        ("GET", "/v1/events"),
        ("GET", "/v1/openapi.json"),
        ("GET", "/v1/docs"),
        ("GET", "/livez"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
        ("GET", "/problems/{code}"),
    ] {
        assert!(operations.contains(&(method.into(), path.into())), "{method} {path}");
    }
}
