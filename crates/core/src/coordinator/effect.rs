//! What follows the commit of a change.

use crate::coordinator::attempts::Ended;
use crate::coordinator::joint::Provisional;
use crate::coordinator::port::Ticket;
use crate::coordinator::schedules::ScheduleEffect;
use crate::ids::{JobId, SessionId};
use crate::lease::Fence;
use crate::sabotage::{self, Bug};

/// What follows the commit of a change.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// Answer the client and take the jobs in, those that were leased in the same batch among them.
    Submit { ticket: Ticket, provisional: Vec<Provisional> },
    /// Take in a job from the store's inbox. The last one of a request answers it.
    Intake(Option<Ticket>),
    /// The session's worker may hear of these leases. If `joint`, their jobs are submitted in the same batch.
    Assign { session: SessionId, leases: Vec<(u32, Fence)>, joint: bool },
    /// Nothing: the failure is counted, and the end of its attempt follows. Names the job.
    Failed(u32),
    /// The job moves on.
    End(Box<Ended>),
    /// The session's worker may hear whether the mark stands.
    Mark { session: SessionId },
    /// The job leaves: cancelled by a client, or expired.
    Finish { job: u32, ticket: Option<Ticket> },
    /// Tell the worker to stop.
    CancelWanted { job: JobId, ticket: Option<Ticket> },
    /// The job is due.
    RunNow { job: JobId, ticket: Ticket },
    /// The job is live again.
    Replay(Ticket),
    /// The worker is welcome.
    OpenSession(SessionId),
    /// The session is over.
    CloseSession { id: SessionId, lost: bool },
    /// The settings hold.
    PutQueue(Ticket),
    /// The settings hold.
    PutKind(Ticket),
    /// The key is closed, or open. A handler's closure answers nobody.
    CloseKey(Option<Ticket>),
    /// The document is kept.
    Document(Ticket),
    /// The schedule is so.
    Schedule(ScheduleEffect),
    /// The client learns how many.
    Purge(Ticket),
    /// Counts are adjusted.
    Prune,
    /// Nothing: it tells of the change before it, and shares its fate.
    Audited,
    /// Nothing follows.
    Nothing,
}

impl Effect {
    /// The client that asked for it, if one did.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        match self {
            Effect::Replay(t)
            | Effect::PutQueue(t)
            | Effect::PutKind(t)
            | Effect::Document(t)
            | Effect::Purge(t) => Some(*t),
            Effect::Submit { ticket, .. } | Effect::RunNow { ticket, .. } => Some(*ticket),
            Effect::Finish { ticket, .. }
            | Effect::CancelWanted { ticket, .. }
            | Effect::Intake(ticket)
            | Effect::CloseKey(ticket)
            | Effect::Schedule(ScheduleEffect { ticket, .. }) => *ticket,
            Effect::Assign { .. }
            | Effect::Failed(_)
            | Effect::End(_)
            | Effect::Mark { .. }
            | Effect::OpenSession(_)
            | Effect::CloseSession { .. }
            | Effect::Prune
            | Effect::Audited
            | Effect::Nothing => None,
        }
    }

    /// Whether jobs are in memory that the store may know nothing of.
    pub(crate) fn is_provisional(&self) -> bool {
        matches!(self, Effect::Submit { provisional, .. } if !provisional.is_empty())
    }

    /// Whether the leases belong to jobs that are submitted in the same batch.
    pub(crate) fn is_joint(&self) -> bool {
        matches!(self, Effect::Assign { joint: true, .. }) && !sabotage::active(Bug::JointLeaseKept)
    }
}
