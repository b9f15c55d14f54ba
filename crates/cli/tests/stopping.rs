//! Ending processes: what they take along, and what they leave behind.

mod common;

use std::path::{Path, PathBuf};
use std::process::Child;

use common::{Instance, Process, eventually, signal, stdout};
use serde_json::json;

/// A command that says who it is and then stays. Being asked does not impress it.
const STAYS: &str = "trap '' TERM; echo $$ > pid.new; mv pid.new pid; while :; do sleep 1; done";

/// Runs it, and returns its process id once it runs.
fn a_command_that_stays(server: &Instance) -> u32 {
    let output = server.ganger(&["run", "--detach", "--", "sh", "-c", STAYS]);
    assert!(output.status.success() && stdout(&output).starts_with("job_"));
    let file: PathBuf = server.data.parent().unwrap().join("pid");
    let text = eventually("the command runs", || std::fs::read_to_string(&file).ok());
    text.trim().parse().unwrap()
}

fn runs(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Stops as an impatient person does, and returns the exit code.
fn twice(child: &mut Child, while_it_drains: impl FnOnce()) -> i32 {
    signal(child.id(), "-INT");
    while_it_drains();
    signal(child.id(), "-INT");
    let status = eventually("the process ends", || child.try_wait().unwrap());
    status.code().expect("it exited by itself")
}

/// Nothing may go on in the background: the job runs again, and would run twice at a time.
#[test]
fn stopping_dev_at_once_takes_running_commands_along() {
    let mut dev = Instance::dev();
    let pid = a_command_that_stays(&dev);
    let url = dev.url.clone();
    let drains = || drained(&url, 1);
    let child = dev.child();
    assert_eq!(twice(child, drains), 130);
    eventually("the command is gone", || (!runs(pid)).then_some(()));
}

#[test]
fn stopping_a_supervisor_at_once_takes_the_commands_of_its_children_along() {
    let server = Instance::server();
    let mut supervisor = server.worker(&["--processes", "2", "--threads", "1", "--allow-exec"]);
    let pid = a_command_that_stays(&server);
    assert_eq!(twice(&mut supervisor.0, || drained(&server.url, 1)), 130);
    eventually("the command is gone", || (!runs(pid)).then_some(()));
}

/// Waits until so many workers drain.
fn drained(url: &str, count: usize) {
    eventually("workers drain", || {
        let directory = tempfile::tempdir().unwrap();
        let output = common::command(directory.path(), &["worker", "list", "-o", "json", "--url", url])
            .output()
            .unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        let workers = answer["items"].as_array()?;
        (workers.iter().filter(|w| w["state"] == json!("draining")).count() >= count).then_some(())
    });
}

/// A job that may run once, and whose worker was stopped, died for a reason that is told.
#[test]
fn a_job_that_died_with_its_worker_says_so() {
    let server = Instance::server();
    let mut worker: Process = server.worker(&["--grace", "100ms"]);
    let id = server.enqueue(&["sleep", "-p", r#"{"seconds":60}"#, "--max-attempts", "1"]);
    eventually("it runs", || (server.json(&["job", "get", &id])["state"] == json!("running")).then_some(()));
    worker.stop();
    let job = eventually("it is over", || {
        Some(server.json(&["job", "get", &id])).filter(|job| job["state"] == json!("dead"))
    });
    assert_eq!(job["last_error"], json!("its worker stopped before it ended"));
}

/// The same for one that took too long.
#[test]
fn a_job_that_ran_too_long_says_so() {
    let dev = Instance::dev();
    let output = dev.ganger(&["run", "--timeout", "100ms", "--", "sleep", "60"]);
    assert_eq!(common::code(&output), 125);
    assert!(common::stderr(&output).contains("ran longer than its timeout"), "{}", common::stderr(&output));
}
