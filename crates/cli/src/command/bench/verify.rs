//! That every job which was acknowledged ended exactly once.

use std::collections::HashMap;

use ganger_core::job::State;
use ganger_core::{JobId, limits};
use ganger_server::api::JobPage;

use super::drain::live;
use super::report::{How, Verified};
use super::stage::Stage;
use super::wrong;
use crate::client::{Call, with_query};
use crate::failure::Fallible;

/// What is expected of the jobs of a queue: of each the attempt at which it succeeded, at the latest.
#[derive(Debug, Default)]
pub(super) struct Expected(HashMap<JobId, u32>);

impl Expected {
    /// Each at its first attempt.
    pub(super) fn once(ids: impl IntoIterator<Item = JobId>) -> Expected {
        Expected(ids.into_iter().map(|id| (id, 1)).collect())
    }

    /// Each at the attempt that is given with it.
    pub(super) fn at(ids: impl IntoIterator<Item = (JobId, u32)>) -> Expected {
        Expected(ids.into_iter().collect())
    }
}

/// Looks every job of a queue up: each that was acknowledged succeeded, at the attempt that was expected, and nothing else
/// is there.
pub(super) async fn all(stage: &Stage<'_>, queue: &str, expected: Expected) -> Fallible<u64> {
    look(stage, queue, expected, true).await
}

/// Looks those jobs of a queue up that have ended, while others wait: so many as the server counts, each once.
pub(super) async fn ended(stage: &Stage<'_>, queue: &str, expected: Expected) -> Fallible<u64> {
    look(stage, queue, expected, false).await
}

/// By the counters of the server: for queues that keep none of their jobs.
pub(super) async fn counted(stage: &Stage<'_>, queue: &str, jobs: u64) -> Fallible<Verified> {
    let answer = stage.client.send(&Call::get("read the metrics", "/metrics")).await?;
    let label = format!("queue=\"{queue}\"");
    let total = |name: &str, with: &str| -> u64 {
        let lines = answer
            .body
            .lines()
            .filter(|line| line.starts_with(name) && line.contains(&label) && line.contains(with));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>() as u64
    };
    let finished = total("ganger_jobs_finished_total{", "outcome=\"succeeded\"");
    let attempts = total("ganger_attempts_total{", "outcome=\"");
    if (finished, attempts) == (jobs, jobs) {
        return Ok(Verified { jobs, how: How::Counted });
    }
    Err(wrong(format!("{jobs} jobs of {queue} ran, {finished} succeeded, in {attempts} attempts")))
}

async fn look(stage: &Stage<'_>, queue: &str, expected: Expected, whole: bool) -> Fallible<u64> {
    let Expected(mut expected) = expected;
    let acknowledged = expected.len();
    let counts = stage.counts(queue).await?;
    let counted = counts.succeeded;
    // The server counts nothing else in the queue: what is older than the last of them is of others.
    let nothing_else = live(&counts) + counts.dead + counts.cancelled == 0 && counted == acknowledged as u64;
    let state = (!whole).then(|| State::Succeeded.as_str().to_owned());
    let (mut cursor, mut seen) = (None, 0);
    loop {
        let limit = Some(limits::PAGE_MAX.to_string());
        let query = [
            ("queue", Some(queue.to_owned())),
            ("state", state.clone()),
            ("limit", limit),
            ("cursor", cursor),
        ];
        let call = Call::get("list jobs", with_query("/v1/jobs", query));
        let page = stage.client.send(&call).await?.read::<JobPage>()?;
        for job in &page.items {
            let Some(attempt) = expected.remove(&job.id) else {
                return Err(wrong(format!("{} was listed twice, or never acknowledged", job.id)));
            };
            if job.state != State::Succeeded || job.attempt != attempt {
                let (id, state, after) = (job.id, job.state.as_str(), job.attempt);
                return Err(wrong(format!("{id} is {state} after {after} attempts, and not {attempt}")));
            }
            seen += 1;
        }
        cursor = page.next_cursor;
        if cursor.is_none() || (nothing_else && expected.is_empty()) {
            break;
        }
    }
    match expected.len() {
        0 => Ok(seen),
        lost if whole => Err(wrong(format!("{lost} of {acknowledged} acknowledged jobs are not there"))),
        _ if seen == counted => Ok(seen),
        _ => Err(wrong(format!("{counted} jobs of {queue} have succeeded, and {seen} were found"))),
    }
}
