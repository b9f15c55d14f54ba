//! What a demonstration sets up on the server, and how all of it goes again.

use std::time::Duration;

use ganger_core::operation::OperationState;
use ganger_server::api::{
    HumanDuration, JobPage, NewJobRequest, OperationBody, OperationRequest, OrNone, QueueLimitsPut, QueuePut,
    ScheduleRequest, SchedulesBody,
};
use serde_json::value::to_raw_value;

use super::handlers::Plan;
use super::{PREFIX, TAG};
use crate::client::{Call, Client, with_query};
use crate::clock::Stopwatch;
use crate::failure::Fallible;

/// Exactly the jobs of demonstrations: others may have the tag.
const FILTER: &str = "tag:demo kind:demo.*";
/// How long live jobs may take to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// The schedules: name, cron or interval in seconds, queue, kind.
const SCHEDULES: [(&str, Result<&str, u64>, &str, &str); 3] = [
    ("demo.housekeeping", Err(5), "demo.reports", "demo.housekeeping"),
    ("demo.digest", Err(15), "demo.mail", "demo.email.send"),
    ("demo.nightly", Ok("30 2 * * *"), "demo.reports", "demo.report.part"),
];

/// What was removed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Removed {
    pub(super) schedules: usize,
    pub(super) cancelled: u64,
    pub(super) deleted: u64,
    /// Some jobs were still live when the time was up.
    pub(super) left: bool,
}

/// Makes the schedules, and limits what each partner is asked at a time.
pub(super) async fn prepare(client: &Client) -> Fallible<()> {
    limit(client, OrNone::Some(2)).await?;
    for (name, when, queue, kind) in SCHEDULES {
        let plan = Plan { customer: "schedule".into(), ms: 120, ..Plan::default() };
        let job = NewJobRequest {
            kind: kind.into(),
            queue: Some(queue.into()),
            // Texts and numbers always serialise.
            payload: to_raw_value(&plan).ok(),
            tags: Some(vec![TAG.into()]),
            ..NewJobRequest::default()
        };
        let request = ScheduleRequest {
            cron: when.ok().map(str::to_owned),
            every: when.err().map(|seconds| HumanDuration(Duration::from_secs(seconds))),
            job,
            ..ScheduleRequest::default()
        };
        let body = crate::command::json(&request)?;
        let call = Call::put(format!("make schedule {name}"), format!("/v1/schedules/{name}"), body);
        client.send(&call).await?;
    }
    Ok(())
}

/// Removes the schedules and the limits.
pub(super) async fn retire(client: &Client) -> Fallible<()> {
    schedules(client).await?;
    limit(client, OrNone::None).await
}

/// Removes everything that demonstrations have left.
pub(super) async fn remove(client: &Client) -> Fallible<Removed> {
    let mut removed = Removed { schedules: schedules(client).await?, ..Removed::default() };
    limit(client, OrNone::None).await?;
    let watch = Stopwatch::start();
    // Bounded by PATIENCE: a job that runs ends when its worker has stopped it, or is gone.
    loop {
        removed.cancelled += operate(client, "cancel").await?;
        removed.deleted += operate(client, "delete").await?;
        let path = with_query("/v1/jobs", [("q", Some(FILTER.to_owned())), ("limit", Some("1".to_owned()))]);
        let page = client.send(&Call::get("list jobs", path)).await?.read::<JobPage>()?;
        removed.left = !page.items.is_empty();
        if !removed.left || watch.left_of(PATIENCE).is_zero() {
            return Ok(removed);
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn limit(client: &Client, running: OrNone<u32>) -> Fallible<()> {
    let limits = QueueLimitsPut { max_running: Some(running), ..QueueLimitsPut::default() };
    let put = QueuePut { key_limits: Some(limits), ..QueuePut::default() };
    let body = crate::command::json(&put)?;
    client.send(&Call::put("set queue demo.billing", "/v1/queues/demo.billing", body)).await.map(|_| ())
}

/// Deletes the schedules of demonstrations, and tells how many there were.
async fn schedules(client: &Client) -> Fallible<usize> {
    let mut cursor = None;
    let mut gone = 0;
    // The cursor moves through a finite list.
    loop {
        let path = with_query("/v1/schedules", [("limit", Some("200".to_owned())), ("cursor", cursor)]);
        let page = client.send(&Call::get("list schedules", path)).await?.read::<SchedulesBody>()?;
        for schedule in page.items {
            let tagged = schedule.job.tags.iter().flatten().any(|tag| tag == TAG);
            if tagged && schedule.name.as_str().starts_with(PREFIX) {
                let name = &schedule.name;
                let call = Call::delete(format!("delete schedule {name}"), format!("/v1/schedules/{name}"));
                client.send(&call).await?;
                gone += 1;
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(gone);
        }
    }
}

/// Does it to every job of demonstrations, and tells to how many.
async fn operate(client: &Client, action: &str) -> Fallible<u64> {
    let request = OperationRequest {
        action: action.into(),
        filter: Some(FILTER.into()),
        rate: Some(10_000),
        reason: Some("ganger demo --remove".into()),
        ..OperationRequest::default()
    };
    let body = crate::command::json(&request)?;
    let key = uuid::Uuid::new_v4().to_string();
    let call = Call::submit(format!("{action} the jobs of demonstrations"), "/v1/operations", body, key);
    let mut operation = client.send(&call).await?.read::<OperationBody>()?;
    // Bounded by the jobs that there were when it began.
    while operation.state == OperationState::Running {
        tokio::time::sleep(LOOK).await;
        let path = format!("/v1/operations/{}", operation.id);
        operation = client.send(&Call::get("follow an operation", path)).await?.read()?;
    }
    Ok(operation.done)
}
