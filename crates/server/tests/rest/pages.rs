//! What the web page asks for: heads of queues, events of a job, workers that left, the system, what is on a screen.

use std::sync::Arc;

use futures::StreamExt as _;
use ganger_server::About;
use ganger_server::about::SettingShown;
use ganger_server::testing;
use ganger_store::MemoryStore;
use serde_json::{Value, json};

use crate::site::{PATIENCE, Site, on_every_store};

on_every_store!(
    the_head_of_a_queue_is_in_the_order_of_dispatch_and_says_what_holds_each_job,
    the_events_of_a_job_are_told_in_order,
);

async fn the_head_of_a_queue_is_in_the_order_of_dispatch_and_says_what_holds_each_job(site: Site) {
    let mut jobs = Vec::new();
    for priority in [0, 5, 0, -3] {
        let job = json!({"kind": "noop", "queue": "mail", "priority": priority});
        jobs.push(site.submit(&job).await.id.to_string());
    }
    let head: Value = site.read("/v1/queues/mail/head").await;
    let order: Vec<&str> = head["items"].as_array().unwrap().iter().map(|job| text(&job["id"])).collect();
    assert_eq!(order, [&jobs[1], &jobs[0], &jobs[2], &jobs[3]]);
    assert_eq!(head["exact"], true);
    let first = &head["items"][0];
    assert_eq!(
        (&first["priority"], &first["attempt"], &first["kind"]),
        (&json!(5), &json!(1), &json!("noop"))
    );
    // No worker is there; `explain` says the same.
    let explained: Value = site.read(&format!("/v1/jobs/{}/explain", jobs[1])).await;
    assert_eq!(first["held"]["evidence"], explained["summary"]);
    assert_eq!(first["held"]["gate"], "worker");
    let two: Value = site.read("/v1/queues/mail/head?limit=2").await;
    assert_eq!(two["items"].as_array().unwrap().len(), 2);
    let never: Value = site.read("/v1/queues/never/head").await;
    assert_eq!(never["items"], json!([]));
    for wrong in ["0", "101", "x"] {
        let refused = site.get(&format!("/v1/queues/mail/head?limit={wrong}")).send().await.unwrap();
        assert_eq!(refused.status(), 400, "{wrong}");
    }
}

async fn the_events_of_a_job_are_told_in_order(site: Site) {
    let id = site.submit(&json!({"kind": "noop", "queue": "mail", "max_attempts": 1})).await.id;
    let events = |body: &Value| -> Vec<String> {
        body["items"].as_array().unwrap().iter().map(|event| text(&event["event"]).to_owned()).collect()
    };
    let path = format!("/v1/jobs/{id}/events");
    assert_eq!(events(&site.read(&path).await), ["created"]);
    let lease = site.claim("mail").await;
    assert_eq!(events(&site.read(&path).await), ["created", "started"]);
    site.report(&lease, "fail", &json!({"error": "no such host"})).await;
    let story: Value = site.read(&path).await;
    assert_eq!(events(&story), ["created", "started", "ended", "dead"]);
    assert_eq!(story["items"][2]["outcome"], "error");
    assert_eq!(
        (&story["items"][2]["attempt"], &story["items"][2]["text"]),
        (&json!(1), &json!("no such host"))
    );
    let none = site.get("/v1/jobs/job_00000000000000000000000000/events").send().await.unwrap();
    assert_eq!(none.status(), 404);
}

#[tokio::test]
async fn the_system_tells_its_settings_with_where_they_came_from() {
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    let setting = SettingShown { name: "data", value: "/d".into(), origin: "flag --data".into() };
    options.about = About {
        label: Some("staging".into()),
        store: "sqlite:/d".into(),
        settings: vec![setting],
        ..About::default()
    };
    let site = Site::over(testing::start_with(options).await);
    let system: Value = site.read("/v1/system").await;
    assert_eq!((&system["environment"], &system["ready"]), (&json!("staging"), &json!(true)));
    assert_eq!(system["store"], json!({"kind": "sqlite", "place": "sqlite:/d", "accelerated": false}));
    assert_eq!(system["settings"], json!([{"setting": "data", "value": "/d", "origin": "flag --data"}]));
    assert_eq!(system["retention"]["jobs"], json!({"finished": "7d", "dead": "90d"}));
    assert_eq!(system["cluster"]["role"], "leader");
    assert!(system["checks"].as_array().unwrap().iter().any(|check| check["name"] == "store"));
    let able: Value = site.read("/v1/capabilities").await;
    assert_eq!((&able["environment"], &able["auth"]), (&json!("staging"), &json!(false)));
}

/// A list on a screen hears of its own rows, and of everything else that is not a job.
#[tokio::test]
async fn a_stream_for_a_screen_tells_of_the_jobs_on_it_and_the_counts_with_a_verdict() {
    let site = Site::start().await;
    let seen = site.submit(&json!({"kind": "noop", "queue": "a"})).await.id;
    let other = site.submit(&json!({"kind": "noop", "queue": "a"})).await.id;
    let path = format!("/v1/events?topics=job,queue,counts&visible={seen}");
    let stream = site.client.get(format!("{}{path}", site.server.url())).send().await.unwrap();
    let mut chunks = stream.bytes_stream();
    for id in [other, seen] {
        let _: Value = site.told(&format!("/v1/jobs/{id}:cancel"), &json!({})).await;
    }
    let _: Value = site.told("/v1/queues/a:pause", &json!({})).await;
    let mut heard = String::new();
    let all = |heard: &str| {
        ["event: job", "event: queue", "event: counts"].iter().all(|event| heard.contains(event))
    };
    while !all(&heard) {
        let chunk = tokio::time::timeout(PATIENCE, chunks.next()).await.expect("something is told");
        heard.push_str(&String::from_utf8_lossy(&chunk.unwrap().unwrap()));
    }
    assert!(heard.contains(&seen.to_string()) && !heard.contains(&other.to_string()), "{heard}");
    assert!(heard.contains("\"verdict\":{\"severity\""), "{heard}");
}

#[tokio::test]
async fn a_screen_has_a_hundred_rows_and_no_more() {
    let site = Site::start().await;
    let ids = |n: u8| -> String {
        let ids = (0..n).map(|i| ganger_core::JobId::new(1, [i; 10]).to_string());
        ids.collect::<Vec<_>>().join(",")
    };
    let at = |n| site.get(&format!("/v1/events?visible={}", ids(n))).send();
    assert_eq!(at(100).await.unwrap().status(), 200);
    let refused = at(101).await.unwrap();
    assert_eq!(refused.status(), 400);
    assert!(refused.text().await.unwrap().contains("the limit is 100"));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
