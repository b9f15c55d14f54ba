//! What may be asked of schedules, and what is answered.

use std::sync::Arc;
use std::time::Duration;

use crate::ids::{JobId, ScheduleId};
use crate::limits;
use crate::name::{QueueName, ScheduleName};
use crate::schedule::ledger::Occurrence;
use crate::schedule::timing::Timing;
use crate::schedule::{Schedule, ScheduleError, ScheduleRecord, Standing};
use crate::time::Wall;

/// What a client may ask of schedules.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleAsk {
    /// A schedule is to be so.
    Put {
        /// As it is to be.
        schedule: Box<Schedule>,
        /// Its identity if it is new.
        id: ScheduleId,
        /// Refuse if there is one of that name.
        only_new: bool,
    },
    /// A schedule is to go. Its jobs stay.
    Delete(ScheduleName),
    /// It fires nothing until it is resumed.
    Pause(ScheduleName),
    /// It fires again. What was due meanwhile is skipped.
    Resume(ScheduleName),
    /// It fires now, whatever it says.
    Run(ScheduleName),
    /// Instants of the past fire that did not.
    Backfill {
        /// The schedule.
        name: ScheduleName,
        /// The first moment.
        from: Wall,
        /// The last moment.
        to: Wall,
    },
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleReply {
    /// It is so now.
    Set {
        /// As it is.
        view: Box<ScheduleView>,
        /// It is new.
        created: bool,
        /// It was not so before.
        changed: bool,
    },
    /// It is gone.
    Deleted,
    /// What the ledger says now; occurrences that had fired before are left out.
    Fired(Vec<Occurrence>),
}

/// Why it cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleRefusal {
    /// There is no schedule of that name.
    #[error("there is no schedule `{0}`")]
    NoSuch(ScheduleName),
    /// There is one already.
    #[error("there is a schedule `{0}` already")]
    Exists(ScheduleName),
    /// There are too many.
    #[error("there are {max} schedules, and no more are allowed", max = limits::SCHEDULES)]
    TooMany,
    /// Another change of it is being written.
    #[error("schedule `{0}` is being changed at this moment")]
    Busy(ScheduleName),
    /// A field is wrong.
    #[error(transparent)]
    Invalid(#[from] ScheduleError),
    /// A range with too many instants.
    #[error("the range has more than {max} occurrences, the limit of one backfill", max = limits::BACKFILL)]
    TooLong,
    /// A range that is not one.
    #[error("the range ends before it begins, or in the future")]
    NoRange,
    /// The ledger does not reach back so far, so that an occurrence could fire twice.
    #[error("the ledger has forgotten occurrences up to {0}; choose a later `from`")]
    Forgotten(Wall),
    /// Its queue takes nothing new.
    #[error("queue `{0}` is draining")]
    QueueDraining(QueueName),
}

/// A schedule as the leader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleView {
    /// What it is.
    pub record: Arc<ScheduleRecord>,
    /// How far it has come.
    pub standing: Standing,
    /// Its next instant, if it fires again.
    pub next: Option<Wall>,
    /// Jobs of it that are not final, oldest instant first.
    pub live: Vec<JobId>,
    /// How long an instant of it is due without a decision, if longer than it should be.
    pub overdue: Option<Duration>,
}

impl ScheduleView {
    /// The instants of a range that a backfill would look at.
    ///
    /// # Errors
    /// If the range cannot be made up for.
    pub fn backfill(&self, from: Wall, to: Wall, now: Wall) -> Result<Vec<Wall>, ScheduleRefusal> {
        let timing = Timing::new(&self.record.schedule, self.standing.anchor)?;
        backfill(&timing, &self.standing, from, to, now)
    }
}

/// The instants of a range that a backfill looks at.
pub(super) fn backfill(
    timing: &Timing,
    standing: &Standing,
    from: Wall,
    to: Wall,
    now: Wall,
) -> Result<Vec<Wall>, ScheduleRefusal> {
    if from > to || to > now {
        return Err(ScheduleRefusal::NoRange);
    }
    if from <= standing.forgotten {
        return Err(ScheduleRefusal::Forgotten(standing.forgotten));
    }
    let instants = timing.after(Wall(from.0 - 1)).take_while(|at| *at <= to);
    let instants: Vec<Wall> = instants.take(limits::BACKFILL + 1).collect();
    if instants.len() > limits::BACKFILL {
        return Err(ScheduleRefusal::TooLong);
    }
    Ok(instants)
}
