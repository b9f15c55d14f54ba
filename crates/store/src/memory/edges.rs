//! Jobs that wait for others.

use ganger_core::JobId;
use ganger_core::change::{Applied, Intake, NewJob, Submission};
use ganger_core::dependency::{self, Edge, Place};
use ganger_core::job::State;

use super::state::MemoryState;
use crate::read::Related;

impl MemoryState {
    /// The parent that a submission names first of those that are not there.
    pub(super) fn missing_parent(&self, jobs: &[NewJob]) -> Option<(JobId, Place)> {
        let there = |job: &JobId| self.live.contains_key(job) || self.finals.contains_key(job);
        dependency::outside(jobs).into_iter().find(|(parent, _)| !there(parent))
    }

    /// Writes the edges of the jobs that were created, with how those of their parents ended that are final.
    pub(super) fn link(&mut self, submission: &Submission, intakes: &[Intake]) -> Vec<(JobId, State)> {
        let mut ended = Vec::new();
        for mut edge in dependency::edges(&submission.jobs, intakes) {
            if !self.live.contains_key(&edge.parent) {
                // A key is held after success only, also where the job itself is not kept.
                let state = self.finals.get(&edge.parent).map_or(State::Succeeded, |job| job.end.state);
                if !ended.contains(&(edge.parent, state)) {
                    ended.push((edge.parent, state));
                }
                edge.ended = Some(state).filter(|state| edge.on_dead.settled_by(*state));
            }
            self.edges.put((edge.child, edge.parent), edge);
        }
        ended
    }

    /// A parent has ended so: what that settles is recorded.
    pub(super) fn settle(&mut self, parent: JobId, state: State) -> Applied {
        let open =
            |edge: &&Edge| edge.parent == parent && edge.ended.is_none() && edge.on_dead.settled_by(state);
        let settled: Vec<_> = self.edges.values().filter(open).map(|edge| (edge.child, parent)).collect();
        for key in settled {
            self.edges.change(&key, |edge| edge.ended = Some(state));
        }
        Applied::Done
    }

    /// The edges of blocked jobs.
    pub(super) fn open_edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.values().filter(|edge| {
            self.live.get(&edge.child).is_some_and(|live| dependency::is_parked(live.job.due_at))
        })
    }

    /// Parents of blocked jobs that are not live, and of whose end their edges do not know.
    pub(super) fn ended_parents(&self) -> Vec<(JobId, Option<State>)> {
        let open = self.open_edges().filter(|edge| edge.ended.is_none());
        let mut parents: Vec<JobId> =
            open.map(|edge| edge.parent).filter(|parent| !self.live.contains_key(parent)).collect();
        parents.sort_unstable();
        parents.dedup();
        parents.into_iter().map(|id| (id, self.finals.get(&id).map(|job| job.end.state))).collect()
    }

    /// The jobs that a job waits for, or waited for, or that wait for it, from an id on.
    #[must_use]
    pub fn related(&self, id: JobId, of: Related, after: Option<JobId>, limit: usize) -> Vec<Edge> {
        let mut found: Vec<Edge> = self.edges.values().filter(|edge| of.near(edge) == id).copied().collect();
        found.retain(|edge| after.is_none_or(|after| of.far(edge) > after));
        found.sort_unstable_by_key(|edge| of.far(edge));
        found.truncate(limit);
        found
    }

    /// Forgets the edges of a job that is gone.
    pub(super) fn forget_edges(&mut self, child: JobId) {
        let gone: Vec<_> = self.edges.keys().filter(|(of, _)| *of == child).copied().collect();
        for key in gone {
            self.edges.take(&key);
        }
    }
}
