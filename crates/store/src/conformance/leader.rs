//! A leader by hand: numbers its batches, makes ids and fences, and asserts what it is told.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{
    After, Applied, Assignment, AttemptEnd, AttemptRecord, Batch, Change, End, Intake, Lease, NewJob, Replay,
    SessionRecord, Submission, Submitted, WorkerInfo,
};
use ganger_core::job::{JobSpec, State};
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};

use crate::read::{ListQuery, StoredJob};
use crate::store::{CommitError, Store, StoreError};

/// When every story begins.
pub(super) const START: Wall = Wall(1_700_000_000_000_000);

/// A leader and its store.
pub(super) struct Leader {
    pub(super) store: Arc<dyn Store>,
    pub(super) term: Term,
    /// The last number that was committed.
    pub(super) number: u64,
    pub(super) now: Wall,
    seq: u64,
    fence: u64,
    made: u64,
}

impl Leader {
    pub(super) async fn begin(store: Arc<dyn Store>) -> Leader {
        let term = store.take_over("test", 0).await.unwrap();
        Leader { store, term, number: 0, now: START, seq: 0, fence: 0, made: 0 }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
    }

    pub(super) async fn commit(&mut self, changes: Vec<Change>) -> Vec<Applied> {
        let batch = Batch::new(self.number + 1, changes);
        let outcomes = self.store.commit(self.term, Arc::new(batch)).await.unwrap();
        self.number += 1;
        outcomes
    }

    pub(super) async fn commit_one(&mut self, change: Change) -> Applied {
        self.commit(vec![change]).await.remove(0)
    }

    /// A batch that must be refused, and why it was.
    pub(super) async fn refused(&mut self, changes: Vec<Change>) -> String {
        let batch = Batch::new(self.number + 1, changes);
        match self.store.commit(self.term, Arc::new(batch)).await {
            Err(CommitError::Refused(StoreError::Failed(why))) => why,
            other => panic!("not refused: {other:?}"),
        }
    }

    pub(super) fn new_job(&mut self, spec: JobSpec) -> NewJob {
        self.seq += 1;
        let due_at = spec.run_at.map_or(self.now, |at| at.max(self.now));
        NewJob { id: self.job_id(), seq: self.seq, created_at: self.now, due_at, spec }
    }

    /// An id larger than every one before.
    pub(super) fn job_id(&mut self) -> JobId {
        self.made += 1;
        JobId::new(START.unix_millis() + self.made, [7; 10])
    }

    pub(super) async fn submit_all(&mut self, jobs: Vec<NewJob>) -> Vec<Intake> {
        let applied =
            self.commit_one(Change::Submit(Submission { idempotency: None, jobs, inbox: None })).await;
        let Applied::Submitted(Submitted::Accepted(intake)) = applied else {
            panic!("not accepted: {applied:?}")
        };
        intake
    }

    pub(super) async fn submit(&mut self, spec: JobSpec) -> JobId {
        let job = self.new_job(spec);
        let id = job.id;
        assert_eq!(self.submit_all(vec![job]).await, [Intake::Created(id)]);
        id
    }

    pub(super) fn session(&mut self) -> SessionRecord {
        self.made += 1;
        let worker = WorkerInfo {
            name: "alice".into(),
            queues: vec!["mail".parse().unwrap()],
            kinds: vec![],
            threads: 4,
            labels: [("gpu".to_owned(), "yes".to_owned())].into(),
            version: "1.2.3".into(),
            local: false,
            claim: false,
            ttl: Duration::from_secs(15),
        };
        let id = SessionId::new(START.unix_millis() + self.made, [9; 10]);
        SessionRecord { id, worker, opened_at: self.now }
    }

    pub(super) async fn open_session(&mut self) -> SessionId {
        let record = self.session();
        assert_eq!(self.commit_one(Change::OpenSession(record.clone())).await, Applied::Done);
        record.id
    }

    pub(super) fn assignment(&mut self, session: SessionId, jobs: &[JobId]) -> Assignment {
        let first = Fence { term: self.term, seq: self.fence + 1 };
        self.fence += jobs.len() as u64;
        let leases = jobs
            .iter()
            .map(|job| Lease { job: *job, attempt: 1, threads: 2, transactional: false })
            .collect();
        Assignment { session, first, at: self.now, leases }
    }

    pub(super) async fn assign(&mut self, session: SessionId, jobs: &[JobId]) -> Assignment {
        let assignment = self.assignment(session, jobs);
        assert_eq!(self.commit_one(Change::Assign(assignment.clone())).await, Applied::Done);
        assignment
    }

    /// The end of the i-th lease of an assignment.
    pub(super) fn end(
        &self,
        of: &Assignment,
        i: usize,
        number: u32,
        outcome: Outcome,
        after: After,
    ) -> AttemptEnd {
        let (fence, lease) = of.fenced().nth(i).unwrap();
        let record = AttemptRecord {
            number,
            outcome,
            error: (outcome != Outcome::Ok).then(|| "it broke".into()),
            worker: "alice".into(),
            session: of.session,
            threads: lease.threads,
            leased_at: of.at,
            started_at: of.at,
            ended_at: self.now,
            fence,
        };
        AttemptEnd {
            job: lease.job,
            fence,
            assignment: of.first,
            transactional: lease.transactional,
            record: Some(record),
            after,
        }
    }

    /// Runs a job once, to an end in this state.
    pub(super) async fn run_to(&mut self, session: SessionId, job: JobId, end: End) -> AttemptEnd {
        let assignment = self.assign(session, &[job]).await;
        let outcome = if end.state == State::Succeeded { Outcome::Ok } else { Outcome::Error };
        let number = self.job(job).await.standing.attempt + 1;
        let standing = Standing { attempt: number, burnt: number, lost: 0 };
        let ended = self.end(&assignment, 0, number, outcome, After::Final { standing, end });
        assert_eq!(self.commit_one(Change::End(ended.clone())).await, Applied::Done);
        ended
    }

    /// Ends the first lease of an assignment, and its job, with success.
    pub(super) async fn run_out(&mut self, assignment: &Assignment, job: JobId) {
        let number = self.job(job).await.standing.attempt + 1;
        let standing = Standing { attempt: number, burnt: number, lost: 0 };
        let after = After::Final { standing, end: self.succeeded() };
        let end = self.end(assignment, 0, number, Outcome::Ok, after);
        assert_eq!(self.commit_one(Change::End(end)).await, Applied::Done);
    }

    pub(super) fn succeeded(&self) -> End {
        let result = Some("{\"sent\": true}".into());
        End { state: State::Succeeded, at: self.now, result, reason: None, keep: true }
    }

    pub(super) fn dead(&self) -> End {
        let reason = Some("no attempts left".into());
        End { state: State::Dead, at: self.now, result: None, reason, keep: true }
    }

    pub(super) fn cancelled(&self) -> End {
        let reason = Some("stopped by a person".into());
        End { state: State::Cancelled, at: self.now, result: None, reason, keep: true }
    }

    pub(super) fn replay(&mut self, job: JobId) -> Change {
        self.seq += 1;
        Change::Replay(Replay { job, seq: self.seq, at: self.now })
    }

    /// A job that must exist.
    pub(super) async fn job(&self, id: JobId) -> StoredJob {
        self.find(id).await.unwrap_or_else(|| panic!("{id} is not there"))
    }

    pub(super) async fn find(&self, id: JobId) -> Option<StoredJob> {
        self.store.jobs(&[id], self.now).await.unwrap().pop()
    }

    pub(super) async fn list(&self, query: ListQuery) -> Vec<JobId> {
        let page = self.store.list(&query, self.now).await.unwrap();
        assert!(page.complete);
        page.jobs.iter().map(|job| job.id).collect()
    }
}

/// A job of this kind with all defaults.
pub(super) fn spec(kind: &str) -> JobSpec {
    JobSpec::new(kind.parse().unwrap())
}

/// A job that holds a unique key.
pub(super) fn unique(kind: &str, key: &str, held_for: Duration) -> JobSpec {
    let mut spec = spec(kind);
    spec.options.unique_key = Some(key.into());
    spec.options.unique_for = held_for;
    spec
}

/// A list of everything, in one page.
pub(super) fn everything() -> ListQuery {
    ListQuery { limit: 500, ..ListQuery::default() }
}
