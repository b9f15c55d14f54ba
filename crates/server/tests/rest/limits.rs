//! Limits and keys over REST: set, shown, felt, and refused with a reason.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::site::{Site, on_every_store};

async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap())
}

async fn put(site: &Site, body: Value) -> (u16, Value) {
    answer(site.ask(Method::PUT, "/v1/queues/mail").body(body.to_string())).await
}

async fn post(site: &Site, path: &str, body: Value) -> (u16, Value) {
    answer(site.post(path, body.to_string())).await
}

async fn submit(site: &Site, key: &str) -> String {
    let (status, job) =
        post(site, "/v1/jobs", json!({"kind": "noop", "queue": "mail", "concurrency_key": key})).await;
    assert_eq!(status, 201, "{job}");
    job["id"].as_str().unwrap().to_owned()
}

async fn claim(site: &Site) -> Option<Value> {
    claim_within(site, "10s").await
}

/// Nothing can be claimed: asked for long enough to be given something that could.
async fn nothing_to_claim(site: &Site) -> bool {
    claim_within(site, "500ms").await.is_none()
}

async fn claim_within(site: &Site, wait: &str) -> Option<Value> {
    let (status, claimed) = post(site, "/v1/queues/mail:claim", json!({"wait": wait})).await;
    assert!(status < 300, "{claimed}");
    claimed["jobs"].as_array().and_then(|jobs| jobs.first().cloned())
}

async fn limits_are_set_shown_and_lifted(site: Site) {
    let limits = json!({"max_running": 10, "rate": "100/1m", "burst": 20, "max_depth": 7});
    let keys = json!({"max_running": 1});
    let ageing = json!({"every": "1m", "at_most": 20});
    let (status, queue) =
        put(&site, json!({"limits": limits, "key_limits": keys, "block": "250ms", "ageing": ageing})).await;
    assert_eq!(status, 200, "{queue}");
    let shown = (&queue["limits"], &queue["key_limits"], &queue["block"], &queue["ageing"]);
    assert_eq!(shown, (&limits, &keys, &json!("250ms"), &ageing));
    let lifted = json!({"limits": {"rate": "none", "max_running": "none"}, "ageing": "none", "block": "0s"});
    let (_, queue) = put(&site, lifted).await;
    assert_eq!(queue["limits"], json!({"max_depth": 7}));
    assert_eq!((&queue["ageing"], &queue["block"]), (&Value::Null, &Value::Null));
    assert_eq!(queue["key_limits"], keys, "what is left out stays");

    for (body, pointer) in [
        (json!({"limits": {"max_running": 0}}), "/limits/max_running"),
        (json!({"limits": {"max_running": 1_000_001}}), "/limits/max_running"),
        (json!({"limits": {"burst": 5}}), "/limits/burst"),
        (json!({"key_limits": {"rate": "1/1us"}}), "/key_limits/rate"),
        (json!({"block": "31s"}), "/block"),
        (json!({"ageing": {"every": "1ms"}}), "/ageing/every"),
    ] {
        let (status, problem) = put(&site, body.clone()).await;
        assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}: {problem}");
    }
}

async fn a_full_queue_is_refused_with_429_and_says_when_to_try_again(site: Site) {
    put(&site, json!({"limits": {"max_depth": 1}})).await;
    submit(&site, "a").await;
    let body = json!({"kind": "noop", "queue": "mail"}).to_string();
    let refused = site.post("/v1/jobs", body.clone()).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.headers().contains_key("retry-after"));
    let problem: Value = refused.json().await.unwrap();
    assert_eq!(problem["code"], "queue_full");
    assert_eq!(problem["detail"], "queue `mail` has 1 jobs waiting, at most 1 may");

    // Held: the room comes while the request waits.
    put(&site, json!({"block": "30s"})).await;
    let held = tokio::spawn(site.post("/v1/jobs", body).send());
    let job = claim(&site).await.expect("the first one waits");
    assert_eq!(job["kind"], "noop");
    assert_eq!(held.await.unwrap().unwrap().status(), StatusCode::CREATED);
}

async fn a_closed_key_waits_while_others_go_on_and_opens_by_hand(site: Site) {
    // Whatever a key may contain, encoded in the path.
    let path = "/v1/queues/mail/keys/a%2Fb%20%C3%BC%3A1";
    let (status, key) = post(&site, &format!("{path}:close"), json!({"for": "1h"})).await;
    assert_eq!((status, &key["key"], &key["queue"]), (200, &json!("a/b ü:1"), &json!("mail")), "{key}");
    let closed = submit(&site, "a/b ü:1").await;
    let other = submit(&site, "c").await;
    assert_eq!(claim(&site).await.expect("others go on")["id"], other);
    assert!(nothing_to_claim(&site).await);
    let why: Value = site.read(&format!("/v1/jobs/{closed}/explain")).await;
    let gate = why["gates"].as_array().unwrap().iter().find(|gate| gate["closed"] == true).unwrap();
    assert_eq!(gate["gate"], "key", "{why}");
    assert!(why["summary"].as_str().unwrap().starts_with("key a/b ü:1 is closed until"), "{why}");
    let keys: Value = site.read("/v1/keys").await;
    assert_eq!((&keys["total"], &keys["items"][0]["key"]), (&json!(2), &json!("a/b ü:1")));
    assert_eq!((&keys["items"][0]["waiting"], &keys["items"][1]["running"]), (&json!(1), &json!(1)));
    let none: Value = site.read("/v1/queues/other/keys").await;
    assert_eq!(none["total"], 0);

    let (status, key) = post(&site, &format!("{path}:open"), json!({})).await;
    assert_eq!((status, &key["closed_until"]), (200, &Value::Null));
    assert_eq!(claim(&site).await.expect("it is open")["id"], closed);
    for (verb, body, status) in
        [("close", json!({}), 422), ("close", json!({"for": "0s"}), 422), ("shut", json!({}), 405)]
    {
        assert_eq!(post(&site, &format!("{path}:{verb}"), body).await.0, status, "{verb}");
    }
}

/// "The other side said 429."
async fn a_script_closes_the_key_of_its_job_and_burns_no_attempt(site: Site) {
    let (first, second) = (submit(&site, "api").await, submit(&site, "api").await);
    let job = claim(&site).await.unwrap();
    assert_eq!(job["id"], first);
    let lease = format!("/v1/leases/{}:fail", job["lease_token"].as_str().unwrap());
    let (status, problem) = post(&site, &lease, json!({"throttled": "1h", "fatal": true})).await;
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/throttled")));
    assert_eq!(post(&site, &lease, json!({"throttled": "1h"})).await.0, 200);
    assert!(nothing_to_claim(&site).await, "the other one of its key waits too: {second}");
    let job: Value = site.read(&format!("/v1/jobs/{first}")).await;
    assert_eq!((&job["state"], &job["attempts_used"]), (&json!("queued"), &json!(0)), "{job}");
    post(&site, "/v1/queues/mail/keys/api:open", json!({})).await;
    assert_eq!(claim(&site).await.unwrap()["id"], first, "it is in its old place");
}

async fn jobs_show_their_keys(site: Site) {
    let body = json!({"kind": "noop", "concurrency_key": "c", "fair_key": "f", "fair_weight": 3});
    let (_, job) = post(&site, "/v1/jobs", body).await;
    let job: Value = site.read(&format!("/v1/jobs/{}", job["id"].as_str().unwrap())).await;
    let keys = (&job["concurrency_key"], &job["fair_key"], &job["fair_weight"]);
    assert_eq!(keys, (&json!("c"), &json!("f"), &json!(3)));
    for (field, value) in [("fair_weight", json!(0)), ("fair_weight", json!(1001)), ("fair_key", json!(""))] {
        let (status, problem) = post(&site, "/v1/jobs", json!({"kind": "noop", field: value})).await;
        assert_eq!(
            (status, &problem["errors"][0]["pointer"]),
            (422, &json!(format!("/{field}"))),
            "{problem}"
        );
    }
}

on_every_store! {
    limits_are_set_shown_and_lifted,
    a_full_queue_is_refused_with_429_and_says_when_to_try_again,
    a_closed_key_waits_while_others_go_on_and_opens_by_hand,
    a_script_closes_the_key_of_its_job_and_burns_no_attempt,
    jobs_show_their_keys,
}
