//! What is removed: dead jobs on request, old ones by retention, ledger entries that ran out.

use ganger_core::change::Tally;
use ganger_core::fingerprint::trend::{BUCKETS_KEPT, bucket_of};
use ganger_core::fingerprint::{FORGOTTEN_AFTER, GROUPS};
use ganger_core::job::State;
use ganger_core::limits;
use ganger_core::minutes::minute_of;
use ganger_core::name::QueueName;
use ganger_core::queue::QueueSettings;
use ganger_core::{JobId, Wall};
use rusqlite::OptionalExtension;

use super::Work;
use super::replay::final_state;
use crate::retention;
use crate::sqlite::error::Failure;
use crate::sqlite::{codec, row, sql};
use crate::tallies::Tallies;

impl Work<'_> {
    pub(super) fn purge_dead(&mut self, queue: &QueueName, limit: usize) -> Result<Vec<Tally>, Failure> {
        let mut found = Vec::new();
        self.find_oldest(queue.as_str(), State::Dead, Wall(i64::MAX), limit, &mut found)?;
        let mut tallies = Tallies::default();
        self.remove(found, limit, &mut tallies)?;
        Ok(tallies.into_vec())
    }

    /// Removes final jobs by name; others are left alone.
    pub(super) fn delete(&mut self, jobs: &[JobId]) -> Result<Vec<Tally>, Failure> {
        let found = jobs.iter().map(|job| (Wall::default(), *job)).collect();
        let mut tallies = Tallies::default();
        self.remove(found, jobs.len(), &mut tallies)?;
        Ok(tallies.into_vec())
    }

    pub(super) fn prune(&mut self, now: Wall, limit: usize) -> Result<Vec<Tally>, Failure> {
        // The counters name the queues to look at, so they must know of this batch too.
        self.counts.write(self.conn)?;
        let mut tallies = Tallies::default();
        for states in [&[State::Succeeded, State::Cancelled][..], &[State::Dead]] {
            let mut found = Vec::new();
            for state in states {
                self.find_expired(*state, now, limit, &mut found)?;
            }
            self.remove(found, limit, &mut tallies)?;
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.execute(sql::PRUNE_ANSWERS, (now.0, limit))?;
        self.execute(sql::PRUNE_UNIQUE_KEYS, (now.0, limit))?;
        self.execute(sql::PRUNE_CLOSED_KEYS, [now.0])?;
        // Those of this batch count too.
        self.write_failures()?;
        let most = i64::try_from(GROUPS).unwrap_or(i64::MAX);
        let forgotten = ((now - FORGOTTEN_AFTER).0, limit, most);
        self.execute(sql::FORGET_FAILURE_TRENDS, forgotten)?;
        self.execute(sql::FORGET_FAILURES, forgotten)?;
        self.execute(sql::PRUNE_FAILURE_TRENDS, (bucket_of(now - BUCKETS_KEPT), limit))?;
        let kept = minute_of(now - limits::MINUTES_KEPT);
        self.execute(sql::PRUNE_MINUTES, (kept, limit))?;
        Ok(tallies.into_vec())
    }

    fn find_expired(
        &self,
        state: State,
        now: Wall,
        limit: usize,
        found: &mut Vec<(Wall, JobId)>,
    ) -> Result<(), Failure> {
        let queues: Vec<String> = self
            .conn
            .prepare_cached(sql::COUNTED_QUEUES)?
            .query_map([codec::state_code(state)], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for queue in queues {
            let keep = retention::rule(self.settings(&queue)?.retention, state);
            if let Some(cutoff) = retention::cutoff(keep, now) {
                self.find_oldest(&queue, state, cutoff, limit, found)?;
            }
        }
        Ok(())
    }

    fn find_oldest(
        &self,
        queue: &str,
        state: State,
        cutoff: Wall,
        limit: usize,
        found: &mut Vec<(Wall, JobId)>,
    ) -> Result<(), Failure> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut oldest = self.conn.prepare_cached(sql::OLDEST_FINALS)?;
        let rows = oldest.query_map((queue, codec::state_code(state), cutoff.0, limit), |row| {
            Ok((Wall(row.get(0)?), row::job_id(row, 1)?))
        })?;
        for one in rows {
            found.push(one?);
        }
        Ok(())
    }

    /// Removes the oldest of those found, with everything that was kept beside them.
    fn remove(
        &mut self,
        mut found: Vec<(Wall, JobId)>,
        limit: usize,
        tallies: &mut Tallies,
    ) -> Result<(), Failure> {
        found.sort_unstable();
        let mut delete = self.conn.prepare_cached(sql::DELETE_FINAL)?;
        for (_, id) in found.into_iter().take(limit) {
            let mut rows = delete.query([codec::job_key(id)])?;
            let Some(gone) = rows.next()? else { continue };
            let (queue, kind) = (row::name(gone, 0)?, row::name(gone, 1)?);
            let state = final_state(gone.get(2)?)?;
            self.counts.add(QueueName::as_str(&queue), ganger_core::name::Kind::as_str(&kind), state, -1);
            tallies.add(&queue, &kind, state, 1);
            let large_payload = gone.get(5)?;
            drop(rows);
            self.forget_traces(id, large_payload)?;
        }
        Ok(())
    }

    fn settings(&self, queue: &str) -> Result<QueueSettings, Failure> {
        let text: Option<String> =
            self.conn.prepare_cached(sql::FIND_QUEUE)?.query_row([queue], |row| row.get(0)).optional()?;
        match text {
            Some(text) => {
                serde_json::from_str(&text).map_err(|error| Failure::unreadable("queue settings", error))
            }
            None => Ok(QueueSettings::default()),
        }
    }
}
