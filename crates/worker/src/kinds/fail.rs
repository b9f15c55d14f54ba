//! `fail`: fails so many times, then succeeds. For trying out retries.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const FAIL: Job<Fail, Succeeded> = Job::new("fail");

/// Longest run of an attempt that can be asked for: a day.
const RUN_MS_MAX: u64 = 86_400_000;

/// How often, and with which words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fail {
    times: u32,
    message: Option<String>,
    /// How long each attempt runs first.
    #[serde(default)]
    run_ms: u64,
}

/// Which attempt succeeded.
#[derive(Debug, Serialize, PartialEq)]
pub(super) struct Succeeded {
    attempt: u32,
}

pub(super) async fn run(ctx: Ctx, fail: Fail) -> Result<Succeeded, JobError> {
    let attempt = ctx.attempt();
    if fail.run_ms > 0 {
        let run = Duration::from_millis(fail.run_ms.min(RUN_MS_MAX));
        ctx.unless_cancelled(tokio::time::sleep(run)).await?;
    }
    if attempt > fail.times {
        return Ok(Succeeded { attempt });
    }
    Err(fail.message.unwrap_or_else(|| format!("failed as asked, {attempt} of {}", fail.times)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_fails_so_often_and_then_succeeds() {
        let twice = || Fail { times: 2, message: None, run_ms: 0 };
        let error = run(Ctx::for_attempt("fail", 2), twice()).await.unwrap_err();
        assert_eq!(error.to_string(), "failed as asked, 2 of 2");
        assert_eq!(run(Ctx::for_attempt("fail", 3), twice()).await.unwrap(), Succeeded { attempt: 3 });
    }
}
