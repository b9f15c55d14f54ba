//! Who changed what: the audit log.
//!
//! An entry is a document ([`Collection::Audit`]) that is written in the same transaction as the change that it tells of, right behind
//! it: there is no change without its entry, and no entry of a change that the store refused. Entries have names that sort by time,
//! and the oldest are forgotten ([`limits::AUDIT_ENTRIES`](crate::limits::AUDIT_ENTRIES)).

use serde::{Deserialize, Serialize};

use crate::coordinator::port::{Ask, ScheduleAsk};
use crate::document::{Collection, Document, DocumentError};
use crate::time::Wall;

/// Something that somebody did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    pub at: Wall,
    /// Who: `user:ada`, `token:4k2m9x7q0b1c`, `certificate:gpu-1`.
    pub who: String,
    /// From which address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What was asked for: method and path, such as `POST /v1/queues/mail:pause`.
    pub operation: String,
    /// What it concerns: a job, a queue, a user, a schedule.
    pub target: String,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl AuditEntry {
    /// As it is kept. `unique` tells entries of one moment apart.
    ///
    /// # Errors
    /// It is too large.
    pub fn document(&self, unique: u32) -> Result<Document, DocumentError> {
        Document::of(Collection::Audit, format!("{:016x}-{unique:08x}", self.at.0), self)
    }
}

/// What a change concerns, in a few words; `None` for what is told elsewhere: submissions are the history of their jobs.
#[must_use]
pub fn target(ask: &Ask) -> Option<String> {
    Some(match ask {
        Ask::Submit { .. } | Ask::Intake(_) | Ask::Audited(..) => return None,
        Ask::Cancel(job) | Ask::RunNow(job) | Ask::Replay(job) => job.to_string(),
        Ask::PutQueue(queue, _) | Ask::PurgeDead(queue) => format!("queue {queue}"),
        Ask::PutKind(kind, _) => format!("kind {kind}"),
        Ask::CloseKey(closure) => format!("key {} of queue {}", closure.key, closure.queue),
        Ask::Delete(jobs) => match jobs.as_slice() {
            [job] => job.to_string(),
            jobs => format!("{} jobs", jobs.len()),
        },
        Ask::PutDocument(Document { collection, key, body }) => {
            let gone = if body.is_none() { ", removed" } else { "" };
            format!("{} {key}{gone}", collection.as_str())
        }
        Ask::Schedule(ask) => match ask {
            ScheduleAsk::Put { schedule, .. } => format!("schedule {}", schedule.name),
            ScheduleAsk::Pause(name)
            | ScheduleAsk::Resume(name)
            | ScheduleAsk::Delete(name)
            | ScheduleAsk::Run(name)
            | ScheduleAsk::Backfill { name, .. } => format!("schedule {name}"),
        },
        Ask::DrainWorker(session) => format!("worker {session}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::JobId;

    #[test]
    fn entries_sort_by_time_and_can_be_read_again() {
        let entry = |at| AuditEntry {
            at: Wall(at),
            who: "user:ada".into(),
            from: None,
            operation: "POST /v1/queues/mail:pause".into(),
            target: "queue mail".into(),
            request_id: None,
        };
        let document = |at, unique| entry(at).document(unique).unwrap();
        let (early, late) = (document(9, 7), document(1_700_000_000_000_000, 0));
        assert!(early.key < late.key && document(9, 8).key > early.key);
        assert_eq!(serde_json::from_str::<AuditEntry>(&early.body.unwrap()).unwrap(), entry(9));
    }

    #[test]
    fn what_is_concerned_is_named() {
        let job = JobId::new(1, [2; 10]);
        assert_eq!(target(&Ask::Cancel(job)), Some(job.to_string()));
        let user = Document { collection: Collection::User, key: "ada".into(), body: None };
        assert_eq!(target(&Ask::PutDocument(user)).as_deref(), Some("user ada, removed"));
        assert_eq!(target(&Ask::Submit { idempotency: None, jobs: Vec::new() }), None);
    }
}
