//! Jobs that were submitted inside the store, by transactions of users.
//!
//! They wait in the store's inbox until the leader takes them in: the row goes and the job comes in one
//! transaction, so the row itself is what keeps a job from being taken in twice. Nobody waits for an answer who could
//! be told of a mistake. So a job that cannot be run is taken in dead, with the reason, and holds nobody up.
//!
//! When the store refuses a batch there is nothing to undo: the rows are still there, and are handed over again. So a row
//! may be handed over twice, even after its job has ended; the store then says that it is gone.

use crate::change::{Applied, Change, InboxOrigin, Intake, NewJob, Submission, Submitted};
use crate::coordinator::Coordinator;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::{InboxJob, Output, Refusal, Reply, Ticket};
use crate::event::Event;
use crate::job::State;
use crate::time::Now;

/// Nobody would hear that a parent is not there.
const NOT_FROM_THE_INBOX: &str = "a job that is submitted inside the store cannot depend on others";

impl Coordinator {
    pub(crate) fn intake(&mut self, now: Now, ticket: Ticket, rows: Vec<InboxJob>, out: &mut Vec<Output>) {
        if rows.is_empty() {
            out.push(Output::Reply(ticket, Reply::TakenIn));
            return;
        }
        let last = rows.len() - 1;
        for (place, InboxJob { row, mut job, refused }) in rows.into_iter().enumerate() {
            let drains =
                || self.drains(&job).then(|| Refusal::QueueDraining(job.spec.queue.clone()).to_string());
            let waits = || (!job.spec.depends_on.is_empty()).then(|| NOT_FROM_THE_INBOX.to_owned());
            let refused = refused.or_else(drains).or_else(waits);
            if refused.is_some() {
                job.spec.depends_on.clear();
                // It must neither hold another job up nor give way to one.
                job.spec.options.unique_key = None;
            }
            self.arrive(now, &mut job);
            let inbox = Some(InboxOrigin { row, refused });
            let submission = Submission { idempotency: None, jobs: vec![job], inbox };
            let ticket = (place == last).then_some(ticket);
            self.commits.push(Change::Submit(submission), Effect::Intake(ticket));
        }
    }

    /// A row of the inbox is gone, and its job is there; or that was so before.
    pub(crate) fn taken_in(
        &mut self,
        now: Now,
        submission: &Submission,
        applied: &Applied,
        out: &mut Vec<Output>,
    ) {
        let Applied::Submitted(answer) = applied else { return };
        if !submission.is_refused() {
            self.take_in(now, &submission.jobs, answer, Vec::new(), out);
            return;
        }
        let Submitted::Accepted(intakes) = answer else { return };
        for (job, intake) in submission.jobs.iter().zip(intakes) {
            if *intake == Intake::Created(job.id) {
                self.taken_in_dead(now, job, out);
            }
        }
    }

    /// It never lived, but counts, and whoever listens hears of it.
    fn taken_in_dead(&mut self, now: Now, job: &NewJob, out: &mut Vec<Output>) {
        self.counters.add(&job.spec.queue, &job.spec.kind, State::Dead, 1);
        out.push(Output::Event(Event::Job {
            job: job.id,
            queue: job.spec.queue.clone(),
            kind: job.spec.kind.clone(),
            state: State::Dead,
            attempt: 0,
            created_at: job.created_at,
            at: now.wall,
        }));
    }
}
