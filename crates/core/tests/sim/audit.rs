//! The audit log: every entry is written right behind the change that it tells of, in the same batch.

use ganger_core::audit;
use ganger_core::change::{Batch, Change};
use ganger_core::coordinator::port::Ask;
use ganger_core::document::{Collection, Document};

use crate::checker::Checker;

/// The same, with an entry that says what it should change.
pub(crate) fn audited(ask: Ask) -> Ask {
    let target = audit::target(&ask).expect("people ask for what is audited");
    let entry = Document { collection: Collection::Audit, key: "entry".into(), body: Some(target) };
    Ask::Audited(Box::new(ask), entry)
}

impl Checker {
    /// No entry without its change.
    pub(crate) fn check_audit(&mut self, batch: &Batch) {
        let mut before: Option<&Change> = None;
        for change in &batch.changes {
            if let Change::PutDocument(Document { collection: Collection::Audit, body, .. }) = change {
                let happened = before.and_then(concerned);
                self.require(happened == *body, || {
                    format!("the audit log tells of {body:?}, and what was written is {happened:?}")
                });
            }
            before = Some(change);
        }
    }
}

/// What a change that people ask for concerns, in the words of the log.
fn concerned(change: &Change) -> Option<String> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "people ask for these")]
    match change {
        Change::Finish(finish) => Some(finish.job.to_string()),
        Change::CancelWanted(job) | Change::RunNow(job, _) => Some(job.to_string()),
        Change::Replay(replay) => Some(replay.job.to_string()),
        Change::PutQueue(queue, _) => Some(format!("queue {queue}")),
        _ => None,
    }
}
