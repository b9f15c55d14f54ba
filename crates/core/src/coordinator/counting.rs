//! What a batch counts for in the statistics of its minute.
//!
//! Counted is what is handed over, when it is handed over: a batch that the store refuses has counted for nothing, and what is
//! kept of it is counted with the batch that it is written in. Jobs cost a look at their entry, and nothing else.

use foldhash::HashSet;

use crate::change::{After, Assignment, AttemptEnd, Change, NewJob, Submission};
use crate::coordinator::Coordinator;
use crate::coordinator::effect::Effect;
use crate::coordinator::table::Entry;
use crate::ids::JobId;
use crate::job::State;
use crate::lease::Fence;
use crate::limits;
use crate::minutes::{self, Bucket, Counted, Maybe, Tally, Unsettled};
use crate::name::{Kind, QueueName};
use crate::outcome::Outcome;
use crate::sabotage::{self, Bug};
use crate::schedule::ledger::ScheduleChange;
use crate::time::{Now, Wall, micros};

/// The queues and kinds that have buckets of their own in the present minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    minute: i64,
    seen: HashSet<(QueueName, Kind)>,
}

impl Series {
    /// Whether a queue and kind has a bucket of its own, in a minute that is not earlier than those before.
    fn admits(&mut self, minute: i64, queue: &QueueName, kind: &Kind) -> bool {
        if self.minute != minute {
            self.minute = minute;
            self.seen.clear();
        }
        let key = (queue.clone(), kind.clone());
        self.seen.contains(&key) || (self.seen.len() < limits::MINUTE_SERIES && self.seen.insert(key))
    }
}

/// A batch that is being counted.
struct Counting<'c> {
    coordinator: &'c Coordinator,
    /// When it is handed over.
    at: Wall,
    tally: Tally,
    unsettled: Vec<Unsettled>,
}

impl Coordinator {
    /// What these changes count for.
    pub(crate) fn count(&mut self, now: Now, changes: &[Change], effects: &[Effect]) -> Counted {
        let minute = minutes::minute_of(now.wall);
        let mut counting =
            Counting { coordinator: self, at: now.wall, tally: Tally::default(), unsettled: Vec::new() };
        for (place, (change, effect)) in changes.iter().zip(effects).enumerate() {
            counting.add(place, change, effect);
        }
        let Counting { tally, unsettled, .. } = counting;
        let mut counted = Counted { minute, buckets: tally.into_buckets(), unsettled };
        self.keep_pace(now, &counted);
        self.fold(&mut counted);
        if sabotage::active(Bug::RefusedIsCounted) {
            self.counted_before(&mut counted);
        }
        counted
    }

    /// Puts what has no bucket of its own into that of the rest.
    fn fold(&mut self, counted: &mut Counted) {
        let minute = counted.minute;
        let admitted: Vec<bool> =
            counted.buckets.iter().map(|b| self.series.admits(minute, &b.queue, &b.kind)).collect();
        if admitted.iter().all(|admitted| *admitted) {
            return;
        }
        let mut tally = Tally::default();
        let (queue, kind) = Bucket::rest();
        let mut places = Vec::with_capacity(admitted.len());
        for (bucket, admitted) in std::mem::take(&mut counted.buckets).into_iter().zip(admitted) {
            let place =
                if admitted { tally.place(&bucket.queue, &bucket.kind) } else { tally.place(&queue, &kind) };
            tally.counts(place).add(&bucket.counts);
            places.push(place);
        }
        counted.buckets = tally.into_buckets();
        for unsettled in &mut counted.unsettled {
            unsettled.bucket = places[unsettled.bucket];
        }
    }

    /// A seeded bug: what was counted for a batch that was refused is not forgotten.
    fn counted_before(&mut self, counted: &mut Counted) {
        if self.commits.trouble().is_some() {
            for bucket in &mut counted.buckets {
                let again = bucket.counts.clone();
                bucket.counts.add(&again);
            }
        }
    }
}

impl Counting<'_> {
    fn add(&mut self, place: usize, change: &Change, effect: &Effect) {
        match (change, effect) {
            (Change::Submit(submission), _) => self.submission(submission),
            (Change::Assign(assignment), Effect::Assign { leases, joint, .. }) => {
                self.assignment(place, assignment, leases, *joint);
            }
            (Change::End(end), Effect::End(ended)) => self.end(place, end, Some(ended.job)),
            (Change::End(end), _) => self.end(place, end, None),
            (Change::Finish(finish), Effect::Finish { job, .. }) => {
                if let Some(entry) = self.entry(Some(*job), finish.job) {
                    let bucket = self.place_of(entry);
                    let total_us = micros(finish.end.at.since(entry.created_at));
                    self.tally.counts(bucket).ended(finish.end.state, total_us);
                }
            }
            (Change::Schedule(change), _) => {
                if let ScheduleChange::Fire(firing) = &**change {
                    self.enqueued(&firing.jobs, 0);
                }
            }
            // Nothing of it is counted.
            (
                Change::Assign(_)
                | Change::Finish(_)
                | Change::CancelWanted(_)
                | Change::RunNow(..)
                | Change::Settle(..)
                | Change::Replay(_)
                | Change::OpenSession(_)
                | Change::CloseSession(..)
                | Change::PutQueue(..)
                | Change::PutKind(..)
                | Change::CloseKey(_)
                | Change::Mark(_)
                | Change::Log(_)
                | Change::Failed(_)
                | Change::PutDocument(_)
                | Change::Delete(_)
                | Change::PurgeDead { .. }
                | Change::Prune { .. },
                _,
            ) => {}
        }
    }

    fn submission(&mut self, submission: &Submission) {
        self.enqueued(&submission.jobs, u64::from(submission.is_refused()));
    }

    fn enqueued(&mut self, jobs: &[NewJob], dead: u64) {
        for job in jobs {
            let at = self.tally.place(&job.spec.queue, &job.spec.kind);
            let counts = self.tally.counts(at);
            counts.enqueued += 1;
            counts.dead += dead;
        }
    }

    fn assignment(&mut self, change: usize, given: &Assignment, leases: &[(u32, Fence)], joint: bool) {
        for (lease, (slot, fence)) in given.leases.iter().zip(leases) {
            let entry = self.coordinator.leases.find(*slot).filter(|entry| entry.fence == *fence);
            let Some(entry) = self.entry(entry.map(|entry| entry.job), lease.job) else { continue };
            let wait_us = micros(given.at.since(entry.due_at));
            let bucket = self.place_of(entry);
            if joint {
                let what = Maybe::Started { job: lease.job, wait_us };
                self.unsettled.push(Unsettled { change, bucket, what });
            } else {
                let counts = self.tally.counts(bucket);
                counts.started += 1;
                counts.wait.observe(wait_us);
            }
        }
    }

    fn end(&mut self, change: usize, end: &AttemptEnd, slot: Option<u32>) {
        let Some(entry) = self.entry(slot, end.job) else { return };
        let bucket = self.place_of(entry);
        let record = end.record.as_ref();
        if let Some(record) = record.filter(|record| record.outcome != Outcome::Lost) {
            self.tally.counts(bucket).run.observe(micros(record.ended_at.since(record.started_at)));
        }
        let failed = record.is_some_and(|record| record.outcome.is_failure());
        let (state, ended_at): (Option<State>, Wall) = match &end.after {
            // Unless its handler ended it: then it is heard of now.
            After::Again { .. } => (None, self.at),
            After::Final { end, .. } => (Some(end.state), end.at),
        };
        let total_us = micros(ended_at.since(entry.created_at));
        if end.transactional {
            let what = Maybe::Ended { failed, state, total_us };
            self.unsettled.push(Unsettled { change, bucket, what });
        } else {
            let counts = self.tally.counts(bucket);
            counts.failed += u64::from(failed);
            state.into_iter().for_each(|state| counts.ended(state, total_us));
        }
    }

    /// The bucket of a job.
    fn place_of(&mut self, entry: &Entry) -> usize {
        let key = &self.coordinator.classes.get(entry.class).key;
        self.tally.place(&key.queue, &key.kind)
    }
}

impl<'c> Counting<'c> {
    /// The job that is in this slot, or is known by this id.
    fn entry(&self, slot: Option<u32>, job: JobId) -> Option<&'c Entry> {
        let jobs = &self.coordinator.jobs;
        let here = slot.and_then(|slot| jobs.find(slot)).filter(|entry| entry.id == job);
        here.or_else(|| jobs.slot(job).map(|slot| jobs.get(slot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_so_many_buckets_and_no_more() {
        let mut series = Series::default();
        let kind: Kind = "k".parse().unwrap();
        let queue = |n: usize| format!("q{n}").parse::<QueueName>().unwrap();
        for n in 0..limits::MINUTE_SERIES {
            assert!(series.admits(1, &queue(n), &kind));
        }
        assert!(!series.admits(1, &queue(limits::MINUTE_SERIES), &kind));
        assert!(series.admits(1, &queue(0), &kind));
        assert!(series.admits(2, &queue(limits::MINUTE_SERIES), &kind));
    }
}
