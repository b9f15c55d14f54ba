//! Lists of jobs, newest first. Live, finished and dead jobs lie in different tables, and cancelled ones have an index of
//! their own; a list merges the sources that can match, by id.
//!
//! Each source is scanned in pieces that tell only the id of a row and whether it matches. The rows themselves are
//! fetched for those that do.

use std::collections::VecDeque;

use ganger_core::job::State;
use ganger_core::{JobId, Wall, limits};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::error::Failure;
use super::reads::{jobs_with, load_leased, query, scanned_state};
use super::sql::{self, Sql};
use super::{options, readers, row};
use crate::leased::Leased;
use crate::read::{ListQuery, Page, PageBuilder, StoredJob};

/// Rows of the first piece of a source, or a page if that is more; each further one is twice as long, up to the most.
const FIRST_PIECE: usize = 64;
const LARGEST_PIECE: usize = 8_192;
/// Jobs about which a filter is asked at a time.
const CANDIDATES: usize = 128;

/// Jobs that match, newest first, at most one page of them.
pub(super) async fn list(db: &readers::Snapshot<'_>, wanted: &ListQuery, now: Wall) -> Result<Page, Failure> {
    let mut page = PageBuilder::new(wanted, limits::SCAN_ROWS);
    let Some(filter) = Filter::of(wanted) else { return Ok(page.finish()) };
    let leased = if asks_for_live(wanted) { load_leased(db).await? } else { Leased::default() };
    let mut scan = Scan { db, wanted, filter, leased, now, sources: Vec::new() };
    scan.sources = sources(wanted, &scan.leased);
    // One more match than the page holds tells whether there is a next one.
    let mut missing = wanted.page_rows() + 1;
    // Bounded: the page breaks after `SCAN_ROWS` rows.
    loop {
        // A filter is asked about whole jobs, and those come with their payloads: never many at a time.
        let candidates = if wanted.filter.is_some() { CANDIDATES } else { missing };
        let rows = scan.next_rows(candidates).await?;
        if rows.is_empty() {
            return Ok(page.finish());
        }
        let ids: Vec<JobId> = rows.iter().filter(|row| row.matches).map(|row| row.id).collect();
        let mut jobs = VecDeque::from(jobs_with(db, &ids, &scan.leased, now).await?);
        for row in rows {
            let found: Option<StoredJob> = if row.matches { jobs.pop_front() } else { None };
            let matching = found.filter(|job| wanted.admits(job, now));
            missing = missing.saturating_sub(usize::from(matching.is_some()));
            if page.look_at(row.id, matching).is_break() {
                return Ok(page.finish());
            }
        }
    }
}

/// The conditions that the database checks.
struct Filter {
    queue: Option<String>,
    kind: Option<String>,
    unique_key: Option<String>,
    tag: Option<String>,
    created_from: Option<i64>,
    created_before: Option<i64>,
}

impl Filter {
    /// Nothing if no job can meet it.
    fn of(wanted: &ListQuery) -> Option<Filter> {
        if wanted.unique_key.as_ref().is_some_and(|key| !options::is_plain(key)) {
            return None;
        }
        let tag = match &wanted.tag {
            Some(tag) => Some(options::tag_pattern(tag)?),
            None => None,
        };
        Some(Filter {
            queue: wanted.queue.as_ref().map(|queue| queue.as_str().to_owned()),
            kind: wanted.kind.as_ref().map(|kind| kind.as_str().to_owned()),
            unique_key: wanted.unique_key.clone(),
            tag,
            created_from: wanted.created_from.map(|at| at.0),
            created_before: wanted.created_before.map(|at| at.0),
        })
    }
}

/// One table, newest first, from where it was last looked at.
struct Source {
    sql: Sql,
    live: bool,
    /// The ids to look at, where not all.
    among: Option<Vec<Uuid>>,
    before: Uuid,
    piece: usize,
    rows: VecDeque<Scanned>,
    over: bool,
}

struct Scanned {
    id: JobId,
    matches: bool,
}

/// The sources that together give every job that can match.
fn sources(wanted: &ListQuery, leased: &Leased) -> Vec<Source> {
    let before = wanted.before.map_or(Uuid::max(), |id| id.uuid());
    let source = |sql, live, among| Source {
        sql,
        live,
        among,
        before,
        // With one more, which tells whether there is a next page.
        piece: FIRST_PIECE.max(wanted.page_rows() + 1),
        rows: VecDeque::new(),
        over: false,
    };
    let mut sources = Vec::new();
    let waiting = [State::Scheduled, State::Blocked, State::Queued, State::Retrying];
    if waiting.into_iter().any(|s| wanted.admits_state(s)) {
        sources.push(source(sql::SCAN_JOBS, true, None));
    } else if wanted.admits_state(State::Running) {
        let ids = leased.jobs().map(|id| id.uuid()).collect();
        sources.push(source(sql::SCAN_LEASED, true, Some(ids)));
    }
    if wanted.admits_state(State::Succeeded) {
        sources.push(source(sql::SCAN_HISTORY, false, None));
    } else if wanted.admits_state(State::Cancelled) {
        sources.push(source(sql::SCAN_CANCELLED, false, None));
    }
    if wanted.admits_state(State::Dead) {
        sources.push(source(sql::SCAN_DEAD, false, None));
    }
    sources
}

fn asks_for_live(wanted: &ListQuery) -> bool {
    State::ALL.into_iter().any(|state| !state.is_final() && wanted.admits_state(state))
}

/// A list under way.
struct Scan<'a, 'c> {
    db: &'a readers::Snapshot<'c>,
    wanted: &'a ListQuery,
    filter: Filter,
    leased: Leased,
    now: Wall,
    sources: Vec<Source>,
}

impl Scan<'_, '_> {
    /// The next rows of all sources together, newest first, with no more matches than asked for; none at the end.
    async fn next_rows(&mut self, matches: usize) -> Result<Vec<Scanned>, Failure> {
        let mut sources = std::mem::take(&mut self.sources);
        for source in sources.iter_mut().filter(|source| source.rows.is_empty() && !source.over) {
            self.fill(source).await?;
        }
        let (mut rows, mut left) = (Vec::new(), matches);
        // Until a source that goes on must be looked at again.
        while left > 0 && sources.iter().all(|source| source.over || !source.rows.is_empty()) {
            let newest = sources.iter_mut().max_by_key(|source| source.rows.front().map(|row| row.id));
            let Some(row) = newest.and_then(|source| source.rows.pop_front()) else { break };
            left -= usize::from(row.matches);
            rows.push(row);
        }
        self.sources = sources;
        Ok(rows)
    }

    /// Reads the next piece of a source.
    async fn fill(&self, source: &mut Source) -> Result<(), Failure> {
        let (rows, f) = (i64::try_from(source.piece).unwrap_or(i64::MAX), &self.filter);
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![
            &source.before,
            &rows,
            &f.queue,
            &f.kind,
            &f.unique_key,
            &f.tag,
            &f.created_from,
            &f.created_before,
        ];
        if let Some(among) = &source.among {
            params.push(among);
        }
        let found = query(self.db, source.sql, &params).await?;
        source.over = found.len() < source.piece;
        source.piece = (source.piece * 2).min(LARGEST_PIECE);
        for found in &found {
            let id = row::job_id(found, 0)?;
            let state = if source.live {
                scanned_state(found, &self.leased, self.now)?
            } else {
                row::final_state(found, 2)?
            };
            let matches = found.try_get::<_, bool>(1)? && self.wanted.admits_state(state);
            source.before = id.uuid();
            source.rows.push_back(Scanned { id, matches });
        }
        Ok(())
    }
}
