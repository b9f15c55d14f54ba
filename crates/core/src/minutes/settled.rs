//! What a batch counts for, once the store has answered.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet, HashSetExt as _};

use super::{Bucket, Counted, Maybe};
use crate::change::{Applied, Change, Intake, NewJob, Submission};
use crate::ids::JobId;
use crate::name::{Kind, QueueName};
use crate::sabotage::{self, Bug};
use crate::schedule::ledger::{Fate, ScheduleChange};

impl Counted {
    /// The buckets to be added, given the batch's changes and their answers. Most batches hold nothing that only the store
    /// could know, and count for what the leader said.
    #[must_use]
    pub fn settled(&self, changes: &[Change], applied: &[Applied]) -> Cow<'_, [Bucket]> {
        let mut in_vain: Vec<(Option<&Submission>, &NewJob)> =
            changes.iter().zip(applied).flat_map(in_vain).map(|(from, job)| (Some(from), job)).collect();
        in_vain.extend(changes.iter().zip(applied).flat_map(not_fired).map(|job| (None, job)));
        if (in_vain.is_empty() && self.unsettled.is_empty()) || sabotage::active(Bug::NothingNewIsCounted) {
            return Cow::Borrowed(&self.buckets);
        }
        let mut buckets = self.buckets.clone();
        let places: HashMap<(&QueueName, &Kind), usize> =
            self.buckets.iter().enumerate().map(|(place, b)| ((&b.queue, &b.kind), place)).collect();
        let mut not_created = HashSet::new();
        for (submission, job) in in_vain {
            // Its bucket is another's if there were too many.
            let place = places.get(&(&job.spec.queue, &job.spec.kind)).copied().or_else(|| self.rest());
            if let Some(bucket) = place.and_then(|place| buckets.get_mut(place)) {
                let counts = &mut bucket.counts;
                counts.enqueued = counts.enqueued.saturating_sub(1);
                let dead = submission.is_some_and(Submission::is_refused);
                counts.dead = counts.dead.saturating_sub(dead.into());
            }
            // The job of a row that was taken in before may be there, and have a lease of its own.
            if submission.is_none_or(|submission| submission.inbox.is_none()) {
                not_created.insert(job.id);
            }
        }
        self.add_unsettled(&mut buckets, applied, &not_created);
        buckets.retain(|bucket| !bucket.counts.is_empty());
        Cow::Owned(buckets)
    }

    fn add_unsettled(&self, buckets: &mut [Bucket], applied: &[Applied], not_created: &HashSet<JobId>) {
        for unsettled in &self.unsettled {
            let Some(bucket) = buckets.get_mut(unsettled.bucket) else { continue };
            let counts = &mut bucket.counts;
            match (&unsettled.what, applied.get(unsettled.change)) {
                (Maybe::Started { job, .. }, _) if not_created.contains(job) => {}
                (Maybe::Started { wait_us, .. }, _) => {
                    counts.started += 1;
                    counts.wait.observe(*wait_us);
                }
                (Maybe::Ended { total_us, .. }, Some(Applied::EndedElsewhere { state, .. })) => {
                    counts.ended(*state, *total_us);
                }
                (Maybe::Ended { failed, state, total_us }, _) => {
                    counts.failed += u64::from(*failed);
                    state.iter().for_each(|state| counts.ended(*state, *total_us));
                }
            }
        }
    }

    /// The bucket of everything that has none of its own.
    fn rest(&self) -> Option<usize> {
        self.buckets.iter().position(Bucket::is_rest)
    }
}

/// The jobs of a submission that did not come to be.
fn in_vain<'c>(
    (change, applied): (&'c Change, &'c Applied),
) -> impl Iterator<Item = (&'c Submission, &'c NewJob)> {
    let (submission, intakes): (Option<&Submission>, &[Intake]) = match (change, applied) {
        (Change::Submit(submission), applied) => (Some(submission), applied.intakes()),
        (_, _) => (None, &[]),
    };
    let jobs =
        submission.into_iter().flat_map(|s| s.jobs.iter().enumerate().map(move |(at, job)| (s, at, job)));
    jobs.filter(|(_, at, job)| intakes.get(*at) != Some(&Intake::Created(job.id)))
        .map(|(submission, _, job)| (submission, job))
}

/// The jobs of a firing that the ledger, or a unique key, did not let come to be.
fn not_fired<'c>((change, applied): (&'c Change, &'c Applied)) -> impl Iterator<Item = &'c NewJob> {
    let (jobs, fates): (&[NewJob], &[Option<Fate>]) = match (change, applied) {
        (Change::Schedule(change), Applied::Fired(fates)) => match &**change {
            ScheduleChange::Fire(firing) => (&firing.jobs, fates),
            ScheduleChange::Put(..) | ScheduleChange::Delete(_) => (&[], &[]),
        },
        (_, _) => (&[], &[]),
    };
    jobs.iter().filter(|job| !fates.contains(&Some(Fate::Fired(job.id))))
}

#[cfg(test)]
mod tests {
    use super::super::{Counts, Spread, Unsettled};
    use super::*;
    use crate::change::{Idempotency, InboxOrigin, Submitted};
    use crate::job::{JobSpec, State};
    use crate::time::Wall;

    fn job(n: u64, kind: &str) -> NewJob {
        let (id, spec) = (JobId::new(n, [0; 10]), JobSpec::new(kind.parse().unwrap()));
        NewJob { id, seq: n, created_at: Wall(0), due_at: Wall(0), spec }
    }

    fn submit(jobs: Vec<NewJob>, refused: bool) -> Change {
        let inbox = refused.then(|| InboxOrigin { row: 1, refused: Some("no".into()) });
        Change::Submit(Submission { idempotency: None::<Idempotency>, jobs, inbox })
    }

    fn bucket(kind: &str, counts: Counts) -> Bucket {
        Bucket { queue: "default".parse().unwrap(), kind: kind.parse().unwrap(), counts }
    }

    fn enqueued(n: u64) -> Counts {
        Counts { enqueued: n, ..Counts::default() }
    }

    #[test]
    fn what_is_new_counts_as_the_leader_said() {
        let counted = Counted { buckets: vec![bucket("a", enqueued(2))], ..Counted::default() };
        let jobs = vec![job(1, "a"), job(2, "a")];
        let created = jobs.iter().map(|job| Intake::Created(job.id)).collect();
        let applied = [Applied::Submitted(Submitted::Accepted(created))];
        assert_eq!(*counted.settled(&[submit(jobs, false)], &applied), counted.buckets);
    }

    #[test]
    fn what_was_nothing_new_does_not_count_and_neither_does_its_lease() {
        let (a, b) = (job(1, "a"), job(2, "b"));
        let (wait_us, change) = (9, 0);
        let unsettled = vec![
            Unsettled { change, bucket: 0, what: Maybe::Started { job: a.id, wait_us } },
            Unsettled { change, bucket: 1, what: Maybe::Started { job: b.id, wait_us } },
        ];
        let buckets = vec![bucket("a", enqueued(1)), bucket("b", enqueued(1))];
        let counted = Counted { minute: 7, buckets, unsettled };
        let changes = [submit(vec![a.clone(), b.clone()], false)];
        let intakes = vec![Intake::Created(a.id), Intake::Duplicate(a.id)];
        let mut one = Counts { started: 1, ..enqueued(1) };
        one.wait.observe(9);
        let accepted = Applied::Submitted(Submitted::Accepted(intakes));
        assert_eq!(*counted.settled(&changes, &[accepted]), [bucket("a", one)]);
        for nothing in [Submitted::KeyReused, Submitted::Replayed(vec![Intake::Created(a.id)])] {
            assert!(counted.settled(&changes, &[Applied::Submitted(nothing)]).is_empty());
        }
    }

    #[test]
    fn a_row_taken_in_before_counts_neither_as_enqueued_nor_as_dead() {
        let counts = Counts { dead: 1, ..enqueued(1) };
        let counted = Counted { buckets: vec![bucket("a", counts.clone())], ..Counted::default() };
        let (changes, id) = ([submit(vec![job(1, "a")], true)], job(1, "a").id);
        assert!(counted.settled(&changes, &[Applied::Taken]).is_empty());
        let taken = Applied::Submitted(Submitted::Accepted(vec![Intake::Created(id)]));
        assert_eq!(*counted.settled(&changes, &[taken]), [bucket("a", counts)]);
    }

    #[test]
    fn an_attempt_that_its_handler_ended_counts_as_the_store_says() {
        let what = Maybe::Ended { failed: true, state: Some(State::Dead), total_us: 7_000 };
        let unsettled = vec![Unsettled { change: 0, bucket: 0, what }];
        let counted = Counted { minute: 0, buckets: vec![bucket("a", Counts::default())], unsettled };
        let changes = [Change::CancelWanted(job(1, "a").id)];
        let elsewhere = Applied::EndedElsewhere { state: State::Succeeded, kept: true };
        let mut total = Spread::default();
        total.observe(7_000);
        let ended = |succeeded, failed, dead| {
            bucket("a", Counts { succeeded, failed, dead, total: total.clone(), ..Counts::default() })
        };
        assert_eq!(*counted.settled(&changes, &[elsewhere]), [ended(1, 0, 0)]);
        assert_eq!(*counted.settled(&changes, &[Applied::Done]), [ended(0, 1, 1)]);
    }
}
