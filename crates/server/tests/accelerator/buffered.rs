//! Buffered jobs: taken in without a store, drained into it, none lost and none twice.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_proto::v1;
use ganger_proto::v1::batch_item::Answer;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_server::clock::Clock;
use ganger_server::testing;
use ganger_store::MemoryStore;
use ganger_store::testing as real;
use serde_json::{Value, json};

use crate::faulty::{Fault, FaultyStore};
use crate::site::{Site, answer, ask, eventually, flush, id_of};
use crate::worker::Worker;

fn buffered() -> Value {
    json!({ "kind": "noop", "payload": [1], "durability": "buffered" })
}

async fn is_drained(site: &Site) {
    eventually("draining", || async { site.redis.buffered().await == Some(0) }).await;
}

async fn exists(site: &Site, id: JobId) -> bool {
    site.server.service().job(id).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buffered_job_is_accepted_while_the_store_refuses_and_drained_when_it_does_not() {
    let server = real::Redis::start();
    let store = FaultyStore::new();
    let site = Site::start_on(&server, store.clone()).await;
    store.commits(Fault::Full);
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let body = answer(site.post("/v1/jobs", &buffered()).await, 202).await;
        assert_eq!(body["durability"], "buffered");
        ids.insert(id_of(&body));
    }
    let batch =
        json!({ "jobs": [{ "kind": "a" }, { "kind": "b" }, { "knd": "c" }], "durability": "buffered" });
    let body = answer(site.post("/v1/jobs:batch", &batch).await, 200).await;
    assert_eq!((&body["durability"], &body["results"][0]["status"]), (&json!("buffered"), &json!(202)));
    assert_eq!(body["results"][2]["status"], 422);
    ids.extend([0, 1].map(|n| id_of(&body["results"][n])));
    // What is durable is refused meanwhile.
    answer(site.post("/v1/jobs", &json!({ "kind": "noop" })).await, 503).await;
    assert_eq!(site.jobs().await, 0);
    assert!(site.text("/metrics").await.contains("ganger_ingest_buffered 22"));
    store.commits(Fault::None);
    is_drained(&site).await;
    assert_eq!((ids.len(), site.jobs().await), (22, 22));
    for id in ids {
        let job = site.server.service().job(id).await.unwrap().stored;
        assert!(["noop", "a", "b"].contains(&job.spec.kind.as_str()));
    }
}

/// One by one, each would cost a commit: what comes within a moment is one batch, and nobody waits for longer than that.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_come_one_after_the_other_leave_the_buffer_together() {
    const JOBS: usize = 300;
    const APART: Duration = Duration::from_millis(20);
    let server = real::Redis::start();
    let site = Site::start(&server).await;
    let reads = || {
        let stats = ask(&server, &["INFO", "commandstats"]);
        let calls = stats.lines().find_map(|line| line.strip_prefix("cmdstat_xreadgroup:calls="));
        calls.and_then(|rest| rest.split(',').next()).map_or(0, |calls| calls.parse::<u32>().unwrap())
    };
    let (clock, before) = (Clock::start(), reads());
    let began = clock.now().mono;
    for _ in 0..JOBS {
        answer(site.post("/v1/jobs", &buffered()).await, 202).await;
    }
    is_drained(&site).await;
    let took = clock.now().mono.since(began);
    // One that waited for the first job, and one that waits for the next.
    let most = took.as_millis() / APART.as_millis() + 3;
    assert!(u128::from(reads() - before) <= most, "{} reads in {took:?}", reads() - before);
    assert_eq!(site.jobs().await, JOBS);
}

/// The leader commits, and dies before it could tell Redis, which dies at that very moment as well. The next leader sees the same
/// entries again.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_dies_between_commit_and_settling_makes_no_job_twice() {
    let mut server = real::Redis::start();
    let store = FaultyStore::new();
    let site = Site::start_on(&server, store.clone()).await;
    answer(site.post("/v1/jobs", &buffered()).await, 202).await;
    is_drained(&site).await;
    store.commits(Fault::Hangs);
    let mut ids = HashSet::new();
    for _ in 0..10 {
        ids.insert(id_of(&answer(site.post("/v1/jobs", &buffered()).await, 202).await));
    }
    eventually("a commit that hangs", || async { store.tried() > 0 }).await;
    server.kill();
    store.commits(Fault::None);
    eventually("the commit", || async { site.jobs().await > 1 }).await;
    // Some of them are over before they are seen again.
    let list = site.server.service().list(Default::default()).await.unwrap();
    for job in list.jobs {
        site.server.service().cancel(job.id).await.unwrap();
    }
    drop(site);

    let next = Site::start_on(&server, store.clone()).await;
    // With a worker that waits, a new job is leased in the very commit that takes it in.
    let _worker = Worker::start(&next.server.url()).await;
    server.restart();
    next.is_up(true).await;
    is_drained(&next).await;
    assert_eq!(next.jobs().await, 11);
    for id in ids {
        assert!(exists(&next, id).await);
    }
}

/// Redis takes the job and does not say so. Its submitter is answered all the same, and there is one job.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_redis_took_without_saying_so_exists_once() {
    let server = real::Redis::start();
    let site = Arc::new(Site::start(&server).await);
    server.pause();
    let posts: Vec<_> = (0..10)
        .map(|_| {
            let site = site.clone();
            tokio::spawn(async move { answer(site.post("/v1/jobs", &buffered()).await, 201).await })
        })
        .collect();
    let mut ids = HashSet::new();
    for post in posts {
        let body = post.await.unwrap();
        assert_eq!(body["durability"], "durable");
        ids.insert(id_of(&body));
    }
    // What it was sent while it hung it carries out now.
    server.resume();
    site.is_up(true).await;
    is_drained(&site).await;
    assert_eq!((ids.len(), site.jobs().await), (10, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_buffered_is_durable_and_says_so() {
    let mut server = real::Redis::start();
    let site = Site::start(&server).await;
    let durable = |body: Value| async move {
        assert_eq!(body["durability"], "durable", "{body}");
    };
    durable(answer(site.post_under("k", &buffered()).await, 201).await).await;
    let mut unique = buffered();
    unique["unique_key"] = json!("u");
    durable(answer(site.post("/v1/jobs", &unique).await, 201).await).await;
    let mut large = buffered();
    large["payload"] = json!("x".repeat(64 << 10));
    durable(answer(site.post("/v1/jobs", &large).await, 201).await).await;
    server.kill();
    site.is_up(false).await;
    durable(answer(site.post("/v1/jobs", &buffered()).await, 201).await).await;
    let batch = json!({ "jobs": [{ "kind": "a" }], "durability": "buffered" });
    let body = answer(site.post("/v1/jobs:batch", &batch).await, 200).await;
    assert_eq!((&body["durability"], &body["results"][0]["status"]), (&json!("durable"), &json!(201)));
    assert_eq!(site.jobs().await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_allow_it_refuses_clearly() {
    let server = testing::start_on(Arc::new(MemoryStore::new())).await;
    let client = reqwest::Client::new();
    let post = |path: &str, body: Value| {
        client.post(format!("{}{path}", server.url())).body(body.to_string()).send()
    };
    let refused = answer(post("/v1/jobs", buffered()).await.unwrap(), 422).await;
    assert!(refused["detail"].as_str().unwrap().contains("--allow-buffered"), "{refused}");
    assert_eq!(refused["errors"][0]["pointer"], "/durability");
    let within = json!({ "jobs": [buffered()] });
    let body = answer(post("/v1/jobs:batch", within).await.unwrap(), 200).await;
    assert!(body["results"][0]["problem"]["detail"].as_str().unwrap().contains("whole request"), "{body}");
    let unknown = json!({ "kind": "noop", "durability": "never" });
    answer(post("/v1/jobs", unknown).await.unwrap(), 422).await;
    let plain = answer(post("/v1/jobs", json!({ "kind": "noop" })).await.unwrap(), 201).await;
    assert_eq!(plain["durability"], "durable");
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_can_buffer_too() {
    let server = real::Redis::start();
    let site = Site::start(&server).await;
    let mut client = JobsClient::connect(site.server.url()).await.unwrap();
    let job = |kind: &str| v1::NewJob { kind: kind.into(), payload: "1".into(), ..Default::default() };
    let one = v1::EnqueueRequest { job: Some(job("a")), buffered: true, ..Default::default() };
    let answer = client.enqueue(one.clone()).await.unwrap().into_inner();
    assert!(answer.buffered);
    let keyed = v1::EnqueueRequest { idempotency_key: "k".into(), ..one };
    assert!(!client.enqueue(keyed).await.unwrap().into_inner().buffered);
    let jobs = vec![job("b"), job(""), job("c")];
    let batch = v1::EnqueueBatchRequest { jobs, buffered: true, ..Default::default() };
    let items = client.enqueue_batch(batch).await.unwrap().into_inner().items;
    let buffered = |item: &v1::BatchItem| matches!(&item.answer, Some(Answer::Job(job)) if job.buffered);
    assert_eq!(items.iter().map(buffered).collect::<Vec<_>>(), [true, false, true]);
    is_drained(&site).await;
    assert_eq!(site.jobs().await, 4);
    assert!(exists(&site, answer.id.parse().unwrap()).await);
}

/// A standby buffers by itself, also while nobody leads; whoever leads next drains.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_lead_buffers_by_itself() {
    let server = real::Redis::start();
    let clock = Clock::start();
    let store = Arc::new(MemoryStore::for_cluster(move || clock.now()));
    let leader = Site::start_on(&server, store.clone()).await;
    let standby = Site::start_on(&server, store).await;
    assert!(leader.server.service().leads() && !standby.server.service().leads());
    let first = id_of(&answer(standby.post("/v1/jobs", &buffered()).await, 202).await);
    eventually("draining by the leader", || async { exists(&leader, first).await }).await;
    let mut program = JobsClient::connect(standby.server.url()).await.unwrap();
    let job = Some(v1::NewJob { kind: "a".into(), ..Default::default() });
    let call = v1::EnqueueRequest { job, buffered: true, ..Default::default() };
    let second = program.enqueue(call.clone()).await.unwrap().into_inner();
    assert!(second.buffered);
    eventually("draining by the leader", || async { exists(&leader, second.id.parse().unwrap()).await })
        .await;
    // Under a key only the ledger can promise the same answer: that is the leader's, and durable.
    let call = v1::EnqueueRequest { idempotency_key: "k".into(), ..call };
    let relayed = program.enqueue(call.clone()).await.unwrap().into_inner();
    assert!(!relayed.buffered && exists(&leader, relayed.id.parse().unwrap()).await);
    drop(leader);
    let call = v1::EnqueueBatchRequest {
        jobs: call.job.into_iter().collect(),
        buffered: true,
        ..Default::default()
    };
    let answers = program.enqueue_batch(call).await.unwrap().into_inner().items;
    let Some(v1::batch_item::Answer::Job(job)) = &answers[0].answer else { panic!("{answers:?}") };
    assert!(job.buffered, "nobody need lead");
    let batch =
        json!({ "jobs": [{ "kind": "a" }, { "kind": "b" }, { "knd": "c" }], "durability": "buffered" });
    let body = answer(standby.post("/v1/jobs:batch", &batch).await, 200).await;
    assert_eq!((&body["summary"]["created"], &body["durability"]), (&json!(2), &json!("buffered")));
    eventually("another leader", || async { standby.server.service().leads() }).await;
    is_drained(&standby).await;
    assert_eq!(standby.jobs().await, 6);
}

/// A queue that drains takes nothing new: its buffered jobs wait, and hold up nobody else's.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_queue_drains_waits_in_the_buffer() {
    let server = real::Redis::start();
    let site = Site::start(&server).await;
    answer(site.post("/v1/queues/slow:drain", &json!({})).await, 200).await;
    let mut slow = buffered();
    slow["queue"] = json!("slow");
    let waits = id_of(&answer(site.post("/v1/jobs", &slow).await, 202).await);
    let goes = id_of(&answer(site.post("/v1/jobs", &buffered()).await, 202).await);
    eventually("the other job", || async { exists(&site, goes).await }).await;
    assert!(!exists(&site, waits).await);
    answer(site.post("/v1/queues/slow:resume", &json!({})).await, 200).await;
    eventually("the job that waited", || async { exists(&site, waits).await }).await;
    is_drained(&site).await;
    // An emptied Redis is set up again by itself.
    flush(&server);
    let after = id_of(&answer(site.post("/v1/jobs", &buffered()).await, 202).await);
    eventually("the job after it", || async { exists(&site, after).await }).await;
}
