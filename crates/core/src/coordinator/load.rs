//! Takeover: a new leader's memory from the store.
//!
//! Jobs without a lease run at once. A leased job stays with its session, which must resume, or expires
//! `leader_ttl + session_ttl + slack` after the new term's beginning was answered: so long the old leader
//! may have gone on answering, and so long the worker may believe it. Workers that lived inside the old
//! server process died with it; their sessions end at once.

use std::time::Duration;

use foldhash::{HashMap, HashMapExt as _};

use crate::change::{Assignment, Lease, LiveJob, SessionRecord, Snapshot, Tally};
use crate::coordinator::marks;
use crate::coordinator::roster::{SessionEntry, Standing};
use crate::coordinator::table::Phase;
use crate::coordinator::view::LeftWhy;
use crate::coordinator::{Coordinator, LeaseEntry, Timer};
use crate::ids::JobId;
use crate::job::State;
use crate::lease::Fence;
use crate::message::CancelWhy;
use crate::rules::Ending;
use crate::sabotage::{self, Bug};
use crate::time::{Mono, Now};

/// The leases of jobs that have not ended, of all that assignments name: a job remembers the last one that did.
pub(crate) fn open_leases<'a>(
    jobs: &[LiveJob],
    assignments: &'a [Assignment],
) -> HashMap<JobId, (&'a Assignment, Fence, Lease)> {
    let last: HashMap<_, _> = jobs.iter().filter_map(|job| Some((job.id, job.last_fence?))).collect();
    let mut leased = HashMap::new();
    for assignment in assignments {
        for (fence, lease) in assignment.fenced() {
            if last.get(&lease.job).is_none_or(|l| *l < fence) {
                leased.insert(lease.job, (assignment, fence, lease));
            }
        }
    }
    leased
}

impl Coordinator {
    pub(crate) fn load(&mut self, snapshot: Snapshot, now: Now, waits_from: Mono) {
        for (queue, settings) in snapshot.queues {
            self.queues.entry(queue.clone()).or_default().settings = settings;
            self.settings_flow(&queue);
        }
        for closure in &snapshot.closed {
            if !sabotage::active(Bug::ClosedKeyForgotten) {
                self.key_closed(now, closure);
            }
        }
        self.kinds.extend(snapshot.kinds);
        self.load_schedules(snapshot.schedules);
        for Tally { queue, kind, state, count } in snapshot.finals {
            self.counters.add(&queue, &kind, state, count);
        }
        for record in snapshot.sessions {
            self.load_session(record, now, waits_from);
        }
        // Arrival order: appending in order keeps every insertion at the end of its lane.
        let mut jobs = snapshot.jobs;
        jobs.sort_by_key(|job| (job.due_at, job.seq));
        let leased = open_leases(&jobs, &snapshot.assignments);
        self.load_edges(snapshot.edges);
        for job in &jobs {
            match leased.get(&job.id) {
                Some((assignment, fence, lease)) => self.load_leased(now, job, assignment, *fence, *lease),
                None => {
                    self.add_job(now, job);
                }
            }
        }
        self.load_marks(snapshot.marks);
        self.rates_begin_empty(now.mono);
        self.load_ended(now, snapshot.ended);
        self.cancel_what_was_wanted(now, &jobs.iter().map(|j| j.id).collect::<Vec<_>>());
        self.end_local_sessions(now);
        self.schedules_loaded(now);
        self.timers.insert(now.mono + self.options.prune_first, Timer::Prune);
        self.reconcile_later(now);
    }

    fn load_session(&mut self, record: SessionRecord, now: Now, waits_from: Mono) {
        let ttl = record.worker.ttl;
        let deadline = if sabotage::active(Bug::ShortTakeoverWait) {
            waits_from + ttl
        } else {
            waits_from + self.options.leader_ttl.unwrap_or(Duration::ZERO) + ttl + self.options.slack
        };
        let slot = self.sessions.insert(SessionEntry::new(record, Standing::Unresumed, now.mono, deadline));
        self.watch(slot, deadline);
        self.enlist(slot);
    }

    fn load_leased(&mut self, now: Now, job: &LiveJob, assignment: &Assignment, fence: Fence, lease: Lease) {
        let Some(session) = self.sessions.slot(assignment.session) else {
            self.add_job(now, job);
            return;
        };
        let job = self.add_job_as(&job.into(), Phase::Leaving, State::Running);
        let slot = self.leases.insert(LeaseEntry {
            job,
            fence,
            assignment: assignment.first,
            session,
            attempt: lease.attempt,
            threads: lease.threads,
            transactional: lease.transactional,
            leased_at: assignment.at,
            committed: true,
            mark: marks::Mark::default(),
            stopping: None,
            timer: None,
        });
        self.jobs.get_mut(job).phase = Phase::Leased(slot);
        self.sessions.get_mut(session).holds.insert(fence, slot);
        self.use_threads(session, i32::from(lease.threads));
        self.update_visibility(session);
        if !sabotage::active(Bug::RunningNotRestored) {
            self.lease_loaded(job);
        }
    }

    fn cancel_what_was_wanted(&mut self, now: Now, jobs: &[JobId]) {
        for id in jobs {
            let Some(job) = self.jobs.slot(*id) else { continue };
            if !self.jobs.get(job).cancel_wanted {
                continue;
            }
            match self.jobs.get(job).phase {
                Phase::Leased(lease) => self.stop(now, lease, CancelWhy::Cancelled, &mut Vec::new()),
                Phase::Blocked | Phase::Waiting(_) | Phase::Ready(_) => {
                    self.withdraw(job);
                    self.finish(now, job, State::Cancelled, "cancelled while it ran", None);
                }
                Phase::Ending | Phase::Leaving => {}
            }
        }
    }

    fn end_local_sessions(&mut self, now: Now) {
        let local: Vec<u32> =
            self.sessions.iter().filter(|(_, s)| s.worker.local).map(|(slot, _)| slot).collect();
        for slot in local {
            self.close(now, slot, Ending::Lost, LeftWhy::ServerEnded);
        }
    }
}
