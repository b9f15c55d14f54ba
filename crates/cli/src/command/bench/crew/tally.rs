//! What a crew has timed: when jobs started and when their results were recorded, after the moment that was planned.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::command::bench::report::histogram;
use crate::command::bench::sizes::PAYLOAD_BYTES;
use crate::failure::Fallible;

/// The payload of a job that is timed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::command::bench) struct Timed {
    /// When it was to be enqueued, or to run: microseconds since 1970.
    pub(in crate::command::bench) at: i64,
    /// Jobs of one class are timed together.
    pub(in crate::command::bench) class: u32,
    /// How long its handler runs.
    pub(in crate::command::bench) ms: u32,
}

impl Timed {
    /// As JSON of the size that is measured.
    pub(in crate::command::bench) fn payload(self) -> String {
        let Timed { at, class, ms } = self;
        let head = format!("{{\"at\":{at},\"class\":{class},\"ms\":{ms},\"x\":\"");
        let fill = PAYLOAD_BYTES.saturating_sub(head.len() + 2);
        format!("{head}{}\"}}", "x".repeat(fill))
    }

    /// How late it is now, in microseconds.
    pub(super) fn late(self) -> u64 {
        u64::try_from(clock::now().0 - self.at).unwrap_or(0)
    }
}

/// What was timed since the last look.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::command::bench) struct Taken {
    /// Jobs that started.
    pub(in crate::command::bench) started: u64,
    /// Results that were recorded.
    pub(in crate::command::bench) recorded: u64,
    /// When the first of them started, in microseconds since 1970.
    pub(in crate::command::bench) first_start: Option<i64>,
    /// Microseconds that handlers ran, times their threads.
    pub(in crate::command::bench) busy: u64,
    /// By class: from the planned moment until the start.
    starts: BTreeMap<u32, Counted>,
    /// By class: until the result was recorded.
    records: BTreeMap<u32, Counted>,
}

/// How often each time occurred.
type Counted = Vec<(u64, u64)>;

impl Taken {
    /// Adds what was taken later, or elsewhere.
    pub(in crate::command::bench) fn add(&mut self, other: Taken) {
        self.started += other.started;
        self.recorded += other.recorded;
        self.first_start = self.first_start.into_iter().chain(other.first_start).min();
        self.busy += other.busy;
        for (class, times) in other.starts {
            self.starts.entry(class).or_default().extend(times);
        }
        for (class, times) in other.records {
            self.records.entry(class).or_default().extend(times);
        }
    }

    /// Until the start, of all classes or of one.
    pub(in crate::command::bench) fn starts(&self, class: Option<u32>) -> Fallible<Histogram<u64>> {
        collected(&self.starts, class)
    }

    /// Until the result was recorded, of all classes.
    pub(in crate::command::bench) fn records(&self) -> Fallible<Histogram<u64>> {
        collected(&self.records, None)
    }
}

/// Where the workers of a process write their times.
#[derive(Clone, Debug, Default)]
pub(in crate::command::bench) struct Tally(Arc<Mutex<Sums>>);

#[derive(Debug, Default)]
struct Sums {
    taken: Taken,
    starts: BTreeMap<u32, Histogram<u64>>,
    records: BTreeMap<u32, Histogram<u64>>,
}

impl Tally {
    /// A job started.
    pub(super) fn started(&self, job: Option<Timed>) {
        let late = job.map(|job| (job.class, job.late()));
        self.with(|sums| {
            sums.taken.started += 1;
            if sums.taken.first_start.is_none() {
                sums.taken.first_start = Some(clock::now().0);
            }
            record(&mut sums.starts, late);
        });
    }

    /// The result of a job is recorded.
    pub(super) fn recorded(&self, job: Option<Timed>) {
        let late = job.map(|job| (job.class, job.late()));
        self.with(|sums| {
            sums.taken.recorded += 1;
            record(&mut sums.records, late);
        });
    }

    /// A handler ran for so long, on so many threads.
    pub(super) fn ran(&self, micros: u64, threads: u16) {
        self.with(|sums| sums.taken.busy += micros * u64::from(threads));
    }

    /// What was timed since the last look.
    pub(super) fn take(&self) -> Fallible<Taken> {
        Ok(self.with(|sums| {
            let Sums { mut taken, starts, records } = std::mem::take(sums);
            taken.starts = starts.iter().map(|(class, times)| (*class, counted(times))).collect();
            taken.records = records.iter().map(|(class, times)| (*class, counted(times))).collect();
            taken
        }))
    }

    fn with<T>(&self, change: impl FnOnce(&mut Sums) -> T) -> T {
        // A panic while the lock is held leaves whole times, never half of one.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn record(classes: &mut BTreeMap<u32, Histogram<u64>>, late: Option<(u32, u64)>) {
    let Some((class, late)) = late else { return };
    let times = match classes.entry(class) {
        Entry::Occupied(times) => times.into_mut(),
        // An empty one is large: it is made once.
        Entry::Vacant(none) => match histogram() {
            Ok(empty) => none.insert(empty),
            Err(_) => return,
        },
    };
    times.saturating_record(late);
}

fn counted(times: &Histogram<u64>) -> Counted {
    times.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

fn collected(classes: &BTreeMap<u32, Counted>, class: Option<u32>) -> Fallible<Histogram<u64>> {
    let mut all = histogram()?;
    for (_, counted) in classes.iter().filter(|(of, _)| class.is_none_or(|class| class == **of)) {
        for (value, count) in counted {
            all.saturating_record_n(*value, *count);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_timed_arrives_whole_and_is_taken_once() {
        let tally = Tally::default();
        let job = |class| Some(Timed { at: clock::now().0 - 5_000, class, ms: 0 });
        tally.started(job(1));
        tally.started(job(2));
        tally.recorded(job(2));
        tally.recorded(None);
        tally.ran(10, 4);
        let text = serde_json::to_string(&tally.take().unwrap()).unwrap();
        let mut taken: Taken = serde_json::from_str(&text).unwrap();
        assert_eq!((taken.started, taken.recorded, taken.busy), (2, 2, 40));
        assert_eq!(taken.starts(None).unwrap().len(), 2);
        assert!(taken.starts(Some(2)).unwrap().min() >= 4_990);
        taken.add(tally.take().unwrap());
        assert_eq!((taken.started, taken.records().unwrap().len()), (2, 1));
    }

    #[test]
    fn a_payload_has_the_size_that_is_measured() {
        let timed = Timed { at: 1_750_000_000_000_000, class: 16, ms: 100 };
        assert_eq!(timed.payload().len(), PAYLOAD_BYTES);
        let back: Timed = serde_json::from_str(&timed.payload()).unwrap();
        assert_eq!((back.at, back.class, back.ms), (timed.at, timed.class, timed.ms));
    }
}
