//! Schedules, and the ledger of their occurrences.

use std::collections::{BTreeMap, BTreeSet};

use ganger_core::Wall;
use ganger_core::change::{Applied, Intake};
use ganger_core::ids::ScheduleId;
use ganger_core::schedule::ledger::{Fate, Firing, Occurrence, ScheduleChange, Skip, Why};
use ganger_core::schedule::{ScheduleRecord, Standing};

use super::{Course, Segment};
use crate::occurrence::Columns;
use crate::postgres::error::Failure;
use crate::postgres::pipeline::{Pipeline, param};
use crate::postgres::sql;

/// What a segment does to schedules. Deletions are written first, then schedules, then the ledger.
#[derive(Default)]
pub(super) struct Schedules<'b> {
    deleted: BTreeSet<ScheduleId>,
    put: BTreeMap<ScheduleId, (&'b ScheduleRecord, Standing)>,
    standing: BTreeMap<ScheduleId, Standing>,
    forgotten: BTreeMap<ScheduleId, Wall>,
    rows: BTreeMap<(ScheduleId, Wall), Occurrence>,
}

impl<'b> Segment<'b> {
    pub(super) fn change_schedule(
        &mut self,
        course: &mut Course<'_>,
        change: &'b ScheduleChange,
    ) -> Result<Applied, Failure> {
        match change {
            ScheduleChange::Put(record, standing) => {
                self.schedules.standing.remove(&record.id);
                self.schedules.put.insert(record.id, (record, *standing));
                Ok(Applied::Done)
            }
            ScheduleChange::Delete(id) => {
                self.forget_occurrences(*id, Wall(i64::MAX));
                self.schedules.forgotten.remove(id);
                self.schedules.put.remove(id);
                self.schedules.standing.remove(id);
                self.schedules.deleted.insert(*id);
                Ok(Applied::Done)
            }
            ScheduleChange::Fire(firing) => self.fire(course, firing).map(Applied::Fired),
        }
    }

    fn fire(&mut self, course: &mut Course<'_>, firing: &'b Firing) -> Result<Vec<Option<Fate>>, Failure> {
        if let Some(until) = firing.forget {
            self.forget_occurrences(firing.schedule, until);
        }
        let mut fates = Vec::with_capacity(firing.occurrences.len());
        for row in &firing.occurrences {
            fates.push(self.decide(course, firing, row)?);
        }
        match self.schedules.put.get_mut(&firing.schedule) {
            Some((_, standing)) => *standing = firing.standing,
            None => drop(self.schedules.standing.insert(firing.schedule, firing.standing)),
        }
        Ok(fates)
    }

    /// One occurrence, if the ledger has not had its say.
    fn decide(
        &mut self,
        course: &mut Course<'_>,
        firing: &'b Firing,
        row: &Occurrence,
    ) -> Result<Option<Fate>, Failure> {
        let place = (firing.schedule, row.due_at);
        if !row.replaces(self.facts.occurrences.get(&place)) {
            return Ok(None);
        }
        let mut fate = row.fate.clone();
        if let Fate::Fired(id) = fate
            && let Some(job) = firing.job(id)
            && let Intake::Duplicate(holder) = self.take_in(course, job)?
        {
            fate = Fate::Skipped(Skip::one(Why::UniqueKey, Some(holder)));
        }
        self.facts.occurrences.insert(place, fate.clone());
        self.schedules.rows.insert(place, Occurrence { fate: fate.clone(), ..row.clone() });
        Ok(Some(fate))
    }

    fn forget_occurrences(&mut self, schedule: ScheduleId, until: Wall) {
        let old = |(of, at): &(ScheduleId, Wall)| *of == schedule && *at <= until;
        self.facts.occurrences.retain(|place, _| !old(place));
        self.schedules.rows.retain(|place, _| !old(place));
        let mark = self.schedules.forgotten.entry(schedule).or_insert(until);
        *mark = (*mark).max(until);
    }

    pub(super) fn write_schedules(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let unreadable = |error| Failure::unreadable("a schedule", error);
        let Schedules { deleted, put, standing, forgotten, rows } = std::mem::take(&mut self.schedules);
        if !deleted.is_empty() {
            let ids: Vec<_> = deleted.into_iter().map(ScheduleId::uuid).collect();
            pipeline.add(sql::DELETE_SCHEDULES, vec![param(ids)])?;
        }
        if !put.is_empty() {
            let (mut ids, mut names) = (Vec::new(), Vec::new());
            let (mut records, mut standings) = (Vec::new(), Vec::new());
            for (id, (record, standing)) in put {
                ids.push(id.uuid());
                names.push(record.schedule.name.as_str());
                records.push(serde_json::to_string(record).map_err(unreadable)?);
                standings.push(serde_json::to_string(&standing).map_err(unreadable)?);
            }
            let params = vec![param(ids), param(names), param(records), param(standings)];
            pipeline.add(sql::PUT_SCHEDULES, params)?;
        }
        if !standing.is_empty() {
            let (mut ids, mut texts) = (Vec::new(), Vec::new());
            for (id, standing) in standing {
                ids.push(id.uuid());
                texts.push(serde_json::to_string(&standing).map_err(unreadable)?);
            }
            pipeline.add(sql::SET_STANDINGS, vec![param(ids), param(texts)])?;
        }
        if !forgotten.is_empty() {
            let (ids, marks): (Vec<_>, Vec<_>) =
                forgotten.into_iter().map(|(id, until)| (id.uuid(), until.0)).unzip();
            pipeline.add(sql::FORGET_OCCURRENCES, vec![param(ids), param(marks)])?;
        }
        write_rows(pipeline, rows)
    }
}

fn write_rows(
    pipeline: &mut Pipeline<'_>,
    rows: BTreeMap<(ScheduleId, Wall), Occurrence>,
) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let (mut schedules, mut due, mut decided) = (Vec::new(), Vec::new(), Vec::new());
    let (mut causes, mut states, mut jobs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut whys, mut sinces, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for ((schedule, due_at), row) in rows {
        let columns = Columns::of(&row.fate);
        schedules.push(schedule.uuid());
        due.push(due_at.0);
        decided.push(row.decided_at.0);
        causes.push(row.cause.as_str());
        states.push(columns.state);
        jobs.push(columns.job);
        whys.push(columns.why);
        sinces.push(columns.since);
        counts.push(columns.count);
    }
    pipeline.add(
        sql::PUT_OCCURRENCES,
        vec![
            param(schedules),
            param(due),
            param(decided),
            param(causes),
            param(states),
            param(jobs),
            param(whys),
            param(sinces),
            param(counts),
        ],
    )?;
    Ok(())
}
