//! The connection: it fails at once rather than late, says so, and comes back by itself.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ganger_store::redis::idempotency::Begun;
use ganger_store::redis::{Redis, RedisError, RedisOptions, RoleState};
use ganger_store::testing;

use crate::common::{connect, is_up, tell};

fn why(redis: &Redis) -> String {
    let state = redis.roles()[0].state.clone();
    let RoleState::Away(_, why) = state else { panic!("{state:?}") };
    why
}

#[tokio::test]
async fn a_redis_that_is_killed_and_comes_back_is_used_again() {
    let mut server = testing::Redis::start();
    let redis = connect(&server).await;
    is_up(&redis, true).await;
    server.kill();
    is_up(&redis, false).await;
    assert!(matches!(redis.begin("a", "k", &[1; 32]).await, Begun::Ledger));
    assert!(redis.roles()[0].fallbacks > 0);
    server.restart();
    is_up(&redis, true).await;
    assert!(matches!(redis.begin("a", "k", &[1; 32]).await, Begun::Mine(_)));
}

/// A stopped server keeps its connections open. Only the first calls wait for it, and not for long.
#[tokio::test]
async fn a_redis_that_hangs_is_waited_for_once_and_briefly() {
    let server = testing::Redis::start();
    let redis = Redis::connect(RedisOptions::new(server.url())).await.unwrap();
    is_up(&redis, true).await;
    server.pause();
    let many = (0..50).map(|n| {
        let redis = redis.clone();
        async move { redis.begin("a", &n.to_string(), &[1; 32]).await }
    });
    let all = tokio::time::timeout(Duration::from_secs(5), futures_of(many)).await.unwrap();
    assert!(all.iter().all(|begun| matches!(begun, Begun::Ledger)));
    assert!(!redis.is_up());
    // The breaker is open: this does not even try, however long the server hangs.
    for _ in 0..1000 {
        assert!(matches!(redis.begin("a", "k", &[1; 32]).await, Begun::Ledger));
    }
    assert_eq!(why(&redis), "it does not answer in time");
    server.resume();
    is_up(&redis, true).await;
}

async fn futures_of<T: Send + 'static>(
    many: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = many.map(tokio::spawn).collect();
    let mut all = Vec::new();
    for task in tasks {
        all.push(task.await.unwrap());
    }
    all
}

#[tokio::test]
async fn a_redis_that_is_not_there_at_the_start_is_found_later() {
    let mut server = testing::Redis::start();
    server.kill();
    let redis = connect(&server).await;
    assert!(!redis.is_up());
    assert_eq!(why(&redis), "it refuses the connection");
    server.restart();
    is_up(&redis, true).await;
}

#[tokio::test]
async fn a_wrong_password_falls_back_and_is_told_without_being_shown() {
    let server = testing::Redis::start_with_password("right-horse");
    assert!(connect(&server).await.is_up());
    let url = server.url().replace("right-horse", "wrong-horse");
    let options = RedisOptions::new(url);
    assert!(!format!("{options:?}").contains("wrong-horse"));
    let redis = Redis::connect(options).await.unwrap();
    assert!(!redis.is_up());
    assert_eq!(why(&redis), "it refuses the password");
    assert!(!format!("{redis:?} {:?}", redis.roles()).contains("horse"));
    let without = server.url().replace(":right-horse@", "");
    let redis = Redis::connect(RedisOptions::new(without)).await.unwrap();
    assert!(!redis.is_up(), "{:?}", redis.roles());
}

#[tokio::test]
async fn an_address_that_cannot_be_read_is_refused_without_being_shown() {
    for bad in ["", "localhost", "http://secret@host", "redis://:secret@host:port"] {
        let error = Redis::connect(RedisOptions::new(bad)).await.unwrap_err();
        assert_eq!(error, RedisError::Address, "{bad}");
        assert!(!error.to_string().contains("secret"));
    }
    for bad in ["", "a b", "a:b", &"a".repeat(65)] {
        let options = RedisOptions { namespace: bad.into(), ..RedisOptions::new("redis://127.0.0.1:1") };
        assert_eq!(Redis::connect(options).await.unwrap_err(), RedisError::Namespace, "{bad}");
    }
}

fn openssl(folder: &Path, arguments: &str) {
    let arguments = arguments.split(' ').filter(|argument| !argument.is_empty());
    let output = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A certificate authority, and a certificate of it for this machine.
fn certificates(folder: &Path) {
    openssl(folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca");
    openssl(folder, "req -newkey rsa:2048 -nodes -keyout key.pem -out csr.pem -subj /CN=localhost");
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1").unwrap();
    openssl(
        folder,
        "x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 2 -extfile names",
    );
    let world = |path: &Path, mode| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    world(folder, 0o755);
    world(&folder.join("key.pem"), 0o644);
}

#[tokio::test]
async fn a_redis_behind_tls_is_trusted_by_its_certificate_only() {
    let server = testing::Redis::start_with_password("right-horse");
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (cert, key, ca) = (file("cert.pem"), file("key.pem"), file("ca.pem"));
    let settings =
        ["tls-cert-file", &cert, "tls-key-file", &key, "tls-ca-cert-file", &ca, "tls-auth-clients", "no"];
    let port_setting = ["tls-port", &port];
    assert_eq!(tell(&server, &[&["CONFIG", "SET"], &settings[..], &port_setting].concat()), "OK");

    let url = format!("rediss://:right-horse@localhost:{port}/");
    let trusted = Some(std::fs::read(folder.path().join("ca.pem")).unwrap());
    let redis =
        Redis::connect(RedisOptions { ca: trusted.clone(), ..RedisOptions::new(&url) }).await.unwrap();
    assert!(redis.is_up(), "{:?}", redis.roles());
    assert!(matches!(redis.begin("a", "k", &[1; 32]).await, Begun::Mine(_)));

    let stranger = Redis::connect(RedisOptions::new(&url)).await.unwrap();
    assert!(!stranger.is_up());
    assert!(!why(&stranger).contains("horse"), "{}", why(&stranger));
    let plain = RedisOptions { ca: trusted, ..RedisOptions::new(server.url()) };
    assert_eq!(Redis::connect(plain).await.unwrap_err(), RedisError::Certificates);
}
