//! The compatible doors of the real binary: the load scripts, the lines that people typed, and a server that is killed meanwhile.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{Instance, code, eventually, free_port, stderr, stdout};
use ganger_proto::dts::client_service_client::ClientServiceClient;
use ganger_proto::dts::{FileChunk, GetStatusRequest, ScheduleTaskRequest};
use serde_json::Value;
use tonic::Request;

/// `ganger dev` whose demonstration workloads are a hundredth of what they are.
fn dev(args: &[&str], data: &Path, listen: &str) -> Instance {
    Instance::with("dev", args, data, listen, &[("GANGER_DEMO_SCALE", Path::new("0.01"))])
}

fn curl(args: &[&str]) -> String {
    let output = Command::new("curl").args(["-sS", "--max-time", "60"]).args(args).output();
    let output = output.expect("there is a curl");
    assert!(output.status.success(), "curl {args:?}: {}", stderr(&output));
    stdout(&output)
}

fn script(name: &str, url: &str) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name);
    Command::new("bash").arg(path).arg(url).output().expect("there is a bash")
}

/// One sample of the metrics, as a number.
fn sample(metrics: &str, name: &str) -> Option<f64> {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok())
}

#[test]
fn the_load_scripts_run_and_the_dashboards_fill() {
    let directory = tempfile::tempdir().unwrap();
    let dev = dev(&["--worker", "8", "--worker", "4"], &directory.path().join("data"), "127.0.0.1:0");
    for (name, sent) in [
        ("send_failing_jobs.sh", 10),
        ("send_cpu_intensive_jobs.sh", 20),
        ("send_io_intensive_jobs.sh", 20),
        ("send_network_intensive_jobs.sh", 20),
        ("high_volume_stress_test.sh", 200),
    ] {
        let output = script(name, &dev.url);
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        assert!(stdout(&output).contains(&format!("sent {sent} jobs")), "{name}: {}", stdout(&output));
    }
    let metrics = eventually("every job is over", || {
        let metrics = curl(&[&format!("{}/metrics", dev.url)]);
        let over = |status: &str| sample(&metrics, &format!("jobs_total{{status=\"{status}\"}}"));
        (over("completed") == Some(260.0) && over("failed") == Some(10.0)).then_some(metrics)
    });
    for (name, value) in [
        ("jobs_total{status=\"timeout\"}", 0.0),
        ("jobs_in_queue", 0.0),
        ("jobs_in_dlq", 10.0),
        ("workers_active{state=\"available\"}", 2.0),
        ("workers_active{state=\"busy\"}", 0.0),
        ("workers_active{state=\"unavailable\"}", 0.0),
        ("job_retry_attempts_count{reason=\"error\"}", 40.0),
        ("dts_lease_timeouts_total", 0.0),
    ] {
        assert_eq!(sample(&metrics, name), Some(value), "{name} in\n{metrics}");
    }
    let ran = ["local-1", "local-2"].map(|worker| {
        let name = format!("job_processing_duration_seconds_count{{worker_url=\"{worker}\"}}");
        sample(&metrics, &name).unwrap_or_default()
    });
    assert_eq!(ran.iter().sum::<f64>(), 300.0, "each attempt was observed once: {ran:?}");
    assert!(ran.iter().all(|ran| *ran > 0.0), "both workers took their share: {ran:?}");

    let dead = dev.json(&["job", "list", "--state", "dead"]);
    let dead = dead["items"].as_array().unwrap();
    assert_eq!(dead.len(), 10);
    for job in dead {
        assert_eq!((&job["attempt"], &job["max_attempts"]), (&4.into(), &4.into()), "{job}");
        let attempts = dev.json(&["job", "attempts", job["id"].as_str().unwrap()]);
        for attempt in attempts["items"].as_array().unwrap() {
            assert_eq!(attempt["error"], "Invalid job content", "{attempt}");
        }
    }
}

/// What the kinds return shows that they did what they say.
#[test]
fn the_lines_of_the_readme_do_what_they_did() {
    let directory = tempfile::tempdir().unwrap();
    let dev = dev(&["--worker", "4"], &directory.path().join("data"), "127.0.0.1:0");
    for (name, results) in [
        ("cpu_intensive", &["hashes", "digest"][..]),
        ("io_intensive", &["lines", "bytes"]),
        ("mixed_workload", &["hashes", "lines"]),
        ("network_task", &["requests", "statuses"]),
        ("default", &["speed", "slept_ms"]),
        ("image_processing", &["speed", "slept_ms"]),
    ] {
        let answer = curl(&[
            "-i",
            "-X",
            "POST",
            &format!("{}/submit_job", dev.url),
            "-H",
            "Content-Type: application/json",
            "-d",
            &format!("{{\"name\":\"{name}\",\"payload\":\"Job of {name}\"}}"),
        ]);
        assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nJob created successfully"), "{answer}");
        let id = answer.lines().find_map(|line| line.strip_prefix("x-job-id: ")).expect("it names the job");
        let job = dev.json(&["job", "wait", id, "--timeout", "60s"]);
        assert_eq!(job["state"], "succeeded", "{name}: {job}");
        for result in results {
            assert!(!job["result"][result].is_null(), "{name} tells its {result}: {job}");
        }
    }
    let answer = curl(&["-i", "-X", "POST", &format!("{}/submit_job", dev.url), "-d", "{not json"]);
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nInvalid request payload"), "{answer}");
}

/// As they are typed, one after the other; the token of the first that gives one goes to those that want one.
#[test]
fn every_curl_line_of_the_page_about_the_doors_works() {
    let directory = tempfile::tempdir().unwrap();
    let dev = dev(&["--worker", "4"], &directory.path().join("data"), "127.0.0.1:0");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compat.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut token = String::new();
    let mut said = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("curl ")) {
        let line = line.replace("http://localhost:8080", &dev.url);
        let output = Command::new("sh")
            .args(["-c", &format!("{line} -sS --max-time 60 -w '\\n%{{http_code}}'")])
            .env("ACCESS_TOKEN", &token)
            .output()
            .unwrap();
        let text = stdout(&output);
        let (body, status) = text.rsplit_once('\n').unwrap_or_else(|| panic!("{line}: {}", stderr(&output)));
        assert!(status.starts_with('2'), "{line}: {status} {body}");
        if let Some(given) =
            serde_json::from_str::<Value>(body).ok().and_then(|v| v.get("access_token").cloned())
        {
            token = given.as_str().unwrap().to_owned();
        }
        said.push(format!("{status} {body}"));
    }
    assert_eq!(said.len(), 6, "{said:#?}");
    assert_eq!(said[0], "201 Job created successfully");
    assert!(said[1].starts_with("202 ") && said[1].contains("\"type\":\"LargeArraySum\""), "{}", said[1]);
    assert!(said[3].starts_with("201 ") && said[3].contains("refresh_token"), "{}", said[3]);
    assert_eq!(said[4], r#"200 {"message":"Job added to queue"}"#);
    assert_eq!(said[5], "200 []");
}

#[test]
fn what_came_by_a_door_survives_a_server_that_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let listen = format!("127.0.0.1:{}", free_port());
    let mut first = dev(&["--worker", "2"], &data, &listen);
    let submit = format!("{}/submit_job", first.url);
    for n in 0..20 {
        let body = format!("{{\"name\":\"default\",\"payload\":\"{n}\"}}");
        assert_eq!(curl(&["-X", "POST", &submit, "-d", &body]), "Job created successfully");
    }
    first.kill();
    let second = dev(&["--worker", "8"], &data, &listen);
    eventually("every job succeeds", || {
        let jobs = second.json(&["job", "list", "--state", "succeeded", "--limit", "50"]);
        (jobs["items"].as_array().unwrap().len() == 20).then_some(())
    });
}

#[test]
fn a_server_listens_on_several_addresses_and_doors_can_be_switched_off() {
    let other = format!("127.0.0.1:{}", free_port());
    let dev = Instance::start("dev", &["--listen", &other, "--compat", "none", "--worker", "1"]);
    assert_eq!(curl(&[&format!("http://{other}/livez")]), "ok\n");
    let status = ["-o", "/dev/null", "-w", "%{http_code}"];
    let ask = |path: &str| curl(&[&status[..], &["-d", "{}", &format!("http://{other}{path}")]].concat());
    assert_eq!((ask("/submit_job").as_str(), ask("/v1/jobs").as_str()), ("404", "422"));
    assert!(!curl(&[&format!("{}/metrics", dev.url)]).contains("jobs_in_dlq"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_and_scripts_run_for_whoever_has_the_token() {
    let dev = tokio::task::spawn_blocking(Instance::dev).await.unwrap();
    let token = std::fs::read_to_string(dev.data.join("exec-token")).unwrap();
    let with_token = |metadata: &mut tonic::metadata::MetadataMap| {
        metadata.insert("x-ganger-exec-token", token.trim().parse().unwrap());
    };
    let mut client = ClientServiceClient::connect(dev.url.clone()).await.unwrap();
    let written = dev.data.join("written");
    let command = format!("echo by a task > {}", written.display());
    let mut task = Request::new(ScheduleTaskRequest { scheduled_at: "2020-01-01T00:00:00Z".into(), command });
    with_token(task.metadata_mut());
    let task = client.schedule_task(task).await.unwrap().into_inner();
    let script = b"#!/bin/sh -e\necho \"by a script\"\n".to_vec();
    let chunk = FileChunk { filename: "hello.sh".into(), content: script, is_last: true };
    let mut file = Request::new(futures::stream::iter([chunk]));
    with_token(file.metadata_mut());
    let file = client.transfer_file(file).await.unwrap().into_inner();
    for id in [&task.task_id, &file.file_id] {
        let id = id.clone();
        let dev = &dev;
        tokio::task::block_in_place(|| dev.json(&["job", "wait", &id, "--timeout", "60s"]));
        let status = client.get_status(GetStatusRequest { task_id: id }).await.unwrap().into_inner();
        assert!(!status.completed_at.is_empty() && !status.started_at.is_empty(), "{status:?}");
    }
    assert_eq!(std::fs::read_to_string(written).unwrap(), "by a task\n");
    let result: Value = tokio::task::block_in_place(|| dev.json(&["job", "get", &file.file_id]));
    assert_eq!(result["result"]["stdout"], "by a script\n", "{result}");
}

#[test]
fn a_worker_tells_what_it_runs_and_cancels_it() {
    let server = Instance::server();
    let health = format!("127.0.0.1:{}", free_port());
    let _worker = server.worker(&["start", "--threads", "2", "--health", &health]);
    let at = |path: &str| format!("http://{health}{path}");
    let id = server.enqueue(&["sleep", "-p", "{\"seconds\":600}"]);
    eventually("it runs", || {
        let shown = Command::new("curl").args(["-sf", &at(&format!("/jobs/{id}"))]).output().unwrap();
        shown.status.success().then_some(())
    });
    assert_eq!(curl(&[&at("/livez")]), "ok\n");
    assert_eq!(curl(&[&at("/readyz")]), "ok\n");
    let metrics = curl(&[&at("/metrics")]);
    for (name, value) in [
        ("ganger_worker_jobs_running", 1.0),
        ("ganger_worker_threads", 2.0),
        ("ganger_worker_threads_used", 1.0),
        ("ganger_worker_session_open", 1.0),
        ("ganger_worker_attempts_started_total", 1.0),
    ] {
        assert_eq!(sample(&metrics, name), Some(value), "{metrics}");
    }
    let status = ["-o", "/dev/null", "-w", "%{http_code}", "-X", "POST"];
    let post = |more: &[&str]| curl(&[&status[..], more].concat());
    let cancel = at(&format!("/jobs/{id}:cancel"));
    assert_eq!(post(&["-H", "Origin: http://evil.example", &cancel]), "403", "a page cannot");
    assert_eq!(post(&["-H", "Host: evil.example", &cancel]), "403");
    assert_eq!(post(&[&at("/jobs/nonsense:cancel")]), "404");
    assert_eq!(post(&[&cancel]), "202");
    eventually("the job is cancelled", || {
        (server.json(&["job", "get", &id])["state"] == "cancelled").then_some(())
    });
    eventually("it counts the end", || {
        let name = "ganger_worker_attempts_ended_total{outcome=\"cancelled\"}";
        (sample(&curl(&[&at("/metrics")]), name) == Some(1.0)).then_some(())
    });
}
