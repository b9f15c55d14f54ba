//! A server with Redis in front of its store, through the binary.

mod common;

use common::{Instance, code, command, eventually, ganger, stderr, stdout};
use ganger_store::testing::Redis;
use serde_json::Value;

fn json(instance: &Instance, args: &[&str]) -> Option<Value> {
    let directory = tempfile::tempdir().unwrap();
    let mut all = args.to_vec();
    all.extend_from_slice(&["--url", &instance.url, "-o", "json"]);
    let output = command(directory.path(), &all).output().unwrap();
    (code(&output) == 0).then(|| serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_buffered_job_is_answered_as_such_and_found_in_the_store_soon_after() {
    let mut redis = Redis::start();
    let server = Instance::start("server", &["--redis", &redis.url(), "--allow-buffered"]);
    let submitted = json(&server, &["enqueue", "noop", "--buffered"]).unwrap();
    assert_eq!(submitted["durability"], "buffered");
    let id = submitted["id"].as_str().unwrap();
    let job = eventually("the job in the store", || json(&server, &["job", "get", id]));
    assert_eq!(job["state"], "queued");

    redis.kill();
    let submitted = json(&server, &["enqueue", "noop", "--buffered"]);
    // The first one to notice may not be told whether Redis had it; then the next is.
    let submitted = submitted.or_else(|| json(&server, &["enqueue", "noop", "--buffered"])).unwrap();
    assert_eq!(submitted["durability"], "durable");
}

#[test]
fn the_address_of_redis_is_a_setting_that_is_shown_without_its_password() {
    let output = ganger(&["config", "show", "--redis", "rediss://u:hush@cache:6380/2"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let line = stdout(&output).lines().find(|line| line.starts_with("redis ")).unwrap().to_owned();
    assert!(line.contains("rediss://u:***@cache:6380/2") && line.contains("flag --redis"), "{line}");
}

#[test]
fn what_cannot_work_is_refused_before_the_server_starts() {
    let refused = |args: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let mut all = vec!["server", "--listen", "127.0.0.1:0", "--data", "./data"];
        all.extend_from_slice(args);
        let output = command(directory.path(), &all).output().unwrap();
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        let text = stderr(&output);
        assert!(!text.contains("hush"), "{text}");
        text
    };
    assert!(refused(&["--allow-buffered"]).contains("--redis"));
    assert!(refused(&["--redis", "http://:hush@h"]).contains("redis://"));
    assert!(refused(&["--redis", "redis://:hush@h", "--redis-namespace", "a b"]).contains("namespace"));
    let missing = ["--redis", "rediss://:hush@h", "--redis-ca", "/nowhere.pem"];
    let directory = tempfile::tempdir().unwrap();
    let output = command(directory.path(), &[&["server"], &missing[..]].concat()).output().unwrap();
    assert!(code(&output) != 0 && stderr(&output).contains("/nowhere.pem"), "{}", stderr(&output));
}
