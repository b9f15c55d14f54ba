//! The firing ledger: one row per schedule and due instant, fired or skipped with the reason.
//!
//! The row is written in the transaction that submits the job, and a row that says *fired* is never written again. That is
//! what makes an occurrence happen at most once, whoever leads and however often a commit is sent. A row that says
//! *waiting* becomes one of the others; one that says *skipped* may still be fired, by a backfill, which a person asks for.

use serde::{Deserialize, Serialize};

use crate::change::NewJob;
use crate::ids::{JobId, ScheduleId};
use crate::name::ScheduleName;
use crate::sabotage::{self, Bug};
use crate::schedule::{ScheduleRecord, Standing};
use crate::time::Wall;

/// A durable change to schedules.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a batch keeps each in a box of its own")]
pub enum ScheduleChange {
    /// A schedule as it is to be, and how it stands, whether or not it was there. Its name is no other's.
    Put(ScheduleRecord, Standing),
    /// A schedule goes, with its ledger. Its jobs stay.
    Delete(ScheduleId),
    /// Occurrences are decided. Answered with [`crate::change::Applied::Fired`].
    Fire(Firing),
}

/// Occurrences of one schedule that are decided together.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    /// The schedule.
    pub schedule: ScheduleId,
    /// Its name, for people.
    pub name: ScheduleName,
    /// How the schedule stands then.
    pub standing: Standing,
    /// In the order of their instants.
    pub occurrences: Vec<Occurrence>,
    /// The jobs of those that fire, named by them.
    pub jobs: Vec<NewJob>,
    /// Rows of this instant and earlier ones are forgotten first.
    pub forget: Option<Wall>,
}

impl Firing {
    /// The job of that id.
    #[must_use]
    pub fn job(&self, id: JobId) -> Option<&NewJob> {
        self.jobs.iter().find(|job| job.id == id)
    }
}

/// One due instant of a schedule, and what became of it: a row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// When it was due; for a manual one, when it was asked for.
    pub due_at: Wall,
    /// When that was decided.
    pub decided_at: Wall,
    /// Why it was due.
    pub cause: Cause,
    /// What became of it.
    pub fate: Fate,
}

/// Why an occurrence was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// By the schedule.
    Schedule,
    /// A person asked for a run.
    Manual,
    /// A person asked for a range to be made up for.
    Backfill,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 3] = [Cause::Schedule, Cause::Manual, Cause::Backfill];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Schedule => "schedule",
            Cause::Manual => "manual",
            Cause::Backfill => "backfill",
        }
    }

    /// The cause of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

/// What became of an occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It made this job.
    Fired(JobId),
    /// It fires when the job before it has ended.
    Waiting,
    /// It made none.
    Skipped(Skip),
}

/// Why an occurrence made no job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// The reason.
    pub why: Why,
    /// The job that was in its way.
    pub job: Option<JobId>,
    /// The row stands for all instants from here on, where they were too many for a row each.
    pub since: Option<Wall>,
    /// How many it stands for.
    pub count: u64,
}

impl Skip {
    /// One occurrence that was skipped.
    #[must_use]
    pub const fn one(why: Why, job: Option<JobId>) -> Skip {
        Skip { why, job, since: None, count: 1 }
    }
}

/// A reason to skip an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Nobody was there to fire it in time, and the schedule says not to make up for it.
    Missed,
    /// The schedule was paused.
    Paused,
    /// A job of the schedule was not final yet.
    Overlap,
    /// The schedule was changed before it could be fired.
    Edited,
    /// The queue took nothing new.
    QueueDraining,
    /// The unique key of its job was held by another.
    UniqueKey,
}

impl Why {
    /// Every reason.
    pub const ALL: [Why; 6] =
        [Why::Missed, Why::Paused, Why::Overlap, Why::Edited, Why::QueueDraining, Why::UniqueKey];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Why::Missed => "missed",
            Why::Paused => "paused",
            Why::Overlap => "overlap",
            Why::Edited => "edited",
            Why::QueueDraining => "queue_draining",
            Why::UniqueKey => "unique_key",
        }
    }

    /// The reason of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Why> {
        Why::ALL.into_iter().find(|why| why.as_str() == text)
    }
}

impl Occurrence {
    /// Whether the ledger takes this row where it has that one. The one place that says so, for every store.
    #[must_use]
    pub fn replaces(&self, there: Option<&Fate>) -> bool {
        if sabotage::active(Bug::LedgerNotAsked) {
            return true;
        }
        match there {
            None | Some(Fate::Waiting) => true,
            Some(Fate::Skipped(_)) => self.cause == Cause::Backfill && matches!(self.fate, Fate::Fired(_)),
            Some(Fate::Fired(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fired_stays_so_and_only_a_backfill_fires_what_was_skipped() {
        let job = JobId::from_uuid(uuid::Uuid::from_u128(7));
        let row = |cause, fate| Occurrence { due_at: Wall(1), decided_at: Wall(2), cause, fate };
        let (fired, skipped) = (Fate::Fired(job), Fate::Skipped(Skip::one(Why::Paused, None)));
        let fire = row(Cause::Schedule, fired.clone());
        assert!(fire.replaces(None) && fire.replaces(Some(&Fate::Waiting)));
        assert!(!fire.replaces(Some(&fired)) && !fire.replaces(Some(&skipped)));
        let backfill = row(Cause::Backfill, fired.clone());
        assert!(backfill.replaces(Some(&skipped)) && !backfill.replaces(Some(&fired)));
        assert!(!row(Cause::Backfill, skipped.clone()).replaces(Some(&skipped)));
    }

    #[test]
    fn words_read_back() {
        assert!(Why::ALL.into_iter().all(|why| Why::parse(why.as_str()) == Some(why)));
        assert!(Cause::ALL.into_iter().all(|cause| Cause::parse(cause.as_str()) == Some(cause)));
    }
}
