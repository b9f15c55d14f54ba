//! The servers that tests start are real, private, and gone afterwards.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use ganger_store::testing::{Durability, Postgres, Redis};

/// Answers one query of the database, if there is an answer within two seconds.
async fn ask(url: &str, query: &str) -> Option<String> {
    let asking = async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.ok()?;
        tokio::spawn(connection);
        let row = client.query_one(query, &[]).await.ok()?;
        Some(row.get::<_, String>(0))
    };
    tokio::time::timeout(Duration::from_secs(2), asking).await.ok().flatten()
}

/// What Redis answers to a line, if it does within two seconds.
fn tell(redis: &Redis, line: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, redis.port())).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    stream.write_all(line.as_bytes()).ok()?;
    let mut answer = [0; 64];
    let length = stream.read(&mut answer).ok()?;
    Some(String::from_utf8_lossy(&answer[..length]).trim().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_killed_paused_and_started_again_and_leaves_nothing_behind() {
    let mut cluster = Postgres::start_with(Durability::Full);
    let url = cluster.database().await;
    assert_eq!(ask(&url, "SHOW fsync").await.as_deref(), Some("on"));
    let data = PathBuf::from(ask(&url, "SHOW data_directory").await.unwrap());
    assert!(data.starts_with(std::env::temp_dir()), "not ours: {}", data.display());

    cluster.pause();
    assert_eq!(ask(&url, "SELECT 'awake'").await, None);
    cluster.resume();
    assert_eq!(ask(&url, "SELECT 'awake'").await.as_deref(), Some("awake"));

    cluster.kill();
    assert_eq!(ask(&url, "SELECT 'awake'").await, None);
    cluster.restart();
    assert_eq!(ask(&url, "SELECT 'awake'").await.as_deref(), Some("awake"));
    assert_ne!(cluster.database().await, url);

    drop(cluster);
    assert!(!data.exists());
    assert_eq!(ask(&url, "SELECT 'awake'").await, None);
}

#[test]
fn a_redis_is_killed_paused_and_started_again_and_asks_for_its_password() {
    let mut redis = Redis::start_with_password("sesame");
    assert!(tell(&redis, "PING\r\n").unwrap().starts_with("-NOAUTH"));
    assert_eq!(tell(&redis, "AUTH sesame\r\n").as_deref(), Some("+OK"));
    assert!(redis.url().contains(":sesame@"));
    redis.pause();
    assert_eq!(tell(&redis, "AUTH sesame\r\n"), None);
    redis.resume();
    redis.kill();
    assert_eq!(tell(&redis, "PING\r\n"), None);
    redis.restart();
    assert_eq!(tell(&redis, "AUTH sesame\r\n").as_deref(), Some("+OK"));
    let port = redis.port();
    drop(redis);
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}
