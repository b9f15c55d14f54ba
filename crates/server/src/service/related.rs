//! The jobs that a job waits for, and those that wait for it.

use std::collections::HashMap;

use ganger_core::JobId;
use ganger_core::dependency::Edge;
use ganger_store::read::{Related, StoredJob};

use super::{Answer, Service};

/// Most related jobs of one page: each is read whole.
pub const RELATED_MAX: usize = 100;

/// One page of related jobs.
#[derive(Debug, Default)]
pub struct RelatedJobs {
    /// Each edge, and the other job if it is still kept.
    pub jobs: Vec<(Edge, Option<StoredJob>)>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<JobId>,
}

impl Service {
    /// The parents or the children of a job, oldest first, from an id on.
    ///
    /// # Errors
    /// There is no such job, or the store cannot be read.
    pub async fn related(
        &self,
        id: JobId,
        of: Related,
        after: Option<JobId>,
        limit: usize,
    ) -> Answer<RelatedJobs> {
        let limit = limit.clamp(1, RELATED_MAX);
        let mut edges = self.0.store.related(id, of, after, limit + 1).await?;
        if edges.is_empty() {
            self.stored(id).await?;
        }
        let more = edges.len() > limit;
        edges.truncate(limit);
        let ids: Vec<JobId> = edges.iter().map(|edge| of.far(edge)).collect();
        let found = self.0.store.jobs(&ids, self.0.clock.now().wall).await?;
        let mut found: HashMap<JobId, StoredJob> = found.into_iter().map(|job| (job.id, job)).collect();
        let next = ids.last().copied().filter(|_| more);
        let jobs = edges.into_iter().map(|edge| (edge, found.remove(&of.far(&edge)))).collect();
        Ok(RelatedJobs { jobs, next })
    }
}
