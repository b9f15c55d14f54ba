//! REST and gRPC offer the same: every operation of the document has its call, or a reason not to, and whatever a standby
//! may send again by one door it may send again by the other.

use std::collections::BTreeSet;

use super::tests::operations;
use crate::relay::{Place, Route};

/// Each operation and its call.
const MIRRORED: &[(&str, &str, &str)] = &[
    ("POST", "/v1/jobs", "Jobs/Enqueue"),
    ("POST", "/v1/jobs:batch", "Jobs/EnqueueBatch"),
    ("GET", "/v1/jobs", "Jobs/List"),
    ("GET", "/v1/jobs:histogram", "Jobs/Histogram"),
    ("GET", "/v1/jobs/{id}", "Jobs/Get"),
    ("GET", "/v1/jobs/{id}/payload", "Jobs/Get"),
    ("GET", "/v1/jobs/{id}/result", "Jobs/Get"),
    ("GET", "/v1/jobs/{id}/attempts", "Jobs/Attempts"),
    ("GET", "/v1/jobs/{id}/events", "Jobs/Events"),
    ("GET", "/v1/jobs/{id}/explain", "Jobs/Explain"),
    ("GET", "/v1/jobs/{id}/logs", "Jobs/Logs"),
    ("GET", "/v1/jobs/{id}/related", "Jobs/Related"),
    ("GET", "/v1/jobs/{id}/parents", "Jobs/Related"),
    ("GET", "/v1/jobs/{id}/children", "Jobs/Related"),
    ("DELETE", "/v1/jobs/{id}", "Jobs/Delete"),
    ("POST", "/v1/jobs/{id}:cancel", "Jobs/Cancel"),
    ("POST", "/v1/jobs/{id}:replay", "Jobs/Replay"),
    ("POST", "/v1/jobs/{id}:run-now", "Jobs/RunNow"),
    ("GET", "/v1/queues", "Queues/List"),
    ("GET", "/v1/queues/{queue}", "Queues/Get"),
    ("GET", "/v1/queues/{queue}/head", "Queues/Head"),
    ("PUT", "/v1/queues/{queue}", "Queues/Put"),
    ("POST", "/v1/queues/{queue}:pause", "Queues/Pause"),
    ("POST", "/v1/queues/{queue}:resume", "Queues/Resume"),
    ("POST", "/v1/queues/{queue}:drain", "Queues/Drain"),
    ("POST", "/v1/queues/{queue}:purge", "Queues/Purge"),
    ("GET", "/v1/keys", "Keys/List"),
    ("GET", "/v1/queues/{queue}/keys", "Keys/List"),
    ("POST", "/v1/queues/{queue}/keys/{key}:close", "Keys/Close"),
    ("POST", "/v1/queues/{queue}/keys/{key}:open", "Keys/Open"),
    ("GET", "/v1/kinds", "Kinds/List"),
    ("GET", "/v1/kinds/{kind}", "Kinds/Get"),
    ("PUT", "/v1/kinds/{kind}", "Kinds/Put"),
    ("GET", "/v1/schedules", "Schedules/List"),
    ("POST", "/v1/schedules", "Schedules/Create"),
    ("POST", "/v1/schedules:preview", "Schedules/Preview"),
    ("GET", "/v1/schedules/{name}", "Schedules/Get"),
    ("PUT", "/v1/schedules/{name}", "Schedules/Put"),
    ("DELETE", "/v1/schedules/{name}", "Schedules/Delete"),
    ("GET", "/v1/schedules/{name}/next", "Schedules/Next"),
    ("GET", "/v1/schedules/{name}/occurrences", "Schedules/Occurrences"),
    ("POST", "/v1/schedules/{name}:pause", "Schedules/Pause"),
    ("POST", "/v1/schedules/{name}:resume", "Schedules/Resume"),
    ("POST", "/v1/schedules/{name}:run", "Schedules/Run"),
    ("POST", "/v1/schedules/{name}:backfill", "Schedules/Backfill"),
    ("GET", "/v1/operations", "Operations/List"),
    ("POST", "/v1/operations", "Operations/Start"),
    ("GET", "/v1/operations/{id}", "Operations/Get"),
    ("POST", "/v1/operations/{id}:cancel", "Operations/Cancel"),
    ("GET", "/v1/failures", "Failures/List"),
    ("GET", "/v1/failures/{fingerprint}", "Failures/Get"),
    ("POST", "/v1/failures/{fingerprint}:replay", "Failures/Replay"),
    ("POST", "/v1/failures/{fingerprint}:discard", "Failures/Discard"),
    ("GET", "/v1/views", "Views/List"),
    ("GET", "/v1/views/{name}", "Views/Get"),
    ("PUT", "/v1/views/{name}", "Views/Put"),
    ("DELETE", "/v1/views/{name}", "Views/Delete"),
    ("GET", "/v1/workers", "Workers/List"),
    ("GET", "/v1/workers/{id}", "Workers/Get"),
    ("POST", "/v1/workers/{id}:drain", "Workers/Drain"),
    ("GET", "/v1/stats", "Server/Stats"),
    ("GET", "/v1/stats/timeseries", "Server/Timeseries"),
    ("GET", "/v1/capabilities", "Server/Capabilities"),
    ("GET", "/v1/cluster", "Server/Cluster"),
];

/// Operations without a call, by how their path begins, and why. What is not below `/v1/` is for probes, for Prometheus, for people,
/// or for clients of other products, and has none either.
const ALONE: &[(&str, &str)] = &[
    ("/v1/jobs:import", "a file of lines; programs send batches"),
    ("/v1/jobs:export", "a file of lines; programs list page by page"),
    ("/v1/events", "server-sent events, for browsers and curl"),
    ("/v1/queues/{queue}:claim", "the worker protocol over HTTP; over gRPC it is Worker/Session"),
    ("/v1/leases/", "the same"),
    ("/v1/auth:", "logins are of people, in browsers and at terminals; programs show tokens, over gRPC too"),
    ("/v1/whoami", "the same"),
    ("/v1/users", "what an administrator does"),
    ("/v1/audit", "what an administrator reads"),
    ("/v1/system", "the same"),
    ("/v1/tokens", "what an administrator does"),
    ("/v1/openapi.json", "describes REST"),
    ("/v1/docs", "describes REST"),
];

/// Calls that mirror nothing: the worker protocol itself.
const CALLS_ALONE: &[&str] = &["Worker/Session", "Worker/ReportDeath"];

/// Every call of the contract.
fn calls() -> BTreeSet<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../proto/proto/ganger/v1");
    let mut calls = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut service = "";
        for line in text.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("service ") {
                service = rest.trim_end_matches([' ', '{']);
            }
            if let Some((name, _)) = line.strip_prefix("rpc ").and_then(|rest| rest.split_once('(')) {
                calls.insert(format!("{service}/{name}"));
            }
        }
    }
    calls
}

#[test]
fn every_operation_has_its_call_or_a_reason_to_have_none() {
    let calls = calls();
    let mut described = operations();
    for (method, path, call) in MIRRORED {
        assert!(described.remove(&((*method).into(), (*path).into())), "{method} {path} is not described");
        assert!(calls.contains(*call), "{call} does not exist");
    }
    for (method, path) in described.into_iter().filter(|(_, path)| path.starts_with("/v1/")) {
        let alone = ALONE.iter().any(|(head, _)| path.starts_with(head));
        assert!(alone, "{method} {path} has no call: mirror it, or say here why not");
    }
}

#[test]
fn every_call_has_its_operation() {
    for call in calls() {
        let mirrors = MIRRORED.iter().any(|(_, _, mirror)| *mirror == call);
        assert!(mirrors || CALLS_ALONE.contains(&call.as_str()), "{call} has no operation in REST");
    }
}

#[test]
fn a_standby_treats_an_operation_and_its_call_alike() {
    for (method, path, call) in MIRRORED {
        let path = path.replace(['{', '}'], "");
        let rest = Route::of(&method.parse().unwrap(), &path.parse().unwrap());
        let grpc = Route::of(&"POST".parse().unwrap(), &format!("/ganger.v1.{call}").parse().unwrap());
        assert_eq!(rest.again, grpc.again, "{method} {path} and {call}");
        // What a message tells, REST says in a path or a body that is not there here: then it is the leader's.
        let place = if grpc.place == Place::ByMessage { Place::Leader } else { grpc.place };
        assert_eq!(rest.place, place, "{method} {path} and {call}");
    }
}
