//! The failures of a batch, gathered before they are written: once per group, and once per group and bucket.

use std::collections::BTreeMap;

use ganger_core::fingerprint::trend::bucket_of;
use ganger_core::fingerprint::{FailureGroup, FailureSeen, Fingerprint};

/// Failures that were seen and are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What is added to each group.
    pub(crate) groups: BTreeMap<Fingerprint, FailureGroup>,
    /// How many came in each bucket of a group.
    pub(crate) trends: BTreeMap<(Fingerprint, i64), u64>,
}

impl Seen {
    /// One more.
    pub(crate) fn add(&mut self, seen: &FailureSeen) {
        let group = self.groups.entry(seen.fingerprint);
        group.and_modify(|group| group.add(seen)).or_insert_with(|| seen.first());
        *self.trends.entry((seen.fingerprint, bucket_of(seen.at))).or_default() += 1;
    }
}
