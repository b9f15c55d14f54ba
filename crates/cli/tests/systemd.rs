//! Under systemd: what the services tell their manager, over a real socket, and the units themselves.

mod common;

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::{Instance, Process, command, eventually, free_port, signal, stderr, stdout, terminate};

/// What systemd would be to a service.
struct Manager {
    dir: tempfile::TempDir,
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn new() -> Manager {
        let dir = tempfile::tempdir().unwrap();
        let socket = UnixDatagram::bind(dir.path().join("notify")).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        Manager { dir, socket, heard: Vec::new() }
    }

    fn start(&self, args: &[&str]) -> Process {
        let child = command(self.dir.path(), args)
            .env("NOTIFY_SOCKET", self.dir.path().join("notify"))
            .env("WATCHDOG_USEC", "400000")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Process(child.unwrap())
    }

    /// Takes in what came meanwhile.
    fn listen(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            let message = String::from_utf8_lossy(&buffer[..length]).into_owned();
            self.heard.extend(message.lines().map(str::to_owned));
        }
    }

    fn hears(&mut self, what: &str) -> String {
        eventually(what, || {
            self.listen();
            self.heard.iter().find(|line| line.starts_with(what)).cloned()
        })
    }

    /// Signs of life from now on, until there are so many or the service has had time for thrice as many.
    fn signs(&mut self, enough: usize) -> usize {
        self.listen();
        self.heard.clear();
        for _ in 0..3 * enough {
            std::thread::sleep(Duration::from_millis(200));
            self.listen();
            if self.count("WATCHDOG=1") >= enough {
                break;
            }
        }
        self.count("WATCHDOG=1")
    }

    fn count(&self, line: &str) -> usize {
        self.heard.iter().filter(|heard| *heard == line).count()
    }
}

#[test]
fn a_server_tells_that_it_is_ready_lives_and_stops() {
    let mut manager = Manager::new();
    let listen = format!("127.0.0.1:{}", free_port());
    let mut server = manager.start(&["server", "--listen", &listen, "--data", "data"]);
    manager.hears("READY=1");
    assert!(manager.hears("STATUS=").contains(&listen));
    assert!(manager.hears("STATUS=").contains("leads in term"), "{:?}", manager.heard);
    eventually("signs of life", || (manager.signs(3) >= 3).then_some(()));
    assert_eq!(server.stop(), Some(0));
    manager.hears("STOPPING=1");
}

/// Half a process hangs when the whole of it is stopped: no sign of life may come, and none may have been stored up.
#[test]
fn a_process_that_stands_still_gives_no_sign_of_life() {
    let mut manager = Manager::new();
    let listen = format!("127.0.0.1:{}", free_port());
    let server = manager.start(&["server", "--listen", &listen, "--data", "data"]);
    manager.hears("READY=1");
    manager.hears("WATCHDOG=1");
    signal(server.0.id(), "-STOP");
    // What was on its way is heard first.
    eventually("silence", || (manager.signs(3) == 0).then_some(()));
    signal(server.0.id(), "-CONT");
    eventually("signs of life again", || (manager.signs(1) >= 1).then_some(()));
}

#[test]
fn a_worker_lives_also_while_its_server_is_away_and_drains_when_told() {
    let mut manager = Manager::new();
    let mut server = Instance::server();
    let mut worker = manager.start(&["worker", "--url", &server.url, "--threads", "2"]);
    manager.hears("READY=1");
    manager.hears("STATUS=works for the server");
    server.kill();
    manager.hears("STATUS=waits for the server");
    eventually("signs of life", || (manager.signs(2) >= 2).then_some(()));
    assert_eq!(worker.stop(), Some(0));
    manager.hears("STOPPING=1");
}

#[test]
fn a_supervisor_speaks_for_its_children_and_they_do_not() {
    let mut manager = Manager::new();
    let server = Instance::server();
    let worker = manager.start(&["worker", "--url", &server.url, "--threads", "1", "--processes", "2"]);
    manager.hears("READY=1");
    manager.hears("STATUS=keeps 2 workers running");
    eventually("both work", || {
        (server.json(&["worker", "list"])["items"].as_array()?.len() == 2).then_some(())
    });
    manager.listen();
    assert_eq!(manager.count("READY=1"), 1, "{:?}", manager.heard);
    terminate(worker.0.id());
    manager.hears("STOPPING=1");
}

fn units() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/systemd").canonicalize().unwrap()
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success())
}

fn analyze(args: &[&str], unit: &Path) -> Output {
    Command::new("systemd-analyze").args(args).arg(unit).output().unwrap()
}

/// systemd reads the units without a word, and finds them well confined. The binary is named where it is, for the test.
#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    if !is_there("systemd-analyze") {
        eprintln!("skipped: systemd-analyze is not installed here, so the units were read by nobody");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for name in ["ganger-server.service", "ganger-worker.service"] {
        let text = std::fs::read_to_string(units().join(name)).unwrap();
        let unit = dir.path().join(name);
        std::fs::write(&unit, text.replace("/usr/local/bin/ganger", common::binary().to_str().unwrap()))
            .unwrap();
        let verified = analyze(&["verify", "--man=no", "--recursive-errors=no"], &unit);
        let said = stderr(&verified);
        let ours: Vec<&str> = said.lines().filter(|line| line.contains("ganger-")).collect();
        assert!(verified.status.success() && ours.is_empty(), "{name}: {said}");
        // From 0, which is nothing to fear, to 10.
        let judged = analyze(&["security", "--offline=yes", "--threshold=20"], &unit);
        assert!(judged.status.success(), "{name}: {} {}", stdout(&judged), stderr(&judged));
    }
}

/// The command lines of the units are understood by the binary of this very build.
#[test]
fn the_units_start_what_there_is() {
    for (name, verb) in [("ganger-server.service", "server"), ("ganger-worker.service", "worker")] {
        let text = std::fs::read_to_string(units().join(name)).unwrap();
        let line =
            text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/ganger ")).unwrap();
        let args: Vec<&str> = line.split(' ').collect();
        assert_eq!(args[0], verb);
        let help = common::ganger(&[&args[..], &["--help"]].concat());
        assert!(help.status.success(), "{line}: {}", stderr(&help));
        let refused = common::ganger(&[&args[..], &["--no-such-flag"]].concat());
        assert!(!refused.status.success(), "a wrong line would be noticed");
        for needed in
            ["Type=notify", "WatchdogSec=", "DynamicUser=yes", "StateDirectory=", "ProtectSystem=strict"]
        {
            assert!(text.contains(needed), "{name} has no {needed}");
        }
    }
}
