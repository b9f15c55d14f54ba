//! A cluster for a campaign: servers on fixed free ports, a private PostgreSQL with durable settings, a private Redis.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ganger_store::testing::{Postgres, Redis, peek};
use serde_json::Value;

use super::now;
use super::processes::{Worker, free_port};

/// How many servers there are.
pub(crate) const SERVERS: usize = 3;
/// Others take over from a leader that was silent for so long: short, so that a campaign is.
pub(crate) const LEADER_TTL: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(20);
const SECRET: &str = "a-secret-of-the-campaign-only-0123456789";

/// The cluster.
pub(crate) struct Cluster {
    pub(crate) postgres: Postgres,
    pub(crate) redis: Redis,
    store: String,
    servers: Vec<Member>,
    http: reqwest::Client,
    leader_ttl: Duration,
}

struct Member {
    child: Child,
    port: u16,
}

/// Who leads, by the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leader {
    pub(crate) term: u64,
    pub(crate) server: String,
    pub(crate) batch: u64,
}

impl Cluster {
    /// Starts it and waits until every server is ready.
    pub(crate) async fn start() -> Cluster {
        Cluster::start_with(LEADER_TTL).await
    }

    /// Starts one in which a leader may be silent for so long.
    pub(crate) async fn start_with(leader_ttl: Duration) -> Cluster {
        let (postgres, redis) = (Postgres::start(), Redis::start());
        let store = postgres.database().await;
        let servers = (0..SERVERS)
            .map(|n| {
                let port = free_port();
                Member { child: spawn(port, n, &store, &redis.url(), leader_ttl), port }
            })
            .collect();
        let http = reqwest::Client::builder().timeout(Duration::from_secs(3)).build();
        let http = http.expect("an HTTP client");
        let cluster = Cluster { postgres, redis, store, servers, http, leader_ttl };
        cluster.wait_ready().await;
        cluster
    }

    /// Where each server listens.
    pub(crate) fn urls(&self) -> Vec<String> {
        self.servers.iter().map(|server| format!("http://127.0.0.1:{}", server.port)).collect()
    }

    /// All of them, as clients and workers are told.
    pub(crate) fn url(&self) -> String {
        self.urls().join(",")
    }

    /// Where the jobs are.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    /// A worker that knows every server.
    pub(crate) fn worker(&self, name: &str, ttl: Duration) -> Worker {
        Worker::start_with(&self.url(), name, ttl)
    }

    /// Waits until every server says that it is ready.
    pub(crate) async fn wait_ready(&self) {
        for n in 0..SERVERS {
            self.until("a server is ready", async || self.is_ready(n).await.then_some(())).await;
        }
    }

    /// Whether a server says that it is ready; one that does not answer is not.
    pub(crate) async fn is_ready(&self, n: usize) -> bool {
        let asked = self.http.get(format!("{}/readyz", self.urls()[n])).send().await;
        asked.is_ok_and(|answer| answer.status().is_success())
    }

    /// Waits until one of the servers but `except` leads by the store, and says so itself; tells which. One that was
    /// replaced may believe for a while that it still does.
    pub(crate) async fn leader_but(&self, except: Option<usize>) -> usize {
        self.until("a server leads", async || {
            let name = self.leader_row()?.server;
            let leads = |n: &usize| name.starts_with(&format!("s{n}-"));
            let n = (0..SERVERS).filter(|n| Some(*n) != except).find(leads)?;
            (self.seen_by(n).await?["role"] == "leader").then_some(n)
        })
        .await
    }

    /// The leader.
    pub(crate) async fn leader(&self) -> usize {
        self.leader_but(None).await
    }

    /// What a server says about the cluster.
    pub(crate) async fn seen_by(&self, n: usize) -> Option<Value> {
        let answer = self.http.get(format!("{}/v1/cluster", self.urls()[n])).send().await.ok()?;
        answer.json().await.ok()
    }

    /// `kill -9` of a server.
    pub(crate) fn kill(&mut self, n: usize) {
        let child = &mut self.servers[n].child;
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Starts a server again on its port.
    pub(crate) fn start_again(&mut self, n: usize) {
        let port = self.servers[n].port;
        self.servers[n].child = spawn(port, n, &self.store, &self.redis.url(), self.leader_ttl);
    }

    /// SIGTERM, and waits for the end.
    pub(crate) async fn stop(&mut self, n: usize) {
        self.signal(n, "TERM");
        let until = now() + PATIENCE;
        while self.servers[n].child.try_wait().expect("it can be waited for").is_none() {
            assert!(now() < until, "a server does not stop");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Sends a server a signal.
    pub(crate) fn signal(&self, n: usize, name: &str) {
        let pid = self.servers[n].child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill -s {name} {pid}");
    }

    /// Who leads by the row in the store; `None` while the database is away.
    pub(crate) fn leader_row(&self) -> Option<Leader> {
        let (term, batch, server) = peek::leader(&self.store)?;
        Some(Leader { term, server, batch })
    }

    /// Waits until a look finds what it looks for.
    pub(crate) async fn until<T>(&self, what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
        until(what, look).await
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for n in 0..self.servers.len() {
            self.kill(n);
        }
    }
}

/// Waits until a look finds what it looks for; panics with its name if that takes too long.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(now() < end, "waited {PATIENCE:?} in vain: {what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// The arguments of a server, but for where it listens.
pub(crate) fn server_arguments(command: &mut Command, n: usize, store: &str, redis: &str) {
    command
        .args(["server", "--store", store, "--redis", redis, "--name", &format!("s{n}")])
        .env("GANGER_CLUSTER_SECRET", SECRET)
        .env("GANGER_AUTH", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
}

fn spawn(port: u16, n: usize, store: &str, redis: &str, leader_ttl: Duration) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ganger"));
    server_arguments(&mut command, n, store, redis);
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    command.args(["--leader-ttl", &format!("{}s", leader_ttl.as_secs())]);
    command.spawn().expect("the server starts")
}
