//! Questions to the server, and their answers: one bounded request each, or a few.

use std::time::Duration;

use ganger_core::name::QueueName;
use ganger_core::{JobId, Wall};
use ganger_server::api::{
    AttemptsBody, ExplainBody, FailuresBody, JobBody, JobPage, OperationsBody, QueuesBody, SchedulesBody,
    StatsBody, TimeseriesBody, WorkersBody,
};
use serde::de::DeserializeOwned;

use super::model::Head;
use super::pace::Totals;
use crate::client::{Call, Client, with_query};
use crate::clock;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// No question takes longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Rows that are fetched: more than a screen has.
const ROWS: usize = 200;
/// Rates are told of this long.
const SPAN: &str = "10m";

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fetch {
    Stats,
    Queues,
    Jobs {
        filter: String,
    },
    Failures,
    Workers,
    Schedules,
    Operations,
    /// What happened over time, for rates.
    Pace,
    /// The job that is next in a queue, which has been ready for so long.
    Head {
        queue: QueueName,
        ready_for: Duration,
    },
    Job(JobId),
    Explain(JobId),
    Log(JobId),
}

impl Fetch {
    /// Whether it asks for the same, perhaps at another time.
    pub(super) fn is_like(&self, other: &Fetch) -> bool {
        match (self, other) {
            (Fetch::Head { queue, .. }, Fetch::Head { queue: same, .. }) => queue == same,
            _ => self == other,
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) enum Fetched {
    Stats(Box<StatsBody>),
    Queues(QueuesBody),
    Jobs(JobPage),
    Failures(FailuresBody),
    Workers(WorkersBody),
    Schedules(SchedulesBody),
    Operations(OperationsBody),
    Pace(Totals),
    Head(Head),
    Job(Box<JobBody>, AttemptsBody),
    Explain(ExplainBody),
    Log(String),
}

/// Asks, and waits a bounded time.
pub(super) async fn fetch(client: &Client, fetch: &Fetch) -> Fallible<Fetched> {
    match tokio::time::timeout(PATIENCE, asked(client, fetch)).await {
        Ok(answer) => answer,
        Err(_) => {
            let why = format!("no answer in {} s", PATIENCE.as_secs());
            Err(Failure::new(Exit::Unreachable, "cannot read from the server", why, ""))
        }
    }
}

async fn asked(client: &Client, fetch: &Fetch) -> Fallible<Fetched> {
    let limit = ROWS.to_string();
    Ok(match fetch {
        Fetch::Stats => Fetched::Stats(get(client, "read the statistics", "/v1/stats").await?),
        Fetch::Queues => Fetched::Queues(get(client, "list queues", "/v1/queues").await?),
        Fetch::Jobs { filter } => {
            let filter = Some(filter.clone()).filter(|filter| !filter.is_empty());
            let path = with_query("/v1/jobs", [("q", filter), ("limit", Some(limit))]);
            Fetched::Jobs(get(client, "list jobs", &path).await?)
        }
        Fetch::Failures => {
            let path =
                with_query("/v1/failures", [("window", Some("24h".to_owned())), ("limit", Some(limit))]);
            Fetched::Failures(get(client, "list failures", &path).await?)
        }
        Fetch::Workers => Fetched::Workers(get(client, "list workers", "/v1/workers").await?),
        Fetch::Schedules => {
            let path = with_query("/v1/schedules", [("limit", Some(limit))]);
            Fetched::Schedules(get(client, "list schedules", &path).await?)
        }
        Fetch::Operations => Fetched::Operations(get(client, "list operations", "/v1/operations").await?),
        Fetch::Pace => Fetched::Pace(pace(client).await?),
        Fetch::Head { queue, ready_for } => Fetched::Head(head(client, queue, *ready_for).await?),
        Fetch::Job(id) => {
            let job = get(client, &format!("get job {id}"), &format!("/v1/jobs/{id}")).await?;
            let path = format!("/v1/jobs/{id}/attempts");
            Fetched::Job(job, get(client, &format!("list the attempts of job {id}"), &path).await?)
        }
        Fetch::Explain(id) => Fetched::Explain(explain(client, *id).await?),
        Fetch::Log(id) => {
            let path = format!("/v1/jobs/{id}/logs");
            let answer = client.send(&Call::get(format!("read the log of {id}"), path).once()).await?;
            Fetched::Log(answer.body)
        }
    })
}

async fn get<T: DeserializeOwned>(client: &Client, what: &str, path: &str) -> Fallible<T> {
    client.send(&Call::get(what, path).once()).await?.read()
}

async fn explain(client: &Client, id: JobId) -> Fallible<ExplainBody> {
    get(client, &format!("explain job {id}"), &format!("/v1/jobs/{id}/explain")).await
}

async fn pace(client: &Client) -> Fallible<Totals> {
    let ended = series(client, "throughput", Some("queue")).await?;
    let came = series(client, "enqueued", Some("queue")).await?;
    let failed = series(client, "failures", Some("queue")).await?;
    let wait = series(client, "wait", None).await?;
    Ok(Totals::new(&ended, &came, &failed, &wait))
}

async fn series(client: &Client, metric: &str, by: Option<&str>) -> Fallible<TimeseriesBody> {
    let path = with_query(
        "/v1/stats/timeseries",
        [("metric", Some(metric.to_owned())), ("by", by.map(str::to_owned)), ("from", Some(SPAN.to_owned()))],
    );
    get(client, "read the statistics", &path).await
}

/// The first job in line. The list has the newest first, so the newest of those that are as old as the first one is looked
/// for; whether it is really the first, its explanation says.
async fn head(client: &Client, queue: &QueueName, ready_for: Duration) -> Fallible<Head> {
    let before: Wall = clock::now() - ready_for + Duration::from_millis(5);
    let path = with_query(
        "/v1/jobs",
        [
            ("queue", Some(queue.to_string())),
            ("state", Some("queued".to_owned())),
            ("created_before", Some(before.to_string())),
            ("limit", Some("1".to_owned())),
        ],
    );
    let page: JobPage = get(client, "find the first job in line", &path).await?;
    let job = page.items.into_iter().next().map(Box::new);
    let explain = match &job {
        Some(job) => Some(explain(client, job.id).await?),
        None => None,
    };
    Ok(Head { queue: queue.to_string(), job, explain })
}
