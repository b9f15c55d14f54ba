//! Memory compared with the store, at any moment and among all faults: no difference is ever found that nobody made, and
//! those that a script makes are found and repaired. Also parents that are removed while jobs wait for them, which the
//! same reads notice.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::{LiveJob, LivePage, LiveQuery, NewJob};
use ganger_core::coordinator::port::{Ask, Reconciled};
use ganger_core::coordinator::reconcile::Corruption;
use ganger_core::dependency::{Dependency, OnDead};
use ganger_core::event::Difference;
use ganger_core::job::{JobSpec, State};
use ganger_core::outcome::Report;
use ganger_core::queue::QueueSettings;

use crate::checker::Checker;
use crate::client::Errand;
use crate::random::{setup, try_seed};
use crate::server::Role;
use crate::setup::{MS, S, Time, wall};
use crate::stage::{ALICE, BOB, Stage, job};
use crate::store::{Sort, short};
use crate::stories::{Script, Told};
use crate::world::World;

/// Every scenario.
pub(crate) const RECONCILE: [Script; 10] = [
    ("a page while a batch is written", page_while_a_batch_is_written),
    ("a page that is long under way", page_under_way),
    ("a page of another term", page_of_another_term),
    ("a job that memory has lost", job_lost),
    ("a job that only memory has", job_left_over),
    ("a job that is due at another time", job_moved),
    ("a blocked job that memory has lost", blocked_job_lost),
    ("a blocked job without its edges", edges_lost),
    ("a lease that memory has lost", lease_lost),
    ("a parent that is removed", parent_removed),
];

impl Checker {
    /// A leader says that its memory and the store do not agree.
    pub(crate) fn differs(&mut self, job: JobId, what: Difference) {
        self.differences.push((job, what));
        let damaged = self.damaged;
        self.require(damaged, || format!("{} is said to differ: {what:?}", short(job)));
    }

    /// Final jobs were removed by name.
    pub(crate) fn deleted(&mut self, jobs: &[JobId]) {
        let finals = jobs.iter().filter(|job| self.jobs.get(job).is_some_and(|record| record.end.is_some()));
        let finals: Vec<JobId> = finals.copied().collect();
        self.purged.extend(finals);
    }

    /// A job is cancelled because a parent was removed: it waited for one that was.
    pub(crate) fn check_bereft(&mut self, job: JobId) {
        let mut edges = self.edges.get(&job).into_iter().flatten();
        let lawful = edges.any(|edge| edge.ended.is_none() && self.purged.contains(&edge.parent));
        self.require(lawful, || format!("{} is cancelled, and its parents are there", short(job)));
    }
}

impl World {
    /// What a leader reads of live jobs, from a replica that lags at times.
    pub(crate) fn live_page(&mut self, query: &LiveQuery) -> LivePage {
        let lags = !self.healed && self.rng.one_in(5);
        match &self.store.replica {
            Some(replica) if lags => replica.live(query),
            Some(_) | None => self.store.state.live(query),
        }
    }

    /// The replica catches up, now and then.
    pub(crate) fn replicate(&mut self) {
        if self.setup.faults.reconciles && self.rng.one_in(4) {
            self.store.replica = Some(Box::new(self.store.state.clone()));
        }
    }
}

/// A stage on which leaders compare all the time.
fn reconciled(homes: &[usize], takes: Time) -> Stage {
    let mut stage = Stage::new(homes, takes);
    stage.world.setup.faults.reconciles = true;
    // The options are those of a new leader.
    stage.take_over(BOB);
    stage.take_over(ALICE);
    stage
}

fn later(after: Time) -> JobSpec {
    let mut spec = job(3);
    spec.run_at = Some(wall(after));
    spec
}

fn damage(stage: &mut Stage, job: JobId, how: Corruption) {
    stage.world.checker.damaged = true;
    let done = match &mut stage.world.servers[ALICE].role {
        Role::Leading(leading) => leading.coordinator.corrupt(job, how),
        Role::Down | Role::Standby | Role::TakingOver { .. } => false,
    };
    stage.expect(done, "the job is in memory");
}

fn wait_difference(stage: &mut Stage, job: JobId, what: Difference) {
    stage.wait("the difference is found", |world| world.checker.differences.contains(&(job, what)));
    // It is repaired, or the next pass would find it again.
    let found = stage.world.checker.differences.len();
    stage.run_for(2 * S);
    stage.expect(stage.world.checker.differences.len() == found, "one difference, found once");
}

fn state(stage: &Stage, id: JobId) -> Option<State> {
    stage.world.store.state.jobs(&[id], wall(stage.world.now)).pop().map(|job| job.state)
}

/// Batches take long, so that most pages are asked for while one is being written.
fn page_while_a_batch_is_written() -> Told {
    let mut stage = reconciled(&[ALICE, ALICE], 50 * MS);
    stage.wait_open(0);
    stage.wait_open(1);
    stage.world.store.late = Some((ALICE, Sort::Commit, 150 * MS));
    for _ in 0..20 {
        stage.send(job(3));
        stage.run_for(90 * MS);
    }
    stage.world.store.late = None;
    stage.finish().map(|_| ())
}

/// Pages take long, and much is written meanwhile.
fn page_under_way() -> Told {
    let mut stage = reconciled(&[ALICE, ALICE], 30 * MS);
    stage.wait_open(0);
    stage.wait_open(1);
    stage.world.store.late = Some((ALICE, Sort::Live, 250 * MS));
    for _ in 0..20 {
        stage.send(job(3));
        stage.run_for(70 * MS);
    }
    stage.world.store.late = None;
    stage.finish().map(|_| ())
}

/// Bob takes over and works. Alice does not know it, and asks for a page.
fn page_of_another_term() -> Told {
    let mut stage = reconciled(&[ALICE, BOB], 100 * MS);
    stage.wait_open(0);
    let waiting: Vec<JobId> = (0..4).map(|_| stage.submit(later(stage.world.now + 4 * S))).collect();
    // She asks for nothing but pages, so nothing else tells her.
    stage.just_renewed();
    stage.take_over(BOB);
    stage.wait_open(1);
    for job in &waiting {
        stage.world.send_ask(Errand::Other, Ask::Cancel(*job));
    }
    stage.run_for(S);
    stage.finish().map(|_| ())
}

fn job_lost() -> Told {
    let mut stage = reconciled(&[ALICE], 50 * MS);
    stage.wait_open(0);
    let lost = stage.submit(later(stage.world.now + 8 * S));
    damage(&mut stage, lost, Corruption::Dropped);
    wait_difference(&mut stage, lost, Difference::Missing);
    stage.wait_started(lost, 1);
    stage.finish().map(|_| ())
}

/// The store knows nothing of it: it vanishes, and its counters with it, which the end compares.
fn job_left_over() -> Told {
    let mut stage = reconciled(&[ALICE], 50 * MS);
    stage.wait_open(0);
    let there = stage.submit(later(stage.world.now + 8 * S));
    let id = JobId::new(7, [7; 10]);
    let due_at = wall(stage.world.now) + Duration::from_secs(3_600);
    let new = NewJob { id, spec: job(3), seq: 0, created_at: wall(stage.world.now), due_at };
    let now = stage.world.servers[ALICE].clock.now(stage.world.now);
    stage.world.checker.damaged = true;
    if let Role::Leading(leading) = &mut stage.world.servers[ALICE].role {
        leading.coordinator.invent(now, &LiveJob::from(&new));
    }
    wait_difference(&mut stage, id, Difference::LeftOver);
    stage.wait_started(there, 1);
    stage.finish().map(|_| ())
}

fn job_moved() -> Told {
    let mut stage = reconciled(&[ALICE], 50 * MS);
    stage.wait_open(0);
    let moved = stage.submit(later(stage.world.now + 6 * S));
    damage(&mut stage, moved, Corruption::Moved);
    wait_difference(&mut stage, moved, Difference::Moved);
    stage.wait_started(moved, 1);
    stage.finish().map(|_| ())
}

/// A parent that runs for long, and the job that waits for it.
fn family(stage: &mut Stage) -> (JobId, JobId) {
    stage.wait_open(0);
    let parent = stage.submit(job(3));
    let mut spec = job(3);
    spec.depends_on = vec![Dependency { job: parent, on_dead: OnDead::Cancel }];
    let child = stage.submit(spec);
    stage.wait_started(parent, 1);
    (parent, child)
}

fn blocked_job_lost() -> Told {
    let mut stage = reconciled(&[ALICE, ALICE], 5 * S);
    let (parent, child) = family(&mut stage);
    damage(&mut stage, child, Corruption::Dropped);
    wait_difference(&mut stage, child, Difference::Missing);
    stage.expect(state(&stage, child) == Some(State::Blocked), "it waits again");
    stage.wait_started(child, 1);
    stage.expect(state(&stage, parent) == Some(State::Succeeded), "the parent came first");
    stage.finish().map(|_| ())
}

fn edges_lost() -> Told {
    let mut stage = reconciled(&[ALICE, ALICE], 5 * S);
    let (parent, child) = family(&mut stage);
    damage(&mut stage, child, Corruption::Unlinked);
    wait_difference(&mut stage, child, Difference::Edges);
    stage.wait_started(child, 1);
    stage.expect(state(&stage, parent) == Some(State::Succeeded), "the parent came first");
    stage.finish().map(|_| ())
}

/// Nothing less than another load can set that right; the job runs on, once.
fn lease_lost() -> Told {
    let mut stage = reconciled(&[ALICE], 4 * S);
    stage.wait_open(0);
    let id = stage.submit(job(3));
    stage.wait_started(id, 1);
    stage.run_for(100 * MS);
    damage(&mut stage, id, Corruption::LeaseDropped);
    stage.wait("the difference is found", |world| {
        world.checker.differences.contains(&(id, Difference::Lease))
    });
    stage.world.workers[0].only = None;
    stage.wait("the job has ended", |world| {
        world.checker.jobs.get(&id).is_some_and(|record| record.end.is_some())
    });
    stage.expect(stage.starts(id) == 1, "it ran once");
    stage.finish().map(|_| ())
}

/// A job waits for a dead parent to be replayed, and the parent is removed: under the leader that was asked, and just
/// before the next one begins.
fn parent_removed() -> Told {
    for leader_dies in [false, true] {
        let mut stage = Stage::new(&[ALICE, BOB], 50 * MS);
        stage.wait_open(0);
        stage.world.workers[0].script = Some((50 * MS, Report::Error("no".into())));
        let parent = stage.submit(job(1));
        stage.wait("the parent is dead", |world| world.checker.is_dead(parent));
        let mut spec = job(3);
        spec.depends_on = vec![Dependency { job: parent, on_dead: OnDead::Wait }];
        let child = stage.submit(spec);
        stage.run_for(S);
        stage.expect(state(&stage, child) == Some(State::Blocked), "the child waits for a replay");
        if leader_dies {
            stage.world.store.unanswered = Some((ALICE, stage.world.now + 20 * S));
        }
        stage.world.send_ask(Errand::Other, Ask::Delete(vec![parent]));
        stage.wait("the parent is gone", |world| world.checker.purged.contains(&parent));
        if leader_dies {
            stage.world.crash_server(ALICE, 60 * S);
            stage.take_over(BOB);
        }
        stage.wait("the child is cancelled", |world| {
            let end = world.checker.jobs.get(&child).and_then(|record| record.end.as_ref());
            end.is_some_and(|end| end.state == State::Cancelled)
        });
        stage.finish().map(|_| ())?;
    }
    Ok(())
}

#[test]
fn the_scenarios_hold() {
    for (name, script) in RECONCILE {
        script().unwrap_or_else(|what| panic!("{name}: {what}"));
    }
}

/// A paused queue holds its jobs still, so that every one of them is compared, and none found wanting.
#[test]
fn everything_that_rests_is_compared() {
    let mut stage = reconciled(&[ALICE], 50 * MS);
    let settings = QueueSettings { paused: true, ..QueueSettings::default() };
    stage.world.send_ask(Errand::Other, Ask::PutQueue("default".parse().expect("a queue"), settings));
    stage.run_for(S);
    for _ in 0..10 {
        stage.submit(job(3));
    }
    stage.world.checker.reconciled.clear();
    stage.run_for(3 * S);
    let last = stage.world.checker.reconciled.last().copied().unwrap_or_default();
    assert_eq!(last, Reconciled { pages: 4, compared: 10, skipped: 0, differences: 0 });
    stage.finish().map(|_| ()).unwrap_or_else(|what| panic!("{what}"));
}

/// Without this the random runs would say nothing about comparing.
#[test]
fn memory_is_compared_in_the_random_runs() {
    let (mut all, mut passes) = (Reconciled::default(), 0);
    for seed in 0..200 {
        if let Ok(world) = try_seed(setup(seed, false)) {
            passes += world.checker.reconciled.len();
            for came in &world.checker.reconciled {
                all.compared += came.compared;
                all.skipped += came.skipped;
                all.pages += came.pages;
            }
        }
    }
    assert!(passes > 2_000 && all.compared > 2_000 && all.skipped > 50, "{passes} passes, {all:?}");
}
