//! What autoscalers and probes read: how many workers a queue could use, and whether the server is well.

use ganger_server::api::{ReadyBody, ScalingBody};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::site::Site;

async fn scaling(site: &Site, query: &str) -> ScalingBody {
    site.read(&format!("/v1/scaling/{query}")).await
}

/// Nothing, then work, then work that runs, then a pause, then nothing again.
#[tokio::test]
async fn a_queue_asks_for_as_many_workers_as_could_work_on_it() {
    let site = Site::start().await;
    let none = scaling(&site, "mail").await;
    assert_eq!((none.ready, none.running, none.threads, none.desired_workers), (0, 0, 0, 0));
    assert_eq!(none.oldest_ready_seconds, 0.0);
    for _ in 0..9 {
        site.submit(&json!({"kind": "send", "queue": "mail"})).await;
    }
    site.submit(&json!({"kind": "send", "queue": "mail", "threads": 3})).await;
    site.submit(&json!({"kind": "send", "queue": "mail", "delay": "1h"})).await;
    site.submit(&json!({"kind": "send", "queue": "other"})).await;
    let waiting = scaling(&site, "mail?threads_per_worker=4").await;
    assert_eq!((waiting.queue.as_str(), waiting.ready, waiting.threads), ("mail", 10, 12));
    assert_eq!((waiting.desired_workers, waiting.threads_per_worker, waiting.workers), (3, 4, 0));
    assert_eq!(scaling(&site, "mail?threads_per_worker=5").await.desired_workers, 3);
    assert_eq!(scaling(&site, "mail?threads_per_worker=4&max=2").await.desired_workers, 2);
    assert_eq!(scaling(&site, "mail?max=0").await.desired_workers, 0);
    let narrow = scaling(&site, "mail?threads_per_worker=2").await;
    assert_eq!(
        (narrow.threads, narrow.desired_workers),
        (11, 6),
        "the wide one makes do with all that there is"
    );
    site.submit(&json!({"kind": "send", "queue": "mail", "threads": 8, "min_threads": 8})).await;
    let futile = scaling(&site, "mail?threads_per_worker=2").await;
    assert_eq!((futile.ready, futile.threads), (11, 11), "no number of narrow workers would help it");
    assert_eq!(scaling(&site, "mail?threads_per_worker=8").await.threads, 20);

    let lease = site.claim("mail").await;
    let running = scaling(&site, "mail?threads_per_worker=4").await;
    assert_eq!((running.ready, running.running, running.threads), (10, 1, 12), "what runs still counts");
    let _: Value = site.told("/v1/queues/mail:pause", &json!({})).await;
    let paused = scaling(&site, "mail?threads_per_worker=4").await;
    assert_eq!((paused.ready, paused.threads, paused.desired_workers), (10, 1, 1), "nothing of it starts");
    site.report(&lease, "complete", &json!({})).await;
    assert_eq!(scaling(&site, "mail").await.desired_workers, 0);
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_by_name() {
    let site = Site::start().await;
    for (query, named) in [
        ("mail?threads_per_worker=0", "threads_per_worker"),
        ("mail?threads_per_worker=1025", "threads_per_worker"),
        ("mail?max=100001", "max"),
        ("mail?max=-1", "max"),
        ("mail?most=1", "most"),
        ("no%20such%20name", "name of the queue"),
    ] {
        let answer = site.get(&format!("/v1/scaling/{query}")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
        let problem: Value = answer.json().await.unwrap();
        assert!(problem.to_string().contains(named), "{query}: {problem}");
    }
    assert_eq!(scaling(&site, "mail?threads_per_worker=1024&max=100000").await.desired_workers, 0);
}

#[tokio::test]
async fn readiness_tells_the_store_the_leader_the_writer_and_the_disk() {
    let site = Site::on_sqlite().await;
    let listed = site.text("/readyz?verbose").await;
    for line in
        ["[+]leader ok: leads in term", "[+]coordinator ok", "[+]store ok", "[+]writer ok: 0 changes wait"]
    {
        assert!(listed.contains(line), "{line} is missing in {listed}");
    }
    assert!(listed.contains("[+]disk ok: ") && listed.contains(" free\n"), "{listed}");
    assert!(listed.ends_with("readyz check passed\n"), "{listed}");
    let answer = site.get("/readyz").header("Accept", "application/json").send().await.unwrap();
    let body: ReadyBody = answer.json().await.unwrap();
    assert!(body.ready && body.now.is_some_and(|now| now.0 > 0), "{body:?}");
    // A store without a disk of its own has no such line.
    let memory = Site::start().await;
    assert!(!memory.text("/readyz?verbose").await.contains("disk"));
    assert_eq!(memory.text("/livez").await, "ok\n");
}
