//! `mixed_workload`: hashes, then writes and reads.

use serde::Serialize;

use super::content::Content;
use super::cpu_intensive::Hashed;
use super::io_intensive::Written;
use super::{Scale, cpu_intensive, io_intensive};
use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const MIXED_WORKLOAD: Job<Content, Mixed> = Job::new("mixed_workload");

/// What was done.
#[derive(Debug, Serialize)]
pub(super) struct Mixed {
    #[serde(flatten)]
    hashed: Hashed,
    #[serde(flatten)]
    written: Written,
}

pub(super) fn work(ctx: &Ctx, scale: Scale) -> Result<Mixed, JobError> {
    Ok(Mixed { hashed: cpu_intensive::work(ctx, scale)?, written: io_intensive::work(ctx, scale)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done() {
        let mixed = work(&Ctx::for_test("mixed_workload"), Scale::TINY).unwrap();
        let json = serde_json::to_value(mixed).unwrap();
        assert_eq!((&json["hashes"], &json["lines"]), (&1.into(), &1.into()));
    }
}
