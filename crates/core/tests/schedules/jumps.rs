//! Random walks: clocks jump, leaders change, the store refuses, swallows and loses, people meddle.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ganger_core::coordinator::port::ScheduleAsk;
use ganger_core::schedule::ledger::{Cause, Fate};
use ganger_core::schedule::{Misfire, Overlap, Schedule};
use ganger_core::{JobId, Wall};

use crate::stage::{Mood, START, Stage, every};

const STEPS: usize = 100;
const WALKS: u64 = 250;

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What every ledger and every set of jobs must agree on.
#[derive(Default)]
struct Seen {
    fired: BTreeMap<Wall, JobId>,
    latest: Wall,
}

impl Seen {
    fn look(&mut self, stage: &Stage, seed: u64) {
        self.latest = self.latest.max(stage.now.wall);
        for row in stage.ledger() {
            let early = row.due_at > row.decided_at || row.decided_at > self.latest;
            assert!(!early || row.cause == Cause::Manual, "seed {seed}: {row:?} is early");
            if let Fate::Fired(job) = row.fate {
                let first = *self.fired.entry(row.due_at).or_insert(job);
                assert_eq!(first, job, "seed {seed}: {} fired twice", row.due_at);
            }
        }
        // Every job of the schedule is one that the ledger knows, and no two are of one instant.
        let mut instants = BTreeSet::new();
        for job in stage.store.load().jobs {
            let due_at = job.options.schedule.as_ref().expect("only schedules make jobs here").due_at;
            assert!(instants.insert(due_at), "seed {seed}: two jobs of {due_at}");
            assert_eq!(self.fired.get(&due_at), Some(&job.id), "seed {seed}: a job without a row");
        }
    }
}

fn step(stage: &mut Stage, dice: &mut Dice) {
    let name = || "tick".parse().unwrap();
    match dice.below(24) {
        0..=9 => stage.pass(Duration::from_millis(100 + dice.below(4_000))),
        10 => stage.jump(-3_600),
        11 => stage.jump(3_600),
        12 => stage.jump(i64::try_from(dice.below(60)).unwrap() - 30),
        13 | 14 => {
            stage.mood = Mood::Writes;
            stage.take_over();
        }
        15 => stage.mood = Mood::Refuses,
        16 => stage.mood = Mood::Swallows,
        17 => stage.mood = Mood::Loses,
        18 => stage.mend(),
        19 => drop(stage.order(ScheduleAsk::Pause(name()))),
        20 => drop(stage.order(ScheduleAsk::Resume(name()))),
        21 => drop(stage.order(ScheduleAsk::Run(name()))),
        22 => {
            let to = stage.now.wall;
            let from = to - Duration::from_secs(30);
            drop(stage.order(ScheduleAsk::Backfill { name: name(), from, to }));
        }
        _ => {
            if stage.mood == Mood::Writes {
                stage.end_one();
            }
        }
    }
}

#[test]
fn an_occurrence_fires_once_and_none_is_forgotten_whatever_happens() {
    let mut fired = 0;
    for seed in 0..WALKS {
        let mut dice = Dice(seed);
        let misfires = [Misfire::FireOnce, Misfire::Skip, Misfire::FireAll(Duration::from_secs(60))];
        let interval = 5 + dice.below(20);
        let schedule = Schedule {
            misfire: misfires[dice.below(3) as usize],
            overlap: Overlap::ALL[dice.below(4) as usize],
            ..every(interval)
        };
        let mut stage = Stage::new();
        stage.put(schedule).unwrap();
        let mut seen = Seen::default();
        for _ in 0..STEPS {
            step(&mut stage, &mut dice);
            seen.look(&stage, seed);
        }
        // Peace: the clock shows at least what it ever showed, and everything that was due is told.
        stage.mend();
        stage.order(ScheduleAsk::Resume("tick".parse().unwrap()));
        stage.now.wall = stage.now.wall.max(seen.latest);
        stage.seconds(5);
        seen.look(&stage, seed);
        let mut told = BTreeSet::new();
        for row in stage.ledger() {
            let since = match &row.fate {
                Fate::Skipped(skip) => skip.since.unwrap_or(row.due_at),
                Fate::Fired(_) | Fate::Waiting => row.due_at,
            };
            let step = Duration::from_secs(interval);
            told.extend(instants(step, stage.now.wall).filter(|at| (since..=row.due_at).contains(at)));
        }
        for at in instants(Duration::from_secs(interval), stage.now.wall) {
            assert!(told.contains(&at), "seed {seed}: {at} was forgotten");
        }
        fired += seen.fired.len();
    }
    assert!(fired > 1_500, "only {fired} occurrences fired");
}

fn instants(step: Duration, until: Wall) -> impl Iterator<Item = Wall> {
    (1..).map(move |n| START + step * n).take_while(move |at| *at <= until)
}
