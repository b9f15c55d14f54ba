//! What a run is made of: the durations, the clocks, and which faults are on.

use std::time::Duration;

use ganger_core::coordinator::port::Options;
use ganger_core::{Mono, Now, Wall};

use crate::rng::Rng;

/// True time, in microseconds since the run began.
pub(crate) type Time = u64;

pub(crate) const MS: Time = 1_000;
pub(crate) const S: Time = 1_000_000;

/// Authority of a leader. Well above the slack, or the slack would hide mistakes.
pub(crate) const LEADER_TTL: Time = 5 * S;
/// How long a session lasts.
pub(crate) const SESSION_TTL: Time = 3 * S;
/// Covers two clocks that drift 1 % each over both TTLs, and a handler's last 100 ms.
pub(crate) const SLACK: Time = 300 * MS;
/// A handler that is told to stop does so within this.
pub(crate) const STOPS_WITHIN: Time = 100 * MS;
/// Without an answer for this long the outcome of a store call is unknown.
pub(crate) const ANSWER_WITHIN: Time = 400 * MS;
/// The moment of the wall clock at which a run begins.
const EPOCH: i64 = 1_750_000_000_000_000;
/// Faults end here; from then on everything must come to an end.
pub(crate) const FAULTS_FOR: Time = 20 * S;
/// A run that is not over by then has lost its way.
pub(crate) const OVER_BY: Time = 150 * S;

/// The wall clock: the same for everyone, since nothing but `run_at` depends on it.
pub(crate) fn wall(t: Time) -> Wall {
    Wall(EPOCH + i64::try_from(t).unwrap_or(i64::MAX))
}

/// A process's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    offset: u64,
    /// Parts per million by which it runs fast.
    pub(crate) fast: i64,
}

impl Clock {
    pub(crate) fn new(rng: &mut Rng, drift: bool) -> Clock {
        let fast = if drift { i64::try_from(rng.below(20_001)).unwrap_or(0) - 10_000 } else { 0 };
        Clock { offset: rng.range(S, 1_000 * S), fast }
    }

    pub(crate) fn mono(&self, t: Time) -> Mono {
        let drifted = i64::try_from(t).unwrap_or(0) * self.fast / 1_000_000;
        Mono((self.offset + t).saturating_add_signed(drifted))
    }

    pub(crate) fn now(&self, t: Time) -> Now {
        Now { mono: self.mono(t), wall: wall(t) }
    }

    /// The first true moment at which this clock shows at least that.
    pub(crate) fn when(&self, mono: Mono) -> Time {
        let shown = i64::try_from(mono.0.saturating_sub(self.offset)).unwrap_or(i64::MAX / 2_000_000);
        let mut t = u64::try_from(shown * 1_000_000 / (1_000_000 + self.fast)).unwrap_or(0);
        while self.mono(t) < mono {
            t += 1;
        }
        t
    }
}

/// Which kinds of trouble a run has. Each seed picks some, so that rare combinations meet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// Messages between workers and servers take up to a second.
    pub(crate) slow_net: bool,
    /// Streams break; what is under way may still arrive, late.
    pub(crate) breaks: bool,
    /// Workers and servers cannot reach each other for a while.
    pub(crate) partitions: bool,
    /// A server that does not lead may keep a stream open, and read it once it leads.
    pub(crate) silence: bool,
    /// Hellos, results and requests are repeated.
    pub(crate) repeats: bool,
    pub(crate) worker_crashes: bool,
    pub(crate) worker_pauses: bool,
    pub(crate) worker_drains: bool,
    /// Some workers let handlers finish after a lapse.
    pub(crate) lapse_continues: bool,
    pub(crate) server_crashes: bool,
    pub(crate) server_pauses: bool,
    /// A standby takes over from a leader that is well.
    pub(crate) takeovers: bool,
    /// A server cannot reach the store for a while.
    pub(crate) store_cuts: bool,
    /// Requests to the store, or their answers, are lost.
    pub(crate) store_losses: bool,
    /// Requests to the store are slow, some by seconds.
    pub(crate) store_delays: bool,
    /// The store is away for seconds.
    pub(crate) store_outages: bool,
    /// The store refuses to write.
    pub(crate) store_full: bool,
    /// Clients cancel, run now, pause, resume and replay.
    pub(crate) meddling: bool,
    pub(crate) drift: bool,
    /// The leader is restarted in less than a TTL.
    pub(crate) bounces: bool,
    /// Half of the handlers run for several TTLs.
    pub(crate) long_runs: bool,
    /// Handlers end jobs, and clients submit them, in transactions of their own.
    pub(crate) transactional: bool,
    /// Queues have limits, jobs have keys, and keys are closed by handlers and by people.
    pub(crate) limited: bool,
    /// Handlers do what cannot be repeated, and mark it.
    pub(crate) marks: bool,
    /// Those limits are also about time, and about how much may wait.
    pub(crate) rated: bool,
    /// Whatever was decided is handed over before the batch written before it is announced, however little it is.
    pub(crate) hasty: bool,
    /// There are schedules, and people meddle with them.
    pub(crate) schedules: bool,
    /// Leaders compare their memory with the store all the time; some of what they read is old.
    pub(crate) reconciles: bool,
    /// Seconds between one trouble and the next.
    pub(crate) rare: bool,
    /// One server with an exclusive lock: authority does not run out.
    pub(crate) embedded: bool,
}

impl Faults {
    /// Two fifths of the kinds, more or less. One run in five is an embedded server, and one is about power.
    pub(crate) fn pick(rng: &mut Rng) -> Faults {
        if rng.one_in(5) {
            return Faults::coups(rng);
        }
        let mut on = || rng.percent(40);
        let mut faults = Faults {
            slow_net: on(),
            breaks: on(),
            partitions: on(),
            silence: on(),
            repeats: on(),
            worker_crashes: on(),
            worker_pauses: on(),
            worker_drains: on(),
            lapse_continues: on(),
            server_crashes: on(),
            server_pauses: on(),
            takeovers: on(),
            store_cuts: on(),
            store_losses: on(),
            store_delays: on(),
            store_outages: on(),
            store_full: on(),
            meddling: on(),
            drift: on(),
            bounces: on(),
            long_runs: on(),
            hasty: on(),
            transactional: false,
            limited: false,
            rated: false,
            marks: false,
            schedules: false,
            reconciles: false,
            rare: false,
            embedded: false,
        };
        if rng.one_in(5) {
            faults.embedded = true;
            faults.takeovers = false;
            faults.silence = false;
            // An embedded store fails only with its server, and a call to it cannot overtake another.
            faults.store_cuts = false;
            faults.store_losses = false;
            faults.store_delays = false;
            faults.store_outages = false;
        }
        // An embedded store is out of reach for everyone else.
        faults.transactional = !faults.embedded && rng.percent(40);
        faults
    }

    /// Leaders that are deposed and do not know it, few other troubles, and time for each to take its course.
    fn coups(rng: &mut Rng) -> Faults {
        Faults {
            store_cuts: true,
            takeovers: true,
            long_runs: true,
            rare: true,
            silence: rng.percent(50),
            breaks: rng.percent(30),
            partitions: rng.percent(20),
            store_delays: rng.percent(30),
            drift: rng.percent(50),
            hasty: rng.percent(50),
            transactional: rng.percent(30),
            ..Faults::default()
        }
    }

    /// Only what must not cost a running job its lease: short restarts of the leader, slow messages.
    pub(crate) fn gentle(rng: &mut Rng) -> Faults {
        Faults {
            breaks: rng.percent(50),
            repeats: rng.percent(50),
            bounces: true,
            takeovers: rng.percent(50),
            drift: rng.percent(50),
            store_delays: false,
            ..Faults::default()
        }
    }
}

/// The options of every coordinator of a run.
pub(crate) fn options(faults: &Faults, seed: u64) -> Options {
    Options {
        leader_ttl: (!faults.embedded).then_some(Duration::from_micros(LEADER_TTL)),
        slack: Duration::from_micros(SLACK),
        stall: Duration::from_secs(1),
        tick: Duration::from_millis(300),
        grace: Duration::from_millis(1_500),
        hand_over_early: if faults.hasty { 1 } else { Options::default().hand_over_early },
        reconcile_every: faults.reconciles.then_some(Duration::from_millis(300)),
        reconcile_page: 3,
        reconcile_pause: Duration::from_millis(10),
        seed,
        ..Options::default()
    }
}
