//! What the store in memory tells about jobs.

use ganger_core::change::{AttemptRecord, End};
use ganger_core::dependency;
use ganger_core::job::JobSpec;
use ganger_core::limits;
use ganger_core::{JobId, Wall};

use super::state::{Live, MemoryState};
use crate::read::{LeaseView, ListQuery, Page, PageBuilder, StoredJob, live_state};

impl MemoryState {
    /// Jobs by id, in the order of `ids`, without those that do not exist.
    #[must_use]
    pub fn jobs(&self, ids: &[JobId], now: Wall) -> Vec<StoredJob> {
        ids.iter().filter_map(|id| self.job(*id, now)).collect()
    }

    /// Payloads of live jobs, in the order of `ids`.
    #[must_use]
    pub fn payloads(&self, ids: &[JobId]) -> Vec<Option<String>> {
        ids.iter().map(|id| self.live.get(id).map(|live| live.payload.to_string())).collect()
    }

    /// Jobs that match, newest first.
    #[must_use]
    pub fn list(&self, query: &ListQuery, now: Wall) -> Page {
        let mut page = PageBuilder::new(query, limits::SCAN_ROWS);
        let mut ids: Vec<JobId> = self.live.keys().chain(self.finals.keys()).copied().collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        for id in ids.into_iter().filter(|id| query.before.is_none_or(|before| *id < before)) {
            let Some(job) = self.job(id, now) else { continue };
            let matching = query.matches(&job, now).then_some(job);
            if page.look_at(id, matching).is_break() {
                break;
            }
        }
        page.finish()
    }

    /// Every recorded attempt of a job, first to last.
    #[must_use]
    pub fn attempts(&self, id: JobId) -> Vec<AttemptRecord> {
        self.attempts.range((id, 0)..=(id, u32::MAX)).map(|(_, record)| record.clone()).collect()
    }

    /// What an attempt logged.
    #[must_use]
    pub fn log(&self, id: JobId, attempt: u32) -> String {
        self.logs.get(&(id, attempt)).cloned().unwrap_or_default()
    }

    fn job(&self, id: JobId, now: Wall) -> Option<StoredJob> {
        match self.live.get(&id) {
            Some(live) => Some(self.stored(live, None, now)),
            None => self.finals.get(&id).map(|job| self.stored(&job.was, Some(&job.end), now)),
        }
    }

    fn stored(&self, row: &Live, end: Option<&End>, now: Wall) -> StoredJob {
        let job = &row.job;
        let lease = self.lease_view(job.id);
        StoredJob {
            id: job.id,
            spec: JobSpec {
                kind: job.kind.clone(),
                queue: job.queue.clone(),
                priority: job.priority,
                run_at: row.run_at,
                payload: row.payload.to_string(),
                depends_on: Vec::new(),
                options: (*job.options).clone(),
            },
            state: end
                .map_or_else(|| live_state(lease.is_some(), job.retrying, job.due_at, now), |end| end.state),
            seq: job.seq,
            created_at: job.created_at,
            due_at: dependency::unparked(job.due_at),
            standing: job.standing,
            cancel_wanted: job.cancel_wanted,
            lease,
            last_attempt: self.attempts(job.id).pop(),
            end: end.cloned(),
        }
    }

    fn lease_view(&self, id: JobId) -> Option<LeaseView> {
        let open = self.leases.get(&id)?;
        let assignment = self.assignments.get(&open.assignment)?;
        let (_, lease) = assignment.fenced().find(|(fence, _)| *fence == open.fence)?;
        Some(LeaseView {
            session: assignment.session,
            attempt: lease.attempt,
            threads: lease.threads,
            at: assignment.at,
        })
    }
}
