//! What a batch comes to, worked out before anything is written.
//!
//! Changes are applied in order to what is known of the rows that they touch, and add up to a *segment*: for each table
//! the rows to insert, change and delete, which a few statements with arrays then write. The answers, and every refusal,
//! are those of the store in memory.
//!
//! What is known comes in two ways. Most batches only take in jobs without keys, give leases and end attempts: there
//! nothing is looked up, the leader is believed, and the statements check in the same transaction that the rows are as it
//! says (`ganger.expect`). For all others, and where that check fails, the rows are read first.
//!
//! A segment ends before a change that needs to know what an earlier change of it does to the same job in the database,
//! such as the end of a job that it takes in. Its writes are sent, and the next segment begins with reading. It also ends
//! before whatever removes many jobs at once, which is done by statements of its own.

mod attempt;
mod edges;
mod facts;
mod marks;
mod schedule;
mod session;
mod stroke;
mod submit;
mod write;

use std::collections::{BTreeMap, HashMap, HashSet};

use ganger_core::change::{Applied, Assignment, Change, End, Lease, NewJob, Replay};
use ganger_core::dependency::Edge;
use ganger_core::document::Collection;
use ganger_core::job::State;
use ganger_core::schedule::ledger::ScheduleChange;
use ganger_core::{Fence, JobId, SessionId, Wall};

pub(super) use self::facts::{Facts, FinalFact, Wanted};
pub(super) use self::session::SessionState;
use super::error::Failure;
use super::known::Known;
use crate::seen::Seen;
use marks::Marked;

/// What came of giving a change to a segment.
pub(super) enum Taken {
    /// It is part of the segment, and this is its answer.
    Done(Applied),
    /// It must wait for what the segment writes.
    After,
    /// It is not for a segment: it removes jobs by statements of its own.
    Apart,
}

/// What lasts for a batch, over its segments.
pub(super) struct Course<'w> {
    pub(super) known: &'w mut Known,
    /// Sessions that the batch opened or closed.
    pub(super) sessions: HashMap<SessionId, SessionState>,
    /// Jobs that submissions named and did not create.
    pub(super) not_created: HashSet<JobId>,
    /// The largest intake sequence among the new jobs.
    pub(super) last_seq: u64,
    /// Rows that the batch took out of the inbox, and whose jobs are still to come.
    pub(super) inbox: HashSet<i64>,
    /// The largest id among the new jobs.
    pub(super) largest: Option<JobId>,
}

impl<'w> Course<'w> {
    pub(super) fn new(known: &'w mut Known) -> Course<'w> {
        Course {
            known,
            sessions: HashMap::new(),
            not_created: HashSet::new(),
            last_seq: 0,
            inbox: HashSet::new(),
            largest: None,
        }
    }

    /// The batch was committed: what it did is remembered.
    pub(super) fn keep(self) {
        self.known.leases.keep();
        for (id, state) in self.sessions {
            match state {
                SessionState::Open { claim } => drop(self.known.open.insert(id, claim)),
                SessionState::Closed | SessionState::Unknown => drop(self.known.open.remove(&id)),
            }
        }
        self.known.largest = self.known.largest.max(self.largest);
    }
}

/// Changes that are written together.
#[derive(Default)]
pub(super) struct Segment<'b> {
    facts: Facts,
    touched: HashMap<JobId, Touch>,
    created: Vec<Created<'b>>,
    /// Ids of new jobs that are not larger than every earlier one: they might be taken.
    suspects: Vec<JobId>,
    patches: Vec<Patch>,
    agains: Vec<Again>,
    ended: Vec<Ended<'b>>,
    revived: Vec<Revived>,
    attempts: Vec<(JobId, u32, Vec<u8>)>,
    assignments: Vec<&'b Assignment>,
    /// Assignments without an open lease.
    over: Vec<Fence>,
    /// Leases that are given on the leader's word.
    leasable: Vec<(JobId, Fence)>,
    /// Jobs whose payloads are brought along, where they are among those.
    wanted: HashSet<JobId>,
    sessions: HashMap<SessionId, session::Write>,
    /// Leases that are also written on their jobs.
    transactional: Vec<(Fence, Lease, &'b Assignment)>,
    /// Jobs that ended in transactions of users.
    elsewhere: Vec<JobId>,
    /// New jobs that are dead from the start, when and why.
    stillborn: Vec<(JobId, Wall, &'b str)>,
    queues: BTreeMap<&'b str, String>,
    kinds: BTreeMap<&'b str, String>,
    /// Keys of queues, and until when they are closed; open without.
    closed_keys: BTreeMap<(&'b str, &'b str), Option<Wall>>,
    /// What becomes of the marks of jobs.
    marks: BTreeMap<JobId, Marked>,
    /// Idempotency keys that are answered, and when they were asked for first.
    answers: BTreeMap<(String, String), Wall>,
    holders: HashSet<(String, String)>,
    logs: HashSet<(JobId, u32)>,
    failures: Seen,
    /// Documents as they are to be; without a body they go.
    documents: BTreeMap<(Collection, &'b str), Option<&'b str>>,
    /// Of new jobs.
    edges: Vec<Edge>,
    /// Parents that ended.
    settled: Vec<(JobId, State)>,
    schedules: schedule::Schedules<'b>,
}

/// What a segment has done to a job.
#[derive(Clone, Copy, Default)]
struct Touch {
    created: Option<usize>,
    patched: Option<usize>,
    again: Option<usize>,
    assigned: bool,
    over: bool,
    revived: bool,
    settled: bool,
}

struct Created<'b> {
    new: &'b NewJob,
    due_at: Wall,
    cancel_wanted: bool,
}

struct Patch {
    job: JobId,
    due_at: Option<Wall>,
    cancel_wanted: bool,
}

struct Again {
    job: JobId,
    fence: Fence,
    due_at: Wall,
    retrying: bool,
    standing: ganger_core::rules::Standing,
    cancel_wanted: bool,
}

struct Ended<'b> {
    job: JobId,
    end: &'b End,
    last: Option<attempt::Last>,
}

struct Revived {
    replay: Replay,
    last_fence: Option<Fence>,
}

impl<'b> Segment<'b> {
    /// An empty one that begins with these facts.
    pub(super) fn new(facts: Facts) -> Segment<'b> {
        Segment { facts, ..Segment::default() }
    }

    /// Brings along the payloads of these jobs, where it looks at their rows.
    pub(super) fn wanting(self, wanted: &[JobId]) -> Segment<'b> {
        Segment { wanted: wanted.iter().copied().collect(), ..self }
    }

    /// Takes the next change of the batch, if it can.
    ///
    /// # Errors
    /// If it contradicts what is known.
    pub(super) fn take(&mut self, course: &mut Course<'_>, change: &'b Change) -> Result<Taken, Failure> {
        if self.must_wait(change) {
            return Ok(Taken::After);
        }
        let applied = match change {
            Change::Submit(submission) if !self.leave_inbox(course, submission) => Applied::Taken,
            Change::Submit(submission) => self.submit(course, submission)?,
            Change::Assign(assignment) => self.assign(course, assignment)?,
            Change::End(end) => self.end_attempt(course, end)?,
            Change::Finish(finish) => self.finish(course, finish)?,
            Change::CancelWanted(job) => self.patch(*job, None, true),
            Change::RunNow(job, at) => self.patch(*job, Some(*at), false),
            Change::Settle(parent, state) => self.settle(*parent, *state),
            Change::Replay(replay) => Applied::Replayed(self.replay(course, *replay)),
            Change::OpenSession(record) => self.open_session(course, record)?,
            Change::CloseSession(id, _) => self.close_session(course, *id),
            Change::PutQueue(name, settings) => {
                let text =
                    serde_json::to_string(settings).map_err(|e| Failure::unreadable("queue settings", e))?;
                self.queues.insert(name.as_str(), text);
                Applied::Done
            }
            Change::PutKind(name, settings) => {
                let text =
                    serde_json::to_string(settings).map_err(|e| Failure::unreadable("kind settings", e))?;
                self.kinds.insert(name.as_str(), text);
                Applied::Done
            }
            Change::CloseKey(closure) => {
                self.closed_keys.insert((closure.queue.as_str(), &closure.key), closure.until);
                Applied::Done
            }
            Change::Mark(mark) => {
                self.marks.entry(mark.job).or_default().take(mark);
                Applied::Done
            }
            Change::Log(lines) => self.append(lines),
            Change::Failed(seen) => {
                self.failures.add(seen);
                Applied::Done
            }
            Change::PutDocument(document) => {
                self.documents.insert((document.collection, &document.key), document.body.as_deref());
                Applied::Done
            }
            Change::Schedule(schedule) => self.change_schedule(course, schedule)?,
            Change::PurgeDead { .. } | Change::Prune { .. } | Change::Delete(_) => return Ok(Taken::Apart),
        };
        Ok(Taken::Done(applied))
    }

    /// Whether a change needs to know what the segment does to its job in the database.
    fn must_wait(&self, change: &Change) -> bool {
        let touch = |job: &JobId| self.touched.get(job).copied().unwrap_or_default();
        match change {
            Change::Submit(submission) => {
                let mut jobs = submission.jobs.iter();
                jobs.any(|job| self.touched.get(&job.id).is_some_and(|touch| touch.created.is_none()))
                    || self.moved_parent(submission)
            }
            Change::Assign(assignment) => assignment.leases.iter().any(|lease| {
                let touch = touch(&lease.job);
                touch.over || touch.revived
            }),
            Change::End(end) => {
                let touch = touch(&end.job);
                touch.over
                    || touch.revived
                    || touch.assigned
                    || touch.again.is_some()
                    || touch.created.is_some()
            }
            Change::Finish(finish) => {
                let touch = touch(&finish.job);
                touch.over || touch.revived || touch.again.is_some() || touch.created.is_some()
            }
            Change::CancelWanted(job) | Change::RunNow(job, _) => touch(job).revived,
            // The first state stays, and one statement would take any of two.
            Change::Settle(parent, _) => touch(parent).settled,
            Change::Replay(replay) => self.touched.contains_key(&replay.job),
            Change::Schedule(change) => match &**change {
                ScheduleChange::Fire(firing) => {
                    firing.jobs.iter().any(|job| self.touched.contains_key(&job.id))
                }
                ScheduleChange::Put(..) | ScheduleChange::Delete(_) => false,
            },
            // The row tells whether it may be opened at all; closed at once, it would not be asked.
            Change::CloseSession(id, _) => matches!(self.sessions.get(id), Some(session::Write::Open(_))),
            Change::OpenSession(_)
            | Change::PutQueue(..)
            | Change::PutKind(..)
            | Change::CloseKey(_)
            | Change::Mark(_)
            | Change::Log(_)
            | Change::Failed(_)
            | Change::PutDocument(_)
            | Change::Delete(_)
            | Change::PurgeDead { .. }
            | Change::Prune { .. } => false,
        }
    }

    /// A live job becomes due, or is asked to stop; others are left alone.
    fn patch(&mut self, job: JobId, due_at: Option<Wall>, cancel_wanted: bool) -> Applied {
        let touch = self.touched.entry(job).or_default();
        if touch.over {
            return Applied::Done;
        }
        if let Some(created) = touch.created.and_then(|at| self.created.get_mut(at)) {
            created.due_at = due_at.map_or(created.due_at, |at| at.min(created.due_at));
            created.cancel_wanted |= cancel_wanted;
        } else if let Some(again) = touch.again.and_then(|at| self.agains.get_mut(at)) {
            again.due_at = due_at.map_or(again.due_at, |at| at.min(again.due_at));
            again.cancel_wanted |= cancel_wanted;
        } else if let Some(patch) = touch.patched.and_then(|at| self.patches.get_mut(at)) {
            patch.due_at = patch.due_at.into_iter().chain(due_at).min();
            patch.cancel_wanted |= cancel_wanted;
        } else {
            touch.patched = Some(self.patches.len());
            self.patches.push(Patch { job, due_at, cancel_wanted });
        }
        Applied::Done
    }
}

/// Whether some of the changes are submissions with idempotency keys.
pub(super) fn has_keys(changes: &[Change]) -> bool {
    let keyed =
        |change: &Change| matches!(change, Change::Submit(submission) if submission.idempotency.is_some());
    changes.iter().any(keyed)
}

/// Whether the changes of a batch can be taken on the leader's word, without reading anything first.
pub(super) fn is_plain(changes: &[Change]) -> bool {
    changes.iter().all(|change| match change {
        Change::Submit(submission) => {
            submission.inbox.is_none()
                && submission
                    .jobs
                    .iter()
                    .all(|job| job.spec.options.unique_key.is_none() && job.spec.depends_on.is_empty())
        }
        Change::Assign(_)
        | Change::End(_)
        | Change::Finish(_)
        | Change::CancelWanted(_)
        | Change::RunNow(..)
        | Change::Settle(..)
        | Change::OpenSession(_)
        | Change::CloseSession(..)
        | Change::PutQueue(..)
        | Change::PutKind(..)
        | Change::CloseKey(_)
        | Change::Mark(_)
        | Change::Failed(_)
        | Change::PutDocument(_) => true,
        Change::Replay(_)
        | Change::Log(_)
        | Change::Schedule(_)
        | Change::Delete(_)
        | Change::PurgeDead { .. }
        | Change::Prune { .. } => false,
    })
}
