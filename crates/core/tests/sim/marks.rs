//! Effects that cannot be repeated, and the marks that say so.
//!
//! Some handlers ask for a mark in the middle of their run, and have their effect the moment they are told that it stands;
//! or find that it did not happen, and ask for the mark to be taken off. Whatever fails, no job may have two effects unless a
//! person replayed it in between.

use std::collections::{BTreeMap, BTreeSet};

use ganger_core::change::{After, AttemptEnd, EffectMark};
use ganger_core::job::State;
use ganger_core::message::Work;
use ganger_core::rules::Death;
use ganger_core::{Fence, JobId};

use crate::checker::Checker;
use crate::random::{setup, try_seed};
use crate::setup::{MS, S, Time};
use crate::stage::{ALICE, BOB, Stage, job};
use crate::store::{Sort, short};
use crate::stories::{Script, Told};
use crate::world::{Event, World};

/// Every story about marks.
pub(crate) const MARKS: [Script; 5] = [
    ("a worker that dies after its mark", dies_after_its_mark),
    ("a mark at a takeover", mark_at_a_takeover),
    ("a mark that is slow to be written", slow_mark),
    ("a takeover between an end and its mark", takeover_after_the_end),
    ("a question about a lost lease", question_about_a_lost_lease),
];

/// What is known about effects and their marks, told by what was written.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Leases under which a mark was ever written.
    ever: BTreeSet<Fence>,
    standing: BTreeMap<JobId, Fence>,
    /// How often a person had replayed the job when the lease was given.
    generations: BTreeMap<Fence, u32>,
    replays: BTreeMap<JobId, u32>,
    effects: BTreeMap<(JobId, u32), BTreeSet<Fence>>,
    /// How often it happened, so that a run can show that it did.
    pub(crate) had_effect: u64,
    pub(crate) taken_off: u64,
    pub(crate) unknown: u64,
    pub(crate) refused: u64,
}

impl Marks {
    pub(crate) fn given(&mut self, job: JobId, fence: Fence) {
        self.generations.insert(fence, self.replays.get(&job).copied().unwrap_or(0));
    }

    pub(crate) fn replayed(&mut self, job: JobId) {
        *self.replays.entry(job).or_default() += 1;
    }
}

impl Checker {
    /// A mark is put on, under the open lease of its job, or taken off.
    pub(crate) fn mark_written(&mut self, mark: EffectMark) {
        let EffectMark { job, fence, stands } = mark;
        if stands {
            let lease = self.jobs.get(&job).and_then(|record| record.lease).map(|(fence, _)| fence);
            // A handler may have ended its job in the store, of which the leader learns late.
            let own = lease == Some(fence) || self.elsewhere.contains(&fence);
            self.require(own, || format!("{} is marked under {fence}, not {lease:?}", short(job)));
            self.marks.ever.insert(fence);
            self.marks.standing.insert(job, fence);
        } else if self.marks.standing.get(&job) == Some(&fence) {
            self.marks.standing.remove(&job);
        }
    }

    /// Whoever is marked does not go on by itself, and nobody else dies of it.
    pub(crate) fn check_marked(&mut self, end: &AttemptEnd) {
        let marked = self.marks.standing.get(&end.job) == Some(&end.fence);
        match &end.after {
            After::Again { .. } => {
                self.require(!marked, || format!("{} is marked, and is to run again", short(end.job)));
            }
            After::Final { end: how, .. } if how.reason.as_deref() == Some(Death::Unknown.reason()) => {
                self.require(marked, || format!("{} is not marked, but its end unknown", short(end.job)));
                self.marks.unknown += 1;
            }
            After::Final { .. } => {}
        }
    }

    /// A handler was told that its mark stands, and does what cannot be repeated.
    fn has_effect(&mut self, job: JobId, fence: Fence) {
        self.note(|| format!("{} has its effect under {fence}", short(job)));
        self.marks.had_effect += 1;
        let written = self.marks.ever.contains(&fence);
        self.require(written, || format!("{} has its effect under {fence} without a mark", short(job)));
        let generation = self.marks.generations.get(&fence).copied().unwrap_or(0);
        let effects = self.marks.effects.entry((job, generation)).or_default();
        effects.insert(fence);
        let (first, last) = (effects.first().copied(), effects.last().copied());
        self.require(first == last, || {
            format!("{} has its effect under {first:?} and under {last:?}", short(job))
        });
    }
}

impl World {
    /// A handler that begins may be one whose effect cannot be repeated.
    pub(crate) fn plan_mark(&mut self, worker: usize, work: &Work, takes: Time) {
        let random = self.setup.faults.marks && self.rng.percent(70);
        let at = match self.workers[worker].marks {
            Some(at) => at,
            None if random => self.rng.below(takes.max(1)),
            None => return,
        };
        let life = self.workers[worker].life;
        self.after(at, Event::AsksMark { worker, life, fence: work.fence, stands: true });
    }

    pub(crate) fn asks_mark(&mut self, worker: usize, life: u32, fence: Fence, stands: bool) {
        let this = &mut self.workers[worker];
        if this.life != life || this.runs(fence).is_none() {
            return;
        }
        let mut acts = Vec::new();
        this.session.mark(fence, stands, &mut acts);
        self.act(worker, acts);
    }

    pub(crate) fn mark_answered(&mut self, worker: usize, fence: Fence, stands: bool) {
        let Some(job) = self.workers[worker].runs(fence) else { return };
        if !stands {
            let off = self.checker.marks.ever.contains(&fence);
            self.checker.marks.taken_off += u64::from(off);
            self.checker.marks.refused += u64::from(!off);
            return;
        }
        // The other side said no: it certainly did not happen.
        if self.setup.faults.marks && self.rng.one_in(4) {
            let (life, after) = (self.workers[worker].life, self.rng.range(1, 20 * MS));
            self.after(after, Event::AsksMark { worker, life, fence, stands: false });
            return;
        }
        self.checker.has_effect(job, fence);
    }
}

/// A stage on which Alice leads and handlers ask for a mark a tenth of a second after they began.
fn stage(homes: &[usize]) -> Stage {
    let mut stage = Stage::new(homes, 20 * S);
    for worker in &mut stage.world.workers {
        worker.marks = Some(100 * MS);
    }
    stage
}

fn has_had_effect(world: &World) -> bool {
    world.checker.marks.had_effect > 0
}

/// The mail is on its way, and the worker dies: nobody may send it again but a person.
fn dies_after_its_mark() -> Told {
    let mut stage = stage(&[ALICE, ALICE]);
    stage.wait_open(0);
    stage.wait_open(1);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.wait("the effect", has_had_effect);
    let at = usize::from(stage.world.workers[0].session.leases().next().is_none());
    stage.world.worker_stops(at, 10 * S);
    stage.wait("the job ends", |world| world.checker.is_dead(id));
    stage.expect(stage.starts(id) == 1, "it was not tried again");
    stage.finish().map(|_| ())
}

/// The same, and the leader that knew of the mark is gone too.
fn mark_at_a_takeover() -> Told {
    let mut stage = stage(&[ALICE, BOB]);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.wait("the effect", has_had_effect);
    stage.world.worker_stops(0, 60 * S);
    stage.take_over(BOB);
    stage.wait_open(1);
    stage.wait("the job ends, or runs again", |world| {
        world.checker.is_dead(id) || world.checker.starts.iter().filter(|job| **job == id).count() > 1
    });
    stage.finish().map(|_| ())
}

/// The mark takes seconds to be written, and its leader is deposed meanwhile: the handler must not have gone on.
fn slow_mark() -> Told {
    let mut stage = stage(&[ALICE, BOB]);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.run_for(50 * MS);
    stage.world.store.late = Some((ALICE, Sort::Commit, 3 * S));
    stage.run_for(S);
    stage.expect(!has_had_effect(&stage.world), "no effect before its mark is written");
    stage.take_over(BOB);
    stage.send_to(0, BOB);
    stage.run_for(5 * S);
    stage.finish().map(|_| ())
}

/// The worker died after its mark. Alice has written that, and nothing since; Bob finds the job dead, and a mark that means
/// nothing any more. Or, were they written the other way round, a lease without its mark.
fn takeover_after_the_end() -> Told {
    let mut stage = stage(&[ALICE, BOB]);
    stage.wait_open(0);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.wait("the effect", has_had_effect);
    stage.world.worker_stops(0, 60 * S);
    stage.wait("the mark is off", |world| !world.checker.marks.standing.contains_key(&id));
    stage.expect(stage.world.checker.is_dead(id), "the end comes before, or with, the end of the mark");
    stage.take_over(BOB);
    stage.wait_open(1);
    let world = stage.finish()?;
    let state = world.checker.jobs.get(&id).and_then(|record| record.end.as_ref()).map(|end| end.state);
    if state == Some(State::Dead) { Ok(()) } else { Err(format!("the job is {state:?}")) }
}

/// The worker was given up for lost, and comes back with its handler still running. The job is another attempt's now, which
/// may be about to do the same: the handler is refused its mark.
fn question_about_a_lost_lease() -> Told {
    let mut stage = Stage::new(&[ALICE], 40 * S);
    stage.world.workers[0].let_handlers_finish();
    stage.world.worker_stops(0, 100 * MS);
    stage.run_for(S);
    stage.wait_open(0);
    stage.world.workers[0].marks = Some(30 * S);
    let id = stage.submit(job(5));
    stage.wait_started(id, 1);
    stage.world.workers[0].marks = None;
    stage.world.part(0, None, 20 * S);
    stage.run_for(35 * S);
    stage.expect(stage.starts(id) == 2, "it was given up for lost, and runs again");
    stage.expect(stage.world.checker.marks.refused == 1, "the handler of the lost lease is refused");
    stage.finish().map(|_| ())
}

/// Without this the random runs would say nothing about marks.
#[test]
fn marks_meet_every_trouble() {
    let (mut effects, mut taken_off, mut unknown, mut refused) = (0, 0, 0, 0);
    for seed in (1..1_200).step_by(4) {
        if let Ok(world) = try_seed(setup(seed, false)) {
            let marks = &world.checker.marks;
            effects += marks.had_effect;
            taken_off += marks.taken_off;
            unknown += marks.unknown;
            refused += marks.refused;
        }
    }
    let seen = (effects, taken_off, unknown, refused);
    assert!(effects > 500 && taken_off > 100 && unknown > 50 && refused > 4, "{seen:?}");
}

#[test]
fn marks_hold() {
    for (name, script) in MARKS {
        script().unwrap_or_else(|what| panic!("{name}: {what}"));
    }
}
