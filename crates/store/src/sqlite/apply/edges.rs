//! Jobs that wait for others.

use ganger_core::JobId;
use ganger_core::change::{Applied, Intake, NewJob, Submission};
use ganger_core::dependency::{self, Place};
use ganger_core::job::State;
use rusqlite::OptionalExtension;

use super::Work;
use crate::sqlite::error::Failure;
use crate::sqlite::{codec, sql};

impl Work<'_> {
    /// The parent that a submission names first of those that are not there.
    pub(super) fn missing_parent(&self, jobs: &[NewJob]) -> Result<Option<(JobId, Place)>, Failure> {
        for (parent, place) in dependency::outside(jobs) {
            if !self.is_live(parent)? && self.ended_as(parent)?.is_none() {
                return Ok(Some((parent, place)));
            }
        }
        Ok(None)
    }

    /// Writes the edges of the jobs that were created, with how those of their parents ended that are final.
    pub(super) fn link(
        &self,
        submission: &Submission,
        intakes: &[Intake],
    ) -> Result<Vec<(JobId, State)>, Failure> {
        let mut ended = Vec::new();
        for edge in dependency::edges(&submission.jobs, intakes) {
            let state = if self.is_live(edge.parent)? {
                None
            } else {
                // A key is held after success only, also where the job itself is not kept.
                Some(self.ended_as(edge.parent)?.unwrap_or(State::Succeeded))
            };
            if let Some(state) = state.filter(|state| !ended.contains(&(edge.parent, *state))) {
                ended.push((edge.parent, state));
            }
            let settled = state.filter(|state| edge.on_dead.settled_by(*state)).and_then(codec::state_code);
            let (child, parent) = (codec::job_key(edge.child), codec::job_key(edge.parent));
            self.any_edge.set(Some(true));
            self.execute(sql::INSERT_EDGE, (child, parent, edge.on_dead.code(), settled))?;
        }
        Ok(ended)
    }

    /// A parent has ended so: what that settles is recorded.
    pub(super) fn settle(&self, parent: JobId, state: State) -> Result<Applied, Failure> {
        self.execute(sql::SETTLE_EDGES, (codec::job_key(parent), codec::state_code(state)))
    }

    /// Forgets the edges of a job that is gone.
    pub(super) fn forget_edges(&self, child: JobId) -> Result<(), Failure> {
        let any = match self.any_edge.get() {
            Some(any) => any,
            None => self.conn.prepare_cached(sql::ANY_EDGE)?.query_row([], |row| row.get(0))?,
        };
        self.any_edge.set(Some(any));
        if any {
            self.execute(sql::DELETE_EDGES, [codec::job_key(child)])?;
        }
        Ok(())
    }

    fn ended_as(&self, job: JobId) -> Result<Option<State>, Failure> {
        let mut found = self.conn.prepare_cached(sql::FIND_FINAL_STATE)?;
        let code: Option<i64> = found.query_row([codec::job_key(job)], |row| row.get(0)).optional()?;
        Ok(code.and_then(codec::final_state))
    }
}
