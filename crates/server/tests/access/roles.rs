//! What each role may do, and how tokens are made, limited and revoked.

use std::sync::Arc;

use ganger_store::MemoryStore;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::site::{PATIENCE, Site, eventually, serve};

/// A request, and the status of its answer.
type Case<'a> = (Method, &'a str, u16);

#[tokio::test]
async fn a_role_may_do_its_own_and_nothing_else() {
    let site = Site::start().await;
    let (status, job) = site.post(&site.admin, "/v1/jobs", json!({"kind": "a", "payload": {"x": 1}})).await;
    assert_eq!(status, 201, "{job}");
    let id = job["id"].as_str().unwrap().to_owned();
    let payload = format!("/v1/jobs/{id}/payload");
    let cases: &[(&str, &[Case<'_>])] = &[
        (
            "viewer",
            &[
                (Method::GET, "/v1/jobs", 200),
                (Method::GET, &payload, 403),
                (Method::GET, "/v1/jobs?include=payload", 403),
                (Method::GET, "/v1/jobs?%69nclude=payload", 403),
                (Method::GET, "/v1/jobs?incl%75de=r%65sult", 403),
                // What a filter finds tells what is in jobs, letter by letter.
                (Method::GET, "/v1/jobs?q=payload.x:1", 403),
                (Method::GET, "/v1/jobs?q=kind:a%20or%20-result~x", 403),
                (Method::GET, "/v1/jobs:histogram?q=payload.x:1", 403),
                (Method::GET, "/v1/jobs:histogram?q=kind:a", 200),
                (Method::GET, "/v1/jobs:export", 403),
                (Method::POST, "/v1/jobs", 403),
                (Method::GET, "/v1/users", 403),
            ],
        ),
        (
            "submitter",
            &[
                (Method::POST, "/v1/jobs", 201),
                (Method::GET, &payload, 200),
                (Method::POST, "/v1/queues/default:pause", 403),
                (Method::POST, "/v1/tokens", 403),
            ],
        ),
        (
            "operator",
            &[
                (Method::POST, "/v1/queues/default:pause", 200),
                (Method::POST, "/v1/queues/default:resume", 200),
                (Method::POST, "/v1/queues/default:claim", 403),
                (Method::GET, "/v1/tokens", 403),
            ],
        ),
        (
            "worker",
            &[
                (Method::POST, "/v1/jobs", 201),
                (Method::POST, "/v1/queues/default:purge", 403),
                (Method::GET, "/v1/whoami", 200),
            ],
        ),
    ];
    for (role, asks) in cases {
        let token = site.role(role).await;
        for (method, path, expected) in *asks {
            let body =
                if *path == "/v1/jobs" && *method == Method::POST { json!({"kind": "a"}) } else { json!({}) };
            let body = (*method != Method::GET).then_some(body);
            let (status, said) = site.ask(&token, method.clone(), path, body).await;
            assert_eq!(status, *expected, "{role} {method} {path}: {said}");
        }
    }
    let viewer = site.role("viewer").await;
    let (_, seen) = site.get(&viewer, &format!("/v1/jobs/{id}")).await;
    assert_eq!((&seen["kind"], seen.get("payload")), (&json!("a"), None), "{seen}");
}

/// Listening is a long request: it ends with the right to ask.
#[tokio::test]
async fn live_events_end_when_the_token_is_revoked() {
    let site = Site::start().await;
    let token = site.role("viewer").await;
    let listening = site.client.get(format!("{}/v1/events", site.server.url())).bearer_auth(&token);
    let mut listening = listening.send().await.unwrap();
    assert_eq!(listening.status(), 200);
    let id = token.split('_').nth(1).unwrap();
    let revoked = site.ask(&site.admin, Method::DELETE, &format!("/v1/tokens/{id}"), None).await;
    assert_eq!(revoked.0, 204, "{}", revoked.1);
    let over = async { while listening.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(PATIENCE, over).await.expect("the stream ends");
}

/// A bulk operation is no way around a permission that a token was not given.
#[tokio::test]
async fn an_operation_needs_what_each_of_its_acts_needs() {
    let site = Site::start().await;
    let scoped = json!({"name": "p", "role": "operator", "scopes": ["read", "purge"]});
    let token = site.token(scoped).await;
    for (action, filter, expected) in [
        ("delete", "state:dead", 200),
        ("replay", "state:dead", 403),
        ("cancel", "kind:a", 403),
        ("delete", "payload.x:1", 403),
    ] {
        let body = json!({"action": action, "filter": filter, "dry_run": true});
        let (status, said) = site.post(&token, "/v1/operations", body).await;
        assert_eq!(status, expected, "{action} {filter}: {said}");
    }
}

#[tokio::test]
async fn a_token_is_shown_once_kept_as_a_hash_and_refused_once_revoked() {
    let store = Arc::new(MemoryStore::default());
    let site = Site::on(store.clone()).await;
    let made = json!({"name": "ci", "role": "submitter", "scopes": ["enqueue"], "expires_in": "1h"});
    let token = site.token(made).await;
    let secret = token.rsplit('_').next().unwrap();
    let (_, listed) = site.get(&site.admin, "/v1/tokens").await;
    assert!(!listed.to_string().contains(secret));
    let kept = format!(
        "{:?}",
        ganger_store::Store::documents(&*store, ganger_core::document::Collection::Token).await
    );
    assert!(kept.contains("\\\"ci\\\"") && !kept.contains(secret), "{kept}");
    assert_eq!(site.post(&token, "/v1/jobs", json!({"kind": "a"})).await.0, 201);
    assert_eq!(site.get(&token, "/v1/jobs").await.0, 403, "only what its scopes say");
    let id = token.split('_').nth(1).unwrap();
    let deleted = site.ask(&site.admin, Method::DELETE, &format!("/v1/tokens/{id}"), None).await;
    assert_eq!(deleted.0, 204, "{}", deleted.1);
    assert_eq!(site.post(&token, "/v1/jobs", json!({"kind": "a"})).await.0, 401, "at once");
}

#[tokio::test]
async fn what_a_token_may_not_be_is_refused_by_field() {
    let site = Site::start().await;
    for (body, field) in [
        (json!({"role": "viewer"}), "/name"),
        (json!({"name": "x"}), "/role"),
        (json!({"name": "x", "role": "root"}), "/role"),
        (json!({"name": "x", "role": "viewer", "scopes": ["enqueue"]}), "/scopes"),
        (json!({"name": "x", "role": "viewer", "scopes": []}), "/scopes"),
        (json!({"name": "x", "role": "viewer", "scopes": ["fly"]}), "/scopes"),
        (json!({"name": "x", "role": "viewer", "queues": []}), "/queues"),
        (json!({"name": "x", "role": "admin", "queues": ["mail"]}), "/queues"),
        (json!({"name": "x", "role": "viewer", "rate": 0}), "/rate"),
        (json!({"name": "x", "role": "viewer", "expires_in": "0s"}), "/expires_in"),
    ] {
        let (status, problem) = site.post(&site.admin, "/v1/tokens", body.clone()).await;
        assert_eq!(
            (status, &problem["errors"][0]["pointer"]),
            (422, &Value::from(field)),
            "{body}: {problem}"
        );
    }
}

#[tokio::test]
async fn a_token_with_a_rate_is_told_when_to_come_again() {
    let site = Site::start().await;
    let token = site.token(json!({"name": "slow", "role": "viewer", "rate": 2})).await;
    let mut refused = None;
    for _ in 0..50 {
        let answer = site.request(&token, Method::GET, "/v1/whoami").send().await.unwrap();
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("fifty requests at once are more than two per second");
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(refused.headers()["ganger-code"], "rate_limited");
    assert_eq!(site.get(&site.admin, "/v1/whoami").await.0, 200, "others are not held up");
}

#[tokio::test]
async fn there_is_one_first_token_and_a_restart_makes_no_other() {
    let store = Arc::new(MemoryStore::default());
    let site = Site::on(store.clone()).await;
    let admin = site.admin.clone();
    site.server.stop().await;
    let (server, first) = serve(store).await;
    let site = Site { server, client: reqwest::Client::new(), admin };
    assert_eq!(site.get(&site.admin, "/v1/whoami").await.0, 200, "users and tokens survive");
    assert_eq!(*first.lock().unwrap(), None);
}

#[tokio::test]
async fn keys_of_different_callers_never_meet() {
    let site = Site::start().await;
    let (one, other) = (site.role("submitter").await, site.role("submitter").await);
    let submit = async |token: &str| {
        let request = site.request(token, Method::POST, "/v1/jobs").header("idempotency-key", "same");
        let answer = request.body(r#"{"kind":"a"}"#).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        answer.json::<Value>().await.unwrap()["id"].clone()
    };
    let first = submit(&one).await;
    assert_eq!(submit(&one).await, first);
    assert_ne!(submit(&other).await, first);
}

/// Whoever sends the porter's own headers is not believed.
#[tokio::test]
async fn nobody_can_say_who_he_is_by_a_header() {
    let site = Site::start().await;
    let confined = site.token(json!({"name": "m", "role": "submitter", "queues": ["mail"]})).await;
    for (name, value) in [("ganger-queues", "*"), ("ganger-caller", "user:root")] {
        let request = site.request(&confined, Method::POST, "/v1/jobs").header(name, value);
        let answer = request.body(r#"{"kind":"a","queue":"pay"}"#).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{name}");
    }
}

#[tokio::test]
async fn the_last_use_of_a_token_is_written_down() {
    let site = Site::start().await;
    let token = site.role("viewer").await;
    assert_eq!(site.get(&token, "/v1/jobs").await.0, 200);
    site.server.service().note_token_uses().await;
    let id = token.split('_').nth(1).unwrap().to_owned();
    let (_, seen) = site.get(&site.admin, &format!("/v1/tokens/{id}")).await;
    eventually("a moment", || seen["used_at"].as_str().map(drop)).await;
}

/// A handler that enqueues the next job must not need an administrator's token.
#[tokio::test]
async fn a_workers_token_enqueues_into_the_queues_it_serves_and_those_it_was_given() {
    let site = Site::start().await;
    let confined = json!({"name": "w", "role": "worker", "queues": ["gpu"], "enqueue": ["mail*"]});
    let worker = site.token(confined).await;
    let enqueue =
        async |queue: &str| site.post(&worker, "/v1/jobs", json!({"kind": "a", "queue": queue})).await;
    for queue in ["gpu", "mail", "mail.out"] {
        let (status, said) = enqueue(queue).await;
        assert_eq!(status, 201, "{queue}: {said}");
    }
    let (status, parent) = enqueue("gpu").await;
    assert_eq!(status, 201, "{parent}");
    let child = json!({"kind": "a", "queue": "gpu", "depends_on": [{"job": parent["id"]}]});
    assert_eq!(site.post(&worker, "/v1/jobs", child).await.0, 201, "a child of a job of its own");
    let (status, said) = enqueue("pay").await;
    assert_eq!((status, &said["code"]), (403, &json!("forbidden")), "{said}");
    let (_, mail) = enqueue("mail").await;
    let (status, _) = site.get(&worker, &format!("/v1/jobs/{}", mail["id"].as_str().unwrap())).await;
    assert_eq!(status, 404, "it may enqueue there, and nothing else");
    let (status, refused) =
        site.post(&site.admin, "/v1/tokens", json!({"name": "v", "role": "viewer", "enqueue": ["a"]})).await;
    assert_eq!(status, 422, "{refused}");
    let free = site.role("worker").await;
    assert_eq!(site.post(&free, "/v1/jobs", json!({"kind": "a", "queue": "any"})).await.0, 201);
}
