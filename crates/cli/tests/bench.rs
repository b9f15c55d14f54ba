//! The benchmark runs to its end and finds no fault. How fast it was is no test's business.

mod common;

use common::{code, command, stderr};
use ganger_store::testing::{Durability, Postgres, Redis, peek};
use serde_json::Value;

/// The smallest benchmark there is.
const SMALL: [&str; 13] = [
    "bench",
    "--jobs",
    "2000",
    "--rounds",
    "2",
    "--single",
    "100",
    "--starts",
    "10",
    "--threads",
    "2",
    "-o",
    "json",
];

/// Runs it with these arguments besides, in a directory that is empty again afterwards.
fn report(args: &[&str]) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let all: Vec<&str> = SMALL.iter().chain(args).copied().collect();
    let output = command(directory.path(), &all).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn assert_measured(report: &Value, paths: &[&str]) {
    for path in paths {
        assert!(report.pointer(path).and_then(Value::as_f64).is_some_and(|n| n > 0.0), "{path} in {report}");
    }
    assert_eq!(report["drain"]["jobs"], 2000);
    assert_eq!(report["shares"].as_array().map(Vec::len), Some(2), "{report}");
}

const EVERYWHERE: [&str; 10] = [
    "/bulk/jobs_per_second",
    "/bulk/request/p99_us",
    "/bulk/commits_per_job",
    "/single/jobs_per_second",
    "/drain/jobs_per_second",
    "/drain/commits",
    "/start/start/p50_us",
    "/start/jobs_per_second",
    "/ceiling/jobs_per_second",
    "/ceiling/one/p50_us",
];

#[test]
fn a_small_benchmark_measures_everything_and_leaves_nothing_behind() {
    let report = report(&[]);
    assert_measured(&report, &EVERYWHERE);
    assert_measured(&report, &["/ceiling/page/p50_us"]);
}

/// With the log of the database beside it, and the jobs that Redis buffers.
#[test]
fn a_small_benchmark_of_a_database_leaves_that_database_as_it_was() {
    let (postgres, redis) = (Postgres::start_with(Durability::None), Redis::start());
    let before = peek::databases(&postgres.url()).unwrap();
    let report = report(&["--store", &postgres.url(), "--redis", &redis.url()]);
    assert_eq!(report["store"], "PostgreSQL + Redis");
    assert_measured(&report, &EVERYWHERE);
    assert_measured(
        &report,
        &[
            "/bulk/wal_bytes_per_job",
            "/drain/wal_bytes_per_job",
            "/ceiling/wal_bytes_per_job",
            "/buffered/jobs_per_second",
            "/buffered/stored_per_second",
        ],
    );
    assert_eq!(peek::databases(&postgres.url()).unwrap(), before);
}

#[test]
fn a_store_that_cannot_be_measured_is_refused_without_telling_its_password() {
    let directory = tempfile::tempdir().unwrap();
    for args in [
        &["--store", "sqlite:data"][..],
        &["--redis", "redis://:hush@127.0.0.1:1"],
        &["--store", "mysql://u:hush@h/d"],
        &["--store", "postgres://u:hush@127.0.0.1:1/d"],
    ] {
        let all: Vec<&str> = SMALL.iter().chain(args).copied().collect();
        let output = command(directory.path(), &all).output().unwrap();
        assert!(code(&output) != 0 && !stderr(&output).contains("hush"), "{args:?}: {}", stderr(&output));
    }
}
