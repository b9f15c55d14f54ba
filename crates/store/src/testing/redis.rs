//! A private Redis.

use std::process::Command;

use rustix::process::Signal;

use super::server::{Server, free_port};

/// Another process may take a free port before the server does; then it tries the next.
const PORTS: usize = 10;

/// A private Redis. Dropped, it is gone with everything in it.
#[derive(Debug)]
pub struct Redis {
    server: Server,
    password: Option<String>,
    port: u16,
}

impl Redis {
    /// Starts one without a password.
    #[must_use]
    pub fn start() -> Redis {
        Redis::launch(None)
    }

    /// Starts one that asks for a password.
    #[must_use]
    pub fn start_with_password(password: &str) -> Redis {
        Redis::launch(Some(password.into()))
    }

    /// Where it is, password included.
    #[must_use]
    pub fn url(&self) -> String {
        let password = self.password.as_ref().map(|password| format!(":{password}@")).unwrap_or_default();
        format!("redis://{password}127.0.0.1:{}/", self.port)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.server.kill();
    }

    /// Stops it in good order.
    pub fn stop(&mut self) {
        self.server.stop(Signal::TERM);
    }

    /// Starts it again on the same port, after [`Redis::kill`] or [`Redis::stop`], or in its stead. What it held is
    /// gone, but for what it had written to its append-only file.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.stop();
        assert!(self.run(), "Redis does not start again: {}", self.server.log());
    }

    /// Stops it in its tracks: connections stay open, nobody answers.
    pub fn pause(&self) {
        self.server.pause();
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.server.resume();
    }

    fn launch(password: Option<String>) -> Redis {
        let mut redis = Redis { server: Server::new("redis"), password, port: 0 };
        let started = (0..PORTS).any(|_| {
            redis.port = free_port();
            redis.run()
        });
        assert!(started, "Redis does not start: {}", redis.server.log());
        redis
    }

    fn run(&mut self) -> bool {
        let dir = self.server.dir().to_path_buf();
        let ready_file = dir.join("ready");
        let _ = std::fs::remove_file(&ready_file);
        let mut command = Command::new("redis-server");
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--dir"]).arg(&dir);
        // An append-only file, synchronised each second, is what a Redis that holds more than a cache has. Its
        // command line stays as given, for the janitor recognises it by the directory.
        command.args(["--appendonly", "yes", "--save", "", "--set-proc-title", "no", "--pidfile"]);
        command.arg(&ready_file).args(["--daemonize", "no"]);
        if let Some(password) = &self.password {
            command.args(["--requirepass", password]);
        }
        // It writes its pid once it has bound the port and says so in its log once it has read its data.
        let before = self.server.log().matches(ACCEPTS).count();
        let log = dir.join("log");
        let ready = |pid: u32| {
            let ours = std::fs::read_to_string(&ready_file).is_ok_and(|text| text.trim() == pid.to_string());
            let said = std::fs::read_to_string(&log).unwrap_or_default().matches(ACCEPTS).count();
            ours && said > before
        };
        self.server.start(command, ready)
    }
}

/// What Redis logs when it begins to serve.
const ACCEPTS: &str = "Ready to accept connections";
