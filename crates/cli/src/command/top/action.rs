//! What `ganger top` can change: each is one request, and is asked about first.

use ganger_core::fingerprint::Fingerprint;
use ganger_core::name::{QueueName, ScheduleName};
use ganger_core::{JobId, OperationId, SessionId};
use ganger_server::api::{GroupRequest, OperationRequest};
use serde::Serialize;

use crate::client::Call;

/// Why operations that begin here were begun, for whoever looks later.
const REASON: &str = "ganger top";

/// Something to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    PauseQueue(QueueName),
    ResumeQueue(QueueName),
    /// Run the dead jobs of a queue again; so many are known of.
    ReplayQueue(QueueName, u64),
    ReplayGroup(Fingerprint),
    ReplayJob(JobId),
    RunJobNow(JobId),
    CancelJob(JobId),
    CancelOperation(OperationId),
    DrainWorker(SessionId, String),
    PauseSchedule(ScheduleName),
    ResumeSchedule(ScheduleName),
    RunSchedule(ScheduleName),
}

impl Action {
    /// What is asked before.
    pub(super) fn question(&self) -> String {
        match self {
            Action::PauseQueue(queue) => format!("Pause queue {queue}? Nothing of it starts any more."),
            Action::ResumeQueue(queue) => format!("Resume queue {queue}? Its jobs start again."),
            Action::ReplayQueue(queue, dead) => format!("Replay the {dead} dead jobs of queue {queue}?"),
            Action::ReplayGroup(group) => format!("Replay the dead jobs of failure {group}?"),
            Action::ReplayJob(id) => format!("Replay {id}?"),
            Action::RunJobNow(id) => format!("Make {id} due now?"),
            Action::CancelJob(id) => format!("Cancel {id}?"),
            Action::CancelOperation(id) => format!("Stop {id}? What is done stays done."),
            Action::DrainWorker(_, name) => format!("Drain worker {name}? It finishes what it holds."),
            Action::PauseSchedule(name) => format!("Pause schedule {name}?"),
            Action::ResumeSchedule(name) => format!("Resume schedule {name}?"),
            Action::RunSchedule(name) => format!("Run schedule {name} now?"),
        }
    }

    /// What is said once it is done.
    pub(super) fn done(&self) -> String {
        match self {
            Action::PauseQueue(queue) => format!("queue {queue} is paused"),
            Action::ResumeQueue(queue) => format!("queue {queue} is open"),
            Action::ReplayQueue(queue, _) => {
                format!("the dead jobs of {queue} are being replayed: 6 shows it")
            }
            Action::ReplayGroup(group) => format!("the dead jobs of {group} are being replayed: 6 shows it"),
            Action::ReplayJob(id) => format!("{id} is queued again"),
            Action::RunJobNow(id) => format!("{id} is due now"),
            Action::CancelJob(id) => format!("{id} is cancelled, or its worker was told"),
            Action::CancelOperation(id) => format!("{id} stops"),
            Action::DrainWorker(_, name) => format!("worker {name} drains"),
            Action::PauseSchedule(name) => format!("schedule {name} is paused"),
            Action::ResumeSchedule(name) => format!("schedule {name} fires again"),
            Action::RunSchedule(name) => format!("schedule {name} has fired"),
        }
    }

    /// The request.
    pub(super) fn call(&self) -> Call {
        match self {
            Action::PauseQueue(queue) => {
                Call::post(format!("pause queue {queue}"), format!("/v1/queues/{queue}:pause"))
            }
            Action::ResumeQueue(queue) => {
                Call::post(format!("resume queue {queue}"), format!("/v1/queues/{queue}:resume"))
            }
            Action::ReplayQueue(queue, _) => {
                let request = OperationRequest {
                    action: "replay".into(),
                    filter: Some(format!("queue:\"{queue}\" state:dead")),
                    reason: Some(REASON.into()),
                    ..OperationRequest::default()
                };
                begun(format!("replay the dead jobs of {queue}"), "/v1/operations", &request)
            }
            Action::ReplayGroup(group) => {
                let request = GroupRequest { reason: Some(REASON.into()), ..GroupRequest::default() };
                let path = format!("/v1/failures/{group}:replay");
                begun(format!("replay failure {group}"), &path, &request)
            }
            Action::ReplayJob(id) => Call::post(format!("replay job {id}"), format!("/v1/jobs/{id}:replay")),
            Action::RunJobNow(id) => {
                Call::post(format!("run job {id} now"), format!("/v1/jobs/{id}:run-now"))
            }
            Action::CancelJob(id) => Call::post(format!("cancel job {id}"), format!("/v1/jobs/{id}:cancel")),
            Action::CancelOperation(id) => {
                Call::post(format!("cancel operation {id}"), format!("/v1/operations/{id}:cancel"))
            }
            Action::DrainWorker(id, name) => {
                Call::post(format!("drain worker {name}"), format!("/v1/workers/{id}:drain"))
            }
            Action::PauseSchedule(name) => {
                Call::post(format!("pause schedule {name}"), format!("/v1/schedules/{name}:pause"))
            }
            Action::ResumeSchedule(name) => {
                Call::post(format!("resume schedule {name}"), format!("/v1/schedules/{name}:resume"))
            }
            Action::RunSchedule(name) => {
                Call::post(format!("run schedule {name}"), format!("/v1/schedules/{name}:run"))
            }
        }
    }
}

/// A bulk operation, asked for once however often the request is sent.
fn begun(what: String, path: &str, request: &impl Serialize) -> Call {
    // Names, numbers and texts always serialise.
    let body = serde_json::to_string(request).unwrap_or_default();
    Call::submit(what, path, body, uuid::Uuid::new_v4().to_string())
}
