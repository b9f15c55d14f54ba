//! Searching, exporting and acting on many jobs from the command line, also while the server is killed.

mod common;

use common::{Instance, code, eventually, stderr, stdout};

/// A server with so many jobs of kind `bulk`, and one of another kind.
fn filled(jobs: usize) -> Instance {
    let instance = Instance::server();
    fill(&instance, jobs);
    instance
}

fn fill(instance: &Instance, jobs: usize) {
    let lines: String =
        (0..jobs).map(|n| format!("{{\"kind\":\"bulk\",\"payload\":{{\"n\":{n}}}}}\n")).collect();
    let file = instance.data.join("bulk.ndjson");
    std::fs::write(&file, lines).expect("the data directory can be written to");
    let output = instance.ganger(&["import", file.to_str().expect("a plain path")]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    instance.enqueue(&["other"]);
}

fn count(instance: &Instance, query: &str) -> usize {
    let output = instance.ganger(&["job", "list", query, "--all", "--limit", "500", "-o", "name"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().count()
}

#[test]
fn jobs_are_found_exported_and_saved_as_a_view() {
    let instance = filled(30);
    let found = instance.ganger(&["job", "list", "payload.n>=28", "kind:bulk", "-o", "name"]);
    assert_eq!(stdout(&found).lines().count(), 2, "{}", stderr(&found));
    let refused = instance.ganger(&["job", "list", "ran>soon"]);
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("at byte 4") && stderr(&refused).contains("duration"),
        "{}",
        stderr(&refused)
    );

    let csv = instance.data.join("jobs.csv");
    let exported = instance.ganger(&[
        "job",
        "export",
        "kind:bulk",
        "--format",
        "csv",
        "--to",
        csv.to_str().expect("plain"),
    ]);
    assert_eq!(code(&exported), 0, "{}", stderr(&exported));
    assert_eq!(std::fs::read_to_string(&csv).expect("it was written").matches("\r\n").count(), 31);
    assert_eq!(stdout(&instance.ganger(&["job", "export", "kind:other"])).lines().count(), 1);

    let counted = instance.json(&["job", "histogram", "kind:bulk", "--buckets", "4"]);
    assert_eq!(
        (counted["matched"].as_u64(), counted["buckets"].as_array().map(Vec::len)),
        (Some(30), Some(4))
    );
    let shown = stdout(&instance.ganger(&["job", "histogram", "kind:bulk", "--buckets", "1"]));
    assert!(shown.contains(&"#".repeat(40)) && shown.contains("30 jobs match"), "{shown}");
    assert_eq!(stdout(&instance.ganger(&["job", "histogram", "kind:none"])).trim(), "0 jobs match");

    let saved =
        instance.ganger(&["view", "set", "late", "kind:bulk", "payload.n<3", "--description", "first three"]);
    assert_eq!(code(&saved), 0, "{}", stderr(&saved));
    let seen = instance.ganger(&["job", "list", "--view", "late", "payload.n>0", "-o", "name"]);
    assert_eq!(stdout(&seen).lines().count(), 2, "{}", stderr(&seen));
    assert!(stdout(&instance.ganger(&["view", "list"])).contains("first three"));
    assert_eq!(code(&instance.ganger(&["view", "delete", "late"])), 0);
    assert_eq!(code(&instance.ganger(&["view", "get", "late"])), 5);
}

#[test]
fn an_operation_is_previewed_agreed_to_and_followed() {
    let instance = filled(25);
    let start = ["operation", "start", "cancel", "--filter", "kind:bulk"];
    let with = |more: &[&str]| instance.ganger(&[&start[..], more].concat());
    let preview = with(&["--dry-run"]);
    assert!(stdout(&preview).contains("25 jobs match"), "{}", stdout(&preview));
    let unasked = with(&[]);
    assert_eq!(code(&unasked), 2, "nobody is there to agree: {}", stderr(&unasked));
    assert_eq!(count(&instance, "state:queued"), 26);
    let done = with(&["--yes", "--rate", "5000", "--reason", "a test"]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    assert!(stdout(&done).contains("done") && stdout(&done).contains("25"), "{}", stdout(&done));
    assert_eq!((count(&instance, "state:cancelled"), count(&instance, "state:queued")), (25, 1));
    let empty = instance.ganger(&["operation", "start", "delete", "--yes"]);
    assert_eq!(code(&empty), 2, "which jobs must be said: {}", stderr(&empty));
    let deleted = instance.json(&["operation", "start", "delete", "--filter", "state:cancelled", "--yes"]);
    assert_eq!((&deleted["done"], &deleted["state"]), (&25.into(), &"done".into()));
    let listed = instance.json(&["operation", "list"]);
    assert_eq!(listed["items"][1]["reason"], "a test");
}

/// Killed in the middle, the operation goes on with the next start, and does everything once.
#[test]
fn an_operation_survives_the_death_of_its_server() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("data");
    let listen = format!("127.0.0.1:{}", common::free_port());
    let mut instance = Instance::on("server", &[], &data, &listen);
    fill(&instance, 400);
    let start =
        ["operation", "start", "cancel", "--filter", "kind:bulk", "--rate", "150", "--yes", "--detach"];
    let operation = instance.json(&start);
    let id = operation["id"].as_str().expect("it has an id").to_owned();
    let done = |instance: &Instance| instance.json(&["operation", "get", &id])["done"].as_u64().unwrap_or(0);
    let mut last = 0;
    for _ in 0..2 {
        last = eventually("some progress", || Some(done(&instance)).filter(|done| *done >= last + 30));
        instance.kill();
        instance = Instance::on("server", &[], &data, &listen);
    }
    let over = instance.json(&["operation", "wait", &id, "--timeout", "60s"]);
    assert_eq!(
        (&over["done"], &over["skipped"], &over["state"]),
        (&400.into(), &0.into(), &"done".into()),
        "{over}"
    );
    assert_eq!((count(&instance, "state:cancelled"), count(&instance, "state:queued")), (400, 1));
}

#[test]
fn a_group_of_failures_is_replayed_from_the_command_line() {
    let instance = Instance::dev();
    for n in 0..3 {
        instance.enqueue(&[
            "fail",
            "--max-attempts",
            "1",
            "-p",
            &format!("{{\"times\":100,\"message\":\"no user {n}\"}}"),
        ]);
    }
    let group = eventually("three failures of one cause", || {
        let groups = instance.json(&["failure", "list"]);
        let group = groups["items"].as_array()?.iter().find(|group| group["count"] == 3)?;
        Some(group["fingerprint"].as_str()?.to_owned())
    });
    let done = instance.json(&["failure", "replay", &group, "--yes"]);
    assert_eq!(done["done"], 3, "{done}");
    eventually("three more failures", || {
        (instance.json(&["failure", "get", &group])["count"] == 6).then_some(())
    });
    let gone = instance.json(&["failure", "discard", &group, "--yes"]);
    assert_eq!((&gone["done"], count(&instance, "state:dead")), (&3.into(), 0), "{gone}");
}
