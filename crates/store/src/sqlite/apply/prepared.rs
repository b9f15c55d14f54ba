//! Statements that run once per job. They are found by their text, which is long, so a batch looks each of
//! them up once.

use rusqlite::{CachedStatement, Connection};

use crate::sqlite::sql;

/// Statements that run once per job.
pub(in crate::sqlite) struct Prepared<'t> {
    pub(super) delete_job: CachedStatement<'t>,
    pub(super) end_job: CachedStatement<'t>,
    pub(super) find_leasable: CachedStatement<'t>,
    pub(super) insert_job: CachedStatement<'t>,
    pub(super) job_is_final: CachedStatement<'t>,
}

impl<'t> Prepared<'t> {
    /// For one batch.
    pub(in crate::sqlite) fn new(conn: &'t Connection) -> rusqlite::Result<Prepared<'t>> {
        Ok(Prepared {
            delete_job: conn.prepare_cached(sql::DELETE_JOB)?,
            end_job: conn.prepare_cached(sql::END_JOB)?,
            find_leasable: conn.prepare_cached(sql::FIND_LEASABLE)?,
            insert_job: conn.prepare_cached(sql::INSERT_JOB)?,
            job_is_final: conn.prepare_cached(sql::JOB_IS_FINAL)?,
        })
    }
}
