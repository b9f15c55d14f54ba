//! Rates and depths: leases over time, and jobs that wait.
//!
//! Half of the limited worlds have them. A rate is checked by what it means: between any two leases of a queue, or of a
//! key, lie no more than its burst and what its period allows. A depth is checked by the jobs that were let in through it
//! and have never had a lease: at no submission there are more of them than may wait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ganger_core::change::NewJob;
use ganger_core::coordinator::port::Ask;
use ganger_core::name::QueueName;
use ganger_core::queue::{QueueSettings, Rate};
use ganger_core::{JobId, Wall};

use crate::checker::Checker;
use crate::client::Errand;
use crate::random::{setup, try_seed};
use crate::setup::{MS, S};
use crate::stage::{ALICE, BOB, Stage, job};
use crate::store::short;
use crate::stories::{Script, Told};

const OF_QUEUE: Rate = Rate { n: 6, per: Duration::from_secs(1), burst: 3 };
const OF_KEY: Rate = Rate { n: 3, per: Duration::from_secs(1), burst: 2 };
const DEPTH_OF_QUEUE: u32 = 4;
const DEPTH_OF_KEY: u32 = 2;
/// Clocks drift by 1 % at most.
const DRIFT: f64 = 1.02;

/// Every story about rates and depths.
pub(crate) const RATES: [Script; 2] = [
    ("a rate at a takeover", rate_at_a_takeover),
    ("submissions at once to a queue that is nearly full", many_at_once),
];

/// A queue, or a key of it.
type Place = (QueueName, Option<String>);

/// What was written about rates and depths.
#[derive(Debug, Default)]
pub(crate) struct Rated {
    /// They are set.
    pub(crate) on: bool,
    /// When leases were given.
    starts: BTreeMap<Place, Vec<Wall>>,
    /// Jobs that were let in, and have never had a lease.
    fresh: BTreeMap<JobId, (QueueName, Option<String>)>,
    /// Submissions that found no room.
    pub(crate) full: u64,
    /// Leases that came as soon as a rate allowed, or nearly.
    pub(crate) tight: u64,
}

/// Sets them.
pub(crate) fn rate(settings: &mut QueueSettings) {
    settings.limits.rate = Some(OF_QUEUE);
    settings.keys.rate = Some(OF_KEY);
    settings.limits.max_depth = Some(DEPTH_OF_QUEUE);
    settings.keys.max_depth = Some(DEPTH_OF_KEY);
    settings.block = Duration::from_millis(200);
}

impl Checker {
    /// A lease was written that was given at this moment.
    pub(crate) fn check_rates(&mut self, job: JobId, at: Wall) {
        self.rated.fresh.remove(&job);
        let Some(record) = self.jobs.get(&job).filter(|_| self.rated.on) else { return };
        let (queue, key) = (record.new.spec.queue.clone(), record.new.spec.options.concurrency_key.clone());
        let mut places = vec![((queue.clone(), None), OF_QUEUE)];
        places.extend(key.map(|key| ((queue, Some(key)), OF_KEY)));
        for (place, rate) in places {
            let starts = self.rated.starts.entry(place.clone()).or_default();
            starts.push(at);
            let mut wrong = None;
            for (nth, from) in starts.iter().enumerate() {
                let long = at.since(*from).as_secs_f64() * DRIFT;
                let allowed = f64::from(rate.burst) + long * f64::from(rate.n) / rate.per.as_secs_f64();
                let given = (starts.len() - nth) as f64;
                self.rated.tight += u64::from(given > 1.5 && given > allowed - 1.0);
                if given > allowed + 0.01 {
                    wrong = Some((given, allowed));
                }
            }
            self.require(wrong.is_none(), || {
                format!("rate: {} is one of {wrong:?} leases of {place:?}", short(job))
            });
        }
    }

    /// A job was let in: there was room for it.
    pub(crate) fn check_depth(&mut self, new: &NewJob) {
        if !self.rated.on {
            return;
        }
        let (queue, key) = (new.spec.queue.clone(), new.spec.options.concurrency_key.clone());
        self.rated.fresh.insert(new.id, (queue.clone(), key.clone()));
        let of_queue = self.rated.fresh.values().filter(|place| place.0 == queue).count();
        let of_key = self
            .rated
            .fresh
            .values()
            .filter(|place| key.is_some() && **place == (queue.clone(), key.clone()));
        let of_key = of_key.count();
        let within = of_queue <= DEPTH_OF_QUEUE as usize && of_key <= DEPTH_OF_KEY as usize;
        self.require(within, || {
            format!(
                "depth: {} is let in, as one of {of_queue} in {queue} and {of_key} of {key:?}",
                short(new.id)
            )
        });
    }

    /// A job does not wait any more.
    pub(crate) fn waits_no_more(&mut self, job: JobId) {
        self.rated.fresh.remove(&job);
    }
}

fn rated(homes: &[usize], takes: u64) -> Stage {
    let mut stage = Stage::new(homes, takes);
    stage.world.setup.faults.limited = true;
    stage.world.setup.faults.rated = true;
    let mut settings = QueueSettings::default();
    rate(&mut settings);
    stage.world.send_ask(Errand::Other, Ask::PutQueue("default".parse().expect("a queue"), settings));
    stage.run_for(S);
    stage.world.checker.rated.on = true;
    stage
}

/// Alice gives all that the rate allows. Bob takes over at once: he must not give as much again.
fn rate_at_a_takeover() -> Told {
    let mut stage = rated(&[ALICE, BOB], 10 * MS);
    stage.wait_open(0);
    stage.run_for(2 * S);
    let first: Vec<JobId> = (0..3).map(|_| stage.submit(job(3))).collect();
    first.iter().for_each(|job| stage.wait_started(*job, 1));
    let waiting: Vec<JobId> = (0..3).map(|_| stage.submit(job(3))).collect();
    stage.take_over(BOB);
    stage.send_to(0, BOB);
    stage.wait_open(1);
    waiting.iter().for_each(|job| stage.wait_started(*job, 1));
    stage.finish().map(|_| ())
}

/// More are sent at once than there is room for: those that are being written count.
fn many_at_once() -> Told {
    let mut stage = rated(&[ALICE], 3 * S);
    let sent: BTreeSet<usize> = (0..9).map(|_| stage.send(job(3))).collect();
    stage.run_for(S);
    stage.expect(stage.world.checker.rated.full > 0, "some found no room");
    for client in sent {
        stage.wait_acked(client);
    }
    stage.finish().map(|_| ())
}

#[test]
fn stories_about_rates_end_well() {
    for (name, script) in RATES {
        script().unwrap_or_else(|what| panic!("{name}: {what}"));
    }
}

/// Without this the random runs would say nothing about rates and depths.
#[test]
fn rates_and_depths_are_met_in_the_random_runs() {
    let (mut worlds, mut full, mut tight) = (0, 0, 0);
    for seed in 0..300 {
        let setup = setup(seed, false);
        if let (true, Ok(world)) = (setup.faults.rated, try_seed(setup)) {
            worlds += 1;
            full += world.checker.rated.full;
            tight += world.checker.rated.tight;
        }
    }
    assert!(worlds > 15 && full > 30 && tight > 30, "{worlds} worlds, {full} full, {tight} tight");
}
