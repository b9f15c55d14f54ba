//! Every route and every call is in the one table of what each needs.

use ganger_core::access::policy::{self, Access, Found};
use reqwest::Method;
use serde_json::Value;

use crate::site::Site;

/// The description of the gRPC services.
const PROTOS: [(&str, &str); 13] = [
    ("ganger.v1.Failures", include_str!("../../../proto/proto/ganger/v1/failures.proto")),
    ("ganger.v1.Jobs", include_str!("../../../proto/proto/ganger/v1/jobs.proto")),
    ("ganger.v1.Keys", include_str!("../../../proto/proto/ganger/v1/keys.proto")),
    ("ganger.v1.Kinds", include_str!("../../../proto/proto/ganger/v1/kinds.proto")),
    ("ganger.v1.Operations", include_str!("../../../proto/proto/ganger/v1/operations.proto")),
    ("ganger.v1.Queues", include_str!("../../../proto/proto/ganger/v1/queues.proto")),
    ("ganger.v1.Schedules", include_str!("../../../proto/proto/ganger/v1/schedules.proto")),
    ("ganger.v1.Server", include_str!("../../../proto/proto/ganger/v1/server.proto")),
    ("ganger.v1.Views", include_str!("../../../proto/proto/ganger/v1/views.proto")),
    ("ganger.v1.Worker", include_str!("../../../proto/proto/ganger/v1/worker.proto")),
    ("ganger.v1.Workers", include_str!("../../../proto/proto/ganger/v1/workers.proto")),
    ("dts.ClientService", include_str!("../../../proto/proto/dts/client.proto")),
    ("grpc.health.v1.Health", include_str!("../../../proto/proto/grpc/health/v1/health.proto")),
];

/// Every operation that the OpenAPI document names.
async fn routes(site: &Site) -> Vec<(String, String)> {
    let (status, document) = site.get("", "/v1/openapi.json").await;
    assert_eq!(status, 200);
    let paths = document["paths"].as_object().unwrap().clone();
    let methods = |path: &str, of: &Value| -> Vec<(String, String)> {
        let methods = of.as_object().unwrap().keys().filter(|key| *key != "parameters");
        methods.map(|method| (method.to_uppercase(), path.to_owned())).collect()
    };
    paths.iter().flat_map(|(path, of)| methods(path, of)).collect()
}

/// Every call of the gRPC services.
fn calls() -> Vec<String> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../proto/proto/ganger/v1")).unwrap();
    assert_eq!(folder.count() + 2, PROTOS.len(), "a file with services is missing here");
    let of = |(service, text): &(&str, &str)| -> Vec<String> {
        let names = text.split("  rpc ").skip(1).filter_map(|rest| rest.split('(').next());
        names.map(|name| format!("/{service}/{}", name.trim())).collect()
    };
    PROTOS.iter().flat_map(of).collect()
}

#[tokio::test]
async fn every_route_and_every_call_has_a_rule_and_every_rule_a_route() {
    let site = Site::start().await;
    let mut known: Vec<(String, String)> = routes(&site).await;
    known.extend(calls().into_iter().map(|path| ("POST".to_owned(), path)));
    assert!(known.len() > 80, "{}", known.len());
    for (method, path) in &known {
        let rule = policy::TABLE.iter().find(|rule| rule.method == method && rule.path == path);
        assert!(rule.is_some(), "{method} {path} has no rule in core/src/access/policy.rs");
    }
    let pages = ["/", "/ui", "/ui/**"];
    for rule in policy::TABLE.iter().filter(|rule| !pages.contains(&rule.path)) {
        let there = known.iter().any(|(method, path)| method == rule.method && path == rule.path);
        assert!(there, "{} {} has a rule and no route", rule.method, rule.path);
    }
}

/// A path with something in the place of each name.
fn filled(path: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in path.chars() {
        match c {
            '{' => {
                inside = true;
                text.push_str("job_01J9X7QK5V8M3N2P4R6S8T0V1W");
            }
            '}' => inside = false,
            _ if !inside => text.push(c),
            _ => {}
        }
    }
    text
}

#[tokio::test]
async fn without_a_token_nothing_is_answered_but_what_is_open() {
    let site = Site::start().await;
    for (method, path) in routes(&site).await {
        let asked = filled(&path);
        let Found::Operation(access) = policy::find(&method, &asked) else { panic!("{method} {asked}") };
        if access == Access::Open || path == "/metrics" {
            continue;
        }
        for token in ["", "gng_000000000000_0000000000000000000000000000000000000000000", "rubbish", "a.b.c"]
        {
            let (status, problem) = site.ask(token, method.parse::<Method>().unwrap(), &asked, None).await;
            // Who shows many wrong tokens is told to wait.
            assert!(matches!(status, 401 | 429), "{method} {asked} {token}: {status} {problem}");
        }
    }
    for open in ["/livez", "/readyz", "/", "/v1/docs", "/problems/forbidden", "/metrics"] {
        assert_eq!(site.request("", Method::GET, open).send().await.unwrap().status(), 200, "{open}");
    }
    let proxied = site.request("", Method::GET, "/metrics").header("x-forwarded-for", "10.0.0.9");
    assert_eq!(proxied.send().await.unwrap().status(), 401, "a proxy makes everybody local");
    let (status, _) = site.get("", "/v1/nothing").await;
    assert_eq!(status, 401, "nobody learns what there is");
    assert_eq!(site.get(&site.admin, "/v1/nothing").await.0, 404);
    assert_eq!(site.ask(&site.admin, Method::PATCH, "/v1/jobs", None).await.0, 405);
}
