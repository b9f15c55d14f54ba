//! Events between servers: in order, in batches, and never lost in silence.

use ganger_core::event::{Event, WorkerState};
use ganger_core::job::State;
use ganger_core::lease::Fence;
use ganger_core::name::{Kind, QueueName};
use ganger_core::outcome::Outcome;
use ganger_core::reason::Reason;
use ganger_core::{SessionId, Term, Wall};
use ganger_store::redis::events::{Heard, Subscription};
use ganger_store::testing;

use crate::common::{PATIENCE, connect, id, is_up};

const TERM: Term = Term { number: 4, id: 9 };

fn events() -> Vec<Event> {
    let queue: QueueName = "mail".parse().unwrap();
    let kind: Kind = "noop".parse().unwrap();
    let (job, session) = (id(1), SessionId::new(1, [2; 10]));
    let fence = Fence { term: TERM, seq: 3 };
    vec![
        Event::Job {
            job,
            queue: queue.clone(),
            kind: kind.clone(),
            state: State::Running,
            attempt: 1,
            created_at: Wall(1),
            at: Wall(2),
        },
        Event::Attempt {
            job,
            queue: queue.clone(),
            kind,
            attempt: 1,
            outcome: Outcome::Timeout,
            reason: Reason::DidNotStop,
            again: true,
            worker: "w".into(),
            ran_us: 5,
            waited_us: 6,
            at: Wall(3),
        },
        Event::LeaseLost { job, fence, session },
        Event::Progress { job, fraction: 0.25, note: "a\u{1f}b".into() },
        Event::Worker { session, worker: "w".into(), state: WorkerState::Draining, at: Wall(4) },
        Event::Queue { queue, paused: true, draining: false, at: Wall(5) },
    ]
}

async fn next(subscription: &mut Subscription) -> Option<Heard> {
    tokio::time::timeout(PATIENCE, subscription.next()).await.expect("a listener is bounded by itself")
}

#[tokio::test]
async fn every_sort_of_event_is_heard_as_it_was_told() {
    let server = testing::Redis::start();
    let (leader, standby) = (connect(&server).await, connect(&server).await);
    let mut subscription = standby.subscribe().await.unwrap();
    let told = events();
    assert!(leader.publish(TERM, 1, &told.iter().collect::<Vec<_>>()).await);
    let heard = next(&mut subscription).await;
    assert_eq!(heard, Some(Heard::Events { term: TERM, first: 1, events: told }));
}

#[tokio::test]
async fn events_lost_while_redis_was_away_are_told_as_dropped() {
    let mut server = testing::Redis::start();
    let (leader, standby) = (connect(&server).await, connect(&server).await);
    let mut subscription = standby.subscribe().await.unwrap();
    let event = &events()[5];
    assert!(leader.publish(TERM, 1, &[event]).await);
    assert!(matches!(next(&mut subscription).await, Some(Heard::Events { first: 1, .. })));
    // A message that came to nothing, as if the leader's connection had broken.
    assert!(leader.publish(TERM, 4, &[]).await);
    assert_eq!(next(&mut subscription).await, Some(Heard::Dropped(Some(2))));
    assert!(matches!(next(&mut subscription).await, Some(Heard::Events { first: 4, .. })));

    server.kill();
    assert_eq!(next(&mut subscription).await, None);
    is_up(&leader, false).await;
    assert!(!leader.publish(TERM, 4, &[event]).await);
    is_up(&standby, false).await;
    assert!(standby.subscribe().await.is_none());
    server.restart();
    is_up(&standby, true).await;
    assert!(standby.subscribe().await.is_some());
}

/// A server that hangs keeps the connection open and says nothing.
#[tokio::test]
async fn a_listener_that_hears_no_leader_says_so() {
    let server = testing::Redis::start();
    let standby = connect(&server).await;
    let mut subscription = standby.subscribe().await.unwrap();
    server.pause();
    assert_eq!(next(&mut subscription).await, None);
    server.resume();
}
