//! Three real servers with a real election, asked through whichever is there.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use ganger_core::job::State;
use ganger_core::outcome::Report;
use ganger_server::coordinator_thread::Phase;
use ganger_server::testing::{self, TestServer};
use ganger_store::MemoryStore;
use serde_json::json;
use tokio::sync::watch;

use crate::common::{ended, is_in, spec, submit, within};
use crate::link::{Link, Passes, shared_store};
use crate::relay::{SECRET, get, post};
use crate::worker::Worker;

/// Nobody waits for this one: leadership moves only when it is handed over.
const LONG_TTL: Duration = Duration::from_secs(600);

async fn join(store: &Arc<MemoryStore>, ttl: Duration) -> (TestServer, Link) {
    let link = Link::to(store);
    let mut options = testing::options(Arc::new(link.clone()));
    options.cluster_secret = Some(SECRET.into());
    options.leader_ttl = ttl;
    (testing::start_with(options).await, link)
}

async fn leads(server: &TestServer) {
    let mut phase = server.service().phase();
    within("leadership", phase.wait_for(|phase| matches!(phase, Phase::Leading(_)))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_a_standby_notice_nothing_while_every_other_server_is_restarted() {
    let store = shared_store();
    let (mut first, _) = join(&store, LONG_TTL).await;
    leads(&first).await;
    let (asked, _) = join(&store, LONG_TTL).await;
    let (mut third, _) = join(&store, LONG_TTL).await;
    let (stop, stopped) = watch::channel(false);
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (url, stopped) = (asked.url(), stopped.clone());
            tokio::spawn(async move {
                let mut ids = Vec::new();
                while !*stopped.borrow() {
                    let (status, job) = post(&url, "/v1/jobs", json!({"kind": "x"})).await;
                    assert_eq!(status, 201, "{job}");
                    let id = job["id"].as_str().unwrap().to_owned();
                    let (status, seen) = get(&url, &format!("/v1/jobs/{id}")).await;
                    assert_eq!((status, &seen["id"]), (200, &job["id"]));
                    ids.push(id);
                }
                ids
            })
        })
        .collect();
    // Any of the others may win each time, the one that is asked included: then what it held is answered there.
    for _ in 0..2 {
        first.stop().await;
        first = join(&store, LONG_TTL).await.0;
        third.stop().await;
        third = join(&store, LONG_TTL).await.0;
    }
    stop.send_replace(true);
    let mut ids: Vec<String> = join_all(clients).await.into_iter().flat_map(Result::unwrap).collect();
    let submitted = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), submitted, "no id was given twice");
    for url in [first.url(), asked.url(), third.url()] {
        let (status, stats) = get(&url, "/v1/stats").await;
        assert_eq!((status, &stats["jobs"]["queued"]), (200, &json!(submitted)), "{stats}");
    }
    for server in [first, third, asked] {
        server.stop().await;
    }
}

/// The leader is gone from one moment to the next: what runs goes on, and who is asked takes over or finds who did.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_of_the_leader_costs_clients_and_workers_of_a_standby_only_time() {
    let store = shared_store();
    let ttl = Duration::from_secs(2);
    let (leader, link) = join(&store, ttl).await;
    leads(&leader).await;
    let (asked, _) = join(&store, ttl).await;
    let job = submit(leader.service(), spec("long", "1")).await;
    let mut worker = Worker::start(&asked.url()).await;
    let parcel = worker.work().await;
    is_in(leader.service(), job, State::Running).await;
    link.pass(Passes::Nothing);
    drop(leader);
    let (status, late) = post(&asked.url(), "/v1/jobs", json!({"kind": "late"})).await;
    assert_eq!(status, 201, "{late}");
    within("the end of the stream", worker.stream_ends()).await;
    let worker = Worker::again(&asked.url(), &worker).await;
    worker.report(&parcel, Report::Ok("1".into())).await;
    let view = ended(asked.service(), job).await;
    assert_eq!((view.stored.state, view.stored.standing.attempt), (State::Succeeded, 1));
    asked.stop().await;
}
