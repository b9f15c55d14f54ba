//! Asking the coordinator, and waiting for its answer within bounds.

use std::time::Duration;

use ganger_core::change::{Idempotency, NewJob, Submitted};
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Ask, Refusal, Reply};
use ganger_core::dependency;
use ganger_core::job::{JobSpec, State};
use ganger_core::name::QueueName;
use ganger_core::queue::QueueSettings;
use ganger_core::{JobId, Now, SessionId, Wall};
use tokio::sync::oneshot;

use super::audit::FORGET_EVERY;
use super::{Answer, Cancelled, Service, ServiceError};
use crate::audit;
use crate::coordinator_thread::Phase;
use crate::inbox::{Answered, NotTaken};

/// A batch that is on its way for longer is stuck, and whoever waits is told so.
pub(crate) const STUCK: Duration = Duration::from_secs(5);
/// Nobody waits longer than this for an answer, whatever the reason.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Whoever waits looks this often whether the store is stuck.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A look at the coordinator is between two of its steps: longer than this, and it is not well.
const LOOK_WITHIN: Duration = Duration::from_secs(5);
/// Steps of one purge.
const PURGE_STEPS: usize = 10_000;

impl Service {
    pub(crate) async fn ask_submit(
        &self,
        idempotency: Option<Idempotency>,
        jobs: Vec<JobSpec>,
    ) -> Answer<Submitted> {
        let now = self.0.clock.now().wall;
        let new = |spec| NewJob {
            id: self.0.ids.next(now),
            seq: 0,
            created_at: Wall::default(),
            due_at: Wall::default(),
            spec,
        };
        let mut jobs: Vec<NewJob> = jobs.into_iter().map(new).collect();
        dependency::resolve(&mut jobs);
        let Reply::Submitted(submitted) = self.ask(Ask::Submit { idempotency, jobs }).await? else {
            return Err(misplaced());
        };
        Ok(submitted)
    }

    pub(super) async fn ask_cancel(&self, id: JobId) -> Answer<Cancelled> {
        let reply = self.ask_about(id, Ask::Cancel(id)).await?;
        if reply == Reply::Cancelled {
            return Ok(Cancelled::AtOnce);
        }
        let Reply::CancelRequested = reply else { return Err(misplaced()) };
        Ok(Cancelled::Requested)
    }

    pub(super) async fn ask_replay(&self, id: JobId) -> Answer<()> {
        let Reply::Replayed = self.ask_about(id, Ask::Replay(id)).await? else { return Err(misplaced()) };
        Ok(())
    }

    pub(super) async fn ask_run_now(&self, id: JobId) -> Answer<()> {
        let Reply::Due = self.ask_about(id, Ask::RunNow(id)).await? else { return Err(misplaced()) };
        Ok(())
    }

    pub(super) async fn ask_put_queue(
        &self,
        name: QueueName,
        settings: QueueSettings,
    ) -> Answer<QueueSettings> {
        let Reply::Queue(settings) = self.ask(Ask::PutQueue(name, settings)).await? else {
            return Err(misplaced());
        };
        Ok(settings)
    }

    pub(super) async fn ask_purge_dead(&self, name: QueueName) -> Answer<u64> {
        let mut removed = 0;
        for _ in 0..PURGE_STEPS {
            let Reply::Purged(step) = self.ask(Ask::PurgeDead(name.clone())).await? else {
                return Err(misplaced());
            };
            removed += step;
            if step < self.0.purge_step as u64 {
                break;
            }
        }
        Ok(removed)
    }

    pub(super) async fn ask_drain_worker(&self, id: SessionId) -> Answer<()> {
        let Reply::Draining = self.ask(Ask::DrainWorker(id)).await? else { return Err(misplaced()) };
        Ok(())
    }

    /// Looks at the coordinator.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Coordinator, Now) -> T + Send + 'static,
    ) -> Answer<T> {
        self.leading()?;
        match tokio::time::timeout(LOOK_WITHIN, self.0.inbox.look(look)).await {
            Ok(Ok(seen)) => Ok(seen),
            Ok(Err(error)) => Err(not_taken(error)),
            Err(_) => Err(ServiceError::NotReady("the coordinator does not answer".into())),
        }
    }

    /// Whether there is a leader who could answer.
    pub(super) fn leading(&self) -> Answer<()> {
        if *self.0.stopping.borrow() {
            return Err(ServiceError::NotReady("it is stopping".into()));
        }
        match &*self.0.phase.borrow() {
            Phase::Leading(_) => Ok(()),
            Phase::Following(leader) => {
                Err(ServiceError::NotReady(format!("{} leads, not this server", leader.server)))
            }
            Phase::TakingOver => Err(ServiceError::NotReady("it is taking over".into())),
            Phase::Stopped => Err(ServiceError::NotReady("it has stopped".into())),
            Phase::Failed(cause) => Err(ServiceError::NotReady(cause.clone())),
        }
    }

    /// Asks about a job, and says what is the matter with it if that is why it was refused.
    async fn ask_about(&self, id: JobId, ask: Ask) -> Answer<Reply> {
        let answer = self.ask(ask).await;
        let Err(ServiceError::Refused(refusal)) = &answer else { return answer };
        match refusal {
            Refusal::WrongState(state) => Err(ServiceError::WrongState(id, *state)),
            // It is not live, or live and should not be: the store knows which.
            Refusal::NoSuchJob | Refusal::NotFinal => {
                let state = self.stored(id).await?.state;
                // Its handler has ended it in the store, and its worker has not reported: to the leader it runs.
                let late = *refusal == Refusal::NotFinal && state.is_final();
                Err(ServiceError::WrongState(id, if late { State::Running } else { state }))
            }
            Refusal::UniqueHeld(_)
            | Refusal::NoTransactions(_)
            | Refusal::Parents(_)
            | Refusal::Schedule(_)
            | Refusal::QueueDraining(_)
            | Refusal::QueueFull { .. }
            | Refusal::TooManyClosed
            | Refusal::NoSuchWorker
            | Refusal::Store(_)
            | Refusal::Overloaded => answer,
        }
    }

    pub(super) async fn ask(&self, ask: Ask) -> Answer<Reply> {
        self.leading()?;
        let (ask, audited) = audit::noted(ask, self.0.clock.now().wall);
        if audited && self.auth().counts_entry().is_multiple_of(FORGET_EVERY) {
            self.forget_old_entries();
        }
        let reply = self.0.inbox.ask(ask).map_err(not_taken)?;
        let reply = self.answer(reply).await?;
        if let Reply::Refused(refusal) = reply {
            return Err(refusal.into());
        }
        Ok(reply)
    }

    /// Waits for a reply, but not for a store that is stuck.
    async fn answer(&self, mut reply: oneshot::Receiver<Answered>) -> Answer<Reply> {
        let asked = self.0.clock.now().mono;
        loop {
            if let Ok(answered) = tokio::time::timeout(LOOK_EVERY, &mut reply).await {
                let stepped_down = |_| ServiceError::Unknown("the leader stepped down".into());
                return answered.map_err(stepped_down)?.map_err(not_taken);
            }
            let now = self.0.clock.now().mono;
            let unreachable = self.0.membership.health().lasts(now) > STUCK;
            if self.0.busy.lasts(now) > STUCK || unreachable {
                return Err(ServiceError::Unknown("the store does not answer".into()));
            }
            if now.since(asked) > ANSWER_WITHIN {
                return Err(ServiceError::Unknown("the answer did not come in time".into()));
            }
        }
    }
}

fn not_taken(error: NotTaken) -> ServiceError {
    match error {
        NotTaken::Full => Refusal::Overloaded.into(),
        NotTaken::Ended => ServiceError::NotReady("the leader has ended".into()),
    }
}

/// A reply to another question: a bug, and no reason to claim that anything happened.
pub(super) fn misplaced() -> ServiceError {
    tracing::error!("the coordinator answered another question");
    ServiceError::Unknown("the coordinator answered another question".into())
}
