//! What REST offers, over gRPC: queues, keys, kinds, views, workers, the server. Every call goes through a standby, and what
//! one door changed the other shows.

use std::collections::HashMap;
use std::time::Duration;

use ganger_core::limits;
use ganger_proto::convert::{duration_to_wire, moment_to_wire};
use ganger_proto::v1;
use ganger_proto::v1::close_key_request::Long;
use ganger_proto::v1::keep::How;
use ganger_proto::v1::keys_client::KeysClient;
use ganger_proto::v1::kinds_client::KindsClient;
use ganger_proto::v1::queues_client::QueuesClient;
use ganger_proto::v1::server_client::ServerClient;
use ganger_proto::v1::views_client::ViewsClient;
use ganger_proto::v1::workers_client::WorkersClient;
use ganger_server::inbox::Message;
use tonic::{Code, Response, Status};

use crate::common::{eventually, spec, submit};
use crate::relay::{Pair, pair};
use crate::worker::Worker;

/// The code of a call that must be refused.
pub fn refused<T: std::fmt::Debug>(answer: Result<Response<T>, Status>) -> (Code, String) {
    let status = answer.expect_err("it is refused");
    let code = status.metadata().get("ganger-code").map(|v| v.to_str().unwrap().to_owned());
    (status.code(), code.unwrap_or_else(|| panic!("{status:?} has no code")))
}

fn invalid(code: &str) -> (Code, String) {
    (Code::InvalidArgument, code.into())
}

pub fn seconds(n: u64) -> Option<prost_types::Duration> {
    Some(duration_to_wire(Duration::from_secs(n)))
}

async fn queues(pair: &Pair) -> QueuesClient<tonic::transport::Channel> {
    QueuesClient::connect(pair.standby.url()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_set_paused_drained_resumed_and_purged() {
    let pair = pair().await;
    let mut client = queues(&pair).await;
    let queue = || "mail".to_owned();
    let limits = v1::QueueLimits {
        max_running: Some(3),
        rate: Some(v1::Rate { n: 100, per: seconds(60) }),
        burst: None,
        max_depth: Some(9),
    };
    let put = v1::PutQueueRequest {
        queue: queue(),
        policy: "spread".into(),
        finished: Some(v1::Keep { how: Some(How::Nothing(true)) }),
        dead: Some(v1::Keep { how: Some(How::Forever(true)) }),
        limits: Some(limits),
        block: seconds(5),
        ageing: Some(v1::Ageing { every: seconds(60), at_most: 0 }),
        ..Default::default()
    };
    let set = client.put(put).await.unwrap().into_inner();
    assert_eq!((set.policy.as_str(), set.block, set.paused), ("spread", seconds(5), false));
    assert_eq!(set.limits.unwrap(), v1::QueueLimits { burst: Some(10), ..limits });
    assert_eq!(set.ageing, Some(v1::Ageing { every: seconds(60), at_most: 255 }));
    assert_eq!(set.finished.unwrap().how, Some(How::Nothing(true)));
    // What is left out stays, and zero lifts.
    let lift =
        v1::QueueLimits { max_running: Some(0), rate: Some(v1::Rate::default()), ..Default::default() };
    let ageing = Some(v1::Ageing { every: seconds(0), at_most: 0 });
    let put = v1::PutQueueRequest { queue: queue(), limits: Some(lift), ageing, ..Default::default() };
    let set = client.put(put).await.unwrap().into_inner();
    assert_eq!(set.limits.unwrap(), v1::QueueLimits { max_depth: Some(9), ..Default::default() });
    assert_eq!(
        (set.policy.as_str(), set.ageing, set.dead),
        ("spread", None, Some(v1::Keep { how: Some(How::Forever(true)) }))
    );

    assert!(client.pause(v1::PauseQueueRequest { queue: queue() }).await.unwrap().into_inner().paused);
    let drained = client.drain(v1::DrainQueueRequest { queue: queue() }).await.unwrap().into_inner();
    assert!(drained.paused && drained.draining);
    let resumed = client.resume(v1::ResumeQueueRequest { queue: queue() }).await.unwrap().into_inner();
    assert!(!resumed.paused && !resumed.draining);
    let seen = client.get(v1::GetQueueRequest { queue: queue() }).await.unwrap().into_inner();
    assert_eq!(seen, resumed);
    let all = client.list(v1::ListQueuesRequest {}).await.unwrap().into_inner().queues;
    assert!(all.iter().any(|queue| queue.queue == "mail"));
    let purged = client.purge(v1::PurgeQueueRequest { queue: queue() }).await.unwrap().into_inner();
    assert_eq!(purged.purged, 0);
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_head_of_a_queue_is_told_with_what_holds_each_job() {
    let pair = pair().await;
    let first = submit(pair.leader.service(), spec("a", "1")).await;
    let second = submit(pair.leader.service(), spec("a", "2")).await;
    let mut client = queues(&pair).await;
    let head = |limit| v1::HeadRequest { queue: "default".into(), limit };
    let told = client.head(head(0)).await.unwrap().into_inner();
    let ids: Vec<&str> = told.jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!((ids, told.exact), (vec![&*first.to_string(), &*second.to_string()], true));
    assert_eq!((told.jobs[0].gate.as_str(), told.jobs[0].attempt), ("worker", 1));
    assert_eq!(told.jobs[0].why, "no worker serves queue default");
    assert_eq!(client.head(head(1)).await.unwrap().into_inner().jobs.len(), 1);
    assert_eq!(refused(client.head(head(101)).await), invalid("invalid_parameter"));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_are_not_valid_are_refused_as_by_rest() {
    let pair = pair().await;
    let mut client = queues(&pair).await;
    let put = || v1::PutQueueRequest { queue: "mail".into(), ..Default::default() };
    let limits = |limits| v1::PutQueueRequest { limits: Some(limits), ..put() };
    let keep = |how| v1::PutQueueRequest { dead: Some(v1::Keep { how }), ..put() };
    let rate = |n, per| v1::QueueLimits { rate: Some(v1::Rate { n, per }), ..Default::default() };
    let too_many = v1::QueueLimits { max_running: Some(limits::MAX_RUNNING + 1), ..Default::default() };
    for (wrong, code) in [
        (v1::PutQueueRequest { queue: "a b".into(), ..put() }, "invalid_parameter"),
        (v1::PutQueueRequest { queue: String::new(), ..put() }, "invalid_parameter"),
        (v1::PutQueueRequest { policy: "fastest".into(), ..put() }, "validation_failed"),
        (v1::PutQueueRequest { block: seconds(31), ..put() }, "validation_failed"),
        (limits(too_many), "validation_failed"),
        (limits(v1::QueueLimits { burst: Some(1), ..Default::default() }), "validation_failed"),
        (limits(rate(1, None)), "validation_failed"),
        (limits(rate(1, seconds(0))), "validation_failed"),
        (limits(rate(1, Some(prost_types::Duration { seconds: -1, nanos: 5 }))), "validation_failed"),
        (keep(None), "validation_failed"),
        (keep(Some(How::Forever(false))), "validation_failed"),
        (keep(Some(How::Nothing(true))), "validation_failed"),
        (keep(Some(How::For(prost_types::Duration { seconds: i64::MAX, nanos: 0 }))), "validation_failed"),
        (
            v1::PutQueueRequest { ageing: Some(v1::Ageing { every: seconds(1), at_most: 256 }), ..put() },
            "validation_failed",
        ),
    ] {
        assert_eq!(refused(client.put(wrong.clone()).await), invalid(code), "{wrong:?}");
    }
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_closed_listed_and_opened() {
    let pair = pair().await;
    let mut client = KeysClient::connect(pair.standby.url()).await.unwrap();
    let close = |key: &str, long| v1::CloseKeyRequest { queue: "mail".into(), key: key.into(), long };
    let closed = client.close(close("acme:eu", Some(Long::For(seconds(60).unwrap())))).await.unwrap();
    assert!(closed.into_inner().closed_until.is_some());
    let until = moment_to_wire(pair.leader.service().clock().now().wall + Duration::from_secs(90));
    let closed = client.close(close("b", Some(Long::Until(until)))).await.unwrap().into_inner();
    assert_eq!(closed.closed_until, Some(until));
    let listed = client.list(v1::ListKeysRequest { queue: "mail".into(), limit: 1 }).await.unwrap();
    assert_eq!((listed.get_ref().keys.len(), listed.get_ref().total), (1, 2));
    let open = v1::OpenKeyRequest { queue: "mail".into(), key: "acme:eu".into() };
    assert!(client.open(open).await.unwrap().into_inner().closed_until.is_none());
    let past = Some(Long::Until(prost_types::Timestamp { seconds: 1, nanos: 0 }));
    let odd = Some(Long::Until(prost_types::Timestamp { seconds: 1, nanos: -7 }));
    for (wrong, code) in [
        (close("", Some(Long::For(seconds(1).unwrap()))), "invalid_parameter"),
        (close("a\u{7}", Some(Long::For(seconds(1).unwrap()))), "invalid_parameter"),
        (close("a", None), "validation_failed"),
        (close("a", Some(Long::For(seconds(0).unwrap()))), "validation_failed"),
        (close("a", Some(Long::For(seconds(367 * 86_400).unwrap()))), "validation_failed"),
        (close("a", past), "validation_failed"),
        (close("a", odd), "validation_failed"),
    ] {
        assert_eq!(refused(client.close(wrong.clone()).await), invalid(code), "{wrong:?}");
    }
    let many = v1::ListKeysRequest { queue: String::new(), limit: 501 };
    assert_eq!(refused(client.list(many).await), invalid("invalid_parameter"));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_and_views_are_kept() {
    let pair = pair().await;
    let mut kinds = KindsClient::connect(pair.standby.url()).await.unwrap();
    let put = |transactional| v1::PutKindRequest { kind: "resize".into(), transactional };
    assert!(!kinds.put(put(Some(false))).await.unwrap().into_inner().transactional);
    assert!(!kinds.put(put(None)).await.unwrap().into_inner().transactional);
    let get = v1::GetKindRequest { kind: "resize".into() };
    assert_eq!(kinds.get(get).await.unwrap().into_inner().kind, "resize");
    assert!(kinds.list(v1::ListKindsRequest {}).await.is_ok());
    let rubbish = v1::GetKindRequest { kind: "no kind".into() };
    assert_eq!(refused(kinds.get(rubbish).await), invalid("invalid_parameter"));

    let mut views = ViewsClient::connect(pair.standby.url()).await.unwrap();
    let put = |query: &str, description: String| v1::PutViewRequest {
        name: "late".into(),
        query: query.into(),
        description,
    };
    let first = views.put(put("state:dead", "why".into())).await.unwrap().into_inner();
    let again = views.put(put("age<1h", String::new())).await.unwrap().into_inner();
    assert_eq!((first.created, again.created), (true, false));
    let get = || v1::GetViewRequest { name: "late".into() };
    assert_eq!(views.get(get()).await.unwrap().into_inner(), again.view.unwrap());
    let long = "x".repeat(limits::REMARK_BYTES + 1);
    assert_eq!(refused(views.put(put("colour:red", String::new())).await), invalid("invalid_filter"));
    assert_eq!(refused(views.put(put("", String::new())).await), invalid("invalid_filter"));
    assert_eq!(refused(views.put(put("state:dead", long)).await), invalid("validation_failed"));
    assert_eq!(views.list(v1::ListViewsRequest {}).await.unwrap().into_inner().views.len(), 1);
    views.delete(v1::DeleteViewRequest { name: "late".into() }).await.unwrap();
    assert_eq!(refused(views.get(get()).await), (Code::NotFound, "no_such_view".into()));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_seen_and_drained() {
    let pair = pair().await;
    let mut worker = Worker::start(&pair.leader.url()).await;
    let job = submit(pair.leader.service(), spec("a", "1")).await;
    let _parcel = worker.work().await;
    let mut client = WorkersClient::connect(pair.standby.url()).await.unwrap();
    let all = client.list(v1::ListWorkersRequest {}).await.unwrap().into_inner().workers;
    let seen = all.first().unwrap().clone();
    assert_eq!(seen.leases[0].job, job.to_string());
    let drained = client.drain(v1::DrainWorkerRequest { id: seen.id.clone() }).await.unwrap().into_inner();
    assert_eq!(drained.state, "draining");
    let one = client.get(v1::GetWorkerRequest { id: seen.id }).await.unwrap().into_inner();
    assert_eq!(one.state, "draining");
    let none = ganger_core::SessionId::from_uuid(Default::default()).to_string();
    assert_eq!(
        refused(client.get(v1::GetWorkerRequest { id: none }).await),
        (Code::NotFound, "no_such_worker".into())
    );
    let rubbish = v1::DrainWorkerRequest { id: "rubbish".into() };
    assert_eq!(refused(client.drain(rubbish).await), invalid("invalid_parameter"));
    pair.stop().await;
}

/// Its supervisor saw it die: what it held is told, and where that is now.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_died_is_seen_with_what_became_of_its_job() {
    let pair = pair().await;
    let mut worker = Worker::start(&pair.leader.url()).await;
    let job = submit(pair.leader.service(), spec("a", "1")).await;
    let _parcel = worker.work().await;
    let mut client = WorkersClient::connect(pair.standby.url()).await.unwrap();
    let id = client.list(v1::ListWorkersRequest {}).await.unwrap().into_inner().workers[0].id.clone();
    let service = pair.leader.service();
    service.inbox().send(Message::WorkerDied(id.parse().unwrap())).await;
    let session = id.parse().unwrap();
    eventually("the loss", || async { service.worker(session).await.unwrap().left.is_some() }).await;
    let left = client.get(v1::GetWorkerRequest { id }).await.unwrap().into_inner().left.unwrap();
    assert_eq!((left.held, left.why.as_str()), (1, "its supervisor saw it die"));
    assert_eq!(left.jobs, [v1::HeldJob { job: job.to_string(), state: "queued".into() }]);
    let listed = client.list(v1::ListWorkersRequest {}).await.unwrap().into_inner().workers;
    assert!(listed[0].left.as_ref().is_some_and(|left| left.held == 1 && left.jobs.is_empty()));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_tells_its_numbers_what_happened_and_what_it_allows() {
    let pair = pair().await;
    for n in 0..3 {
        submit(pair.leader.service(), spec("a", &n.to_string())).await;
    }
    let mut client = ServerClient::connect(pair.standby.url()).await.unwrap();
    let stats = client.stats(v1::StatsRequest {}).await.unwrap().into_inner();
    assert_eq!((stats.jobs.unwrap().queued, stats.by_kind.len(), stats.workers), (3, 1, HashMap::new()));
    assert!(!stats.verdict.unwrap().text.is_empty());
    let request =
        v1::TimeseriesRequest { metric: "enqueued".into(), by: "kind".into(), ..Default::default() };
    let told = client.timeseries(request.clone()).await.unwrap().into_inner();
    assert_eq!((told.metric.as_str(), told.step, told.by.as_str()), ("enqueued", seconds(60), "kind"));
    assert_eq!((told.series.len(), told.series[0].name.as_str()), (1, "a"));
    assert_eq!(told.series[0].total.unwrap().count, 3);
    for wrong in [
        v1::TimeseriesRequest { metric: "speed".into(), ..Default::default() },
        v1::TimeseriesRequest { by: "worker".into(), ..Default::default() },
        v1::TimeseriesRequest { step: seconds(61), ..request.clone() },
        v1::TimeseriesRequest { from: Some(prost_types::Timestamp { seconds: 0, nanos: 0 }), ..request },
    ] {
        assert_eq!(refused(client.timeseries(wrong).await), invalid("invalid_parameter"));
    }
    let allowed = client.capabilities(v1::CapabilitiesRequest {}).await.unwrap().into_inner();
    assert_eq!(allowed.limits.unwrap().payload_bytes, limits::PAYLOAD_BYTES as u64);
    let cluster = client.cluster(v1::ClusterRequest {}).await.unwrap().into_inner();
    assert_eq!((cluster.server.as_str(), cluster.role.as_str()), ("standby-1", "standby"));
    pair.stop().await;
}
