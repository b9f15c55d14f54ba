//! Errors: three lines, the right exit code, nothing on standard output.

mod common;

use std::net::TcpListener;
use std::process::Stdio;

use common::{code, command, free_port, ganger, stderr, stdout};

fn nobody() -> String {
    format!("http://127.0.0.1:{}", free_port())
}

#[test]
fn a_server_that_is_not_there_is_named_with_its_origin_and_a_way_out() {
    let url = nobody();
    let output = ganger(&["stats", "--url", &url]);
    assert_eq!(code(&output), 9);
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0], format!("error: cannot read the statistics: no server at {url}"));
    assert!(lines[1].starts_with("  why: ") && lines[1].contains("refused"), "{text}");
    assert!(lines[1].contains("flag --url"), "{text}");
    assert!(lines[2].starts_with("  do: ") && lines[2].contains("`ganger dev`"), "{text}");
}

#[test]
fn with_json_an_error_is_a_document_on_standard_error() {
    let output = ganger(&["stats", "--url", &nobody(), "-o", "json"]);
    assert_eq!(code(&output), 9);
    let problem: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert!(problem["title"].as_str().unwrap().contains("no server at"), "{problem}");
    assert_eq!(problem["exit_code"], 9);
}

#[test]
fn something_else_on_the_port_is_not_taken_for_a_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let other = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        stream
            .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\nconnection: close\r\n\r\nnginx")
            .unwrap();
    });
    let output = ganger(&["stats", "--url", &url]);
    other.join().unwrap();
    assert_eq!(code(&output), 5);
    assert!(stderr(&output).contains("check that the URL is that of a Ganger server"), "{}", stderr(&output));
}

#[test]
fn run_exits_with_125_when_ganger_itself_failed() {
    let output = ganger(&["run", "--url", &nobody(), "--", "true"]);
    assert_eq!(code(&output), 125);
    assert!(stderr(&output).contains("no server at"), "{}", stderr(&output));
}

#[test]
fn wrong_usage_exits_with_2() {
    for args in [
        &["enqueue"][..],
        &["job", "get", "nonsense"][..],
        &["enqueue", "noop", "-p", "{"][..],
        &["enqueue", "noop", "--delay", "soon"][..],
        &["job", "list", "--state", "sleeping"][..],
        &["queue", "set", "mail"][..],
        &["queue", "purge", "mail"][..],
        &["worker", "--labels", "novalue"][..],
        &["worker", "--kinds", "no.such.kind"][..],
        &["dev", "--worker", "0"][..],
        &["frobnicate"][..],
    ] {
        let output = ganger(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).starts_with("error:"), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_busy_port_names_its_holder_and_another_port() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    for verb in ["dev", "server"] {
        let output = command(dir.path(), &[verb, "--listen", &address, "--data", "data"])
            .env("GANGER_LOG", "off")
            .output()
            .unwrap();
        assert_eq!(code(&output), 1, "{verb}: {}", stderr(&output));
        let text = stderr(&output);
        assert!(text.starts_with(&format!("error: cannot listen on {address}\n")), "{text}");
        assert!(text.contains(&format!("pid {}", std::process::id())), "{text}");
        assert!(text.contains("--listen 127.0.0.1:"), "{text}");
    }
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let output = command(dir.path(), &["server", "--listen", "0.0.0.0:0", "--data", "data"])
        .env("GANGER_LOG", "off")
        .output()
        .unwrap();
    assert_eq!(code(&output), 2);
    let text = stderr(&output);
    assert!(text.contains("will not listen on 0.0.0.0:0") && text.contains("--insecure-no-auth"), "{text}");
}

#[test]
fn a_reader_that_had_enough_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["completion", "bash"][..], &["exit-codes"][..], &["config", "show"][..], &["--help"][..]] {
        let mut child =
            command(dir.path(), args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(stderr(&output), "", "{args:?}");
        assert_eq!(code(&output), 0, "{args:?}");
    }
}

#[test]
fn a_missing_backup_or_database_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let output = command(dir.path(), &["restore", "nothing.db", "--data", "data"]).output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("nothing.db"), "{}", stderr(&output));
    let output = command(dir.path(), &["backup", "copy.db", "--data", "data"]).output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("there is no database in"), "{}", stderr(&output));
    let output = command(dir.path(), &["migrate", "status", "--data", "elsewhere"]).output().unwrap();
    assert_eq!(code(&output), 5);
    assert!(!dir.path().join("elsewhere").exists(), "looking makes nothing");
}

#[test]
fn a_schema_goes_up_and_down() {
    let dir = tempfile::tempdir().unwrap();
    let migrate = |args: &[&str]| {
        let mut all = vec!["migrate"];
        all.extend_from_slice(args);
        all.extend_from_slice(&["--data", "data"]);
        command(dir.path(), &all).output().unwrap()
    };
    assert_eq!(code(&migrate(&["up"])), 0);
    assert!(stdout(&migrate(&["status"])).contains("yes"));
    assert_eq!(code(&migrate(&["down", "--to", "0"])), 2, "not without --yes");
    assert_eq!(code(&migrate(&["down", "--to", "0", "--yes"])), 0);
    assert!(!stdout(&migrate(&["status"])).contains("yes"));
}
