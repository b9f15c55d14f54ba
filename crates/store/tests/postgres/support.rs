//! A leader by hand, and a second pair of eyes on the database.

use std::sync::Arc;

use ganger_core::change::{
    After, Applied, Assignment, AttemptEnd, AttemptRecord, Batch, Change, End, Intake, Lease, NewJob,
    SessionRecord, Submission, Submitted, WorkerInfo,
};
use ganger_core::job::{JobSpec, State};
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};
use ganger_store::testing::Postgres;
use ganger_store::{CommitError, PgOptions, PgStore, Store};

/// When every story begins.
pub(crate) const NOW: Wall = Wall(1_750_000_000_000_000);

/// A new store in the cluster of this process, and where its database is.
pub(crate) async fn fresh() -> (PgStore, String) {
    let url = Postgres::shared().migrated_database().await;
    (open(&url).await, url)
}

pub(crate) async fn open(url: &str) -> PgStore {
    PgStore::connect(&PgOptions::new(url)).await.unwrap()
}

/// A connection of one's own.
pub(crate) async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A leader and its store.
pub(crate) struct Leader {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) term: Term,
    /// The last number that was committed.
    pub(crate) number: u64,
    pub(crate) session: SessionId,
    made: u64,
    fence: u64,
}

impl Leader {
    /// Begins a term and opens a session in it.
    pub(crate) async fn begin(store: &PgStore) -> Leader {
        let term = store.take_over("test", 0).await.unwrap();
        Leader::of_term(store, term).await
    }

    /// Leads in a term that was won, and opens a session in it.
    pub(crate) async fn of_term(store: &PgStore, term: Term) -> Leader {
        let session = SessionId::new(NOW.unix_millis() + term.number, [9; 10]);
        let made = term.number << 32;
        let mut leader = Leader { store: Arc::new(store.clone()), term, number: 0, session, made, fence: 0 };
        let record = SessionRecord { id: session, worker: worker(), opened_at: NOW };
        assert_eq!(leader.commit(vec![Change::OpenSession(record)]).await, [Applied::Done]);
        leader
    }

    pub(crate) async fn try_commit(&self, changes: Vec<Change>) -> Result<Vec<Applied>, CommitError> {
        let batch = Batch::new(self.number + 1, changes);
        self.store.commit(self.term, Arc::new(batch)).await
    }

    pub(crate) async fn commit(&mut self, changes: Vec<Change>) -> Vec<Applied> {
        let outcomes = self.try_commit(changes).await.unwrap();
        self.number += 1;
        outcomes
    }

    pub(crate) fn new_job(&mut self, payload: &str) -> NewJob {
        self.made += 1;
        let mut random = [7; 10];
        random[2..].copy_from_slice(&self.made.to_be_bytes());
        let mut spec = JobSpec::new("noop".parse().unwrap());
        spec.payload = payload.into();
        let id = JobId::new(NOW.unix_millis() + self.made / 64, random);
        NewJob { id, seq: self.made, created_at: NOW, due_at: NOW, spec }
    }

    pub(crate) async fn submit(&mut self, count: usize) -> Vec<JobId> {
        let jobs: Vec<NewJob> = (0..count).map(|_| self.new_job("null")).collect();
        self.submit_all(jobs).await
    }

    pub(crate) async fn submit_all(&mut self, jobs: Vec<NewJob>) -> Vec<JobId> {
        let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        let created = ids.iter().copied().map(Intake::Created).collect();
        let applied = self.commit(vec![submission(jobs)]).await;
        assert_eq!(applied, [Applied::Submitted(Submitted::Accepted(created))]);
        ids
    }

    pub(crate) fn assignment(&mut self, jobs: &[JobId]) -> Assignment {
        let first = Fence { term: self.term, seq: self.fence + 1 };
        self.fence += jobs.len() as u64;
        let leases = jobs
            .iter()
            .map(|job| Lease { job: *job, attempt: 1, threads: 1, transactional: false })
            .collect();
        Assignment { session: self.session, first, at: NOW, leases }
    }

    /// The ends of every lease of an assignment, all in this state.
    pub(crate) fn ends(&self, of: &Assignment, state: State, at: Wall) -> Vec<Change> {
        of.fenced()
            .map(|(fence, lease)| {
                let record = AttemptRecord {
                    number: 1,
                    outcome: Outcome::Ok,
                    error: None,
                    worker: "worker-1".into(),
                    session: of.session,
                    threads: 1,
                    leased_at: NOW,
                    started_at: NOW,
                    ended_at: at,
                    fence,
                };
                let result = (state == State::Succeeded).then(|| "null".to_owned());
                let end = End { state, at, result, reason: None, keep: true };
                let after = After::Final { standing: Standing { attempt: 1, burnt: 1, lost: 0 }, end };
                let (job, assignment) = (lease.job, of.first);
                Change::End(AttemptEnd {
                    job,
                    fence,
                    assignment,
                    record: Some(record),
                    transactional: lease.transactional,
                    after,
                })
            })
            .collect()
    }

    /// Runs jobs to their end.
    pub(crate) async fn run(&mut self, jobs: &[JobId], state: State, at: Wall) {
        for jobs in jobs.chunks(256) {
            let assignment = self.assignment(jobs);
            let ends = self.ends(&assignment, state, at);
            self.commit(vec![Change::Assign(assignment)]).await;
            self.commit(ends).await;
        }
    }
}

pub(crate) fn submission(jobs: Vec<NewJob>) -> Change {
    Change::Submit(Submission { idempotency: None, inbox: None, jobs })
}

fn worker() -> WorkerInfo {
    WorkerInfo {
        name: "worker-1".into(),
        queues: vec![],
        kinds: vec![],
        threads: 4,
        labels: [].into(),
        version: "1".into(),
        local: false,
        claim: false,
        ttl: std::time::Duration::from_secs(15),
    }
}
