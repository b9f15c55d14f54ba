//! `ganger doctor` and `ganger health`: what is wrong is found, by name, with what to do about it, and what is well is not
//! complained about.

mod common;

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use common::{Instance, code, command, eventually, free_port, stderr, stdout};
use ganger_store::testing::{Durability, Postgres, Redis};
use serde_json::Value;

/// What a doctor says, and how it ends.
fn doctor(directory: &Path, args: &[&str]) -> (i32, Value) {
    let mut all = vec!["doctor", "-o", "json"];
    all.extend_from_slice(args);
    let output = command(directory, &all).output().unwrap();
    let said = serde_json::from_slice(&output.stdout);
    (code(&output), said.unwrap_or_else(|error| panic!("{error}: {}", stderr(&output))))
}

fn each<'a>(said: &'a Value, check: &'a str) -> impl Iterator<Item = &'a Value> {
    said["checks"].as_array().unwrap().iter().filter(move |found| found["check"] == check)
}

/// The one line about something.
fn about<'a>(said: &'a Value, check: &'a str) -> &'a Value {
    each(said, check).next().unwrap_or_else(|| panic!("nothing about {check} in {said}"))
}

fn is_found(said: &Value, check: &str, words: &str, advice: &str) {
    let fits = |found: &Value| {
        found["state"] == "finding"
            && found["found"].as_str().unwrap().contains(words)
            && found["advice"].as_str().unwrap().contains(advice)
    };
    assert!(each(said, check).any(fits), "{check}: `{words}` with `{advice}` is not found in {said:#}");
}

/// What lies in the default places here is another server's.
#[test]
fn a_doctor_that_is_told_a_url_alone_looks_at_that_server_alone() {
    let server = Instance::server();
    let elsewhere = tempfile::tempdir().unwrap();
    let (_, said) = doctor(elsewhere.path(), &["--url", &server.url]);
    assert_eq!(about(&said, "server")["state"], "ok", "{said:#}");
    let store = about(&said, "store");
    assert_eq!(store["state"], "skipped", "{said:#}");
    assert!(store["found"].as_str().unwrap().contains("--store or --data"), "{said:#}");
    for check in ["port", "exposure", "disk"] {
        assert_eq!(each(&said, check).count(), 0, "{check}: {said:#}");
    }
}

#[test]
fn a_server_that_is_well_has_no_findings() {
    let server = Instance::server();
    let port = free_port().to_string();
    let listen = format!("127.0.0.1:{port}");
    let args = ["--url", &server.url, "--data", server.data.to_str().unwrap(), "--listen", &listen];
    let (exit, said) = doctor(server.data.parent().unwrap(), &args);
    for check in ["server", "readiness", "clock", "access", "TLS", "versions", "port", "exposure", "store"] {
        assert_eq!(about(&said, check)["state"], "ok", "{check}: {said:#}");
    }
    for check in ["permissions", "secrets", "disk", "disk latency"] {
        // Where the tests run may be slow, full, or in memory; it must be said in any case.
        assert!(!about(&said, check)["found"].as_str().unwrap().is_empty());
    }
    assert!(about(&said, "store")["found"].as_str().unwrap().contains("in use by a server"), "{said:#}");
    let counted =
        said["checks"].as_array().unwrap().iter().filter(|found| found["state"] == "finding").count();
    assert_eq!(said["findings"], counted);
    assert_eq!((exit, said["healthy"] == true), (if counted == 0 { 0 } else { 10 }, counted == 0));
}

#[test]
fn what_is_wrong_on_this_machine_is_told_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(data.join("admin-token"), "gng_x_y").unwrap();
    std::fs::set_permissions(data.join("admin-token"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("127.0.0.1:{}", taken.local_addr().unwrap().port());
    let nobody = format!("http://127.0.0.1:{}", free_port());
    let args =
        ["--data", data.to_str().unwrap(), "--listen", &listen, "--listen", "0.0.0.0:0", "--url", &nobody];
    let (exit, said) = doctor(directory.path(), &args);
    assert_eq!(exit, 10, "{said:#}");
    is_found(&said, "server", &nobody, "ganger server");
    is_found(&said, "port", &listen, "--listen");
    is_found(&said, "permissions", "other users", "chmod 700");
    is_found(&said, "secrets", "admin-token", "chmod 600");
    is_found(&said, "exposure", "without TLS", "--tls-cert");
    is_found(&said, "exposure", "auth is off", "set it to on");
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["admin-token"], "a doctor leaves nothing behind");
}

/// Everything that a careless administrator may have switched off.
#[test]
fn a_database_that_may_lose_jobs_is_found_out() {
    let broken = Postgres::start_with(Durability::None);
    broken.set(&["synchronous_commit = off", "full_page_writes = off", "autovacuum = off"]);
    let directory = tempfile::tempdir().unwrap();
    let nobody = format!("http://127.0.0.1:{}", free_port());
    let url = broken.url();
    let args = ["--store", url.as_str(), "--url", nobody.as_str()];
    let said = eventually("the settings hold", || {
        let (exit, said) = doctor(directory.path(), &args);
        assert_eq!(exit, 10, "{said:#}");
        (each(&said, "durability").count() == 3).then_some(said)
    });
    is_found(&said, "durability", "fsync = off", "set fsync = on");
    is_found(&said, "durability", "synchronous_commit = off", "set synchronous_commit = on");
    is_found(&said, "durability", "full_page_writes = off", "set full_page_writes = on");
    is_found(&said, "autovacuum", "does not clean up", "autovacuum = on");
    for check in ["store", "primary", "connections", "database clock", "database TLS"] {
        assert_eq!(about(&said, check)["state"], "ok", "{check}: {said:#}");
    }
    let latency = about(&said, "database latency")["found"].as_str().unwrap();
    assert!(latency.contains("a durable commit"), "{latency}");
}

#[test]
fn a_database_as_in_production_is_well_and_one_that_is_away_is_not() {
    let mut database = Postgres::start();
    let directory = tempfile::tempdir().unwrap();
    let url = database.url().replace("ganger@", "ganger:hush@");
    let args = ["--store", url.as_str(), "--url", "http://127.0.0.1:1"];
    let (_, said) = doctor(directory.path(), &args);
    assert_eq!(about(&said, "durability")["state"], "ok", "{said:#}");
    database.stop();
    let (exit, said) = doctor(directory.path(), &args);
    assert_eq!(exit, 10);
    is_found(&said, "store", "cannot open postgres://ganger:***@", "--store");
    assert!(!said.to_string().contains("hush"), "{said:#}");
}

#[test]
fn a_redis_is_looked_at_and_missed_when_it_is_away() {
    let mut redis = Redis::start();
    let directory = tempfile::tempdir().unwrap();
    let url = redis.url();
    let args = ["--redis", url.as_str(), "--url", "http://127.0.0.1:1"];
    let (_, said) = doctor(directory.path(), &args);
    let up = about(&said, "redis");
    assert!(up["state"] == "ok" && up["found"].as_str().unwrap().contains("it answers"), "{up}");
    redis.kill();
    let (_, said) = doctor(directory.path(), &args);
    is_found(&said, "redis", "does not answer", "do without");
}

#[test]
fn people_read_findings_with_their_remedies() {
    let directory = tempfile::tempdir().unwrap();
    let output: Output =
        command(directory.path(), &["doctor", "--url", "http://127.0.0.1:1"]).output().unwrap();
    assert_eq!(code(&output), 10);
    let text = stdout(&output);
    assert!(text.starts_with("CHECK") && text.contains("1. server: no server answers"), "{text}");
    assert!(text.contains("\n   do: start it"), "{text}");
}

/// A container's health check: the server, and a worker by its own health server.
#[test]
fn health_tells_a_server_and_a_worker_by_its_exit_code() {
    let mut server = Instance::server();
    assert_eq!(code(&server.ganger(&["health"])), 0);
    assert_eq!(code(&server.ganger(&["health", "--live"])), 0);
    let health = format!("127.0.0.1:{}", free_port());
    let worker = server.worker(&["--health", &health, "--threads", "1"]);
    let url = format!("http://{health}");
    let directory = server.data.parent().unwrap().to_owned();
    let of_worker = || command(&directory, &["health", "--url", &url]).output().unwrap();
    eventually("the worker is ready", || (code(&of_worker()) == 0).then_some(()));
    assert!(stdout(&of_worker()).contains("session"), "{}", stdout(&of_worker()));
    server.kill();
    eventually("the worker misses its server", || (code(&of_worker()) == 10).then_some(()));
    assert_eq!(code(&server.ganger(&["health", "--live", "--url", &url])), 0, "it lives all the same");
    drop(worker);
    assert_eq!(code(&of_worker()), 9, "nobody is there");
}
