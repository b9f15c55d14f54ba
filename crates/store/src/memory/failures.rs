//! Groups of failures: counted, listed, forgotten.

use ganger_core::Wall;
use ganger_core::change::Applied;
use ganger_core::fingerprint::trend::{BUCKETS_KEPT, Trend, Window, bucket_of};
use ganger_core::fingerprint::{FORGOTTEN_AFTER, FailureGroup, FailureSeen, Fingerprint, GROUPS};
use ganger_core::name::Kind;

use super::state::MemoryState;

impl MemoryState {
    /// Groups that were seen since, of a kind or of all, the last seen first.
    #[must_use]
    pub fn failures(&self, since: Wall, kind: Option<&Kind>, limit: usize) -> Vec<FailureGroup> {
        let meant =
            |group: &&FailureGroup| group.last_at >= since && kind.is_none_or(|kind| group.kind == *kind);
        let mut found: Vec<_> = self.failures.values().filter(meant).cloned().collect();
        found.sort_by_key(|group| std::cmp::Reverse(age(group)));
        found.truncate(limit);
        found
    }

    /// How often the failures of groups came in the steps of a window.
    #[must_use]
    pub fn failure_trends(&self, groups: &[Fingerprint], window: Window) -> Vec<Trend> {
        let trend = |group: &Fingerprint| {
            let counted = self.trends.range(all_of(*group));
            window.trend(*group, counted.map(|((_, bucket), count)| (window.step_of(*bucket), *count)))
        };
        groups.iter().filter_map(trend).collect()
    }

    /// One group.
    #[must_use]
    pub fn failure(&self, fingerprint: Fingerprint) -> Option<FailureGroup> {
        self.failures.get(&fingerprint).cloned()
    }

    pub(super) fn count_failure(&mut self, seen: &FailureSeen) -> Applied {
        let mut group = self.failures.get(&seen.fingerprint).cloned();
        match &mut group {
            Some(group) => group.add(seen),
            None => group = Some(seen.first()),
        }
        self.failures.put(seen.fingerprint, group.unwrap_or_else(|| seen.first()));
        let bucket = (seen.fingerprint, bucket_of(seen.at));
        let count = self.trends.get(&bucket).copied().unwrap_or(0);
        self.trends.put(bucket, count + 1);
        Applied::Done
    }

    /// Forgets groups that were not seen for long, and the oldest of too many.
    pub(super) fn forget_failures(&mut self, now: Wall, limit: usize) {
        let mut oldest: Vec<(Wall, i64)> = self.failures.values().map(age).collect();
        oldest.sort_unstable();
        let over = oldest.iter().filter(|(seen, _)| *seen <= now - FORGOTTEN_AFTER).count();
        let too_many = oldest.len().saturating_sub(GROUPS);
        for (_, group) in oldest.into_iter().take(over.max(too_many).min(limit)) {
            let group = Fingerprint(group.cast_unsigned());
            self.failures.take(&group);
            let buckets: Vec<_> = self.trends.range(all_of(group)).map(|(key, _)| *key).collect();
            for bucket in buckets {
                self.trends.take(&bucket);
            }
        }
    }

    /// Forgets the oldest buckets of groups.
    pub(super) fn prune_trends(&mut self, now: Wall, limit: usize) {
        let kept = bucket_of(now - BUCKETS_KEPT);
        let mut old: Vec<_> = self.trends.keys().copied().filter(|(_, bucket)| *bucket < kept).collect();
        old.sort_by_key(|(group, bucket)| (*bucket, group.0.cast_signed()));
        for key in old.into_iter().take(limit) {
            self.trends.take(&key);
        }
    }
}

/// The buckets of a group.
fn all_of(group: Fingerprint) -> std::ops::RangeInclusive<(Fingerprint, i64)> {
    (group, i64::MIN)..=(group, i64::MAX)
}

/// By which groups are old; those of one moment in an order that every database knows.
fn age(group: &FailureGroup) -> (Wall, i64) {
    (group.last_at, group.fingerprint.0.cast_signed())
}
