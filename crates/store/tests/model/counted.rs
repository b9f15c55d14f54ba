//! What a leader would say that a batch counts for: submissions, leases written with them, and ends that only the store can
//! tell.

use ganger_core::Wall;
use ganger_core::change::{After, Change};
use ganger_core::minutes::{Bucket, Counted, Counts, Maybe, Unsettled, minute_of};
use ganger_core::name::{Kind, QueueName};
use ganger_core::schedule::ledger::ScheduleChange;

pub(crate) fn counted(now: Wall, changes: &[Change]) -> Counted {
    let mut counted = Counted { minute: minute_of(now), ..Counted::default() };
    let mut named = Vec::new();
    for (change, one) in changes.iter().enumerate() {
        if let Change::Submit(submission) = one {
            for job in &submission.jobs {
                let bucket = place(&mut counted, &job.spec.queue, &job.spec.kind);
                counted.buckets[bucket].counts.enqueued += 1;
                named.push((job.id, bucket));
            }
        }
        if let Change::Schedule(schedule) = one
            && let ScheduleChange::Fire(firing) = &**schedule
        {
            for job in &firing.jobs {
                let bucket = place(&mut counted, &job.spec.queue, &job.spec.kind);
                counted.buckets[bucket].counts.enqueued += 1;
            }
        }
        if let Change::Assign(assignment) = one {
            for lease in &assignment.leases {
                if let Some((job, bucket)) = named.iter().find(|(job, _)| *job == lease.job).copied() {
                    let what = Maybe::Started { job, wait_us: job.uuid().as_u128() as u64 % 10_000_000 };
                    counted.unsettled.push(Unsettled { change, bucket, what });
                }
            }
        }
        if let Change::End(end) = one
            && end.transactional
        {
            let (queue, kind) = ("queue-0".parse().unwrap(), "kind-0".parse().unwrap());
            let bucket = place(&mut counted, &queue, &kind);
            let state = match &end.after {
                After::Final { end, .. } => Some(end.state),
                After::Again { .. } => None,
            };
            let total_us = end.job.uuid().as_u128() as u64 % 10_000_000;
            let what = Maybe::Ended { failed: end.record.is_some(), state, total_us };
            counted.unsettled.push(Unsettled { change, bucket, what });
        }
    }
    counted
}

fn place(counted: &mut Counted, queue: &QueueName, kind: &Kind) -> usize {
    let of = |bucket: &Bucket| bucket.queue == *queue && bucket.kind == *kind;
    counted.buckets.iter().position(of).unwrap_or_else(|| {
        counted.buckets.push(Bucket { queue: queue.clone(), kind: kind.clone(), counts: Counts::default() });
        counted.buckets.len() - 1
    })
}
