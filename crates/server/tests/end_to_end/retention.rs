//! Retention: final jobs go by themselves, when their time is up and a few at a time.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::outcome::Report;
use ganger_server::service::{Service, ServiceError};
use ganger_server::testing;
use ganger_store::SqliteStore;
use serde_json::json;

use crate::common::{ended, eventually, metric, spec, submit};
use crate::worker::Worker;

const HOUR: Duration = Duration::from_secs(3600);

/// A job of that queue which ended without having run.
async fn cancelled(service: &Service, queue: &str) -> JobId {
    let mut spec = spec("x", "1");
    spec.queue = queue.parse().unwrap();
    let job = submit(service, spec).await;
    service.cancel(job).await.unwrap();
    job
}

async fn is_gone(service: &Service, job: JobId) -> bool {
    matches!(service.job(job).await, Err(ServiceError::NoSuchJob(_)))
}

/// Final jobs of that queue are kept for so long, dead ones as long as by default.
async fn keep(url: &str, queue: &str, time: &str) {
    let body = json!({"retention": {"finished": time}}).to_string();
    let answer = reqwest::Client::new().put(format!("{url}/v1/queues/{queue}")).body(body).send().await;
    assert_eq!(answer.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_final_job_goes_by_itself_when_its_time_is_up_and_others_stay() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path(), Default::default()).unwrap();
    let mut options = testing::options(Arc::new(store));
    options.coordinator.prune_first = Duration::from_millis(10);
    options.coordinator.prune_every = Duration::from_millis(50);
    let server = testing::start_with(options).await;
    let service = server.service();
    keep(&server.url(), "short", "300ms").await;

    let mut dies = spec("x", "1");
    dies.queue = "short".parse().unwrap();
    let dead = submit(service, dies).await;
    let mut worker = Worker::start(&server.url()).await;
    let parcel = worker.work().await;
    worker.report(&parcel, Report::Fatal("broken".into())).await;
    ended(service, dead).await;
    service.drain_worker(worker.session).await.unwrap();

    let stays = cancelled(service, "long").await;
    let first = cancelled(service, "short").await;
    eventually("the end of its retention", || is_gone(service, first)).await;
    // The timer goes on: it is not only the first look after a start.
    let second = cancelled(service, "short").await;
    eventually("the end of its retention", || is_gone(service, second)).await;
    for kept in [stays, dead] {
        assert!(!is_gone(service, kept).await, "{kept} is kept longer");
    }
    assert_eq!(
        metric(&server.url(), "ganger_queue_jobs{queue=\"short\",state=\"cancelled\"}").await,
        Some(0.0)
    );
    server.stop().await;
}

/// A backlog of old jobs must not become one long commit that everyone waits for.
#[tokio::test(flavor = "multi_thread")]
async fn no_commit_removes_more_than_its_bound_and_the_rest_follows_soon() {
    const BOUND: usize = 3;
    let dir = tempfile::tempdir().unwrap();
    let options = || {
        let mut options =
            testing::options(Arc::new(SqliteStore::open(dir.path(), Default::default()).unwrap()));
        options.coordinator.prune_first = HOUR;
        options.coordinator.prune_every = HOUR;
        options.coordinator.prune_limit = BOUND;
        options
    };
    let server = testing::start_with(options()).await;
    keep(&server.url(), "short", "1ms").await;
    let mut jobs = Vec::new();
    for _ in 0..10 {
        jobs.push(cancelled(server.service(), "short").await);
    }
    assert!(!is_gone(server.service(), jobs[0]).await, "nothing goes before the timer");
    server.stop().await;

    let mut options = options();
    options.coordinator.prune_first = Duration::from_millis(10);
    let server = testing::start_with(options).await;
    for job in jobs {
        eventually("the end of its retention", || is_gone(server.service(), job)).await;
    }
    // Nothing else is written: three times three, and one.
    assert_eq!(metric(&server.url(), "ganger_store_commit_seconds_count").await, Some(4.0));
    server.stop().await;
}
