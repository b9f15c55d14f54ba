//! Bulk operations: asked for, looked at beforehand, followed, stopped.

use std::collections::{BTreeMap, HashSet};

use ganger_core::access::Who;
use ganger_core::change::Idempotency;
use ganger_core::filter::Filter;
use ganger_core::job::{SpecError, State};
use ganger_core::kind::runs_commands;
use ganger_core::name::{Kind, QueueName};
use ganger_core::operation::{Action, Operation, Target};
use ganger_core::{JobId, OperationId, limits};
use ganger_store::read::StoredJob;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::search::Survey;
use super::{Answer, Service, ServiceError};
use crate::operations::{self, Operations};

/// Jobs that a preview names.
const SAMPLE: usize = 5;
/// Kinds and queues that a preview counts by name.
const NAMED: usize = 100;

/// A bulk operation as it is asked for.
#[derive(Clone, Debug)]
pub struct NewOperation {
    /// What is done.
    pub action: Action,
    /// To which jobs.
    pub target: NewTarget,
    /// Jobs per second, at the most.
    pub rate: u32,
    /// Why.
    pub reason: Option<String>,
    /// Whether whoever asks for it may have commands run.
    pub exec_allowed: bool,
    /// Who asks for it.
    pub by: Option<String>,
    /// Names it, if its client gave a key: the same one again is the same operation.
    pub id: Option<OperationId>,
    /// What tells one request from another under the same key.
    pub fingerprint: String,
}

/// To which jobs.
#[derive(Clone, Debug)]
pub enum NewTarget {
    /// Those that a filter means, with its text.
    Filter(String, Filter),
    /// These.
    Ids(Vec<JobId>),
    /// All.
    All,
}

impl NewOperation {
    /// One that keeps to the bounds; the usual rate if none is given.
    ///
    /// # Errors
    /// The rate or the reason is out of bounds.
    pub fn new(
        action: Action,
        target: NewTarget,
        rate: Option<u32>,
        reason: Option<String>,
    ) -> Result<NewOperation, SpecError> {
        let rate = rate.unwrap_or(limits::OPERATION_RATE_DEFAULT);
        if !(1..=limits::OPERATION_RATE).contains(&rate) {
            let most = limits::OPERATION_RATE;
            return Err(SpecError::new("rate", format!("is {rate}, allowed are 1 to {most}")));
        }
        if reason.as_ref().is_some_and(|reason| reason.len() > limits::REMARK_BYTES) {
            let most = limits::REMARK_BYTES;
            return Err(SpecError::new("reason", format!("is longer than {most} bytes")));
        }
        let (by, id, fingerprint) = (None, None, String::new());
        Ok(NewOperation { action, target, rate, reason, exec_allowed: false, by, id, fingerprint })
    }

    /// Somebody asks for it.
    #[must_use]
    pub fn asked_by(self, who: &Who) -> NewOperation {
        NewOperation { by: Some(who.to_string()), ..self }
    }

    /// The key of its request, if there is one, names the operation.
    #[must_use]
    pub fn keyed(self, key: Option<Idempotency>) -> NewOperation {
        let Some(key) = key else { return self };
        let hash: [u8; 32] =
            Sha256::digest(format!("operation\0{}\0{}", key.scope, key.key).as_bytes()).into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        let fingerprint = key.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
        NewOperation { id: Some(OperationId::from_uuid(Uuid::from_bytes(bytes))), fingerprint, ..self }
    }
}

impl NewTarget {
    /// The jobs that a filter means.
    ///
    /// # Errors
    /// It cannot be understood.
    pub fn filter(text: String) -> Answer<NewTarget> {
        let filter = Filter::parse(&text).map_err(|error| ServiceError::Filter("filter", Box::new(error)))?;
        Ok(NewTarget::Filter(text, filter))
    }

    /// These jobs, each once.
    ///
    /// # Errors
    /// There is none, or there are too many.
    pub fn ids(ids: Vec<JobId>) -> Result<NewTarget, SpecError> {
        if ids.is_empty() {
            return Err(SpecError::new("ids", "is empty"));
        }
        if ids.len() > limits::OPERATION_IDS {
            let (n, most) = (ids.len(), limits::OPERATION_IDS);
            return Err(SpecError::new("ids", format!("has {n} elements, the limit is {most}")));
        }
        let mut known = HashSet::with_capacity(ids.len());
        Ok(NewTarget::Ids(ids.into_iter().filter(|id| known.insert(*id)).collect()))
    }
}

/// What became of asking for an operation, or for a look at it.
#[derive(Clone, Debug)]
pub enum Begun {
    /// It is under way.
    Started(Started),
    /// What it would do.
    Preview(Preview),
}

/// What became of asking for an operation.
#[derive(Clone, Debug)]
pub struct Started {
    /// The operation.
    pub operation: Operation,
    /// It was there already: the same request came before.
    pub replayed: bool,
}

/// What an operation would do.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// Jobs that it would act upon.
    pub matched: u64,
    /// The same by state.
    pub by_state: BTreeMap<State, u64>,
    /// The same by kind, for the first hundred kinds met.
    pub by_kind: BTreeMap<Kind, u64>,
    /// The same by queue, for the first hundred queues met.
    pub by_queue: BTreeMap<QueueName, u64>,
    /// Some of them, the newest.
    pub sample: Vec<JobId>,
    /// Jobs named one by one that it would leave alone.
    pub skipped: u64,
    /// How much was looked at.
    pub survey: Survey,
}

impl Service {
    pub(crate) fn operations_book(&self) -> &Operations {
        &self.0.operations
    }

    /// Begins a bulk operation, or, for a dry run, tells what it would do.
    ///
    /// # Errors
    /// As of [`Service::start_operation`] and [`Service::preview_operation`].
    pub async fn begin_operation(&self, new: NewOperation, dry_run: bool) -> Answer<Begun> {
        match dry_run {
            true => self.preview_operation(new).await.map(Begun::Preview),
            false => self.start_operation(new).await.map(Begun::Started),
        }
    }

    /// Begins a bulk operation. It is durable when this answers.
    ///
    /// # Errors
    /// Too many are under way, its key was used for another one, or the write fails.
    pub async fn start_operation(&self, new: NewOperation) -> Answer<Started> {
        let all = self.0.operations.all(self).await?;
        if let Some(same) = all.iter().find(|operation| Some(operation.id) == new.id) {
            return again(same.clone(), &new.fingerprint);
        }
        if all.iter().filter(|operation| !operation.is_over()).count() >= limits::OPERATIONS_RUNNING {
            return Err(ServiceError::TooMany("operations under way", limits::OPERATIONS_RUNNING));
        }
        // The newest come first.
        let over = all.iter().filter(|operation| operation.is_over());
        let forget: Vec<OperationId> = over.skip(limits::OPERATIONS_KEPT - 1).map(|o| o.id).collect();
        let mut operation = self.operation_of(new);
        // How much there is to do is worth knowing, and not worth failing for.
        let preview = self.preview_of(&operation).await.ok();
        operation.total = preview.filter(|seen| seen.survey.complete).map(|seen| seen.matched + seen.skipped);
        match self.0.operations.add(self, operation.clone(), &forget).await? {
            Some(same) => again(same, &operation.fingerprint),
            None => Ok(Started { operation, replayed: false }),
        }
    }

    /// What a bulk operation would do. Changes nothing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn preview_operation(&self, new: NewOperation) -> Answer<Preview> {
        self.preview_of(&self.operation_of(new)).await
    }

    async fn preview_of(&self, operation: &Operation) -> Answer<Preview> {
        let mut preview = Preview::default();
        if let Target::Ids(ids) = &operation.target {
            let jobs = self.jobs_by_id(ids).await?;
            let states = operation.action.states();
            let meant = |job: &&StoredJob| states.contains(&job.state) && !is_left_alone(operation, job);
            jobs.iter().filter(meant).for_each(|job| preview.count(job));
            preview.skipped = ids.len() as u64 - preview.matched;
            preview.survey = Survey { examined: ids.len(), complete: true };
            return Ok(preview);
        }
        let Some(query) = operations::query(operation, None, 0) else { return Ok(preview) };
        let (mut counted, mut left_alone) = (std::mem::take(&mut preview), 0);
        let count = |job: &StoredJob| match is_left_alone(operation, job) {
            true => left_alone += 1,
            false => counted.count(job),
        };
        counted.survey = self.survey(query, count).await?;
        counted.skipped = left_alone;
        Ok(counted)
    }

    /// Every bulk operation that is remembered, the newest first.
    ///
    /// # Errors
    /// There is no leader, or the store cannot be read.
    pub async fn operations(&self) -> Answer<Vec<Operation>> {
        self.0.operations.all(self).await
    }

    /// Bulk operations that this server carries out at present, by what they do.
    #[must_use]
    pub fn operations_running(&self) -> Vec<(Action, usize)> {
        let running = if self.leads() { self.0.operations.running() } else { Vec::new() };
        let count = |action| running.iter().filter(|doing| **doing == action).count();
        Action::ALL.map(|action| (action, count(action))).into()
    }

    /// One bulk operation.
    ///
    /// # Errors
    /// There is no such operation, there is no leader, or the store cannot be read.
    pub async fn operation(&self, id: OperationId) -> Answer<Operation> {
        let found = self.operations().await?.into_iter().find(|operation| operation.id == id);
        found.ok_or(ServiceError::NoSuchOperation(id))
    }

    /// Stops a bulk operation; what it has done stays done.
    ///
    /// # Errors
    /// There is no such operation, it is over, or the write fails.
    pub async fn cancel_operation(&self, id: OperationId) -> Answer<Operation> {
        let cancelled = self.0.operations.cancel(self, id).await?;
        let operation = self.operation(id).await?;
        match cancelled {
            true => Ok(operation),
            false => Err(ServiceError::OperationOver(id, operation.state)),
        }
    }

    fn operation_of(&self, new: NewOperation) -> Operation {
        let now = self.0.clock.now().wall;
        let target = match new.target {
            NewTarget::Filter(text, filter) => {
                Target::Filter { text, pinned: filter.pinned(now).to_string() }
            }
            NewTarget::Ids(ids) => Target::Ids(ids),
            NewTarget::All => Target::All,
        };
        let id = new.id.unwrap_or_else(|| OperationId::from_uuid(self.0.ids.next(now).uuid()));
        let mut operation = Operation::new(id, new.action, target, new.rate, now);
        operation.reason = new.reason;
        operation.exec_allowed = new.exec_allowed;
        operation.by = new.by;
        operation.fingerprint = new.fingerprint;
        operation
    }
}

/// Whether a job runs a command that whoever asked for the operation may not have run again.
fn is_left_alone(operation: &Operation, job: &StoredJob) -> bool {
    operation.action == Action::Replay && !operation.exec_allowed && runs_commands(&job.spec.kind)
}

/// The same request came before, or another one under its key.
fn again(operation: Operation, fingerprint: &str) -> Answer<Started> {
    match operation.fingerprint == fingerprint {
        true => Ok(Started { operation, replayed: true }),
        false => Err(ServiceError::KeyReused),
    }
}

impl Preview {
    fn count(&mut self, job: &ganger_store::read::StoredJob) {
        self.matched += 1;
        *self.by_state.entry(job.state).or_default() += 1;
        let (kind, queue) = (&job.spec.kind, &job.spec.queue);
        if self.by_kind.len() < NAMED || self.by_kind.contains_key(kind) {
            *self.by_kind.entry(kind.clone()).or_default() += 1;
        }
        if self.by_queue.len() < NAMED || self.by_queue.contains_key(queue) {
            *self.by_queue.entry(queue.clone()).or_default() += 1;
        }
        if self.sample.len() < SAMPLE {
            self.sample.push(job.id);
        }
    }
}
