//! The cache of final jobs: it shows what is final, and never what runs again.

use ganger_core::change::End;
use ganger_core::job::State;
use ganger_core::rules::Standing;
use ganger_core::{Term, Wall};
use ganger_store::read::StoredJob;
use ganger_store::redis::Redis;
use ganger_store::redis::finals::{ENTRY_BYTES, Found, TOMBSTONE, Ticket};
use ganger_store::testing;

use crate::common::{connect, eventually, id, is_up, spec, tell};

fn over(n: u8) -> StoredJob {
    let end = End {
        state: State::Succeeded,
        at: Wall(1_700_000_000_123_456),
        result: Some("{ \"n\": 12345678901234567890 }".into()),
        reason: None,
        keep: true,
    };
    StoredJob {
        id: id(n),
        spec: spec("noop"),
        state: State::Succeeded,
        seq: 9,
        created_at: Wall(1),
        due_at: Wall(2),
        standing: Standing { attempt: 3, burnt: 2, lost: 1 },
        cancel_wanted: false,
        lease: None,
        last_attempt: None,
        end: Some(end),
    }
}

fn term(number: u64) -> Term {
    Term { number, id: 77 }
}

async fn ticket(redis: &Redis, n: u8) -> Ticket {
    let found = redis.final_job(id(n)).await;
    let Found::Nothing(ticket) = found else { panic!("{found:?}") };
    ticket
}

async fn is_shown(redis: &Redis, n: u8) -> bool {
    matches!(redis.final_job(id(n)).await, Found::Job(_))
}

#[tokio::test]
async fn a_final_job_is_shown_as_it_was_read() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    assert!(matches!(redis.final_job(id(1)).await, Found::Unknown), "no leader vouches yet");
    redis.vouch(term(1)).await;
    let ticket = ticket(&redis, 1).await;
    redis.fill(ticket, &over(1)).await;
    let Found::Job(job) = redis.final_job(id(1)).await else { panic!("it was kept") };
    assert_eq!(*job, over(1));
    assert_eq!(redis.roles()[1].hits, 1);
}

#[tokio::test]
async fn a_live_job_and_one_past_the_bound_are_not_kept() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    redis.vouch(term(1)).await;
    let live = StoredJob { state: State::Running, end: None, ..over(1) };
    redis.fill(ticket(&redis, 1).await, &live).await;
    assert!(!is_shown(&redis, 1).await);

    let mut large = over(2);
    let rest = serde_json::to_vec(&large).unwrap().len() - large.spec.payload.escape_default().count();
    large.spec.payload = "1".repeat(ENTRY_BYTES - rest);
    redis.fill(ticket(&redis, 2).await, &large).await;
    assert!(is_shown(&redis, 2).await);
    large.id = id(3);
    large.spec.payload.push('1');
    redis.fill(ticket(&redis, 3).await, &large).await;
    assert!(!is_shown(&redis, 3).await);
}

/// A slow reader: it read the row before the replay, and comes to fill it in after.
#[tokio::test]
async fn a_replayed_job_cannot_be_put_back_by_a_reader_of_the_old_row() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    redis.vouch(term(1)).await;
    let early = ticket(&redis, 1).await;
    redis.forget(id(1), TOMBSTONE).await;
    redis.fill(early, &over(1)).await;
    assert!(!is_shown(&redis, 1).await);
}

/// The same, but the tombstone could not be placed: Redis was away.
#[tokio::test]
async fn what_could_not_be_forgotten_is_not_shown_when_redis_is_back() {
    let mut server = testing::Redis::start();
    let redis = connect(&server).await;
    redis.vouch(term(1)).await;
    let early = ticket(&redis, 2).await;
    redis.fill(ticket(&redis, 1).await, &over(1)).await;
    assert!(is_shown(&redis, 1).await);
    server.kill();
    is_up(&redis, false).await;
    redis.forget(id(1), TOMBSTONE).await;
    server.restart();
    is_up(&redis, true).await;
    // Its append-only file brought the entry back, and the generation with it.
    assert!(!is_shown(&redis, 1).await, "this server knows better");
    redis.vouch(term(1)).await;
    assert!(!is_shown(&redis, 1).await, "and now every server does");
    redis.fill(early, &over(2)).await;
    assert!(!is_shown(&redis, 2).await, "a ticket of the generation before");
    redis.fill(ticket(&redis, 1).await, &over(1)).await;
    assert!(is_shown(&redis, 1).await, "and it goes on");
}

#[tokio::test]
async fn a_new_leader_shows_nothing_of_the_one_before_and_cannot_be_undone_by_it() {
    let server = testing::Redis::start();
    let (old, new) = (connect(&server).await, connect(&server).await);
    old.vouch(term(1)).await;
    old.fill(ticket(&old, 1).await, &over(1)).await;
    new.vouch(term(2)).await;
    assert!(!is_shown(&new, 1).await && !is_shown(&old, 1).await);
    new.fill(ticket(&new, 1).await, &over(1)).await;
    old.vouch(term(1)).await;
    assert!(is_shown(&new, 1).await, "a deposed leader changes nothing");
    new.vouch(term(2)).await;
    assert!(is_shown(&new, 1).await, "the same generation goes on");
    new.forget_all();
    new.vouch(term(2)).await;
    assert!(!is_shown(&new, 1).await && !is_shown(&old, 1).await, "after a purge nothing is shown");
}

#[tokio::test]
async fn an_emptied_redis_is_vouched_for_again() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    redis.vouch(term(1)).await;
    let early = ticket(&redis, 1).await;
    tell(&server, &["FLUSHALL"]);
    assert!(matches!(redis.final_job(id(1)).await, Found::Unknown));
    redis.vouch(term(1)).await;
    redis.fill(early, &over(1)).await;
    assert!(!is_shown(&redis, 1).await, "a replay in between would not have left a tombstone");
    eventually("filling", || async {
        redis.fill(ticket(&redis, 1).await, &over(1)).await;
        is_shown(&redis, 1).await
    })
    .await;
}
