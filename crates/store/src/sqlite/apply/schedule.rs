//! Schedules, and the ledger of their occurrences.

use ganger_core::change::{Applied, Intake};
use ganger_core::ids::ScheduleId;
use ganger_core::schedule::ledger::{Fate, Firing, Occurrence, ScheduleChange, Skip, Why};
use rusqlite::OptionalExtension;

use super::Work;
use crate::occurrence::Columns;
use crate::sqlite::error::Failure;
use crate::sqlite::{row, sql};

impl Work<'_> {
    pub(super) fn change_schedule(&mut self, change: &ScheduleChange) -> Result<Applied, Failure> {
        match change {
            ScheduleChange::Put(record, standing) => {
                let unreadable = |error| Failure::unreadable("a schedule", error);
                let name = record.schedule.name.as_str();
                let standing = serde_json::to_string(standing).map_err(unreadable)?;
                let text = serde_json::to_string(record).map_err(unreadable)?;
                self.execute(sql::PUT_SCHEDULE, (key(record.id), name, text, standing))
            }
            ScheduleChange::Delete(id) => {
                self.execute(sql::FORGET_OCCURRENCES, (key(*id), i64::MAX))?;
                self.execute(sql::DELETE_SCHEDULE, [key(*id)])
            }
            ScheduleChange::Fire(firing) => self.fire(firing).map(Applied::Fired),
        }
    }

    fn fire(&mut self, firing: &Firing) -> Result<Vec<Option<Fate>>, Failure> {
        if let Some(until) = firing.forget {
            self.execute(sql::FORGET_OCCURRENCES, (key(firing.schedule), until.0))?;
        }
        let mut fates = Vec::with_capacity(firing.occurrences.len());
        for row in &firing.occurrences {
            fates.push(self.decide(firing, row)?);
        }
        let standing = serde_json::to_string(&firing.standing);
        let standing = standing.map_err(|error| Failure::unreadable("a schedule", error))?;
        self.execute(sql::SET_STANDING, (key(firing.schedule), standing))?;
        Ok(fates)
    }

    /// One occurrence, if the ledger has not had its say.
    fn decide(&mut self, firing: &Firing, occurrence: &Occurrence) -> Result<Option<Fate>, Failure> {
        let place = (key(firing.schedule), occurrence.due_at.0);
        let there = self
            .conn
            .prepare_cached(sql::FIND_OCCURRENCE)?
            .query_row(place, |found| Ok(row::fate(found, 0)))
            .optional()?
            .transpose()?;
        if !occurrence.replaces(there.as_ref()) {
            return Ok(None);
        }
        let mut fate = occurrence.fate.clone();
        if let Fate::Fired(id) = fate
            && let Some(job) = firing.job(id)
            && let Intake::Duplicate(holder) = self.take_in(job)?
        {
            fate = Fate::Skipped(Skip::one(Why::UniqueKey, Some(holder)));
        }
        let columns = Columns::of(&fate);
        self.execute(
            sql::PUT_OCCURRENCE,
            (
                place.0,
                place.1,
                occurrence.decided_at.0,
                occurrence.cause.as_str(),
                columns.state,
                columns.job.map(uuid::Uuid::into_bytes),
                columns.why,
                columns.since,
                columns.count,
            ),
        )?;
        Ok(Some(fate))
    }
}

fn key(id: ScheduleId) -> [u8; 16] {
    id.uuid().into_bytes()
}
