//! Live jobs as a leader compares them with its memory.

use std::collections::HashSet;

use ganger_core::JobId;
use ganger_core::change::{LivePage, LiveQuery, Snapshot};
use uuid::Uuid;

use super::election::Look;
use super::error::Failure;
use super::row::{self, Interner};
use super::{codec, readers, reads, sql};

/// A page of live jobs, and which of those sought are not live.
pub(super) async fn live(db: &readers::Snapshot<'_>, query: &LiveQuery) -> Result<LivePage, Failure> {
    let leader = reads::query(db, sql::SHOW_LEADER, &[]).await?;
    let leader = leader.first().map(Look::of).transpose()?.map(|look| (look.view.term, look.view.batch));
    let (term, batch) = leader.unwrap_or_default();
    let mut found = Snapshot::default();
    if query.limit > 0 {
        page(db, query, &mut found).await?;
    }
    let mut gone = Vec::new();
    if !query.sought.is_empty() {
        let sought: Vec<Uuid> = query.sought.iter().map(|id| id.uuid()).collect();
        for row in reads::query(db, sql::FIND_GONE, &[&sought]).await? {
            let state: Option<i16> = row.try_get(1)?;
            gone.push((row::job_id(&row, 0)?, state.and_then(codec::final_state)));
        }
    }
    let Snapshot { jobs, assignments, edges, ended, .. } = found;
    Ok(LivePage { term, batch, jobs, assignments, edges, ended, gone })
}

async fn page(db: &readers::Snapshot<'_>, query: &LiveQuery, found: &mut Snapshot) -> Result<(), Failure> {
    // No job has the smallest id.
    let after = query.after.map_or(Uuid::nil(), |id| id.uuid());
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut interner = Interner::default();
    for row in reads::query(db, sql::PAGE_JOBS, &[&after, &limit]).await? {
        found.jobs.push(row::live_job(&row, &mut interner)?);
    }
    reads::load_edges(db, found).await?;
    let named: HashSet<JobId> = found.jobs.iter().map(|job| job.id).collect();
    for row in reads::query(db, sql::LOAD_ASSIGNMENTS, &[]).await? {
        let assignment = row::assignment(&row)?;
        if assignment.leases.iter().any(|lease| named.contains(&lease.job)) {
            found.assignments.push(assignment);
        }
    }
    Ok(())
}
