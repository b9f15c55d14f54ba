//! Who holds a unique key, and for how long.

use ganger_core::change::{End, LiveJob};
use ganger_core::job::JobOptions;
use ganger_core::name::Kind;
use ganger_core::{JobId, Wall};

use super::state::{Holder, MemoryState};

impl MemoryState {
    /// The job that holds the unique key of these options at that moment, if they name one.
    pub(super) fn unique_holder(&self, kind: &Kind, options: &JobOptions, now: Wall) -> Option<JobId> {
        let key = options.unique_key.clone()?;
        let holder = self.unique.get(&(kind.clone(), key))?;
        holder.until.is_none_or(|until| until > now).then_some(holder.job)
    }

    /// Gives the unique key of these options, if they name one, to a job.
    pub(super) fn hold_unique(&mut self, kind: &Kind, options: &JobOptions, job: JobId, until: Option<Wall>) {
        if let Some(key) = &options.unique_key {
            self.unique.put((kind.clone(), key.clone()), Holder { job, until });
        }
    }

    /// The job has ended: its key is held a while longer, or is free.
    pub(super) fn release_unique(&mut self, job: &LiveJob, end: &End) {
        let Some(key) = &job.options.unique_key else { return };
        if end.holds_key() && !job.options.unique_for.is_zero() {
            self.hold_unique(&job.kind, &job.options, job.id, Some(end.at + job.options.unique_for));
        } else {
            self.unique.take(&(job.kind.clone(), key.clone()));
        }
    }
}
