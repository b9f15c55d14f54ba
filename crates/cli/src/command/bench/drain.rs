//! How fast waiting jobs are run, and that each of them ended exactly once.

use std::collections::HashSet;
use std::time::Duration;

use ganger_core::job::State;
use ganger_core::{JobId, limits};
use ganger_server::api::{CountsBody, JobPage, QueueBody};

use super::pause;
use super::processes::Processes;
use super::report::{Commits, Drain};
use crate::client::{Call, Client, with_query};
use crate::clock::Stopwatch;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Between two looks at the counts.
const LOOK: Duration = Duration::from_millis(10);
/// The metric that counts commits, and the one that adds up how long they took.
const COMMITS: &str = "ganger_store_commit_seconds_count ";
const COMMIT_SECONDS: &str = "ganger_store_commit_seconds_sum ";
/// Without any progress for this long something is wrong.
const STUCK: Duration = Duration::from_secs(60);

/// Opens a paused queue and waits until all its jobs have ended.
pub(super) async fn drain(client: &Client, processes: &Processes, queue: &str, jobs: u64) -> Fallible<Drain> {
    let committed = commits(client).await?;
    let (before, watch) = (processes.cpu(), Stopwatch::start());
    pause(client, queue, false).await?;
    let (mut seen, mut since) = (0, Stopwatch::start());
    loop {
        let counts = counts(client, queue).await?;
        if counts.succeeded >= jobs {
            let (took, cpu) = (watch.elapsed(), processes.cpu().since(before));
            let commits = commits(client).await?.since(committed);
            return Ok(Drain::new(jobs, took, cpu, commits));
        }
        if counts.succeeded > seen {
            (seen, since) = (counts.succeeded, Stopwatch::start());
        } else if since.left_of(STUCK).is_zero() {
            return Err(wrong(format!(
                "{seen} of {jobs} jobs of {queue} have ended, and no more for {STUCK:?}"
            )));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Looks every job up: each that was acknowledged succeeded, at its first attempt, and nothing else is there.
pub(super) async fn verify(client: &Client, queue: &str, mut expected: HashSet<JobId>) -> Fallible<()> {
    let mut cursor = None;
    loop {
        let limit = Some(limits::PAGE_MAX.to_string());
        let path =
            with_query("/v1/jobs", [("queue", Some(queue.to_owned())), ("limit", limit), ("cursor", cursor)]);
        let page = client.send(&Call::get("list jobs", path)).await?.read::<JobPage>()?;
        for job in &page.items {
            if !expected.remove(&job.id) {
                return Err(wrong(format!("{} was listed twice, or never acknowledged", job.id)));
            }
            if job.state != State::Succeeded || job.attempt != 1 {
                return Err(wrong(format!(
                    "{} is {} after {} attempts",
                    job.id,
                    job.state.as_str(),
                    job.attempt
                )));
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    match expected.len() {
        0 => Ok(()),
        lost => Err(wrong(format!("{lost} acknowledged jobs are not there"))),
    }
}

/// How often, and how long, the server has committed so far.
async fn commits(client: &Client) -> Fallible<Commits> {
    let answer = client.send(&Call::get("read the metrics", "/metrics")).await?;
    let metric = |name: &str| {
        let found = answer.body.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        found.ok_or_else(|| wrong(format!("the metrics do not have {name}")))
    };
    Ok(Commits { count: metric(COMMITS)? as u64, seconds: metric(COMMIT_SECONDS)? })
}

async fn counts(client: &Client, queue: &str) -> Fallible<CountsBody> {
    let call = Call::get(format!("get queue {queue}"), format!("/v1/queues/{queue}"));
    Ok(client.send(&call).await?.read::<QueueBody>()?.jobs)
}

fn wrong(why: String) -> Box<Failure> {
    Failure::new(Exit::Failure, "the benchmark found a fault", why, "this is a bug: please report it")
}
