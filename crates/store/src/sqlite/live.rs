//! Live jobs as a leader compares them with its memory.

use std::collections::HashSet;

use ganger_core::JobId;
use ganger_core::change::{LivePage, LiveQuery, Snapshot};
use rusqlite::{Connection, OptionalExtension};

use super::error::Failure;
use super::row::{self, Interner};
use super::{codec, reads, sql, transaction};

/// A page of live jobs, and which of those sought are not live.
pub(super) fn live(conn: &Connection, query: &LiveQuery) -> Result<LivePage, Failure> {
    let (term, batch) = transaction::read_leader(conn)?;
    let mut found = Snapshot::default();
    if query.limit > 0 {
        page(conn, query, &mut found)?;
    }
    let mut gone = Vec::new();
    let mut find = conn.prepare_cached(sql::FIND_GONE)?;
    for id in &query.sought {
        let state: Option<Option<i64>> =
            find.query_row([codec::job_key(*id)], |row| row.get(0)).optional()?;
        if let Some(state) = state {
            gone.push((*id, state.and_then(codec::final_state)));
        }
    }
    let Snapshot { jobs, assignments, edges, ended, .. } = found;
    Ok(LivePage { term, batch, jobs, assignments, edges, ended, gone })
}

fn page(conn: &Connection, query: &LiveQuery, found: &mut Snapshot) -> Result<(), Failure> {
    // Smaller than every id.
    let after = query.after.map_or_else(Vec::new, |id| codec::job_key(id).to_vec());
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut interner = Interner::new();
    let mut statement = conn.prepare_cached(sql::PAGE_JOBS)?;
    let mut rows = statement.query((after, limit))?;
    while let Some(row) = rows.next()? {
        found.jobs.push(row::live_job(row, &mut interner)?);
    }
    reads::load_edges(conn, found)?;
    let named: HashSet<JobId> = found.jobs.iter().map(|job| job.id).collect();
    let mut statement = conn.prepare_cached(sql::LOAD_ASSIGNMENTS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let assignment = row::assignment(row)?;
        if assignment.leases.iter().any(|lease| named.contains(&lease.job)) {
            found.assignments.push(assignment);
        }
    }
    Ok(())
}
