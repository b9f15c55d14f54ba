//! The leader's events reach other servers, with their numbers.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::event::Event;
use ganger_core::job::State;
use ganger_server::clock::Clock;
use ganger_store::MemoryStore;
use ganger_store::redis::events::Heard;
use ganger_store::testing as real;
use serde_json::json;

use crate::site::{PATIENCE, Site, answer, eventually, id_of, within};

#[tokio::test(flavor = "multi_thread")]
async fn what_the_leader_tells_is_heard_in_order_and_without_a_gap() {
    let server = real::Redis::start();
    let site = Site::start(&server).await;
    let mut subscription = site.redis.subscribe().await.unwrap();
    let mut submitted = Vec::new();
    for _ in 0..600 {
        submitted.push(id_of(&answer(site.post("/v1/jobs", &json!({ "kind": "noop" })).await, 201).await));
    }
    let mut heard = Vec::new();
    let mut next = None;
    let listen = async {
        while heard.len() < submitted.len() {
            match subscription.next().await.expect("the leader says at least that it is there") {
                Heard::Dropped(missed) => panic!("missed {missed:?}"),
                Heard::Events { first, events, .. } => {
                    assert!(next.is_none_or(|next| next == first || next == 0));
                    next = Some(first + events.len() as u64);
                    heard.extend(events.into_iter().filter_map(|event| match event {
                        Event::Job { job, state: State::Queued, .. } => Some(job),
                        Event::Job { .. }
                        | Event::Attempt { .. }
                        | Event::LeaseLost { .. }
                        | Event::Progress { .. }
                        | Event::Worker { .. }
                        | Event::Queue { .. }
                        | Event::Occurrence { .. }
                        | Event::ScheduleOverdue { .. }
                        | Event::Schedule { .. }
                        | Event::Difference { .. } => None,
                    }));
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, listen).await.unwrap();
    assert_eq!(heard, submitted);
    // A leader without news is still heard.
    let word = tokio::time::timeout(Duration::from_secs(4), subscription.next()).await.unwrap();
    assert!(matches!(word, Some(Heard::Events { events, .. }) if events.is_empty()));
}

/// Reads a stream of events until it tells of this.
async fn reads(stream: &mut reqwest::Response, what: &str) -> String {
    let mut text = String::new();
    while !text.contains(what) {
        let chunk = within(what, stream.chunk()).await.unwrap().expect("the stream is open");
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    text
}

/// The standby tells events by itself while it hears the leader, and passes listeners on while it does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_listener_at_a_standby_hears_the_leader_with_and_without_redis() {
    let mut server = real::Redis::start();
    let clock = Clock::start();
    let store = Arc::new(MemoryStore::for_cluster(move || clock.now()));
    let leader = Site::start_on(&server, store.clone()).await;
    let standby = Site::start_on(&server, store).await;
    let feed_is_up = |up: bool| {
        let feed = standby.server.service().accelerator().unwrap().clone();
        async move { eventually("a change of the feed", || async { feed.feed_is_up() == up }).await }
    };
    let listen = |last: Option<String>| {
        let request = reqwest::Client::new().get(format!("{}/v1/events", standby.server.url()));
        async move { last.iter().fold(request, |r, last| r.header("last-event-id", last)).send().await.unwrap() }
    };
    let submit = || async { answer(leader.post("/v1/jobs", &json!({ "kind": "noop" })).await, 201).await };
    feed_is_up(true).await;
    assert!(!leader.server.service().accelerator().unwrap().feed_is_up());
    let mut stream = listen(None).await;
    let text = reads(&mut stream, &id_of(&submit().await).to_string()).await;
    let last = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();

    server.kill();
    // Rather than stay silent the stream ends.
    within("the end", async { while stream.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} }).await;
    feed_is_up(false).await;
    let mut stream = listen(Some(last.clone())).await;
    assert!(reads(&mut stream, &id_of(&submit().await).to_string()).await.contains("event: gap"));

    server.restart();
    feed_is_up(true).await;
    let mut stream = listen(Some(last)).await;
    reads(&mut stream, &id_of(&submit().await).to_string()).await;
}
