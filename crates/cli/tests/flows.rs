//! What a user does with a server: run, enqueue, wait, look, stop, import, back up.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{Instance, code, command, eventually, stderr, stdout};
use serde_json::{Value, json};

#[test]
fn a_command_runs_as_a_job_with_its_output_and_its_exit_code() {
    let dev = Instance::dev();
    let output = dev.ganger(&["run", "--", "echo", "hello"]);
    assert_eq!((stdout(&output).as_str(), code(&output)), ("hello\n", 0), "{}", stderr(&output));
    let output = dev.ganger(&["run", "--env", "STAGE=test", "--", "sh", "-c", "echo $STAGE; pwd; exit 7"]);
    assert_eq!(code(&output), 7, "{}", stderr(&output));
    let directory = dev.data.parent().unwrap().canonicalize().unwrap();
    assert!(stdout(&output).starts_with(&format!("test\n{}\n", directory.display())), "{}", stdout(&output));
}

/// What the command prints is all there is on standard output, also when it fails.
#[test]
fn a_command_gets_standard_input_if_asked_and_its_output_stays_its_own() {
    let dev = Instance::dev();
    let mut child = dev
        .command(&["run", "-i", "--", "sh", "-c", "tr a-z A-Z; exit 3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((stdout(&output).as_str(), code(&output)), ("ONE\nTWO\n", 3), "{}", stderr(&output));
}

#[test]
fn output_that_was_lost_is_missed_out_loud() {
    let dev = Instance::dev();
    let output = dev.ganger(&["run", "--", "seq", "1", "100000"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).ends_with("\n100000\n"));
    assert!(stderr(&output).contains("some of the output may be missing"), "{}", stderr(&output));
    let output = dev.ganger(&["run", "--", "seq", "1", "1000"]);
    assert_eq!((stdout(&output).lines().count(), stderr(&output).as_str()), (1000, ""));
}

#[test]
fn a_reader_that_has_enough_is_told_that_the_job_goes_on() {
    let dev = Instance::dev();
    let mut child = dev
        .command(&["run", "--", "sh", "-c", "while :; do echo x; sleep 0.1; done"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(stderr(&output).contains("the job goes on: ganger job logs -f job_"), "{}", stderr(&output));
}

#[test]
fn a_command_that_cannot_start_is_a_failure_of_run() {
    let dev = Instance::dev();
    let output = dev.ganger(&["run", "--", "no-such-program-anywhere"]);
    assert_eq!(code(&output), 125);
    assert!(stderr(&output).contains("no-such-program-anywhere"), "{}", stderr(&output));
}

#[test]
fn without_the_token_file_no_command_is_accepted() {
    let dev = Instance::dev();
    let directory = tempfile::tempdir().unwrap();
    let other_user =
        |args: &[&str]| command(directory.path(), args).env("GANGER_URL", &dev.url).output().unwrap();
    let output = other_user(&["enqueue", "exec", "-p", r#"{"argv":["true"]}"#]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let output = other_user(&["run", "--", "true"]);
    assert_eq!(code(&output), 125, "{}", stderr(&output));
    assert_eq!(code(&other_user(&["enqueue", "noop", "--wait=30s"])), 0, "other kinds need no token");
}

#[test]
fn waiting_gives_the_result_or_says_that_there_is_none() {
    let dev = Instance::dev();
    let payload = r#"{"n": 123456789012345678901234567890}"#;
    let output = dev.ganger(&["enqueue", "echo", "-p", payload, "--wait=30s"]);
    assert_eq!((stdout(&output).trim(), code(&output)), (payload, 0), "{}", stderr(&output));

    let output =
        dev.ganger(&["enqueue", "fail", "-p", r#"{"times":9}"#, "--max-attempts", "1", "--wait=30s"]);
    assert_eq!(code(&output), 3);
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("is dead after 1 attempts"), "{}", stderr(&output));

    let id = dev.enqueue(&["sleep", "-p", r#"{"seconds":60}"#]);
    let output = dev.ganger(&["job", "wait", &id, "--timeout", "100ms"]);
    assert_eq!(code(&output), 7, "{}", stderr(&output));
    assert_eq!(code(&dev.ganger(&["job", "cancel", &id])), 0);
    assert_eq!(code(&dev.ganger(&["job", "wait", &id, "--timeout", "30s"])), 3);
    assert_eq!(dev.json(&["job", "get", &id])["state"], "cancelled");
    assert_eq!(code(&dev.ganger(&["job", "cancel", &id])), 6, "final is final");
}

#[test]
fn a_unique_key_gives_the_same_job_and_an_idempotency_key_the_same_answer() {
    let server = Instance::server();
    let first = server.enqueue(&["noop", "--key", "k"]);
    assert_eq!(server.enqueue(&["noop", "--key", "k"]), first);
    let again = server.enqueue(&["echo", "--idempotency-key", "i"]);
    assert_eq!(server.enqueue(&["echo", "--idempotency-key", "i"]), again);
    let output = server.ganger(&["enqueue", "noop", "--idempotency-key", "i"]);
    assert_eq!(code(&output), 6, "{}", stderr(&output));
}

#[test]
fn jobs_are_listed_in_every_format() {
    let server = Instance::server();
    let ids: Vec<String> =
        (0..3).map(|n| server.enqueue(&["noop", "--tag", "t", "-p", &n.to_string()])).collect();
    let names = stdout(&server.ganger(&["job", "list", "--tag", "t", "-o", "name"]));
    assert_eq!(names.lines().rev().collect::<Vec<_>>(), ids, "newest first");
    let table = stdout(&server.ganger(&["job", "list"]));
    assert!(table.starts_with("STATE") && ids.iter().all(|id| table.contains(id)), "{table}");
    assert!(!table.contains('\x1b') && table.is_ascii(), "no colour and no glyphs in a pipe:\n{table}");
    let lines = stdout(&server.ganger(&["job", "list", "-o", "ndjson"]));
    let states: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["state"].clone()).collect();
    assert_eq!(states, [json!("queued"), json!("queued"), json!("queued")]);
    assert_eq!(server.json(&["job", "list", "--state", "dead"])["items"], json!([]));
    let paged = stdout(&server.ganger(&["job", "list", "--limit", "1", "--all", "-o", "name"]));
    assert_eq!(paged, names);
}

#[test]
fn a_pipe_that_closes_early_ends_a_list_quietly() {
    let server = Instance::server();
    let jobs: String = (0..400).map(|n| format!("{{\"kind\":\"noop\",\"payload\":{n}}}\n")).collect();
    import(&server, &jobs, &[]);
    let script = format!("{} job list --limit 400 | head -n 1", common::binary().display());
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &script]).env("GANGER_URL", &server.url).output().unwrap();
    assert!(stdout(&output).starts_with("STATE"));
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_job_without_a_worker_is_explained() {
    let server = Instance::server();
    let id = server.enqueue(&["video.encode", "-q", "gpu"]);
    let output = server.ganger(&["job", "explain", &id]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("worker") && stdout(&output).contains("gpu"), "{}", stdout(&output));
}

#[test]
fn a_job_runs_after_the_one_it_waits_for() {
    let dev = Instance::dev();
    assert_eq!(dev.json(&["queue", "pause", "mail"])["paused"], true);
    let parent = dev.enqueue(&["echo", "-p", "1", "-q", "mail"]);
    let child = dev.enqueue(&["noop", "--after", &format!("{parent}:run")]);
    assert_eq!(dev.json(&["job", "get", &child])["state"], "blocked");
    let why = stdout(&dev.ganger(&["job", "explain", &child]));
    assert!(why.contains(&parent) && why.contains("queued"), "{why}");
    let related = stdout(&dev.ganger(&["job", "related", &child]));
    assert!(related.contains("parent") && related.contains(&parent), "{related}");
    assert_eq!(dev.json(&["queue", "resume", "mail"])["paused"], false);
    assert_eq!(code(&dev.ganger(&["job", "wait", &child, "--timeout", "30s"])), 0);
    let items = dev.json(&["job", "related", &parent])["children"]["items"].clone();
    assert_eq!((&items[0]["id"], &items[0]["settled"]), (&json!(child), &json!("succeeded")));
}

#[test]
fn a_paused_queue_starts_nothing_until_it_is_resumed() {
    let dev = Instance::dev();
    assert_eq!(dev.json(&["queue", "pause", "mail"])["paused"], true);
    let id = dev.enqueue(&["noop", "-q", "mail"]);
    assert_eq!(dev.json(&["job", "get", &id])["state"], "queued");
    assert_eq!(dev.json(&["queue", "resume", "mail"])["paused"], false);
    assert_eq!(code(&dev.ganger(&["job", "wait", &id, "--timeout", "30s"])), 0);
    assert_eq!(dev.json(&["queue", "drain", "mail"])["draining"], true);
    assert_eq!(code(&dev.ganger(&["enqueue", "noop", "-q", "mail"])), 6);
    let set = dev.json(&["queue", "set", "mail", "--policy", "spread", "--keep-dead", "forever"]);
    assert_eq!((&set["policy"], &set["retention"]["dead"]), (&json!("spread"), &json!("forever")));
    assert_eq!(set["draining"], true, "what is not named stays as it is");
}

#[test]
fn an_import_takes_good_lines_and_names_bad_ones() {
    let server = Instance::server();
    let mut lines: String = (0..1500).map(|n| format!("{{\"payload\":{n}}}\n")).collect();
    lines.push_str("not json\n{\"kind\":\"noop\",\"threads\":5000}\n");
    let output = import(&server, &lines, &["--kind", "noop", "--idempotency-key", "once"]);
    assert_eq!(code(&output), 8, "{}", stderr(&output));
    let tally: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(tally, json!({ "accepted": 1500, "deduplicated": 0, "rejected": 2 }));
    assert!(
        stderr(&output).contains("line 1501:") && stderr(&output).contains("line 1502: `threads` is 5000"),
        "{}",
        stderr(&output)
    );
    import(&server, &lines, &["--kind", "noop", "--idempotency-key", "once"]);
    assert_eq!(server.json(&["stats"])["jobs"]["queued"], 1500, "the same import again makes nothing new");
}

#[test]
fn a_worker_process_runs_what_waits_and_drains_when_told() {
    let server = Instance::server();
    let id = server.enqueue(&["echo", "-p", "1", "-q", "mail"]);
    let mut worker =
        server.worker(&["--queue", "mail", "--threads", "2", "--labels", "zone=eu", "--name", "w1"]);
    assert_eq!(code(&server.ganger(&["job", "wait", &id, "--timeout", "30s"])), 0);
    let workers = server.json(&["worker", "list"]);
    assert_eq!(workers["items"][0]["name"], "w1");
    assert_eq!(workers["items"][0]["labels"]["zone"], "eu");
    assert_eq!(worker.stop(), Some(0));
}

#[test]
fn a_worker_can_be_drained_from_afar() {
    let server = Instance::server();
    let mut worker = server.worker(&["--threads", "1"]);
    let id = eventually("the worker is there", || {
        let workers = server.json(&["worker", "list"]);
        workers["items"][0]["id"].as_str().map(str::to_owned)
    });
    assert_eq!(code(&server.ganger(&["worker", "drain", &id])), 0);
    let status = eventually("the worker ends", || worker.0.try_wait().unwrap());
    assert!(status.success());
}

/// Two processes under one supervisor: one is killed in the middle of a job, and the job runs elsewhere.
#[test]
fn a_killed_worker_process_is_replaced_and_its_job_runs_again() {
    let server = Instance::server();
    let mut supervisor =
        server.worker(&["--processes", "2", "--threads", "1", "--name", "w", "--grace", "1s"]);
    let workers = |states: &[&str]| {
        let list = server.json(&["worker", "list"]);
        let items = list["items"].as_array().unwrap().clone();
        items.into_iter().filter(|w| states.contains(&w["state"].as_str().unwrap())).collect::<Vec<_>>()
    };
    eventually("both are there", || (workers(&["available"]).len() == 2).then_some(()));
    let id = server.enqueue(&["exec", "-q", "none"]);
    assert_eq!(server.json(&["job", "get", &id])["state"], "queued", "exec was not allowed to these workers");
    let id = server.enqueue(&["sleep", "-p", r#"{"ms":700}"#]);
    let busy = eventually("one runs it", || workers(&["busy"]).pop());
    let name = busy["name"].as_str().unwrap().to_owned();
    let victim =
        children(supervisor.0.id()).into_iter().find(|(_, line)| line.contains(&format!("--name {name} ")));
    common::signal(victim.expect("the child is there").0, "-KILL");
    assert_eq!(code(&server.ganger(&["job", "wait", &id, "--timeout", "60s"])), 0);
    let attempts = server.json(&["job", "attempts", &id]);
    assert_eq!(attempts["items"][0]["outcome"], "lost", "{attempts}");
    eventually("both are there again", || (workers(&["available"]).len() == 2).then_some(()));
    assert_eq!(supervisor.stop(), Some(0));
    assert_eq!(workers(&["available", "busy"]).len(), 0, "its processes said goodbye");
}

#[test]
fn dev_stops_in_order_and_its_jobs_are_there_again() {
    let mut dev = Instance::dev();
    let id = dev.enqueue(&["noop", "--delay", "1h"]);
    assert_eq!(dev.stop(), 0);
    let again = Instance::on("dev", &[], &dev.data, "127.0.0.1:0");
    assert_eq!(again.json(&["job", "get", &id])["state"], "scheduled");
    assert_eq!(code(&again.ganger(&["job", "run-now", &id])), 0);
    assert_eq!(code(&again.ganger(&["job", "wait", &id, "--timeout", "30s"])), 0);
}

#[test]
fn a_backup_is_made_while_the_server_runs_and_can_be_restored() {
    let mut server = Instance::server();
    let id = server.enqueue(&["noop"]);
    assert_eq!(code(&server.ganger(&["backup", "copy.db"])), 0);
    assert_eq!(code(&server.ganger(&["backup", "copy.db"])), 1, "a backup is never overwritten");
    let output = server.ganger(&["restore", "copy.db", "--force"]);
    assert_eq!(code(&output), 1, "a server uses it: {}", stderr(&output));
    let later = server.enqueue(&["noop"]);
    assert_eq!(server.stop(), 0);
    assert_eq!(code(&server.ganger(&["restore", "copy.db"])), 1, "not over a database that is there");
    assert_eq!(code(&server.ganger(&["restore", "copy.db", "--force"])), 0);
    let again = Instance::on("server", &[], &server.data, "127.0.0.1:0");
    assert_eq!(again.json(&["job", "get", &id])["state"], "queued");
    assert_eq!(code(&again.ganger(&["job", "get", &later])), 5);
}

#[test]
fn health_tells_and_exits_accordingly() {
    let mut server = Instance::server();
    assert_eq!(code(&server.ganger(&["health"])), 0);
    assert_eq!(stdout(&server.ganger(&["health", "--live"])), "live\n");
    assert!(stdout(&server.ganger(&["version", "--server"])).contains("server "));
    server.kill();
    assert_eq!(code(&server.ganger(&["health"])), 9);
}

fn import(instance: &Instance, lines: &str, args: &[&str]) -> std::process::Output {
    let mut all = vec!["import", "-", "-o", "json"];
    all.extend_from_slice(args);
    let mut command = instance.command(&all);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The children of a process with their command lines.
fn children(parent: u32) -> Vec<(u32, String)> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let of_parent = processes.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&line).replace('\0', " ");
        status.lines().any(|line| line == format!("PPid:\t{parent}")).then_some((pid, command))
    });
    of_parent.collect()
}
