//! Schedules in the world: made, paused, resumed, run and backfilled by people, while everything else goes wrong.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::coordinator::port::{Ask, ScheduleAsk};
use ganger_core::ids::ScheduleId;
use ganger_core::job::JobSpec;
use ganger_core::name::ScheduleName;
use ganger_core::schedule::{Misfire, Overlap, Schedule, ScheduleRecord, When};

use crate::client::{Client, Errand};
use crate::setup::{FAULTS_FOR, MS, S, wall};
use crate::world::{Event, World};

/// A schedule that somebody wants to be there.
pub(crate) struct Planned {
    id: ScheduleId,
    pub(crate) schedule: Schedule,
}

impl World {
    /// A few schedules, each with rules of its own. They end when the faults do.
    pub(crate) fn plan_schedules(&mut self) {
        for number in 0..3u8 {
            let job = JobSpec { run_at: None, ..Client::random(0, &mut self.rng).spec };
            let every = Duration::from_millis(self.rng.range(1_000, 2_500));
            let misfires = [Misfire::FireOnce, Misfire::Skip, Misfire::FireAll(Duration::from_secs(60))];
            let mut schedule = Schedule {
                name: name(number),
                when: When::Every(every),
                time_zone: "UTC".into(),
                starts_at: None,
                ends_at: Some(wall(FAULTS_FOR)),
                misfire: misfires[self.rng.index(3)],
                overlap: Overlap::ALL[self.rng.index(4)],
                jitter: Duration::from_millis(if self.rng.one_in(3) { 300 } else { 0 }),
                paused: false,
                job,
            };
            schedule.job.options.unique_key = None;
            let id = ScheduleId::new(1 + u64::from(number), [number; 10]);
            self.schedules.push(Planned { id, schedule });
        }
        self.after(S, Event::Schedules);
    }

    /// Sees to it that the schedules are there, and meddles with them.
    pub(crate) fn tend_schedules(&mut self) {
        for number in 0..self.schedules.len() {
            let (id, schedule) = (self.schedules[number].id, self.schedules[number].schedule.clone());
            let there = self.stored_schedule(id);
            let ask = match there {
                None if self.now > FAULTS_FOR - 3 * S => continue,
                None => {
                    Some(ScheduleAsk::Put { schedule: Box::new(schedule), id, only_new: self.rng.one_in(2) })
                }
                Some(record) if self.healed => {
                    record.schedule.paused.then_some(ScheduleAsk::Resume(schedule.name))
                }
                Some(_) => self.meddle_with(schedule.name),
            };
            if let Some(ask) = ask {
                self.note(|| format!("a person asks {ask:?}"));
                self.send_ask(Errand::Other, Ask::Schedule(ask.clone()));
                if self.rng.one_in(4) {
                    self.send_ask(Errand::Other, Ask::Schedule(ask));
                }
            }
        }
        let pause = self.rng.range(300 * MS, 1_500 * MS);
        self.after(pause, Event::Schedules);
    }

    fn meddle_with(&mut self, name: ScheduleName) -> Option<ScheduleAsk> {
        match self.rng.below(10) {
            0 => Some(ScheduleAsk::Pause(name)),
            1 | 2 => Some(ScheduleAsk::Resume(name)),
            3 => Some(ScheduleAsk::Run(name)),
            4 => {
                let to = wall(self.now - 300 * MS);
                Some(ScheduleAsk::Backfill { name, from: to - Duration::from_secs(3), to })
            }
            5.. => None,
        }
    }

    fn stored_schedule(&self, id: ScheduleId) -> Option<ScheduleRecord> {
        let stored = self.store.state.load().schedules;
        stored.into_iter().map(|(record, _)| record).find(|record| record.id == id)
    }

    /// Every schedule has come to its end: nothing is due, and nothing waits.
    pub(crate) fn schedules_are_over(&self) -> bool {
        let stored = self.store.state.load().schedules;
        stored.iter().all(|(record, standing)| {
            let last = self.checker.ledger.last_instant(record.id);
            !record.schedule.paused
                && standing.waiting.is_none()
                && last.is_none_or(|at| at <= standing.settled)
        })
    }

    /// At the end the ledger holds every instant, and nothing waits any more.
    pub(crate) fn check_ledgers(&mut self) {
        for (record, _) in self.store.state.load().schedules {
            let rows = self.store.state.occurrences(record.id, None, usize::MAX);
            if let Some(what) = self.checker.ledger.is_wrong(record.id, &rows) {
                self.checker.fail(what);
                return;
            }
        }
    }
}

fn name(number: u8) -> ScheduleName {
    format!("schedule-{number}").parse().expect("a name")
}

/// Instants of an interval, worked out without the code that is tested.
pub(crate) fn instants(anchor: Wall, every: Duration, after: Wall, until: Wall) -> Vec<Wall> {
    let step = i64::try_from(every.as_micros()).expect("a short interval");
    (1..)
        .map(|n| Wall(anchor.0 + n * step))
        .skip_while(|at| *at <= after)
        .take_while(|at| *at <= until)
        .collect()
}
