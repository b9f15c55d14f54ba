//! TLS with the real binary: commands, a worker with a certificate, a renewed certificate, and what is said when it does not fit.

#[path = "../../server/tests/tls/authority.rs"]
mod authority;
mod common;

use std::path::Path;
use std::process::Output;

use authority::{Authority, Signed};
use common::{Instance, code, command, eventually, signal, stderr};

/// Writes what a server and its clients need, and the settings that name it.
fn prepare(dir: &Path, authority: &Authority) {
    write(dir, "ca", "ca.key", &Signed { certificate: authority.pem.clone(), key: String::new() });
    write(dir, "server", "server.key", &authority.server());
    let settings =
        "tls_cert = \"server.pem\"\ntls_key = \"server.key\"\ntls_client_ca = \"ca.pem\"\nca = \"ca.pem\"\n";
    std::fs::write(dir.join("ganger.toml"), settings).unwrap();
}

fn write(dir: &Path, certificate: &str, key: &str, signed: &Signed) {
    std::fs::write(dir.join(key), &signed.key).unwrap();
    std::fs::write(dir.join(format!("{certificate}.pem")), &signed.certificate).unwrap();
}

fn server(dir: &Path) -> Instance {
    Instance::on("server", &["--auth", "on"], &dir.join("data"), "127.0.0.1:0")
}

fn state(server: &Instance, id: &str) -> Option<String> {
    let seen = server.ganger(&["job", "get", id, "-o", "json"]);
    let seen: serde_json::Value = serde_json::from_slice(&seen.stdout).ok()?;
    seen["state"].as_str().map(str::to_owned)
}

#[test]
fn a_worker_with_a_certificate_does_its_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    prepare(dir.path(), &authority);
    write(dir.path(), "gpu", "gpu.key", &authority.worker("gpu-1.lan", &["gpu"]));
    write(dir.path(), "old", "old.key", &authority.expired("gpu-2.lan"));
    let server = server(dir.path());
    assert!(server.url.starts_with("https://"), "{}", server.url);
    eventually("the token holds", || server.ganger(&["job", "list"]).status.success().then_some(()));
    let id = server.enqueue(&["echo", "-q", "gpu", "--payload", "7"]);
    let shown = |name: &str| {
        let (cert, key) = (format!("{name}.pem"), format!("{name}.key"));
        server.worker(&["--client-cert", &cert, "--client-key", &key, "-q", "gpu", "--name", name])
    };
    let old = shown("old");
    let listed = || server.json(&["worker", "list"])["items"].as_array().unwrap().len();
    let _gpu = shown("gpu");
    eventually("the job is done", || (state(&server, &id)? == "succeeded").then_some(()));
    assert_eq!(listed(), 1, "the one whose certificate has expired never came in");
    drop(old);
}

#[test]
fn a_renewed_certificate_is_taken_up_without_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    prepare(dir.path(), &authority);
    let server = server(dir.path());
    let other = Authority::new();
    write(dir.path(), "server", "server.key", &other.server());
    std::fs::write(dir.path().join("other.pem"), &other.pem).unwrap();
    signal(server.pid(), "-HUP");
    let health = |ca: &str| server.ganger(&["health", "--ca", ca]);
    eventually("the new certificate is shown", || health("other.pem").status.success().then_some(()));
    let refused = health("ca.pem");
    assert_ne!(code(&refused), 0);
    assert!(stderr(&refused).contains("--ca"), "{}", stderr(&refused));
    // What cannot be used changes nothing.
    std::fs::write(dir.path().join("server.key"), "rubbish").unwrap();
    signal(server.pid(), "-HUP");
    assert!(health("other.pem").status.success());
}

#[test]
fn what_does_not_fit_is_said_in_three_lines() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    prepare(dir.path(), &authority);
    write(dir.path(), "other", "other.key", &authority.server());
    let start = |args: &[&str]| -> Output {
        let mut all = vec!["server", "--listen", "127.0.0.1:0", "--data", "data"];
        all.extend_from_slice(args);
        command(dir.path(), &all).output().unwrap()
    };
    for (args, expected) in [
        (&["--tls-cert", "nowhere.pem"][..], "nowhere.pem"),
        (&["--tls-key", "other.key"], "not that of the certificate"),
        (&["--tls-cert", "server.key"], "no certificate"),
        (&["--tls-key", "server.pem"], "no private key"),
    ] {
        let output = start(args);
        assert_ne!(code(&output), 0);
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
    let server = server(dir.path());
    let plain = server.url.replace("https://", "http://");
    let told = server.ganger(&["job", "list", "--url", &plain]);
    assert!(code(&told) != 0 && stderr(&told).contains("https://"), "{}", stderr(&told));
}
