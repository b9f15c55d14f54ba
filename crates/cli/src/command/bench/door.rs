//! The doors through which jobs come in: REST and gRPC. What is wanted is said once, and goes through either.

use std::fmt::Write as _;

use ganger_core::{JobId, Wall};
use ganger_proto::convert::{duration_to_wire, moment_to_wire};
use ganger_proto::v1::{self, jobs_client::JobsClient};
use ganger_server::api::{BatchBody, Durability, SubmittedBody};
use tonic::transport::{Channel, Endpoint};
use uuid::Uuid;

use super::sizes::PAYLOAD_BYTES;
use super::stage::Stage;
use super::wrong;
use crate::client::{Call, Client};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// What most jobs do: nothing.
pub(super) const NOOP: &str = "noop";
/// The delay before a failed job is tried again, where one is.
const RETRY_MS: u64 = 100;

/// A job that is to be enqueued.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) kind: &'static str,
    pub(super) queue: String,
    /// JSON text.
    pub(super) payload: String,
    /// 0: as by default.
    pub(super) threads: u16,
    pub(super) run_at: Option<Wall>,
    pub(super) fair_key: Option<String>,
    pub(super) concurrency_key: Option<&'static str>,
    /// Tried again soon, and not after a second.
    pub(super) retried_soon: bool,
}

/// A way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// HTTP and JSON.
    Rest,
    /// gRPC.
    Grpc,
}

/// One connection through a door.
#[derive(Debug)]
pub(super) enum Entry {
    /// HTTP and JSON.
    Rest(Client),
    /// gRPC.
    Grpc(JobsClient<Channel>),
}

impl Wanted {
    /// A job that does nothing, of the size that is measured.
    pub(super) fn noop(queue: &str) -> Wanted {
        let payload = format!("\"{}\"", "x".repeat(PAYLOAD_BYTES - 2));
        Wanted { kind: NOOP, queue: queue.into(), payload, ..Wanted::default() }
    }

    /// As REST reads it. Its texts are ours and need no escaping.
    fn write_json(&self, into: &mut String, buffered: bool) {
        // Writing to a string cannot fail.
        let _ = write!(
            into,
            "{{\"kind\":\"{}\",\"queue\":\"{}\",\"payload\":{}",
            self.kind, self.queue, self.payload
        );
        if self.threads > 0 {
            let _ = write!(into, ",\"threads\":{}", self.threads);
        }
        if let Some(at) = self.run_at {
            let _ = write!(into, ",\"run_at\":{}", serde_json::json!(at));
        }
        if let Some(key) = &self.fair_key {
            let _ = write!(into, ",\"fair_key\":\"{key}\"");
        }
        if let Some(key) = self.concurrency_key {
            let _ = write!(into, ",\"concurrency_key\":\"{key}\"");
        }
        if self.retried_soon {
            let _ = write!(into, ",\"retry\":{{\"base\":\"{RETRY_MS}ms\"}}");
        }
        if buffered {
            into.push_str(",\"durability\":\"buffered\"");
        }
        into.push('}');
    }

    fn wire(&self) -> v1::NewJob {
        let base = duration_to_wire(std::time::Duration::from_millis(RETRY_MS));
        let retry = v1::RetryPolicy { base: Some(base), ..v1::RetryPolicy::default() };
        v1::NewJob {
            kind: self.kind.into(),
            queue: self.queue.clone(),
            payload: self.payload.clone(),
            threads: self.threads.into(),
            run_at: self.run_at.map(moment_to_wire),
            fair_key: self.fair_key.clone().unwrap_or_default(),
            concurrency_key: self.concurrency_key.unwrap_or_default().into(),
            retry: self.retried_soon.then_some(retry),
            ..v1::NewJob::default()
        }
    }
}

impl Door {
    /// Its name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Door::Rest => "rest",
            Door::Grpc => "grpc",
        }
    }

    /// Its name for people.
    pub(super) fn label(self) -> &'static str {
        match self {
            Door::Rest => "REST",
            Door::Grpc => "gRPC",
        }
    }

    /// Connects.
    pub(super) async fn enter(self, stage: &Stage<'_>) -> Fallible<Entry> {
        match self {
            Door::Rest => stage.another_client().map(Entry::Rest),
            Door::Grpc => {
                let connected =
                    async { Endpoint::from_shared(stage.url())?.tcp_nodelay(true).connect().await };
                let failed = |error| Failure::new(Exit::Unreachable, "cannot connect", error, "");
                Ok(Entry::Grpc(JobsClient::new(connected.await.map_err(failed)?)))
            }
        }
    }
}

impl Entry {
    /// Enqueues these in one request, and tells their ids in order. Each request has a key, so that it could be repeated,
    /// as those of the SDKs and of the command line have; one that is buffered cannot have any.
    pub(super) async fn enqueue(&mut self, jobs: &[Wanted], buffered: bool) -> Fallible<Vec<JobId>> {
        let ids = match (self, jobs) {
            (Entry::Rest(client), [one]) => alone(client, one, buffered).await?,
            (Entry::Rest(client), many) => together(client, many, buffered).await?,
            (Entry::Grpc(client), many) => over_grpc(client, many, buffered).await?,
        };
        if ids.len() == jobs.len() {
            Ok(ids)
        } else {
            Err(wrong(format!("{} of {} jobs of a request were taken in", ids.len(), jobs.len())))
        }
    }
}

async fn alone(client: &Client, job: &Wanted, buffered: bool) -> Fallible<Vec<JobId>> {
    let mut body = String::new();
    job.write_json(&mut body, buffered);
    let call = call("/v1/jobs", body, buffered);
    let answer = client.send(&call).await?.read::<SubmittedBody>()?;
    as_wanted(answer.durability, buffered)?;
    Ok(vec![answer.id])
}

async fn together(client: &Client, jobs: &[Wanted], buffered: bool) -> Fallible<Vec<JobId>> {
    let mut body = String::from("{\"jobs\":[");
    for (nth, job) in jobs.iter().enumerate() {
        if nth > 0 {
            body.push(',');
        }
        job.write_json(&mut body, false);
    }
    body.push_str(if buffered { "],\"durability\":\"buffered\"}" } else { "]}" });
    let answer = client.send(&call("/v1/jobs:batch", body, buffered)).await?.read::<BatchBody>()?;
    as_wanted(answer.durability, buffered)?;
    Ok(answer.results.into_iter().filter_map(|result| result.id).collect())
}

async fn over_grpc(
    client: &mut JobsClient<Channel>,
    jobs: &[Wanted],
    buffered: bool,
) -> Fallible<Vec<JobId>> {
    let refused =
        |status: tonic::Status| Failure::new(Exit::Failure, "cannot enqueue over gRPC", status.message(), "");
    let key = if buffered { String::new() } else { Uuid::new_v4().to_string() };
    let answers = if let [one] = jobs {
        let request = v1::EnqueueRequest { job: Some(one.wire()), idempotency_key: key, buffered };
        vec![client.enqueue(request).await.map_err(refused)?.into_inner()]
    } else {
        let jobs = jobs.iter().map(Wanted::wire).collect();
        let request = v1::EnqueueBatchRequest { jobs, idempotency_key: key, buffered, ..Default::default() };
        let items = client.enqueue_batch(request).await.map_err(refused)?.into_inner().items;
        let taken = items.into_iter().filter_map(|item| match item.answer {
            Some(v1::batch_item::Answer::Job(job)) => Some(job),
            Some(v1::batch_item::Answer::Problem(_)) | None => None,
        });
        taken.collect()
    };
    let id = |answer: v1::EnqueueResponse| {
        answer.id.parse::<JobId>().map_err(|error| wrong(format!("`{}` is no id: {error}", answer.id)))
    };
    answers.into_iter().map(id).collect()
}

fn call(path: &str, body: String, buffered: bool) -> Call {
    if buffered {
        Call::submit_once("enqueue", path, body)
    } else {
        Call::submit("enqueue", path, body, Uuid::new_v4().to_string())
    }
}

fn as_wanted(durability: Durability, buffered: bool) -> Fallible<()> {
    match (durability, buffered) {
        (Durability::Durable, false) | (Durability::Buffered, true) => Ok(()),
        (Durability::Durable, true) | (Durability::Buffered, false) => {
            Err(wrong(format!("jobs were to be buffered: {buffered}, and are {durability:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_the_same_through_either_door() {
        let job = Wanted {
            threads: 4,
            run_at: Some(Wall(1_750_000_000_000_000)),
            fair_key: Some("k7".into()),
            retried_soon: true,
            ..Wanted::noop("q")
        };
        let mut text = String::new();
        job.write_json(&mut text, true);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((json["threads"].as_u64(), json["durability"].as_str()), (Some(4), Some("buffered")));
        assert_eq!(json["payload"].to_string().len(), PAYLOAD_BYTES);
        let wire = job.wire();
        assert_eq!((wire.threads, wire.fair_key.as_str(), wire.payload.len()), (4, "k7", PAYLOAD_BYTES));
        assert!(wire.run_at.is_some() && wire.retry.is_some());
    }
}
