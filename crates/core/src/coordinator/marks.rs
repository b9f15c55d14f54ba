//! Marks: what an attempt is about to do cannot be repeated.
//!
//! A mail that was handed to a mail server cannot be taken back, and cannot be sent again in the hope that it was not. So
//! a handler that is about to do such a thing says so first, and goes on only when the mark is durable. From then on the
//! job is not tried again by itself unless its handler takes the mark off, being certain that the thing did not happen.
//!
//! # Who is right
//! The leader decides under the fence of the present lease, and answers after the commit. Whoever lost the lease gets no
//! mark: the next attempt may be about to do the same. A mark counts from its *decision*: an attempt that ends while its
//! mark is being written ends as marked, in the same batch or a later one.
//!
//! # What can go wrong
//! - *The worker dies after the mark.* Nobody knows whether it went on: the job dies, `delivery unknown`, for a person.
//! - *The worker dies before the answer, but after the decision.* The same. It did nothing, but nobody knows that.
//! - *The leader dies.* The next one loads the marks with the leases that they belong to. A mark whose lease has ended
//!   means nothing, and is swept.
//! - *The answer is lost.* The worker asks again on its next stream. A question that is being written is answered once
//!   it is; there is never more than one change per lease under way.
//! - *The store refuses the batch.* The mark is kept and written again; until then nobody is told.
//! - *Somebody cancels first.* A handler that was told to stop gets no mark any more.

use crate::change::{AttemptEnd, Change, EffectMark};
use crate::coordinator::attempts::Ended;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::Output;
use crate::coordinator::table::Phase;
use crate::coordinator::{Coordinator, LeaseEntry};
use crate::ids::{JobId, SessionId};
use crate::lease::Fence;
use crate::message::ToWorker;
use crate::sabotage::{self, Bug};

/// The mark of a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// As it was decided last.
    pub(crate) stands: bool,
    /// Whether that is being committed.
    writing: bool,
    /// Whether the store has, or may have, a row of it.
    kept: bool,
}

impl Coordinator {
    /// A handler asks for its mark, or for its removal.
    pub(crate) fn mark(&mut self, session: u32, fence: Fence, stands: bool, out: &mut Vec<Output>) {
        let Some(lease) = self.lease_of(session, fence) else {
            let granted = stands && sabotage::active(Bug::MarkWithoutLease);
            self.send(session, ToWorker::Marked { fence, stands: granted }, out);
            return;
        };
        let LeaseEntry { mark, stopping, job, .. } = *self.leases.get(lease);
        if mark.writing {
            // Answered once it is written; what was asked since then is asked again.
            return;
        }
        if mark.stands == stands || (stands && stopping.is_some()) {
            self.send(session, ToWorker::Marked { fence, stands: mark.stands }, out);
            return;
        }
        self.leases.get_mut(lease).mark = Mark { stands, writing: true, kept: true };
        if sabotage::active(Bug::MarkToldEarly) {
            self.send(session, ToWorker::Marked { fence, stands }, out);
        }
        let change = EffectMark { job: self.jobs.get(job).id, fence, stands };
        let session = self.sessions.get(session).id;
        self.commits.push(Change::Mark(change), Effect::Mark { session });
    }

    /// It is durable: the handler may go on, if the lease is still its own.
    pub(crate) fn mark_written(&mut self, session: SessionId, mark: EffectMark, out: &mut Vec<Output>) {
        let EffectMark { fence, stands, .. } = mark;
        let Some(slot) = self.sessions.slot(session) else { return };
        let Some(lease) = self.lease_of(slot, fence) else { return };
        self.leases.get_mut(lease).mark.writing = false;
        self.send(slot, ToWorker::Marked { fence, stands }, out);
    }

    /// Decides the end of an attempt, whose mark has then done its work. Were it taken off first, a takeover between the
    /// two would find a lease without it.
    pub(super) fn end_with_mark(&mut self, end: AttemptEnd, ended: Ended, lease: &LeaseEntry) {
        let off = EffectMark { job: end.job, fence: lease.fence, stands: false };
        let end = (Change::End(end), Effect::End(Box::new(ended)));
        let off = lease.mark.kept.then_some((Change::Mark(off), Effect::Nothing));
        let changes =
            if sabotage::active(Bug::MarkTakenOffFirst) { [off, Some(end)] } else { [Some(end), off] };
        for (change, effect) in changes.into_iter().flatten() {
            self.commits.push(change, effect);
        }
    }

    /// The marks that the last leader left.
    pub(crate) fn load_marks(&mut self, marks: Vec<(JobId, Fence)>) {
        for (job, fence) in marks {
            let leased = self.jobs.slot(job).and_then(|slot| match self.jobs.get(slot).phase {
                Phase::Leased(lease) if self.leases.get(lease).fence == fence => Some(lease),
                Phase::Leased(_)
                | Phase::Blocked
                | Phase::Waiting(_)
                | Phase::Ready(_)
                | Phase::Ending
                | Phase::Leaving => None,
            });
            match leased {
                Some(_) if sabotage::active(Bug::MarkNotLoaded) => {}
                Some(lease) => {
                    self.leases.get_mut(lease).mark = Mark { stands: true, writing: false, kept: true };
                }
                None => {
                    let off = EffectMark { job, fence, stands: false };
                    self.commits.push(Change::Mark(off), Effect::Nothing);
                }
            }
        }
    }
}
