//! `deploy/compose.yaml`, its secrets and its tokens.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_yaml_ng::Value;

use crate::common::{self, Instance, code, eventually, stderr, stdout};
use crate::files::{are_settings, documents, is_a_command, keys, read, root, text, texts};

const FILE: &str = "deploy/compose.yaml";
/// Services without a check of their health, and why: one ends, the other has no port to ask.
const UNCHECKED: [&str; 2] = ["tokens", "python-worker"];
/// Folders that belong to the dashboards; where one is there, it must be whole.
const APART: [&str; 2] = ["./prometheus", "./grafana"];

fn compose() -> Value {
    documents(FILE).remove(0)
}

fn services(file: &Value) -> Vec<(String, &Value)> {
    keys(&file["services"]).into_iter().map(|name| (name.clone(), &file["services"][name.as_str()])).collect()
}

/// A value as compose passes it on: variables filled in, doubled dollars made single.
fn filled(value: &str, secrets: &str) -> String {
    let mut result = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            result.push('$');
            rest = after;
            continue;
        }
        let (inner, after) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).expect("${…}");
        let name = inner.split(':').next().unwrap();
        let given = secrets.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let default = inner.split_once(":-").map(|(_, default)| default);
        result.push_str(given.or(default).unwrap_or_else(|| panic!("nothing sets {name}")));
        rest = after;
    }
    result + rest
}

fn secrets() -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(".env");
    make_secrets(&file);
    std::fs::read_to_string(file).unwrap()
}

fn make_secrets(file: &Path) -> Output {
    let made = Command::new(root().join("scripts/secrets")).arg(file).output().unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    made
}

fn variables(service: &Value, secrets: &str) -> Vec<(String, String)> {
    let environment = &service["environment"];
    keys(environment)
        .into_iter()
        .map(|name| (name.clone(), filled(text(environment, &[&name]), secrets)))
        .collect()
}

#[test]
fn docker_itself_understands_the_file_where_it_is_there() {
    let version = Command::new("docker").args(["compose", "version"]).output();
    if !version.is_ok_and(|said| said.status.success()) {
        eprintln!("skipped: docker compose is not here; the other tests of this file read it instead");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(".env");
    make_secrets(&file);
    let config = |args: &[&str]| {
        let mut docker = Command::new("docker");
        docker.arg("compose").arg("--file").arg(root().join(FILE)).args(args).args(["config", "--quiet"]);
        docker
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", dir.path())
            .output()
            .unwrap()
    };
    let read = config(&["--env-file", file.to_str().unwrap()]);
    assert!(read.status.success(), "{}", stderr(&read));
    assert!(!config(&["--env-file", "/dev/null"]).status.success(), "without secrets nothing starts");
}

#[test]
fn every_service_is_confined_restarted_and_asked_how_it_is() {
    let file = compose();
    for (name, service) in services(&file) {
        assert!(["unless-stopped", "on-failure"].contains(&text(service, &["restart"])), "{name}");
        assert_eq!(service["read_only"], Value::Bool(true), "{name}");
        assert_eq!(texts(&service["cap_drop"]), ["ALL"], "{name}");
        assert!(texts(&service["security_opt"]).contains(&"no-new-privileges:true".to_owned()), "{name}");
        assert!(!texts(&service["tmpfs"]).is_empty(), "{name} has nowhere to put a temporary file");
        let checked = service["healthcheck"]["test"].is_sequence();
        assert_eq!(checked, !UNCHECKED.contains(&name.as_str()), "{name}");
        assert!(service.get("container_name").is_none(), "{name} could not be scaled");
        let image = text(service, &["image"]);
        assert!(image.contains(':') && !image.ends_with(":latest"), "{name}: {image} is not pinned");
        if let Some(dockerfile) = service["build"]["dockerfile"].as_str() {
            assert!(root().join(dockerfile).is_file(), "{dockerfile}");
        }
        for other in keys(&service["depends_on"]) {
            assert!(
                file["services"].get(other.as_str()).is_some(),
                "{name} waits for {other}, which is not there"
            );
            let condition = text(service, &["depends_on", &other, "condition"]);
            let healthy = condition != "service_healthy"
                || file["services"][other.as_str()]["healthcheck"].is_mapping();
            assert!(healthy, "{name} waits for the health of {other}, which has none");
        }
        for network in texts(&service["networks"]) {
            assert!(keys(&file["networks"]).contains(&network), "{name}: {network}");
        }
    }
    assert_eq!(file["networks"]["inside"]["internal"], Value::Bool(true));
    for database in ["postgres", "redis"] {
        assert!(file["services"][database]["ports"].is_null(), "{database} is reached from inside only");
    }
}

#[test]
fn every_file_and_volume_that_is_mounted_is_there() {
    let file = compose();
    for (name, service) in services(&file) {
        for mount in texts(&service["volumes"]) {
            let source = mount.split(':').next().unwrap();
            if !source.starts_with('.') {
                assert!(keys(&file["volumes"]).contains(&source.to_owned()), "{name}: {source}");
                continue;
            }
            assert!(mount.ends_with(":ro"), "{name} could change {source}");
            let apart = APART.iter().find(|folder| source.starts_with(*folder));
            if apart.is_some_and(|folder| !root().join("deploy").join(folder).exists()) {
                eprintln!("skipped: {source} of {name} is not here");
                continue;
            }
            assert!(
                root().join("deploy").join(source).exists(),
                "{name} mounts {source}, which is not there"
            );
        }
    }
}

#[test]
fn every_command_and_every_setting_is_understood_by_the_binary() {
    let (file, secrets) = (compose(), secrets());
    let mut looked = 0;
    for (name, service) in services(&file) {
        if service["image"] == "ganger:local" && service["entrypoint"].is_null() {
            is_a_command(&texts(&service["command"]));
            let health = texts(&service["healthcheck"]["test"]);
            assert_eq!(health[..2], ["CMD", "ganger"], "{name}");
            is_a_command(&health[2..]);
            looked += 1;
        }
        are_settings(&variables(service, &secrets));
    }
    assert_eq!(looked, 3, "two servers and the workers");
}

#[test]
fn the_servers_listen_where_their_ports_are_published_and_on_loopback() {
    let (file, secrets) = (compose(), secrets());
    let server = &file["services"]["server-1"];
    let variables = variables(server, &secrets);
    let listen = &variables.iter().find(|(name, _)| name == "GANGER_LISTEN").unwrap().1;
    let published: Vec<String> = texts(&server["ports"]).iter().map(|port| filled(port, &secrets)).collect();
    for port in ["8080", "8000", "9000", "8081"] {
        assert!(listen.split(',').any(|address| address == format!("0.0.0.0:{port}")), "{listen}");
        assert!(published.contains(&format!("127.0.0.1:{port}:{port}")), "{published:?}");
    }
    let mut taken: Vec<String> = Vec::new();
    for (name, service) in services(&file) {
        for port in texts(&service["ports"]).iter().map(|port| filled(port, &secrets)) {
            let host = port.rsplit_once(':').unwrap().0.to_owned();
            assert!(host.starts_with("127.0.0.1:"), "{name} publishes {port} to the network");
            assert!(!taken.contains(&host), "{host} is published twice");
            taken.push(host);
        }
    }
}

#[test]
fn no_secret_is_in_the_file_and_each_must_be_given() {
    let file = compose();
    for (name, service) in services(&file) {
        let environment = &service["environment"];
        for variable in keys(environment) {
            let value = text(environment, &[&variable]);
            let secret = ["PASSWORD", "SECRET", "STORE", "REDIS"].iter().any(|word| variable.contains(word));
            if secret && !["GANGER_TOKEN_FILE"].contains(&variable.as_str()) {
                assert!(value.contains("${"), "{name}: {variable} is written down");
                assert!(
                    value.contains(":?") || value == "${REDIS_PASSWORD}",
                    "{name}: {variable} has a default"
                );
            }
        }
    }
    assert!(read(".gitignore").lines().any(|line| line == "*.env"), "deploy/.env could be committed");
}

#[test]
fn secrets_are_fresh_private_and_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(".env");
    make_secrets(&file);
    let first = std::fs::read_to_string(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(stderr(&make_secrets(&file)).contains("stays as it is"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    let values: Vec<&str> =
        first.lines().filter_map(|line| line.split_once('=')).map(|(_, value)| value).collect();
    assert!(values.len() >= 4 && values.iter().all(|value| value.len() == 64), "{first}");
    let mut different = values.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), values.len(), "each its own");
    assert_ne!(secrets(), first, "and others for others");
    for asked in read(FILE).split("${").skip(1).filter_map(|rest| rest.split_once(":?")).map(|(name, _)| name)
    {
        assert!(first.contains(&format!("{asked}=")), "{asked} is asked for and not made");
    }
}

/// The script that the service `tokens` runs, against a server that asks.
#[test]
fn the_tokens_are_made_once_and_may_no_more_than_they_must() {
    let server = Instance::start("server", &["--auth", "on"]);
    let dir = server.data.parent().unwrap().to_owned();
    let bin = dir.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(common::binary(), bin.join("ganger")).unwrap();
    let (worker, metrics) = (dir.join("worker.token"), dir.join("metrics.token"));
    let make = || {
        let mut script = Command::new("sh");
        script.arg(root().join("deploy/tokens.sh")).env_clear();
        script.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("HOME", &dir);
        script.env("GANGER_URL", &server.url).env("GANGER_TOKEN_FILE", server.data.join("admin-token"));
        let made = script.env("WORKER_TOKEN", &worker).env("METRICS_TOKEN", &metrics).output().unwrap();
        assert!(made.status.success(), "{}", stderr(&made));
        stdout(&made)
    };
    assert!(make().contains("made a token for workers"));
    let first = std::fs::read_to_string(&worker).unwrap();
    assert!(make().contains("the token of workers is there already"));
    assert_eq!(std::fs::read_to_string(&worker).unwrap(), first);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&worker), mode(&metrics)), (0o400, 0o444));
    let with = |token: &Path, args: &[&str]| {
        let mut command = common::command(&dir, args);
        code(&command.env("GANGER_URL", &server.url).env("GANGER_TOKEN_FILE", token).output().unwrap())
    };
    assert_eq!(with(&worker, &["enqueue", "noop"]), 0, "a worker enqueues into the queues that it serves");
    assert_eq!(with(&worker, &["queue", "pause", "default"]), 4, "and nothing else");
    assert_eq!(with(&metrics, &["stats"]), 0, "what Prometheus has may read");
    assert_eq!(with(&metrics, &["queue", "pause", "default"]), 4, "and nothing else");
    let mut command = common::command(&dir, &["worker", "--threads", "1"]);
    command.env("GANGER_URL", &server.url).env("GANGER_TOKEN_FILE", &worker);
    let _working = common::Process(command.stderr(std::process::Stdio::null()).spawn().unwrap());
    let id = server.enqueue(&["noop"]);
    eventually("the worker works", || {
        (server.json(&["job", "get", &id])["state"] == "succeeded").then_some(())
    });
}

/// The servers of the compose file ask Prometheus for its token; the file that others use as it is has that line switched off.
#[test]
fn prometheus_is_given_its_token_and_scrapes_both_servers() {
    let path = root().join("deploy/prometheus/prometheus.yml");
    if !path.exists() {
        eprintln!("skipped: deploy/prometheus is not here");
        return;
    }
    let file = compose();
    let script = texts(&file["services"]["prometheus"]["entrypoint"])[2].clone();
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made.yml");
    let sed = script
        .split(" && ")
        .next()
        .unwrap()
        .replace("/etc/prometheus/prometheus.yml", path.to_str().unwrap());
    let sed = sed.replace("/tmp/prometheus.yml", made.to_str().unwrap());
    assert!(Command::new("sh").args(["-ec", &sed]).status().unwrap().success());
    let made: Value = serde_yaml_ng::from_str(&std::fs::read_to_string(made).unwrap()).unwrap();
    let scrape = &made["scrape_configs"][0];
    assert_eq!(text(scrape, &["authorization", "credentials_file"]), "/run/ganger-metrics/prometheus.token");
    let targets = texts(&scrape["static_configs"][0]["targets"]);
    assert_eq!(targets, ["server-1:8080", "server-2:8080"]);
    assert_eq!(texts(&made["rule_files"]), ["/etc/prometheus/rules/*.yml"]);
}
