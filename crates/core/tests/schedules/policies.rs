//! What schedules do, rule by rule.

use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Refusal, Reply, ScheduleAsk, ScheduleRefusal};
use ganger_core::event::Event;
use ganger_core::limits;
use ganger_core::queue::QueueSettings;
use ganger_core::schedule::ledger::{Cause, Fate, Why};
use ganger_core::schedule::{Misfire, Overlap, Schedule, When};

use crate::stage::{Mood, START, Stage, every, why};

fn name() -> ganger_core::name::ScheduleName {
    "tick".parse().unwrap()
}

fn with(change: impl FnOnce(&mut Schedule)) -> Stage {
    let (mut stage, mut schedule) = (Stage::new(), every(10));
    change(&mut schedule);
    stage.put(schedule).unwrap();
    stage
}

#[test]
fn each_instant_makes_one_job_and_never_an_early_one() {
    let mut stage = with(|_| {});
    stage.seconds(9);
    stage.pass(Duration::from_millis(999));
    assert_eq!(stage.jobs().len(), 0);
    stage.pass(Duration::from_millis(1));
    assert_eq!(stage.told(), [(10, "fired")]);
    stage.seconds(25);
    assert_eq!(stage.told(), [(10, "fired"), (20, "fired"), (30, "fired")]);
    assert_eq!(stage.jobs().len(), 3);
    let job = &stage.store.load().jobs[0];
    let origin = job.options.schedule.as_ref().expect("it knows who made it");
    assert_eq!((origin.name.as_str(), origin.due_at), ("tick", START + Duration::from_secs(10)));
    assert_eq!(stage.view().next, Some(START + Duration::from_secs(40)));
}

#[test]
fn a_job_in_the_way_skips_the_next_ones() {
    let mut stage = with(|s| s.overlap = Overlap::Skip);
    stage.seconds(30);
    assert_eq!(stage.told(), [(10, "fired"), (20, "overlap"), (30, "overlap")]);
    let first = stage.jobs()[0];
    let Fate::Skipped(skip) = &stage.ledger()[1].fate else { panic!("not skipped") };
    assert_eq!(skip.job, Some(first), "the ledger names the job in the way");
    stage.end_one();
    stage.seconds(10);
    assert_eq!(stage.told().last(), Some(&(40, "fired")));
}

#[test]
fn one_waits_for_the_job_before_it_across_a_takeover() {
    let mut stage = with(|s| s.overlap = Overlap::QueueOne);
    stage.seconds(30);
    assert_eq!(stage.told(), [(10, "fired"), (20, "waiting"), (30, "overlap")]);
    stage.take_over();
    assert_eq!(stage.jobs().len(), 1);
    stage.end_one();
    stage.tick();
    assert_eq!(stage.told(), [(10, "fired"), (20, "fired"), (30, "overlap")]);
    assert_eq!(stage.jobs().len(), 1);
}

#[test]
fn a_new_job_cancels_the_one_before_it() {
    let mut stage = with(|s| s.overlap = Overlap::CancelPrevious);
    stage.seconds(35);
    assert_eq!(stage.told(), [(10, "fired"), (20, "fired"), (30, "fired")]);
    assert_eq!(stage.jobs().len(), 1);
    let Fate::Fired(newest) = stage.ledger()[2].fate else { panic!("not fired") };
    assert_eq!(stage.jobs(), [newest]);
}

/// The leader is gone between the firing and the cancellation.
#[test]
fn the_next_leader_cancels_what_the_last_one_could_not() {
    let mut stage = with(|s| s.overlap = Overlap::CancelPrevious);
    stage.seconds(10);
    stage.mood = Mood::Swallows;
    stage.seconds(10);
    assert_eq!(stage.jobs().len(), 2);
    stage.mood = Mood::Writes;
    stage.take_over();
    assert_eq!(stage.jobs().len(), 1);
}

#[test]
fn after_an_absence_the_misfire_rule_decides() {
    for (misfire, fired) in
        [(Misfire::FireOnce, 1), (Misfire::Skip, 0), (Misfire::FireAll(Duration::from_secs(600)), 54)]
    {
        let mut stage = with(|s| s.misfire = misfire);
        // The last instant is 70 seconds old.
        stage
            .put(Schedule { ends_at: Some(START + Duration::from_secs(3_530)), misfire, ..every(10) })
            .unwrap();
        stage.now.wall = START + Duration::from_secs(3_600);
        stage.take_over();
        assert_eq!(stage.jobs().len(), fired, "{misfire:?}");
        let told: u64 = stage
            .ledger()
            .iter()
            .map(|row| match &row.fate {
                Fate::Skipped(skip) => skip.count,
                Fate::Fired(_) | Fate::Waiting => 1,
            })
            .sum();
        assert_eq!(told, 353, "{misfire:?}: every instant is told");
    }
}

#[test]
fn a_pause_is_told_when_it_is_over() {
    let mut stage = with(|_| {});
    stage.seconds(10);
    stage.order(ScheduleAsk::Pause(name()));
    stage.seconds(25);
    assert_eq!(stage.told(), [(10, "fired")]);
    assert_eq!((stage.view().next, stage.view().overdue), (Some(START + Duration::from_secs(40)), None));
    stage.take_over();
    stage.order(ScheduleAsk::Resume(name()));
    stage.seconds(5);
    assert_eq!(stage.told(), [(10, "fired"), (20, "paused"), (30, "paused"), (40, "fired")]);
}

#[test]
fn a_run_by_hand_is_in_the_ledger_and_moves_nothing() {
    let mut stage = with(|s| s.overlap = Overlap::Skip);
    let first = stage.fired(ScheduleAsk::Run(name()));
    let second = stage.fired(ScheduleAsk::Run(name()));
    assert!(first[0].due_at < second[0].due_at, "no two share an instant");
    assert!(first.iter().chain(&second).all(|row| row.cause == Cause::Manual));
    assert_eq!(stage.jobs().len(), 2);
    for _ in 0..2 {
        stage.end_one();
    }
    stage.seconds(10);
    assert_eq!(stage.told().last(), Some(&(10, "fired")));
}

#[test]
fn a_backfill_fires_what_did_not_and_nothing_else() {
    let mut stage = with(|_| {});
    stage.seconds(10);
    stage.order(ScheduleAsk::Pause(name()));
    stage.seconds(20);
    stage.order(ScheduleAsk::Resume(name()));
    stage.seconds(1);
    let range = ScheduleAsk::Backfill { name: name(), from: START, to: stage.now.wall };
    let rows = stage.fired(range.clone());
    let made: Vec<_> = rows.iter().map(|row| row.due_at).collect();
    assert_eq!(made, [START + Duration::from_secs(20), START + Duration::from_secs(30)]);
    assert_eq!(stage.fired(range), [], "a second time there is nothing left");
    assert_eq!(stage.told(), [(10, "fired"), (20, "fired"), (30, "fired")]);
    assert_eq!(stage.jobs().len(), 3);
}

#[test]
fn a_range_that_cannot_be_made_up_for_is_refused() {
    let mut stage = with(|s| s.when = When::Every(Duration::from_secs(1)));
    stage.now.wall = stage.now.wall + Duration::from_secs(2_000);
    let backfill = |from, to| ScheduleAsk::Backfill { name: name(), from, to };
    let refused = |stage: &mut Stage, ask| match stage.order(ask) {
        Some(Reply::Refused(Refusal::Schedule(refusal))) => refusal,
        other => panic!("{other:?}"),
    };
    let to = stage.now.wall;
    assert_eq!(refused(&mut stage, backfill(to, START)), ScheduleRefusal::NoRange);
    let ahead = to + Duration::from_secs(60);
    assert_eq!(refused(&mut stage, backfill(START, ahead)), ScheduleRefusal::NoRange);
    let first = START + Duration::from_secs(1);
    let bound = START + Duration::from_secs(limits::BACKFILL as u64);
    let past = bound + Duration::from_secs(1);
    assert_eq!(refused(&mut stage, backfill(first, past)), ScheduleRefusal::TooLong);
    let fired = stage.fired(backfill(first, bound));
    assert!(!fired.is_empty() && fired.len() <= limits::BACKFILL);
}

#[test]
fn what_was_due_under_another_rule_is_told_as_such() {
    let mut stage = with(|_| {});
    stage.mood = Mood::Refuses;
    stage.seconds(25);
    assert_eq!(stage.told(), []);
    stage.mood = Mood::Writes;
    stage.seconds(5);
    // It was decided while the store refused, and written when it did not.
    assert_eq!(stage.told()[0], (10, "fired"));
    let view = stage.put(every(3)).unwrap();
    assert_eq!(view.next, Some(stage.now.wall + Duration::from_secs(3)));
    let again = stage.put(every(3)).unwrap();
    assert_eq!(again, view, "the same again changes nothing");
}

#[test]
fn a_deleted_schedule_fires_nothing_and_its_name_is_free() {
    let mut stage = with(|_| {});
    stage.seconds(10);
    let old = stage.view().record.id;
    stage.order(ScheduleAsk::Delete(name()));
    stage.seconds(30);
    assert_eq!((stage.jobs().len(), stage.store.load().schedules.len()), (1, 0));
    assert_ne!(stage.put(every(10)).unwrap().record.id, old);
    assert_eq!(stage.view().live, [], "jobs of the old one are not its own");
}

#[test]
fn a_queue_that_drains_is_told_in_the_ledger() {
    let mut stage = with(|_| {});
    let settings = QueueSettings { draining: true, ..QueueSettings::default() };
    stage.ask(Ask::PutQueue("default".parse().unwrap(), settings));
    stage.seconds(10);
    assert_eq!(stage.told(), [(10, "queue_draining")]);
    assert!(matches!(
        stage.order(ScheduleAsk::Run(name())),
        Some(Reply::Refused(Refusal::Schedule(ScheduleRefusal::QueueDraining(_))))
    ));
}

#[test]
fn jitter_delays_the_job_and_not_the_decision() {
    let mut stage = with(|s| s.jitter = Duration::from_secs(8));
    stage.seconds(20);
    assert_eq!(stage.told(), [(10, "fired"), (20, "fired")]);
    let waits: Vec<_> = stage.store.load().jobs.iter().map(|job| job.due_at.0 - job.created_at.0).collect();
    assert!(waits.iter().all(|wait| (0..=8_000_000).contains(wait)), "{waits:?}");
    assert_ne!(waits[0], waits[1]);
}

#[test]
fn while_nothing_can_be_written_it_is_overdue_and_told_once() {
    let mut stage = with(|_| {});
    stage.mood = Mood::Loses;
    // Something else is on its way, so that the store is known to be stuck only by its silence.
    stage.ask(Ask::PutQueue("other".parse().unwrap(), QueueSettings::default()));
    stage.seconds(100);
    assert!(stage.view().overdue.is_some(), "it is decided, but not written");
    assert_eq!(stage.coordinator.stats().schedules.overdue, 1);
    // Its first instant was after ten seconds, and a hundred have passed.
    assert_eq!(stage.coordinator.gauges(stage.now).schedule_lag, Duration::from_secs(90));
    stage.mend();
    assert!(stage.coordinator.gauges(stage.now).schedule_lag < Duration::from_secs(10));
    assert_eq!(stage.told()[0], (10, "fired"));
    assert_eq!(stage.coordinator.stats().schedules.overdue, 0);
    let mut stage = with(|_| {});
    stage.mood = Mood::Refuses;
    stage.ask(Ask::PutQueue("other".parse().unwrap(), QueueSettings::default()));
    stage.seconds(100);
    assert!(stage.view().overdue.is_some());
    let told = |event: &&Event| matches!(event, Event::ScheduleOverdue { .. });
    assert_eq!(stage.events.iter().filter(told).count(), 1);
    stage.mend();
    assert!(stage.view().overdue.is_none());
    assert!(stage.told().len() >= 10, "{:?}", stage.told());
}

#[test]
fn a_schedule_that_is_not_its_own_master_is_refused() {
    let mut stage = Stage::new();
    let never = Schedule { when: When::Cron("0 0 30 2 *".into()), ..every(10) };
    assert!(matches!(stage.put(never), Err(ScheduleRefusal::Invalid(error)) if error.field == "cron"));
    let missing = stage.order(ScheduleAsk::Pause(name()));
    assert!(matches!(missing, Some(Reply::Refused(Refusal::Schedule(ScheduleRefusal::NoSuch(_))))));
}

/// A ledger that forgets never lets an occurrence fire again.
#[test]
fn the_ledger_is_bounded_and_what_it_forgot_cannot_be_backfilled() {
    let mut stage = with(|s| s.when = When::Every(Duration::from_secs(1)));
    let rows = u64::from(limits::LEDGER_ROWS);
    for _ in 0..(rows + 200) / 50 {
        stage.now.wall = stage.now.wall + Duration::from_secs(49);
        stage.seconds(1);
        for job in stage.jobs() {
            stage.ask(Ask::Cancel(job));
        }
    }
    let ledger = stage.ledger();
    assert!(ledger.len() as u64 <= rows * 60, "{}", ledger.len());
    let forgotten = stage.store.load().schedules[0].1.forgotten;
    assert!(ledger.iter().all(|row| row.due_at > forgotten));
    assert!(ledger.iter().any(|row| why(row) == Some(Why::Missed)));
    if forgotten > START {
        let range = ScheduleAsk::Backfill { name: name(), from: START, to: START + Duration::from_secs(5) };
        let refused = stage.order(range);
        assert!(matches!(refused, Some(Reply::Refused(Refusal::Schedule(ScheduleRefusal::Forgotten(_))))));
    }
}
