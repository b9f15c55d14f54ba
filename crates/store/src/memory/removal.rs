//! What is removed: dead jobs on request, old ones by retention, ledger entries that ran out.

use ganger_core::change::Tally;
use ganger_core::job::State;
use ganger_core::name::QueueName;
use ganger_core::{JobId, Wall};

use super::state::{Final, MemoryState};
use crate::retention;
use crate::tallies::Tallies;

impl MemoryState {
    pub(super) fn purge_dead(&mut self, queue: &QueueName, limit: usize) -> Vec<Tally> {
        let mut tallies = Tallies::default();
        self.remove_oldest(limit, &mut tallies, |job| {
            job.end.state == State::Dead && job.was.job.queue == *queue
        });
        tallies.into_vec()
    }

    /// Removes final jobs by name; others are left alone.
    pub(super) fn delete(&mut self, jobs: &[JobId]) -> Vec<Tally> {
        let mut tallies = Tallies::default();
        for id in jobs {
            if let Some(job) = self.finals.take(id) {
                tallies.add(&job.was.job.queue, &job.was.job.kind, job.end.state, 1);
                self.forget_traces(*id);
            }
        }
        tallies.into_vec()
    }

    pub(super) fn prune(&mut self, now: Wall, limit: usize) -> Vec<Tally> {
        let mut tallies = Tallies::default();
        let queues = self.queues.clone();
        for dead in [false, true] {
            self.remove_oldest(limit, &mut tallies, |job| {
                let settings = queues.get(&job.was.job.queue).copied().unwrap_or_default();
                (job.end.state == State::Dead) == dead
                    && retention::is_over(settings.retention, job.end.state, job.end.at, now)
            });
        }
        let mut answers: Vec<_> = self.idempotency.iter().map(|(key, a)| (a.until, key.clone())).collect();
        answers.retain(|(until, _)| *until <= now);
        answers.sort();
        for (_, key) in answers.into_iter().take(limit) {
            self.idempotency.take(&key);
        }
        let mut held: Vec<_> =
            self.unique.iter().filter_map(|(key, h)| Some((h.until?, key.clone()))).collect();
        held.retain(|(until, _)| *until <= now);
        held.sort();
        for (_, key) in held.into_iter().take(limit) {
            self.unique.take(&key);
        }
        self.prune_closed_keys(now);
        self.forget_failures(now, limit);
        self.prune_trends(now, limit);
        self.prune_minutes(now, limit);
        tallies.into_vec()
    }

    /// Forgets what was kept beside the row of a job.
    pub(super) fn forget_traces(&mut self, id: JobId) {
        let all = (id, 0)..=(id, u32::MAX);
        let attempts: Vec<_> = self.attempts.range(all.clone()).map(|(key, _)| *key).collect();
        for key in attempts {
            self.attempts.take(&key);
        }
        let logs: Vec<_> = self.logs.range(all).map(|(key, _)| *key).collect();
        for key in logs {
            self.logs.take(&key);
        }
        self.forget_edges(id);
    }

    fn remove_oldest(&mut self, limit: usize, tallies: &mut Tallies, chosen: impl Fn(&Final) -> bool) {
        // What the leader does not know to be final it cannot take for removed.
        let known = |id: &JobId| !self.elsewhere.contains_key(id);
        let mut found: Vec<(Wall, JobId)> = self
            .finals
            .iter()
            .filter(|(id, job)| chosen(job) && known(id))
            .map(|(id, job)| (job.end.at, *id))
            .collect();
        found.sort();
        for (_, id) in found.into_iter().take(limit) {
            if let Some(job) = self.finals.take(&id) {
                tallies.add(&job.was.job.queue, &job.was.job.kind, job.end.state, 1);
                self.forget_traces(id);
            }
        }
    }
}
