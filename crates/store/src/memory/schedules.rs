//! Schedules and their ledgers.

use ganger_core::Wall;
use ganger_core::change::{Applied, Intake};
use ganger_core::ids::ScheduleId;
use ganger_core::sabotage::{self, Bug};
use ganger_core::schedule::ledger::{Fate, Firing, Occurrence, ScheduleChange, Skip, Why};

use super::state::MemoryState;
use crate::refusal;
use crate::store::StoreError;

impl MemoryState {
    /// The ledger of a schedule, newest first, from before an instant on.
    #[must_use]
    pub fn occurrences(&self, schedule: ScheduleId, before: Option<Wall>, limit: usize) -> Vec<Occurrence> {
        let range = (schedule, Wall(i64::MIN))..(schedule, before.unwrap_or(Wall(i64::MAX)));
        self.occurrences.range(range).rev().map(|(_, row)| row.clone()).take(limit).collect()
    }

    pub(super) fn change_schedule(&mut self, change: &ScheduleChange) -> Result<Applied, StoreError> {
        match change {
            ScheduleChange::Put(record, standing) => {
                let name = &record.schedule.name;
                let mut others = self.schedules.values().filter(|(other, _)| other.id != record.id);
                if others.any(|(other, _)| other.schedule.name == *name) {
                    return Err(refusal::schedule_name_taken(name));
                }
                self.schedules.put(record.id, (record.clone(), *standing));
                Ok(Applied::Done)
            }
            ScheduleChange::Delete(id) => {
                self.schedules.take(id);
                self.forget_occurrences(*id, Wall(i64::MAX));
                Ok(Applied::Done)
            }
            ScheduleChange::Fire(firing) => self.fire(firing).map(Applied::Fired),
        }
    }

    fn fire(&mut self, firing: &Firing) -> Result<Vec<Option<Fate>>, StoreError> {
        if let Some(until) = firing.forget {
            self.forget_occurrences(firing.schedule, until);
        }
        let mut fates = Vec::with_capacity(firing.occurrences.len());
        for row in &firing.occurrences {
            fates.push(self.decide(firing, row)?);
        }
        self.schedules.change(&firing.schedule, |(_, standing)| *standing = firing.standing);
        Ok(fates)
    }

    /// One occurrence, if the ledger has not had its say.
    fn decide(&mut self, firing: &Firing, row: &Occurrence) -> Result<Option<Fate>, StoreError> {
        let key = (firing.schedule, row.due_at);
        if !row.replaces(self.occurrences.get(&key).map(|there| &there.fate)) {
            return Ok(None);
        }
        let mut fate = row.fate.clone();
        if let Fate::Fired(id) = fate
            && let Some(job) = firing.job(id)
            && let Intake::Duplicate(holder) = self.take_in(job)?
        {
            fate = Fate::Skipped(Skip::one(Why::UniqueKey, Some(holder)));
        }
        if !sabotage::active(Bug::FiredWithoutRow) {
            self.occurrences.put(key, Occurrence { fate: fate.clone(), ..row.clone() });
        }
        Ok(Some(fate))
    }

    fn forget_occurrences(&mut self, schedule: ScheduleId, until: Wall) {
        let range = (schedule, Wall(i64::MIN))..=(schedule, until);
        let old: Vec<_> = self.occurrences.range(range).map(|(key, _)| *key).collect();
        for key in old {
            self.occurrences.take(&key);
        }
    }
}
