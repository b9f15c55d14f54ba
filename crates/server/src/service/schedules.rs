//! Schedules: reading and changing them, and their ledgers.

use ganger_core::Wall;
use ganger_core::coordinator::port::{Ask, Reply, ScheduleAsk, ScheduleRefusal, ScheduleReply, ScheduleView};
use ganger_core::ids::ScheduleId;
use ganger_core::name::ScheduleName;
use ganger_core::schedule::Schedule;
use ganger_core::schedule::ledger::Occurrence;

use super::ask::misplaced;
use super::{Answer, Service, ServiceError};

/// A schedule after it was set.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleSet {
    /// As it is.
    pub view: ScheduleView,
    /// It is new.
    pub created: bool,
    /// It was not so before.
    pub changed: bool,
}

impl Service {
    /// Schedules by name, after that one, at most so many.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn schedules(&self, after: Option<ScheduleName>, limit: usize) -> Answer<Vec<ScheduleView>> {
        self.look(move |c, now| c.schedules(after.as_ref(), limit, now)).await
    }

    /// One schedule.
    ///
    /// # Errors
    /// There is none of that name, or no leader.
    pub async fn schedule(&self, name: ScheduleName) -> Answer<ScheduleView> {
        let wanted = name.clone();
        let found = self.look(move |c, now| c.schedule(&wanted, now)).await?;
        found.ok_or_else(|| ServiceError::Refused(ScheduleRefusal::NoSuch(name).into()))
    }

    /// Makes or changes a schedule. Unless told so, one that exists stays paused or not as it is.
    ///
    /// # Errors
    /// It is not valid, or is there already, or the write fails.
    pub async fn put_schedule(
        &self,
        mut schedule: Schedule,
        paused: Option<bool>,
        only_new: bool,
    ) -> Answer<ScheduleSet> {
        let name = schedule.name.clone();
        let before = self.look(move |c, now| c.schedule(&name, now)).await?;
        let was = before.is_some_and(|view| view.record.schedule.paused);
        schedule.paused = paused.unwrap_or(was);
        let id = ScheduleId::from_uuid(self.0.ids.next(self.0.clock.now().wall).uuid());
        self.set(ScheduleAsk::Put { schedule: Box::new(schedule), id, only_new }).await
    }

    /// Pauses or resumes a schedule.
    ///
    /// # Errors
    /// There is none of that name, or the write fails.
    pub async fn pause_schedule(&self, name: ScheduleName, paused: bool) -> Answer<ScheduleSet> {
        self.set(if paused { ScheduleAsk::Pause(name) } else { ScheduleAsk::Resume(name) }).await
    }

    /// Deletes a schedule with its ledger; its jobs stay.
    ///
    /// # Errors
    /// There is none of that name, or the write fails.
    pub async fn delete_schedule(&self, name: ScheduleName) -> Answer<()> {
        match self.ask_schedule(ScheduleAsk::Delete(name)).await? {
            ScheduleReply::Deleted => Ok(()),
            ScheduleReply::Set { .. } | ScheduleReply::Fired(_) => Err(misplaced()),
        }
    }

    /// Fires a schedule now.
    ///
    /// # Errors
    /// There is none of that name, its queue drains, or the write fails.
    pub async fn run_schedule(&self, name: ScheduleName) -> Answer<Vec<Occurrence>> {
        self.fire(ScheduleAsk::Run(name)).await
    }

    /// Fires the instants of a range that did not fire.
    ///
    /// # Errors
    /// The range cannot be made up for, or the write fails.
    pub async fn backfill_schedule(
        &self,
        name: ScheduleName,
        from: Wall,
        to: Wall,
    ) -> Answer<Vec<Occurrence>> {
        self.fire(ScheduleAsk::Backfill { name, from, to }).await
    }

    /// The ledger of a schedule, newest first, from before an instant on.
    ///
    /// # Errors
    /// There is none of that name, or the store cannot be read.
    pub async fn occurrences(
        &self,
        name: ScheduleName,
        before: Option<Wall>,
        limit: usize,
    ) -> Answer<Vec<Occurrence>> {
        let id = self.schedule(name).await?.record.id;
        Ok(self.0.store.occurrences(id, before, limit).await?)
    }

    async fn set(&self, ask: ScheduleAsk) -> Answer<ScheduleSet> {
        match self.ask_schedule(ask).await? {
            ScheduleReply::Set { view, created, changed } => {
                Ok(ScheduleSet { view: *view, created, changed })
            }
            ScheduleReply::Deleted | ScheduleReply::Fired(_) => Err(misplaced()),
        }
    }

    async fn fire(&self, ask: ScheduleAsk) -> Answer<Vec<Occurrence>> {
        match self.ask_schedule(ask).await? {
            ScheduleReply::Fired(rows) => Ok(rows),
            ScheduleReply::Deleted | ScheduleReply::Set { .. } => Err(misplaced()),
        }
    }

    async fn ask_schedule(&self, ask: ScheduleAsk) -> Answer<ScheduleReply> {
        let Reply::Schedule(reply) = self.ask(Ask::Schedule(ask)).await? else { return Err(misplaced()) };
        Ok(reply)
    }
}
