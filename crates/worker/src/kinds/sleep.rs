//! `sleep`: waits, and stops when told to.

use std::time::Duration;

use ganger_core::limits;
use serde::Deserialize;

use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const SLEEP: Job<Sleep, ()> = Job::new("sleep");

/// How long; the sum, if both are given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sleep {
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    ms: f64,
}

pub(super) async fn run(ctx: Ctx, sleep: Sleep) -> Result<(), JobError> {
    let length = Duration::try_from_secs_f64(sleep.seconds + sleep.ms / 1000.0)
        .ok()
        .filter(|length| *length <= limits::LONGEST)
        .ok_or_else(|| JobError::fatal("sleep must be from 0 to 366 days"))?;
    ctx.unless_cancelled(tokio::time::sleep(length)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::message::CancelWhy;

    #[tokio::test]
    async fn it_sleeps_stops_when_told_to_and_refuses_nonsense() {
        run(Ctx::for_test("sleep"), Sleep { seconds: 0.0, ms: 1.0 }).await.unwrap();
        let ctx = Ctx::for_test("sleep");
        ctx.cancel(CancelWhy::Cancelled);
        assert!(run(ctx, Sleep { seconds: 3600.0, ms: 0.0 }).await.is_err());
        for seconds in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            let error = run(Ctx::for_test("sleep"), Sleep { seconds, ms: 0.0 }).await.unwrap_err();
            assert!(error.is_fatal(), "{seconds}");
        }
    }
}
