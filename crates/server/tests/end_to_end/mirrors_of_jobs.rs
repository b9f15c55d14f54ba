//! Schedules, bulk operations, failure groups, and finding and explaining jobs, over gRPC and through a standby.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::outcome::Report;
use ganger_proto::convert::moment_to_wire;
use ganger_proto::v1;
use ganger_proto::v1::failures_client::FailuresClient;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_proto::v1::operations_client::OperationsClient;
use ganger_proto::v1::schedule::When;
use ganger_proto::v1::schedules_client::SchedulesClient;
use ganger_proto::v1::start_operation_response::Answer;
use tonic::Code;

use crate::common::{ended, eventually, spec, submit};
use crate::mirrors::{refused, seconds};
use crate::relay::{Pair, pair};
use crate::worker::Worker;

fn schedule(name: &str) -> v1::Schedule {
    v1::Schedule {
        name: name.into(),
        when: Some(When::Cron("0 * * * *".into())),
        job: Some(v1::NewJob {
            kind: "report".into(),
            payload: "[1]".into(),
            concurrency_key: "eu".into(),
            ..Default::default()
        }),
        ..Default::default()
    }
}

async fn schedules(pair: &Pair) -> SchedulesClient<tonic::transport::Channel> {
    SchedulesClient::connect(pair.standby.url()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_is_made_changed_fired_backfilled_and_deleted() {
    let pair = pair().await;
    let mut client = schedules(&pair).await;
    let preview = v1::PreviewScheduleRequest { schedule: Some(schedule("hourly")) };
    let preview = client.preview(preview).await.unwrap().into_inner();
    assert_eq!(preview.next.len(), 10);
    assert_eq!(preview.schedule.unwrap().time_zone, "UTC");
    let create = || v1::CreateScheduleRequest { schedule: Some(schedule("hourly")) };
    let made = client.create(create()).await.unwrap().into_inner();
    assert!(made.status.unwrap().next.is_some() && !made.id.is_empty());
    assert_eq!(made.job.unwrap().concurrency_key, "eu");
    assert_eq!(refused(client.create(create()).await), (Code::FailedPrecondition, "schedule_exists".into()));
    let put = |schedule| v1::PutScheduleRequest { schedule: Some(schedule) };
    let same = client.put(put(schedule("hourly"))).await.unwrap().into_inner();
    assert_eq!((same.created, same.changed), (false, false));
    let other = v1::Schedule { overlap: "allow".into(), paused: Some(true), ..schedule("hourly") };
    let other = client.put(put(other)).await.unwrap().into_inner();
    assert!(other.changed && other.schedule.unwrap().paused.unwrap());
    let name = || "hourly".to_owned();
    let resumed = client.resume(v1::ResumeScheduleRequest { name: name() }).await.unwrap().into_inner();
    assert_eq!(resumed.paused, Some(false));
    let paused = client.pause(v1::PauseScheduleRequest { name: name() }).await.unwrap().into_inner();
    assert_eq!(paused.paused, Some(true));
    let ran = client.run(v1::RunScheduleRequest { name: name() }).await.unwrap().into_inner();
    assert_eq!((ran.occurrences[0].cause.as_str(), ran.occurrences[0].state.as_str()), ("manual", "fired"));
    let now = pair.leader.service().clock().now().wall;
    let backfill = |preview| v1::BackfillRequest {
        name: name(),
        from: Some(moment_to_wire(now - Duration::from_secs(3 * 3600))),
        to: Some(moment_to_wire(now)),
        preview,
    };
    let looked = client.backfill(backfill(true)).await.unwrap().into_inner();
    assert_eq!((looked.considered, looked.instants.len(), looked.occurrences.len()), (3, 3, 0));
    let fired = client.backfill(backfill(false)).await.unwrap().into_inner();
    assert_eq!((fired.considered, fired.occurrences.len()), (3, 3));
    let mut request = v1::OccurrencesRequest { name: name(), limit: 3, cursor: String::new() };
    let page = client.occurrences(request.clone()).await.unwrap().into_inner();
    request.cursor = page.next_cursor;
    let rest = client.occurrences(request).await.unwrap().into_inner();
    assert_eq!((page.occurrences.len(), rest.occurrences.len(), rest.next_cursor.as_str()), (3, 1, ""));
    let next = client.next(v1::NextRequest { name: name(), n: 2, from: None }).await.unwrap().into_inner();
    assert_eq!(next.instants.len(), 2);
    // The job knows its schedule, by both doors.
    let job = page.occurrences.iter().find(|row| !row.job.is_empty()).unwrap().job.clone();
    let mut jobs = JobsClient::connect(pair.standby.url()).await.unwrap();
    let job = jobs.get(v1::GetRequest { id: job, wait: None }).await.unwrap().into_inner();
    assert_eq!((job.schedule.as_str(), job.concurrency_key.as_str()), ("hourly", "eu"));
    client.delete(v1::DeleteScheduleRequest { name: name() }).await.unwrap();
    let gone = client.get(v1::GetScheduleRequest { name: name() }).await;
    assert_eq!(refused(gone), (Code::NotFound, "no_such_schedule".into()));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn schedules_are_listed_page_by_page_and_rubbish_is_refused() {
    let pair = pair().await;
    let mut client = schedules(&pair).await;
    for name in ["a", "b", "c"] {
        client.create(v1::CreateScheduleRequest { schedule: Some(schedule(name)) }).await.unwrap();
    }
    let mut request = v1::ListSchedulesRequest { limit: 2, cursor: String::new() };
    let page = client.list(request.clone()).await.unwrap().into_inner();
    request.cursor = page.next_cursor;
    let rest = client.list(request).await.unwrap().into_inner();
    let names: Vec<_> = page.schedules.into_iter().chain(rest.schedules).map(|s| s.name).collect();
    assert_eq!((names, rest.next_cursor.as_str()), (vec!["a".into(), "b".into(), "c".into()], ""));
    let job = |job| v1::Schedule { job: Some(job), ..schedule("x") };
    let exec = job(v1::NewJob { kind: "exec".into(), ..Default::default() });
    for (wrong, code) in [
        (None, "validation_failed"),
        (Some(v1::Schedule { name: "a b".into(), ..schedule("x") }), "validation_failed"),
        (Some(v1::Schedule { when: None, ..schedule("x") }), "validation_failed"),
        (Some(v1::Schedule { job: None, ..schedule("x") }), "validation_failed"),
        (
            Some(v1::Schedule { when: Some(When::Cron("61 * * * *".into())), ..schedule("x") }),
            "validation_failed",
        ),
        (
            Some(v1::Schedule { when: Some(When::Every(Default::default())), ..schedule("x") }),
            "validation_failed",
        ),
        (Some(v1::Schedule { time_zone: "Mars".into(), ..schedule("x") }), "validation_failed"),
        (Some(v1::Schedule { overlap: "often".into(), ..schedule("x") }), "validation_failed"),
        (Some(v1::Schedule { misfire_window: seconds(60), ..schedule("x") }), "validation_failed"),
        (
            Some(job(v1::NewJob { kind: "k".into(), payload: "{".into(), ..Default::default() })),
            "validation_failed",
        ),
        (Some(exec), "exec_not_allowed"),
    ] {
        let told = refused(client.create(v1::CreateScheduleRequest { schedule: wrong.clone() }).await);
        assert_eq!(told.1, code, "{wrong:?}");
        let told = refused(client.put(v1::PutScheduleRequest { schedule: wrong }).await);
        assert_eq!(told.1, code);
    }
    let wrong = v1::OccurrencesRequest { name: "a".into(), limit: 0, cursor: "x".into() };
    assert_eq!(refused(client.occurrences(wrong).await).1, "invalid_cursor");
    let no_range = v1::BackfillRequest { name: "a".into(), ..Default::default() };
    assert_eq!(refused(client.backfill(no_range).await).1, "validation_failed");
    let many = v1::NextRequest { name: "a".into(), n: 1_001, from: None };
    assert_eq!(refused(client.next(many).await).1, "invalid_parameter");
    pair.stop().await;
}

/// Jobs of one kind that died for one cause.
async fn dead(pair: &Pair, count: usize) -> Vec<JobId> {
    let mut worker = Worker::start(&pair.leader.url()).await;
    let mut ids = Vec::new();
    for n in 0..count {
        ids.push(submit(pair.leader.service(), spec("mail", &n.to_string())).await);
        let parcel = worker.work().await;
        worker.report(&parcel, Report::Fatal(format!("no user {n}"))).await;
        ended(pair.leader.service(), ids[n]).await;
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_grouped_and_a_group_is_replayed_or_discarded() {
    let pair = pair().await;
    dead(&pair, 3).await;
    let mut client = FailuresClient::connect(pair.standby.url()).await.unwrap();
    let list = |kind: &str| v1::ListFailuresRequest { kind: kind.into(), ..Default::default() };
    let seen = client.list(list("mail")).await.unwrap().into_inner();
    assert_eq!((seen.groups.len(), seen.groups[0].count), (1, 3));
    let recent = seen.groups[0].recent.clone().unwrap();
    assert_eq!((recent.count, recent.trend.iter().sum(), recent.share), (3, 3, Some(1.0)));
    assert_eq!(seen.step.unwrap().seconds, 15 * 60);
    assert!(seen.from.unwrap().seconds < seen.to.unwrap().seconds);
    let never = v1::ListFailuresRequest { window: Some(prost_types::Duration::default()), ..list("mail") };
    assert_eq!(refused(client.list(never).await), (Code::InvalidArgument, "validation_failed".into()));
    let mut jobs = JobsClient::connect(pair.standby.url()).await.unwrap();
    let job = v1::GetRequest { id: seen.groups[0].job.clone(), wait: None };
    let job = jobs.get(job).await.unwrap().into_inner();
    assert_eq!(job.failure, seen.groups[0].fingerprint);
    // A single group has no window.
    let groups = [v1::FailureGroup { recent: None, ..seen.groups[0].clone() }];
    assert!(client.list(list("sms")).await.unwrap().into_inner().groups.is_empty());
    let fingerprint = groups[0].fingerprint.clone();
    let get = v1::GetFailureRequest { fingerprint: fingerprint.clone() };
    assert_eq!(client.get(get).await.unwrap().into_inner(), groups[0]);
    let request = v1::FailureRequest { fingerprint, dry_run: true, ..Default::default() };
    let Some(Answer::Preview(preview)) = client.replay(request.clone()).await.unwrap().into_inner().answer
    else {
        panic!("a dry run is a preview")
    };
    assert_eq!((preview.matched, preview.by_kind["mail"], preview.sample.len()), (3, 3, 3));
    let request = v1::FailureRequest { dry_run: false, idempotency_key: "once".into(), ..request };
    let first = client.discard(request.clone()).await.unwrap().into_inner();
    let again = client.discard(request.clone()).await.unwrap().into_inner();
    let id = |answer: &v1::StartOperationResponse| match &answer.answer {
        Some(Answer::Operation(operation)) => operation.id.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((id(&again), first.replayed, again.replayed), (id(&first), false, true));
    let other = v1::FailureRequest { rate: 7, ..request };
    assert_eq!(refused(client.discard(other).await).1, "idempotency_key_reused");
    let unknown = v1::FailureRequest { fingerprint: "0123456789abcdef".into(), ..Default::default() };
    assert_eq!(refused(client.replay(unknown).await), (Code::NotFound, "no_such_failure".into()));
    let rubbish = v1::GetFailureRequest { fingerprint: "x".into() };
    assert_eq!(refused(client.get(rubbish).await).1, "invalid_parameter");
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_is_started_followed_and_cancelled() {
    let pair = pair().await;
    let ids = dead(&pair, 2).await;
    let mut client = OperationsClient::connect(pair.standby.url()).await.unwrap();
    let start = |action: &str, filter: &str| v1::StartOperationRequest {
        action: action.into(),
        filter: filter.into(),
        ..Default::default()
    };
    let started = client.start(start("replay", "kind:mail")).await.unwrap().into_inner();
    let Some(Answer::Operation(operation)) = started.answer else { panic!("it starts") };
    let get = || v1::GetOperationRequest { id: operation.id.clone() };
    eventually("the end of the operation", || {
        let mut client = client.clone();
        async move { client.get(get()).await.unwrap().into_inner().state == "done" }
    })
    .await;
    let done = client.get(get()).await.unwrap().into_inner();
    assert_eq!((done.done, done.skipped, done.filter.as_str()), (2, 0, "kind:mail"));
    let over = client.cancel(v1::CancelOperationRequest { id: done.id.clone() }).await;
    assert_eq!(refused(over), (Code::FailedPrecondition, "operation_over".into()));
    let slow = v1::StartOperationRequest {
        action: "cancel".into(),
        ids: ids.iter().map(ToString::to_string).collect(),
        rate: 1,
        ..Default::default()
    };
    let started = client.start(slow).await.unwrap().into_inner();
    let Some(Answer::Operation(operation)) = started.answer else { panic!("it starts") };
    let cancelled = client.cancel(v1::CancelOperationRequest { id: operation.id.clone() }).await;
    assert_eq!(cancelled.unwrap().into_inner().state, "cancelled");
    let all = client.list(v1::ListOperationsRequest {}).await.unwrap().into_inner().operations;
    assert_eq!((all.len(), &all[0].id), (2, &operation.id));
    let both = v1::StartOperationRequest { all: true, ..start("replay", "kind:a") };
    let many = v1::StartOperationRequest { ids: vec![ids[0].to_string(); 1_001], ..start("replay", "") };
    for (wrong, code) in [
        (start("drop", "kind:a"), "validation_failed"),
        (start("replay", ""), "validation_failed"),
        (start("replay", "colour:red"), "invalid_filter"),
        (start("replay", "  "), "invalid_filter"),
        (both, "validation_failed"),
        (many, "validation_failed"),
        (v1::StartOperationRequest { rate: 10_001, ..start("replay", "kind:a") }, "validation_failed"),
        (
            v1::StartOperationRequest { reason: "x".repeat(1_025), ..start("replay", "kind:a") },
            "validation_failed",
        ),
        (v1::StartOperationRequest { ids: vec!["x".into()], ..start("replay", "") }, "invalid_parameter"),
    ] {
        assert_eq!(refused(client.start(wrong.clone()).await).1, code, "{:?}", wrong.filter);
    }
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_explained_counted_and_deleted_and_a_cursor_belongs_to_its_query() {
    let pair = pair().await;
    let ids = dead(&pair, 3).await;
    let mut client = JobsClient::connect(pair.standby.url()).await.unwrap();
    let id = || ids[0].to_string();
    let told = client.explain(v1::ExplainRequest { id: id() }).await.unwrap().into_inner();
    assert_eq!(told.state, "dead");
    assert!(told.summary.contains("no user 0") && !told.next_step.is_empty(), "{told:?}");
    let events = client.events(v1::JobEventsRequest { id: id() }).await.unwrap().into_inner().events;
    let words: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(words, ["created", "started", "ended", "dead"]);
    assert_eq!((events[2].outcome.as_str(), events[2].text.as_str()), ("error", "no user 0"));
    let request = v1::HistogramRequest {
        jobs: Some(v1::ListRequest { q: "kind:mail".into(), ..Default::default() }),
        buckets: 4,
    };
    let counted = client.histogram(request.clone()).await.unwrap().into_inner();
    assert_eq!((counted.matched, counted.complete), (3, true));
    assert_eq!(counted.buckets.iter().map(|bucket| bucket.states.get("dead").unwrap_or(&0)).sum::<u64>(), 3);
    assert_eq!(
        refused(client.histogram(v1::HistogramRequest { buckets: 501, ..request }).await).1,
        "invalid_parameter"
    );
    let logs = client.logs(v1::LogsRequest { id: id(), attempt: 0 }).await.unwrap().into_inner();
    assert_eq!((logs.attempt, logs.text.as_str()), (1, ""));

    let list = |kind: &str, cursor: &str| v1::ListRequest {
        kind: kind.into(),
        limit: 1,
        cursor: cursor.into(),
        ..Default::default()
    };
    let page = client.list(list("mail", "")).await.unwrap().into_inner();
    let other = client.list(list("sms", &page.next_cursor)).await;
    assert_eq!(refused(other), (Code::InvalidArgument, "invalid_cursor".into()));
    assert_eq!(refused(client.list(list("mail", &id())).await).1, "invalid_cursor");
    let next = client.list(list("mail", &page.next_cursor)).await.unwrap().into_inner();
    assert_eq!(next.jobs[0].id, ids[1].to_string());

    client.delete(v1::DeleteRequest { id: id() }).await.unwrap();
    assert_eq!(
        refused(client.delete(v1::DeleteRequest { id: id() }).await),
        (Code::NotFound, "no_such_job".into())
    );
    let live = submit(pair.leader.service(), spec("later", "1")).await.to_string();
    let kept = client.delete(v1::DeleteRequest { id: live }).await;
    assert_eq!(refused(kept), (Code::FailedPrecondition, "wrong_state".into()));
    pair.stop().await;
}
