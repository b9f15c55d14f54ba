//! What the jobs of a demonstration do: what their payload says, so that a seed decides it all.

use std::time::Duration;

use ganger_worker::{Ctx, Job, JobError, Registry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The plan of a job, as its payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Plan {
    /// Whose it is.
    pub(super) customer: String,
    /// A number of the customer's.
    pub(super) number: u64,
    /// How long an attempt takes.
    pub(super) ms: u64,
    /// So many attempts fail.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) fails: u32,
    /// With this error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) error: String,
    /// And trying again is pointless.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) fatal: bool,
    /// The other side wants to be left alone for so long, once.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) throttled_ms: u32,
    /// Steps that are told as progress.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) steps: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What can be done.
pub(super) const KINDS: [&str; 7] = [
    "demo.email.send",
    "demo.image.resize",
    "demo.video.encode",
    "demo.report.part",
    "demo.report.join",
    "demo.invoice.charge",
    "demo.housekeeping",
];

/// A handler for every kind.
pub(super) fn registry() -> Registry {
    KINDS
        .into_iter()
        .fold(Registry::new(), |registry, kind| registry.handle(&Job::<Plan, Value>::new(kind), work))
}

async fn work(ctx: Ctx, plan: Plan) -> Result<Value, JobError> {
    ctx.log(format!("{} for {}, attempt {}", ctx.kind(), plan.customer, ctx.attempt()));
    if plan.throttled_ms > 0 && ctx.attempt() == 1 {
        ctx.log("429: too many requests");
        return Err(JobError::throttled(Duration::from_millis(plan.throttled_ms.into())));
    }
    let steps = plan.steps.max(1);
    for step in 0..steps {
        let long = Duration::from_millis(plan.ms / u64::from(steps));
        ctx.unless_cancelled(tokio::time::sleep(long)).await?;
        if plan.steps > 0 {
            ctx.progress((step + 1) as f32 / steps as f32, format!("step {} of {steps}", step + 1));
        }
    }
    if ctx.attempt() <= plan.fails {
        ctx.log(format!("failed: {}", plan.error));
        return Err(if plan.fatal { JobError::fatal(plan.error) } else { JobError::retry(plan.error) });
    }
    ctx.log("done");
    Ok(json!({ "customer": plan.customer, "number": plan.number, "took_ms": plan.ms }))
}
