//! The processes of a campaign: a server on a fixed free port, and workers.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::history::Client;
use super::{TTL, now};

const READY_WITHIN: Duration = Duration::from_secs(60);

/// A server process that is started again on the same port and data.
pub(crate) struct Server {
    child: Child,
    data: PathBuf,
    port: u16,
}

impl Server {
    /// Starts it and waits until it is ready.
    pub(crate) async fn start(data: &Path) -> Server {
        let port = free_port();
        let mut server = Server { child: spawn_server(data, port), data: data.to_path_buf(), port };
        server.ready().await;
        server
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// `kill -9`, and again from the same data.
    pub(crate) async fn kill_and_restart(&mut self) {
        self.kill();
        self.child = spawn_server(&self.data, self.port);
        self.ready().await;
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    async fn ready(&mut self) {
        let (url, until) = (format!("{}/readyz", self.url()), now() + READY_WITHIN);
        let http = reqwest::Client::new();
        loop {
            if let Ok(answer) = http.get(&url).timeout(Duration::from_secs(2)).send().await
                && answer.status().is_success()
            {
                return;
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("the server ended by itself: {status}");
            }
            assert!(now() < until, "the server is not ready after {READY_WITHIN:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A worker process.
pub(crate) struct Worker {
    child: Child,
    name: String,
}

impl Worker {
    /// Starts it; it connects by itself.
    pub(crate) fn start(url: &str, name: &str) -> Worker {
        Worker::start_with(url, name, TTL)
    }

    /// Starts one with a session TTL of its own.
    pub(crate) fn start_with(url: &str, name: &str, ttl: Duration) -> Worker {
        Worker::run(Command::new(env!("CARGO_BIN_EXE_ganger")), url, name, ttl)
    }

    /// Starts one by a command that ends in the binary.
    pub(crate) fn run(mut command: Command, url: &str, name: &str, ttl: Duration) -> Worker {
        let child = command
            .args(["worker", "--url", url, "--name", name, "--threads", "4"])
            .args(["--ttl", &format!("{}s", ttl.as_secs())])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the worker starts");
        Worker { child, name: name.to_owned() }
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// `SIGSTOP`, a while, `SIGCONT`.
    pub(crate) async fn stop_for(&self, pause: Duration) {
        self.signal("STOP");
        tokio::time::sleep(pause).await;
        self.signal("CONT");
    }

    /// Waits until it holds a lease, so that stopping it means something.
    pub(crate) async fn wait_until_busy(&self, client: &Client) {
        client.wait_until_busy(&self.name).await;
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(status.is_ok_and(|s| s.success()), "kill -s {name}");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn_server(data: &Path, port: u16) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ganger"))
        .args(["server", "--listen", &format!("127.0.0.1:{port}"), "--data"])
        .arg(data)
        .env("GANGER_AUTH", "off")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts")
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}
