//! Traces: real processes send spans to a collector, and the log tells the story of the cluster.

mod collector;
mod common;

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use collector::Collector;
use common::{code, command, eventually, free_port, stderr, stdout, terminate};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;
use tempfile::TempDir;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";
/// A secret that looks like one: others are refused.
const KEY: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
/// One retry.
const SOON: &[&str] = &["--max-attempts", "2"];

fn caller() -> String {
    format!("00-{TRACE}-{SPAN}-01")
}

/// A process of ours whose log is kept in a file. Killed when dropped.
struct Kept {
    child: Child,
    url: String,
    log: PathBuf,
    directory: TempDir,
}

impl Kept {
    /// A service on a free port, with spans sent without delay.
    fn start(args: &[&str], variables: &[(&str, &str)]) -> Kept {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let data = directory.path().join("data");
        let mut all = vec![args[0], "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        all.extend_from_slice(&["-o", "json"]);
        all.extend_from_slice(&args[1..]);
        let child = command(directory.path(), &all)
            .env("OTEL_BSP_SCHEDULE_DELAY", "20")
            .envs(variables.iter().copied())
            .stdout(File::create(directory.path().join("out")).unwrap())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut kept = Kept { child, url: String::new(), log, directory };
        kept.url = eventually("it tells its address", || {
            let said = std::fs::read_to_string(kept.directory.path().join("out")).ok()?;
            let ready: Value = serde_json::from_str(said.lines().next()?).ok()?;
            ready["url"].as_str().map(str::to_owned)
        });
        eventually("it is ready", || kept.ganger(&["health"], &[]).status.success().then_some(()));
        kept
    }

    fn ganger(&self, args: &[&str], variables: &[(&str, &str)]) -> std::process::Output {
        let mut command = command(self.directory.path(), args);
        command.env("GANGER_URL", &self.url).env("GANGER_DATA", self.directory.path().join("data"));
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// Submits a job as part of the caller's trace.
    fn enqueue(&self, args: &[&str]) -> String {
        self.enqueue_in(&caller(), args)
    }

    fn enqueue_in(&self, traceparent: &str, args: &[&str]) -> String {
        let mut all = vec!["enqueue"];
        all.extend_from_slice(args);
        let output = self.ganger(&all, &[("TRACEPARENT", traceparent), ("TRACESTATE", "rojo=1")]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output).trim().to_owned()
    }

    fn ends(&self, job: &str) -> String {
        eventually(&format!("{job} ends"), || {
            let output = self.ganger(&["job", "get", job, "-o", "json"], &[]);
            let shown: Value = serde_json::from_slice(&output.stdout).ok()?;
            let state = shown["state"].as_str()?.to_owned();
            matches!(state.as_str(), "succeeded" | "dead" | "cancelled").then_some(state)
        })
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_first_attempt_is_a_child_of_the_caller_and_its_retry_a_root_with_a_link() {
    let collector = Collector::start();
    let dev = Kept::start(&["dev", "--worker", "2", "--otlp", &collector.url], &[]);
    let payload = ["fail", "-q", "mail", "-p", r#"{"times": 1, "message": "hush-hush"}"#];
    let job = dev.enqueue(&[&payload[..], SOON].concat());
    let attempts = collector.of(&job, "process mail", 2);
    let [first, second] = attempts.as_slice() else { panic!("{attempts:#?}") };
    assert_eq!((first.trace.as_str(), first.parent.as_str()), (TRACE, SPAN));
    assert_eq!((first.kind, first.service.as_str()), (SpanKind::Consumer, "ganger"));
    assert_eq!((first.failed, first.has("error.type")), (true, "error"));
    assert_eq!((first.links.len(), first.state.as_str()), (0, "rojo=1"));
    for (name, value) in [
        ("messaging.system", "ganger"),
        ("messaging.operation.type", "process"),
        ("messaging.destination.name", "mail"),
        ("ganger.job.kind", "fail"),
        ("ganger.job.attempt", "1"),
    ] {
        assert_eq!(first.has(name), value, "{name}");
    }
    assert_ne!(second.trace, TRACE);
    assert_eq!((second.parent.as_str(), second.links.as_slice()), ("", &[format!("{TRACE}/{SPAN}")][..]));
    assert_eq!((second.has("ganger.job.attempt"), second.failed), ("2", false));
    let enqueue = collector.one(&job, "enqueue mail");
    assert_eq!((enqueue.trace.as_str(), enqueue.parent.as_str()), (TRACE, SPAN));
    assert_eq!((enqueue.kind, enqueue.has("messaging.operation.type")), (SpanKind::Producer, "send"));
    let settled = collector.of(&job, "settle mail", 2);
    for (settle, process) in settled.iter().zip([first, second]) {
        assert_eq!((&settle.trace, &settle.parent), (&process.trace, &process.span));
        assert_eq!(settle.has("messaging.operation.type"), "settle");
    }
    let secret = collector.all().into_iter().find(|span| format!("{span:?}").contains("hush-hush"));
    assert!(secret.is_none(), "{secret:#?}");
}

/// Both wait for the same seconds.
#[test]
fn delayed_jobs_are_roots_with_a_link_and_occurrences_are_roots() {
    let collector = Collector::start();
    let dev = Kept::start(&["dev", "--worker", "2", "--otlp", &collector.url], &[]);
    let late = dev.enqueue(&["noop", "--delay", "10500ms"]);
    let made = dev.ganger(
        &["schedule", "create", "often", "--every", "1s", "--kind", "noop", "-q", "ticks"],
        &[("TRACEPARENT", &caller())],
    );
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let tick = eventually("the schedule fires", || {
        collector.all().into_iter().find(|span| span.name == "process ticks")
    });
    assert_eq!((tick.parent.as_str(), tick.links.len()), ("", 0));
    assert_ne!(tick.trace, TRACE);
    let late = collector.one(&late, "process default");
    assert_eq!((late.parent.as_str(), late.links.as_slice()), ("", &[format!("{TRACE}/{SPAN}")][..]));
    assert_ne!(late.trace, TRACE);
}

#[test]
fn a_server_and_a_worker_make_one_trace_and_hand_it_to_the_command() {
    let collector = Collector::start();
    let environment = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let server = Kept::start(&["server", "--allow-exec"], &environment);
    let mut worker = command(server.directory.path(), &["worker", "--allow-exec", "--threads", "2"])
        .env("GANGER_URL", &server.url)
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
        .envs(environment)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ran = server.ganger(&["run", "--", "sh", "-c", "echo $TRACEPARENT $GANGER_JOB_ID"], &[]);
    let said = stdout(&ran);
    let (traceparent, job) = said.trim().split_once(' ').expect("both are set");
    let (enqueue, process) = (collector.one(job, "enqueue default"), collector.one(job, "process default"));
    let _ = worker.kill();
    let _ = worker.wait();
    assert_eq!((enqueue.service.as_str(), process.service.as_str()), ("ganger-server", "ganger-worker"));
    assert_eq!((enqueue.parent.as_str(), &process.trace), ("", &enqueue.trace));
    assert_eq!(process.parent, enqueue.span, "without a caller, the submission is where it began");
    assert_eq!(traceparent, format!("00-{}-{}-01", process.trace, process.span));
}

#[test]
fn what_a_caller_does_not_record_is_not_recorded() {
    let collector = Collector::start();
    let dev = Kept::start(&["dev", "--worker", "1", "--otlp", &collector.url], &[]);
    let silent = dev.enqueue_in(&format!("00-{TRACE}-{SPAN}-00"), &["noop"]);
    assert_eq!(dev.ends(&silent), "succeeded");
    let rubbish = dev.enqueue_in("00-rubbish", &["noop"]);
    let (enqueue, process) =
        (collector.one(&rubbish, "enqueue default"), collector.one(&rubbish, "process default"));
    assert_eq!((enqueue.parent.as_str(), &process.parent), ("", &enqueue.span), "it is ignored");
    let of_silent = collector.all().into_iter().find(|span| span.has("messaging.message.id") == silent);
    assert!(of_silent.is_none(), "{of_silent:#?}");
}

/// The collector is away, comes, goes and comes again: jobs do not notice.
#[test]
fn work_goes_on_without_a_collector_and_spans_flow_when_it_is_there() {
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let url = format!("http://{address}");
    let small = [("OTEL_BSP_MAX_QUEUE_SIZE", "32"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "500")];
    let dev = Kept::start(&["dev", "--worker", "2", "--otlp", &url], &small);
    let import = (0..200).map(|_| "{\"kind\":\"noop\"}\n").collect::<String>();
    let file = dev.directory.path().join("jobs");
    std::fs::write(&file, import).unwrap();
    let output = dev.ganger(&["import", file.to_str().unwrap()], &[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    eventually("all jobs succeed", || {
        let output = dev.ganger(&["job", "list", "--state", "succeeded", "-o", "json"], &[]);
        (stdout(&output).matches("\"job_").count() >= 50).then_some(())
    });
    eventually("it is said that the collector is away", || {
        dev.log().contains("cannot send spans").then_some(())
    });
    let collector = Collector::on(address);
    eventually("the collector is noticed", || dev.log().contains("again; ").then_some(()));
    let job = dev.enqueue(&["noop"]);
    collector.one(&job, "process default");
    let log = dev.log();
    assert_eq!(log.matches("cannot send spans").count(), 1, "{log}");
    let back = log.lines().find(|line| line.contains("again; ")).unwrap();
    assert!(back.contains("were lost meanwhile") && !back.contains("; 0 were lost"), "{back}");
}

/// It takes connections and never says a word: neither jobs nor the end of the process wait for it.
#[test]
fn a_collector_that_never_answers_holds_up_neither_jobs_nor_the_stop() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut dev = Kept::start(&["dev", "--worker", "2", "--otlp", &url], &[("OTEL_BSP_MAX_QUEUE_SIZE", "4")]);
    for _ in 0..10 {
        let job = dev.enqueue(&["noop"]);
        assert_eq!(dev.ends(&job), "succeeded");
    }
    terminate(dev.child.id());
    let status = eventually("it stops", || dev.child.try_wait().unwrap());
    assert!(status.success(), "{status}: {}", dev.log());
    assert!(dev.log().contains("the collector did not take the last spans"), "{}", dev.log());
}

#[test]
fn an_address_that_cannot_be_used_is_refused_and_one_of_the_platform_is_not() {
    let output = common::ganger(&["dev", "--otlp", "collector:4317"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("http://HOST:4317"), "{}", stderr(&output));
    let platform =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")];
    let dev = Kept::start(&["dev"], &platform);
    assert!(dev.log().contains("only grpc is spoken here"), "{}", dev.log());
}

/// Secrets in payloads, results, errors, addresses and tokens; every line is JSON; and the story can be searched.
#[test]
fn the_log_tells_the_story_as_json_and_keeps_secrets_out() {
    let collector = Collector::start();
    let variables = [
        ("GANGER_LOG", "debug"),
        ("GANGER_TOKEN", "tok-hush-hush"),
        ("GANGER_JWT_SECRET", KEY),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hdr-hush-hush"),
    ];
    let dev = Kept::start(&["dev", "--worker", "2", "--log", "json", "--otlp", &collector.url], &variables);
    let secret = r#"{"times": 9, "message": "err-hush-hush"}"#;
    let job = dev.enqueue(&[&["fail", "-q", "mail", "-p", secret], SOON].concat());
    assert_eq!(dev.ends(&job), "dead");
    let echoed = dev.enqueue(&["echo", "-p", r#"{"password": "pay-hush-hush"}"#]);
    assert_eq!(dev.ends(&echoed), "succeeded");
    let mut worker =
        command(dev.directory.path(), &["worker", "--threads", "1", "--name", "mortal", "--ttl", "2s"])
            .env("GANGER_URL", &dev.url)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
    let line = |what: &str, is: &dyn Fn(&Value) -> bool| -> Value {
        eventually(what, || {
            let log = dev.log();
            log.lines().filter_map(|line| serde_json::from_str(line).ok()).find(|line| is(line))
        })
    };
    let says = |line: &Value, text: &str| line["message"].as_str().is_some_and(|said| said.contains(text));
    let came = line("the worker came", &|line| says(line, "mortal is connected"));
    worker.kill().unwrap();
    worker.wait().unwrap();
    let lost = line("the worker is lost", &|line| says(line, "mortal is lost"));
    assert_eq!((&came["worker.id"], came["level"].as_str()), (&lost["worker.id"], Some("INFO")));
    assert!(lost["worker.id"].as_str().is_some_and(|id| id.starts_with("wrk_")), "{lost}");
    let died = line("the job died", &|line| says(line, "died"));
    assert_eq!(
        (&died["job.id"], &died["queue"], &died["kind"], &died["trace_id"], &died["attempt"]),
        (&job.into(), &"mail".into(), &"fail".into(), &TRACE.into(), &2.into())
    );
    line("it leads", &|line| says(line, "leads in term"));
    line("it listens", &|line| says(line, "listens on"));
    let log = dev.log();
    for line in log.lines() {
        let read: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(read["timestamp"].is_string() && read["level"].is_string(), "{line}");
    }
    let told = log.lines().find(|line| line.contains("hush-hush") || line.contains(KEY));
    assert_eq!(told, None);
}
