//! What a batch came to, as remembered with its number. Most changes come to what they always do, and a
//! batch of only such ones is remembered as nothing at all.

use std::sync::Arc;

use ganger_core::change::{Applied, Batch, Change, Intake, LiveJob, Replayed, Submitted, Tally};
use ganger_core::dependency::Place;
use ganger_core::job::{JobOptions, State};
use ganger_core::name::{Kind, QueueName};
use ganger_core::rules::Standing;
use ganger_core::schedule::ledger::Fate;
use ganger_core::{Fence, JobId, Wall};
use serde::{Deserialize, Serialize};

use crate::store::StoreError;

/// The text for the `outcomes` column; `None` if every outcome is the usual one.
pub(crate) fn encode(batch: &Batch, outcomes: &[Applied]) -> Result<Option<String>, StoreError> {
    if batch.changes.iter().zip(outcomes).all(|(change, applied)| is_usual(change, applied)) {
        return Ok(None);
    }
    let kept: Vec<Kept> = batch.changes.iter().zip(outcomes).map(|(c, a)| Kept::new(c, a)).collect();
    serde_json::to_string(&kept).map(Some).map_err(unreadable)
}

/// The outcomes of a batch that was applied before.
pub(crate) fn decode(batch: &Batch, text: Option<&str>) -> Result<Vec<Applied>, StoreError> {
    let Some(text) = text else { return batch.changes.iter().map(usual).collect() };
    let kept: Vec<Kept> = serde_json::from_str(text).map_err(unreadable)?;
    if kept.len() != batch.changes.len() {
        return Err(unreadable("the batch differs from the one of that number"));
    }
    batch.changes.iter().zip(kept).map(|(change, kept)| kept.into_applied(change)).collect()
}

/// One outcome as kept.
#[derive(Serialize, Deserialize)]
enum Kept {
    Usual,
    Accepted(Vec<Intake>),
    Replayed(Vec<Intake>),
    KeyReused,
    SessionEverClosed,
    Removed(Vec<Tally>),
    Live(Box<KeptJob>, State),
    NotFound,
    NotFinal,
    UniqueHeld(JobId),
    Taken,
    EndedElsewhere(State, bool),
    NoTransactions,
    Linked(Vec<Intake>, Vec<(JobId, State)>),
    NoParent(JobId, Place),
    Fired(Vec<Option<Fate>>),
}

/// [`LiveJob`] as kept.
#[derive(Serialize, Deserialize)]
struct KeptJob {
    id: JobId,
    kind: Kind,
    queue: QueueName,
    priority: i8,
    seq: u64,
    created_at: i64,
    due_at: i64,
    attempt: u32,
    last_fence: Option<Fence>,
    options: JobOptions,
}

impl Kept {
    fn new(change: &Change, applied: &Applied) -> Kept {
        if is_usual(change, applied) {
            return Kept::Usual;
        }
        match applied {
            Applied::Done => Kept::Usual,
            Applied::Submitted(Submitted::Accepted(intake)) => Kept::Accepted(intake.clone()),
            Applied::Submitted(Submitted::Replayed(intake)) => Kept::Replayed(intake.clone()),
            Applied::Submitted(Submitted::KeyReused) => Kept::KeyReused,
            Applied::Submitted(Submitted::NoParent(job, place)) => Kept::NoParent(*job, *place),
            Applied::Linked(answer, ended) => Kept::Linked(intakes(answer).to_vec(), ended.clone()),
            Applied::Taken => Kept::Taken,
            Applied::EndedElsewhere { state, kept } => Kept::EndedElsewhere(*state, *kept),
            Applied::NoTransactions => Kept::NoTransactions,
            Applied::Fired(fates) => Kept::Fired(fates.clone()),
            Applied::SessionEverClosed => Kept::SessionEverClosed,
            Applied::Removed(tallies) => Kept::Removed(tallies.clone()),
            Applied::Replayed(Replayed::Live(job, was)) => Kept::Live(Box::new(KeptJob::from(&**job)), *was),
            Applied::Replayed(Replayed::NotFound) => Kept::NotFound,
            Applied::Replayed(Replayed::NotFinal) => Kept::NotFinal,
            Applied::Replayed(Replayed::UniqueHeld(job)) => Kept::UniqueHeld(*job),
        }
    }

    fn into_applied(self, change: &Change) -> Result<Applied, StoreError> {
        Ok(match self {
            Kept::Usual => return usual(change),
            Kept::Accepted(intake) => Applied::Submitted(Submitted::Accepted(intake)),
            Kept::Replayed(intake) => Applied::Submitted(Submitted::Replayed(intake)),
            Kept::KeyReused => Applied::Submitted(Submitted::KeyReused),
            Kept::NoParent(job, place) => Applied::Submitted(Submitted::NoParent(job, place)),
            Kept::Linked(intake, ended) => Applied::Linked(Submitted::Accepted(intake), ended),
            Kept::Taken => Applied::Taken,
            Kept::EndedElsewhere(state, kept) => Applied::EndedElsewhere { state, kept },
            Kept::NoTransactions => Applied::NoTransactions,
            Kept::Fired(fates) => Applied::Fired(fates),
            Kept::SessionEverClosed => Applied::SessionEverClosed,
            Kept::Removed(tallies) => Applied::Removed(tallies),
            Kept::Live(job, was) => Applied::Replayed(Replayed::Live(Box::new(LiveJob::from(*job)), was)),
            Kept::NotFound => Applied::Replayed(Replayed::NotFound),
            Kept::NotFinal => Applied::Replayed(Replayed::NotFinal),
            Kept::UniqueHeld(job) => Applied::Replayed(Replayed::UniqueHeld(job)),
        })
    }
}

impl From<&LiveJob> for KeptJob {
    fn from(job: &LiveJob) -> KeptJob {
        KeptJob {
            id: job.id,
            kind: job.kind.clone(),
            queue: job.queue.clone(),
            priority: job.priority,
            seq: job.seq,
            created_at: job.created_at.0,
            due_at: job.due_at.0,
            attempt: job.standing.attempt,
            last_fence: job.last_fence,
            options: (*job.options).clone(),
        }
    }
}

/// Only replayed jobs are kept like this, and those begin with a renewed allowance.
impl From<KeptJob> for LiveJob {
    fn from(job: KeptJob) -> LiveJob {
        LiveJob {
            id: job.id,
            kind: job.kind,
            queue: job.queue,
            priority: job.priority,
            seq: job.seq,
            created_at: Wall(job.created_at),
            due_at: Wall(job.due_at),
            retrying: false,
            cancel_wanted: false,
            standing: Standing { attempt: job.attempt, burnt: 0, lost: 0 },
            last_fence: job.last_fence,
            options: Arc::new(job.options),
        }
    }
}

fn is_usual(change: &Change, applied: &Applied) -> bool {
    change.usually().as_ref() == Some(applied)
}

fn usual(change: &Change) -> Result<Applied, StoreError> {
    change.usually().ok_or_else(|| unreadable("the answer to a replay is missing"))
}

/// Only what was accepted has parents.
fn intakes(answer: &Submitted) -> &[Intake] {
    match answer {
        Submitted::Accepted(intakes) | Submitted::Replayed(intakes) => intakes,
        Submitted::KeyReused | Submitted::NoParent(..) => &[],
    }
}

fn unreadable(detail: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("cannot read outcomes from the database: {detail}"))
}
