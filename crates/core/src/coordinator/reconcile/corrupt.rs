//! Damage to memory, done on purpose, so that tests can see it repaired. Compiled in only for them.

use crate::change::LiveJob;
use crate::coordinator::Coordinator;
use crate::ids::JobId;
use crate::time::Now;

/// What is to be wrong in memory about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corruption {
    /// It is not there.
    Dropped,
    /// It is due at another time.
    Moved,
    /// Nobody knows what it waits for.
    Unlinked,
    /// Its lease is not there, and neither is the job.
    LeaseDropped,
}

impl Coordinator {
    /// Damages what memory holds of a job; `false` if it is not there.
    pub fn corrupt(&mut self, job: JobId, how: Corruption) -> bool {
        let Some(slot) = self.jobs.slot(job) else { return false };
        match how {
            Corruption::Dropped => {
                self.withdraw(slot);
                let entry = self.drop_job(slot);
                let key = &self.classes.get(entry.class).key;
                self.counters.sub(&key.queue, &key.kind, entry.counted, 1);
                self.dependencies.forget(job);
            }
            Corruption::Moved => self.jobs.get_mut(slot).due_at.0 += 3_600_000_000,
            Corruption::Unlinked => self.dependencies.forget(job),
            Corruption::LeaseDropped => {
                let key = &self.classes.get(self.jobs.get(slot).class).key;
                self.counters.sub(&key.queue, &key.kind, self.jobs.get(slot).counted, 1);
                self.vanish(slot);
            }
        }
        true
    }

    /// Adds a job that the store knows nothing of.
    pub fn invent(&mut self, now: Now, job: &LiveJob) {
        self.add_job(now, job);
    }
}
