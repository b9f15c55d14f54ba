//! What clients ask for: submit, cancel, run now, replay, settings.

use crate::change::{Applied, Change, Idempotency, Intake, NewJob, Replay, Replayed, Submission, Submitted};
use crate::coordinator::Coordinator;
use crate::coordinator::depth::Held;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::{Ask, Output, Refusal, Reply, Ticket};
use crate::coordinator::table::Phase;
use crate::dependency;
use crate::document::Document;
use crate::event::Event;
use crate::ids::{JobId, SessionId};
use crate::job::State;
use crate::limits;
use crate::message::{CancelWhy, ToWorker};
use crate::name::QueueName;
use crate::queue::QueueSettings;
use crate::sabotage::{self, Bug};
use crate::time::{Now, Wall};

impl Coordinator {
    pub(crate) fn ask(&mut self, now: Now, ticket: Ticket, ask: Ask, out: &mut Vec<Output>) {
        if let Some(refusal) = self.not_now() {
            out.push(Output::Reply(ticket, Reply::Refused(refusal)));
            return;
        }
        if let Err(refusal) = self.asked(now, ticket, ask, out) {
            out.push(Output::Reply(ticket, Reply::Refused(refusal)));
        }
    }

    fn asked(&mut self, now: Now, ticket: Ticket, ask: Ask, out: &mut Vec<Output>) -> Result<(), Refusal> {
        match ask {
            Ask::Submit { idempotency, jobs } => self.submit(now, ticket, idempotency, jobs, out),
            Ask::Cancel(job) => self.cancel(now, ticket, job),
            Ask::RunNow(job) => self.run_now(now, ticket, job),
            Ask::Replay(job) => self.replay(now, ticket, job),
            Ask::PutQueue(queue, settings) => {
                self.commits.push(Change::PutQueue(queue, settings), Effect::PutQueue(ticket));
                Ok(())
            }
            Ask::PutKind(kind, settings) => {
                self.commits.push(Change::PutKind(kind, settings), Effect::PutKind(ticket));
                Ok(())
            }
            Ask::CloseKey(closure) => self.close_key(ticket, closure),
            Ask::Intake(rows) => {
                self.intake(now, ticket, rows, out);
                Ok(())
            }
            Ask::PurgeDead(queue) => {
                let limit = self.options.prune_limit;
                self.commits.push(Change::PurgeDead { queue, limit }, Effect::Purge(ticket));
                Ok(())
            }
            Ask::Delete(jobs) => {
                self.delete(ticket, jobs, out);
                Ok(())
            }
            Ask::PutDocument(document) => {
                self.commits.push(Change::PutDocument(document), Effect::Document(ticket));
                Ok(())
            }
            Ask::Schedule(ask) => self.schedule_ask(now, ticket, ask, out),
            Ask::DrainWorker(session) => self.drain_worker(now, ticket, session, out),
            Ask::Audited(ask, entry) => self.audited(now, ticket, *ask, entry, out),
        }
    }

    /// Does it, and writes down who asked for it right behind what it changes. What changes nothing leaves no trace.
    fn audited(
        &mut self,
        now: Now,
        ticket: Ticket,
        ask: Ask,
        entry: Document,
        out: &mut Vec<Output>,
    ) -> Result<(), Refusal> {
        // That a worker drains is not written anywhere: its entry stands alone.
        let alone = matches!(ask, Ask::DrainWorker(_));
        let before = self.commits.waiting();
        self.asked(now, ticket, ask, out)?;
        if self.commits.waiting() > before || alone {
            self.commits.push(Change::PutDocument(entry), Effect::Audited);
        }
        Ok(())
    }

    /// Why nothing at all can be asked for at this moment.
    fn not_now(&self) -> Option<Refusal> {
        if let Some(reason) = self.commits.trouble() {
            return Some(Refusal::Store(reason.to_owned()));
        }
        (self.commits.waiting() >= self.options.backlog).then_some(Refusal::Overloaded)
    }

    fn submit(
        &mut self,
        now: Now,
        ticket: Ticket,
        idempotency: Option<Idempotency>,
        jobs: Vec<NewJob>,
        out: &mut Vec<Output>,
    ) -> Result<(), Refusal> {
        if let Some(job) = jobs.iter().find(|job| self.drains(job)) {
            return Err(Refusal::QueueDraining(job.spec.queue.clone()));
        }
        dependency::check(&jobs).map_err(Refusal::Parents)?;
        if self.may_be_full(&jobs)
            && let Some((full, may_fit)) = self.full(&jobs)
        {
            let held = Held { ticket, idempotency, jobs, until: now.mono };
            return if may_fit { self.hold(now, full, held) } else { Err(full) };
        }
        self.submit_now(now, ticket, idempotency, jobs, out);
        Ok(())
    }

    /// Submits what there is room for.
    pub(crate) fn submit_now(
        &mut self,
        now: Now,
        ticket: Ticket,
        idempotency: Option<Idempotency>,
        mut jobs: Vec<NewJob>,
        out: &mut Vec<Output>,
    ) {
        self.coming_in(&jobs);
        for job in &mut jobs {
            self.arrive(now, job);
        }
        if sabotage::active(Bug::AckBeforeCommit) {
            let intakes = jobs.iter().map(|job| Intake::Created(job.id)).collect();
            out.push(Output::Reply(ticket, Reply::Submitted(Submitted::Accepted(intakes))));
        }
        let effect = Effect::Submit { ticket, provisional: Vec::new() };
        self.commits.push(Change::Submit(Submission { idempotency, jobs, inbox: None }), effect);
    }

    /// Whether the queue of this job takes nothing new.
    pub(crate) fn drains(&self, job: &NewJob) -> bool {
        self.queues.get(&job.spec.queue).is_some_and(|queue| queue.settings.draining)
    }

    /// Gives a job its place in the order of intake.
    pub(crate) fn arrive(&mut self, now: Now, job: &mut NewJob) {
        job.seq = self.next_seq;
        self.next_seq += 1;
        job.created_at = now.wall;
        job.due_at = job.spec.run_at.map_or(now.wall, |at| at.max(now.wall));
        if !job.spec.depends_on.is_empty() {
            job.due_at = dependency::park(job.due_at);
        }
    }

    /// Whether submissions were already answered (a seeded bug).
    pub(crate) fn answered_early(&self) -> bool {
        sabotage::active(Bug::AckBeforeCommit)
    }

    fn cancel(&mut self, now: Now, ticket: Ticket, id: JobId) -> Result<(), Refusal> {
        let job = self.jobs.slot(id).ok_or(Refusal::NoSuchJob)?;
        match self.jobs.get(job).phase {
            Phase::Blocked | Phase::Waiting(_) | Phase::Ready(_) => {
                self.withdraw(job);
                self.finish(now, job, State::Cancelled, "cancelled before it started", Some(ticket));
            }
            Phase::Leased(_) | Phase::Ending => {
                self.commits
                    .push(Change::CancelWanted(id), Effect::CancelWanted { job: id, ticket: Some(ticket) });
            }
            Phase::Leaving => return Err(Refusal::WrongState(State::Cancelled)),
        }
        Ok(())
    }

    /// The wish is durable: the worker is told.
    pub(crate) fn cancel_wanted(&mut self, now: Now, id: JobId, out: &mut Vec<Output>) {
        let Some(job) = self.jobs.slot(id) else { return };
        let again = std::mem::replace(&mut self.jobs.get_mut(job).cancel_wanted, true);
        match self.jobs.get(job).phase {
            Phase::Leased(lease) if !again => self.stop(now, lease, CancelWhy::Cancelled, out),
            // The attempt ended without it and is on its way back to the queue.
            Phase::Blocked | Phase::Waiting(_) | Phase::Ready(_) => {
                self.withdraw(job);
                self.finish(now, job, State::Cancelled, "cancelled while it ran", None);
            }
            Phase::Leased(_) | Phase::Ending | Phase::Leaving => {}
        }
    }

    fn run_now(&mut self, now: Now, ticket: Ticket, id: JobId) -> Result<(), Refusal> {
        let job = self.jobs.slot(id).ok_or(Refusal::NoSuchJob)?;
        match self.jobs.get(job).phase {
            Phase::Waiting(_) => {
                self.commits.push(Change::RunNow(id, now.wall), Effect::RunNow { job: id, ticket });
                Ok(())
            }
            // Its parents decide, and whoever does not want to wait for them can cancel it.
            Phase::Blocked => Err(Refusal::WrongState(State::Blocked)),
            Phase::Ready(_) => Err(Refusal::WrongState(State::Queued)),
            Phase::Leased(_) | Phase::Ending => Err(Refusal::WrongState(State::Running)),
            Phase::Leaving => Err(Refusal::WrongState(State::Cancelled)),
        }
    }

    pub(crate) fn due_now(&mut self, now: Now, id: JobId, at: Wall, out: &mut Vec<Output>) {
        let Some(job) = self.jobs.slot(id) else { return };
        // Its own time may have come meanwhile. The store has the earlier moment then, and so must memory: the next
        // leader would order by it.
        let due_at = self.jobs.get(job).due_at.min(at);
        match self.jobs.get(job).phase {
            Phase::Waiting(_) => {
                self.withdraw(job);
                self.jobs.get_mut(job).due_at = due_at;
                self.make_runnable(now, job);
                out.push(self.job_event(job, self.jobs.get(job).counted, now.wall));
            }
            Phase::Ready(_) if due_at < self.jobs.get(job).due_at => {
                self.withdraw(job);
                self.jobs.get_mut(job).due_at = due_at;
                self.make_runnable(now, job);
            }
            Phase::Blocked | Phase::Ready(_) => {}
            Phase::Leased(_) | Phase::Ending | Phase::Leaving => self.jobs.get_mut(job).due_at = due_at,
        }
    }

    fn replay(&mut self, now: Now, ticket: Ticket, id: JobId) -> Result<(), Refusal> {
        if self.jobs.slot(id).is_some() {
            return Err(Refusal::NotFinal);
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        self.commits.push(Change::Replay(Replay { job: id, seq, at: now.wall }), Effect::Replay(ticket));
        Ok(())
    }

    pub(crate) fn replayed(&mut self, now: Now, ticket: Ticket, applied: Applied, out: &mut Vec<Output>) {
        let Applied::Replayed(answer) = applied else { return };
        let reply = match answer {
            Replayed::Live(job, was) => {
                self.counters.sub(&job.queue, &job.kind, was, 1);
                let slot = self.add_job(now, &*job);
                out.push(self.job_event(slot, self.jobs.get(slot).counted, now.wall));
                Reply::Replayed
            }
            Replayed::NotFound => Reply::Refused(Refusal::NoSuchJob),
            Replayed::NotFinal => Reply::Refused(Refusal::NotFinal),
            Replayed::UniqueHeld(by) => Reply::Refused(Refusal::UniqueHeld(by)),
        };
        out.push(Output::Reply(ticket, reply));
    }

    /// Removes final jobs. Those that live here are left alone, also if their handlers have ended them in the store:
    /// what the leader does not know to be final it cannot take for removed.
    fn delete(&mut self, ticket: Ticket, mut jobs: Vec<JobId>, out: &mut Vec<Output>) {
        jobs.retain(|job| self.jobs.slot(*job).is_none());
        jobs.truncate(limits::DELETED_AT_ONCE);
        if jobs.is_empty() {
            out.push(Output::Reply(ticket, Reply::Purged(0)));
        } else {
            self.commits.push(Change::Delete(jobs), Effect::Purge(ticket));
        }
    }

    pub(crate) fn queue_set(
        &mut self,
        now: Now,
        queue: &QueueName,
        settings: QueueSettings,
        out: &mut Vec<Output>,
    ) {
        self.queues.entry(queue.clone()).or_default().settings = settings;
        self.settings_flow(queue);
        self.queue_moved(queue);
        for key in self.keys.of_queue(queue) {
            self.key_moved(key);
        }
        let (paused, draining) = (settings.paused, settings.draining);
        out.push(Output::Event(Event::Queue { queue: queue.clone(), paused, draining, at: now.wall }));
    }

    fn drain_worker(
        &mut self,
        now: Now,
        ticket: Ticket,
        id: SessionId,
        out: &mut Vec<Output>,
    ) -> Result<(), Refusal> {
        let slot = self.sessions.slot(id).ok_or(Refusal::NoSuchWorker)?;
        self.drain_session(now, slot, out);
        if self.is_resumed(slot) {
            self.send(slot, ToWorker::Drain, out);
        }
        out.push(Output::Reply(ticket, Reply::Draining));
        Ok(())
    }
}
