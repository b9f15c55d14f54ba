//! What is known of the rows that a segment touches.

use std::collections::{HashMap, HashSet};

use ganger_core::change::{Change, Intake, LiveJob, NewJob, Replay, Submission};
use ganger_core::ids::ScheduleId;
use ganger_core::job::State;
use ganger_core::schedule::ledger::{Fate, Firing, ScheduleChange};
use ganger_core::{Fence, JobId, SessionId, Wall};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::postgres::error::Failure;
use crate::postgres::pipeline::{Pipeline, param};
use crate::postgres::{codec, row, sql};

/// What is known of the rows that a segment touches, and what the segment makes of the ledgers and logs among them. The
/// default is to know nothing and to believe the leader.
#[derive(Default)]
pub(in crate::postgres) struct Facts {
    /// Whether everything was read: what is not here does not exist.
    pub(super) read: bool,
    pub(super) jobs: HashMap<JobId, LiveFact>,
    pub(super) finals: HashMap<JobId, FinalFact>,
    pub(super) closed: HashSet<SessionId>,
    pub(super) answers: HashMap<(String, String), Answer>,
    /// By kind and key.
    pub(super) holders: HashMap<(String, String), Holder>,
    pub(super) logs: HashMap<(JobId, u32), String>,
    pub(super) occurrences: HashMap<(ScheduleId, Wall), Fate>,
    /// Rows that were just taken out of the inbox.
    pub(in crate::postgres) inbox: HashSet<i64>,
}

/// A live job.
pub(super) struct LiveFact {
    pub(super) kind: String,
    pub(super) unique_key: Option<String>,
    pub(super) unique_for: Option<i64>,
    pub(super) last_fence: Option<Fence>,
}

/// A final job.
pub(in crate::postgres) struct FinalFact {
    /// As it would be live again, but for its place and its due time.
    pub(in crate::postgres) job: LiveJob,
    pub(in crate::postgres) state: State,
    /// The attempt that its row carries.
    pub(in crate::postgres) last_attempt: Option<(u32, Vec<u8>)>,
}

/// What an idempotency key was answered with.
#[derive(Clone)]
pub(super) struct Answer {
    pub(super) fingerprint: Vec<u8>,
    pub(super) until: Wall,
    pub(super) intake: Vec<Intake>,
}

/// Who holds a unique key.
#[derive(Clone, Copy)]
pub(super) struct Holder {
    pub(super) job: JobId,
    /// `None` while the job is live.
    pub(super) until: Option<Wall>,
}

/// What must be read before changes can be taken.
#[derive(Default)]
pub(in crate::postgres) struct Wanted {
    jobs: Vec<Uuid>,
    finals: Vec<Uuid>,
    replays: Vec<Uuid>,
    sessions: Vec<Uuid>,
    answers: (Vec<Vec<u8>>, Vec<Vec<u8>>),
    holders: (Vec<String>, Vec<String>),
    logs: (Vec<Uuid>, Vec<i32>),
    occurrences: (Vec<Uuid>, Vec<i64>),
    /// Jobs that their handlers may be ending.
    leased: Vec<Uuid>,
    inbox: Vec<i64>,
}

impl Wanted {
    /// By these changes.
    pub(in crate::postgres) fn by(changes: &[Change]) -> Wanted {
        let mut wanted = Wanted::default();
        for change in changes {
            match change {
                Change::Submit(submission) => wanted.submission(submission),
                Change::Assign(assignment) => {
                    wanted.jobs.extend(assignment.leases.iter().map(|lease| lease.job.uuid()));
                }
                Change::End(end) => {
                    wanted.jobs.push(end.job.uuid());
                    if end.transactional {
                        wanted.leased.push(end.job.uuid());
                        wanted.finals.push(end.job.uuid());
                    }
                }
                Change::Finish(finish) => wanted.jobs.push(finish.job.uuid()),
                Change::Replay(Replay { job, .. }) => {
                    wanted.jobs.push(job.uuid());
                    wanted.finals.push(job.uuid());
                    wanted.replays.push(job.uuid());
                }
                Change::OpenSession(record) => wanted.sessions.push(record.id.uuid()),
                Change::Log(lines) => {
                    wanted.jobs.push(lines.job.uuid());
                    wanted.logs.0.push(lines.job.uuid());
                    wanted.logs.1.push(lines.attempt.cast_signed());
                }
                Change::Schedule(change) => {
                    if let ScheduleChange::Fire(firing) = &**change {
                        wanted.firing(firing);
                    }
                }
                Change::CancelWanted(_)
                | Change::RunNow(..)
                | Change::Settle(..)
                | Change::CloseSession(..)
                | Change::PutQueue(..)
                | Change::PutKind(..)
                | Change::CloseKey(_)
                | Change::Mark(_)
                | Change::Failed(_)
                | Change::PutDocument(_)
                | Change::Delete(_)
                | Change::PurgeDead { .. }
                | Change::Prune { .. } => {}
            }
        }
        for ids in [&mut wanted.jobs, &mut wanted.finals, &mut wanted.replays, &mut wanted.sessions] {
            ids.sort_unstable();
            ids.dedup();
        }
        wanted
    }

    fn submission(&mut self, submission: &Submission) {
        self.inbox.extend(submission.inbox.as_ref().map(|inbox| inbox.row));
        if let Some(key) = &submission.idempotency {
            self.answers.0.push(key.scope.clone().into_bytes());
            self.answers.1.push(key.key.clone().into_bytes());
        }
        self.new_jobs(&submission.jobs);
    }

    fn firing(&mut self, firing: &Firing) {
        for row in &firing.occurrences {
            self.occurrences.0.push(firing.schedule.uuid());
            self.occurrences.1.push(row.due_at.0);
        }
        self.new_jobs(&firing.jobs);
    }

    fn new_jobs(&mut self, jobs: &[NewJob]) {
        for job in jobs {
            self.jobs.push(job.id.uuid());
            self.finals.push(job.id.uuid());
            for dependency in &job.spec.depends_on {
                self.jobs.push(dependency.job.uuid());
                self.finals.push(dependency.job.uuid());
            }
            if let Some(key) = &job.spec.options.unique_key {
                self.holders.0.push(job.spec.kind.as_str().into());
                self.holders.1.push(key.clone());
            }
        }
    }

    /// Adds the reads to a pipeline. The places of their answers go into [`Facts::read_from`].
    pub(in crate::postgres) fn add_to(self, pipeline: &mut Pipeline<'_>) -> Result<Places, Failure> {
        let mut places = Places::default();
        if !self.leased.is_empty() {
            pipeline.add(sql::LOCK_LEASED, vec![param(self.leased)])?;
        }
        if !self.inbox.is_empty() {
            places.inbox = Some(pipeline.add(sql::TAKE_INBOX, vec![param(self.inbox)])?);
        }
        if !self.jobs.is_empty() {
            places.jobs = Some(pipeline.add(sql::KNOW_JOBS, vec![param(self.jobs)])?);
        }
        if !self.finals.is_empty() {
            places.finals = Some(pipeline.add(sql::KNOW_FINALS, vec![param(self.finals)])?);
        }
        if !self.sessions.is_empty() {
            places.closed = Some(pipeline.add(sql::KNOW_CLOSED, vec![param(self.sessions)])?);
        }
        if !self.answers.0.is_empty() {
            let params = vec![param(self.answers.0), param(self.answers.1)];
            places.answers = Some(pipeline.add(sql::KNOW_ANSWERS, params)?);
        }
        if !self.holders.0.is_empty() || !self.replays.is_empty() {
            let params = vec![param(self.holders.0), param(self.holders.1), param(self.replays)];
            places.holders = Some(pipeline.add(sql::KNOW_HOLDERS, params)?);
        }
        if !self.logs.0.is_empty() {
            places.logs = Some(pipeline.add(sql::KNOW_LOGS, vec![param(self.logs.0), param(self.logs.1)])?);
        }
        if !self.occurrences.0.is_empty() {
            let params = vec![param(self.occurrences.0), param(self.occurrences.1)];
            places.occurrences = Some(pipeline.add(sql::KNOW_OCCURRENCES, params)?);
        }
        Ok(places)
    }
}

/// Where the answers to the reads are among those of a pipeline.
#[derive(Default)]
pub(in crate::postgres) struct Places {
    jobs: Option<usize>,
    finals: Option<usize>,
    closed: Option<usize>,
    answers: Option<usize>,
    holders: Option<usize>,
    logs: Option<usize>,
    occurrences: Option<usize>,
    inbox: Option<usize>,
}

impl Facts {
    /// What the answers of a pipeline tell.
    pub(in crate::postgres) fn read_from(answers: &[Vec<Row>], places: &Places) -> Result<Facts, Failure> {
        let at = |place: Option<usize>| place.and_then(|place| answers.get(place)).into_iter().flatten();
        let mut facts = Facts { read: true, ..Facts::default() };
        for found in at(places.jobs) {
            let fact = LiveFact {
                kind: found.try_get(1)?,
                unique_key: found.try_get(2)?,
                unique_for: found.try_get(3)?,
                last_fence: row::fence(found, 4)?,
            };
            facts.jobs.insert(row::job_id(found, 0)?, fact);
        }
        for found in at(places.finals) {
            facts.finals.insert(row::job_id(found, 0)?, row::final_fact(found)?);
        }
        for found in at(places.closed) {
            facts.closed.insert(SessionId::from_uuid(found.try_get(0)?));
        }
        for found in at(places.answers) {
            let intake = codec::decode_intake(found.try_get(4)?)
                .ok_or_else(|| Failure::unreadable("the answer to an idempotency key", "malformed"))?;
            let answer = Answer { fingerprint: found.try_get(2)?, until: Wall(found.try_get(3)?), intake };
            facts.answers.insert((row::utf8(found, 0)?, row::utf8(found, 1)?), answer);
        }
        for found in at(places.holders) {
            let until: Option<i64> = found.try_get(3)?;
            let holder = Holder { job: row::job_id(found, 2)?, until: until.map(Wall) };
            facts.holders.insert((found.try_get(0)?, found.try_get(1)?), holder);
        }
        for found in at(places.logs) {
            let attempt: i32 = found.try_get(1)?;
            facts.logs.insert((row::job_id(found, 0)?, attempt.cast_unsigned()), row::utf8(found, 2)?);
        }
        for found in at(places.occurrences) {
            let place = (ScheduleId::from_uuid(found.try_get(5)?), Wall(found.try_get(6)?));
            facts.occurrences.insert(place, row::fate(found, 0)?);
        }
        for found in at(places.inbox) {
            facts.inbox.insert(found.try_get(0)?);
        }
        Ok(facts)
    }
}
