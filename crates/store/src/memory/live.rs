//! Live jobs as a leader compares them with its memory.

use std::collections::HashSet;
use std::ops::Bound;

use ganger_core::JobId;
use ganger_core::change::{LivePage, LiveQuery};
use ganger_core::dependency;

use super::state::MemoryState;

impl MemoryState {
    /// Live jobs in the order of their ids, with everything that a leader knows of them.
    #[must_use]
    pub fn live(&self, query: &LiveQuery) -> LivePage {
        let after = query.after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.live.range((after, Bound::Unbounded)).take(query.limit);
        let jobs: Vec<_> = rows.map(|(_, row)| row.job.clone()).collect();
        let named: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
        let blocked: HashSet<JobId> =
            jobs.iter().filter(|job| dependency::is_parked(job.due_at)).map(|job| job.id).collect();
        let edges: Vec<_> = self.open_edges().filter(|edge| blocked.contains(&edge.child)).copied().collect();
        let open: HashSet<JobId> = edges.iter().filter(|e| e.ended.is_none()).map(|e| e.parent).collect();
        let ended = self.ended_parents().into_iter().filter(|(parent, _)| open.contains(parent)).collect();
        let assignments = self.assignments.values();
        let not_live = |id: &&JobId| !self.live.contains_key(*id);
        LivePage {
            term: self.term(),
            batch: self.batch(),
            assignments: assignments
                .filter(|assignment| assignment.leases.iter().any(|lease| named.contains(&lease.job)))
                .cloned()
                .collect(),
            jobs,
            edges,
            ended,
            gone: query
                .sought
                .iter()
                .filter(not_live)
                .map(|id| (*id, self.finals.get(id).map(|job| job.end.state)))
                .collect(),
        }
    }
}
