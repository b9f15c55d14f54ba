//! What must hold of schedules: an occurrence at most once, none forgotten, none early.

use std::collections::{BTreeMap, BTreeSet};

use ganger_core::change::Applied;
use ganger_core::ids::ScheduleId;
use ganger_core::schedule::ledger::{Cause, Fate, Firing, Occurrence, ScheduleChange};
use ganger_core::schedule::{Overlap, ScheduleRecord, Standing, When};
use ganger_core::{JobId, Wall};

use crate::checker::Checker;
use crate::schedules::instants;
use crate::store::short;

/// What was written about schedules, told by itself.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    schedules: BTreeMap<ScheduleId, Known>,
    /// What each instant fired.
    fired: BTreeMap<(ScheduleId, Wall), JobId>,
    /// Why each row was written.
    causes: BTreeMap<(ScheduleId, Wall), Cause>,
    /// How often something happened, so that a run can show that it did.
    pub(crate) seen: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
struct Known {
    overlap: Overlap,
    expected: Vec<Wall>,
    /// Jobs that its own instants made.
    own: Vec<JobId>,
}

impl Ledger {
    fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// The last instant of a schedule.
    pub(crate) fn last_instant(&self, id: ScheduleId) -> Option<Wall> {
        self.schedules.get(&id)?.expected.last().copied()
    }

    fn learn(&mut self, record: &ScheduleRecord, standing: &Standing) {
        let When::Every(every) = record.schedule.when else { return };
        let until = record.schedule.ends_at.unwrap_or(Wall(i64::MAX));
        let overlap = record.schedule.overlap;
        self.schedules.entry(record.id).or_insert_with(|| {
            let expected = instants(standing.anchor, every, standing.settled, until);
            Known { overlap, expected, own: Vec::new() }
        });
    }

    /// What is wrong with a whole ledger at the end.
    pub(crate) fn is_wrong(&self, id: ScheduleId, rows: &[Occurrence]) -> Option<String> {
        let known = self.schedules.get(&id)?;
        let mut covered = BTreeSet::new();
        for row in rows {
            match &row.fate {
                Fate::Waiting => return Some(format!("P5: {} waits for ever", row.due_at)),
                Fate::Fired(job) if self.fired.get(&(id, row.due_at)) != Some(job) => {
                    return Some(format!("P5: {} fired {}, says the ledger", row.due_at, short(*job)));
                }
                Fate::Fired(_) => {
                    covered.insert(row.due_at);
                }
                Fate::Skipped(skip) => {
                    let since = skip.since.unwrap_or(row.due_at);
                    covered.extend(known.expected.iter().filter(|at| (since..=row.due_at).contains(at)));
                }
            }
        }
        let forgotten = known.expected.iter().find(|at| !covered.contains(at));
        if let Some(at) = forgotten {
            return Some(format!("P5: {at} was forgotten: the ledger of {id} has no row of it"));
        }
        let written: BTreeSet<Wall> = rows.iter().map(|row| row.due_at).collect();
        let unwritten = self.fired.keys().find(|(of, at)| *of == id && !written.contains(at));
        unwritten.map(|(_, at)| format!("P5: {at} fired without a row in the ledger"))
    }
}

impl Checker {
    /// Something about schedules was written.
    pub(crate) fn schedule_written(&mut self, change: &ScheduleChange, applied: &Applied, at: Wall) {
        match change {
            ScheduleChange::Put(record, standing) => self.ledger.learn(record, standing),
            ScheduleChange::Delete(id) => drop(self.ledger.schedules.remove(id)),
            ScheduleChange::Fire(firing) => {
                let Applied::Fired(fates) = applied else {
                    self.fail(format!("a firing is answered with {applied:?}"));
                    return;
                };
                for (row, fate) in firing.occurrences.iter().zip(fates) {
                    self.decided(firing, row, fate.as_ref(), at);
                }
            }
        }
    }

    fn decided(&mut self, firing: &Firing, row: &Occurrence, fate: Option<&Fate>, at: Wall) {
        let (schedule, due_at) = (firing.schedule, row.due_at);
        self.require(due_at <= at && due_at <= row.decided_at || row.cause == Cause::Manual, || {
            format!("P5: {due_at} of {} is decided at {at}", firing.name)
        });
        let before = self.ledger.causes.get(&(schedule, due_at)).copied();
        let Some(fate) = fate else {
            self.ledger.saw("refused by the ledger");
            let twice = row.cause == Cause::Schedule && before == Some(Cause::Schedule);
            self.require(!twice, || format!("P5: {due_at} of {} is decided twice", firing.name));
            return;
        };
        self.ledger.causes.insert((schedule, due_at), row.cause);
        self.ledger.saw(match fate {
            Fate::Fired(_) => row.cause.as_str(),
            Fate::Waiting => "waiting",
            Fate::Skipped(skip) => skip.why.as_str(),
        });
        if let Fate::Fired(job) = fate {
            let first = self.ledger.fired.insert((schedule, due_at), *job);
            self.require(first.is_none(), || format!("P5: {due_at} of {} fires twice", firing.name));
            self.check_overlap(firing, row.cause, *job);
            if let Some(new) = firing.job(*job) {
                self.named.insert(new.id, true);
                self.took_in(new, false);
            }
        }
    }

    /// Where jobs of a schedule must not overlap, those that it made by itself do not.
    fn check_overlap(&mut self, firing: &Firing, cause: Cause, job: JobId) {
        let Some(known) = self.ledger.schedules.get_mut(&firing.schedule) else { return };
        if cause != Cause::Schedule || !matches!(known.overlap, Overlap::Skip | Overlap::QueueOne) {
            return;
        }
        let live = |job: &JobId| self.jobs.get(job).is_some_and(|record| record.end.is_none());
        let other = known.own.iter().copied().find(live);
        known.own.push(job);
        if let Some(other) = other {
            self.fail(format!("{} fires {} beside {}", firing.name, short(job), short(other)));
        }
    }
}
