//! A server that asks who calls, from the command line: the first token, roles, restarts, a worker.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{Instance, code, command, eventually, stderr, stdout};
use serde_json::Value;

/// A server that asks, on a data directory.
fn asking(data: &Path, listen: &str) -> Instance {
    Instance::with("server", &["--auth", "on"], data, listen, &[])
}

/// `ganger` for that server, showing that token, if any.
fn with_token(instance: &Instance, token: &str, args: &[&str]) -> Command {
    let mut command = instance.command(args);
    // Not the one beside the data, which the harness would find.
    command.env("GANGER_TOKEN_FILE", "/dev/null");
    if !token.is_empty() {
        command.env("GANGER_TOKEN", token);
    }
    command
}

fn said(output: &Output) -> Value {
    assert_eq!(code(output), 0, "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_first_token_is_for_its_owner_and_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut server = asking(&data, "127.0.0.1:0");
    let path = data.join("admin-token");
    let token = eventually("the first token", || std::fs::read_to_string(&path).ok());
    let token = token.trim().to_owned();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = with_token(&server, "", &["job", "list"]).output().unwrap();
    assert_eq!(code(&refused), 4, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("401 unauthenticated"), "{}", stderr(&refused));
    eventually("the token holds", || {
        let output = with_token(&server, &token, &["job", "list"]).output().unwrap();
        (code(&output) == 0).then_some(())
    });
    let made = with_token(&server, &token, &["token", "create", "ci", "--role", "submitter", "-o", "json"]);
    let made = said(&{ made }.output().unwrap());
    let ci = made["token"].as_str().unwrap().to_owned();
    server.kill();
    let server = asking(&data, "127.0.0.1:0");
    let job = with_token(&server, &ci, &["enqueue", "echo", "-o", "json"]).output().unwrap();
    assert!(said(&job)["id"].is_string());
    let pause = with_token(&server, &ci, &["queue", "pause", "default"]).output().unwrap();
    assert_eq!(code(&pause), 4, "{}", stderr(&pause));
    assert!(stderr(&pause).contains("403 forbidden"), "{}", stderr(&pause));
    let who = said(&with_token(&server, &ci, &["token", "whoami", "-o", "json"]).output().unwrap());
    assert!(who["who"].as_str().unwrap().starts_with("token:"), "{who}");
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), token, "it was written once");
}

#[test]
fn users_and_tokens_are_made_listed_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let server = asking(&data, "127.0.0.1:0");
    let token = eventually("the first token", || std::fs::read_to_string(data.join("admin-token")).ok());
    let token = token.trim().to_owned();
    let ask = |args: &[&str]| with_token(&server, &token, args).output().unwrap();
    eventually("the token holds", || (code(&ask(&["token", "list"])) == 0).then_some(()));
    let password = dir.path().join("password");
    std::fs::write(&password, "correct horse battery\n").unwrap();
    let file = password.to_str().unwrap();
    let ada = said(&ask(&["user", "add", "ada", "--role", "viewer", "--password-file", file, "-o", "json"]));
    assert_eq!((&ada["name"], &ada["role"]), (&"ada".into(), &"viewer".into()));
    let ada = said(&ask(&["user", "set", "ada", "--role", "operator", "-q", "mail*", "-o", "json"]));
    assert_eq!((&ada["role"], &ada["queues"][0]), (&"operator".into(), &"mail*".into()));
    assert!(stdout(&ask(&["user", "list"])).contains("operator"));
    let again = ask(&["user", "add", "ada", "--role", "viewer", "--password-file", file]);
    assert!(stderr(&again).contains("409 user_exists"), "{}", stderr(&again));
    assert_eq!(code(&ask(&["user", "remove", "ada"])), 0);
    let made = said(&ask(&[
        "token",
        "create",
        "w",
        "--role",
        "worker",
        "--rate",
        "5",
        "--expires-in",
        "1h",
        "-o",
        "json",
    ]));
    let (id, worker) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    assert!(!stdout(&ask(&["token", "list"])).contains(worker));
    assert_eq!(code(&ask(&["token", "revoke", worker])), 0, "the whole token will do as well");
    assert!(stderr(&ask(&["token", "revoke", id])).contains("404 no_such_token"));
    assert_ne!(code(&ask(&["token", "create", "x", "--role", "king"])), 0);
    let log = said(&ask(&["audit", "-o", "json"]));
    let told: Vec<&str> =
        log["items"].as_array().unwrap().iter().filter_map(|e| e["target"].as_str()).collect();
    assert!(told.contains(&"user ada, removed") && told.contains(&"user ada"), "{told:?}");
    assert!(stdout(&ask(&["audit", "--target", "user ada"])).contains("POST /v1/users"));
}

/// It says once what to do, and does not hammer the server.
#[test]
fn a_worker_that_is_not_let_in_says_what_to_do() {
    use std::io::{BufRead as _, BufReader};
    let dir = tempfile::tempdir().unwrap();
    let server = asking(&dir.path().join("data"), "127.0.0.1:0");
    let mut worker = with_token(&server, "gng_nobody_nothing", &["worker", "--threads", "1"]);
    let mut worker = worker.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(worker.stderr.take().unwrap()).lines().map_while(Result::ok);
    let told = lines.find(|line| line.contains("does not let this worker in")).unwrap();
    assert!(told.contains("ganger token create") && told.contains("GANGER_TOKEN"), "{told}");
    let _ = worker.kill();
    let _ = worker.wait();
}

/// A worker with its own token does a job; the server is killed under it, and it goes on.
#[test]
fn a_worker_shows_its_token() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let listen = format!("127.0.0.1:{}", common::free_port());
    let mut server = asking(&data, &listen);
    let token = eventually("the first token", || std::fs::read_to_string(data.join("admin-token")).ok());
    let token = token.trim().to_owned();
    let ask = |server: &Instance, args: &[&str]| with_token(server, &token, args).output().unwrap();
    eventually("the token holds", || (code(&ask(&server, &["token", "list"])) == 0).then_some(()));
    let made = said(&ask(&server, &["token", "create", "w", "--role", "worker", "-o", "json"]));
    let worker_token = made["token"].as_str().unwrap().to_owned();
    let mut worker = with_token(&server, &worker_token, &["worker", "--threads", "1", "--name", "w1"]);
    let mut worker = worker.spawn().unwrap();
    let run = |server: &Instance| {
        let job = said(&ask(server, &["enqueue", "echo", "--payload", "7", "-o", "json"]));
        let id = job["id"].as_str().unwrap().to_owned();
        eventually("the job is done", || {
            let seen = ask(server, &["job", "get", &id, "-o", "json"]);
            (code(&seen) == 0 && said(&seen)["state"] == "succeeded").then_some(())
        });
    };
    run(&server);
    server.kill();
    let server = asking(&data, &listen);
    run(&server);
    let _ = worker.kill();
    let _ = worker.wait();
}

#[test]
fn a_server_that_others_reach_asks_or_does_not_start() {
    let dir = tempfile::tempdir().unwrap();
    let output = command(dir.path(), &["server", "--auth", "off", "--listen", "0.0.0.0:0", "--data", "data"]);
    let output = { output }.output().unwrap();
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("--insecure-no-auth"), "{}", stderr(&output));
    let mut weak =
        command(dir.path(), &["server", "--auth", "on", "--listen", "127.0.0.1:0", "--data", "data"]);
    let output = weak.env("GANGER_JWT_SECRET", "changeme-changeme-changeme-changeme").output().unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("placeholder"), "{}", stderr(&output));
}

/// The status that a server answers, when it is asked by that name.
fn status(instance: &Instance, host: &str, path: &str, token: &str) -> (u16, String) {
    use std::io::{Read as _, Write as _};
    let address = instance.url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let bearer = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

/// A proxy on the same machine hands on the name that it was asked by. What it lets in may come from anywhere.
#[test]
fn a_server_behind_a_proxy_answers_to_its_name_and_asks_who_calls() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    // As if nobody had said whether it asks.
    let unsaid = [("GANGER_AUTH", Path::new(""))];
    let args = ["--allow-host", "jobs.example.com"];
    let server = Instance::with("server", &args, &data, "127.0.0.1:0", &unsaid);
    let file = data.join("admin-token");
    let token = eventually("the first token", || std::fs::read_to_string(&file).ok());
    let token = token.trim();
    assert_eq!(status(&server, "jobs.example.com", "/v1/stats", "").0, 401);
    assert_eq!(status(&server, "jobs.example.com", "/v1/stats", token).0, 200);
    assert_eq!(status(&server, "jobs.example.com:8443", "/ui/", "").0, 200);
    assert_eq!(status(&server, "evil.example.com", "/v1/stats", token).0, 421);
    let (_, system) = status(&server, "jobs.example.com", "/v1/system", token);
    let named = r#"{"setting":"allow_host","value":"jobs.example.com","origin":"flag --allow-host"}"#;
    assert!(system.contains(named), "{system}");
    assert!(!system.contains(token), "a secret is told");
}
