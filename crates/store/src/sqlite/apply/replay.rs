//! A final job becomes live again.

use ganger_core::change::{Replay, Replayed};
use ganger_core::job::State;
use ganger_core::name::Kind;
use rusqlite::OptionalExtension;

use super::Work;
use crate::sqlite::error::Failure;
use crate::sqlite::row::{self, Interner};
use crate::sqlite::{codec, sql};

impl Work<'_> {
    pub(super) fn replay(&mut self, replay: Replay) -> Result<Replayed, Failure> {
        let id = codec::job_key(replay.job);
        let found: Option<(String, Option<String>)> = self
            .conn
            .prepare_cached(sql::READ_FINAL_UNIQUE)?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((kind, unique_key)) = found else {
            return Ok(if self.is_live(replay.job)? { Replayed::NotFinal } else { Replayed::NotFound });
        };
        if let Some(key) = unique_key {
            let kind: Kind = kind.parse().map_err(|error| Failure::unreadable("a kind", error))?;
            match self.unique_holder(&kind, &key, replay.at)? {
                Some(holder) if holder != replay.job => return Ok(Replayed::UniqueHeld(holder)),
                Some(_) | None => self.hold_unique(kind.as_str(), &key, replay.job, None)?,
            }
        }
        self.execute(sql::FINAL_TO_JOB, (id, replay.seq.cast_signed(), replay.at.0))?;
        let was = self.leave_finals(replay)?;
        self.last_seq = self.last_seq.max(replay.seq);
        let mut load = self.conn.prepare_cached(sql::LOAD_JOB)?;
        let mut rows = load.query([id])?;
        let live = rows.next()?.ok_or_else(|| Failure::unreadable("a replayed job", "it is not there"))?;
        Ok(Replayed::Live(Box::new(row::live_job(live, &mut Interner::new())?), was))
    }

    /// Removes the final row and tells its state. The attempt that it carried gets a row of its own.
    fn leave_finals(&mut self, replay: Replay) -> Result<State, Failure> {
        let id = codec::job_key(replay.job);
        let mut delete = self.conn.prepare_cached(sql::DELETE_FINAL)?;
        let mut rows = delete.query([id])?;
        let gone = rows.next()?.ok_or_else(|| Failure::unreadable("a final job", "it is not there"))?;
        let state = final_state(gone.get(2)?)?;
        let (queue, kind) =
            (row::text(gone, 0)?.unwrap_or_default(), row::text(gone, 1)?.unwrap_or_default());
        self.counts.add(queue, kind, state, -1);
        if let Some(bytes) = gone.get::<_, Option<Vec<u8>>>(3)? {
            let number = row::attempt(&bytes)?.number;
            self.execute(sql::INSERT_ATTEMPT, (id, number, bytes))?;
        }
        Ok(state)
    }
}

/// The final state of a code in the database.
pub(super) fn final_state(code: i64) -> Result<State, Failure> {
    codec::final_state(code).ok_or_else(|| Failure::unreadable("a final state", code))
}
