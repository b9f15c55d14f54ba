//! Marks of handlers that are about to do what cannot be repeated: asked for until they are answered.

use super::{Act, Held, Link, Phase, Session};
use crate::lease::Fence;
use crate::message::ToLeader;

impl Session {
    /// The handler under this fence is about to do what cannot be repeated, and wants a mark that says so; or it is
    /// certain that it did not happen, and wants it off. Answered with [`Act::Marked`].
    pub fn mark(&mut self, fence: Fence, stands: bool, acts: &mut Vec<Act>) {
        let running = |held: &&mut Held| matches!(held.phase, Phase::Running { .. });
        let Some(held) = self.leases.get_mut(&fence).filter(running) else {
            acts.push(Act::Marked(fence, false));
            return;
        };
        held.asked = Some(stands);
        if self.link == Link::Open {
            acts.push(Act::Send(ToLeader::Mark { job: held.work.job, fence, stands }));
        }
    }

    /// On a new stream: every question that was not answered.
    pub(super) fn ask_for_marks(&self, acts: &mut Vec<Act>) {
        let unanswered = self.leases.values().filter_map(|h| Some((h.work.job, h.work.fence, h.asked?)));
        acts.extend(unanswered.map(|(job, fence, stands)| Act::Send(ToLeader::Mark { job, fence, stands })));
    }

    /// The session's leases are lost: whoever waits for a mark waits in vain.
    pub(super) fn refuse_marks(&mut self, acts: &mut Vec<Act>) {
        for (fence, held) in self.leases.iter_mut().filter(|(_, held)| held.asked.is_some()) {
            held.asked = None;
            acts.push(Act::Marked(*fence, false));
        }
    }

    pub(super) fn marked(&mut self, fence: Fence, stands: bool, acts: &mut Vec<Act>) {
        let Some(held) = self.leases.get_mut(&fence) else { return };
        // What does not stand although it was to was refused.
        match held.asked {
            Some(asked) if asked == stands || asked => {
                held.asked = None;
                acts.push(Act::Marked(fence, stands));
            }
            // It answers what was asked before: the leader was busy with that, and is asked again.
            Some(stands) => acts.push(Act::Send(ToLeader::Mark { job: held.work.job, fence, stands })),
            None => {}
        }
    }
}
