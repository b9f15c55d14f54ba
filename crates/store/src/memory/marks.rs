//! Marks of attempts that must not be repeated.

use ganger_core::change::{Applied, EffectMark};

use super::state::MemoryState;

impl MemoryState {
    pub(super) fn mark(&mut self, mark: &EffectMark) -> Applied {
        if mark.stands {
            self.marks.put(mark.job, mark.fence);
        } else if self.marks.get(&mark.job) == Some(&mark.fence) {
            self.marks.take(&mark.job);
        }
        Applied::Done
    }
}
