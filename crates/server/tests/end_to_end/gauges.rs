//! The gauges of the cluster and the metrics of doors, each moved by what it tells.

use std::sync::Arc;

use ganger_core::outcome::Report;
use ganger_proto::health::HealthCheckRequest;
use ganger_proto::health::health_check_response::ServingStatus;
use ganger_proto::health::health_client::HealthClient;
use ganger_proto::v1;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_server::auth::AuthOptions;
use ganger_server::testing;
use ganger_store::{MemoryStore, Store};
use serde_json::json;

use crate::common::{eventually, metric, metrics, spec, submit};
use crate::faulty::{Fault, FaultyStore};
use crate::relay::{self, LEADER, SECRET, pair, post};
use crate::worker::Worker;

async fn reads(url: &str, name: &str, value: f64) {
    eventually(&format!("{name} is {value}"), || async { metric(url, name).await == Some(value) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_told_with_its_workers_threads_and_dead_and_whether_it_is_paused() {
    let server = testing::start().await;
    let (url, service) = (server.url(), server.service());
    submit(service, spec("x", "1")).await;
    reads(&url, "ganger_queue_workers{queue=\"default\"}", 0.0).await;
    let mut worker = Worker::start(&url).await;
    let held = worker.work().await;
    reads(&url, "ganger_queue_workers{queue=\"default\"}", 1.0).await;
    reads(&url, "ganger_queue_threads{queue=\"default\",state=\"used\"}", 1.0).await;
    reads(&url, "ganger_queue_threads{queue=\"default\",state=\"free\"}", 3.0).await;
    worker.report(&held, Report::Fatal("no".into())).await;
    reads(&url, "ganger_dead_jobs{queue=\"default\"}", 1.0).await;
    let fatal = "ganger_attempts_total{queue=\"default\",kind=\"x\",outcome=\"error\",reason=\"fatal\"}";
    reads(&url, fatal, 1.0).await;
    reads(&url, "ganger_queue_paused{queue=\"default\"}", 0.0).await;
    service.pause_queue("default".parse().unwrap()).await.unwrap();
    reads(&url, "ganger_queue_paused{queue=\"default\"}", 1.0).await;
    reads(&url, "ganger_closed_keys", 0.0).await;
    let closed = post(&url, "/v1/queues/default/keys/a:close", json!({"for": "1h"})).await;
    assert!(closed.0 < 300, "{closed:?}");
    reads(&url, "ganger_closed_keys", 1.0).await;
    server.stop().await;
}

/// What a schedule makes came by no door, and counts as taken in all the same.
#[tokio::test(flavor = "multi_thread")]
async fn schedules_are_told_as_they_fire_and_when_nothing_can_be_written() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    let url = server.url();
    let tick = json!({"name": "tick", "every": "1s", "job": {"kind": "report"}});
    assert_eq!(post(&url, "/v1/schedules", tick).await.0, 201);
    let paused = json!({"name": "idle", "every": "1s", "paused": true, "job": {"kind": "report"}});
    assert_eq!(post(&url, "/v1/schedules", paused).await.0, 201);
    reads(&url, "ganger_schedules", 2.0).await;
    reads(&url, "ganger_schedules_paused", 1.0).await;
    let above = async |name: &str, bound: f64| {
        eventually(name, || async { metric(&url, name).await.is_some_and(|value| value > bound) }).await;
    };
    above("ganger_jobs_enqueued_total{queue=\"default\",kind=\"report\"}", 0.0).await;
    above("ganger_occurrences_total{cause=\"schedule\",fate=\"fired\"}", 0.0).await;
    above("ganger_occurrence_lateness_seconds_count", 0.0).await;
    store.commits(Fault::Hangs);
    above("ganger_schedule_lag_seconds", 1.0).await;
    // One batch is on its way and does not come back: what comes now waits for the next.
    assert_eq!(metric(&url, "ganger_store_backlog").await, Some(0.0));
    let waiting = tokio::spawn({
        let service = server.service().clone();
        async move { service.submit(None, vec![spec("x", "1")]).await }
    });
    above("ganger_store_backlog", 0.0).await;
    store.commits(Fault::None);
    waiting.await.unwrap().unwrap();
    reads(&url, "ganger_store_backlog", 0.0).await;
    eventually("it catches up", || async {
        metric(&url, "ganger_schedule_lag_seconds").await.is_some_and(|lag| lag < 1.0)
    })
    .await;
    server.stop().await;
}

/// Any server answers for the cluster, what is counted is counted once, and a server that hears nothing says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_tells_the_gauges_of_the_leader_and_counts_nothing_twice() {
    let pair = pair().await;
    let (leader, standby) = (pair.leader.url(), pair.standby.url());
    for n in 0..3 {
        assert_eq!(post(&standby, "/v1/jobs", json!({"kind": "x", "payload": n})).await.0, 201);
    }
    let queued = "ganger_queue_jobs{queue=\"default\",state=\"queued\"}";
    let enqueued = "ganger_jobs_enqueued_total{queue=\"default\",kind=\"x\"}";
    for url in [&leader, &standby] {
        reads(url, queued, 3.0).await;
        reads(url, "ganger_cluster_known", 1.0).await;
    }
    assert_eq!((metric(&leader, enqueued).await, metric(&standby, enqueued).await), (Some(3.0), None));
    reads(&leader, "ganger_leader", 1.0).await;
    reads(&standby, "ganger_leader", 0.0).await;
    let text = metrics(&standby).await;
    let mut types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    let told = types.len();
    types.sort_unstable();
    types.dedup();
    assert_eq!(types.len(), told, "each metric is told once: {text}");
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
    pair.leader.stop().await;
    reads(&standby, "ganger_cluster_known", 0.0).await;
    assert_eq!(metric(&standby, queued).await, None, "what nobody knows is not told");
    pair.standby.stop().await;
}

/// Who measures the standby from its own machine has no token; that the standby may ask the leader all the same, its seal shows.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_knows_the_secret_needs_no_token_of_its_client_for_the_gauges() {
    for (secret, known) in [(Some(SECRET.to_owned()), 1.0), (None, 0.0)] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let asking = |name: &str| {
            let mut options = relay::server(name, &store);
            options.auth = AuthOptions::Required { jwt_secret: None, first_token: Arc::new(|_| Ok(())) };
            options.cluster_secret = secret.clone();
            options
        };
        let leader = testing::start_with(asking(LEADER)).await;
        let standby = testing::standby(asking("standby-1")).await;
        standby.follow(LEADER, &leader.url());
        reads(&standby.url(), "ganger_cluster_known", known).await;
        standby.stop().await;
        leader.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_measured_and_listeners_counted() {
    let server = testing::start().await;
    let url = server.url();
    let mut client = JobsClient::connect(url.clone()).await.unwrap();
    client.get(v1::GetRequest { id: "nonsense".into(), ..Default::default() }).await.unwrap_err();
    let route = "route=\"/ganger.v1.Jobs/Get\",method=\"POST\",status_class=\"4xx\"";
    reads(&url, &format!("ganger_api_request_seconds_count{{{route}}}"), 1.0).await;
    reads(&url, "ganger_stream_clients", 0.0).await;
    let listening = reqwest::get(format!("{url}/v1/events")).await.unwrap();
    reads(&url, "ganger_stream_clients", 1.0).await;
    drop(listening);
    reads(&url, "ganger_stream_clients", 0.0).await;
    server.stop().await;
}

/// As the dashboards of profile A mean it: with any job a worker is busy, and one that was killed is unavailable until it is back.
#[tokio::test(flavor = "multi_thread")]
async fn workers_are_told_by_what_they_do_and_a_lost_one_is_unavailable() {
    let server = testing::start().await;
    let (url, service) = (server.url(), server.service());
    let active = |state: &str| format!("workers_active{{state=\"{state}\"}}");
    let mut worker = Worker::start(&url).await;
    reads(&url, &active("available"), 1.0).await;
    submit(service, spec("x", "1")).await;
    let _held = worker.work().await;
    reads(&url, &active("busy"), 1.0).await;
    reads(&url, &active("available"), 0.0).await;
    reads(&url, &active("unavailable"), 0.0).await;
    // Its TTL passes without a sign of life.
    drop(worker);
    reads(&url, &active("unavailable"), 1.0).await;
    reads(&url, &active("busy"), 0.0).await;
    // It is back under its name, and has the job again.
    let mut back = Worker::start(&url).await;
    let _held = back.work().await;
    reads(&url, &active("busy"), 1.0).await;
    reads(&url, &active("unavailable"), 0.0).await;
    server.stop().await;
}

/// It knows neither workers nor tasks itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_tells_the_health_of_workers_and_tasks_as_the_leader_does() {
    let pair = pair().await;
    let mut health = HealthClient::connect(pair.standby.url()).await.unwrap();
    let mut is = async |service: &str, expected: ServingStatus| {
        let told = health.check(HealthCheckRequest { service: service.into() }).await.unwrap();
        assert_eq!(told.into_inner().status(), expected, "{service}");
    };
    is("tasks", ServingStatus::Serving).await;
    is("workers", ServingStatus::NotServing).await;
    assert_eq!(post(&pair.standby.url(), "/v1/jobs", json!({"kind": "x"})).await.0, 201);
    is("tasks", ServingStatus::NotServing).await;
    let mut worker = Worker::start(&pair.leader.url()).await;
    let _held = worker.work().await;
    is("workers", ServingStatus::Serving).await;
    is("tasks", ServingStatus::Serving).await;
    is("server", ServingStatus::Serving).await;
    pair.leader.stop().await;
    is("workers", ServingStatus::Unknown).await;
    pair.standby.stop().await;
}
