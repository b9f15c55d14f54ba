//! Who holds a unique key, and for how long.

use ganger_core::change::End;
use ganger_core::name::Kind;
use ganger_core::{JobId, Wall};
use rusqlite::OptionalExtension;

use super::Work;
use crate::sqlite::error::Failure;
use crate::sqlite::{codec, options, sql};

impl Work<'_> {
    /// The job that holds a unique key at that moment.
    pub(super) fn unique_holder(&self, kind: &Kind, key: &str, now: Wall) -> Result<Option<JobId>, Failure> {
        let found: Option<([u8; 16], Option<i64>)> = self
            .conn
            .prepare_cached(sql::FIND_HOLDER)?
            .query_row((kind.as_str(), key), |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found
            .filter(|(_, until)| until.is_none_or(|until| Wall(until) > now))
            .map(|(job, _)| codec::job_id(job)))
    }

    /// Gives a unique key to a job.
    pub(super) fn hold_unique(
        &self,
        kind: &str,
        key: &str,
        job: JobId,
        until: Option<Wall>,
    ) -> Result<(), Failure> {
        self.execute(sql::PUT_HOLDER, (kind, key, codec::job_key(job), until.map(|at| at.0))).map(drop)
    }

    /// A job with this key has ended: the key is held a while longer, or is free.
    pub(super) fn release_unique(
        &self,
        kind: &str,
        key: &str,
        own_options: Option<&str>,
        job: JobId,
        end: &End,
    ) -> Result<(), Failure> {
        let held_for = options::decode(own_options, None)?.unique_for;
        if end.holds_key() && !held_for.is_zero() {
            self.hold_unique(kind, key, job, Some(end.at + held_for))
        } else {
            self.execute(sql::FREE_UNIQUE_KEY, (kind, key)).map(drop)
        }
    }
}
