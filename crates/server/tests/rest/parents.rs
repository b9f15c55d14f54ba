//! Jobs that wait for others, as clients see them.

use ganger_core::JobId;
use ganger_core::job::State;
use ganger_server::api::{BatchBody, JobBody, RelatedPage};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::site::{Site, on_every_store};

const NOBODY: &str = "job_01J9X7QK5V8M3N2P4R6S8T0V1W";

async fn state(site: &Site, id: JobId) -> State {
    site.read::<JobBody>(&format!("/v1/jobs/{id}")).await.state
}

/// Waits until a job is not blocked any more.
async fn freed(site: &Site, id: JobId) -> State {
    for _ in 0..2_000 {
        let state = state(site, id).await;
        if state != State::Blocked {
            return state;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{id} is still blocked: {}", site.text(&format!("/v1/jobs/{id}/explain")).await);
}

async fn run(site: &Site, queue: &str, verb: &str, body: Value) {
    let lease = site.claim(queue).await;
    site.report(&lease, verb, &body).await;
}

async fn a_job_waits_for_its_parent_and_says_so(site: Site) {
    let parent = site.submit(&json!({"kind": "a", "queue": "p"})).await.id;
    let child = site.submit(&json!({"kind": "b", "queue": "c", "depends_on": [parent]})).await;
    assert_eq!(child.state, State::Blocked);
    let explain: Value = site.read(&format!("/v1/jobs/{}/explain", child.id)).await;
    assert_eq!(explain["state"], "blocked");
    assert!(explain["summary"].as_str().unwrap().contains(&format!("{parent} (queued)")), "{explain}");
    let refused = site.post(&format!("/v1/jobs/{}:run-now", child.id), "").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let stats = site.text("/v1/queues/c").await;
    assert!(stats.contains("\"blocked\":1"), "{stats}");

    run(&site, "p", "complete", json!({"result": {"n": 7}})).await;
    assert_eq!(freed(&site, child.id).await, State::Queued);
    let parents: RelatedPage = site.read(&format!("/v1/jobs/{}/parents", child.id)).await;
    assert_eq!((parents.items[0].id, parents.items[0].settled), (parent, Some(State::Succeeded)));
    let children: RelatedPage = site.read(&format!("/v1/jobs/{parent}/children")).await;
    assert_eq!((children.items[0].id, children.items[0].state), (child.id, Some(State::Queued)));
    let result: Value = site.read(&format!("/v1/jobs/{parent}/result")).await;
    assert_eq!(result, json!({"n": 7}));
    run(&site, "c", "complete", json!({})).await;
}

/// One request fans out to three and back in to one, one of them dies, and the callback runs all the same.
async fn a_batch_fans_out_and_its_callback_gathers(site: Site) {
    let batch = json!({
        "jobs": [
            {"kind": "a", "queue": "q"},
            {"kind": "a", "queue": "q", "max_attempts": 1},
            {"kind": "last", "queue": "last", "depends_on": ["#0"]},
        ],
        "callback": {"kind": "gather", "queue": "gather"},
    });
    let answer: BatchBody = site.told("/v1/jobs:batch", &batch).await;
    assert_eq!(answer.summary.created, 4);
    let ids: Vec<JobId> = answer.results.iter().map(|result| result.id.unwrap()).collect();
    run(&site, "q", "complete", json!({})).await;
    run(&site, "q", "fail", json!({"error": "no"})).await;
    assert_eq!(freed(&site, ids[2]).await, State::Queued);
    assert_eq!(state(&site, ids[3]).await, State::Blocked);
    run(&site, "last", "complete", json!({})).await;
    assert_eq!(freed(&site, ids[3]).await, State::Queued);
    let page: RelatedPage = site.read(&format!("/v1/jobs/{}/parents?limit=2", ids[3])).await;
    let cursor = page.next_cursor.unwrap();
    let rest: RelatedPage = site.read(&format!("/v1/jobs/{}/parents?limit=2&cursor={cursor}", ids[3])).await;
    let states: Vec<_> = page.items.iter().chain(&rest.items).map(|item| item.settled).collect();
    let (ok, dead) = (Some(State::Succeeded), Some(State::Dead));
    assert_eq!(states, [ok, dead, ok]);
}

async fn a_death_cancels_runs_or_keeps_waiting_and_a_cancel_cascades(site: Site) {
    let parent = site.submit(&json!({"kind": "a", "queue": "p", "max_attempts": 1})).await.id;
    let mut children = Vec::new();
    for on_dead in ["cancel", "run", "wait"] {
        let on = json!([{"job": parent, "on_dead": on_dead}]);
        children.push(site.submit(&json!({"kind": "c", "queue": "c", "depends_on": on})).await.id);
    }
    let grandchild = site.submit(&json!({"kind": "g", "depends_on": [children[0]]})).await.id;
    run(&site, "p", "fail", json!({"error": "no"})).await;
    assert_eq!(freed(&site, children[0]).await, State::Cancelled);
    assert_eq!(freed(&site, grandchild).await, State::Cancelled);
    assert_eq!(freed(&site, children[1]).await, State::Queued);
    assert_eq!(state(&site, children[2]).await, State::Blocked);
    let job: JobBody = site.read(&format!("/v1/jobs/{grandchild}")).await;
    assert_eq!(job.reason.unwrap(), format!("its parent {} was cancelled", children[0]));

    let _: JobBody = site.told(&format!("/v1/jobs/{parent}:replay"), &json!({})).await;
    run(&site, "p", "complete", json!({})).await;
    assert_eq!(freed(&site, children[2]).await, State::Queued);
    assert_eq!(state(&site, children[0]).await, State::Cancelled);
}

async fn parents_that_are_final_are_settled_at_submission(site: Site) {
    let done = site.submit(&json!({"kind": "a", "queue": "p"})).await.id;
    run(&site, "p", "complete", json!({})).await;
    let stopped = site.submit(&json!({"kind": "a", "queue": "p"})).await.id;
    let _: Value = site.told(&format!("/v1/jobs/{stopped}:cancel"), &json!({})).await;
    let child = site.submit(&json!({"kind": "b", "depends_on": [done]})).await.id;
    assert_eq!(freed(&site, child).await, State::Queued);
    let child = site.submit(&json!({"kind": "b", "depends_on": [done, stopped]})).await.id;
    assert_eq!(freed(&site, child).await, State::Cancelled);
    let later = json!({"kind": "b", "delay": "1h", "depends_on": [done]});
    let child = site.submit(&later).await.id;
    assert_eq!(freed(&site, child).await, State::Scheduled);
}

async fn mistakes_are_told_with_their_place_and_take_nothing_in(site: Site) {
    for (path, body, at) in [
        ("/v1/jobs", json!({"kind": "a", "depends_on": [NOBODY]}), "/depends_on/0"),
        ("/v1/jobs", json!({"kind": "a", "depends_on": ["#0"]}), "/depends_on/0"),
        (
            "/v1/jobs:batch",
            json!({"jobs": [{"kind": "a"}, {"kind": "b", "depends_on": ["#0", NOBODY]}]}),
            "/jobs/1/depends_on/1",
        ),
        (
            "/v1/jobs:batch",
            json!({"jobs": [{"kind": "a", "depends_on": ["#1"]}, {"kind": "b", "depends_on": ["#0"]}]}),
            "/jobs/0/depends_on",
        ),
        ("/v1/jobs:batch", json!({"jobs": [{"kind": "a", "depends_on": ["#0"]}]}), "/jobs/0/depends_on"),
    ] {
        let answer = site.post(path, body.to_string()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["errors"][0]["pointer"], at, "{problem}");
    }
    // Without references each job of a batch is answered by itself.
    let batch = json!({"jobs": [{"kind": "a", "depends_on": [NOBODY]}, {"kind": "b"}]});
    let answer: BatchBody = site.told("/v1/jobs:batch", &batch).await;
    let statuses: Vec<u16> = answer.results.iter().map(|result| result.status).collect();
    assert_eq!(statuses, [422, 201]);
}

/// The same request twice is one family; a duplicate parent stands for the job that is there.
async fn keys_hold_for_families_too(site: Site) {
    let held = site.submit(&json!({"kind": "a", "queue": "p", "unique_key": "k"})).await.id;
    let batch = json!({"jobs": [{"kind": "a", "unique_key": "k"}, {"kind": "b", "depends_on": ["#0"]}]});
    let send = || site.post("/v1/jobs:batch", batch.to_string()).header("idempotency-key", "once").send();
    let first: BatchBody = send().await.unwrap().json().await.unwrap();
    let second: BatchBody = send().await.unwrap().json().await.unwrap();
    assert_eq!((first.results[0].id, first.results[0].deduplicated), (Some(held), true));
    let child = first.results[1].id.unwrap();
    assert_eq!(second.results[1].id, Some(child));
    let parents: RelatedPage = site.read(&format!("/v1/jobs/{child}/parents")).await;
    assert_eq!(parents.items.iter().map(|item| item.id).collect::<Vec<_>>(), [held]);
    run(&site, "p", "complete", json!({})).await;
    assert_eq!(freed(&site, child).await, State::Queued);
}

on_every_store! {
    a_job_waits_for_its_parent_and_says_so,
    a_batch_fans_out_and_its_callback_gathers,
    a_death_cancels_runs_or_keeps_waiting_and_a_cancel_cascades,
    parents_that_are_final_are_settled_at_submission,
    mistakes_are_told_with_their_place_and_take_nothing_in,
    keys_hold_for_families_too,
}
