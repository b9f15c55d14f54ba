//! Schedules in memory: which is due next, which jobs of each are live, and what is being written about it.
//!
//! A decision about a schedule moves its standing at once, and is written with it; the next one is made when that is
//! durable. Decisions are the protocol's own: while the store refuses they are kept and written again. What people ask for
//! is refused to them, and undone.

mod asks;
mod firing;
pub mod port;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use foldhash::{HashMap, HashSet};

use crate::coordinator::port::{ScheduleView, Ticket};
use crate::coordinator::view::ScheduleCounts;
use crate::coordinator::{Coordinator, Slab};
use crate::ids::{JobId, ScheduleId};
use crate::job::Origin;
use crate::limits;
use crate::name::ScheduleName;
use crate::schedule::timing::Timing;
use crate::schedule::{Overlap, ScheduleRecord, Standing};
use crate::time::{Mono, Now, Wall};

/// What follows when a change to a schedule is written.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleEffect {
    /// Who asked for it.
    pub(crate) ticket: Option<Ticket>,
    /// The schedule.
    name: ScheduleName,
    sort: Sort,
}

/// What sort of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// It is made.
    Create,
    /// It is changed, or deleted.
    Change,
    /// Its occurrences are decided.
    Fire,
}

/// A schedule in memory.
#[derive(Debug)]
struct Entry {
    record: Arc<ScheduleRecord>,
    timing: Timing,
    /// As decided; what is written follows one commit behind.
    standing: Standing,
    /// The next instant, while it is among those that wait.
    next: Option<Wall>,
    /// Its live jobs, by their instants.
    live: BTreeSet<(Wall, JobId)>,
    /// Decisions that are being written.
    firing: u32,
    /// The first instant that they are about.
    held: Option<Wall>,
    /// A change of it is being written.
    changing: bool,
    /// The last moment at which it was run by hand: no two of them share an instant.
    run_at: Wall,
    /// Whoever listens was told that it is overdue.
    told_overdue: bool,
}

/// The schedules.
#[derive(Debug, Default)]
pub(crate) struct Schedules {
    entries: Slab<Entry>,
    by_name: BTreeMap<ScheduleName, u32>,
    by_id: HashMap<ScheduleId, u32>,
    /// Those that are not paused, by their next instants.
    due: BTreeSet<(Wall, u32)>,
    /// Those of which a decision is being written, by the first instant that it is about.
    held: BTreeSet<(Wall, u32)>,
    /// Those of which a job has ended for which an occurrence may wait.
    freed: Vec<u32>,
    /// The schedule and the instant of each live job that one made.
    made: HashMap<JobId, (u32, Wall)>,
    /// Names that are being made.
    creating: HashSet<ScheduleName>,
    wake_at: Option<Mono>,
    /// Those that are overdue, at the last look.
    overdue: usize,
}

impl Schedules {
    /// When the next one is due.
    pub(crate) fn wake_at(&self) -> Option<Mono> {
        self.wake_at
    }

    /// A live job of a schedule is there.
    pub(crate) fn job_came(&mut self, origin: &Origin, job: JobId) {
        if let Some(slot) = self.by_id.get(&origin.id).copied() {
            self.entries.get_mut(slot).live.insert((origin.due_at, job));
            self.made.insert(job, (slot, origin.due_at));
        }
    }

    /// A job is final. Most were made by no schedule.
    pub(crate) fn job_left(&mut self, job: JobId) {
        if self.made.is_empty() {
            return;
        }
        if let Some((slot, due_at)) = self.made.remove(&job) {
            self.entries.get_mut(slot).live.remove(&(due_at, job));
            self.freed.push(slot);
        }
    }

    /// The schedule that made a live job, and for which instant.
    pub(crate) fn made(&self, job: JobId) -> Option<(&ScheduleName, Wall)> {
        let (slot, due_at) = self.made.get(&job)?;
        Some((&self.entries.get(*slot).record.schedule.name, *due_at))
    }

    fn slot(&self, name: &ScheduleName) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    fn insert(&mut self, record: Arc<ScheduleRecord>, standing: Standing, timing: Timing) -> u32 {
        let (id, name) = (record.id, record.schedule.name.clone());
        let slot = self.entries.insert(Entry {
            record,
            timing,
            standing,
            next: None,
            live: BTreeSet::new(),
            firing: 0,
            held: None,
            changing: false,
            run_at: Wall(i64::MIN),
            told_overdue: false,
        });
        self.by_name.insert(name, slot);
        self.by_id.insert(id, slot);
        self.arm(slot);
        slot
    }

    fn remove(&mut self, slot: u32) {
        self.disarm(slot);
        self.let_go(slot);
        let entry = self.entries.remove(slot);
        self.by_name.remove(&entry.record.schedule.name);
        self.by_id.remove(&entry.record.id);
        self.freed.retain(|freed| *freed != slot);
        for (_, job) in entry.live {
            self.made.remove(&job);
        }
    }

    /// Puts a schedule among those that wait for their next instant, unless something about it is being written.
    fn arm(&mut self, slot: u32) {
        self.disarm(slot);
        let entry = self.entries.get_mut(slot);
        if entry.record.schedule.paused || entry.firing > 0 || entry.changing {
            return;
        }
        entry.next = entry.timing.next(entry.standing.settled);
        if let Some(next) = entry.next {
            self.due.insert((next, slot));
        }
    }

    /// A decision is being written: until it is, its first instant counts as due.
    fn hold(&mut self, slot: u32, first: Wall) {
        let entry = self.entries.get_mut(slot);
        entry.firing += 1;
        if entry.held.is_none() {
            entry.held = Some(first);
            self.held.insert((first, slot));
        }
    }

    /// A decision is written, or never was.
    fn release(&mut self, slot: u32) {
        let entry = self.entries.get_mut(slot);
        entry.firing = entry.firing.saturating_sub(1);
        if entry.firing == 0 {
            self.let_go(slot);
        }
    }

    fn let_go(&mut self, slot: u32) {
        if let Some(first) = self.entries.get_mut(slot).held.take() {
            self.held.remove(&(first, slot));
        }
    }

    /// How many there are, how many are paused, and how many are overdue.
    pub(crate) fn counts(&self) -> ScheduleCounts {
        let known = self.by_name.len();
        let paused = self.entries.iter().filter(|(_, entry)| entry.record.schedule.paused).count();
        ScheduleCounts { known, paused, overdue: self.overdue }
    }

    /// For how long the first instant that is not decided yet has been due.
    pub(crate) fn lag(&self, now: Wall) -> Duration {
        let first = self.due.first().into_iter().chain(self.held.first()).map(|(at, _)| *at).min();
        first.map_or(Duration::ZERO, |at| now.since(at))
    }

    fn disarm(&mut self, slot: u32) {
        if let Some(next) = self.entries.get_mut(slot).next.take() {
            self.due.remove(&(next, slot));
        }
    }

    fn view(&self, slot: u32, now: Wall) -> ScheduleView {
        let entry = self.entries.get(slot);
        let paused = entry.record.schedule.paused;
        let first = entry.timing.next(entry.standing.settled).filter(|_| !paused);
        let late = first.into_iter().chain(entry.held).min().map(|at| now.since(at));
        ScheduleView {
            record: Arc::clone(&entry.record),
            standing: entry.standing,
            next: entry.timing.next(entry.standing.settled.max(now)),
            live: entry.live.iter().map(|(_, job)| *job).collect(),
            overdue: late.filter(|late| *late > limits::ON_TIME),
        }
    }
}

impl Coordinator {
    /// Schedules by name, after that one, at most so many.
    #[must_use]
    pub fn schedules(&self, after: Option<&ScheduleName>, limit: usize, now: Now) -> Vec<ScheduleView> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let slots = self.schedules.by_name.range::<ScheduleName, _>((from, Bound::Unbounded));
        slots.take(limit).map(|(_, slot)| self.schedules.view(*slot, now.wall)).collect()
    }

    /// The schedule of that name.
    #[must_use]
    pub fn schedule(&self, name: &ScheduleName, now: Now) -> Option<ScheduleView> {
        self.schedules.slot(name).map(|slot| self.schedules.view(slot, now.wall))
    }

    /// The schedules come first: the jobs that they made find them.
    pub(crate) fn load_schedules(&mut self, loaded: Vec<(ScheduleRecord, Standing)>) {
        for (record, standing) in loaded {
            // What was accepted once stays understood; a zone that the tables lost would be the exception.
            let Ok(timing) = Timing::new(&record.schedule, standing.anchor) else { continue };
            self.schedules.insert(Arc::new(record), standing, timing);
        }
    }

    /// Everything is loaded: what the last leader could not finish is taken up.
    pub(crate) fn schedules_loaded(&mut self, now: Now) {
        let slots: Vec<u32> = self.schedules.entries.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            if self.schedules.entries.get(slot).record.schedule.overlap == Overlap::CancelPrevious {
                self.cancel_previous(now, slot);
            }
            self.schedules.freed.push(slot);
        }
    }
}
