//! Bad input on every route: each is refused with a clear problem, nothing panics, and the server goes
//! on serving. The tables run against any base address.

use std::sync::LazyLock;

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One client for all: making one reads the certificates of the machine.
static CLIENT: LazyLock<Client> = LazyLock::new(Client::new);

/// Every route that takes a body of fields.
const BODY_ROUTES: &[(&str, &str)] = &[
    ("POST", "/v1/jobs"),
    ("POST", "/v1/jobs:batch"),
    ("POST", "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W:cancel"),
    ("POST", "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W:replay"),
    ("POST", "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W:run-now"),
    ("PUT", "/v1/queues/mail"),
    ("PUT", "/v1/views/mine"),
    ("POST", "/v1/operations"),
    ("POST", "/v1/operations/op_01J9X7QK5V8M3N2P4R6S8T0V1W:cancel"),
    ("POST", "/v1/failures/0123456789abcdef:replay"),
    ("POST", "/v1/failures/0123456789abcdef:discard"),
    ("PUT", "/v1/kinds/mail"),
    ("POST", "/v1/schedules"),
    ("POST", "/v1/schedules:preview"),
    ("PUT", "/v1/schedules/nightly"),
    ("POST", "/v1/schedules/nightly:pause"),
    ("POST", "/v1/schedules/nightly:resume"),
    ("POST", "/v1/schedules/nightly:run"),
    ("POST", "/v1/schedules/nightly:backfill"),
    ("POST", "/v1/queues/mail:pause"),
    ("POST", "/v1/queues/mail:resume"),
    ("POST", "/v1/queues/mail:drain"),
    ("POST", "/v1/queues/mail:purge"),
    ("POST", "/v1/queues/mail:claim"),
    ("POST", "/v1/queues/mail/keys/a:close"),
    ("POST", "/v1/queues/mail/keys/a:open"),
    ("POST", "/v1/workers/wrk_01J9X7QK5V8M3N2P4R6S8T0V1W:drain"),
    ("POST", "/v1/auth:login"),
    ("POST", "/v1/auth:refresh"),
    ("POST", "/v1/auth:logout"),
    ("POST", "/v1/auth:password"),
    ("POST", "/v1/users"),
    ("PUT", "/v1/users/ada"),
    ("POST", "/v1/tokens"),
];

/// Every route of a compatible door that takes a body. They answer in the words of what they stand in for.
const DOORS: &[(&str, &str)] = &[("POST", "/submit_job"), ("POST", "/jobs")];

/// Bodies that no route takes.
fn bad_bodies() -> Vec<(&'static str, Vec<u8>)> {
    let text = |t: &str| t.as_bytes().to_vec();
    vec![
        ("cut off", text("{")),
        ("cut off in a string", text("{\"kind\": \"a")),
        ("no value", text("{\"kind\":}")),
        ("a trailing comma", text("{\"kind\": \"a\",}")),
        ("single quotes", text("{'kind': 'a'}")),
        ("two documents", text("{} {}")),
        ("a bare word", text("nonsense")),
        ("not a number", text("{\"priority\": NaN}")),
        ("an array", text("[]")),
        ("a string", text("\"kind\"")),
        ("a number", text("12345678901234567890123456789")),
        ("null", text("null")),
        ("a NUL byte", b"{\"kind\": \"a\0\"}".to_vec()),
        ("only a NUL byte", vec![0]),
        ("bytes that are not UTF-8", b"{\"kind\": \"\xff\xfe\"}".to_vec()),
        ("an overlong encoding", b"{\"kind\": \"\xc0\x80\"}".to_vec()),
        ("UTF-16", "{\"kind\":\"a\"}".encode_utf16().flat_map(u16::to_be_bytes).collect()),
        ("a byte order mark", "\u{feff}{}".as_bytes().to_vec()),
        ("a lone surrogate as a name", text("{\"\\ud800\": 1}")),
        ("deep arrays", "[".repeat(60_000).into_bytes()),
        ("deep objects", "{\"a\":".repeat(10_000).into_bytes()),
        ("an unknown field", text("{\"no_such_field\": 1}")),
        ("many unknown fields", many_fields()),
    ]
}

fn many_fields() -> Vec<u8> {
    let fields: Vec<String> = (0..4000).map(|n| format!("\"f{n}\":{n}")).collect();
    format!("{{{}}}", fields.join(",")).into_bytes()
}

/// Submissions with one thing wrong, and the pointer that the answer must name.
const BAD_JOBS: [(&str, &str); 46] = [
    (r#"{}"#, "/kind"),
    (r#"{"kind": ""}"#, "/kind"),
    (r#"{"kind": "a b"}"#, "/kind"),
    (r#"{"kind": "a\u0000b"}"#, "/kind"),
    (r#"{"kind": "ä"}"#, "/kind"),
    (r#"{"kind": 1}"#, "/kind"),
    (r#"{"kind": ["a"]}"#, "/kind"),
    (r#"{"kind": "\ud800"}"#, "/kind"),
    (r#"{"kind": "a", "kind": "b"}"#, "/kind"),
    (r#"{"kind": "a", "queue": "a/b"}"#, "/queue"),
    (r#"{"kind": "a", "queue": {}}"#, "/queue"),
    (r#"{"kind": "a", "priority": 128}"#, "/priority"),
    (r#"{"kind": "a", "priority": -129}"#, "/priority"),
    (r#"{"kind": "a", "priority": 1.5}"#, "/priority"),
    (r#"{"kind": "a", "priority": 1e999}"#, "/priority"),
    (r#"{"kind": "a", "priority": 99999999999999999999999999}"#, "/priority"),
    (r#"{"kind": "a", "priority": "high"}"#, "/priority"),
    (r#"{"kind": "a", "run_at": "tomorrow"}"#, "/run_at"),
    (r#"{"kind": "a", "run_at": 1700000000}"#, "/run_at"),
    (r#"{"kind": "a", "run_at": "99999-01-01T00:00:00Z"}"#, "/run_at"),
    (r#"{"kind": "a", "delay": "-1s"}"#, "/delay"),
    (r#"{"kind": "a", "delay": -1}"#, "/delay"),
    (r#"{"kind": "a", "delay": 1e300}"#, "/delay"),
    (r#"{"kind": "a", "delay": "999999999999w"}"#, "/delay"),
    (r#"{"kind": "a", "expires_at": "never"}"#, "/expires_at"),
    (r#"{"kind": "a", "threads": 0}"#, "/threads"),
    (r#"{"kind": "a", "threads": 1025}"#, "/threads"),
    (r#"{"kind": "a", "threads": 2, "min_threads": 3}"#, "/min_threads"),
    (r#"{"kind": "a", "fallback": "narrow"}"#, "/fallback"),
    (r#"{"kind": "a", "require": ["gpu"]}"#, "/require"),
    (r#"{"kind": "a", "require": {"": "x"}}"#, "/require"),
    (r#"{"kind": "a", "max_attempts": 0}"#, "/max_attempts"),
    (r#"{"kind": "a", "max_attempts": 1001}"#, "/max_attempts"),
    (r#"{"kind": "a", "retry": 3}"#, "/retry"),
    (r#"{"kind": "a", "retry": {"factor": 0.5}}"#, "/retry/factor"),
    (r#"{"kind": "a", "retry": {"jitter": 2}}"#, "/retry/jitter"),
    (r#"{"kind": "a", "retry": {"strategy": "linear"}}"#, "/retry/strategy"),
    (r#"{"kind": "a", "timeout": 0}"#, "/timeout"),
    (r#"{"kind": "a", "timeout": "forever"}"#, "/timeout"),
    (r#"{"kind": "a", "unique_key": ""}"#, "/unique_key"),
    (r#"{"kind": "a", "unique_key": "a\u0000"}"#, "/unique_key"),
    (r#"{"kind": "a", "tags": "one"}"#, "/tags"),
    (r#"{"kind": "a", "tags": [""]}"#, "/tags"),
    (r#"{"kind": "a", "max_lost": -1}"#, "/max_lost"),
    (r#"{"kind": "a", "depends_on": "x"}"#, "/depends_on"),
    (r#"{"kind": "a", "concurrency_key": ""}"#, "/concurrency_key"),
];

/// What a worker over HTTP may get wrong: the verb, a body, and the pointer that the answer must name.
const BAD_REPORTS: [(&str, &str, &str); 33] = [
    ("claim", r#"{"max": 0}"#, "/max"),
    ("claim", r#"{"max": 65}"#, "/max"),
    ("claim", r#"{"max": "many"}"#, "/max"),
    ("claim", r#"{"max": 1e999}"#, "/max"),
    ("claim", r#"{"lease": "999ms"}"#, "/lease"),
    ("claim", r#"{"lease": "1h1s"}"#, "/lease"),
    ("claim", r#"{"lease": true}"#, "/lease"),
    ("claim", r#"{"wait": "61s"}"#, "/wait"),
    ("claim", r#"{"wait": -1}"#, "/wait"),
    ("claim", r#"{"kinds": "a"}"#, "/kinds"),
    ("claim", r#"{"kinds": ["a b"]}"#, "/kinds"),
    ("claim", r#"{"kinds": ["a\u0000"]}"#, "/kinds"),
    ("claim", r#"{"worker": "a\u0000"}"#, "/worker"),
    ("claim", r#"{"worker": 1}"#, "/worker"),
    ("complete", r#"{"result": 1, "result": 2}"#, "/result"),
    ("complete", r#"{"error": "none"}"#, "/error"),
    ("fail", r#"{"error": 1}"#, "/error"),
    ("fail", r#"{"error": "\ud800"}"#, "/error"),
    ("fail", r#"{"fatal": "yes"}"#, "/fatal"),
    ("fail", r#"{"fatal": 1}"#, "/fatal"),
    ("fail", r#"{"retry_after": -1}"#, "/retry_after"),
    ("fail", r#"{"retry_after": "soon"}"#, "/retry_after"),
    ("fail", r#"{"retry_after": 1e300}"#, "/retry_after"),
    ("fail", r#"{"fatal": true, "retry_after": "1s"}"#, "/retry_after"),
    ("extend", r#"{"lease": "1h"}"#, "/lease"),
    ("release", r#"{"started": "no"}"#, "/started"),
    ("release", r#"{"started": 0}"#, "/started"),
    ("progress", r#"{"fraction": 1.01}"#, "/fraction"),
    ("progress", r#"{"fraction": -0.01}"#, "/fraction"),
    ("progress", r#"{"fraction": 1e999}"#, "/fraction"),
    ("progress", r#"{"fraction": "half"}"#, "/fraction"),
    ("progress", r#"{"note": 1}"#, "/note"),
    ("log", r#"{"text": ["a"]}"#, "/text"),
];

/// Addresses with something wrong in the path or the query.
const BAD_READS: &[&str] = &[
    "/v1/jobs?state=lost",
    "/v1/jobs?stat=dead",
    "/v1/jobs?limit=0",
    "/v1/jobs?limit=501",
    "/v1/jobs?limit=-1",
    "/v1/jobs?limit=99999999999999999999",
    "/v1/jobs?limit=1&limit=2",
    "/v1/jobs?queue=a%20b",
    "/v1/jobs?kind=",
    "/v1/jobs?kind=%00",
    "/v1/jobs?tag=",
    "/v1/jobs?created_from=yesterday",
    "/v1/jobs?cursor=nonsense",
    "/v1/jobs?cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "/v1/jobs?include=everything",
    "/v1/jobs?%ff=%fe",
    "/v1/jobs/nonsense",
    "/v1/jobs/%00",
    "/v1/jobs/%ff",
    "/v1/jobs/..%2f..%2fetc",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W?wait=61s",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W?wait=soon",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W?wait=1s&wait=2s",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W/parents?limit=0",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W/parents?limit=101",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W/children?cursor=x",
    "/v1/jobs/nonsense/children",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W/logs?attempt=0",
    "/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W/logs?attempt=x",
    "/v1/queues/a%20b",
    "/v1/kinds/a%20b",
    "/v1/queues/a%20b/keys",
    "/v1/keys?limit=0",
    "/v1/keys?limit=501",
    "/v1/keys?queue=mail",
    "/v1/schedules/a%20b",
    "/v1/schedules?cursor=a%20b",
    "/v1/schedules?limit=0",
    "/v1/schedules?limit=501",
    "/v1/schedules/nightly/next?n=0",
    "/v1/schedules/nightly/next?n=1001",
    "/v1/schedules/nightly/next?from=tomorrow",
    "/v1/schedules/nightly/occurrences?cursor=yesterday",
    "/v1/schedules/nightly/occurrences?state=fired",
    "/v1/queues/%F0%9F%92%A5",
    "/v1/workers/nonsense",
    "/v1/workers/job_01J9X7QK5V8M3N2P4R6S8T0V1W",
    "/v1/events?topics=everything",
    "/v1/events?job=nonsense",
    "/v1/stats?x=1",
    "/v1/stats/timeseries?x=1",
    "/v1/stats/timeseries?metric=speed",
    "/v1/stats/timeseries?by=worker",
    "/v1/stats/timeseries?step=30s",
    "/v1/stats/timeseries?step=90s",
    "/v1/stats/timeseries?step=25h",
    "/v1/stats/timeseries?from=soon",
    "/v1/stats/timeseries?from=999999d",
    "/v1/stats/timeseries?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
    "/v1/stats/timeseries?from=1001m",
    "/v1/stats/timeseries?from=1970-01-01T00:00:00Z&step=1d",
    "/v1/stats/timeseries?queue=a%20b",
    "/v1/stats/timeseries?step=1m&step=2m",
    "/v1/jobs?q=colour%3Ared",
    "/v1/jobs?q=state%3Alost",
    "/v1/jobs?q=%28",
    "/v1/jobs?q=a&q=b",
    "/v1/jobs?q=%22%00",
    "/v1/jobs:histogram?buckets=0",
    "/v1/jobs:histogram?buckets=x",
    "/v1/jobs:histogram?limit=1",
    "/v1/jobs:export?format=xml",
    "/v1/jobs:export?include=everything",
    "/v1/views/a%20b",
    "/v1/operations/nonsense",
    "/v1/failures/nonsense",
    "/v1/failures?window=soon",
    "/v1/failures?limit=0",
    "/v1/failures?kind=a%20b",
];

#[tokio::test]
async fn bad_input_is_refused_on_every_route_and_the_server_goes_on() {
    let server = ganger_server::testing::start().await;
    let url = server.url();
    bodies(&url).await;
    doors(&url).await;
    submissions(&url).await;
    reads(&url).await;
    sizes(&url).await;
    headers(&url).await;
    imports(&url).await;
    reports(&url).await;
    claimed_length(&url).await;
    still_serves(&url).await;
    server.stop().await;
}

async fn bodies(url: &str) {
    for (method, path) in BODY_ROUTES {
        for (what, body) in bad_bodies() {
            let request = CLIENT.request(method.parse::<Method>().unwrap(), format!("{url}{path}"));
            let problem = refused(request.body(body), &format!("{method} {path} with {what}")).await;
            let code = problem["code"].as_str().unwrap();
            assert!(["malformed_json", "validation_failed"].contains(&code), "{path}, {what}: {problem}");
        }
    }
}

/// The originals took whatever fields there were; what is no JSON object at all is refused, and never by a bug.
async fn doors(url: &str) {
    for (method, path) in DOORS {
        for (what, body) in bad_bodies() {
            let request = CLIENT.request(method.parse::<Method>().unwrap(), format!("{url}{path}"));
            let answer = request.body(body).send().await.unwrap_or_else(|e| panic!("{path}, {what}: {e:?}"));
            let fine = what.contains("unknown field") && answer.status().is_success();
            assert!(fine || answer.status().is_client_error(), "{path}, {what}: {}", answer.status());
            assert!(!answer.text().await.unwrap().is_empty(), "{path}, {what} says something");
        }
        let large = " ".repeat(2 << 20);
        let request = CLIENT.request(method.parse::<Method>().unwrap(), format!("{url}{path}"));
        let answer = request.body(large).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        // Each says it in the form of its original.
        let body: Value = answer.json().await.unwrap();
        assert!(body["code"] == "body_too_large" || body["error"].is_string(), "{path}: {body}");
    }
}

async fn submissions(url: &str) {
    for (body, pointer) in BAD_JOBS {
        let problem = refused(CLIENT.post(format!("{url}/v1/jobs")).body(body), body).await;
        let named = problem["errors"].as_array().is_some_and(|e| e.iter().any(|e| e["pointer"] == pointer));
        assert!(problem["status"] == 422 && named, "{body}: {problem}");

        let batch = format!("{{\"jobs\": [{{\"kind\": \"fine\"}}, {body}], \"atomic\": true}}");
        let problem = refused(CLIENT.post(format!("{url}/v1/jobs:batch")).body(batch), body).await;
        let pointer = format!("/jobs/1{pointer}");
        let named =
            problem["errors"].as_array().is_some_and(|e| e.iter().any(|e| e["pointer"] == pointer.as_str()));
        assert!(named, "{body} in a batch: {problem}");
    }
}

async fn reads(url: &str) {
    for path in BAD_READS {
        let problem = refused(CLIENT.get(format!("{url}{path}")), path).await;
        assert_eq!(problem["status"], 400, "{path}: {problem}");
    }
    for (path, status) in [
        ("/nothing", 404),
        ("/v1", 404),
        ("/v1/jobs/", 404),
        ("/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W", 404),
        ("/v1/jobs/job_01J9X7QK5V8M3N2P4R6S8T0V1W/nothing", 404),
        ("/v1/workers/wrk_01J9X7QK5V8M3N2P4R6S8T0V1W", 404),
        ("/problems/nothing", 404),
        ("/v1/jobs:batch", 405),
    ] {
        let problem = refused(CLIENT.get(format!("{url}{path}")), path).await;
        assert_eq!(problem["status"], status, "{path}: {problem}");
    }
    for verb in ["complete", "fail", "extend", "release", "progress", "log", "explode", ""] {
        for token in ["nonsense", "%00", "%ff", "..%2f"] {
            let path = format!("/v1/leases/{token}:{verb}");
            refused(CLIENT.post(format!("{url}{path}")).body("{}"), &path).await;
        }
    }
    for path in ["/v1/stats", "/v1/jobs/x/attempts", "/livez"] {
        let problem = refused(CLIENT.delete(format!("{url}{path}")), path).await;
        assert_eq!(problem["code"], "method_not_allowed", "{path}");
    }
}

async fn sizes(url: &str) {
    let large = |n: usize| format!("{{\"kind\":\"a\",\"payload\":\"{}\"}}", "x".repeat(n));
    let limit = 1 << 20;
    let post = |path: &str, body: String| CLIENT.post(format!("{url}{path}")).body(body);
    // The payload is a string: its quotes count.
    let fits = post("/v1/jobs", large(limit - 2)).send().await.unwrap();
    assert_eq!(fits.status(), StatusCode::CREATED);
    let problem = refused(post("/v1/jobs", large(limit - 1)), "one byte too many").await;
    assert_eq!(problem["errors"][0]["pointer"], "/payload");
    let problem = refused(post("/v1/jobs", large(2 * limit)), "a large body").await;
    assert_eq!(problem["code"], "body_too_large");
    let problem = refused(post("/v1/jobs:batch", " ".repeat((4 << 20) + 1)), "a large batch").await;
    assert_eq!(problem["code"], "body_too_large");
    let problem = refused(post("/v1/queues/mail:pause", " ".repeat((64 << 10) + 1)), "a large verb").await;
    assert_eq!(problem["code"], "body_too_large");

    let jobs = |n: usize| format!("{{\"jobs\":[{}]}}", vec!["{\"kind\":\"a\"}"; n].join(","));
    assert_eq!(post("/v1/jobs:batch", jobs(1000)).send().await.unwrap().status(), StatusCode::OK);
    let problem = refused(post("/v1/jobs:batch", jobs(1001)), "1001 jobs").await;
    assert_eq!(problem["errors"][0]["pointer"], "/jobs");

    let nested = |n: usize| format!("{{\"kind\":\"a\",\"payload\":{}{}}}", "[".repeat(n), "]".repeat(n));
    assert_eq!(post("/v1/jobs", nested(64)).send().await.unwrap().status(), StatusCode::CREATED);
    refused(post("/v1/jobs", nested(65)), "65 levels").await;
}

async fn headers(url: &str) {
    let job = || CLIENT.post(format!("{url}/v1/jobs")).body("{\"kind\": \"a\"}");
    for (name, value, code) in [
        ("content-encoding", "gzip", "unsupported_media_type"),
        ("content-type", "multipart/form-data", "unsupported_media_type"),
        ("content-type", "application/xml", "unsupported_media_type"),
        ("host", "evil.example", "host_not_allowed"),
        ("origin", "https://evil.example", "origin_not_allowed"),
        ("origin", "null", "origin_not_allowed"),
        ("sec-fetch-site", "cross-site", "origin_not_allowed"),
        ("idempotency-key", "\"\"", "invalid_parameter"),
    ] {
        let problem = refused(job().header(name, value), &format!("{name}: {value}")).await;
        assert_eq!(problem["code"], code, "{name}: {value}");
    }
    let long = "k".repeat(257);
    assert_eq!(
        refused(job().header("idempotency-key", &long), "a long key").await["code"],
        "invalid_parameter"
    );
    let problem = refused(CLIENT.get(format!("{url}/{}", "a".repeat(9000))), "a long path").await;
    assert_eq!(problem["code"], "uri_too_long");
    let exec = CLIENT.post(format!("{url}/v1/jobs")).body("{\"kind\": \"exec\"}");
    assert_eq!(refused(exec, "exec without a token").await["code"], "exec_not_allowed");
}

async fn imports(url: &str) {
    let mut lines: Vec<Vec<u8>> = bad_bodies().into_iter().map(|(_, body)| body).collect();
    let bad = lines.len();
    lines.push(format!("{{\"kind\":\"a\",\"payload\":\"{}\"}}", "x".repeat(3 << 20)).into_bytes());
    lines.push(b"{\"kind\": \"fine\"}".to_vec());
    let body = lines.join(&b'\n');
    let answer = CLIENT.post(format!("{url}/v1/jobs:import")).body(body).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!((&answer["accepted"], &answer["rejected"]), (&1.into(), &(bad + 1).into()), "{answer}");
    let last = answer["errors"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["line"], &last["code"]), (&(bad + 1).into(), &"body_too_large".into()));
}

/// Reports on a lease that is really held, so that only their bodies are wrong: none of them touches it.
async fn reports(url: &str) {
    let json = |answer: reqwest::Response| async move { answer.json::<Value>().await.unwrap() };
    let job = CLIENT.post(format!("{url}/v1/jobs")).body("{\"kind\": \"a\", \"queue\": \"leased\"}");
    let id = json(job.send().await.unwrap()).await["id"].as_str().unwrap().to_owned();
    let claim = CLIENT.post(format!("{url}/v1/queues/leased:claim")).body("{\"lease\": \"1h\"}");
    let claimed = json(claim.send().await.unwrap()).await;
    let token = claimed["jobs"][0]["lease_token"].as_str().unwrap();
    let path = |verb: &str| match verb {
        "claim" => format!("{url}/v1/queues/leased:claim"),
        _ => format!("{url}/v1/leases/{token}:{verb}"),
    };
    for verb in ["complete", "fail", "extend", "release", "progress", "log"] {
        for (what, body) in bad_bodies() {
            let problem = refused(CLIENT.post(path(verb)).body(body), &format!("{verb} with {what}")).await;
            let code = problem["code"].as_str().unwrap();
            assert!(["malformed_json", "validation_failed"].contains(&code), "{verb}, {what}: {problem}");
        }
        let large = format!("{{\"x\": \"{}\"}}", "x".repeat(2 << 20));
        let problem = refused(CLIENT.post(path(verb)).body(large), &format!("a large {verb}")).await;
        assert_eq!(problem["code"], "body_too_large", "{verb}");
    }
    for verb in ["claim", "complete", "fail", "extend", "release", "progress", "log"] {
        let problem = refused(CLIENT.post(format!("{}?x=1", path(verb))), &format!("{verb}?x=1")).await;
        assert_eq!(problem["code"], "invalid_parameter", "{verb}");
    }
    for (verb, body, pointer) in BAD_REPORTS {
        let problem = refused(CLIENT.post(path(verb)).body(body), &format!("{verb} {body}")).await;
        let named = problem["errors"].as_array().is_some_and(|e| e.iter().any(|e| e["pointer"] == pointer));
        assert!(problem["status"] == 422 && named, "{verb} {body}: {problem}");
    }
    let running = json(CLIENT.get(format!("{url}/v1/jobs/{id}")).send().await.unwrap()).await;
    assert_eq!((&running["state"], &running["attempt"]), (&"running".into(), &1.into()), "{running}");
    let done = CLIENT.post(path("complete")).body("{\"result\": \"fine\"}").send().await.unwrap();
    assert_eq!(done.status(), StatusCode::OK);
    let result = CLIENT.get(format!("{url}/v1/jobs/{id}/result")).send().await.unwrap();
    assert_eq!(result.text().await.unwrap(), "\"fine\"");
}

/// A client that claims a body of 256 MiB and sends nothing is refused at once.
async fn claimed_length(url: &str) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /v1/jobs HTTP/1.1\r\nHost: {address}\r\nContent-Length: 268435456\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0u8; 12];
    tokio::time::timeout(std::time::Duration::from_secs(20), stream.read_exact(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

async fn still_serves(url: &str) {
    let job = CLIENT.post(format!("{url}/v1/jobs")).body("{\"kind\": \"a\"}").send().await.unwrap();
    assert_eq!(job.status(), StatusCode::CREATED);
    let ready = CLIENT.get(format!("{url}/readyz")).send().await.unwrap();
    assert_eq!(ready.status(), StatusCode::OK);
}

/// Sends a request that must be refused as a problem document, and not by a bug.
async fn refused(request: reqwest::RequestBuilder, what: &str) -> Value {
    let answer = request.send().await.unwrap_or_else(|e| panic!("{what}: {e:?}"));
    let status = answer.status();
    assert!(status.is_client_error(), "{what}: {status}");
    assert_eq!(answer.headers()["content-type"], "application/problem+json", "{what}");
    let id = answer.headers()["x-request-id"].to_str().unwrap().to_string();
    let problem: Value = answer.json().await.unwrap_or_else(|e| panic!("{what}: {e:?}"));
    assert_eq!(problem["status"], status.as_u16(), "{what}");
    assert_eq!(problem["request_id"], id.as_str(), "{what}");
    for text in ["type", "title", "code", "detail", "hint"] {
        assert!(problem[text].as_str().is_some_and(|t| !t.is_empty()), "{what} has a {text}: {problem}");
    }
    problem
}
