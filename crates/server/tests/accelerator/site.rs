//! A server, its Redis and a client.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_server::testing::{self, TestServer};
use ganger_store::redis::{Redis, RedisOptions};
use ganger_store::testing as real;
use ganger_store::{MemoryStore, Store};
use reqwest::{Client, Response};
use serde_json::Value;

/// No wait of a test is longer.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Site {
    pub server: TestServer,
    pub redis: Redis,
    client: Client,
}

impl Site {
    /// A server that allows buffered jobs.
    pub async fn start(server: &real::Redis) -> Site {
        Site::start_on(server, Arc::new(MemoryStore::new())).await
    }

    pub async fn start_on(server: &real::Redis, store: Arc<dyn Store>) -> Site {
        // More patient than usual, for a machine that does much else.
        let answer_within = Duration::from_secs(1);
        let options = RedisOptions { answer_within, ..RedisOptions::new(server.url()) };
        let redis = Redis::connect(options).await.unwrap();
        let mut options = testing::options(store);
        options.redis = Some(redis.clone());
        options.allow_buffered = true;
        Site { server: testing::start_with(options).await, redis, client: Client::new() }
    }

    pub async fn post(&self, path: &str, body: &Value) -> Response {
        let url = format!("{}{path}", self.server.url());
        self.client.post(url).timeout(PATIENCE).body(body.to_string()).send().await.unwrap()
    }

    pub async fn post_under(&self, key: &str, body: &Value) -> Response {
        let url = format!("{}/v1/jobs", self.server.url());
        let request = self.client.post(url).timeout(PATIENCE).header("idempotency-key", key);
        request.body(body.to_string()).send().await.unwrap()
    }

    pub async fn text(&self, path: &str) -> String {
        let url = format!("{}{path}", self.server.url());
        self.client.get(url).timeout(PATIENCE).send().await.unwrap().text().await.unwrap()
    }

    /// How many jobs there are.
    pub async fn jobs(&self) -> usize {
        let query = ganger_store::read::ListQuery { limit: 500, ..Default::default() };
        self.server.service().list(query).await.unwrap().jobs.len()
    }

    pub async fn is_up(&self, up: bool) {
        eventually("a change of Redis", || async { self.redis.is_up() == up }).await;
    }
}

/// Reads an answer of that status.
pub async fn answer(response: Response, status: u16) -> Value {
    let (is, text) = (response.status().as_u16(), response.text().await.unwrap());
    assert_eq!(is, status, "{text}");
    serde_json::from_str(&text).unwrap()
}

pub fn id_of(body: &Value) -> JobId {
    body["id"].as_str().unwrap().parse().unwrap()
}

/// Looks again and again until it holds.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(waited.await.is_ok(), "{what} did not happen within {PATIENCE:?}");
}

/// Waits for something that must come.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen within {PATIENCE:?}"),
    }
}

/// Empties a Redis.
pub fn flush(server: &real::Redis) {
    ask(server, &["FLUSHALL"]);
}

/// What a Redis answers to a command.
pub fn ask(server: &real::Redis, command: &[&str]) -> String {
    let port = server.port().to_string();
    let done = std::process::Command::new("redis-cli").args(["-p", &port]).args(command).output().unwrap();
    assert!(done.status.success());
    String::from_utf8(done.stdout).unwrap()
}
