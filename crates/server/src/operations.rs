//! Carries out bulk operations, for as long as this server leads.
//!
//! What is decided is in [`ganger_core::operation`]; here it is done. One task steps through all operations that are under
//! way, the one that is due first, so that together they have no more under way than the few jobs of one plan: ordinary work
//! goes on beside them. Each keeps to its rate.
//!
//! The book holds the operations of the present term, read from the store when it is first needed in that term. A
//! write whose outcome is unknown makes the book stale: before it is used again another write must succeed, which is
//! behind the first in the order of commits, and then it is read afresh. So an operation that was written
//! after all, although its client was told that nobody knows, is found and shown.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ganger_core::coordinator::port::Refusal;
use ganger_core::document::{Collection, Document};
use ganger_core::filter::Filter;
use ganger_core::kind::runs_commands;
use ganger_core::operation::{Action, Carrier, Operation, Seen, Settled, Skip, Step, Target};
use ganger_core::{JobId, Mono, OperationId, Term, Wall};
use ganger_store::read::{ListQuery, StoredJob};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, info, warn};

use crate::coordinator_thread::Phase;
use crate::service::{Answer, Service, ServiceError};

/// After a failure an operation rests so long.
const REST: Duration = Duration::from_secs(1);
/// Between two looks that found nothing to do, so that a long search leaves room for others.
const BREATH: Duration = Duration::from_millis(10);
/// The task looks at least so often whether it still leads.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The operations of this server, while it leads. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Operations(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    book: Mutex<Book>,
    /// One writes at a time.
    writing: tokio::sync::Mutex<()>,
    woken: Notify,
}

#[derive(Debug, Default)]
struct Book {
    /// The term of which it is.
    term: Option<Term>,
    /// A write of unknown outcome came after it was read.
    stale: bool,
    entries: BTreeMap<OperationId, Entry>,
}

#[derive(Debug)]
struct Entry {
    carrier: Carrier,
    /// Not before.
    due: Mono,
    /// The trouble was told.
    troubled: bool,
}

/// Carries out until it is dropped.
#[derive(Debug)]
pub(crate) struct OperationsTask(#[expect(dead_code, reason = "held for its drop")] AbortOnDropHandle<()>);

impl OperationsTask {
    /// Starts on the present runtime.
    #[must_use]
    pub(crate) fn start(service: &Service) -> OperationsTask {
        OperationsTask(AbortOnDropHandle::new(tokio::spawn(carry_out_all(service.clone()))))
    }
}

impl Operations {
    fn book(&self) -> MutexGuard<'_, Book> {
        // A panic while the lock is held leaves whole entries.
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every operation, the newest first.
    pub(crate) async fn all(&self, service: &Service) -> Answer<Vec<Operation>> {
        self.read(service).await?;
        let book = self.book();
        let mut all: Vec<Operation> = book.entries.values().map(|e| e.carrier.operation().clone()).collect();
        all.sort_by_key(|operation| std::cmp::Reverse((operation.created_at, operation.id)));
        Ok(all)
    }

    /// What those that are under way do, as far as is known without reading.
    pub(crate) fn running(&self) -> Vec<Action> {
        let book = self.book();
        let operations = book.entries.values().map(|entry| entry.carrier.operation());
        operations.filter(|operation| !operation.is_over()).map(|operation| operation.action).collect()
    }

    /// Looks at those of the present term, as far as they are known without reading.
    pub(crate) fn look<T>(&self, service: &Service, look: impl FnOnce(Vec<&Operation>) -> T) -> Option<T> {
        let term = leading(service).ok()?;
        let book = self.book();
        let current = book.term == Some(term);
        current.then(|| look(book.entries.values().map(|entry| entry.carrier.operation()).collect()))
    }

    /// Adds an operation, which is then durable, and forgets those that are over for longest. If one of the same name is
    /// there, nothing is added: it is the answer.
    pub(crate) async fn add(
        &self,
        service: &Service,
        operation: Operation,
        forget: &[OperationId],
    ) -> Answer<Option<Operation>> {
        let _one_at_a_time = self.0.writing.lock().await;
        if let Some(entry) = self.book().entries.get(&operation.id) {
            return Ok(Some(entry.carrier.operation().clone()));
        }
        self.write(service, &operation).await?;
        let entry = Entry { carrier: Carrier::new(operation.clone()), due: Mono::default(), troubled: false };
        self.book().entries.insert(operation.id, entry);
        for id in forget {
            service.put_document(Document::removed(Collection::Operation, id.to_string())).await?;
            self.book().entries.remove(id);
        }
        self.0.woken.notify_one();
        Ok(None)
    }

    /// Stops an operation; `false` if it is over already.
    pub(crate) async fn cancel(&self, service: &Service, id: OperationId) -> Answer<bool> {
        self.read(service).await?;
        let _one_at_a_time = self.0.writing.lock().await;
        let now = service.clock().now().wall;
        let stopped = {
            let mut book = self.book();
            let entry = book.entries.get_mut(&id).ok_or(ServiceError::NoSuchOperation(id))?;
            entry.carrier.cancel(now).then(|| entry.carrier.operation().clone())
        };
        let Some(stopped) = stopped else { return Ok(false) };
        self.write(service, &stopped).await?;
        self.told(id, |carrier| carrier.saved(stopped));
        Ok(true)
    }

    /// Reads the book, unless it is that of the present term.
    async fn read(&self, service: &Service) -> Answer<()> {
        let term = leading(service)?;
        if self.is_current(term) {
            return Ok(());
        }
        let _one_at_a_time = self.0.writing.lock().await;
        if self.is_current(term) {
            return Ok(());
        }
        if self.book().term == Some(term) {
            // Nothing has this name: what counts is that it comes after every write before.
            service.put_document(Document::removed(Collection::Operation, "-")).await?;
        }
        let documents = service.documents(Collection::Operation).await?;
        let mut entries = BTreeMap::new();
        for (key, body) in documents {
            match serde_json::from_str::<Operation>(&body) {
                Ok(operation) => {
                    let carrier = Carrier::new(operation);
                    let id = carrier.operation().id;
                    entries.insert(id, Entry { carrier, due: Mono::default(), troubled: false });
                }
                Err(error) => warn!("the operation {key} cannot be read, and is left alone: {error}"),
            }
        }
        *self.book() = Book { term: Some(term), stale: false, entries };
        self.0.woken.notify_one();
        Ok(())
    }

    fn is_current(&self, term: Term) -> bool {
        let book = self.book();
        book.term == Some(term) && !book.stale
    }

    async fn write(&self, service: &Service, operation: &Operation) -> Answer<()> {
        let document = Document::of(Collection::Operation, operation.id.to_string(), operation)?;
        let written = service.put_document(document).await;
        if let Err(ServiceError::Unknown(_)) = written {
            self.book().stale = true;
        }
        written
    }

    fn told(&self, id: OperationId, tell: impl FnOnce(&mut Carrier)) {
        if let Some(entry) = self.book().entries.get_mut(&id) {
            tell(&mut entry.carrier);
        }
    }

    /// The operation that is due first, and when.
    fn next(&self) -> Option<(OperationId, Mono)> {
        let book = self.book();
        let under_way = book.entries.iter().filter(|(_, entry)| entry.carrier.step() != Step::Over);
        under_way.map(|(id, entry)| (*id, entry.due)).min_by_key(|(_, due)| *due)
    }

    /// What is to be done next about an operation. Who stops it from now on hears that it was being done.
    fn begin(&self, id: OperationId) -> Option<(Step, Operation)> {
        let mut book = self.book();
        let carrier = &mut book.entries.get_mut(&id)?.carrier;
        let step = carrier.step();
        if let Step::Act(_) = step {
            carrier.acts();
        }
        Some((step, carrier.operation().clone()))
    }
}

fn leading(service: &Service) -> Answer<Term> {
    match &*service.phase().borrow() {
        Phase::Leading(term) => Ok(*term),
        Phase::Following(_) | Phase::TakingOver | Phase::Stopped | Phase::Failed(_) => {
            Err(ServiceError::NotReady("this server does not lead".into()))
        }
    }
}

async fn carry_out_all(service: Service) {
    let operations = service.operations_book().clone();
    let mut phase = service.phase();
    loop {
        // Over when the coordinator's thread is.
        if phase.wait_for(|phase| matches!(phase, Phase::Leading(_))).await.is_err() {
            return;
        }
        if let Err(error) = operations.read(&service).await {
            debug!("cannot read the bulk operations: {error}; trying again");
            tokio::time::sleep(REST).await;
            continue;
        }
        let now = service.clock().now().mono;
        match operations.next() {
            Some((id, due)) if due <= now => step(&service, &operations, id).await,
            Some((_, due)) => {
                let _ =
                    tokio::time::timeout(due.since(now).min(LOOK_EVERY), operations.0.woken.notified()).await;
            }
            None => {
                let _ = tokio::time::timeout(LOOK_EVERY, operations.0.woken.notified()).await;
            }
        }
    }
}

/// One step of one operation, and when the next is due.
async fn step(service: &Service, operations: &Operations, id: OperationId) {
    let before = service.clock().now().mono;
    let stepped = try_step(service, operations, id).await;
    let now = service.clock().now().mono;
    let mut book = operations.book();
    let Some(entry) = book.entries.get_mut(&id) else { return };
    let operation = entry.carrier.operation();
    match stepped {
        Ok(acted) => {
            let took = Duration::from_secs_f64(acted as f64 / f64::from(operation.rate.max(1)));
            let paced = if acted == 0 { now } else { before.max(entry.due) + took };
            entry.due = paced;
            if std::mem::take(&mut entry.troubled) {
                info!("goes on with operation {id}");
            }
        }
        Err(error) => {
            entry.due = now + REST;
            if !std::mem::replace(&mut entry.troubled, true) {
                warn!("operation {id} rests: {error}");
            }
        }
    }
}

/// Does what comes next; returns how many jobs were acted upon.
async fn try_step(service: &Service, operations: &Operations, id: OperationId) -> Answer<usize> {
    let Some((step, operation)) = operations.begin(id) else { return Ok(0) };
    let wall = |service: &Service| service.clock().now().wall;
    match step {
        Step::Over => {}
        Step::Look { before, rows } => {
            let Some(query) = query(&operation, before, rows) else {
                warn!("the filter of operation {id} cannot be read any more: it is stopped");
                operations.cancel(service, id).await?;
                return Ok(0);
            };
            let page = service.list(query).await?;
            let found: Vec<Seen> = page.jobs.iter().map(seen).collect();
            // The row after a full page is looked at again as the first of the next.
            let again = page.complete && page.next.is_some();
            let examined = page.examined.saturating_sub(usize::from(again)) as u64;
            operations.told(id, |carrier| carrier.looked(&found, examined, page.next, wall(service)));
            if found.is_empty() {
                tokio::time::sleep(BREATH).await;
            }
        }
        Step::LookAt(ids) => {
            let found = seen_now(service, &ids).await?;
            operations.told(id, |carrier| carrier.looked_at(&found, wall(service)));
        }
        Step::LookAgain(ids) => {
            let found = seen_now(service, &ids).await?;
            operations.told(id, |carrier| carrier.looked_again(&found, wall(service)));
        }
        Step::Save => save(service, operations, id).await?,
        Step::Act(ids) => {
            let (settled, trouble) = act(service, operation.action, &ids).await;
            operations.told(id, |carrier| carrier.acted(&settled, wall(service)));
            if let Some(error) = trouble {
                return Err(error);
            }
            return Ok(settled.len());
        }
    }
    Ok(0)
}

/// Makes an operation durable as it is at this moment.
async fn save(service: &Service, operations: &Operations, id: OperationId) -> Answer<()> {
    let _one_at_a_time = operations.0.writing.lock().await;
    let Some(operation) = operations.book().entries.get(&id).map(|e| e.carrier.operation().clone()) else {
        return Ok(());
    };
    operations.write(service, &operation).await?;
    if operation.is_over() {
        let (done, skipped) = (operation.done, operation.skipped_in_all());
        info!(operation.id = %id, "operation {id} is {}: {done} done, {skipped} skipped", operation.state.as_str());
    }
    operations.told(id, |carrier| carrier.saved(operation));
    Ok(())
}

/// The jobs that an operation is for, at most one plan of them. `None` if its filter cannot be read.
pub(crate) fn query(operation: &Operation, before: Option<JobId>, rows: usize) -> Option<ListQuery> {
    let filter = match &operation.target {
        Target::Filter { pinned, .. } => Some(Arc::new(Filter::parse(pinned).ok()?)),
        Target::Ids(_) | Target::All => None,
    };
    Some(ListQuery {
        states: operation.action.states(),
        created_before: Some(Wall(operation.created_at.0.saturating_add(1))),
        filter,
        before,
        limit: rows,
        ..ListQuery::default()
    })
}

/// What an operation must know of a job.
pub(crate) fn seen(job: &StoredJob) -> Seen {
    Seen {
        id: job.id,
        state: job.state,
        created_at: job.created_at,
        finished_at: job.end.as_ref().map(|end| end.at),
        cancel_wanted: job.cancel_wanted,
        runs_command: runs_commands(&job.spec.kind),
    }
}

async fn seen_now(service: &Service, ids: &[JobId]) -> Answer<Vec<Seen>> {
    Ok(service.jobs_by_id(ids).await?.iter().map(seen).collect())
}

/// Acts upon jobs, all in one go, so that they share a commit. Tells what came of each, and what went wrong.
async fn act(
    service: &Service,
    action: Action,
    ids: &[JobId],
) -> (Vec<(JobId, Settled)>, Option<ServiceError>) {
    let mut trouble = None;
    let answers: Vec<(JobId, Answer<()>)> = match action {
        Action::Replay => {
            let each = ids.iter().map(|id| async { (*id, service.replay(*id).await) });
            futures::future::join_all(each).await
        }
        Action::Cancel => {
            let each = ids.iter().map(|id| async { (*id, service.cancel(*id).await.map(|_| ())) });
            futures::future::join_all(each).await
        }
        Action::Delete => return delete(service, ids).await,
    };
    let mut settled = Vec::with_capacity(answers.len());
    for (id, answer) in answers {
        settled.push((id, outcome(action, answer, &mut trouble)));
    }
    (settled, trouble)
}

fn outcome(action: Action, answer: Answer<()>, trouble: &mut Option<ServiceError>) -> Settled {
    let Err(error) = answer else { return Settled::Done };
    match &error {
        ServiceError::NoSuchJob(_) => Settled::Skipped(Skip::Gone),
        ServiceError::WrongState(..) | ServiceError::Refused(Refusal::NotFinal | Refusal::WrongState(_)) => {
            Settled::Skipped(match action {
                Action::Replay | Action::Delete => Skip::Live,
                Action::Cancel => Skip::Final,
            })
        }
        ServiceError::Refused(Refusal::UniqueHeld(_)) => Settled::Skipped(Skip::UniqueKeyHeld),
        ServiceError::Refused(_)
        | ServiceError::NoSuchView(_)
        | ServiceError::NoSuchOperation(_)
        | ServiceError::NoSuchFailure(_)
        | ServiceError::NoSuchWorker(_)
        | ServiceError::OperationOver(..)
        | ServiceError::Invalid(_)
        | ServiceError::Filter(..)
        | ServiceError::TooMany(..)
        | ServiceError::KeyReused
        | ServiceError::Store(_)
        | ServiceError::NotReady(_)
        | ServiceError::Unknown(_) => {
            *trouble = Some(error);
            Settled::Unknown
        }
    }
}

async fn delete(service: &Service, ids: &[JobId]) -> (Vec<(JobId, Settled)>, Option<ServiceError>) {
    let all = |settled| ids.iter().map(|id| (*id, settled)).collect();
    match service.delete_final(ids.to_vec()).await {
        Ok(removed) if removed == ids.len() as u64 => (all(Settled::Done), None),
        // Some were replayed meanwhile, or removed by others: those that are still there were left alone.
        Ok(_) => match service.jobs_by_id(ids).await {
            Ok(left) => {
                let of = |id: &JobId| match left.iter().any(|job| job.id == *id) {
                    true => (*id, Settled::Skipped(Skip::Live)),
                    false => (*id, Settled::Done),
                };
                (ids.iter().map(of).collect(), None)
            }
            Err(error) => (all(Settled::Unknown), Some(error)),
        },
        Err(error) => (all(Settled::Unknown), Some(error)),
    }
}
