//! Schedules and the ledger of their firings.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{Applied, Change, NewJob};
use ganger_core::ids::ScheduleId;
use ganger_core::job::Origin;
use ganger_core::schedule::ledger::{Cause, Fate, Firing, Occurrence, ScheduleChange, Skip, Why};
use ganger_core::schedule::{Misfire, Overlap, Schedule, ScheduleRecord, Standing, When};
use ganger_core::{JobId, Wall};

use super::leader::{Leader, START, spec};
use crate::store::Store;

const EVERY: Duration = Duration::from_secs(60);

fn record(number: u8) -> ScheduleRecord {
    let schedule = Schedule {
        name: format!("schedule-{number}").parse().unwrap(),
        when: When::Cron("*/5 * * * MON-FRI".into()),
        time_zone: "Europe/Berlin".into(),
        starts_at: Some(START),
        ends_at: None,
        misfire: Misfire::FireAll(EVERY),
        overlap: Overlap::QueueOne,
        jitter: EVERY,
        paused: false,
        job: spec("report"),
    };
    let id = ScheduleId::new(START.unix_millis(), [number; 10]);
    ScheduleRecord { id, created_at: START, updated_at: START, schedule }
}

fn standing(settled: Wall) -> Standing {
    Standing { settled, waiting: Some(START), gap: Some((START, settled)), ..Standing::default() }
}

/// The n-th instant.
fn instant(n: u32) -> Wall {
    START + EVERY * n
}

fn put(record: &ScheduleRecord) -> Change {
    Change::Schedule(Box::new(ScheduleChange::Put(record.clone(), standing(START))))
}

impl Leader {
    fn job_of(&mut self, record: &ScheduleRecord, due_at: Wall) -> NewJob {
        let mut job = spec("report");
        let name = record.schedule.name.clone();
        job.options.schedule = Some(Box::new(Origin { id: record.id, name, due_at }));
        self.new_job(job)
    }

    fn firing(&mut self, record: &ScheduleRecord, rows: &[(u32, Cause, Option<Fate>)]) -> Firing {
        let (mut occurrences, mut jobs) = (Vec::new(), Vec::new());
        for (n, cause, fate) in rows {
            let (due_at, cause) = (instant(*n), *cause);
            let fate = fate.clone().unwrap_or_else(|| {
                let job = self.job_of(record, due_at);
                let id = job.id;
                jobs.push(job);
                Fate::Fired(id)
            });
            occurrences.push(Occurrence { due_at, decided_at: self.now, cause, fate });
        }
        let settled = occurrences.last().map_or(START, |row| row.due_at);
        let (schedule, name) = (record.id, record.schedule.name.clone());
        Firing { schedule, name, standing: standing(settled), occurrences, jobs, forget: None }
    }

    async fn fire(&mut self, firing: Firing) -> Vec<Option<Fate>> {
        let applied = self.commit_one(Change::Schedule(Box::new(ScheduleChange::Fire(firing)))).await;
        let Applied::Fired(fates) = applied else { panic!("not fired: {applied:?}") };
        fates
    }

    async fn ledger(&self, record: &ScheduleRecord) -> Vec<(Wall, Fate)> {
        let rows = self.store.occurrences(record.id, None, usize::MAX).await.unwrap();
        rows.into_iter().map(|row| (row.due_at, row.fate)).collect()
    }

    async fn is_there(&self, job: JobId) -> bool {
        !self.store.jobs(&[job], self.now).await.unwrap().is_empty()
    }
}

fn skipped(why: Why) -> Fate {
    Fate::Skipped(Skip::one(why, None))
}

pub(super) async fn a_schedule_reads_back_whole_and_goes_with_its_ledger(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let (first, mut second) = (record(1), record(2));
    leader.commit(vec![put(&first), put(&second)]).await;
    second.schedule.paused = true;
    second.schedule.job.payload = format!("\"{}\"", "\\u0000".repeat(2_000));
    leader.commit_one(put(&second)).await;
    let firing = leader.firing(&first, &[(1, Cause::Schedule, None)]);
    let (job, stands) = (firing.jobs[0].id, firing.standing);
    leader.fire(firing).await;
    let loaded = leader.store.load().await.unwrap().schedules;
    assert_eq!(loaded, [(first.clone(), stands), (second.clone(), standing(START))]);
    leader.commit_one(Change::Schedule(Box::new(ScheduleChange::Delete(first.id)))).await;
    assert_eq!(leader.store.load().await.unwrap().schedules, [(second, standing(START))]);
    assert_eq!(leader.ledger(&first).await, []);
    assert!(leader.is_there(job).await, "its jobs stay");
}

pub(super) async fn an_occurrence_is_written_with_its_job_and_fires_once(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let record = record(1);
    leader.commit_one(put(&record)).await;
    let first = leader.firing(&record, &[(1, Cause::Schedule, None), (2, Cause::Schedule, None)]);
    let jobs: Vec<JobId> = first.jobs.iter().map(|job| job.id).collect();
    let origin = first.jobs[0].spec.options.schedule.clone();
    assert_eq!(leader.fire(first).await, [Some(Fate::Fired(jobs[0])), Some(Fate::Fired(jobs[1]))]);
    let stored = leader.store.jobs(&jobs, leader.now).await.unwrap();
    assert_eq!(stored.len(), 2);
    assert_eq!(stored[0].spec.options.schedule, origin);
    for cause in Cause::ALL {
        let again = leader.firing(&record, &[(2, cause, None), (3, cause, Some(Fate::Waiting))]);
        let job = again.jobs[0].id;
        assert_eq!(leader.fire(again).await[0], None, "{cause:?}");
        assert!(!leader.is_there(job).await, "{cause:?}");
    }
    let (one, two) = (Fate::Fired(jobs[0]), Fate::Fired(jobs[1]));
    let rows = vec![(instant(3), Fate::Waiting), (instant(2), two), (instant(1), one)];
    assert_eq!(leader.ledger(&record).await, rows);
}

pub(super) async fn a_row_moves_only_as_the_ledger_allows(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let record = record(1);
    leader.commit_one(put(&record)).await;
    let (paused, waiting) = (Some(skipped(Why::Paused)), Some(Fate::Waiting));
    let rows = [(1, Cause::Schedule, paused.clone()), (2, Cause::Schedule, waiting)];
    let first = leader.firing(&record, &rows);
    assert_eq!(leader.fire(first).await, [paused.clone(), Some(Fate::Waiting)]);
    let late = leader.firing(&record, &[(1, Cause::Schedule, None), (2, Cause::Schedule, None)]);
    let fired = Fate::Fired(late.jobs[1].id);
    assert_eq!(leader.fire(late).await, [None, Some(fired.clone())]);
    let backfill = leader.firing(&record, &[(1, Cause::Backfill, None), (2, Cause::Backfill, None)]);
    let made_up = Fate::Fired(backfill.jobs[0].id);
    assert_eq!(leader.fire(backfill).await, [Some(made_up.clone()), None]);
    assert_eq!(leader.ledger(&record).await, [(instant(2), fired), (instant(1), made_up)]);
}

/// As when the answer was lost: the same batch is answered the same, and writes nothing.
pub(super) async fn a_firing_that_is_sent_again_is_answered_the_same(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let record = record(1);
    leader.commit_one(put(&record)).await;
    let earlier = leader.firing(&record, &[(1, Cause::Schedule, None)]);
    leader.fire(earlier).await;
    let firing = leader.firing(&record, &[(1, Cause::Backfill, None), (2, Cause::Schedule, None)]);
    let fates = leader.fire(firing.clone()).await;
    assert_eq!(fates[0], None);
    leader.number -= 1;
    assert_eq!(leader.fire(firing).await, fates);
    assert_eq!(leader.ledger(&record).await.len(), 2);
}

pub(super) async fn a_unique_key_in_the_way_is_told_in_the_ledger(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let record = record(1);
    leader.commit_one(put(&record)).await;
    let mut firing = leader.firing(&record, &[(1, Cause::Schedule, None), (2, Cause::Schedule, None)]);
    for job in &mut firing.jobs {
        job.spec.options.unique_key = Some("one".into());
    }
    let (first, second) = (firing.jobs[0].id, firing.jobs[1].id);
    let held = Fate::Skipped(Skip::one(Why::UniqueKey, Some(first)));
    assert_eq!(leader.fire(firing).await, [Some(Fate::Fired(first)), Some(held.clone())]);
    assert!(!leader.is_there(second).await);
    assert_eq!(leader.ledger(&record).await, [(instant(2), held), (instant(1), Fate::Fired(first))]);
}

pub(super) async fn a_refused_batch_leaves_the_ledger_alone(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let record = record(1);
    leader.commit_one(put(&record)).await;
    let known = leader.submit(spec("report")).await;
    let mut firing = leader.firing(&record, &[(1, Cause::Schedule, None), (2, Cause::Schedule, None)]);
    firing.jobs[1].id = known;
    firing.occurrences[1].fate = Fate::Fired(known);
    let first = firing.jobs[0].id;
    leader.refused(vec![Change::Schedule(Box::new(ScheduleChange::Fire(firing)))]).await;
    assert_eq!(leader.ledger(&record).await, []);
    assert!(!leader.is_there(first).await);
    assert_eq!(leader.store.load().await.unwrap().schedules, [(record, standing(START))]);
}

pub(super) async fn a_ledger_pages_and_is_forgotten_up_to_an_instant(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let (record, other) = (record(1), record(2));
    leader.commit(vec![put(&record), put(&other)]).await;
    let many = Fate::Skipped(Skip { why: Why::Missed, job: None, since: Some(START), count: 9 });
    let rows: Vec<_> = (1..=10).map(|n| (n, Cause::Schedule, Some(many.clone()))).collect();
    for record in [&record, &other] {
        let firing = leader.firing(record, &rows);
        leader.fire(firing).await;
    }
    let page = leader.store.occurrences(record.id, Some(instant(8)), 3).await.unwrap();
    let shown: Vec<Wall> = page.iter().map(|row| row.due_at).collect();
    assert_eq!(shown, [instant(7), instant(6), instant(5)]);
    assert_eq!(page[0].fate, many);
    let mut firing = leader.firing(&record, &[(3, Cause::Schedule, None), (11, Cause::Schedule, None)]);
    firing.forget = Some(instant(4));
    let fates = leader.fire(firing).await;
    assert!(fates.iter().all(Option::is_some), "what is forgotten is not in the way");
    assert_eq!(leader.ledger(&record).await.len(), 8);
    assert_eq!(leader.ledger(&other).await.len(), 10);
}
