//! What a change comes to when nothing is in its way.

use super::{Applied, Change, Intake, Submitted};
use crate::schedule::ledger::ScheduleChange;

impl Change {
    /// What a store answers that has nothing against it: new jobs are created, occurrences come to what was planned,
    /// nothing is old enough to be removed. A replay has no usual answer, because that tells of the job.
    #[must_use]
    pub fn usually(&self) -> Option<Applied> {
        Some(match self {
            Change::Submit(submission) => {
                let created = submission.jobs.iter().map(|job| Intake::Created(job.id));
                Applied::Submitted(Submitted::Accepted(created.collect()))
            }
            Change::PurgeDead { .. } | Change::Prune { .. } | Change::Delete(_) => {
                Applied::Removed(Vec::new())
            }
            Change::Schedule(change) => match &**change {
                ScheduleChange::Fire(firing) => {
                    let planned = firing.occurrences.iter().map(|row| Some(row.fate.clone()));
                    Applied::Fired(planned.collect())
                }
                ScheduleChange::Put(..) | ScheduleChange::Delete(_) => Applied::Done,
            },
            Change::Replay(_) => return None,
            Change::Assign(_)
            | Change::End(_)
            | Change::Finish(_)
            | Change::CancelWanted(_)
            | Change::RunNow(..)
            | Change::Settle(..)
            | Change::OpenSession(_)
            | Change::CloseSession(..)
            | Change::PutQueue(..)
            | Change::PutKind(..)
            | Change::CloseKey(_)
            | Change::Mark(_)
            | Change::Log(_)
            | Change::Failed(_)
            | Change::PutDocument(_) => Applied::Done,
        })
    }
}
