//! The disk answers a sync with an error. What was written may then be gone although it can still be
//! read: nothing of it may be acknowledged, by this process or the next, before it is certainly there.

#![cfg(target_os = "linux")]

mod common;
mod failing_disk;

use std::collections::BTreeSet;
use std::time::Duration;

use common::{Instance, eventually};
use failing_disk::Disk;
use serde_json::{Value, json};

/// What a client was told about one submission.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// It is safe under this id.
    Yes(String),
    /// This status and code instead.
    No(u16, String),
}

/// Submits a job under a key of its own.
async fn submit(server: &Instance, key: &str, kind: &str, payload: Value) -> Told {
    let body = json!({"kind": kind, "payload": payload});
    let client = reqwest::Client::new();
    let request = client.post(format!("{}/v1/jobs", server.url)).header("idempotency-key", key).json(&body);
    let answer = request.timeout(Duration::from_secs(50)).send().await.expect("an answer");
    let status = answer.status();
    let answer: Value = answer.json().await.expect("a JSON answer");
    let text = |field: &str| answer[field].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    if status.is_success() { Told::Yes(text("id")) } else { Told::No(status.as_u16(), text("code")) }
}

/// Submits a job that nobody runs, which must be acknowledged.
async fn acknowledged(server: &Instance, key: &str) -> String {
    match submit(server, key, "waits", json!(key)).await {
        Told::Yes(id) => id,
        Told::No(status, code) => panic!("{key}: {status} {code}"),
    }
}

/// Every job there is, which must not be there twice.
fn jobs(server: &Instance) -> BTreeSet<String> {
    let page = server.json(&["job", "list", "--limit", "500"]);
    let items = page["items"].as_array().expect("a list");
    let ids: BTreeSet<String> = items.iter().map(|job| job["id"].as_str().expect("an id").into()).collect();
    assert_eq!(ids.len(), items.len(), "a job is there twice: {page}");
    ids
}

/// What `/readyz` says, once it is or is not ready.
async fn readiness(server: &Instance, ready: bool) -> String {
    let url = format!("{}/readyz?verbose", server.url);
    for _ in 0..1_000 {
        let answer = reqwest::get(&url).await.expect("an answer");
        if answer.status().is_success() == ready {
            return answer.text().await.expect("a text");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server never was {}", if ready { "ready" } else { "unready" });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_acknowledged_while_syncs_fail_and_all_goes_on_when_they_do_not() {
    let disk = Disk::new();
    let server = disk.server();
    let _worker = server.worker(&["--kinds", "sleep"]);
    let mut told = BTreeSet::new();
    for n in 0..20 {
        told.insert(acknowledged(&server, &format!("before-{n}")).await);
    }
    let Told::Yes(runs) = submit(&server, "runs", "sleep", json!({"seconds": 1})).await else {
        panic!("not acknowledged")
    };
    told.insert(runs.clone());
    let state = |server: &Instance| server.json(&["job", "get", &runs])["state"].clone();
    eventually("the job runs", || (state(&server) == "running").then_some(()));

    disk.fail();
    let (meanwhile, said) =
        tokio::join!(submit(&server, "meanwhile", "waits", json!("meanwhile")), readiness(&server, false));
    assert_eq!(meanwhile, Told::No(503, "outcome_unknown".into()));
    assert!(said.contains("[-]store failed") && said.contains("disk I/O error"), "{said}");
    assert_eq!(jobs(&server), told, "what is not safe is not shown");

    disk.mend();
    readiness(&server, true).await;
    told.insert(acknowledged(&server, "meanwhile").await);
    told.insert(acknowledged(&server, "after").await);
    assert_eq!(jobs(&server), told);
    let job = eventually("the job that ran through it ends", || {
        Some(server.json(&["job", "get", &runs])).filter(|job| job["state"] == "succeeded")
    });
    assert_eq!(job["attempt"], 1, "it was not started again: {job}");

    let server = disk.server_after_power_loss(server);
    assert_eq!(jobs(&server), told);
    assert_eq!(state(&server), "succeeded");
}

/// The next process reads from the page cache what never reached the disk, and must not build on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_while_syncs_fail_leaves_nothing_behind_that_only_looks_safe() {
    let disk = Disk::new();
    let mut server = disk.server();
    let mut told = BTreeSet::from([acknowledged(&server, "before").await]);
    disk.fail();
    tokio::select! {
        early = submit(&server, "meanwhile", "waits", json!("meanwhile")) => panic!("{early:?}"),
        // By then a sync has failed.
        said = readiness(&server, false) => assert!(said.contains("disk I/O error"), "{said}"),
    }
    server.kill();
    disk.mend();

    let server = disk.server();
    for key in ["meanwhile", "after", "before"] {
        told.insert(acknowledged(&server, key).await);
    }
    assert_eq!(told.len(), 3);
    assert_eq!(jobs(&server), told);
    let server = disk.server_after_power_loss(server);
    assert_eq!(jobs(&server), told);
}

/// The batch is whole in the log when its database is taken away: "refused" would be a lie to the client,
/// for the next server finds the job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_have_been_written_is_not_refused_because_a_later_try_was() {
    let disk = Disk::new();
    let mut server = disk.server();
    let before = acknowledged(&server, "before").await;
    let database = server.data.join("ganger.db");
    let aside = server.data.join("aside");
    disk.fail();
    let (meanwhile, ()) = tokio::join!(submit(&server, "meanwhile", "waits", json!("meanwhile")), async {
        readiness(&server, false).await;
        std::fs::rename(&database, &aside).unwrap();
        let said = eventually_says(&server, "was removed while in use").await;
        assert!(said.contains("whether a commit happened is unknown"), "{said}");
    });
    assert_eq!(meanwhile, Told::No(503, "outcome_unknown".into()));
    server.kill();
    std::fs::rename(&aside, &database).unwrap();
    disk.mend();
    let server = disk.server();
    let found = jobs(&server);
    assert!(found.len() == 2 && found.contains(&before), "the log held it: {found:?}");
    assert!(found.contains(&acknowledged(&server, "meanwhile").await));
}

/// Waits until `/readyz` says this.
async fn eventually_says(server: &Instance, what: &str) -> String {
    for _ in 0..1_000 {
        let said = readiness(server, false).await;
        if said.contains(what) {
            return said;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("/readyz never said {what}");
}
