//! What parameters may be, where their type says too little: bounds, patterns, and the words that there are.
//!
//! In one table, because a name means the same in every path; the numbers are those that the handlers check against.

use ganger_core::{JobId, OperationId, SessionId, limits, scaling};
use serde_json::{Map, Value, json};

use super::operations;
use crate::api::Metric;
use crate::http::compat::b;
use crate::service::RELATED_MAX;

/// Adds to the schema of each parameter of the document what is known of it.
pub(super) fn refine(document: &mut Value) {
    let known = table();
    for (path, _, operation) in operations(document) {
        for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
            let found = known
                .iter()
                .find(|(below, name, _)| path.starts_with(below) && parameter["name"].as_str() == Some(name));
            if let (Some((.., more)), Some(schema)) = (found, parameter["schema"].as_object_mut()) {
                schema.extend(more.clone());
            }
        }
    }
}

/// Below which path a parameter of that name is that. The first that fits holds.
fn table() -> Vec<(&'static str, &'static str, Map<String, Value>)> {
    let id = |prefix: &str| json!({"pattern": format!("^{prefix}[0-7][0-9A-HJKMNP-TV-Z]{{25}}$")});
    let name = json!({"pattern": format!("^[A-Za-z0-9_.:-]{{1,{}}}$", limits::NAME_BYTES)});
    let page = |most: usize| json!({"minimum": 1, "maximum": most});
    let instant = json!({"format": "date-time"});
    let rows = [
        ("/v1/jobs/", "id", id(JobId::PREFIX)),
        ("/v1/operations/", "id", id(OperationId::PREFIX)),
        ("/v1/workers/", "id", id(SessionId::PREFIX)),
        ("/jobs/", "id", id(JobId::PREFIX)),
        ("/db/jobs/", "id", id(JobId::PREFIX)),
        ("/v1/events", "job", id(JobId::PREFIX)),
        ("/v1/failures", "fingerprint", json!({"pattern": "^[0-9a-f]{16}$"})),
        // 56 bytes: two bits of the last letter are left over, and zero.
        ("/v1/leases/", "token", json!({"pattern": "^[A-Za-z0-9_-]{74}[AEIMQUYcgkosw048]$"})),
        ("/v1", "queue", name.clone()),
        ("/v1", "kind", name.clone()),
        ("/v1/schedules", "name", name),
        ("/v1/jobs/{id}/", "limit", page(RELATED_MAX)),
        ("/v1/queues/{queue}/head", "limit", page(limits::HEAD_MAX)),
        ("/v1", "limit", page(limits::PAGE_MAX)),
        ("/", "limit", page(b::MOST)),
        ("/v1/jobs/{id}/logs", "attempt", json!({"minimum": 1})),
        ("/v1/schedules", "n", page(limits::UPCOMING)),
        ("/v1/jobs:histogram", "buckets", page(limits::HISTOGRAM_BUCKETS)),
        ("/v1/scaling", "max", json!({"minimum": 0, "maximum": scaling::MOST_WORKERS})),
        ("/v1/scaling", "threads_per_worker", json!({"minimum": 1, "maximum": limits::THREADS})),
        ("/v1/jobs", "created_from", instant.clone()),
        ("/v1/jobs", "created_before", instant.clone()),
        ("/v1/schedules", "from", instant),
        ("/v1/jobs", "tag", json!({"minLength": 1, "maxLength": limits::TAG_BYTES})),
        ("/v1/jobs", "unique_key", json!({"minLength": 1, "maxLength": limits::KEY_BYTES})),
        ("/v1/jobs:export", "format", json!({"enum": ["ndjson", "csv"]})),
        ("/v1/jobs", "include", json!({"enum": ["payload", "result", "payload,result"]})),
        ("/v1/stats", "metric", json!({"enum": Metric::ALL.map(Metric::as_str)})),
        ("/v1/stats", "by", json!({"enum": ["queue", "kind"]})),
        ("/v1", "Idempotency-Key", json!({"minLength": 1, "maxLength": limits::KEY_BYTES})),
    ];
    rows.into_iter()
        .filter_map(|(below, name, more)| Some((below, name, more.as_object()?.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_learns_what_it_may_be_and_nothing_else_changes() {
        let of = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
        let operation = |name: &str| json!({"get": {"parameters": [of(name)], "responses": {}}});
        let mut document = json!({"paths": {
            "/v1/jobs/{id}": operation("id"),
            "/v1/workers/{id}": operation("id"),
            "/v1/other": operation("cursor"),
            "/livez": {"get": {"responses": {}}},
        }});
        refine(&mut document);
        let schema = |path: &str| document["paths"][path]["get"]["parameters"][0]["schema"].clone();
        assert_eq!(schema("/v1/jobs/{id}")["type"], "string");
        assert!(schema("/v1/jobs/{id}")["pattern"].as_str().is_some_and(|text| text.starts_with("^job_")));
        assert!(schema("/v1/workers/{id}")["pattern"].as_str().is_some_and(|text| text.starts_with("^wrk_")));
        assert_eq!(schema("/v1/other"), json!({"type": "string"}));
        assert_eq!(document["paths"]["/livez"], json!({"get": {"responses": {}}}));
    }
}
