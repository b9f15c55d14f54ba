//! `-o json` everywhere: every command that answers can answer with one JSON document.

mod common;

use common::{Instance, code, stderr, stdout};
use serde_json::Value;

/// Commands on a server and on its data that give an answer. `ID`, `WORKER` and `DEAD` are put in.
const ANSWERS: &[&[&str]] = &[
    &["enqueue", "noop"],
    &["enqueue", "echo", "-p", "{\"n\": 1}", "--wait=30s"],
    &["run", "--detach", "--", "true"],
    &["import", "/dev/null"],
    &["job", "list"],
    &["job", "get", "ID"],
    &["job", "wait", "ID", "--timeout", "30s"],
    &["job", "explain", "ID"],
    &["job", "attempts", "ID"],
    &["job", "related", "ID"],
    &["enqueue", "noop", "--after", "ID"],
    &["job", "logs", "ID"],
    &["job", "replay", "DEAD"],
    &["job", "cancel", "LATER"],
    &["job", "run-now", "WAITING"],
    &["queue", "list"],
    &["queue", "get", "default"],
    &["queue", "pause", "mail"],
    &["queue", "resume", "mail"],
    &["queue", "drain", "mail"],
    &["queue", "set", "mail", "--policy", "spread"],
    &["queue", "purge", "mail", "--yes"],
    &["worker", "list"],
    &["stats"],
    &["health"],
    &["health", "--live"],
    &["backup", "copy.db"],
    &["migrate", "status"],
    &["config", "show"],
    &["version", "--server"],
    &["exit-codes"],
    &["worker", "drain", "WORKER"],
];

#[test]
fn every_command_that_answers_can_answer_in_json() {
    let dev = Instance::dev();
    let id = dev.enqueue(&["echo", "-p", "1"]);
    assert_eq!(code(&dev.ganger(&["job", "wait", &id, "--timeout", "30s"])), 0);
    let dead = dev.enqueue(&["fail", "-p", r#"{"times":9}"#, "--max-attempts", "1"]);
    assert_eq!(code(&dev.ganger(&["job", "wait", &dead, "--timeout", "30s"])), 3);
    let later = dev.enqueue(&["noop", "--delay", "1h"]);
    let waiting = dev.enqueue(&["noop", "--delay", "1h"]);
    let worker = dev.json(&["worker", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    for command in ANSWERS {
        let put_in = |word: &&str| match *word {
            "ID" => id.clone(),
            "DEAD" => dead.clone(),
            "LATER" => later.clone(),
            "WAITING" => waiting.clone(),
            "WORKER" => worker.clone(),
            other => other.to_owned(),
        };
        let words: Vec<String> = ["-o", "json"].iter().chain(command.iter()).map(put_in).collect();
        let output = dev.ganger(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(code(&output), 0, "{command:?}: {}", stderr(&output));
        let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
        assert!(document.is_ok(), "{command:?} printed\n{}", stdout(&output));
    }
}

#[test]
fn what_a_job_logged_is_printed_as_it_is_and_as_a_document() {
    let dev = Instance::dev();
    let output = dev.ganger(&["run", "--detach", "--", "sh", "-c", "echo one; echo two"]);
    let id = stdout(&output).trim().to_owned();
    assert_eq!(code(&dev.ganger(&["job", "wait", &id, "--timeout", "30s"])), 0);
    let text = stdout(&dev.ganger(&["job", "logs", &id]));
    assert!(text.starts_with("one\ntwo\n"), "{text}");
    let log = dev.json(&["job", "logs", &id, "--attempt", "1"]);
    assert_eq!((&log["job"], &log["attempt"]), (&Value::from(id), &Value::from(1)));
    assert_eq!(log["text"], text);
}

#[test]
fn the_logs_of_a_retried_job_are_those_of_every_attempt() {
    let dev = Instance::dev();
    let output =
        dev.ganger(&["run", "--detach", "--max-attempts", "2", "--", "sh", "-c", "echo tried; exit 3"]);
    let id = stdout(&output).trim().to_owned();
    // It dies, and whoever waits for that hears so.
    assert_ne!(code(&dev.ganger(&["job", "wait", &id, "--timeout", "120s"])), 0);
    let logs = dev.ganger(&["job", "logs", &id]);
    assert_eq!(stdout(&logs).matches("tried").count(), 2, "{}", stdout(&logs));
    assert!(stderr(&logs).contains("attempt 1 of 2:") && stderr(&logs).contains("attempt 2 of 2:"));
    let one = dev.ganger(&["job", "logs", &id, "--attempt", "1"]);
    assert_eq!((stdout(&one).matches("tried").count(), stderr(&one).as_str()), (1, ""));
}

/// An error is a document as well, on standard error, and its exit code stays what it is.
#[test]
fn a_refusal_is_told_in_json_too() {
    let server = Instance::server();
    let output = server.ganger(&["-o", "json", "job", "get", "job_01J9X7QK5V8M3N2P4R6S8T0V1W"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (5, ""));
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert!(told.to_string().contains("job_01J9X7QK5V8M3N2P4R6S8T0V1W"), "{told}");
}
