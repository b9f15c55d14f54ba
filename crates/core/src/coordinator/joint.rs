//! A submission and its first lease in one commit.
//!
//! Where a worker is free, waiting for the commit of a job before its lease is even decided costs a second
//! commit for nothing. So just before a batch is handed over, the jobs submitted in it are matched with what
//! is still free, and their leases go into the same batch, behind the submissions. Such a job is
//! **provisional** until the commit: it has a place in memory but no name, so nobody can ask about
//! it, cancel it or report on it; it is not counted, and no event and no message speaks of it.
//!
//! # Order
//! A provisional job comes after everything that waits: the ordinary pass is over, so whatever waits fits
//! nowhere. Those of one batch are tried one by one, by the precedence of their queues and then in order. One that fits nowhere either
//! leaves memory at once, and is taken in by its commit like any other.
//!
//! # What can go wrong
//! - *The batch is refused.* Job and lease vanish together: the client is told, the threads are free, and
//!   the assignment is not among what is written again.
//! - *It was nothing new.* Only the store knows whether a key was used before. Then its answer names another
//!   job; the provisional one vanishes, and its worker never hears of it. The store takes its lease for ended
//!   from the start.
//! - *The session ends meanwhile.* The end of the lease is decided and waits for the next batch, as for every
//!   lease in flight. If the job then vanishes, that end is taken back.
//! - *The outcome is unknown, or the leader ends.* The batch is in the store whole, or not at all; the next
//!   leader finds a job with a lease, as after any assignment.

use std::cmp::Reverse;

use crate::change::{Change, Intake, LiveJob, NewJob, Submitted};
use crate::coordinator::Coordinator;
use crate::coordinator::dispatch::Given;
use crate::coordinator::port::Output;
use crate::coordinator::ready::Order;
use crate::coordinator::table::{Newcomer, Phase};
use crate::ids::JobId;
use crate::sabotage::{self, Bug};
use crate::time::Now;

/// A batch of more changes is busy: its jobs share the next commit as well, and gain nothing here.
const JOINT_CHANGES: usize = 256;
/// A batch of more new jobs is bulk, and taken in by its commit.
const JOINT_JOBS: usize = 64;

/// A provisional job that has a lease: its id and its slot.
pub(crate) type Provisional = (JobId, u32);

/// A new job: the precedence of its queue, its order, and its places in the batch and in its submission.
type Fresh = (Reverse<i8>, Order, usize, usize);

impl Coordinator {
    /// Gives what is still free to the jobs that are submitted in the batch that is handed over next.
    /// Called when the ordinary pass is over and the batch leaves in this very step.
    pub(crate) fn dispatch_joint(&mut self, now: Now, out: &mut Vec<Output>) {
        let mut given = Given::new();
        for (_, _, change, job) in self.fresh_jobs(now) {
            let Some(Change::Submit(submission)) = self.commits.forming().get(change) else { continue };
            let live = LiveJob::from(&submission.jobs[job]);
            let slot = self.admit(&Newcomer::from(&live));
            self.match_up(now, &mut given);
            if self.ready.contains(slot) {
                self.withdraw(slot);
                self.drop_job(slot);
            } else {
                self.commits.join(change, (live.id, slot));
            }
        }
        self.give(now, given, out);
    }

    /// The jobs of the forming batch that could run at once, in the order in which they should: their places
    /// in the batch and in their submission. None if the batch does not leave now, or is a busy one.
    fn fresh_jobs(&self, now: Now) -> Vec<Fresh> {
        let mut fresh = Vec::new();
        // Whoever is still in line comes first.
        let at_rest = !self.lines.has_news();
        if self.commits.is_writing() || self.commits.waiting() > JOINT_CHANGES || !at_rest {
            return fresh;
        }
        for (index, change) in self.commits.forming().iter().enumerate() {
            match change {
                // Its row may have been taken in before, and its job may have run and ended: only the store knows.
                Change::Submit(submission) if submission.inbox.is_some() => {}
                Change::Submit(submission) => {
                    let could =
                        submission.jobs.iter().enumerate().filter(|(_, job)| self.could_run(now, job));
                    fresh.extend(could.map(|(at, job)| (self.precedence(job), order(job), index, at)));
                    if fresh.len() > JOINT_JOBS {
                        return Vec::new();
                    }
                }
                // It may close the queue, or the key, of a job behind it.
                Change::PutQueue(..) | Change::CloseKey(_) => return Vec::new(),
                Change::Assign(_)
                | Change::End(_)
                | Change::Finish(_)
                | Change::CancelWanted(_)
                | Change::RunNow(..)
                | Change::Settle(..)
                | Change::Replay(_)
                | Change::OpenSession(_)
                | Change::CloseSession(..)
                | Change::PutKind(..)
                | Change::Mark(_)
                | Change::Log(_)
                | Change::Failed(_)
                | Change::PutDocument(_)
                | Change::Schedule(_)
                | Change::Delete(_)
                | Change::PurgeDead { .. }
                | Change::Prune { .. } => {}
            }
        }
        fresh.sort_unstable();
        fresh
    }

    fn precedence(&self, job: &NewJob) -> Reverse<i8> {
        Reverse(self.queues.get(&job.spec.queue).map_or(0, |queue| queue.settings.precedence))
    }

    fn could_run(&self, now: Now, job: &NewJob) -> bool {
        let expired = job.spec.options.expires_at.is_some_and(|at| at <= now.wall);
        // An id that is there already is a mistake, and the store's to refuse.
        job.due_at <= now.wall && !expired && self.jobs.slot(job.id).is_none()
    }

    /// Takes a job in before its commit: ready, but without a name and uncounted.
    fn admit(&mut self, job: &Newcomer<'_>) -> u32 {
        let class = self.class_of(job);
        let slot = self.jobs.insert_provisional(job, class, Phase::Ready(None));
        self.register_keys(slot, job);
        self.push_ready(slot);
        slot
    }

    /// The submission is durable: its jobs may run, and those that were nothing new vanish.
    pub(crate) fn take_in(
        &mut self,
        now: Now,
        jobs: &[NewJob],
        answer: &Submitted,
        mut provisional: Vec<Provisional>,
        out: &mut Vec<Output>,
    ) {
        let intakes: &[Intake] = match answer {
            Submitted::Accepted(intakes) => intakes,
            Submitted::Replayed(_) | Submitted::KeyReused | Submitted::NoParent(..) => &[],
        };
        for (job, intake) in jobs.iter().zip(intakes) {
            let place = provisional.iter().position(|(id, _)| *id == job.id);
            let early = place.map(|place| provisional.swap_remove(place).1);
            let slot = match (intake, early) {
                (Intake::Created(_), Some(slot)) => {
                    self.confirm(slot);
                    slot
                }
                (Intake::Created(_), None) => self.add_job(now, job),
                (Intake::Duplicate(_), Some(slot)) => {
                    self.nothing_new(slot);
                    continue;
                }
                (Intake::Duplicate(_), None) => continue,
            };
            out.push(self.job_event(slot, self.jobs.get(slot).counted, now.wall));
        }
        for (_, slot) in provisional {
            self.nothing_new(slot);
        }
    }

    /// The job exists: it has its name, and counts.
    fn confirm(&mut self, slot: u32) {
        self.jobs.confirm(slot);
        let entry = self.jobs.get(slot);
        let key = &self.classes.get(entry.class).key;
        self.counters.add(&key.queue, &key.kind, entry.counted, 1);
    }

    /// The store had an answer already: there is no such job, and never was.
    fn nothing_new(&mut self, slot: u32) {
        if sabotage::active(Bug::DuplicateRuns) {
            self.confirm(slot);
        } else {
            self.vanish(slot);
        }
    }

    /// Job and lease never were: the threads are free, and no worker hears of it.
    pub(crate) fn vanish(&mut self, slot: u32) {
        match self.jobs.get(slot).phase {
            Phase::Leased(lease) => {
                let lease = self.leases.remove(lease);
                self.sessions.get_mut(lease.session).holds.remove(lease.fence);
                self.use_threads(lease.session, -i32::from(lease.threads));
                self.update_visibility(lease.session);
                if !sabotage::active(Bug::VanishedStillCounts) {
                    self.lease_over(slot);
                }
            }
            Phase::Ending => self.take_back_end(slot),
            Phase::Blocked | Phase::Waiting(_) | Phase::Ready(_) | Phase::Leaving => self.withdraw(slot),
        }
        self.drop_job(slot);
    }
}

/// Where a new job stands once it is due.
fn order(job: &NewJob) -> Order {
    Order { priority: job.spec.priority, arrival: job.due_at, seq: job.seq }
}
