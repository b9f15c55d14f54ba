//! Limits and closed keys: what no leader may forget, and no commit may lose.
//!
//! In a limited world each queue runs two jobs at a time and each key one. The limits are there from the start and stay, so
//! that every lease can be compared with them, whoever gave it.

use std::time::Duration;

use ganger_core::change::{AttemptEnd, Batch, Change, KeyClosure};
use ganger_core::coordinator::port::Ask;
use ganger_core::job::JobSpec;
use ganger_core::outcome::{Outcome, Report};
use ganger_core::queue::{Limits, QueueSettings};
use ganger_core::{JobId, Wall};

use crate::checker::Checker;
use crate::client::{Errand, QUEUES};
use crate::random::{setup, try_seed};
use crate::setup::{MS, S, wall};
use crate::stage::{ALICE, BOB, Stage, job};
use crate::store::short;
use crate::stories::{Script, Told};
use crate::world::World;

/// What a handler asks for when the other side is throttled.
pub(crate) const THROTTLED: Duration = Duration::from_millis(600);
/// Leases of a queue at a time.
const OF_QUEUE: usize = 2;
/// Leases of a key at a time.
const OF_KEY: usize = 1;
const KEYS: [&str; 2] = ["k0", "k1"];

/// Every story about limits.
pub(crate) const LIMITS: [Script; 4] = [
    ("a limit at a takeover", limit_at_a_takeover),
    ("a closed key at a takeover", closed_at_a_takeover),
    ("a handler that closes its key", handler_closes_its_key),
    ("a duplicate that counts no more", duplicate_counts_no_more),
];

impl World {
    /// The settings of every queue of the run.
    pub(crate) fn queue_settings(&self, paused: bool) -> QueueSettings {
        let mut settings = QueueSettings { paused, ..QueueSettings::default() };
        if self.setup.faults.limited {
            settings.limits.max_running = u32::try_from(OF_QUEUE).ok();
            settings.keys = Limits { max_running: u32::try_from(OF_KEY).ok(), ..Limits::default() };
            if self.setup.faults.rated {
                crate::rates::rate(&mut settings);
            }
        }
        settings
    }

    /// Sets the limits, before anybody leads.
    pub(crate) fn limit(&mut self) {
        let settings = self.queue_settings(false);
        let put = |name: &str| Change::PutQueue(name.parse().expect("a queue"), settings);
        let changes = QUEUES.iter().chain(&["default"]).map(|name| put(name)).collect();
        let term = self.store.state.take_over("nobody", 0, 1);
        let written = self.store.state.commit(term, &Batch { number: 1, changes, ..Batch::default() });
        self.checker.require(written.is_ok(), || format!("the limits are not set: {written:?}"));
        self.checker.limited = true;
        self.checker.rated.on = self.setup.faults.rated;
        for client in &mut self.clients {
            let options = &mut client.spec.options;
            options.concurrency_key = self.rng.percent(60).then(|| KEYS[self.rng.index(2)].to_owned());
            options.fair_key = self.rng.percent(40).then(|| format!("t{}", self.rng.below(3)));
        }
    }

    /// A person closes a key, or opens it.
    pub(crate) fn meddle_with_keys(&mut self) {
        if self.setup.faults.limited && self.rng.one_in(3) {
            let queue = QUEUES[self.rng.index(2)].parse().expect("a queue");
            let key = KEYS[self.rng.index(2)].to_owned();
            let long = Duration::from_micros(self.rng.range(500 * MS, 6 * S));
            let until = (!self.rng.one_in(4)).then_some(wall(self.now) + long);
            let ask = Ask::CloseKey(KeyClosure { queue, key, until });
            self.note(|| format!("a person asks {ask:?}"));
            self.send_ask(Errand::Other, ask);
        }
    }
}

impl Checker {
    pub(crate) fn key_closed(&mut self, closure: &KeyClosure) {
        let key = (closure.queue.clone(), closure.key.clone());
        match closure.until {
            Some(until) => {
                self.closures += 1;
                self.closed.insert(key, until);
            }
            None => drop(self.closed.remove(&key)),
        }
    }

    /// A lease was written: neither its queue nor its key has more than may be, and its key is not closed.
    pub(crate) fn check_limits(&mut self, job: JobId, at: Wall) {
        let Some(record) = self.jobs.get(&job) else { return };
        let (queue, key) = (record.new.spec.queue.clone(), record.new.spec.options.concurrency_key.clone());
        let leased = self.jobs.values().filter(|r| r.lease.is_some() && r.new.spec.queue == queue);
        let (mut of_queue, mut of_key) = (0, 0);
        for other in leased {
            of_queue += 1;
            of_key += usize::from(key.is_some() && other.new.spec.options.concurrency_key == key);
        }
        let within = !self.limited || (of_queue <= OF_QUEUE && of_key <= OF_KEY);
        self.require(within, || {
            format!(
                "limit: {} is leased, as one of {of_queue} in {queue} and {of_key} of {key:?}",
                short(job)
            )
        });
        let until = key.and_then(|key| self.closed.get(&(queue, key))).copied();
        self.require(until.is_none_or(|until| until <= at), || {
            format!("{} is leased at {at}, its key is closed until {until:?}", short(job))
        });
    }

    /// A handler asked for its key to be closed: that is written no later than the end of its attempt.
    pub(crate) fn check_throttled(&mut self, end: &AttemptEnd) {
        let Some(written) = end.record.as_ref().filter(|r| r.outcome == Outcome::Released) else { return };
        let Some(record) = self.jobs.get(&end.job).filter(|_| self.throttled.contains(&end.fence)) else {
            return;
        };
        let Some(key) = record.new.spec.options.concurrency_key.clone() else { return };
        let until = self.closed.get(&(record.new.spec.queue.clone(), key)).copied();
        let wanted = written.ended_at + THROTTLED;
        self.require(until.is_some_and(|until| until >= wanted), || {
            format!("{} closed its key until {wanted}, written is {until:?}", short(end.job))
        });
    }
}

fn keyed(key: &str) -> JobSpec {
    let mut spec = job(5);
    spec.options.concurrency_key = Some(key.to_owned());
    spec
}

/// A stage on which the limits hold.
fn limited(homes: &[usize], takes: u64) -> Stage {
    let mut stage = Stage::new(homes, takes);
    stage.world.setup.faults.limited = true;
    let ask = Ask::PutQueue("default".parse().expect("a queue"), stage.world.queue_settings(false));
    stage.world.send_ask(Errand::Other, ask);
    stage.run_for(S);
    stage.world.checker.limited = true;
    stage
}

/// Alice's worker runs as much as may be. Bob takes over: he must count what she gave.
fn limit_at_a_takeover() -> Told {
    let mut stage = limited(&[ALICE, BOB], 4 * S);
    stage.wait_open(0);
    let running = [stage.submit(keyed("a")), stage.submit(keyed("b"))];
    running.iter().for_each(|job| stage.wait_started(*job, 1));
    let waiting = stage.submit(keyed("a"));
    stage.take_over(BOB);
    stage.send_to(0, BOB);
    stage.wait_open(1);
    stage.run_for(S);
    stage.expect(stage.starts(waiting) == 0, "it waits under the next leader too");
    stage.finish().map(|_| ())
}

/// A key is closed for long, and the leader changes.
fn closed_at_a_takeover() -> Told {
    let mut stage = limited(&[ALICE, BOB], 100 * MS);
    stage.wait_open(0);
    let until = Some(wall(stage.world.now) + Duration::from_secs(12));
    let closure = KeyClosure { queue: "default".parse().expect("a queue"), key: "a".into(), until };
    stage.world.send_ask(Errand::Other, Ask::CloseKey(closure));
    stage.wait("the closure is written", |world| world.checker.closures == 1);
    let (waiting, other) = (stage.submit(keyed("a")), stage.submit(keyed("b")));
    stage.wait_started(other, 1);
    stage.take_over(BOB);
    stage.wait_open(1);
    stage.run_for(2 * S);
    stage.expect(stage.starts(waiting) == 0, "it is closed under the next leader too");
    stage.wait_started(waiting, 1);
    stage.finish().map(|_| ())
}

/// A handler closes its key with its only attempt, and the leader changes before the key opens.
fn handler_closes_its_key() -> Told {
    let mut stage = limited(&[ALICE, BOB], 50 * MS);
    stage.world.workers[0].script = Some((50 * MS, Report::Throttled(Duration::from_secs(8))));
    stage.wait_open(0);
    let mut spec = keyed("a");
    spec.options.max_attempts = 1;
    let id = stage.submit(spec);
    stage.wait("its attempt is over", |world| {
        world.checker.jobs.get(&id).is_some_and(|record| record.standing.attempt == 1)
    });
    stage.take_over(BOB);
    stage.wait_open(1);
    stage.run_for(S);
    stage.expect(stage.starts(id) == 1, "its key is closed");
    stage.world.workers[0].script = Some((50 * MS, Report::Ok(String::new())));
    stage.wait_started(id, 2);
    stage.finish().map(|_| ())
}

/// A submission that is nothing new finds a free worker, and its key is free again afterwards.
fn duplicate_counts_no_more() -> Told {
    let mut stage = limited(&[ALICE], 300 * MS);
    stage.wait_open(0);
    for round in 0..3 {
        let mut first = keyed("a");
        first.options.unique_key = Some(format!("u{round}"));
        first.run_at = Some(wall(stage.world.now) + Duration::from_secs(2));
        let mut second = keyed("a");
        second.options.unique_key.clone_from(&first.options.unique_key);
        let (first, again) = (stage.submit(first), stage.send(second));
        stage.wait_acked(again);
        stage.wait_started(first, 1);
    }
    stage.finish().map(|_| ())
}

#[test]
fn stories_about_limits_end_well() {
    for (name, script) in LIMITS {
        if let Err(what) = script() {
            panic!("{name}: {what}");
        }
    }
}

/// Without this the random runs would say nothing about limits.
#[test]
fn limits_and_closed_keys_are_met_in_the_random_runs() {
    let (mut closures, mut throttled, mut worlds) = (0, 0, 0);
    for seed in 0..300 {
        let setup = setup(seed, false);
        if let (true, Ok(world)) = (setup.faults.limited, try_seed(setup)) {
            closures += world.checker.closures;
            throttled += world.checker.throttled.len();
            worlds += 1;
        }
    }
    assert!(worlds > 20 && closures > 40 && throttled > 20, "{worlds} worlds, {closures}, {throttled}");
}
