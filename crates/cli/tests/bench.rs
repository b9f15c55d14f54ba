//! The benchmark runs to its end and finds no fault, workload by workload. How fast it was is no test's business.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{binary, code, command, eventually, stderr, stdout};
use ganger_store::testing::{Durability, Postgres, Redis, peek};
use serde_json::Value;

/// The smallest benchmark there is.
const SMALL: &str =
    "--jobs 300 --rounds 2 --single 20 --starts 10 --threads 2 --seconds 1 --waiting 200,400 --workers 2,6";

/// Rows by name, each with paths to what must be above zero.
type Rows = &'static [(&'static str, &'static [&'static str])];

/// Every workload with the rows that it must have, and what must be above zero in the first of each name.
const ROWS: &[(&str, Rows)] = &[
    (
        "drain",
        &[("bulk_enqueue", &["/latency_us/request/p99"]), ("drain", &["/jobs_per_second", COST, SHARE])],
    ),
    ("steady", &[("steady", &["/latency_us/start/p999", "/latency_us/recorded/p50", COST])]),
    ("enqueue", &[("enqueue", &["/jobs_per_second", "/latency_us/request/p50", COST, SHARE])]),
    ("ping", &[("ping", &["/latency_us/start/p50", "/values/commits_of_the_store"])]),
    (
        "depth",
        &[
            ("memory", &["/values/resident_bytes"]),
            ("drain_at_depth", &["/jobs_per_second"]),
            ("steady_at_depth", &["/latency_us/recorded/p99"]),
        ],
    ),
    ("fleet", &[("fleet", &["/jobs_per_second", "/params/workers", "/values/share_of_first"])]),
    ("threads", &[("packed", &["/values/utilisation"]), ("wait", &["/latency_us/wait/p50"])]),
    ("blocked", &[("drain", &["/jobs_per_second"]), ("drain_behind", &["/values/share_of_drain"])]),
    ("timers", &[("bulk_enqueue", &["/jobs_per_second"]), ("timers", &["/latency_us/late/p99"])]),
    ("failures", &[("drain", &[SHARE]), ("failures", &["/values/attempts_per_job", SHARE])]),
    ("recovery", &[("recovery", &["/values/ready_seconds", "/values/dispatch_seconds"])]),
    ("durations", &[("duration", &["/values/efficiency"])]),
    ("fair", &[("drain", &["/jobs_per_second", "/params/keys"])]),
];
const COST: &str = "/cpu_seconds_per_million/server";
const SHARE: &str = "/values/share_of_ceiling";

fn args<'a>(workloads: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["bench"];
    args.extend(workloads.split_whitespace().chain(SMALL.split(' ')).chain(more.iter().copied()));
    args
}

/// Runs workloads, in a directory that is empty again afterwards, and gives their reports.
fn reports(workloads: &str, more: &[&str]) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let mut all = args(workloads, more);
    all.extend(["-o", "json"]);
    let output = command(directory.path(), &all).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(document["items"].take()).unwrap()
}

/// What bench/SCHEMA.md promises of a report.
fn assert_measured(report: &Value, store: &str) {
    let positive = |of: &Value, path: &str| of.pointer(path).and_then(Value::as_f64).is_some_and(|n| n > 0.0);
    let name = report["workload"].as_str().unwrap();
    assert_eq!((&report["schema"], &report["store"]["name"]), (&1.into(), &store.into()), "{report}");
    for path in ["/took_seconds", "/machine/cores", "/machine/memory_bytes", "/verified/jobs"] {
        assert!(positive(report, path), "{path} in {report}");
    }
    for path in
        ["/started_at", "/about", "/ganger/version", "/ganger/commit", "/machine/kernel", "/store/version"]
    {
        assert!(report.pointer(path).and_then(Value::as_str).is_some_and(|text| !text.is_empty()), "{path}");
    }
    assert_eq!(report["settings"]["payload_bytes"], 100);
    let (_, rows) = ROWS.iter().find(|(workload, _)| *workload == name).unwrap();
    for (row, paths) in *rows {
        let found = report["rows"].as_array().unwrap().iter().find(|found| found["name"] == *row);
        let found = found.unwrap_or_else(|| panic!("{name} has no row {row}: {report}"));
        for path in *paths {
            assert!(positive(found, path), "{name}: {path} in {found}");
        }
    }
    if ["drain", "enqueue", "failures"].contains(&name) {
        for path in ["/ceiling/jobs_per_second", "/ceiling/inserts_per_second", "/ceiling/one_us/p50"] {
            assert!(positive(report, path), "{name}: {path} in {report}");
        }
    }
}

fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["rows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()
}

#[test]
fn every_workload_measures_what_it_says_and_leaves_nothing_behind() {
    let reports = reports("", &["--rate", "100"]);
    let names: Vec<&str> = reports.iter().map(|report| report["workload"].as_str().unwrap()).collect();
    assert_eq!(names, ROWS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    reports.iter().for_each(|report| assert_measured(report, "sqlite"));
    let of = |name: &str| reports.iter().find(|report| report["workload"] == name).unwrap();
    assert!(of("drain")["ceiling"]["page_us"]["p50"].as_u64().unwrap() > 0);
    assert_eq!(of("drain")["verified"]["jobs"], 600);
    assert_eq!(row(of("steady"), "steady")["latency_us"]["recorded"]["count"], 100);
    assert_eq!(of("enqueue")["rows"].as_array().unwrap().len(), 8);
    assert_eq!(row(of("timers"), "timers")["latency_us"]["late"]["count"], 300);
}

/// With the log of the database beside it, the jobs that Redis buffers, and the loads as parts of a drain.
#[test]
fn a_database_is_measured_and_left_as_it_was() {
    let (postgres, redis) = (Postgres::start_with(Durability::None), Redis::start());
    let before = peek::databases(&postgres.url()).unwrap();
    let stores = ["--store", &postgres.url(), "--redis", &redis.url()];
    let reports = reports("drain enqueue steady recovery", &stores);
    reports.iter().for_each(|report| assert_measured(report, "postgres+redis"));
    let [drain, enqueue, steady, _] = reports.as_slice() else { panic!("{} reports", reports.len()) };
    for process in ["server", "worker", "loader", "database", "redis"] {
        assert!(row(drain, "drain")["cpu_seconds_per_million"][process].is_number(), "{process}: {drain}");
    }
    for bytes in [&row(drain, "drain")["store_bytes_per_job"], &drain["ceiling"]["store_bytes_per_job"]] {
        assert!(bytes.as_f64().unwrap() > 100.0, "{drain}");
    }
    assert!(row(enqueue, "buffered")["values"]["stored_per_second"].as_f64().unwrap() > 0.0);
    let loads: Vec<_> =
        steady["rows"].as_array().unwrap()[1..].iter().map(|row| &row["params"]["load"]).collect();
    assert_eq!(loads, [0.25, 0.5, 0.75]);
    assert_eq!(peek::databases(&postgres.url()).unwrap(), before);
}

/// What is not kept cannot be looked up: it is counted.
#[test]
fn a_queue_without_history_is_drained_and_counted() {
    let reports = reports("drain", &["--retention", "none"]);
    assert_measured(&reports[0], "sqlite");
    assert_eq!(reports[0]["verified"], serde_json::json!({ "jobs": 600, "how": "counted" }));
    assert_eq!(reports[0]["settings"]["retention"], "none");
}

#[test]
fn what_is_there_already_is_not_measured_again_unless_asked() {
    let directory = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let output =
            command(directory.path(), &args("ping", &[&["--out", "out"], more].concat())).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = std::fs::read_to_string(directory.path().join("out/ping.json")).unwrap();
        (serde_json::from_str::<Value>(&text).unwrap(), stderr(&output), stdout(&output))
    };
    let (first, ..) = run(&[]);
    assert_measured(&first, "sqlite");
    let (second, said, shown) = run(&[]);
    assert_eq!(second, first);
    assert!(
        said.contains("ping.json is there already") && shown.contains("enqueue to start, idle"),
        "{said}"
    );
    let (third, ..) = run(&["--again"]);
    assert_ne!(third["started_at"], first["started_at"]);
    std::fs::write(directory.path().join("out/ping.json"), "{").unwrap();
    let output = command(directory.path(), &args("ping", &["--out", "out"])).output().unwrap();
    assert!(code(&output) == 1 && stderr(&output).contains("--again"), "{}", stderr(&output));
}

/// Ctrl-C in the middle: no process and no file stays behind.
#[test]
fn a_benchmark_that_is_stopped_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let endless = ["bench", "steady", "--rate", "50", "--seconds", "600"];
    let mut running = command(directory.path(), &endless);
    let running = running.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let made = eventually("its crew is at work", || {
        let made = std::fs::read_dir(directory.path()).unwrap().next()?.unwrap().path();
        made.join("bench.log").exists().then_some(made)
    });
    // The server and the crew work in that directory, and nobody else does.
    eventually("both processes", || (processes_in(&made) == 2).then_some(()));
    let signalled = Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert!(stderr(&output).contains("--out"), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    eventually("all processes are gone", || (processes_in(&made) == 0).then_some(()));
}

/// Processes of the binary under test that work in a directory, removed or not.
fn processes_in(directory: &Path) -> usize {
    let works = |process: &Path| {
        let cwd = std::fs::read_link(process.join("cwd")).unwrap_or_default();
        let ours = std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe == binary());
        ours && cwd.to_string_lossy().trim_end_matches(" (deleted)") == directory.to_string_lossy()
    };
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter(|entry| works(&entry.path())).count()
}

#[test]
fn the_workloads_are_listed() {
    let directory = tempfile::tempdir().unwrap();
    let output = command(directory.path(), &["bench", "--list"]).output().unwrap();
    let listed: Vec<String> = stdout(&output)
        .lines()
        .skip(1)
        .filter_map(|line| Some(line.split_whitespace().next()?.into()))
        .collect();
    assert_eq!(listed, ROWS.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    let output = command(directory.path(), &["bench", "swim"]).output().unwrap();
    assert!(code(&output) == 2 && stderr(&output).contains("durations"), "{}", stderr(&output));
}

#[test]
fn more_workers_than_files_may_be_open_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 600; exec \"$0\" bench fleet --workers 5000 --jobs 100"]).arg(binary());
    let output = limited.current_dir(directory.path()).env_clear().output().unwrap();
    assert!(code(&output) == 2 && stderr(&output).contains("ulimit -n 5500"), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_store_that_cannot_be_measured_is_refused_without_telling_its_password() {
    let directory = tempfile::tempdir().unwrap();
    for more in [
        &["--store", "sqlite:data"][..],
        &["--redis", "redis://:hush@127.0.0.1:1"],
        &["--store", "mysql://u:hush@h/d"],
        &["--store", "postgres://u:hush@127.0.0.1:1/d"],
    ] {
        let output = command(directory.path(), &args("drain", more)).output().unwrap();
        assert!(code(&output) != 0 && !stderr(&output).contains("hush"), "{more:?}: {}", stderr(&output));
    }
}
