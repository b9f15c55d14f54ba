//! `noop`: does nothing, at once.

use serde::de::IgnoredAny;

use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const NOOP: Job<IgnoredAny, ()> = Job::new("noop");

pub(super) async fn run(_: Ctx, _: IgnoredAny) -> Result<(), JobError> {
    Ok(())
}
