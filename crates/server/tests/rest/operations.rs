//! Bulk operations, as clients see them: dry runs, replays, cancels, deletions, keys, and stopping one.

use ganger_core::JobId;
use ganger_server::api::{FailuresBody, JobPage, OperationBody, OperationsBody, PreviewBody};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::requests::until;
use crate::site::{PATIENCE, Site, on_every_store};

/// So many jobs of that kind that died.
async fn dead(site: &Site, kind: &str, count: usize) -> Vec<JobId> {
    let mut ids = Vec::new();
    for n in 0..count {
        ids.push(
            site.submit(&json!({"kind": kind, "queue": kind, "max_attempts": 1, "payload": n})).await.id,
        );
    }
    for n in 0..count {
        let lease = site.claim(kind).await;
        site.report(&lease, "fail", &json!({"error": format!("no user {n}")})).await;
    }
    for id in &ids {
        let _: Value = site.read(&format!("/v1/jobs/{id}?wait=20s")).await;
    }
    ids
}

async fn start(site: &Site, body: Value) -> OperationBody {
    site.told("/v1/operations", &body).await
}

/// The operation once it is over.
async fn over(site: &Site, operation: &OperationBody) -> OperationBody {
    let path = format!("/v1/operations/{}", operation.id);
    let looking = async {
        loop {
            let seen: OperationBody = site.read(&path).await;
            if seen.finished_at.is_some() {
                return seen;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.expect("it is over in time")
}

async fn count(site: &Site, filter: &str) -> usize {
    let page: JobPage = site.read(&format!("/v1/jobs?limit=500&q={}", filter.replace(' ', "%20"))).await;
    page.items.len()
}

async fn a_dry_run_tells_what_would_be_done_and_does_nothing(site: Site) {
    dead(&site, "a", 7).await;
    dead(&site, "b", 2).await;
    let body = json!({"action": "replay", "filter": "state:dead kind:a", "dry_run": true});
    let preview: PreviewBody = site.told("/v1/operations", &body).await;
    assert_eq!((preview.matched, preview.sample.len(), preview.scan.complete), (7, 5, true));
    assert_eq!((preview.by_kind["a"], preview.by_queue["a"], preview.by_state["dead"]), (7, 7, 7));
    assert_eq!(count(&site, "state:dead").await, 9);
    assert!(site.read::<OperationsBody>("/v1/operations").await.items.is_empty());
}

async fn a_filter_is_replayed_whole_and_nothing_else(site: Site) {
    dead(&site, "a", 12).await;
    dead(&site, "b", 3).await;
    let answer = site.post(
        "/v1/operations",
        json!({"action": "replay", "filter": "kind:a", "rate": 5000, "reason": "mended"}).to_string(),
    );
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let operation: OperationBody = answer.json().await.unwrap();
    assert_eq!(location, format!("/v1/operations/{}", operation.id));
    let done = over(&site, &operation).await;
    assert_eq!((done.done, done.skipped, done.reason.as_deref()), (12, 0, Some("mended")));
    assert_eq!((count(&site, "state:queued").await, count(&site, "state:dead").await), (12, 3));
    assert_eq!(site.read::<OperationsBody>("/v1/operations").await.items, [done]);
}

/// What came after the operation was asked for is not its business.
async fn jobs_that_come_or_die_later_are_left_alone(site: Site) {
    for n in 0..3 {
        site.submit(&json!({"kind": "a", "payload": n})).await;
    }
    let first = start(&site, json!({"action": "cancel", "filter": "kind:a", "rate": 1})).await;
    let later = site.submit(&json!({"kind": "a"})).await.id;
    let done = over(&site, &first).await;
    assert_eq!((done.done, done.skipped), (3, 0));
    let job: Value = site.read(&format!("/v1/jobs/{later}")).await;
    assert_eq!(job["state"], "queued");
    assert_eq!(count(&site, "state:cancelled").await, 3);
}

async fn jobs_named_one_by_one_are_done_or_skipped_with_a_reason(site: Site) {
    let died = dead(&site, "a", 2).await;
    let live = site.submit(&json!({"kind": "a", "queue": "other"})).await.id;
    let gone = JobId::new(1, [7; 10]);
    let operation =
        start(&site, json!({"action": "delete", "ids": [died[0], live, gone, died[1], died[0]]})).await;
    let done = over(&site, &operation).await;
    assert_eq!((done.done, done.skipped, done.ids), (2, 2, Some(4)));
    assert_eq!((done.skipped_by["live"], done.skipped_by["gone"]), (1, 1));
    assert_eq!(count(&site, "state:dead").await, 0);
    let stats: Value = site.read("/v1/stats").await;
    assert_eq!((&stats["jobs"]["dead"], &stats["jobs"]["queued"]), (&json!(0), &json!(1)), "{stats}");
}

async fn a_unique_key_that_is_held_is_a_reason_to_skip(site: Site) {
    let first =
        site.submit(&json!({"kind": "a", "queue": "q", "unique_key": "k", "max_attempts": 1})).await.id;
    let lease = site.claim("q").await;
    site.report(&lease, "fail", &json!({"error": "x"})).await;
    let _: Value = site.read(&format!("/v1/jobs/{first}?wait=20s")).await;
    site.submit(&json!({"kind": "a", "queue": "q", "unique_key": "k"})).await;
    let operation = start(&site, json!({"action": "replay", "filter": "state:dead"})).await;
    let done = over(&site, &operation).await;
    assert_eq!((done.done, done.skipped_by["unique_key_held"]), (0, 1));
}

async fn an_operation_keeps_to_its_rate_and_can_be_stopped(site: Site) {
    dead(&site, "a", 5).await;
    let operation = start(&site, json!({"action": "replay", "all": true, "rate": 1})).await;
    let cancel = format!("/v1/operations/{}:cancel", operation.id);
    let stopped: OperationBody = site.told(&cancel, &json!({})).await;
    assert_eq!(stopped.state.as_str(), "cancelled");
    let seen = over(&site, &operation).await;
    assert!(seen.done <= 2, "one job per second: {seen:?}");
    let again = site.post(&cancel, "{}").send().await.unwrap();
    assert_eq!(again.status(), StatusCode::CONFLICT);
    assert!(again.text().await.unwrap().contains("operation_over"));
    let none = site.get("/v1/operations/op_01J9X7QK5V8M3N2P4R6S8T0V1W").send().await.unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND);
}

async fn whoever_listens_hears_how_an_operation_gets_on(site: Site) {
    dead(&site, "a", 3).await;
    let listen = |query: &str| site.get(&format!("/v1/events?topics=operation{query}")).send();
    let (all, narrowed) = (listen("").await.unwrap(), listen("&queue=other").await.unwrap());
    let operation = start(&site, json!({"action": "replay", "all": true, "rate": 2})).await;
    let seen = until(all, "\"state\":\"done\"").await;
    // The first frame says that the stream is open.
    let frames = seen.split("\n\n").filter(|frame| !frame.contains("event: open\n"));
    let told: Vec<Value> = frames
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix("data:")?.trim().parse().ok())
        .collect();
    assert_eq!(told.len(), seen.matches("event: operation").count(), "{seen}");
    assert!(told.iter().all(|told| told["id"] == json!(operation.id)), "{seen}");
    assert_eq!((&told[0]["state"], &told[told.len() - 1]["done"]), (&json!("running"), &json!(3)), "{seen}");
    // A stream about a queue is not about operations: the next that comes on it is something else.
    site.server.stop().await;
    assert!(!narrowed.text().await.unwrap_or_default().contains("event: operation"));
}

async fn the_same_key_is_the_same_operation(site: Site) {
    dead(&site, "a", 2).await;
    let send =
        |body: Value| site.post("/v1/operations", body.to_string()).header("Idempotency-Key", "k-1").send();
    let body = json!({"action": "replay", "filter": "state:dead"});
    let first: OperationBody = send(body.clone()).await.unwrap().json().await.unwrap();
    let second = send(body).await.unwrap();
    assert_eq!(second.headers()["idempotency-replayed"], "true");
    assert_eq!(second.json::<OperationBody>().await.unwrap().id, first.id);
    let other = send(json!({"action": "delete", "filter": "state:dead"})).await.unwrap();
    assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(over(&site, &first).await.done, 2);
}

async fn sixteen_operations_are_under_way_and_one_more_is_refused(site: Site) {
    for n in 0..2 {
        site.submit(&json!({"kind": "a", "payload": n})).await;
    }
    // At one job per second two jobs keep an operation busy for longer than this test asks.
    let body = || json!({"action": "cancel", "filter": "kind:none or kind:a", "rate": 1}).to_string();
    let mut refused = 0;
    for _ in 0..40 {
        let answer = site.post("/v1/operations", body()).send().await.unwrap();
        refused += usize::from(answer.status() == StatusCode::CONFLICT);
    }
    let all = site.read::<OperationsBody>("/v1/operations").await.items;
    let running = all.iter().filter(|operation| operation.finished_at.is_none()).count();
    assert!(running <= 16 && (refused > 0 || all.len() == 40), "{running} run, {refused} were refused");
}

async fn a_group_of_failures_is_replayed_or_discarded_as_one(site: Site) {
    dead(&site, "a", 4).await;
    dead(&site, "b", 1).await;
    let groups: FailuresBody = site.read("/v1/failures?kind=a").await;
    let path = format!("/v1/failures/{}", groups.items[0].fingerprint);
    let preview: PreviewBody = site.told(&format!("{path}:replay"), &json!({"dry_run": true})).await;
    assert_eq!(preview.matched, 4);
    let operation: OperationBody = site.told(&format!("{path}:discard"), &json!({"rate": 1000})).await;
    assert_eq!(over(&site, &operation).await.done, 4);
    assert_eq!(count(&site, "state:dead").await, 1);
    let other: FailuresBody = site.read("/v1/failures?kind=b").await;
    let operation: OperationBody =
        site.told(&format!("/v1/failures/{}:replay", other.items[0].fingerprint), &json!({})).await;
    assert_eq!(over(&site, &operation).await.done, 1);
    assert_eq!(count(&site, "state:queued kind:b").await, 1);
    let none = site.post("/v1/failures/0123456789abcdef:replay", "").send().await.unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND);
}

async fn an_operation_knows_how_many_jobs_it_is_for_and_who_asked(site: Site) {
    let _: Value = site.told("/v1/queues/mail:pause", &json!({})).await;
    for _ in 0..3 {
        site.submit(&json!({"kind": "send", "queue": "mail"})).await;
    }
    let begun: OperationBody =
        site.told("/v1/operations", &json!({"action": "cancel", "filter": "queue:mail", "rate": 1})).await;
    assert_eq!((begun.total, begun.by.as_deref()), (Some(3), Some("anyone")));
    // Those that are named and cannot be cancelled are skipped: they count.
    let gone = ganger_core::JobId::new(1, [7; 10]).to_string();
    let begun: OperationBody = site.told("/v1/operations", &json!({"action": "cancel", "ids": [gone]})).await;
    assert_eq!(begun.total, Some(1));
    let listed: OperationsBody = site.read("/v1/operations").await;
    assert!(listed.items.iter().all(|operation| operation.by.as_deref() == Some("anyone")), "{listed:?}");
}

on_every_store! {
    an_operation_knows_how_many_jobs_it_is_for_and_who_asked,
    a_dry_run_tells_what_would_be_done_and_does_nothing,
    a_filter_is_replayed_whole_and_nothing_else,
    jobs_that_come_or_die_later_are_left_alone,
    jobs_named_one_by_one_are_done_or_skipped_with_a_reason,
    a_unique_key_that_is_held_is_a_reason_to_skip,
    an_operation_keeps_to_its_rate_and_can_be_stopped,
    whoever_listens_hears_how_an_operation_gets_on,
    the_same_key_is_the_same_operation,
    sixteen_operations_are_under_way_and_one_more_is_refused,
    a_group_of_failures_is_replayed_or_discarded_as_one,
}
