//! Final jobs from Redis: never shown as over once they run again.

use ganger_core::JobId;
use ganger_core::job::{JobSpec, State};
use ganger_store::testing as real;
use serde_json::json;

use crate::site::{Site, answer, eventually, id_of};

async fn state(site: &Site, id: JobId) -> State {
    site.server.service().job(id).await.unwrap().stored.state
}

/// A job that is final and is read from Redis.
async fn cached(site: &Site) -> JobId {
    let spec = JobSpec { payload: "[1]".into(), ..JobSpec::new("noop".parse().unwrap()) };
    let answer = site.server.service().submit(None, vec![spec]).await.unwrap();
    let ganger_core::change::Submitted::Accepted(intakes) = answer else { panic!("{answer:?}") };
    let id = intakes[0].job();
    site.server.service().cancel(id).await.unwrap();
    let hits = || site.redis.roles()[1].hits;
    let before = hits();
    eventually("a hit", || async { state(site, id).await == State::Cancelled && hits() > before }).await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replayed_job_is_shown_as_it_is_now() {
    let server = real::Redis::start();
    let site = Site::start(&server).await;
    let id = cached(&site).await;
    let shown = answer(site.post(&format!("/v1/jobs/{id}:replay"), &json!({})).await, 200).await;
    assert_eq!((id_of(&shown), shown["state"].as_str()), (id, Some("queued")));
    for _ in 0..20 {
        assert_eq!(state(&site, id).await, State::Queued);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_replayed_while_redis_hangs_or_is_dead_is_shown_as_it_is_now() {
    let mut server = real::Redis::start();
    let site = Site::start(&server).await;
    let (first, second) = (cached(&site).await, cached(&site).await);
    server.pause();
    site.server.service().replay(first).await.unwrap();
    assert_eq!(state(&site, first).await, State::Queued);
    server.resume();
    site.is_up(true).await;
    assert_eq!(state(&site, first).await, State::Queued);
    // Its append-only file brings everything back that was kept.
    server.kill();
    site.server.service().replay(second).await.unwrap();
    server.restart();
    site.is_up(true).await;
    assert_eq!(state(&site, second).await, State::Queued);
    // And final jobs are kept again.
    cached(&site).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_purge_removed_is_not_shown() {
    let server = real::Redis::start();
    let site = Site::start(&server).await;
    let id = cached(&site).await;
    site.server.service().purge_dead("default".parse().unwrap()).await.unwrap();
    let hits = site.redis.roles()[1].hits;
    // It was cancelled, not dead, so it is still there; but it was read from the store.
    assert_eq!(state(&site, id).await, State::Cancelled);
    assert_eq!(site.redis.roles()[1].hits, hits);
}
