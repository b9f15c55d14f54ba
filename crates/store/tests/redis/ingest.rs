//! The buffer: bounded, drained in order, and settled only after the commit.

use ganger_store::redis::ingest::{BUFFER_JOBS, BufferedJob, Consumer, Entry, JOB_BYTES, NotBuffered};
use ganger_store::redis::{Redis, RoleState};
use ganger_store::testing;

use crate::common::{connect, eventually, id, is_up, spec, tell};

fn job(n: u8) -> BufferedJob {
    BufferedJob { id: id(n), spec: spec("noop") }
}

fn jobs(entries: &[Entry]) -> Vec<BufferedJob> {
    entries.iter().map(|entry| entry.job.clone()).collect()
}

async fn consume(redis: &Redis) -> Consumer {
    redis.consume().await.expect("redis is there")
}

#[tokio::test]
async fn what_is_buffered_is_drained_in_order_and_leaves_once_it_is_settled() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    redis.buffer(&[job(1), job(2)]).await.unwrap();
    let mut consumer = consume(&redis).await;
    let first = consumer.next().await.unwrap();
    assert_eq!(jobs(&first), [job(1), job(2)]);
    redis.buffer(&[job(3)]).await.unwrap();
    assert_eq!(jobs(&consumer.next().await.unwrap()), [job(3)]);
    assert_eq!(redis.buffered().await, Some(3));
    consumer.settle(&first).await.unwrap();
    assert_eq!(redis.buffered().await, Some(1));
}

/// The leader dies between the commit and the settling, or before the commit.
#[tokio::test]
async fn what_a_dead_leader_took_is_taken_over_by_the_next() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    redis.buffer(&[job(1), job(2)]).await.unwrap();
    let mut dead = consume(&redis).await;
    let taken = dead.next().await.unwrap();
    drop(dead);
    let mut next = consume(&redis).await;
    assert_eq!(next.unsettled(false).await.unwrap(), [], "it was given a moment ago");
    let again = next.unsettled(true).await.unwrap();
    assert_eq!(again, taken);
    next.settle(&again).await.unwrap();
    assert_eq!(redis.buffered().await, Some(0));
    assert_eq!(next.unsettled(true).await.unwrap(), []);
}

#[tokio::test]
async fn a_killed_redis_with_an_append_only_file_keeps_what_it_took() {
    let mut server = testing::Redis::start();
    let redis = connect(&server).await;
    tell(&server, &["CONFIG", "SET", "appendfsync", "always"]);
    redis.buffer(&[job(1)]).await.unwrap();
    let mut consumer = consume(&redis).await;
    assert_eq!(consumer.next().await.unwrap().len(), 1);
    server.kill();
    assert!(consumer.unsettled(true).await.is_err());
    is_up(&redis, false).await;
    assert!(matches!(redis.buffer(&[job(2)]).await, Err(NotBuffered::Away(_))));
    server.restart();
    is_up(&redis, true).await;
    let mut consumer = consume(&redis).await;
    assert_eq!(jobs(&consumer.unsettled(true).await.unwrap()), [job(1)]);
}

#[tokio::test]
async fn an_emptied_redis_is_set_up_again() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    let mut consumer = consume(&redis).await;
    tell(&server, &["FLUSHALL"]);
    redis.buffer(&[job(1)]).await.unwrap();
    assert_eq!(consumer.next().await.unwrap(), []);
    assert_eq!(jobs(&consumer.next().await.unwrap()), [job(1)]);
}

#[tokio::test]
async fn the_buffer_is_full_at_its_bound_and_a_job_too_large_one_past_it() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    let script = "for i = 1, tonumber(ARGV[1]) do redis.call('XADD', KEYS[1], '*', 'job', 'x') end";
    tell(&server, &["EVAL", script, "1", "ganger:ingest", &(BUFFER_JOBS - 2).to_string()]);
    eventually("its return after a long script", || async { redis.is_up() }).await;
    redis.buffer(&[job(1), job(2)]).await.unwrap();
    let full = redis.buffer(&[job(3)]).await.unwrap_err();
    assert_eq!(full, NotBuffered::Away("the buffer is full".into()));

    tell(&server, &["FLUSHALL"]);
    let mut large = job(1);
    let rest =
        serde_json::to_vec(&large).unwrap().len() - serde_json::to_vec(&large.spec.payload).unwrap().len();
    large.spec.payload = "1".repeat(JOB_BYTES - rest - 2);
    redis.buffer(&[large.clone()]).await.unwrap();
    large.spec.payload.push('1');
    assert!(matches!(redis.buffer(&[large]).await, Err(NotBuffered::Away(why)) if why.contains("too large")));
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_put_aside_and_holds_up_nobody() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    tell(&server, &["XADD", "ganger:ingest", "*", "job", "rubbish"]);
    tell(&server, &["XADD", "ganger:ingest", "*", "other", "rubbish"]);
    redis.buffer(&[job(1)]).await.unwrap();
    let mut consumer = consume(&redis).await;
    assert_eq!(jobs(&consumer.next().await.unwrap()), [job(1)]);
    assert_eq!(redis.buffered().await, Some(1));
    assert_eq!(tell(&server, &["XLEN", "ganger:ingest-rejected"]), "2");
}

#[tokio::test]
async fn a_redis_that_may_evict_or_is_out_of_memory_takes_no_jobs() {
    let mut server = testing::Redis::start();
    let redis = connect(&server).await;
    assert_eq!(redis.dangers(), Vec::<String>::new());
    tell(&server, &["CONFIG", "SET", "maxmemory", "1"]);
    assert!(matches!(redis.buffer(&[job(1)]).await, Err(NotBuffered::Away(_))));
    assert!(redis.is_up(), "only what writes is refused");
    tell(&server, &["CONFIG", "SET", "maxmemory", "0"]);
    tell(&server, &["CONFIG", "SET", "appendonly", "no", "maxmemory-policy", "allkeys-lru"]);
    // What was learnt at the connect holds until the next one.
    let other = connect(&server).await;
    assert!(matches!(other.roles()[3].state, RoleState::Refused(_)));
    assert!(
        matches!(other.buffer(&[job(1)]).await, Err(NotBuffered::Away(why)) if why.contains("allkeys-lru"))
    );
    assert_eq!(other.dangers().len(), 2);
    assert!(other.roles()[..3].iter().all(|view| view.state == RoleState::Up));
    server.kill();
    is_up(&other, false).await;
    assert_eq!(other.dangers(), Vec::<String>::new());
}
