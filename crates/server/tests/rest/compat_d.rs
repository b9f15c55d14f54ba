//! Profile D, call by call, and the health protocol of gRPC.

use std::sync::Arc;
use std::time::Duration;

use ganger_proto::dts::client_service_client::ClientServiceClient;
use ganger_proto::dts::{FileChunk, GetStatusRequest, GetStatusResponse, ScheduleTaskRequest};
use ganger_proto::health::HealthCheckRequest;
use ganger_proto::health::health_check_response::ServingStatus;
use ganger_proto::health::health_client::HealthClient;
use ganger_server::api::JobBody;
use ganger_server::http::compat::Profiles;
use ganger_server::testing;
use ganger_store::MemoryStore;
use serde_json::{Value, json};
use tonic::transport::Channel;
use tonic::{Code, Request};

use crate::site::{PATIENCE, Site};

const TOKEN: &str = "a secret of this machine";

/// A server that takes commands from whoever knows the token, and a client of the door.
async fn start() -> (Site, ClientServiceClient<Channel>) {
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.exec_token = Some(TOKEN.into());
    let mut site = Site::start().await;
    site.server = testing::start_with(options).await;
    let client = ClientServiceClient::connect(site.server.url()).await.unwrap();
    (site, client)
}

fn with_token<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-ganger-exec-token", TOKEN.parse().unwrap());
    request
}

fn task(scheduled_at: &str, command: &str) -> ScheduleTaskRequest {
    ScheduleTaskRequest { scheduled_at: scheduled_at.into(), command: command.into() }
}

async fn status(client: &mut ClientServiceClient<Channel>, id: &str) -> GetStatusResponse {
    let request = GetStatusRequest { task_id: id.into() };
    client.get_status(request).await.unwrap().into_inner()
}

fn is_moment(text: &str) -> bool {
    text.parse::<ganger_core::Wall>().is_ok()
}

#[tokio::test]
async fn a_task_is_scheduled_and_its_whole_life_can_be_read() {
    let (site, mut client) = start().await;
    let far = client.schedule_task(with_token(task("2999-01-01T02:00:00+02:00", "echo later"))).await;
    let far = far.unwrap().into_inner();
    assert_eq!((far.scheduled_at, far.command.as_str()), (32_472_144_000, "echo later"));
    assert!(far.task_id.parse::<uuid::Uuid>().is_ok(), "{}", far.task_id);
    let waits = status(&mut client, &far.task_id).await;
    assert_eq!((waits.task_id.as_str(), waits.command.as_str()), (far.task_id.as_str(), "echo later"));
    assert_eq!(waits.scheduled_at, "2999-01-01T00:00:00Z");
    assert_eq!([waits.picked_at, waits.started_at, waits.completed_at, waits.failed_at], ["", "", "", ""]);
    let job: JobBody = site.read(&format!("/v1/jobs/{}", far.task_id)).await;
    assert_eq!((job.kind.as_str(), job.state.as_str()), ("exec", "scheduled"), "it is not started early");

    let due = client.schedule_task(with_token(task("2020-01-01T00:00:00Z", "echo now"))).await;
    let due = due.unwrap().into_inner();
    let lease = site.claim("default").await;
    let runs = status(&mut client, &due.task_id).await;
    assert!(is_moment(&runs.picked_at) && is_moment(&runs.started_at), "{runs:?}");
    assert_eq!([runs.completed_at, runs.failed_at], ["", ""]);
    site.report(&lease, "complete", &json!({"result": {"exit_code": 0}})).await;
    let done = status(&mut client, &due.task_id).await;
    for moment in [&done.scheduled_at, &done.picked_at, &done.started_at, &done.completed_at] {
        assert!(is_moment(moment), "{done:?}");
    }
    assert_eq!(done.failed_at, "");

    let fails = client.schedule_task(with_token(task("2020-01-01T00:00:00Z", "false"))).await;
    let fails = fails.unwrap().into_inner();
    let lease = site.claim("default").await;
    site.report(&lease, "fail", &json!({"error": "exit code 1"})).await;
    let again = status(&mut client, &fails.task_id).await;
    assert!(is_moment(&again.failed_at) && again.completed_at.is_empty(), "it failed so far: {again:?}");
    let _: Value = site.told(&format!("/v1/jobs/{}:run-now", fails.task_id), &json!({})).await;
    let lease = site.claim("default").await;
    site.report(&lease, "fail", &json!({"error": "exit code 1", "fatal": true})).await;
    let failed = status(&mut client, &fails.task_id).await;
    assert!(is_moment(&failed.failed_at) && is_moment(&failed.started_at), "{failed:?}");
    assert_eq!(failed.completed_at, "");
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_with_the_right_code() {
    let (_site, mut client) = start().await;
    for wrong in ["", "tomorrow", "2026-13-01T00:00:00Z", "1700000000", "2026-01-01T00:00:00"] {
        let refused = client.schedule_task(with_token(task(wrong, "echo"))).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{wrong}");
    }
    let empty = client.schedule_task(with_token(task("2030-01-01T00:00:00Z", " "))).await.unwrap_err();
    assert_eq!(empty.code(), Code::InvalidArgument);
    let long = "x".repeat(1 << 20);
    let long = client.schedule_task(with_token(task("2030-01-01T00:00:00Z", &long))).await.unwrap_err();
    assert_eq!(long.code(), Code::InvalidArgument);
    for unknown in ["", "nonsense", "0190a8b0-0000-7000-8000-000000000000"] {
        let request = GetStatusRequest { task_id: unknown.into() };
        assert_eq!(client.get_status(request).await.unwrap_err().code(), Code::NotFound, "{unknown}");
    }
}

#[tokio::test]
async fn without_the_token_for_commands_nothing_is_taken_in() {
    let (site, mut client) = start().await;
    let refused = client.schedule_task(task("2020-01-01T00:00:00Z", "id")).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    let mut wrong = with_token(task("2020-01-01T00:00:00Z", "id"));
    wrong.metadata_mut().insert("x-ganger-exec-token", "guessed".parse().unwrap());
    assert_eq!(client.schedule_task(wrong).await.unwrap_err().code(), Code::PermissionDenied);
    let chunk = FileChunk { filename: "a.sh".into(), content: b"id".to_vec(), is_last: true };
    let refused = client.transfer_file(tokio_stream::iter([chunk])).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    let jobs: Value = site.read("/v1/jobs").await;
    assert_eq!(jobs["items"], json!([]));
}

#[tokio::test]
async fn a_script_is_put_together_and_given_to_its_interpreter() {
    let (site, mut client) = start().await;
    let script = "#!/usr/bin/env python3\nprint('ä')\n".as_bytes();
    let part =
        |content: &[u8], is_last| FileChunk { filename: "a.py".into(), content: content.into(), is_last };
    // Cut within a character: only the whole must be a text.
    let cut = script.len() - 5;
    let parts = tokio_stream::iter([part(&script[..cut], false), part(&script[cut..], true)]);
    let answer = client.transfer_file(with_token(parts)).await.unwrap().into_inner();
    assert!(answer.success && answer.message.contains("a.py"), "{answer:?}");
    let job: JobBody = site.read(&format!("/v1/jobs/{}", answer.file_id)).await;
    let payload: Value = serde_json::from_str(job.payload.unwrap().get()).unwrap();
    assert_eq!(
        payload,
        json!({"argv": ["/usr/bin/env", "python3"], "stdin": "#!/usr/bin/env python3\nprint('ä')\n"})
    );
    assert_eq!((job.kind.as_str(), job.tags), ("exec", vec!["file:a.py".to_owned()]));
    assert_eq!(status(&mut client, &answer.file_id).await.command, "/usr/bin/env python3");

    for (parts, what) in [
        (vec![part(b"\xff\xfe", true)], "no text"),
        (vec![part(b"echo", false)], "cut off"),
        (vec![part(b"#!\n", true)], "no interpreter"),
    ] {
        let refused = client.transfer_file(with_token(tokio_stream::iter(parts))).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{what}");
    }
}

/// Clients of the original send no metadata.
#[tokio::test]
async fn a_door_whose_commands_are_open_needs_no_token_and_no_other_door_is_opened_by_it() {
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.exec_token = Some(TOKEN.into());
    options.compat.open_commands = true;
    let site = Site::over(testing::start_with(options).await);
    let mut client = ClientServiceClient::connect(site.server.url()).await.unwrap();
    let taken = client.schedule_task(task("2020-01-01T00:00:00Z", "id")).await.unwrap().into_inner();
    let job: JobBody = site.read(&format!("/v1/jobs/{}", taken.task_id)).await;
    assert_eq!(job.payload.unwrap().get(), r#"{"bash":true,"shell":"id"}"#);
    let chunk = FileChunk { filename: "a".into(), content: b"print(1)".to_vec(), is_last: true };
    let file = client.transfer_file(tokio_stream::iter([chunk])).await.unwrap().into_inner();
    let job: JobBody = site.read(&format!("/v1/jobs/{}", file.file_id)).await;
    assert_eq!(job.payload.unwrap().get(), r#"{"argv":["python3"],"bash":true,"stdin":"print(1)"}"#);
    let refused = site.post("/v1/jobs", r#"{"kind":"exec","payload":{"argv":["id"]}}"#).send().await.unwrap();
    assert_eq!(refused.status(), 403);
}

#[tokio::test]
async fn the_door_is_not_there_where_it_is_switched_off() {
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.compat.profiles = "a".parse::<Profiles>().unwrap();
    let server = testing::start_with(options).await;
    let mut client = ClientServiceClient::connect(server.url()).await.unwrap();
    let request = GetStatusRequest { task_id: "x".into() };
    assert_eq!(client.get_status(request).await.unwrap_err().code(), Code::Unimplemented);
}

#[tokio::test]
async fn health_is_told_of_the_server_the_store_the_workers_and_the_tasks() {
    let site = Site::start().await;
    let mut health = HealthClient::connect(site.server.url()).await.unwrap();
    let mut of = async |service: &str| {
        let answer = health.check(HealthCheckRequest { service: service.into() }).await;
        answer.map(|answer| answer.into_inner().status()).map_err(|status| status.code())
    };
    for service in ["", "server", "store", "tasks", "ganger.v1.Jobs", "ganger.v1.Worker", "dts.ClientService"]
    {
        assert_eq!(of(service).await, Ok(ServingStatus::Serving), "{service}");
    }
    assert_eq!(of("workers").await, Ok(ServingStatus::NotServing), "there is none");
    assert_eq!(of("nonsense").await, Err(Code::NotFound));
    site.submit(&json!({"kind": "noop"})).await;
    assert_eq!(of("tasks").await, Ok(ServingStatus::NotServing), "a job is due, and nobody runs it");
}

#[tokio::test]
async fn who_watches_health_is_told_of_changes_only() {
    let site = Site::start().await;
    let mut health = HealthClient::connect(site.server.url()).await.unwrap();
    let mut watch = async |service: &str| {
        health.watch(HealthCheckRequest { service: service.into() }).await.unwrap().into_inner()
    };
    let mut tasks = watch("tasks").await;
    let mut unknown = watch("nonsense").await;
    let next = async |stream: &mut tonic::Streaming<_>| -> ServingStatus {
        let told = tokio::time::timeout(PATIENCE, stream.message()).await.expect("it is told");
        let told: ganger_proto::health::HealthCheckResponse = told.unwrap().unwrap();
        told.status()
    };
    assert_eq!(next(&mut tasks).await, ServingStatus::Serving);
    assert_eq!(next(&mut unknown).await, ServingStatus::ServiceUnknown);
    let job = site.submit(&json!({"kind": "noop"})).await;
    assert_eq!(next(&mut tasks).await, ServingStatus::NotServing);
    let _: Value = site.told(&format!("/v1/jobs/{}:cancel", job.id), &json!({})).await;
    assert_eq!(next(&mut tasks).await, ServingStatus::Serving);
    let silence = tokio::time::timeout(Duration::from_millis(1), tasks.message()).await;
    assert!(silence.is_err(), "nothing changed");
}
