//! Small things that a person at a terminal expects of commands.

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use common::{Instance, code, command, eventually, stderr, stdout, terminate};
use serde_json::{Value, json};

fn ids(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect()
}

#[test]
fn jobs_are_listed_counted_and_exported_by_a_filter_as_operations_take_it() {
    let server = Instance::server();
    let mail = server.enqueue(&["email.send", "-q", "mail"]);
    server.enqueue(&["report"]);
    assert_eq!(ids(&server.json(&["job", "list", "--filter", "kind:email.send"])), [mail.as_str()]);
    let counted = server.ganger(&["job", "histogram", "--filter", "kind:email.send"]);
    assert!(stdout(&counted).contains("1 job matches"), "{}", stdout(&counted));
    let all = stdout(&server.ganger(&["job", "histogram"]));
    assert!(all.contains("2 jobs match"), "{all}");
    let exported = stdout(&server.ganger(&["job", "export", "--filter", "queue:mail"]));
    assert_eq!(exported.lines().count(), 1);
    let both = server.ganger(&["job", "list", "kind:a", "--filter", "kind:b"]);
    assert_eq!(code(&both), 2, "one of them");
    let one = server.ganger(&["operation", "start", "cancel", "--filter", "queue:mail", "--dry-run"]);
    assert!(stdout(&one).contains("1 job matches"), "{}", stdout(&one));
}

#[test]
fn what_was_exported_can_be_imported() {
    let server = Instance::server();
    let options = [
        "--priority",
        "7",
        "--tag",
        "eu",
        "--max-attempts",
        "3",
        "--retry-base",
        "9s",
        "--retry-jitter",
        "0",
    ];
    let first = server.enqueue(
        &[&["report", "-q", "reports", "-p", r#"{"n": 12345678901234567890}"#][..], &options].concat(),
    );
    let later = server.enqueue(&["report", "--at", "2999-01-01T00:00:00Z"]);
    assert!(server.ganger(&["job", "cancel", &first]).status.success());
    let file = server.data.parent().unwrap().join("jobs.ndjson");
    let file = file.to_str().unwrap();
    assert!(server.ganger(&["job", "export", "--to", file]).status.success());
    let imported = server.json(&["import", file]);
    assert_eq!((&imported["accepted"], &imported["rejected"]), (&json!(2), &json!(0)), "{imported}");
    let again = server.json(&["job", "list", "queue:reports state:queued"]);
    let id = *ids(&again).first().expect("it is queued again");
    assert_ne!(id, first);
    let (before, after) = (server.json(&["job", "get", &first]), server.json(&["job", "get", id]));
    for field in ["kind", "queue", "payload", "priority", "tags", "max_attempts", "retry", "timeout"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    assert_eq!(after["retry"]["base"], "9s");
    let scheduled = server.json(&["job", "list", "state:scheduled"]);
    let moments: Vec<&Value> =
        scheduled["items"].as_array().unwrap().iter().map(|job| &job["run_at"]).collect();
    assert_eq!(moments, [&json!("2999-01-01T00:00:00Z"); 2], "{later}");
}

#[test]
fn an_update_changes_what_it_names_of_a_schedule_and_leaves_the_rest() {
    let server = Instance::server();
    let made = [
        "schedule",
        "create",
        "nightly",
        "--cron",
        "30 2 * * *",
        "--zone",
        "Europe/Berlin",
        "--kind",
        "report",
    ];
    let before =
        server.json(&[&made[..], &["-p", r#"{"days": 1}"#, "--overlap", "allow", "--paused"]].concat());
    let more = ["--every", "1h", "--max-attempts", "3", "--retry-base", "1m", "--timeout", "5m"];
    let after = server.json(&[&["schedule", "update", "nightly"][..], &more].concat());
    assert_eq!((&after["every"], &after["cron"]), (&json!("1h"), &Value::Null), "{after}");
    for field in ["overlap", "paused", "misfire", "jitter"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    let job = &after["job"];
    assert_eq!((&job["kind"], &job["payload"]), (&json!("report"), &json!({"days": 1})), "{job}");
    assert_eq!(
        (&job["max_attempts"], &job["retry"]["base"], &job["timeout"]),
        (&json!(3), &json!("1m"), &json!("5m"))
    );
    let missing = server.ganger(&["schedule", "update", "never", "--every", "1h"]);
    assert_eq!(code(&missing), 5, "{}", stderr(&missing));
}

#[test]
fn a_worker_is_drained_by_its_name() {
    let server = Instance::server();
    let mut worker = server.worker(&["start", "--name", "mail-1", "--threads", "1"]);
    eventually("it is there", || {
        (server.json(&["worker", "list"])["items"][0]["name"] == "mail-1").then_some(())
    });
    let unknown = server.ganger(&["worker", "drain", "mail-2"]);
    assert_eq!(code(&unknown), 5);
    assert!(stderr(&unknown).contains("worker list"), "{}", stderr(&unknown));
    assert!(server.ganger(&["worker", "drain", "mail-1"]).status.success());
    let child = &mut worker.0;
    let status = eventually("it leaves", || child.try_wait().unwrap());
    assert!(status.success());
    assert_eq!(code(&server.ganger(&["worker", "drain", "mail-1"])), 5, "it is gone");
}

#[test]
fn a_mistake_is_named_with_its_field() {
    let server = Instance::server();
    let refused =
        server.ganger(&["enqueue", "report", "--threads", "0", "--priority", "5", "--fair-key", ""]);
    let said = stderr(&refused);
    assert!(said.contains("threads") && !said.contains("`errors`"), "{said}");
}

/// Eleven lines about migrations were the first that a new user read.
#[test]
fn a_first_start_tells_nothing_of_migrations() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let args = ["server", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap(), "-o", "json"];
    let mut child =
        command(home.path(), &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.contains("url"), "{ready}");
    terminate(child.id());
    let output = child.wait_with_output().unwrap();
    assert!(!stderr(&output).contains("migrated"), "{}", stderr(&output));
}

#[test]
fn the_front_page_names_the_address_that_it_was_found_at() {
    let server = Instance::server();
    let page = Command::new("curl").args(["-sS", &format!("{}/", server.url)]).output().unwrap();
    let page = stdout(&page);
    assert!(page.contains(&format!("curl -s {}/v1/jobs", server.url)), "{page}");
    assert!(!page.contains(":8080"), "{page}");
}
