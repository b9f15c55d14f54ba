//! A failed attempt is counted by its group in the transaction that ends it: neither without the other.

use ganger_core::JobId;
use ganger_core::change::{AttemptEnd, Batch, Change};
use ganger_core::fingerprint::Fingerprint;

use crate::checker::Checker;
use crate::store::short;

impl Checker {
    /// Every failure of a batch comes right before the end that it is of, and every such end after its failure.
    pub(crate) fn check_failures(&mut self, batch: &Batch) {
        let mut told: Option<JobId> = None;
        for change in &batch.changes {
            let mut failed = None;
            if let Change::End(AttemptEnd { job, record: Some(record), .. }) = change {
                failed = Fingerprint::of("", record.outcome, None).map(|_| *job);
            }
            self.require(told == failed, || {
                let (told, failed) = (told.map(short), failed.map(short));
                format!("a failure of {told:?} is counted, and that of {failed:?} is written")
            });
            told = if let Change::Failed(seen) = change { Some(seen.job) } else { None };
        }
        self.require(told.is_none(), || format!("a failure of {told:?} is counted without its end"));
    }
}
