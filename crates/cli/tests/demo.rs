//! `ganger demo`: a short one shows something of everything, and goes again.

mod common;

use std::process::Stdio;

use common::{Instance, Process, code, command, eventually, stderr, stdout};
use serde_json::Value;

fn count(instance: &Instance, query: &str) -> usize {
    let output = instance.ganger(&["job", "list", query, "--limit", "200", "-o", "name"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().count()
}

#[test]
fn a_short_demonstration_has_every_state_and_is_removed_without_a_trace() {
    let instance = Instance::server();
    // Somebody else's job, which happens to have the tag.
    let own = instance.enqueue(&["noop", "--tag", "demo"]);
    let demo = instance
        .command(&["demo", "--minutes", "5", "--rate", "40", "--seed", "3"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut demo = Process(demo.expect("it starts"));
    for state in ["scheduled", "blocked", "queued", "running", "retrying", "succeeded", "dead", "cancelled"] {
        eventually(&format!("a job that is {state}"), || {
            (count(&instance, &format!("tag:demo kind:demo.* state:{state}")) > 0).then_some(())
        });
    }
    eventually("several causes of failure", || {
        let groups = instance.json(&["failure", "list"]);
        (groups["items"].as_array()?.len() >= 3).then_some(())
    });
    eventually("a job of a schedule, one with a parent that ended, one that timed out", || {
        let found =
            ["schedule:demo.* state:succeeded", "kind:demo.report.join state:succeeded", "outcome:timeout"];
        found.iter().all(|query| count(&instance, query) > 0).then_some(())
    });
    let schedules =
        |instance: &Instance| instance.json(&["schedule", "list"])["items"].as_array().map_or(0, Vec::len);
    assert_eq!(schedules(&instance), 3);
    let shares = instance.json(&["job", "list", "tag:demo kind:demo.*", "--limit", "50"]);
    let fair = |job: &Value| job["fair_key"].is_string() && job["fair_weight"].is_u64();
    assert!(shares["items"].as_array().is_some_and(|jobs| jobs.iter().any(fair)), "{shares}");

    assert_eq!(demo.stop(), Some(0), "told to stop, it ends well");
    assert_eq!(schedules(&instance), 0, "its schedules fire no more");
    assert!(count(&instance, "tag:demo kind:demo.*") > 0, "its jobs can be looked at");
    let removed = instance.json(&["demo", "--remove"]);
    assert!(removed["deleted"].as_u64() > Some(50), "{removed}");
    assert_eq!(removed["left"], false, "{removed}");
    assert_eq!(count(&instance, "tag:demo kind:demo.*"), 0);
    assert_eq!(instance.json(&["job", "get", &own])["state"], "queued", "what is not of it is left alone");
    assert_eq!(instance.json(&["queue", "get", "demo.billing"])["key_limits"], Value::Null);
}

#[test]
fn it_ends_by_itself_and_cleans_up_if_it_was_asked_to() {
    let instance = Instance::server();
    let output = instance.ganger(&["demo", "--minutes", "0.05", "--rate", "20", "--cleanup", "-o", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told: Value = serde_json::from_str(&stdout(&output)).expect("a document");
    assert!(told["created"].as_u64() > Some(20), "{told}");
    assert_eq!(count(&instance, "tag:demo"), 0);
    assert!(
        stderr(&output).contains("ganger top") && stderr(&output).contains("/ui/"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn it_asks_before_it_uses_the_server_of_others() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output =
        command(directory.path(), &["demo", "--url", "http://192.0.2.1:8080"]).output().expect("it runs");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--yes"), "{}", stderr(&output));
    for wrong in [["--minutes", "0"], ["--rate", "0"], ["--rate", "1001"], ["--minutes", "nan"]] {
        let output = command(directory.path(), &["demo", wrong[0], wrong[1]]).output().expect("it runs");
        assert_eq!(code(&output), 2, "{wrong:?}: {}", stderr(&output));
    }
}

/// The next start without it finds nothing that fires and nobody runs.
#[test]
fn dev_has_one_inside_for_as_long_as_it_runs() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("data");
    let mut dev = Instance::on("dev", &["--demo", "--worker", "1"], &data, "127.0.0.1:0");
    let schedules =
        |instance: &Instance| instance.json(&["schedule", "list"])["items"].as_array().map_or(0, Vec::len);
    for state in ["succeeded", "retrying", "dead"] {
        eventually(&format!("a job that is {state}"), || {
            (count(&dev, &format!("tag:demo kind:demo.* state:{state}")) > 0).then_some(())
        });
    }
    assert_eq!(schedules(&dev), 3);
    let own = dev.enqueue(&["echo", "-p", "1"]);
    eventually("a job of one's own runs beside it", || {
        (dev.json(&["job", "get", &own])["state"] == "succeeded").then_some(())
    });
    assert_eq!(dev.stop(), 0, "told to stop, it ends well");
    let plain = Instance::on("dev", &["--worker", "1"], &data, "127.0.0.1:0");
    assert_eq!(schedules(&plain), 0);
    assert!(count(&plain, "tag:demo kind:demo.*") > 0, "its jobs can be looked at");
}
