//! First-level idempotency: one of many takes the key, the others get its answer, and nothing is ever refused.

use std::time::Duration;

use ganger_core::change::Intake;
use ganger_store::redis::idempotency::Begun;
use ganger_store::testing;

use crate::common::{connect, id, tell};

const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn of_many_at_once_one_takes_the_key_and_the_others_get_its_answer() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let redis = redis.clone();
            tokio::spawn(async move {
                match redis.begin("a", "k", &[7; 32]).await {
                    Begun::Mine(claim) => {
                        redis.answered(claim, &[Intake::Created(id(1))], DAY).await;
                        (true, vec![Intake::Created(id(1))])
                    }
                    Begun::Answer(answer) => (false, answer),
                    Begun::Other(waiting) => (false, redis.answer_of_another(&waiting).await.unwrap()),
                    Begun::Ledger => panic!("redis is there"),
                }
            })
        })
        .collect();
    let mut takers = 0;
    for task in tasks {
        let (took, answer) = task.await.unwrap();
        takers += usize::from(took);
        assert_eq!(answer, [Intake::Created(id(1))]);
    }
    assert_eq!(takers, 1);
    assert_eq!(redis.roles()[0].hits, 49);
    // Kept as long as the ledger keeps it, and no longer.
    let left: u64 = tell(&server, &["TTL", "ganger:idempotency:1:a:k"]).parse().unwrap();
    assert!(left <= DAY.as_secs() && left > DAY.as_secs() - 60, "{left}");
}

#[tokio::test]
async fn another_request_under_the_key_is_never_answered_from_here() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    let Begun::Mine(claim) = redis.begin("a", "k", &[1; 32]).await else { panic!("it is free") };
    assert!(matches!(redis.begin("a", "k", &[2; 32]).await, Begun::Ledger));
    redis.answered(claim, &[Intake::Created(id(1))], DAY).await;
    assert!(matches!(redis.begin("a", "k", &[2; 32]).await, Begun::Ledger));
    // Keys of different callers never meet, however they are spelt.
    assert!(matches!(redis.begin("a:k", "", &[1; 32]).await, Begun::Mine(_)));
    assert!(matches!(redis.begin("", "a:k", &[1; 32]).await, Begun::Mine(_)));
}

/// Whoever took the key dies, or fails: the others do not wait for ever, and nobody is refused.
#[tokio::test]
async fn a_key_without_an_answer_only_sends_to_the_ledger() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    let Begun::Mine(claim) = redis.begin("a", "k", &[1; 32]).await else { panic!("it is free") };
    let Begun::Other(waiting) = redis.begin("a", "k", &[1; 32]).await else { panic!("it is taken") };
    assert_eq!(redis.answer_of_another(&waiting).await, None);
    redis.give_up(claim).await;
    let Begun::Mine(mine) = redis.begin("a", "k", &[1; 32]).await else { panic!("it was given back") };

    // The first of two takers gives up late: what the second one answered stays.
    tell(&server, &["FLUSHALL"]);
    let Begun::Mine(second) = redis.begin("a", "k", &[1; 32]).await else { panic!("redis was emptied") };
    redis.answered(second, &[Intake::Created(id(2))], DAY).await;
    redis.give_up(mine).await;
    assert!(matches!(redis.begin("a", "k", &[1; 32]).await, Begun::Answer(_)));
}

#[tokio::test]
async fn what_another_version_wrote_is_left_to_the_ledger() {
    let server = testing::Redis::start();
    let redis = connect(&server).await;
    tell(&server, &["SET", "ganger:idempotency:1:a:k", "rubbish"]);
    assert!(matches!(redis.begin("a", "k", &[1; 32]).await, Begun::Ledger));
    // A key of the wrong sort is Redis' refusal of one command, not its end.
    tell(&server, &["RPUSH", "ganger:idempotency:1:a:l", "rubbish"]);
    assert!(matches!(redis.begin("a", "l", &[1; 32]).await, Begun::Ledger));
    assert!(redis.is_up());
}
