//! Jobs that wait for others.

use ganger_core::JobId;
use ganger_core::change::{Applied, Intake, NewJob, Submission};
use ganger_core::dependency::{self, Edge, Place};
use ganger_core::job::State;

use super::write::column;
use super::{Segment, Touch};
use crate::postgres::error::Failure;
use crate::postgres::pipeline::Pipeline;
use crate::postgres::{codec, sql};

impl<'b> Segment<'b> {
    /// Whether a submission names a parent of which the segment has done something that its facts do not tell, or
    /// whose edges it settles: those of before, for edges are settled after the new ones are written.
    pub(super) fn moved_parent(&self, submission: &Submission) -> bool {
        let moved = |touch: &Touch| touch.over || touch.revived || touch.settled;
        let named = submission.jobs.iter().flat_map(|job| &job.spec.depends_on);
        named.map(|dependency| &dependency.job).any(|job| self.touched.get(job).is_some_and(moved))
    }

    /// The parent that a submission names first of those that are not there.
    pub(super) fn missing_parent(&self, jobs: &[NewJob]) -> Option<(JobId, Place)> {
        dependency::outside(jobs)
            .into_iter()
            .find(|(parent, _)| !self.is_live(*parent) && !self.facts.finals.contains_key(parent))
    }

    /// Takes the edges of the jobs that were created, with how those of their parents ended that are final.
    pub(super) fn link(&mut self, submission: &Submission, intakes: &[Intake]) -> Vec<(JobId, State)> {
        let mut ended = Vec::new();
        for edge in dependency::edges(&submission.jobs, intakes) {
            let state = (!self.is_live(edge.parent)).then(|| {
                // A key is held after success only, also where the job itself is not kept.
                self.facts.finals.get(&edge.parent).map_or(State::Succeeded, |job| job.state)
            });
            if let Some(state) = state.filter(|state| !ended.contains(&(edge.parent, *state))) {
                ended.push((edge.parent, state));
            }
            let settled = state.filter(|state| edge.on_dead.settled_by(*state));
            self.edges.push(Edge { ended: settled, ..edge });
        }
        ended
    }

    /// A parent has ended so: what that settles is recorded.
    pub(super) fn settle(&mut self, parent: JobId, state: State) -> Applied {
        self.touched.entry(parent).or_default().settled = true;
        self.settled.push((parent, state));
        Applied::Done
    }

    fn is_live(&self, job: JobId) -> bool {
        let touch = self.touched.get(&job).copied().unwrap_or_default();
        touch.created.is_some()
            || self.facts.jobs.contains_key(&job)
            // Of who holds a key nothing else was read.
            || self.facts.holders.values().any(|holder| holder.job == job && holder.until.is_none())
    }

    pub(super) fn write_edges(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let (edges, settled) = (&self.edges, &self.settled);
        if !edges.is_empty() {
            pipeline.add(
                sql::INSERT_EDGES,
                vec![
                    column(edges, |edge| edge.child.uuid()),
                    column(edges, |edge| edge.parent.uuid()),
                    column(edges, |edge| i16::from(edge.on_dead.code())),
                    column(edges, |edge| edge.ended.and_then(codec::state_code)),
                ],
            )?;
        }
        if !settled.is_empty() {
            let states = column(settled, |(_, state)| codec::state_code(*state));
            pipeline.add(sql::SETTLE_EDGES, vec![column(settled, |(parent, _)| parent.uuid()), states])?;
        }
        Ok(())
    }
}
