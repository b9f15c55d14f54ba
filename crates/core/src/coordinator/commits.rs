//! The batches that are being written, the one that forms meanwhile, and what follows their commit.
//!
//! Decide, commit, announce. A change is decided when it is pushed here; its [`Effect`] runs once the
//! store says that it is durable. When the store refuses a batch (a full disk, a lost database) nothing
//! of it happened: what clients asked for is refused to them and undone; what the protocol itself needs
//! (ends of attempts, assignments of jobs that exist, sessions) is kept and written again after a pause.
//!
//! # The store does not wait for the announcement
//! When much was decided while a batch is written, that is handed over too: the store goes on with it at once, and
//! writes while the leader announces. Nothing is told earlier or in another order by that; what the effects decide goes
//! into a batch after. If the store refuses the first batch, it refuses the second as well ([`crate::sending`]), and both
//! are taken for decisions that were never written. One thing an effect may do
//! to a decision that waits is to take it back, when a job turns out never to have been ([`super::joint`]). So nothing
//! is handed over behind a batch with provisional jobs before that is announced.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::change::{Applied, Batch, Change, Tally};
use crate::coordinator::Coordinator;
use crate::coordinator::effect::Effect;
use crate::coordinator::joint::Provisional;
use crate::coordinator::port::{Output, Refusal, Reply};
use crate::event::Event;
use crate::ids::SessionId;
use crate::job::State;
use crate::lease::Fence;
use crate::message::ToWorker;
use crate::sabotage::{self, Bug};
use crate::time::{Mono, Now};

/// Most changes of one batch.
const BATCH_CHANGES: usize = 8_192;
/// Pauses between tries while the store refuses.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
struct InFlight {
    batch: Arc<Batch>,
    effects: Vec<Effect>,
    handed_over: Mono,
    /// It has jobs that may turn out never to have been.
    provisional: bool,
}

impl InFlight {
    /// Whether its announcement may take back what was decided since.
    fn may_take_back(&self) -> bool {
        self.provisional && !sabotage::active(Bug::NothingTakenBack)
    }
}

/// A batch that is durable, and is to be announced before anything else happens.
#[derive(Clone, Debug)]
struct Durable {
    batch: Arc<Batch>,
    effects: Vec<Effect>,
    applied: Vec<Applied>,
}

/// The batches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commits {
    written: u64,
    /// What forms may be many batches, and each takes from the front.
    changes: VecDeque<Change>,
    effects: VecDeque<Effect>,
    /// In order. The store writes each only after the one before it.
    in_flight: VecDeque<InFlight>,
    durable: Option<Durable>,
    trouble: Option<Trouble>,
}

#[derive(Clone, Debug)]
struct Trouble {
    reason: String,
    retry_at: Mono,
    pause: Duration,
}

impl Commits {
    pub(crate) fn push(&mut self, change: Change, effect: Effect) {
        self.changes.push_back(change);
        self.effects.push_back(effect);
    }

    /// Changes that wait for the next batch.
    pub(crate) fn waiting(&self) -> usize {
        self.changes.len()
    }

    /// The changes that wait for the next batch.
    pub(crate) fn forming(&self) -> &VecDeque<Change> {
        &self.changes
    }

    /// The changes of each batch that is being written.
    pub(crate) fn writing(&self) -> impl Iterator<Item = &[Change]> {
        self.in_flight.iter().map(|in_flight| &in_flight.batch.changes[..])
    }

    /// Number of the last batch that is known to be durable.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Whether a batch is outstanding.
    pub(crate) fn is_writing(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// A job of the submission at this place of the forming batch is leased in the same batch.
    pub(crate) fn join(&mut self, place: usize, job: Provisional) {
        if let Some(Effect::Submit { provisional, .. }) = self.effects.get_mut(place) {
            provisional.push(job);
        }
    }

    /// Takes a change that was decided out of the forming batch; the first whose effect is such.
    pub(crate) fn take_back(&mut self, such: impl Fn(&Effect) -> bool) -> Option<Effect> {
        let place = self.effects.iter().position(such)?;
        self.changes.remove(place);
        self.effects.remove(place)
    }

    /// Why nothing can be written at present.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_ref().map(|t| t.reason.as_str())
    }

    /// When the next try is due, while the store refuses and no try is under way.
    pub(crate) fn retry_at(&self) -> Option<Mono> {
        self.trouble.as_ref().filter(|_| self.in_flight.is_empty()).map(|t| t.retry_at)
    }
}

impl Coordinator {
    /// Gives the next batch to the writer, if it may have another and there is something to write.
    pub(crate) fn hand_over(&mut self, now: Now, out: &mut Vec<Output>) {
        if !self.has_authority(now) || !self.may_hand_over(now) {
            return;
        }
        let mut take = self.commits.changes.len().min(BATCH_CHANGES);
        // A failure is counted in the same transaction as the end of its attempt, which follows it.
        if take > 1 && matches!(self.commits.effects[take - 1], Effect::Failed(_)) {
            take -= 1;
        }
        // And what tells of a change is written with it.
        if matches!(self.commits.effects.get(take), Some(Effect::Audited)) {
            take += 1;
        }
        let changes: Vec<Change> = self.commits.changes.drain(..take).collect();
        let effects: Vec<Effect> = self.commits.effects.drain(..take).collect();
        self.reconciler.touch(&changes);
        let counted = self.count(now, &changes, &effects);
        let number = self.commits.written + self.commits.in_flight.len() as u64 + 1;
        let batch = Arc::new(Batch { number, changes, counted });
        let provisional = effects.iter().any(Effect::is_provisional);
        let handed_over = now.mono;
        self.commits.in_flight.push_back(InFlight {
            batch: batch.clone(),
            effects,
            handed_over,
            provisional,
        });
        out.push(Output::Commit(batch));
    }

    /// While the store refuses, an empty batch finds out whether it is back. Behind a batch that is being written, little
    /// is not worth a commit of its own.
    fn may_hand_over(&self, now: Now) -> bool {
        let Commits { changes, in_flight, trouble, .. } = &self.commits;
        match trouble {
            Some(trouble) => in_flight.is_empty() && now.mono >= trouble.retry_at,
            None if in_flight.is_empty() => !changes.is_empty(),
            None => {
                in_flight.len() < self.options.in_flight
                    && changes.len() >= self.options.hand_over_early
                    && !in_flight.iter().any(|in_flight| in_flight.may_take_back())
            }
        }
    }

    /// The first outstanding batch is durable. What was decided meanwhile is handed over if it is much;
    /// [`Coordinator::announce`] does the rest, in the next call at the latest.
    pub(crate) fn committed(&mut self, now: Now, number: u64, applied: Vec<Applied>, out: &mut Vec<Output>) {
        let Some(done) = self.commits.in_flight.pop_front_if(|first| first.batch.number == number) else {
            return;
        };
        self.commits.written = number;
        if self.commits.trouble.take().is_some() || now.mono.since(done.handed_over) > self.options.stall {
            self.refresh_sessions(now);
        }
        let may_take_back = done.may_take_back();
        self.commits.durable = Some(Durable { batch: done.batch, effects: done.effects, applied });
        if self.commits.waiting() >= self.options.hand_over_early && !may_take_back {
            self.hand_over(now, out);
        }
    }

    /// Everything that the durable batch holds is announced.
    pub(crate) fn announce(&mut self, now: Now, out: &mut Vec<Output>) {
        let Some(Durable { batch, effects, applied }) = self.commits.durable.take() else { return };
        let mut acks = BTreeMap::new();
        for ((change, effect), applied) in batch.changes.iter().zip(effects).zip(applied) {
            self.take_effect(now, change, effect, applied, &mut acks, out);
        }
        for (session, fences) in acks {
            if let Some(slot) = self.sessions.slot(session) {
                self.send(slot, ToWorker::Ack(fences), out);
            }
        }
    }

    /// The first outstanding batch was certainly not written, nor any after it.
    pub(crate) fn refused(&mut self, now: Now, number: u64, reason: &str, out: &mut Vec<Output>) {
        if self.commits.in_flight.front().is_none_or(|first| first.batch.number != number) {
            return;
        }
        let pause = self.commits.trouble.take().map_or(FIRST_PAUSE, |t| (t.pause * 2).min(LONGEST_PAUSE));
        let retry_at = now.mono + pause;
        self.commits.trouble = Some(Trouble { reason: reason.to_owned(), retry_at, pause });

        let mut kept = (VecDeque::new(), VecDeque::new());
        while let Some(failed) = self.commits.in_flight.pop_front() {
            let older = failed.batch.changes.iter().cloned().zip(failed.effects).collect();
            self.keep_or_undo(now, older, reason, &mut kept, out);
            if sabotage::active(Bug::LaterBatchAwaited) {
                break;
            }
        }
        // What formed meanwhile is in the same trouble: its clients need not wait for the next refusal. The older
        // ones come first, because a job that vanishes takes what was decided about it since along.
        let newer = std::mem::take(&mut self.commits.changes).into_iter();
        let newer = newer.zip(std::mem::take(&mut self.commits.effects)).collect();
        self.keep_or_undo(now, newer, reason, &mut kept, out);
        // Undoing may have decided something new, which comes after what is kept.
        kept.0.append(&mut self.commits.changes);
        kept.1.append(&mut self.commits.effects);
        (self.commits.changes, self.commits.effects) = kept;
        self.nothing_comes_in();
    }

    /// Refuses to clients what they asked for, and keeps the rest to be written again.
    fn keep_or_undo(
        &mut self,
        now: Now,
        decided: Vec<(Change, Effect)>,
        reason: &str,
        kept: &mut (VecDeque<Change>, VecDeque<Effect>),
        out: &mut Vec<Output>,
    ) {
        for (change, effect) in decided {
            match effect.ticket() {
                Some(ticket) => {
                    self.undo(now, &change, effect);
                    out.push(Output::Reply(ticket, Reply::Refused(Refusal::Store(reason.to_owned()))));
                }
                // Its jobs went with their submissions.
                None if effect.is_joint() => {}
                // Its row is still in the inbox.
                None if matches!(effect, Effect::Intake(_)) => {}
                // What it tells of did not happen.
                None if matches!(effect, Effect::Audited) && !sabotage::active(Bug::AuditOfNothing) => {}
                None => {
                    kept.0.push_back(change);
                    kept.1.push_back(effect);
                }
            }
        }
    }

    fn undo(&mut self, now: Now, change: &Change, effect: Effect) {
        match effect {
            Effect::CloseKey(_) => {
                if let Change::CloseKey(closure) = change {
                    self.not_closed(closure);
                }
            }
            Effect::Finish { job, .. } => self.make_runnable(now, job),
            Effect::Submit { provisional, .. } => {
                for (_, job) in provisional {
                    self.vanish(job);
                }
            }
            Effect::Schedule(effect) => self.schedule_unchanged(&effect),
            Effect::Intake(_)
            | Effect::Assign { .. }
            | Effect::Failed(_)
            | Effect::Document(_)
            | Effect::End(_)
            | Effect::Mark { .. }
            | Effect::CancelWanted { .. }
            | Effect::RunNow { .. }
            | Effect::Replay(_)
            | Effect::OpenSession(_)
            | Effect::CloseSession { .. }
            | Effect::PutQueue(_)
            | Effect::PutKind(_)
            | Effect::Purge(_)
            | Effect::Prune
            | Effect::Audited
            | Effect::Nothing => {}
        }
    }

    fn take_effect(
        &mut self,
        now: Now,
        change: &Change,
        effect: Effect,
        applied: Applied,
        acks: &mut BTreeMap<SessionId, Vec<Fence>>,
        out: &mut Vec<Output>,
    ) {
        match (effect, change) {
            (Effect::Submit { ticket, provisional }, Change::Submit(submission)) => {
                let Some(answer) = self.linked(&submission.jobs, applied) else { return };
                self.came_in(&submission.jobs);
                self.take_in(now, &submission.jobs, &answer, provisional, out);
                if !self.answered_early() {
                    out.push(Output::Reply(ticket, Reply::Submitted(answer)));
                }
            }
            (Effect::Intake(ticket), Change::Submit(submission)) => {
                self.taken_in(now, submission, &applied, out);
                out.extend(ticket.map(|ticket| Output::Reply(ticket, Reply::TakenIn)));
            }
            (Effect::Assign { session, leases, joint }, _) => {
                self.assigned(now, session, &leases, joint, out);
            }
            (Effect::Mark { session }, Change::Mark(mark)) => self.mark_written(session, *mark, out),
            (Effect::End(ended), _) => self.attempt_ended(now, ended.or_elsewhere(&applied), acks, out),
            (Effect::Finish { job, ticket }, Change::Finish(finish)) => {
                self.finished(now, job, &finish.end, out);
                if let Some(ticket) = ticket {
                    out.push(Output::Reply(ticket, Reply::Cancelled));
                }
            }
            (Effect::CancelWanted { job, ticket }, _) => {
                self.cancel_wanted(now, job, out);
                out.extend(ticket.map(|ticket| Output::Reply(ticket, Reply::CancelRequested)));
            }
            (Effect::RunNow { job, ticket }, Change::RunNow(_, at)) => {
                self.due_now(now, job, *at, out);
                out.push(Output::Reply(ticket, Reply::Due));
            }
            (Effect::Replay(ticket), _) => self.replayed(now, ticket, applied, out),
            (Effect::OpenSession(id), _) => {
                self.session_opened(now, id, applied == Applied::SessionEverClosed, out);
            }
            (Effect::CloseSession { id, lost }, _) => self.session_closed(now, id, lost, out),
            (
                effect @ (Effect::PutQueue(_)
                | Effect::PutKind(_)
                | Effect::CloseKey(_)
                | Effect::Document(_)
                | Effect::Schedule(_)
                | Effect::Purge(_)
                | Effect::Prune),
                _,
            ) => self.administered(now, change, effect, applied, out),
            // An effect is pushed beside its own change; no other pair exists.
            (
                Effect::Nothing
                | Effect::Audited
                | Effect::Failed(_)
                | Effect::Submit { .. }
                | Effect::Intake(_)
                | Effect::Mark { .. }
                | Effect::Finish { .. }
                | Effect::RunNow { .. },
                _,
            ) => {}
        }
    }

    /// What people and retention change besides jobs.
    fn administered(
        &mut self,
        now: Now,
        change: &Change,
        effect: Effect,
        applied: Applied,
        out: &mut Vec<Output>,
    ) {
        match (effect, change) {
            (Effect::PutQueue(ticket), Change::PutQueue(queue, settings)) => {
                self.queue_set(now, queue, *settings, out);
                out.push(Output::Reply(ticket, Reply::Queue(*settings)));
            }
            (Effect::PutKind(ticket), Change::PutKind(kind, settings)) => {
                out.push(Output::Reply(ticket, self.kind_set(kind, *settings, &applied)));
            }
            (Effect::CloseKey(ticket), Change::CloseKey(closure)) => {
                let reply = self.key_set(now, closure);
                out.extend(ticket.map(|ticket| Output::Reply(ticket, reply)));
            }
            (Effect::Document(ticket), _) => out.push(Output::Reply(ticket, Reply::Documented)),
            (Effect::Schedule(effect), Change::Schedule(change)) => {
                self.schedule_changed(now, effect, change, applied, out);
            }
            (Effect::Purge(ticket), _) => {
                let removed = self.removed(now, applied);
                out.push(Output::Reply(ticket, Reply::Purged(removed)));
            }
            (Effect::Prune, _) => self.pruned(now, applied),
            // Everything else is a job's or a session's.
            _ => {}
        }
    }

    /// What was removed no longer counts; how much that was.
    pub(crate) fn removed(&mut self, now: Now, applied: Applied) -> u64 {
        let Applied::Removed(tallies) = applied else { return 0 };
        if !tallies.is_empty() {
            self.parents_may_be_gone(now);
        }
        for Tally { queue, kind, state, count } in &tallies {
            self.counters.sub(queue, kind, *state, *count);
        }
        tallies.iter().map(|t| t.count).sum()
    }

    /// The event of a job that is in another state.
    pub(crate) fn job_event(&self, job: u32, state: State, at: crate::time::Wall) -> Output {
        let entry = self.jobs.get(job);
        let key = &self.classes.get(entry.class).key;
        Output::Event(Event::Job {
            job: entry.id,
            queue: key.queue.clone(),
            kind: key.kind.clone(),
            state,
            attempt: entry.standing.attempt,
            created_at: entry.created_at,
            at,
        })
    }
}
