//! What the tests of Redis share.

use std::process::Command;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::job::JobSpec;
use ganger_store::redis::{Redis, RedisOptions, RoleState};
use ganger_store::testing;

/// No wait of a test is longer.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A handle on this server, patient enough for a machine that does much else.
pub async fn connect(server: &testing::Redis) -> Redis {
    let answer_within = Duration::from_secs(2);
    Redis::connect(RedisOptions { answer_within, ..RedisOptions::new(server.url()) }).await.unwrap()
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

/// Waits until every role is up again, or away.
pub async fn is_up(redis: &Redis, up: bool) {
    eventually("the change", || async { redis.is_up() == up }).await;
    assert!(redis.roles().iter().all(|view| (view.state == RoleState::Up) == up));
}

/// Says something to a server by another way.
pub fn tell(server: &testing::Redis, arguments: &[&str]) -> String {
    let mut command = Command::new("redis-cli");
    let url = server.url();
    if let Some((password, _)) = url.trim_start_matches("redis://:").split_once('@') {
        command.args(["--no-auth-warning", "-a", password]);
    }
    let output = command.args(["-p", &server.port().to_string()]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub fn id(n: u8) -> JobId {
    JobId::new(1_700_000_000_000, [n; 10])
}

pub fn spec(kind: &str) -> JobSpec {
    JobSpec { payload: "{ \"a\" :1}".into(), ..JobSpec::new(kind.parse().unwrap()) }
}
