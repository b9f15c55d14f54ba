//! Drives both stores: makes commands concrete, and compares what comes back.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{
    After, Assignment, AttemptEnd, AttemptRecord, Batch, Change, EffectMark, End, Finish, Idempotency,
    KeyClosure, Lease, LiveQuery, LogLines, NewJob, Replay, SessionRecord, Snapshot, Submission, WorkerInfo,
};
use ganger_core::dependency::{self, Dependency, OnDead};
use ganger_core::document::{Collection, Document};
use ganger_core::fingerprint::FailureSeen;
use ganger_core::job::{JobSpec, State};
use ganger_core::kind::KindSettings;
use ganger_core::name::{Kind, QueueName};
use ganger_core::outcome::Outcome;
use ganger_core::queue::{Keep, QueueSettings, Retention};
use ganger_core::rules::{Death, Standing};
use ganger_core::{Fence, JobId, SessionId, Term, Wall, limits};
use ganger_store::read::ListQuery;
use ganger_store::{MemoryState, Store, conformance};

use crate::commands::{EndOp, Filter, JobOp, Op, Step};
use crate::counted::counted;
use crate::schedules;

const START: Wall = Wall(1_700_000_000_000_000);
const SECOND: Duration = Duration::from_secs(1);
/// Filters that a list may have.
const FILTERS: [&str; 6] = [
    "kind:kind-0 or state:dead",
    "-queue:queue-1 age<2h",
    "reason~a -state:cancelled",
    "key:key-* -state:succeeded",
    "outcome:error,lost attempt>0",
    "tag:red state:queued,dead,succeeded",
];
const DAY: Duration = Duration::from_secs(86_400);

/// Opens the store under test, which keeps what it holds from one time to the next.
pub(crate) type Open = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Arc<dyn Store>>>>>;

/// Both stores, and what a leader keeps in its head.
pub(crate) struct Driver {
    model: MemoryState,
    store: Option<Arc<dyn Store>>,
    open: Open,
    term: Term,
    before: Term,
    number: u64,
    last: Option<Batch>,
    now: Wall,
    /// For ids, sequences and fences: each is new.
    made: u64,
}

impl Driver {
    pub(crate) async fn new(open: Open) -> Driver {
        let mut driver = Driver {
            model: MemoryState::new(),
            store: None,
            open,
            term: Term::default(),
            before: Term::default(),
            number: 0,
            last: None,
            now: START,
            made: 0,
        };
        driver.reopen().await;
        driver.take_over(0).await;
        driver
    }

    pub(crate) async fn step(&mut self, step: Step) {
        match step {
            Step::Commit(ops) => {
                let batch = self.batch(self.number + 1, &ops);
                if self.commit(self.term, batch.clone()).await {
                    self.number += 1;
                    self.last = Some(batch);
                }
            }
            Step::Resend => {
                if let Some(batch) = self.last.clone() {
                    assert!(self.commit(self.term, batch).await);
                }
            }
            Step::Misnumber(by, ops) => {
                let number = (self.number + 1).saturating_add_signed(by.into());
                // A good batch, one sent again that differs, and one that a store may have to answer again or not.
                if !(self.number.saturating_sub(1)..=self.number + 1).contains(&number) {
                    let batch = self.batch(number, &ops);
                    assert!(!self.commit(self.term, batch).await);
                }
            }
            Step::Stale(ops) => {
                let batch = self.batch(self.number + 1, &ops);
                assert!(!self.commit(self.before, batch).await);
            }
            Step::TakeOver(more_than) => self.take_over(more_than.into()).await,
            Step::Reopen => self.reopen().await,
            Step::Pass(n, days) => {
                self.now = self.now + if days { DAY * n.into() } else { SECOND * n.into() }
            }
            Step::List(filter) => self.list(&filter).await,
        }
    }

    pub(crate) async fn reopen(&mut self) {
        self.store = None;
        self.store = Some((self.open)().await);
    }

    pub(crate) async fn compare_everything(&self) {
        let model = ganger_store::MemoryStore::from(self.model.clone());
        assert_eq!(
            conformance::dump(self.store(), self.now).await,
            conformance::dump(&model, self.now).await
        );
    }

    fn store(&self) -> &dyn Store {
        &**self.store.as_ref().unwrap()
    }

    async fn take_over(&mut self, more_than: u64) {
        let term = self.store().take_over("server", more_than).await.unwrap();
        assert_eq!(self.model.take_over("server", more_than, term.id), term);
        (self.before, self.term, self.number, self.last) = (self.term, term, 0, None);
    }

    /// Commits on both and compares; tells whether it was accepted.
    async fn commit(&mut self, term: Term, batch: Batch) -> bool {
        let expected = self.model.commit(term, &batch);
        let leased = batch.changes.iter().flat_map(Change::leases).map(|lease| lease.job);
        let wanted: Vec<JobId> = leased.step_by(2).collect();
        let answer = self.store().commit_and_bring(term, Arc::new(batch.clone()), &|| wanted.clone()).await;
        assert_eq!(answer.map(|committed| committed.applied), expected, "{batch:?}");
        assert_eq!(sorted(self.store().load().await.unwrap()), sorted(self.model.load()), "{batch:?}");
        self.compare_live().await;
        expected.is_ok()
    }

    /// What a leader reads to compare its memory with.
    async fn compare_live(&self) {
        let query = LiveQuery { after: None, limit: 1_000, sought: self.all_jobs() };
        let (mut read, mut expected) = (self.store().live(&query).await.unwrap(), self.model.live(&query));
        for page in [&mut read, &mut expected] {
            page.assignments.sort_by_key(|assignment| assignment.first);
            page.edges.sort();
            page.ended.sort();
            page.gone.sort();
        }
        assert_eq!(read, expected);
    }

    async fn list(&self, filter: &Filter) {
        let ids = self.all_jobs();
        let query = ListQuery {
            states: filter.states.clone(),
            kind: filter.kind.map(kind),
            queue: filter.queue.map(queue),
            unique_key: filter.key.map(|key| format!("key-{}", key % 3)),
            tag: filter.tag.then(|| "red".into()),
            created_from: filter.from.map(|from| START + SECOND * from.into()),
            created_before: None,
            before: filter.before.and_then(|before| pick(&ids, before)),
            limit: filter.limit.into(),
            filter: None,
        };
        let text = filter.text.map(|text| FILTERS[usize::from(text) % FILTERS.len()]);
        let Some(query) = (match text {
            Some(text) => query.and(Arc::new(ganger_core::filter::Filter::parse(text).unwrap()), self.now),
            None => Some(query),
        }) else {
            return;
        };
        let (page, expected) =
            (self.store().list(&query, self.now).await.unwrap(), self.model.list(&query, self.now));
        assert_eq!(
            (page.jobs, page.next, page.complete),
            (expected.jobs, expected.next, expected.complete),
            "{query:?}"
        );
        let jobs = self.store().jobs(&ids, self.now).await.unwrap();
        assert_eq!(jobs, self.model.jobs(&ids, self.now));
    }

    fn all_jobs(&self) -> Vec<JobId> {
        let query = ListQuery { limit: 500, ..ListQuery::default() };
        self.model.list(&query, self.now).jobs.iter().map(|job| job.id).collect()
    }

    /// Makes commands concrete one after the other, each against what the ones before it lead to.
    fn batch(&mut self, number: u64, ops: &[Op]) -> Batch {
        let mut scratch = self.model.clone();
        let term = scratch.take_over("scratch", 0, 0);
        let (mut changes, mut applied) = (Vec::new(), 0);
        for op in ops {
            let one = Batch::new(applied + 1, self.changes(&scratch, op));
            if scratch.commit(term, &one).is_ok() {
                applied += 1;
            }
            changes.extend(one.changes);
        }
        let counted = counted(self.now, &changes);
        Batch { number, changes, counted }
    }

    fn mark(&self, job: JobId, lease: u8, stands: bool) -> Change {
        let fence = Fence { term: self.term, seq: u64::from(lease % 3) + 1 };
        Change::Mark(EffectMark { job, fence, stands })
    }

    fn changes(&mut self, at: &MemoryState, op: &Op) -> Vec<Change> {
        let snapshot = at.load();
        let live: Vec<JobId> = snapshot.jobs.iter().map(|job| job.id).collect();
        let all = self.all_jobs();
        let one = match op {
            Op::Submit(jobs, key) => Some(self.submit(&all, jobs, *key)),
            Op::Assign { session, jobs, careful } => self.assign(&snapshot, *session, jobs, *careful),
            Op::SubmitLeased { jobs, key, session, other } => {
                let other = other.and_then(|other| pick(&all, other));
                return self.submit_leased(&snapshot, &all, jobs, *key, *session, other);
            }
            Op::End { lease, end, spoil } => self.end(&snapshot, *lease, end, *spoil),
            Op::Finish { job, end } => {
                pick(&live, *job).map(|job| Change::Finish(Finish { job, end: self.how(end) }))
            }
            Op::CancelWanted(job) => pick(&all, *job).map(Change::CancelWanted),
            Op::RunNow(job, at) => {
                pick(&all, *job).map(|id| Change::RunNow(id, START + SECOND * (*at).into()))
            }
            Op::Settle(job, state) => {
                let states = [State::Succeeded, State::Dead, State::Cancelled];
                pick(&all, *job).map(|id| Change::Settle(id, states[usize::from(state % 3)]))
            }
            Op::Replay(job) => {
                // Mostly one that can be.
                let finals: Vec<JobId> = all.iter().copied().filter(|id| !live.contains(id)).collect();
                pick(if job % 8 == 0 { &all } else { &finals }, *job)
                    .map(|job| Change::Replay(Replay { job, seq: self.next(), at: self.now }))
            }
            Op::OpenSession(session, claim) => Some(Change::OpenSession(self.session(*session, *claim))),
            Op::CloseSession { session, leave } => return self.close(&snapshot, *session, *leave),
            Op::PutKind(name) => Some(Change::PutKind(kind(*name), KindSettings::default())),
            Op::CloseKey(name, key, until) => Some(Change::CloseKey(KeyClosure {
                queue: queue(*name),
                key: format!("key-{}", key % 3),
                until: until.map(|seconds| START + SECOND * seconds.into()),
            })),
            Op::Mark(job, lease, stands) => pick(&all, *job).map(|job| self.mark(job, *lease, *stands)),
            Op::PutQueue(name, retention) => Some(Change::PutQueue(queue(*name), settings(*retention))),
            Op::Log(job, attempt, size) => pick(&all, *job).map(|job| {
                let text = format!("{}\n", "l".repeat((*size).into()));
                Change::Log(LogLines { job, attempt: u32::from(attempt % 3) + 1, text })
            }),
            Op::Failed(job, error) => pick(&all, *job).and_then(|job| {
                let error = format!("{} {error}", ["no user", "no disk", "no time"][usize::from(error % 3)]);
                let seen = FailureSeen::of(&kind(0), job, Outcome::Error, Some(&error), self.now);
                seen.map(|seen| Change::Failed(Box::new(seen)))
            }),
            Op::Document(of, key, body) => Some(Change::PutDocument(Document {
                collection: Collection::ALL[usize::from(of % 2)],
                key: format!("document-{}", key % 3),
                body: body.map(|body| body.to_string()),
            })),
            Op::Schedule(op) => {
                let now = self.now;
                Some(schedules::change(op, now, START, || {
                    let made = self.next();
                    (made, JobId::new(START.unix_millis() + made, [1; 10]))
                }))
            }
            Op::Delete(jobs) => {
                Some(Change::Delete(jobs.iter().filter_map(|job| pick(&all, *job)).collect()))
            }
            Op::PurgeDead(name, limit) => {
                Some(Change::PurgeDead { queue: queue(*name), limit: (*limit).into() })
            }
            Op::Prune(limit) => Some(Change::Prune { now: self.now, limit: (*limit).into() }),
        };
        one.into_iter().collect()
    }

    fn submit(&mut self, all: &[JobId], jobs: &[JobOp], key: Option<(u8, u8, u8)>) -> Change {
        let idempotency = key.map(|(scope, key, request)| Idempotency {
            scope: format!("scope-{}", scope % 2),
            key: format!("key-{}", key % 2),
            fingerprint: [request % 2; 32],
            until: self.now + SECOND * 90,
        });
        let mut new: Vec<NewJob> = jobs.iter().map(|job| self.new_job(all, job)).collect();
        // Jobs that exist, jobs of the request, and seldom one that never was.
        let mut known: Vec<JobId> = all.iter().copied().chain(new.iter().map(|job| job.id)).collect();
        known.push(JobId::new(1, [9; 10]));
        for (job, op) in new.iter_mut().zip(jobs) {
            for (parent, policy) in &op.parents {
                let on_dead = OnDead::ALL[usize::from(policy % 3)];
                job.spec.depends_on.extend(pick(&known, *parent).map(|job| Dependency { job, on_dead }));
                job.due_at = dependency::park(dependency::unparked(job.due_at));
            }
        }
        let jobs = new;
        Change::Submit(Submission { idempotency, jobs, inbox: None })
    }

    /// New jobs and a lease for each, before anyone knows which of them come to exist.
    fn submit_leased(
        &mut self,
        at: &Snapshot,
        all: &[JobId],
        jobs: &[JobOp],
        key: Option<(u8, u8, u8)>,
        session: u8,
        other: Option<JobId>,
    ) -> Vec<Change> {
        let submit = self.submit(all, jobs, key);
        let open: Vec<SessionId> = at.sessions.iter().map(|session| session.id).collect();
        let (Change::Submit(submission), Some(session)) = (&submit, pick(&open, session)) else {
            return vec![submit];
        };
        let ids = other.into_iter().chain(submission.jobs.iter().map(|job| job.id));
        let leases: Vec<Lease> =
            ids.map(|job| Lease { job, attempt: 1, threads: 1, transactional: false }).collect();
        let first = Fence { term: self.term, seq: self.made + 1 };
        self.made += leases.len() as u64;
        vec![submit, Change::Assign(Assignment { session, first, at: self.now, leases })]
    }

    fn new_job(&mut self, all: &[JobId], op: &JobOp) -> NewJob {
        let mut spec = JobSpec { queue: queue(op.queue), ..JobSpec::new(kind(op.kind)) };
        spec.payload = format!("\"{}\"", "p".repeat(op.payload.into()));
        spec.run_at = (op.delay > 1).then(|| self.now + SECOND * op.delay.into());
        spec.options.unique_key = op.key.map(|key| format!("key-{}", key % 3));
        spec.options.unique_for = match (op.held, op.tagged) {
            (true, true) => limits::FOREVER,
            (true, false) => SECOND * 100,
            (false, _) => Duration::ZERO,
        };
        if op.tagged {
            spec.options.tags = vec!["red".into()];
        }
        let made = self.next();
        let fresh = JobId::new(START.unix_millis() + made, [1; 10]);
        let id = if op.known_id { pick(all, op.payload.to_be_bytes()[1]).unwrap_or(fresh) } else { fresh };
        let due_at = spec.run_at.unwrap_or(self.now);
        NewJob { id, seq: made, created_at: self.now, due_at, spec }
    }

    fn assign(&mut self, at: &Snapshot, session: u8, jobs: &[u8], careful: bool) -> Option<Change> {
        let leased: Vec<JobId> = open_leases(at).iter().map(|(_, _, lease)| lease.job).collect();
        let mut free: Vec<_> = at.jobs.iter().filter(|j| !careful || !leased.contains(&j.id)).collect();
        let open: Vec<SessionId> = at.sessions.iter().map(|session| session.id).collect();
        let session = if careful { pick(&open, session)? } else { self.session(session, false).id };
        let mut leases = Vec::new();
        for choice in jobs {
            if free.is_empty() {
                break;
            }
            let job = free.remove(usize::from(*choice) % free.len());
            let attempt = job.standing.attempt + 1;
            let (threads, transactional) = (u16::from(*choice % 4) + 1, *choice >= 128);
            leases.push(Lease { job: job.id, attempt, threads, transactional });
        }
        let first = Fence { term: self.term, seq: self.made + 1 };
        self.made += leases.len() as u64;
        (!leases.is_empty()).then_some(Change::Assign(Assignment { session, first, at: self.now, leases }))
    }

    fn end(&mut self, at: &Snapshot, lease: u8, op: &EndOp, spoil: u8) -> Option<Change> {
        let open = open_leases(at);
        let (assignment, mut fence, lease) = pick(&open, lease)?;
        let mut first = assignment.first;
        match spoil {
            0 => fence.seq += 1,
            1 => first.seq += 1,
            2 => fence.term.id ^= 1,
            _ => {}
        }
        let job = at.jobs.iter().find(|job| job.id == lease.job)?;
        let number = job.standing.attempt + 1;
        let record = op.record.then(|| AttemptRecord {
            number,
            outcome: Outcome::ALL[usize::from(op.state)],
            error: (op.state > 0).then(|| "it broke".into()),
            worker: "worker".into(),
            session: assignment.session,
            threads: lease.threads,
            leased_at: assignment.at,
            started_at: assignment.at,
            ended_at: self.now,
            fence,
        });
        let attempt = if op.record { number } else { job.standing.attempt };
        let standing = Standing { attempt, burnt: job.standing.burnt + 1, lost: u32::from(op.delay) };
        let after = if op.state < 3 {
            After::Final { standing, end: self.how(op) }
        } else {
            After::Again { due_at: self.now + SECOND * op.delay.into(), retrying: op.state == 3, standing }
        };
        let (job, transactional) = (lease.job, lease.transactional);
        Some(Change::End(AttemptEnd { job, fence, assignment: first, transactional, record, after }))
    }

    fn how(&self, op: &EndOp) -> End {
        // The last is not final, and must be refused.
        let states =
            [State::Succeeded, State::Dead, State::Cancelled, State::Dead, State::Dead, State::Queued];
        let state = states[usize::from(op.state)];
        let result = (state == State::Succeeded).then(|| "{}".into());
        let reason = if op.delay % 2 == 1 { Death::Unknown.reason() } else { "a reason" };
        End { state, at: self.now, result, reason: Some(reason.into()), keep: op.keep }
    }

    fn session(&self, session: u8, claim: bool) -> SessionRecord {
        let worker = WorkerInfo {
            name: "worker".into(),
            queues: vec![],
            kinds: vec![],
            threads: 4,
            labels: [].into(),
            version: "1".into(),
            local: false,
            claim,
            ttl: SECOND * 15,
        };
        SessionRecord { id: SessionId::new(1, [session % 6; 10]), worker, opened_at: self.now }
    }

    /// Closes a session with its leases, or forgets them.
    fn close(&mut self, at: &Snapshot, session: u8, leave: bool) -> Vec<Change> {
        let id = self.session(session, false).id;
        let mut changes = vec![Change::CloseSession(id, self.now)];
        let open = open_leases(at);
        for index in (0..open.len()).filter(|i| !leave && open[*i].0.session == id) {
            let lost = EndOp { state: 3, keep: true, record: true, delay: 1 };
            changes.extend(self.end(at, u8::try_from(index).unwrap(), &lost, u8::MAX));
        }
        changes
    }

    fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }
}

/// Leases that have not ended, by the rule of [`Snapshot::assignments`].
fn open_leases(at: &Snapshot) -> Vec<(Assignment, Fence, Lease)> {
    let is_open = |fence: Fence, lease: Lease| {
        at.jobs.iter().any(|job| job.id == lease.job && job.last_fence.is_none_or(|last| last < fence))
    };
    at.assignments
        .iter()
        .flat_map(|assignment| {
            assignment.fenced().map(move |(fence, lease)| (assignment.clone(), fence, lease))
        })
        .filter(|(_, fence, lease)| is_open(*fence, *lease))
        .collect()
}

fn sorted(mut snapshot: Snapshot) -> Snapshot {
    snapshot.jobs.sort_by_key(|job| job.id);
    snapshot.sessions.sort_by_key(|session| session.id);
    snapshot.assignments.sort_by_key(|assignment| assignment.first);
    snapshot.queues.sort_by(|a, b| a.0.cmp(&b.0));
    snapshot.kinds.sort_by(|a, b| a.0.cmp(&b.0));
    snapshot.closed.sort();
    snapshot.marks.sort();
    snapshot.finals.sort();
    snapshot.edges.sort();
    snapshot.ended.sort();
    snapshot
}

fn pick<T: Clone>(from: &[T], choice: u8) -> Option<T> {
    from.get(usize::from(choice).checked_rem(from.len())?).cloned()
}

fn kind(choice: u8) -> Kind {
    format!("kind-{}", choice % 2).parse().unwrap()
}

fn queue(choice: u8) -> QueueName {
    format!("queue-{}", choice % 2).parse().unwrap()
}

fn settings(choice: u8) -> QueueSettings {
    let keeps = [Keep::None, Keep::Forever, Keep::For(SECOND * 50), Keep::For(DAY)];
    let at = |n: u8| keeps[usize::from(n % 4)];
    QueueSettings {
        retention: Retention { finished: at(choice), dead: at(choice / 4) },
        ..QueueSettings::default()
    }
}
