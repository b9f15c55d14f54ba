//! Schedules: reading and changing them, and their ledgers.

use ganger_core::coordinator::port::{Ask, Reply, ScheduleAsk, ScheduleRefusal, ScheduleReply, ScheduleView};
use ganger_core::ids::ScheduleId;
use ganger_core::name::ScheduleName;
use ganger_core::schedule::Schedule;
use ganger_core::schedule::ledger::Occurrence;
use ganger_core::schedule::timing::{Timing, Upcoming};
use ganger_core::{Wall, limits};

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

/// Instants to come that are shown when nobody says how many.
pub const UPCOMING_DEFAULT: usize = 10;

/// A page of a list, and whether there is more.
#[derive(Clone, Debug)]
pub struct SchedulePage<T> {
    /// Those of this page.
    pub items: Vec<T>,
    /// There are others after them.
    pub more: bool,
}

impl<T> SchedulePage<T> {
    /// One more than the page holds was read, to know whether there is more.
    fn of(mut items: Vec<T>, limit: usize) -> SchedulePage<T> {
        let more = items.len() > limit;
        items.truncate(limit);
        SchedulePage { items, more }
    }
}

/// What a backfill came to.
#[derive(Clone, Debug)]
pub struct Backfilled {
    /// Instants that were looked at.
    pub considered: usize,
    /// What was written about them.
    pub occurrences: Vec<Occurrence>,
    /// For a preview: the instants, with their local times.
    pub instants: Vec<(Wall, String)>,
}

impl Service {
    /// A page of schedules by name, after that one.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn schedule_page(
        &self,
        after: Option<ScheduleName>,
        limit: usize,
    ) -> Answer<SchedulePage<ScheduleView>> {
        Ok(SchedulePage::of(self.schedules(after, limit + 1).await?, limit))
    }

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

    /// Checks a schedule, and tells what it would be and when it would fire. Nothing is changed.
    ///
    /// # Errors
    /// It is not valid.
    pub async fn preview_schedule(
        &self,
        mut schedule: Schedule,
        paused: Option<bool>,
    ) -> Answer<(Schedule, Vec<Upcoming>)> {
        let now = self.0.clock.now().wall;
        // One that exists may have fired for the last time; whatever else is wrong is wrong here too.
        let known = self.schedule(schedule.name.clone()).await.ok();
        let timing = match &known {
            Some(view) if view.record.schedule.when == schedule.when => {
                Timing::new(&schedule, view.standing.anchor).and_then(|timing| {
                    schedule.check_fields(now)?;
                    Ok(timing)
                })
            }
            Some(_) | None => schedule.check(now),
        };
        let timing = timing.map_err(|error| ServiceError::Refused(ScheduleRefusal::Invalid(error).into()))?;
        if let Some(view) = known {
            schedule.paused = paused.unwrap_or(view.record.schedule.paused);
        }
        Ok((schedule, timing.upcoming(now, UPCOMING_DEFAULT)))
    }

    /// When a schedule fires next; a paused one as if it were not.
    ///
    /// # Errors
    /// There is none of that name.
    pub async fn upcoming(
        &self,
        name: ScheduleName,
        from: Option<Wall>,
        count: usize,
    ) -> Answer<Vec<Upcoming>> {
        let view = self.schedule(name).await?;
        // Somebody who names a moment wants to see what the rule says, also of the past.
        let from = from.unwrap_or_else(|| self.0.clock.now().wall.max(view.standing.settled));
        Ok(timing(&view)?.upcoming(from, count.min(limits::UPCOMING)))
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

    /// Fires the instants of a range that did not fire, or only tells which there are.
    ///
    /// # Errors
    /// There is none of that name, the range cannot be made up for, or the write fails.
    pub async fn backfill_schedule(
        &self,
        name: ScheduleName,
        from: Wall,
        to: Wall,
        preview: bool,
    ) -> Answer<Backfilled> {
        let view = self.schedule(name.clone()).await?;
        let refused = |refusal: ScheduleRefusal| ServiceError::Refused(refusal.into());
        let instants = view.backfill(from, to, self.0.clock.now().wall).map_err(refused)?;
        let considered = instants.len();
        if preview {
            let timing = timing(&view)?;
            let instants = instants.into_iter().map(|at| (at, timing.local(at))).collect();
            return Ok(Backfilled { considered, occurrences: Vec::new(), instants });
        }
        let occurrences = self.fire(ScheduleAsk::Backfill { name, from, to }).await?;
        Ok(Backfilled { considered, occurrences, instants: Vec::new() })
    }

    /// A page of the ledger of a schedule, newest first, from before an instant on.
    ///
    /// # Errors
    /// There is none of that name, or the store cannot be read.
    pub async fn occurrences(
        &self,
        name: ScheduleName,
        before: Option<Wall>,
        limit: usize,
    ) -> Answer<SchedulePage<Occurrence>> {
        let id = self.schedule(name).await?.record.id;
        Ok(SchedulePage::of(self.0.store.occurrences(id, before, limit + 1).await?, limit))
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

fn timing(view: &ScheduleView) -> Answer<Timing> {
    Timing::new(&view.record.schedule, view.standing.anchor)
        .map_err(|error| ServiceError::Refused(ScheduleRefusal::Invalid(error).into()))
}
