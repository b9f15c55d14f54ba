//! What happened in each minute, by queue and kind: what statistics over time are made of.
//!
//! The leader counts what is in a batch when it hands the batch over, and the store adds it to the buckets of that minute
//! in the batch's own transaction: an upsert per queue and kind that the batch touches, none per job. So the buckets count
//! exactly what is written, whatever is refused, sent twice or taken over.
//!
//! Some of it only the store knows: whether a submission was anything new, and how a job ended whose handler may have
//! ended it. [`Counted`] carries what the leader expects; [`Counted::settled`] is what holds, given the answers. It is the one
//! function that says so, and every store calls it.

mod settled;
mod spread;

use foldhash::HashMap;

use crate::ids::JobId;
use crate::job::State;
use crate::name::{Kind, QueueName};
use crate::time::Wall;

pub use spread::{BUCKETS, Spread, bound};

/// Microseconds of a minute.
const MINUTE: i64 = 60_000_000;

/// The queue and the kind under which everything is counted that has no bucket of its own.
pub const REST: &str = "_other";

/// The minute in which a moment lies, since the Unix epoch.
#[must_use]
pub fn minute_of(at: Wall) -> i64 {
    at.0.div_euclid(MINUTE)
}

/// When a minute began.
#[must_use]
pub fn began(minute: i64) -> Wall {
    Wall(minute.saturating_mul(MINUTE))
}

/// What is counted in one bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs taken in.
    pub enqueued: u64,
    /// Leases given.
    pub started: u64,
    /// Jobs that succeeded.
    pub succeeded: u64,
    /// Attempts that failed: error, timeout, lost.
    pub failed: u64,
    /// Jobs that died.
    pub dead: u64,
    /// Jobs that were cancelled.
    pub cancelled: u64,
    /// From due to the lease, of each lease given.
    pub wait: Spread,
    /// How long attempts ran that ended; without those whose worker was lost.
    pub run: Spread,
    /// From intake to the end, of jobs that became final; without those that were dead when they were taken in.
    pub total: Spread,
}

impl Counts {
    /// The numbers, in a fixed order; those of the spreads are apart, and so is all of `total`, which came later.
    #[must_use]
    pub fn numbers(&self) -> [u64; 8] {
        [
            self.enqueued,
            self.started,
            self.succeeded,
            self.failed,
            self.dead,
            self.cancelled,
            self.wait.sum_us,
            self.run.sum_us,
        ]
    }

    /// The same from [`Counts::numbers`], the counts of both spreads, and `total`. What is missing is zero.
    #[must_use]
    pub fn from_parts(numbers: &[u64], wait: &[u32], run: &[u32], total: Spread) -> Counts {
        let number = |place: usize| numbers.get(place).copied().unwrap_or(0);
        Counts {
            enqueued: number(0),
            started: number(1),
            succeeded: number(2),
            failed: number(3),
            dead: number(4),
            cancelled: number(5),
            wait: Spread::from_parts(number(6), wait),
            run: Spread::from_parts(number(7), run),
            total,
        }
    }

    /// Adds another bucket to this one.
    pub fn add(&mut self, other: &Counts) {
        self.enqueued += other.enqueued;
        self.started += other.started;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.dead += other.dead;
        self.cancelled += other.cancelled;
        self.wait.add(&other.wait);
        self.run.add(&other.run);
        self.total.add(&other.total);
    }

    /// Jobs that became final.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.succeeded + self.dead + self.cancelled
    }

    /// Whether nothing is counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers()[..6].iter().all(|n| *n == 0) && self.run.count() == 0
    }

    /// A job became final in this state, so long after it was taken in.
    pub(crate) fn ended(&mut self, state: State, total_us: u64) {
        match state {
            State::Succeeded => self.succeeded += 1,
            State::Dead => self.dead += 1,
            State::Cancelled => self.cancelled += 1,
            // They are not final.
            State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying => return,
        }
        self.total.observe(total_us);
    }
}

/// What is counted of one queue and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The queue.
    pub queue: QueueName,
    /// The kind.
    pub kind: Kind,
    /// What happened.
    pub counts: Counts,
}

impl Bucket {
    /// Of everything that has no bucket of its own, because there are too many queues and kinds.
    pub(crate) fn rest() -> (QueueName, Kind) {
        let name = "a valid name";
        (REST.parse().expect(name), REST.parse().expect(name))
    }

    fn is_rest(&self) -> bool {
        self.queue.as_str() == REST && self.kind.as_str() == REST
    }
}

/// What a batch counts for, as far as its leader knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The minute in which the batch was handed over.
    pub minute: i64,
    /// What is counted, each queue and kind once.
    pub buckets: Vec<Bucket>,
    /// What counts only if the store says so.
    pub unsettled: Vec<Unsettled>,
}

/// Something whose count follows from the store's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// The change whose answer it is, by its place in the batch.
    pub change: usize,
    /// The bucket, by its place.
    pub bucket: usize,
    /// What it would count.
    pub what: Maybe,
}

/// See [`Unsettled`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maybe {
    /// A lease that is written with the submission of its job counts if the job is created.
    Started {
        /// The job.
        job: JobId,
        /// How long it waited.
        wait_us: u64,
    },
    /// The end of an attempt whose handler may have ended the job counts as the store says.
    Ended {
        /// Whether the attempt failed, if it ended as the leader says.
        failed: bool,
        /// How the job ended, if it did, and as the leader says.
        state: Option<State>,
        /// How long it had been there, if it ended, whoever ended it.
        total_us: u64,
    },
}

/// Counts by queue and kind, while they are being made.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    buckets: Vec<Bucket>,
    places: HashMap<(QueueName, Kind), usize>,
    last: usize,
}

impl Tally {
    /// The place of a bucket; a batch has many jobs of few sorts, so the last one is looked at first.
    pub(crate) fn place(&mut self, queue: &QueueName, kind: &Kind) -> usize {
        let is_it = |bucket: &Bucket| bucket.queue == *queue && bucket.kind == *kind;
        if !self.buckets.get(self.last).is_some_and(is_it) {
            let key = (queue.clone(), kind.clone());
            self.last = *self.places.entry(key).or_insert_with(|| {
                let (queue, kind) = (queue.clone(), kind.clone());
                self.buckets.push(Bucket { queue, kind, counts: Counts::default() });
                self.buckets.len() - 1
            });
        }
        self.last
    }

    pub(crate) fn counts(&mut self, place: usize) -> &mut Counts {
        &mut self.buckets[place].counts
    }

    pub(crate) fn into_buckets(self) -> Vec<Bucket> {
        self.buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_begins_where_the_one_before_it_ends() {
        assert_eq!(minute_of(Wall(59_999_999)), 0);
        assert_eq!(minute_of(Wall(60_000_000)), 1);
        assert_eq!(minute_of(Wall(-1)), -1);
        assert_eq!(began(minute_of(Wall(1_700_000_012_345_678))), Wall(1_699_999_980_000_000));
    }

    #[test]
    fn counts_come_back_from_their_parts() {
        let mut counts = Counts { enqueued: 1, started: 2, failed: 3, dead: 4, ..Counts::default() };
        counts.wait.observe(7);
        counts.run.observe(9_000_000);
        counts.ended(State::Succeeded, 1_000);
        counts.ended(State::Cancelled, 3_000);
        counts.ended(State::Running, 5_000);
        assert_eq!((counts.total.count(), counts.total.sum_us), (2, 4_000));
        let total = Spread::from_parts(counts.total.sum_us, counts.total.trimmed());
        let back = Counts::from_parts(&counts.numbers(), counts.wait.trimmed(), counts.run.trimmed(), total);
        assert_eq!((back.finished(), &back), (6, &counts));
        assert_eq!(Counts::from_parts(&[], &[], &[], Spread::default()), Counts::default());
        assert!(Counts::default().is_empty() && !counts.is_empty());
    }

    #[test]
    fn a_tally_has_each_queue_and_kind_once() {
        let (mut tally, a, b) = (Tally::default(), "a".parse().unwrap(), "b".parse().unwrap());
        let kind: Kind = "k".parse().unwrap();
        for queue in [&a, &b, &a, &a, &b] {
            let place = tally.place(queue, &kind);
            tally.counts(place).enqueued += 1;
        }
        let counted: Vec<_> =
            tally.into_buckets().into_iter().map(|b| (b.queue, b.counts.enqueued)).collect();
        assert_eq!(counted, [(a, 3), (b, 2)]);
    }
}
