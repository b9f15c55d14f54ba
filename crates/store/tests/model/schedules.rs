//! Schedules and firings, made concrete.

use std::time::Duration;

use ganger_core::change::{Change, NewJob};
use ganger_core::ids::ScheduleId;
use ganger_core::job::JobSpec;
use ganger_core::schedule::ledger::{Cause, Fate, Firing, Occurrence, ScheduleChange, Skip, Why};
use ganger_core::schedule::{Misfire, Overlap, Schedule, ScheduleRecord, Standing, When};
use ganger_core::{JobId, Wall};

/// One change of a schedule, in the abstract.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleOp {
    /// Which of a few.
    pub(crate) which: u8,
    /// What is done to it.
    pub(crate) what: u8,
    /// The first instant of a firing.
    pub(crate) at: u8,
    /// What becomes of each instant from there on.
    pub(crate) fates: Vec<u8>,
    pub(crate) key: Option<u8>,
}

fn id(which: u8) -> ScheduleId {
    ScheduleId::new(1 + u64::from(which % 3), [which % 3; 10])
}

fn name(which: u8) -> ganger_core::name::ScheduleName {
    format!("schedule-{}", which % 3).parse().unwrap()
}

/// The change, with the jobs that it makes.
pub(crate) fn change(
    op: &ScheduleOp,
    now: Wall,
    start: Wall,
    mut fresh: impl FnMut() -> (u64, JobId),
) -> Change {
    let change = match op.what % 8 {
        0 => ScheduleChange::Delete(id(op.which)),
        1 | 2 => {
            let standing = Standing { settled: now, ..Standing::default() };
            ScheduleChange::Put(record(op, now), standing)
        }
        _ => ScheduleChange::Fire(firing(op, now, start, &mut fresh)),
    };
    Change::Schedule(Box::new(change))
}

fn record(op: &ScheduleOp, now: Wall) -> ScheduleRecord {
    let schedule = Schedule {
        name: name(op.which),
        when: When::Every(Duration::from_secs(1 + u64::from(op.at))),
        time_zone: "UTC".into(),
        starts_at: None,
        ends_at: None,
        misfire: Misfire::Skip,
        overlap: Overlap::ALL[usize::from(op.at % 4)],
        jitter: Duration::ZERO,
        paused: op.at.is_multiple_of(2),
        job: JobSpec::new("report".parse().unwrap()),
    };
    ScheduleRecord { id: id(op.which), created_at: now, updated_at: now, schedule }
}

fn firing(op: &ScheduleOp, now: Wall, start: Wall, fresh: &mut impl FnMut() -> (u64, JobId)) -> Firing {
    let (mut occurrences, mut jobs) = (Vec::new(), Vec::new());
    for (n, what) in op.fates.iter().enumerate() {
        let seconds = u64::from(op.at % 8) + n as u64;
        let due_at = start + Duration::from_secs(seconds);
        let fate = match what % 6 {
            0 => Fate::Waiting,
            1 => Fate::Skipped(Skip::one(Why::ALL[usize::from(what / 6 % 6)], None)),
            2 => Fate::Skipped(Skip { why: Why::Missed, job: None, since: Some(start), count: 3 }),
            _ => {
                let (seq, id) = fresh();
                let mut spec = JobSpec::new("report".parse().unwrap());
                spec.options.unique_key = op.key.map(|key| format!("key-{}", key % 2));
                jobs.push(NewJob { id, seq, created_at: now, due_at: now, spec });
                Fate::Fired(id)
            }
        };
        let cause = Cause::ALL[usize::from(what / 36 % 3)];
        occurrences.push(Occurrence { due_at, decided_at: now, cause, fate });
    }
    let standing = Standing { settled: now, firings: 1, ..Standing::default() };
    let forget =
        (op.what / 8).is_multiple_of(6).then(|| start + Duration::from_secs(u64::from(op.what / 48)));
    Firing { schedule: id(op.which), name: name(op.which), standing, occurrences, jobs, forget }
}
