//! Schedules: what a client asks for, and what is shown.

use std::time::Duration;

use ganger_core::job::JobSpec;
use ganger_core::schedule::{Misfire, Overlap, Schedule, USUAL_WINDOW, When};

use super::DecodeError;
use super::parts::{self, duration_to_wire, moment_to_wire};
use crate::v1;
use crate::v1::schedule::When as Wire;

/// A schedule that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// What it is to be.
    pub schedule: Schedule,
    /// Whether it is to be paused, if that was said.
    pub paused: Option<bool>,
}

/// Reads a schedule with the job that it submits, which was read before. Its bounds are checked by whoever makes it.
///
/// # Errors
/// A field is missing or cannot be understood.
pub fn schedule_from_wire(wire: v1::Schedule, job: JobSpec) -> Result<Named, DecodeError> {
    let window =
        wire.misfire_window.map(|window| parts::duration("schedule.misfire_window", window)).transpose()?;
    let moment = |field, at: Option<_>| at.map(|at| parts::moment(field, at)).transpose();
    let schedule = Schedule {
        name: parts::name("schedule.name", &wire.name)?,
        when: match wire.when.ok_or(DecodeError::Missing("schedule.when"))? {
            Wire::Cron(text) => When::Cron(text),
            Wire::Every(every) => When::Every(parts::duration("schedule.every", every)?),
            Wire::At(at) => When::At(parts::moment("schedule.at", at)?),
        },
        time_zone: if wire.time_zone.is_empty() { "UTC".into() } else { wire.time_zone },
        starts_at: moment("schedule.starts_at", wire.starts_at)?,
        ends_at: moment("schedule.ends_at", wire.ends_at)?,
        misfire: misfire(&wire.misfire, window)?,
        overlap: match wire.overlap.as_str() {
            "" => Overlap::default(),
            word => Overlap::parse(word).ok_or_else(|| {
                let known = "must be `skip`, `allow`, `queue_one` or `cancel_previous`";
                DecodeError::bad("schedule.overlap", known)
            })?,
        },
        jitter: match wire.jitter {
            Some(jitter) => parts::duration("schedule.jitter", jitter)?,
            None => Duration::ZERO,
        },
        paused: wire.paused.unwrap_or(false),
        job,
    };
    Ok(Named { schedule, paused: wire.paused })
}

fn misfire(word: &str, window: Option<Duration>) -> Result<Misfire, DecodeError> {
    if window.is_some() && word != "fire_all" {
        return Err(DecodeError::bad("schedule.misfire_window", "is for `misfire: fire_all` only"));
    }
    match word {
        "" | "fire_once" => Ok(Misfire::FireOnce),
        "fire_all" => Ok(Misfire::FireAll(window.unwrap_or(USUAL_WINDOW))),
        "skip" => Ok(Misfire::Skip),
        _ => Err(DecodeError::bad("schedule.misfire", "must be `fire_once`, `fire_all` or `skip`")),
    }
}

/// A schedule as it travels, with every default spelled out, without its identity and how it is doing.
#[must_use]
pub fn schedule_to_wire(schedule: &Schedule) -> v1::Schedule {
    let misfire = schedule.misfire;
    v1::Schedule {
        name: schedule.name.to_string(),
        when: Some(match &schedule.when {
            When::Cron(text) => Wire::Cron(text.clone()),
            When::Every(every) => Wire::Every(duration_to_wire(*every)),
            When::At(at) => Wire::At(moment_to_wire(*at)),
        }),
        time_zone: schedule.time_zone.clone(),
        starts_at: schedule.starts_at.map(moment_to_wire),
        ends_at: schedule.ends_at.map(moment_to_wire),
        misfire: misfire.as_str().into(),
        misfire_window: match misfire {
            Misfire::FireAll(window) => Some(duration_to_wire(window)),
            Misfire::FireOnce | Misfire::Skip => None,
        },
        overlap: schedule.overlap.as_str().into(),
        jitter: Some(duration_to_wire(schedule.jitter)),
        paused: Some(schedule.paused),
        job: Some(schedule.job.clone().into()),
        id: String::new(),
        status: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Wall;

    fn schedule(when: When, misfire: Misfire, overlap: Overlap) -> Schedule {
        Schedule {
            name: "nightly".parse().unwrap(),
            when,
            time_zone: "Europe/Berlin".into(),
            starts_at: Some(Wall(1_000_000)),
            ends_at: Some(Wall(9_000_000)),
            misfire,
            overlap,
            jitter: Duration::from_secs(3),
            paused: true,
            job: JobSpec { payload: "[1]".into(), ..JobSpec::new("report".parse().unwrap()) },
        }
    }

    #[test]
    fn a_schedule_is_the_same_after_its_way() {
        let whens = [When::Cron("@daily".into()), When::Every(Duration::from_secs(60)), When::At(Wall(7))];
        let misfires = [Misfire::FireOnce, Misfire::FireAll(Duration::from_secs(90)), Misfire::Skip];
        for when in whens {
            for misfire in misfires {
                for overlap in Overlap::ALL {
                    let before = schedule(when.clone(), misfire, overlap);
                    let mut wire = schedule_to_wire(&before);
                    let job = wire.job.take().unwrap().try_into().unwrap();
                    let after = schedule_from_wire(wire, job).unwrap();
                    assert_eq!((after.schedule, after.paused), (before, Some(true)));
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let good = schedule_to_wire(&schedule(When::At(Wall(7)), Misfire::Skip, Overlap::Skip));
        let refused = |change: &dyn Fn(&mut v1::Schedule)| {
            let mut wire = good.clone();
            change(&mut wire);
            schedule_from_wire(wire, JobSpec::new("k".parse().unwrap())).unwrap_err().to_string()
        };
        let long = prost_types::Duration { seconds: i64::MAX, nanos: 0 };
        let odd = prost_types::Timestamp { seconds: i64::MAX, nanos: -1 };
        for (told, field) in [
            (refused(&|s| s.name = "a b".into()), "schedule.name"),
            (refused(&|s| s.when = None), "schedule.when"),
            (refused(&|s| s.when = Some(Wire::Every(long))), "schedule.every"),
            (refused(&|s| s.when = Some(Wire::At(odd))), "schedule.at"),
            (refused(&|s| s.starts_at = Some(odd)), "schedule.starts_at"),
            (refused(&|s| s.ends_at = Some(odd)), "schedule.ends_at"),
            (refused(&|s| s.misfire = "never".into()), "schedule.misfire"),
            (refused(&|s| s.misfire_window = Some(Default::default())), "schedule.misfire_window"),
            (refused(&|s| s.overlap = "often".into()), "schedule.overlap"),
            (refused(&|s| s.jitter = Some(long)), "schedule.jitter"),
        ] {
            assert!(told.starts_with(&format!("field `{field}`")), "{told}");
        }
    }
}
