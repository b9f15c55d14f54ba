//! What handlers say while they run: how far they are, and their log lines.
//!
//! Both are shown to people other than those who may read the job's payload, so what looks like a secret is hidden before it is
//! kept or told. The fence proves a lease, and a lease is of one job: what is said under it is about that job and no other,
//! whichever one the message names.

use std::borrow::Cow;

use crate::change::{Change, LogLines};
use crate::coordinator::Coordinator;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::Output;
use crate::event::Event;
use crate::ids::JobId;
use crate::lease::Fence;
use crate::{limits, redact};

impl Coordinator {
    pub(crate) fn progressed(
        &mut self,
        slot: u32,
        job: JobId,
        fence: Fence,
        fraction: f32,
        note: String,
        out: &mut Vec<Output>,
    ) {
        if self.attempt_of(slot, job, fence).is_some() {
            let note = without_secrets(note);
            self.progress.insert(job, (fraction, note.clone()));
            out.push(Output::Event(Event::Progress { job, fraction, note }));
        }
    }

    pub(crate) fn logged(&mut self, slot: u32, job: JobId, fence: Fence, text: String) {
        let Some(attempt) = self.attempt_of(slot, job, fence) else { return };
        // Logs are the first to go when the store cannot keep up.
        if self.commits.waiting() > self.options.backlog / 2 || text.len() > limits::LOG_BYTES {
            return;
        }
        let text = without_secrets(text);
        self.commits.push(Change::Log(LogLines { job, attempt, text }), Effect::Nothing);
    }

    /// The number of the attempt that a session speaks of, if it is the one that the fence proves.
    fn attempt_of(&self, session: u32, job: JobId, fence: Fence) -> Option<u32> {
        let lease = self.leases.get(self.lease_of(session, fence)?);
        (self.jobs.get(lease.job).id == job).then_some(lease.attempt)
    }
}

fn without_secrets(text: String) -> String {
    match redact::text(&text) {
        Cow::Owned(hidden) => hidden,
        Cow::Borrowed(_) => text,
    }
}
