//! Everything a store knows, and the transaction around a batch.

use std::collections::BTreeSet;
use std::sync::Arc;

use ganger_core::change::{
    Applied, Assignment, AttemptRecord, Batch, Change, End, Intake, LiveJob, SessionRecord, Snapshot,
};
use ganger_core::dependency::Edge;
use ganger_core::document::Collection;
use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::ids::ScheduleId;
use ganger_core::kind::KindSettings;
use ganger_core::minutes::Counts;
use ganger_core::name::{Kind, QueueName};
use ganger_core::queue::QueueSettings;
use ganger_core::sabotage::{self, Bug};
use ganger_core::schedule::ledger::Occurrence;
use ganger_core::schedule::{ScheduleRecord, Standing};
use ganger_core::{Fence, JobId, SessionId, Term, Wall};

use super::table::Table;
use crate::refusal;
use crate::shared::InboxRow;
use crate::store::{CommitError, StoreError};
use crate::tallies::Tallies;

/// A whole store as plain values. Clone it to look at two futures of one past.
#[derive(Clone, Debug, Default)]
pub struct MemoryState {
    term: Term,
    server: String,
    /// Its leader resigned: nothing more is written in this term.
    resigned: bool,
    /// Number of the last batch of this term, what it came to, and what the one before it came to.
    batch: u64,
    outcomes: Vec<Applied>,
    before: Vec<Applied>,
    pub(super) last_seq: u64,
    pub(super) live: Table<JobId, Live>,
    pub(super) finals: Table<JobId, Final>,
    pub(super) attempts: Table<(JobId, u32), AttemptRecord>,
    pub(super) assignments: Table<Fence, Assignment>,
    /// Leases that have not ended.
    pub(super) leases: Table<JobId, OpenLease>,
    /// Sessions ever opened, but for closed claims; `None` once closed.
    pub(super) sessions: Table<SessionId, Option<SessionRecord>>,
    pub(super) queues: Table<QueueName, QueueSettings>,
    pub(super) kinds: Table<Kind, KindSettings>,
    /// Keys that are closed, and until when.
    pub(super) closed_keys: Table<(QueueName, String), Wall>,
    /// The lease under which each marked job was marked.
    pub(super) marks: Table<JobId, Fence>,
    /// What users' transactions submitted, until the leader takes it in.
    pub(super) inbox: Table<i64, InboxRow>,
    /// Number of the last row of the inbox.
    pub(super) last_row: i64,
    /// Jobs that their handlers ended, until the leader knows.
    pub(super) elsewhere: Table<JobId, ()>,
    pub(super) idempotency: Table<(String, String), Answer>,
    pub(super) unique: Table<(Kind, String), Holder>,
    pub(super) logs: Table<(JobId, u32), String>,
    pub(super) failures: Table<Fingerprint, FailureGroup>,
    /// How many failures of a group came in a bucket.
    pub(super) trends: Table<(Fingerprint, i64), u64>,
    pub(super) documents: Table<(Collection, String), String>,
    pub(super) minutes: Table<(i64, QueueName, Kind), Counts>,
    /// By child and parent.
    pub(super) edges: Table<(JobId, JobId), Edge>,
    pub(super) schedules: Table<ScheduleId, (ScheduleRecord, Standing)>,
    pub(super) occurrences: Table<(ScheduleId, Wall), Occurrence>,
    /// Jobs that submissions of the open transaction named and did not create.
    pub(super) not_created: BTreeSet<JobId>,
}

/// A live job with what the coordinator does not need.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) job: LiveJob,
    pub(super) run_at: Option<Wall>,
    pub(super) payload: Arc<str>,
}

/// A final job that is kept.
#[derive(Clone, Debug)]
pub(super) struct Final {
    pub(super) was: Live,
    pub(super) end: End,
}

/// A lease that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLease {
    /// The assignment it belongs to.
    pub(super) assignment: Fence,
    /// Its own fence.
    pub(super) fence: Fence,
}

/// What an idempotency key was answered with.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) fingerprint: [u8; 32],
    pub(super) until: Wall,
    pub(super) intake: Vec<Intake>,
}

/// Who holds a unique key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) job: JobId,
    /// `None` while the job is live.
    pub(super) until: Option<Wall>,
}

impl MemoryState {
    /// An empty store.
    #[must_use]
    pub fn new() -> MemoryState {
        MemoryState::default()
    }

    /// Begins a new term with this random id, larger than every earlier one and than `more_than`.
    pub fn take_over(&mut self, server: &str, more_than: u64, id: u64) -> Term {
        self.term = Term { number: self.term.number.max(more_than) + 1, id };
        self.server = server.into();
        self.resigned = false;
        self.batch = 0;
        self.outcomes.clear();
        self.before.clear();
        // A new leader finds them final.
        self.elsewhere = Table::default();
        self.term
    }

    /// The present term; number 0 before the first.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term
    }

    /// Who leads the present term.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Number of the last batch of the present term.
    #[must_use]
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// Ends this term before another begins; `false` if it is over already.
    pub fn resign(&mut self, term: Term) -> bool {
        let held = self.leads(term);
        self.resigned |= held;
        held
    }

    /// Whether batches of this term are taken.
    #[must_use]
    pub fn leads(&self, term: Term) -> bool {
        term == self.term && !self.resigned
    }

    /// What a leader needs to begin.
    #[must_use]
    pub fn load(&self) -> Snapshot {
        let mut finals = Tallies::default();
        for (_, job) in self.finals.iter() {
            finals.add(&job.was.job.queue, &job.was.job.kind, job.end.state, 1);
        }
        Snapshot {
            jobs: self.live.values().map(|live| live.job.clone()).collect(),
            sessions: self.sessions.values().flatten().cloned().collect(),
            assignments: self.assignments.values().cloned().collect(),
            queues: self.queues.iter().map(|(name, settings)| (name.clone(), *settings)).collect(),
            kinds: self.kinds.iter().map(|(name, settings)| (name.clone(), *settings)).collect(),
            closed: self.closed_keys(),
            marks: self.marks.iter().map(|(job, fence)| (*job, *fence)).collect(),
            schedules: self.schedules.values().cloned().collect(),
            finals: finals.into_vec(),
            edges: self.open_edges().copied().collect(),
            ended: self.ended_parents(),
            last_seq: self.last_seq,
        }
    }

    /// Applies a batch, all of it or nothing, and answers each change in order.
    ///
    /// # Errors
    /// [`CommitError::TermLost`] if another term has begun; [`CommitError::Refused`] if the number does
    /// not follow, or a change contradicts what is stored.
    pub fn commit(&mut self, term: Term, batch: &Batch) -> Result<Vec<Applied>, CommitError> {
        let current = self.leads(term);
        if !current && !sabotage::active(Bug::NoTermGuard) {
            return Err(CommitError::TermLost);
        }
        // Without its guard a store has nothing to compare a stranger's number with.
        if current && !sabotage::active(Bug::BlindBatchNumber) {
            if batch.number == self.batch && batch.number > 0 {
                return Ok(self.outcomes.clone());
            }
            if batch.number > 0 && batch.number + 1 == self.batch {
                return Ok(self.before.clone());
            }
            if batch.number != self.batch + 1 {
                return Err(CommitError::Refused(refusal::number(batch.number, self.batch)));
            }
        }
        // Whatever a panic left behind is taken back first.
        self.roll_back();
        let last_seq = self.last_seq;
        match self.apply_all(batch) {
            Ok(outcomes) => {
                self.keep();
                if current {
                    self.batch = batch.number;
                    self.before = std::mem::replace(&mut self.outcomes, outcomes.clone());
                }
                Ok(outcomes)
            }
            Err(error) => {
                self.roll_back();
                self.last_seq = last_seq;
                Err(CommitError::Refused(error))
            }
        }
    }

    fn apply_all(&mut self, batch: &Batch) -> Result<Vec<Applied>, StoreError> {
        self.not_created.clear();
        let outcomes =
            batch.changes.iter().map(|change| self.apply(change)).collect::<Result<Vec<_>, _>>()?;
        for change in &batch.changes {
            if let Change::CloseSession(id, _) = change {
                self.check_no_leases(*id)?;
            }
        }
        self.add_minutes(batch, &outcomes);
        Ok(outcomes)
    }

    pub(super) fn keep(&mut self) {
        self.live.commit();
        self.finals.commit();
        self.attempts.commit();
        self.assignments.commit();
        self.leases.commit();
        self.sessions.commit();
        self.queues.commit();
        self.kinds.commit();
        self.closed_keys.commit();
        self.marks.commit();
        self.inbox.commit();
        self.elsewhere.commit();
        self.idempotency.commit();
        self.unique.commit();
        self.logs.commit();
        self.failures.commit();
        self.trends.commit();
        self.documents.commit();
        self.minutes.commit();
        self.edges.commit();
        self.schedules.commit();
        self.occurrences.commit();
    }

    pub(super) fn roll_back(&mut self) {
        self.live.roll_back();
        self.finals.roll_back();
        self.attempts.roll_back();
        self.assignments.roll_back();
        self.leases.roll_back();
        self.sessions.roll_back();
        self.queues.roll_back();
        self.kinds.roll_back();
        self.closed_keys.roll_back();
        self.marks.roll_back();
        self.inbox.roll_back();
        self.elsewhere.roll_back();
        self.idempotency.roll_back();
        self.unique.roll_back();
        self.logs.roll_back();
        self.failures.roll_back();
        self.trends.roll_back();
        self.documents.roll_back();
        self.minutes.roll_back();
        self.edges.roll_back();
        self.schedules.roll_back();
        self.occurrences.roll_back();
    }
}
