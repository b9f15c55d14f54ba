//! Lists of jobs, newest first. Live and final jobs lie in different tables, and dead and cancelled ones
//! have an index of their own; a list merges the sources that can match, by id.

use ganger_core::job::State;
use ganger_core::{JobId, Wall, limits};
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Row, Rows};

use super::error::Failure;
use super::reads::{final_row_state, lease_of_row, live_row_state, load_leased};
use super::row::{self, column};
use super::{codec, options, sql};
use crate::leased::Leased;
use crate::read::{ListQuery, Page, PageBuilder, StoredJob};

/// Larger than every id.
const AFTER_ALL: [u8; 17] = [0xff; 17];

/// Jobs that match, newest first, at most one page of them.
pub(super) fn list(conn: &Connection, query: &ListQuery, now: Wall) -> Result<Page, Failure> {
    let leased = if asks_for_live(query) { load_leased(conn)? } else { Leased::default() };
    let mut sources = sources(conn, query, &leased)?;
    let mut cursors = Vec::with_capacity(sources.len());
    for (statement, params, live) in &mut sources {
        cursors.push(Cursor::open(statement, params, *live)?);
    }
    let mut page = PageBuilder::new(query, limits::SCAN_ROWS);
    // Bounded: the builder breaks after `SCAN_ROWS` rows.
    while let Some(newest) = cursors.iter_mut().filter(|c| c.head.is_some()).max_by_key(|c| c.head) {
        let Some(id) = newest.head else { break };
        let matching = newest.matching(conn, query, &leased, now)?;
        if page.look_at(id, matching).is_break() {
            break;
        }
        newest.advance()?;
    }
    Ok(page.finish())
}

type Source<'c> = (CachedStatement<'c>, Vec<Value>, bool);

/// The statements that together give every job that can match.
fn sources<'c>(conn: &'c Connection, query: &ListQuery, leased: &Leased) -> Result<Vec<Source<'c>>, Failure> {
    let before = query.before.map_or_else(|| AFTER_ALL.to_vec(), |id| codec::job_key(id).to_vec());
    let before = Value::Blob(before);
    let mut sources = Vec::new();
    if asks_for_live(query) {
        if [State::Scheduled, State::Blocked, State::Queued, State::Retrying]
            .into_iter()
            .any(|s| query.admits_state(s))
        {
            sources.push((conn.prepare_cached(sql::LIST_JOBS)?, vec![before.clone()], true));
        } else {
            let ids: Vec<String> = leased.jobs().map(|id| id.uuid().simple().to_string()).collect();
            let ids = serde_json::to_string(&ids).map_err(|error| Failure::unreadable("ids", error))?;
            let params = vec![before.clone(), Value::Text(ids)];
            sources.push((conn.prepare_cached(sql::LIST_LEASED_JOBS)?, params, true));
        }
    }
    if query.admits_state(State::Succeeded) {
        sources.push((conn.prepare_cached(sql::LIST_FINALS)?, vec![before], false));
        return Ok(sources);
    }
    for state in [State::Dead, State::Cancelled].into_iter().filter(|s| query.admits_state(*s)) {
        if let Some(code) = codec::state_code(state) {
            let params = vec![before.clone(), Value::Integer(code)];
            sources.push((conn.prepare_cached(sql::LIST_FINALS_BY_STATE)?, params, false));
        }
    }
    Ok(sources)
}

fn asks_for_live(query: &ListQuery) -> bool {
    State::ALL.into_iter().any(|state| !state.is_final() && query.admits_state(state))
}

/// A source and the row it stands at.
struct Cursor<'s> {
    rows: Rows<'s>,
    live: bool,
    head: Option<JobId>,
}

impl<'s> Cursor<'s> {
    fn open(
        statement: &'s mut CachedStatement<'_>,
        params: &[Value],
        live: bool,
    ) -> Result<Cursor<'s>, Failure> {
        let rows = statement.query(rusqlite::params_from_iter(params))?;
        let mut cursor = Cursor { rows, live, head: None };
        cursor.advance()?;
        Ok(cursor)
    }

    fn advance(&mut self) -> Result<(), Failure> {
        self.rows.advance()?;
        self.head = self.rows.get().map(|found| row::job_id(found, column::ID)).transpose()?;
        Ok(())
    }

    /// The job at this row if it matches. Rows that do not are never decoded whole.
    fn matching(
        &self,
        conn: &Connection,
        query: &ListQuery,
        leased: &Leased,
        now: Wall,
    ) -> Result<Option<StoredJob>, Failure> {
        let Some(found) = self.rows.get() else { return Ok(None) };
        let lease = if self.live { lease_of_row(leased, found)? } else { None };
        let state =
            if self.live { live_row_state(found, lease.is_some(), now)? } else { final_row_state(found)? };
        if !query.admits_state(state) || !admits(query, found)? {
            return Ok(None);
        }
        let job = if self.live {
            row::stored_live(conn, found, state, lease)?
        } else {
            row::stored_final(conn, found, state)?
        };
        Ok(query.admits(&job, now).then_some(job))
    }
}

/// Every condition but that on the state.
fn admits(query: &ListQuery, found: &Row<'_>) -> Result<bool, Failure> {
    if let Some(queue) = &query.queue
        && row::text(found, column::QUEUE)? != Some(queue.as_str())
    {
        return Ok(false);
    }
    if let Some(kind) = &query.kind
        && row::text(found, column::KIND)? != Some(kind.as_str())
    {
        return Ok(false);
    }
    if query.unique_key.is_some() && row::text(found, column::UNIQUE_KEY)? != query.unique_key.as_deref() {
        return Ok(false);
    }
    if !query.admits_created(Wall(found.get(column::CREATED_AT)?)) {
        return Ok(false);
    }
    match &query.tag {
        // A job with tags has options of its own.
        Some(tag) => match row::text(found, column::OPTIONS)? {
            Some(own) => Ok(options::decode(Some(own), None)?.tags.contains(tag)),
            None => Ok(false),
        },
        None => Ok(true),
    }
}
