//! The benchmark runs to its end and finds no fault. How fast it was is no test's business.

mod common;

use common::{code, command, stderr};
use serde_json::Value;

#[test]
fn a_small_benchmark_measures_everything_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let args =
        ["bench", "--jobs", "2000", "--single", "100", "--starts", "10", "--threads", "2", "-o", "json"];
    let output = command(directory.path(), &args).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for path in [
        "/bulk/jobs_per_second",
        "/bulk/request/p99_us",
        "/single/jobs_per_second",
        "/drain/jobs_per_second",
        "/start/start/p50_us",
        "/drain/commits",
        "/ceiling/jobs_per_second",
        "/ceiling/one/p50_us",
        "/ceiling/page/p50_us",
    ] {
        assert!(report.pointer(path).and_then(Value::as_f64).is_some_and(|n| n > 0.0), "{path} in {report}");
    }
    assert_eq!(report["drain"]["jobs"], 2000);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
