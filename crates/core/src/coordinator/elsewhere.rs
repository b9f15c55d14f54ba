//! Jobs that their own handlers end, inside their own database transactions.
//!
//! A handler of a transactional kind can end its job where its effects are: in a transaction of its own, by job and
//! fence, so that both are there or neither is. The leader has no part in that, and learns of it late.
//!
//! # Who is right
//! The store. It ends the job for its handler only under the fence of the job's open lease, and for the leader only
//! while it is live: whoever comes first has ended it, and the other is told. So a lease that the leader gave up is
//! void for the handler from that commit on; and a job that is gone when the leader comes to write the end of its
//! attempt ([`crate::change::Applied::EndedElsewhere`]) has ended as its handler said, whatever the leader was about to
//! write: lost, failed, handed back, or the same.
//!
//! # What can go wrong
//! - *The handler's process dies after its commit.* Its session expires, its lease is lost, and the answer to that end
//!   is that the job has succeeded.
//! - *The leader dies in between.* The next one finds the job final. A lease of a job that is not live has ended.
//! - *Somebody cancels or replays it meanwhile.* In memory it still runs. A cancel is asked of its worker, in vain; a
//!   replay is refused until the attempt has been reported, or its session has ended.
//! - *The kind is set otherwise while jobs run.* A lease keeps what it was given with.

use crate::change::Applied;
use crate::coordinator::Coordinator;
use crate::coordinator::attempts::{Ended, Moved};
use crate::coordinator::classes::ClassId;
use crate::coordinator::port::{Refusal, Reply};
use crate::job::State;
use crate::kind::KindSettings;
use crate::name::Kind;
use crate::outcome::Outcome;
use crate::reason::Reason;
use crate::sabotage::{self, Bug};

impl Coordinator {
    /// Kinds that were ever set, by name.
    #[must_use]
    pub fn kinds(&self) -> Vec<(Kind, KindSettings)> {
        let mut kinds: Vec<_> = self.kinds.iter().map(|(kind, settings)| (kind.clone(), *settings)).collect();
        kinds.sort_by(|a, b| a.0.cmp(&b.0));
        kinds
    }

    /// The settings of a kind; the default ones if it was never set.
    #[must_use]
    pub fn kind(&self, kind: &Kind) -> KindSettings {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    /// Whether leases of this class are given with the right to end the job elsewhere.
    pub(crate) fn is_transactional(&self, class: ClassId) -> bool {
        // Few servers have such kinds, and dispatch is in a hurry.
        !self.kinds.is_empty() && self.kind(&self.classes.get(class).key.kind).transactional
    }

    /// The settings are durable: leases given from now on follow them. Or the store cannot have them.
    pub(crate) fn kind_set(&mut self, kind: &Kind, settings: KindSettings, applied: &Applied) -> Reply {
        if *applied == Applied::NoTransactions {
            return Reply::Refused(Refusal::NoTransactions(kind.clone()));
        }
        self.kinds.insert(kind.clone(), settings);
        Reply::Kind(settings)
    }
}

impl Ended {
    /// The end as the store knows it: what was decided, unless the handler turns out to have ended the job.
    pub(crate) fn or_elsewhere(self, applied: &Applied) -> Ended {
        let Applied::EndedElsewhere { state, kept } = *applied else { return self };
        if sabotage::active(Bug::EndedElsewhereRunsAgain) {
            return self;
        }
        let outcome = match state {
            State::Succeeded => Outcome::Ok,
            State::Cancelled => Outcome::Cancelled,
            State::Dead
            | State::Scheduled
            | State::Blocked
            | State::Queued
            | State::Running
            | State::Retrying => Outcome::Error,
        };
        let (outcome, reason) = (Some((outcome, self.attempt)), Reason::EndedElsewhere);
        Ended { outcome, reason, after: Moved::Final { state, kept }, ..self }
    }
}
