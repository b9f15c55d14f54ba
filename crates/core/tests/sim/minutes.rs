//! The statistics count what is written: neither more nor less, whatever is refused, repeated or in vain.

use std::collections::BTreeMap;

use ganger_core::JobId;
use ganger_core::change::{After, Applied, Change, Intake};
use ganger_core::job::State;
use ganger_core::minutes::Counts;
use ganger_core::name::{Kind, QueueName};
use ganger_core::outcome::Outcome;
use ganger_core::schedule::ledger::{Fate, ScheduleChange};

use crate::checker::Checker;
use crate::world::World;

/// What was written, counted from the changes themselves: enqueued, started, succeeded, failed, dead, cancelled, runs, totals.
pub(crate) type Written = BTreeMap<(QueueName, Kind), [u64; 8]>;

impl Checker {
    /// Counts a change that was written. Called before it is looked at, so that the job is as it was.
    pub(crate) fn count_written(&mut self, change: &Change, applied: &Applied) {
        match change {
            Change::Submit(submission) => {
                for (new, intake) in submission.jobs.iter().zip(applied.intakes()) {
                    if *intake == Intake::Created(new.id) {
                        let counts =
                            self.counted.entry((new.spec.queue.clone(), new.spec.kind.clone())).or_default();
                        counts[0] += 1;
                        counts[4] += u64::from(submission.is_refused());
                    }
                }
            }
            Change::Assign(assignment) => {
                for lease in &assignment.leases {
                    // A lease of a job that is not there is void.
                    if let Some(counts) = self.counts_of(lease.job) {
                        counts[1] += 1;
                    }
                }
            }
            Change::End(end) => {
                let state = match (applied, &end.after) {
                    (Applied::EndedElsewhere { state, .. }, _) => Some(*state),
                    (_, After::Final { end, .. }) => Some(end.state),
                    (_, After::Again { .. }) => None,
                };
                let elsewhere = matches!(applied, Applied::EndedElsewhere { .. });
                let outcome = end.record.as_ref().map(|record| record.outcome);
                if let Some(counts) = self.counts_of(end.job) {
                    let failed = matches!(outcome, Some(Outcome::Error | Outcome::Timeout | Outcome::Lost));
                    counts[3] += u64::from(failed && !elsewhere);
                    counts[6] += u64::from(outcome.is_some_and(|outcome| outcome != Outcome::Lost));
                    state.into_iter().for_each(|state| final_state(counts, state));
                }
            }
            Change::Finish(finish) => {
                if let Some(counts) = self.counts_of(finish.job) {
                    final_state(counts, finish.end.state);
                }
            }
            Change::Schedule(change) => {
                let (ScheduleChange::Fire(firing), Applied::Fired(fates)) = (&**change, applied) else {
                    return;
                };
                for fate in fates.iter().flatten() {
                    if let Fate::Fired(id) = fate
                        && let Some(new) = firing.job(*id)
                    {
                        let key = (new.spec.queue.clone(), new.spec.kind.clone());
                        self.counted.entry(key).or_default()[0] += 1;
                    }
                }
            }
            Change::CancelWanted(_)
            | Change::RunNow(..)
            | Change::Settle(..)
            | Change::Replay(_)
            | Change::OpenSession(_)
            | Change::CloseSession(..)
            | Change::PutQueue(..)
            | Change::CloseKey(_)
            | Change::Mark(_)
            | Change::PutKind(..)
            | Change::Log(_)
            | Change::Failed(_)
            | Change::PutDocument(_)
            | Change::Delete(_)
            | Change::PurgeDead { .. }
            | Change::Prune { .. } => {}
        }
    }

    fn counts_of(&mut self, job: JobId) -> Option<&mut [u64; 8]> {
        let spec = &self.jobs.get(&job)?.new.spec;
        Some(self.counted.entry((spec.queue.clone(), spec.kind.clone())).or_default())
    }
}

fn final_state(counts: &mut [u64; 8], state: State) {
    match state {
        State::Succeeded => counts[2] += 1,
        State::Dead => counts[4] += 1,
        State::Cancelled => counts[5] += 1,
        State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying => return,
    }
    counts[7] += 1;
}

impl World {
    /// The buckets of all minutes together are what was written.
    pub(crate) fn check_minutes(&mut self) {
        let mut kept: BTreeMap<(QueueName, Kind), Counts> = BTreeMap::new();
        for ((_, queue, kind), counts) in self.store.state.minutes() {
            kept.entry((queue.clone(), kind.clone())).or_default().add(counts);
        }
        let kept: Written = kept.into_iter().map(|(of, counts)| (of, numbers(&counts))).collect();
        let waits = self.store.state.minutes().all(|(_, counts)| counts.wait.count() == counts.started);
        let mut written = self.checker.counted.clone();
        written.retain(|_, counts| counts.iter().any(|count| *count > 0));
        self.checker.require(kept == written, || format!("counted are {kept:?}, written {written:?}"));
        self.checker.require(waits, || "a lease is counted without its wait".into());
    }
}

fn numbers(counts: &Counts) -> [u64; 8] {
    [
        counts.enqueued,
        counts.started,
        counts.succeeded,
        counts.failed,
        counts.dead,
        counts.cancelled,
        counts.run.count(),
        counts.total.count(),
    ]
}
