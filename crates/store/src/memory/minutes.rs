//! The buckets of minutes.

use ganger_core::Wall;
use ganger_core::change::{Applied, Batch};
use ganger_core::limits;
use ganger_core::minutes::{Counts, minute_of};
use ganger_core::timeline::{Span, Timeline};

use super::state::MemoryState;

impl MemoryState {
    /// A timeline of what happened.
    #[must_use]
    pub fn timeline(&self, span: &Span) -> Timeline {
        let mut timeline = Timeline::new(span);
        for ((minute, queue, kind), counts) in self.minutes.iter().rev() {
            let wanted = (span.first()..span.end()).contains(minute)
                && span.queue.as_ref().is_none_or(|wanted| wanted == queue)
                && span.kind.as_ref().is_none_or(|wanted| wanted == kind);
            if wanted && timeline.add(*minute, queue.as_str(), kind.as_str(), counts).is_break() {
                break;
            }
        }
        timeline
    }

    /// Everything that was ever counted, by minute, queue and kind.
    pub fn minutes(
        &self,
    ) -> impl Iterator<Item = (&(i64, ganger_core::name::QueueName, ganger_core::name::Kind), &Counts)> {
        self.minutes.iter()
    }

    /// Adds what a batch counts for.
    pub(super) fn add_minutes(&mut self, batch: &Batch, answers: &[Applied]) {
        for bucket in batch.counted.settled(&batch.changes, answers).iter() {
            let key = (batch.counted.minute, bucket.queue.clone(), bucket.kind.clone());
            let mut counts = self.minutes.get(&key).cloned().unwrap_or_default();
            counts.add(&bucket.counts);
            self.minutes.put(key, counts);
        }
    }

    /// Forgets the oldest buckets.
    pub(super) fn prune_minutes(&mut self, now: Wall, limit: usize) {
        let kept = minute_of(now - limits::MINUTES_KEPT);
        let old: Vec<_> =
            self.minutes.keys().take_while(|(minute, ..)| *minute < kept).take(limit).cloned().collect();
        for key in old {
            self.minutes.take(&key);
        }
    }
}
