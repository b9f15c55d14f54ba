//! Jobs that wait for others: what must hold of them, and scenarios.

use ganger_core::JobId;
use ganger_core::change::{End, Intake, Submission};
use ganger_core::coordinator::port::Ask;
use ganger_core::dependency::{self, Dependency, OnDead};
use ganger_core::job::{JobSpec, State};
use ganger_core::outcome::Report;

use crate::checker::Checker;
use crate::client::Errand;
use crate::random::{setup, try_seed};
use crate::setup::{MS, S, wall};
use crate::stage::{ALICE, BOB, Stage, job};
use crate::store::short;
use crate::stories::{Script, Told};
use crate::world::World;

/// How often what happened to jobs with parents, so that a run can show that it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Families {
    /// A job was blocked.
    pub(crate) blocked: u64,
    /// A blocked job was released.
    pub(crate) released: u64,
    /// A job was cancelled because of a parent.
    pub(crate) cancelled: u64,
    /// A job was released although a parent had died.
    pub(crate) anyway: u64,
}

impl std::ops::AddAssign for Families {
    fn add_assign(&mut self, more: Families) {
        self.blocked += more.blocked;
        self.released += more.released;
        self.cancelled += more.cancelled;
        self.anyway += more.anyway;
    }
}

impl Checker {
    /// Jobs were taken in with parents.
    pub(crate) fn linked(&mut self, submission: &Submission, intakes: &[Intake]) {
        for mut edge in dependency::edges(&submission.jobs, intakes) {
            let end = self.jobs.get(&edge.parent).and_then(|record| record.end.as_ref());
            edge.ended = end.map(|end| end.state).filter(|state| edge.on_dead.settled_by(*state));
            self.edges.entry(edge.child).or_default().push(edge);
        }
        let blocked = submission.jobs.iter().filter(|job| dependency::is_parked(job.due_at)).count();
        self.families.blocked += blocked as u64;
    }

    /// A job has ended: that settles edges for good.
    pub(crate) fn parent_ended(&mut self, parent: JobId, state: State) {
        for edge in self.edges.values_mut().flatten() {
            if edge.parent == parent && edge.ended.is_none() && edge.on_dead.settled_by(state) {
                edge.ended = Some(state);
            }
        }
    }

    /// A blocked job is released: every parent must have ended in a way that allows it, and that must be written.
    pub(crate) fn check_release(&mut self, job: JobId) {
        if !self.jobs.get(&job).is_some_and(|record| dependency::is_parked(record.due_at)) {
            return;
        }
        let edges = self.edges.get(&job).cloned().unwrap_or_default();
        self.families.released += 1;
        for edge in edges {
            let lawful = edge.ended.is_some_and(|end| !edge.on_dead.cancelled_by(end));
            self.families.anyway += u64::from(edge.ended.is_some_and(|end| end != State::Succeeded));
            self.require(lawful, || {
                let (child, parent) = (short(job), short(edge.parent));
                format!("{child} is released before {parent}, which is {:?}", edge.ended)
            });
        }
    }

    /// A job ends because of a parent: that must be so.
    pub(crate) fn check_cancelled_child(&mut self, job: JobId, end: &End) {
        if !end.reason.as_deref().is_some_and(|reason| reason.starts_with("its parent")) {
            return;
        }
        self.families.cancelled += 1;
        if end.reason.as_deref().is_some_and(|reason| reason.ends_with("was purged")) {
            self.check_bereft(job);
            return;
        }
        let edges = self.edges.get(&job).into_iter().flatten();
        let lawful = edges.clone().any(|edge| edge.ended.is_some_and(|end| edge.on_dead.cancelled_by(end)));
        self.require(lawful && end.state == State::Cancelled, || {
            format!("{} is {} without a reason", short(job), end.state.as_str())
        });
    }
}

impl World {
    /// Parents for a new job, among those that clients know of.
    pub(crate) fn choose_parents(&mut self, count: usize) -> Vec<Dependency> {
        let known: Vec<JobId> = self.clients.iter().filter_map(|client| client.job).collect();
        let known: Vec<JobId> = known.into_iter().filter(|job| self.checker.jobs.contains_key(job)).collect();
        let mut chosen = Vec::new();
        for _ in 0..count.min(known.len()) {
            let on_dead = OnDead::ALL[self.rng.index(3)];
            chosen.push(Dependency { job: known[self.rng.index(known.len())], on_dead });
        }
        chosen
    }

    /// A person gives up on what waits for a parent that will not succeed.
    pub(crate) fn cancel_waiting(&mut self) {
        let ended = |job: &JobId| self.checker.jobs.get(job).is_some_and(|record| record.end.is_some());
        let waits = |job: &JobId| {
            let mut edges = self.checker.edges.get(job).into_iter().flatten();
            edges.any(|edge| edge.on_dead == OnDead::Wait && edge.ended.is_none() && ended(&edge.parent))
        };
        let stuck: Vec<JobId> = self.checker.open_jobs().map(|(id, _)| id).filter(waits).collect();
        for job in stuck {
            self.send_ask(Errand::Other, Ask::Cancel(job));
        }
    }
}

/// Every scenario.
pub(crate) const PARENTS: [Script; 4] = [
    ("a leader that dies after the parent's end", leader_dies_after_the_end),
    ("a leader that dies while a job is blocked", leader_dies_while_blocked),
    ("a parent that is tried again", parent_is_tried_again),
    ("a parent that its handler ends", parent_is_completed),
];

fn child_of(parent: JobId, on_dead: OnDead) -> JobSpec {
    let mut spec = job(3);
    spec.depends_on = vec![Dependency { job: parent, on_dead }];
    spec
}

fn state(stage: &Stage, id: JobId) -> Option<State> {
    stage.world.store.state.jobs(&[id], wall(stage.world.now)).pop().map(|job| job.state)
}

/// The parent's end is written, Alice never learns of it, and so never decides what follows.
fn leader_dies_after_the_end() -> Told {
    let mut stage = Stage::new(&[ALICE], S);
    stage.wait_open(0);
    let parent = stage.submit(job(3));
    let child = stage.submit(child_of(parent, OnDead::Cancel));
    stage.wait_started(parent, 1);
    stage.expect(state(&stage, child) == Some(State::Blocked), "the child is blocked");
    stage.world.store.unanswered = Some((ALICE, stage.world.now + 20 * S));
    stage.wait("the parent's end is written", |world| {
        world.checker.jobs.get(&parent).is_some_and(|record| record.end.is_some())
    });
    stage.world.crash_server(ALICE, 60 * S);
    stage.take_over(BOB);
    stage.send_to(0, BOB);
    stage.wait_started(child, 1);
    stage.expect(stage.starts(parent) == 1, "the parent ran once");
    stage.finish().map(|_| ())
}

/// Bob must know whom the child waits for, while the parent runs on.
fn leader_dies_while_blocked() -> Told {
    let mut stage = Stage::new(&[ALICE, ALICE], 4 * S);
    stage.wait_open(0);
    stage.wait_open(1);
    let parent = stage.submit(job(3));
    let child = stage.submit(child_of(parent, OnDead::Cancel));
    stage.wait_started(parent, 1);
    stage.world.crash_server(ALICE, 60 * S);
    stage.take_over(BOB);
    stage.send_to(0, BOB);
    stage.send_to(1, BOB);
    stage.wait("the child runs", |world| world.checker.starts.contains(&child));
    stage.expect(state(&stage, parent) == Some(State::Succeeded), "the parent has succeeded before");
    stage.finish().map(|_| ())
}

/// An attempt that fails is not the end of the parent.
fn parent_is_tried_again() -> Told {
    let mut stage = Stage::new(&[ALICE, ALICE], 300 * MS);
    stage.wait_open(0);
    stage.wait_open(1);
    for worker in &mut stage.world.workers {
        worker.script = Some((300 * MS, Report::Error("no".into())));
    }
    let parent = stage.submit(job(3));
    let child = stage.submit(child_of(parent, OnDead::Run));
    stage.wait("the parent is dead", |world| world.checker.is_dead(parent));
    stage.expect(stage.starts(parent) == 3 && stage.starts(child) == 0, "the child waited for all attempts");
    stage.wait_started(child, 1);
    stage.finish().map(|_| ())
}

/// The handler ends the parent in its own transaction, and its process dies: to the leader the attempt is lost.
fn parent_is_completed() -> Told {
    let mut stage = crate::doors::stage(&[ALICE]);
    stage.wait_open(0);
    let parent = stage.submit(job(1));
    let child = stage.submit(child_of(parent, OnDead::Cancel));
    stage.wait_started(parent, 1);
    stage.run_for(100 * MS);
    let fence = stage.fence(parent).unwrap_or_default();
    stage.world.complete(0, None, parent, fence);
    let session = stage.world.workers[0].session.id();
    stage.world.crash_worker(0);
    stage.world.worker_died(session);
    stage.wait("the child is not blocked any more", |world| {
        let found = world.store.state.jobs(&[child], wall(world.now)).pop();
        found.is_some_and(|job| job.state != State::Blocked)
    });
    stage.expect(state(&stage, child) != Some(State::Cancelled), "the parent has succeeded, not died");
    stage.finish().map(|_| ())
}

#[test]
fn the_scenarios_hold() {
    for (name, script) in PARENTS {
        script().unwrap_or_else(|what| panic!("{name}: {what}"));
    }
}

/// Without this the random runs would say nothing about dependencies.
#[test]
fn jobs_wait_for_others_in_every_way() {
    let mut families = Families::default();
    for seed in 0..300 {
        if let Ok(world) = try_seed(setup(seed, false)) {
            families += world.checker.families;
        }
    }
    let Families { blocked, released, cancelled, anyway } = families;
    assert!(blocked > 300 && released > 200 && cancelled > 20 && anyway > 20, "{families:?}");
}
