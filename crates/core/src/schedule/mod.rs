//! Schedules: rules that submit a job at every instant they name.
//!
//! ```text
//!             due                        the ledger says so, in the same transaction
//!  schedule ───────▶ occurrence ──┬──▶ fired: a job
//!                                 ├──▶ waiting, for the job before it ──▶ fired
//!                                 └──▶ skipped, with the reason
//! ```
//! - [`cron`], [`zone`]: which local times, and which instants those are where clocks change.
//! - [`timing`]: the instants of a schedule. [`catch_up`]: what becomes of those that are due, one or thousands.
//! - [`ledger`]: what is written about each.
//!
//! # Why nothing fires twice, and nothing is forgotten
//! A schedule is **settled** up to an instant: everything due until then has its row in the ledger. Instants are decided in
//! order from there, by whoever leads, and the rows, the jobs and the new mark are one transaction under the guard of
//! the term. A leader that is deposed writes nothing; the next one loads the mark after its term began. A clock that
//! jumps back finds everything up to the mark settled; one that jumps forward finds more that is due, and the
//! misfire rule says which of it fires. A commit whose outcome is unknown is sent again under its number.

pub mod catch_up;
pub mod cron;
mod field;
pub mod ledger;
pub mod timing;
pub mod zone;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::ScheduleId;
use crate::job::JobSpec;
use crate::limits;
use crate::name::ScheduleName;
use crate::schedule::timing::Timing;
use crate::time::{Wall, micros};

/// How far back [`Misfire::FireAll`] goes when it is not said.
pub const USUAL_WINDOW: Duration = Duration::from_secs(3600);

/// A recurring rule, as a person wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Unique, and its identity for people.
    pub name: ScheduleName,
    /// When it fires.
    pub when: When,
    /// IANA name of the place whose local time counts.
    pub time_zone: String,
    /// It fires nothing before.
    pub starts_at: Option<Wall>,
    /// It fires nothing after.
    pub ends_at: Option<Wall>,
    /// What becomes of instants at which nobody was there.
    pub misfire: Misfire,
    /// What happens while a job of it is not final.
    pub overlap: Overlap,
    /// Each job waits a while that is its own, up to this.
    pub jitter: Duration,
    /// It fires nothing at present.
    pub paused: bool,
    /// What it submits.
    pub job: JobSpec,
}

/// When a schedule fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// At the local times of a cron expression.
    Cron(String),
    /// Again and again after this long, counted from its start.
    Every(Duration),
    /// Once.
    At(Wall),
}

/// What becomes of instants at which nobody was there to fire them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misfire {
    /// The last of them fires.
    #[default]
    FireOnce,
    /// Those of the last so long fire, at most [`limits::CATCH_UP`].
    FireAll(Duration),
    /// None fires that is later than [`limits::ON_TIME`].
    Skip,
}

impl Misfire {
    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Misfire::FireOnce => "fire_once",
            Misfire::FireAll(_) => "fire_all",
            Misfire::Skip => "skip",
        }
    }
}

/// What happens to an occurrence while a job of the same schedule is not final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// It fires all the same.
    Allow,
    /// It is skipped.
    #[default]
    Skip,
    /// It waits for the other job, and those after it are skipped.
    QueueOne,
    /// It fires, and the other job is cancelled.
    CancelPrevious,
}

impl Overlap {
    /// Every rule.
    pub const ALL: [Overlap; 4] = [Overlap::Allow, Overlap::Skip, Overlap::QueueOne, Overlap::CancelPrevious];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Overlap::Allow => "allow",
            Overlap::Skip => "skip",
            Overlap::QueueOne => "queue_one",
            Overlap::CancelPrevious => "cancel_previous",
        }
    }

    /// The rule of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Overlap> {
        Overlap::ALL.into_iter().find(|overlap| overlap.as_str() == text)
    }
}

/// A schedule as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleRecord {
    /// Its identity in the ledger: one that was deleted and made again is another.
    pub id: ScheduleId,
    /// When it was made.
    pub created_at: Wall,
    /// When it was last changed.
    pub updated_at: Wall,
    /// What a person wrote.
    pub schedule: Schedule,
}

/// How far a schedule has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Intervals count from here.
    pub anchor: Wall,
    /// Every instant up to this one is in the ledger.
    pub settled: Wall,
    /// An occurrence that waits for a job of the schedule to end.
    pub waiting: Option<Wall>,
    /// Since when it is paused, if it is.
    pub paused_at: Option<Wall>,
    /// The last pause whose instants may not be in the ledger yet: after the first moment, up to the second.
    pub gap: Option<(Wall, Wall)>,
    /// The ledger has forgotten this instant and earlier ones. It begins with 1970: a moment must be one that can be written
    /// down and read again.
    pub forgotten: Wall,
    /// How often something was decided.
    pub firings: u64,
}

impl Standing {
    /// How a new schedule stands.
    #[must_use]
    pub fn new(schedule: &Schedule, now: Wall) -> Standing {
        let second = Wall(now.0.div_euclid(1_000_000) * 1_000_000);
        Standing {
            anchor: schedule.starts_at.unwrap_or(second),
            settled: now,
            paused_at: schedule.paused.then_some(now),
            ..Standing::default()
        }
    }
}

/// Something in a schedule that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {problem}")]
pub struct ScheduleError {
    /// The field, as a person wrote it.
    pub field: String,
    /// What is wrong with it, where, and the limit.
    pub problem: String,
}

impl ScheduleError {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> ScheduleError {
        ScheduleError { field: field.into(), problem: problem.into() }
    }
}

impl Schedule {
    /// Checks every bound, and that it fires after this moment.
    ///
    /// # Errors
    /// The first field that is out of bounds, with the reason.
    pub fn check(&self, now: Wall) -> Result<Timing, ScheduleError> {
        let timing = self.check_fields(now)?;
        if timing.next(now).is_none() {
            let (field, problem) = match &self.when {
                When::Cron(_) if self.ends_at.is_none() => {
                    ("cron", "never fires: no such day or time exists")
                }
                When::Cron(_) | When::Every(_) => ("ends_at", "is so early that it never fires"),
                When::At(_) => ("at", "lies in the past, or outside starts_at and ends_at"),
            };
            return Err(ScheduleError::new(field, problem));
        }
        Ok(timing)
    }

    /// Checks every bound of a schedule that is as good as made now.
    ///
    /// # Errors
    /// The first field that is out of bounds, with the reason.
    pub fn check_fields(&self, now: Wall) -> Result<Timing, ScheduleError> {
        let timing = Timing::new(self, Standing::new(self, now).anchor)?;
        if self.jitter > limits::JITTER {
            let hours = limits::JITTER.as_secs() / 3600;
            return Err(ScheduleError::new("jitter", format!("is longer than {hours} hours")));
        }
        if let Misfire::FireAll(within) = self.misfire
            && !(limits::ON_TIME..=limits::CATCH_UP_WITHIN).contains(&within)
        {
            return Err(ScheduleError::new("misfire_window", "must be from 1 minute to 7 days"));
        }
        if let (Some(starts), Some(ends)) = (self.starts_at, self.ends_at)
            && ends <= starts
        {
            return Err(ScheduleError::new("ends_at", "must be later than starts_at"));
        }
        self.check_job()?;
        Ok(timing)
    }

    fn check_job(&self) -> Result<(), ScheduleError> {
        self.job
            .check()
            .map_err(|error| ScheduleError::new(format!("job.{}", error.field), error.problem))?;
        let size = self.job.payload.len();
        if size > limits::SCHEDULE_PAYLOAD_BYTES {
            let limit = limits::SCHEDULE_PAYLOAD_BYTES;
            return Err(ScheduleError::new("job.payload", format!("has {size} bytes, the limit is {limit}")));
        }
        if self.job.run_at.is_some() {
            return Err(ScheduleError::new("job.run_at", "is what the schedule says; leave it out"));
        }
        if !self.job.depends_on.is_empty() {
            return Err(ScheduleError::new("job.depends_on", "is for one job; a schedule makes many"));
        }
        if self.job.options.expires_at.is_some() {
            return Err(ScheduleError::new(
                "job.expires_at",
                "would be the same for every job; leave it out",
            ));
        }
        Ok(())
    }

    /// How long the job of an instant waits: its own share of the jitter, always the same.
    #[must_use]
    pub fn jitter_of(&self, id: ScheduleId, due_at: Wall) -> Duration {
        let most = micros(self.jitter);
        if most == 0 {
            return Duration::ZERO;
        }
        let mut bits = id.uuid().as_u128();
        bits = (bits ^ bits >> 64 ^ u128::from(due_at.0.cast_unsigned())) & u128::from(u64::MAX);
        let bits = mix(u64::try_from(bits).unwrap_or(0));
        Duration::from_micros(bits % (most + 1))
    }
}

/// splitmix64: neighbours come out far apart.
fn mix(bits: u64) -> u64 {
    let mut z = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn daily() -> Schedule {
        Schedule {
            name: "daily".parse().unwrap(),
            when: When::Cron("0 2 * * *".into()),
            time_zone: "Europe/Berlin".into(),
            starts_at: None,
            ends_at: None,
            misfire: Misfire::FireOnce,
            overlap: Overlap::Skip,
            jitter: Duration::ZERO,
            paused: false,
            job: JobSpec::new("report".parse().unwrap()),
        }
    }

    fn refused(change: impl FnOnce(&mut Schedule)) -> String {
        let mut schedule = daily();
        change(&mut schedule);
        schedule.check("2026-01-01T00:00:00Z".parse().unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn a_refusal_names_the_field_and_the_reason() {
        assert!(daily().check(Wall(0)).is_ok());
        assert_eq!(
            refused(|s| s.time_zone = "Mars".into()),
            "`time_zone` `Mars` is not a time zone; `Europe/Berlin` is"
        );
        assert!(refused(|s| s.when = When::Cron("0 0 30 2 *".into())).starts_with("`cron` never fires"));
        assert!(refused(|s| s.when = When::Cron("0 25 * * *".into())).starts_with("`cron` at character 3:"));
        assert!(refused(|s| s.when = When::At("2025-01-01T00:00:00Z".parse().unwrap())).contains("past"));
        assert!(refused(|s| s.when = When::Every(Duration::from_millis(999))).starts_with("`every`"));
        assert!(refused(|s| s.ends_at = Some("2026-01-01T00:30:00Z".parse().unwrap())).contains("ends_at"));
        assert!(refused(|s| s.job.run_at = Some(Wall(1))).starts_with("`job.run_at`"));
        assert!(refused(|s| s.job.options.threads = 0).starts_with("`job.threads`"));
    }

    #[test]
    fn every_bound_holds_at_the_bound_and_refuses_one_past_it() {
        let mut schedule = daily();
        schedule.jitter = limits::JITTER;
        schedule.misfire = Misfire::FireAll(limits::CATCH_UP_WITHIN);
        schedule.job.payload = "1".repeat(limits::SCHEDULE_PAYLOAD_BYTES);
        schedule.when = When::Every(limits::SHORTEST_INTERVAL);
        assert!(schedule.check(Wall(0)).is_ok());
        let second = Duration::from_secs(1);
        assert!(refused(|s| s.jitter = limits::JITTER + second).starts_with("`jitter`"));
        assert!(
            refused(|s| s.misfire = Misfire::FireAll(limits::CATCH_UP_WITHIN + second)).contains("7 days")
        );
        let large = "1".repeat(limits::SCHEDULE_PAYLOAD_BYTES + 1);
        assert!(refused(|s| s.job.payload = large).starts_with("`job.payload`"));
    }

    #[test]
    fn jitter_is_within_its_bound_and_always_the_same() {
        let mut schedule = daily();
        schedule.jitter = Duration::from_secs(10);
        let id = ScheduleId::new(1, [7; 10]);
        let all: Vec<_> = (0..200).map(|n| schedule.jitter_of(id, Wall(n * 1_000_000))).collect();
        assert!(all.iter().all(|jitter| *jitter <= schedule.jitter));
        assert!(all.iter().any(|jitter| *jitter < Duration::from_secs(2)));
        assert!(all.iter().any(|jitter| *jitter > Duration::from_secs(8)));
        assert_eq!(schedule.jitter_of(id, Wall(5)), schedule.jitter_of(id, Wall(5)));
    }
}
