//! How much a worker is given at once, and how much ahead.
//!
//! *Ahead.* Where attempts are over in milliseconds a worker is given more leases than threads, so
//! that it never waits a round trip; but only while that class has the best head of all, so that
//! nothing better is made to wait behind it.
//!
//! *At once.* One by one, ten thousand workers would get a message for each job. So short jobs go out in portions: the worker whose
//! turn it is gets its even share of what waits in one message. Of other jobs it gets all that it can run, if at least as many wait as there
//! are free threads and no limit holds any back: every thread is taken then, whoever is asked first.

use crate::coordinator::Coordinator;
use crate::coordinator::classes::ClassId;
use crate::coordinator::dispatch::Pick;
use crate::coordinator::fleet::GroupId;
use crate::job::State;
use crate::limits;
use crate::queue::Policy;
use crate::time::micros;

/// What one worker gets at once of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portion {
    class: ClassId,
    worker: u32,
    /// So many threads it may have in use.
    level: u64,
}

/// The portions under way. Queues take turns, so several classes are handed out side by side.
#[derive(Debug, Default)]
pub(super) struct Portions {
    /// The last one comes first, for it is the one that goes on most of the time.
    last: Option<Portion>,
    /// A few of the others; with more classes, jobs go out one by one.
    others: Vec<Portion>,
}

/// Portions that are remembered beside the last.
const PORTIONS: usize = 8;

impl Portions {
    /// The portion of a class.
    fn of(&mut self, class: ClassId) -> Option<Portion> {
        if self.last.is_some_and(|last| last.class == class) {
            return self.last;
        }
        let at = self.others.iter().position(|portion| portion.class == class)?;
        let portion = self.others.swap_remove(at);
        self.others.extend(self.last.replace(portion));
        Some(portion)
    }

    fn set(&mut self, class: ClassId, portion: Option<Portion>) {
        let before = std::mem::replace(&mut self.last, portion).filter(|last| last.class != class);
        if self.others.len() == PORTIONS && before.is_some() {
            self.others.remove(0);
        }
        self.others.extend(before);
    }
}

impl Coordinator {
    /// How many threads beyond its capacity a worker may be given of this class: up to its part of what workers like it may be
    /// given together; or, of many workers, up to its even share of what there is, so that each is not sent a few at a time.
    pub(super) fn prefetch(&self, group: GroupId, class: ClassId) -> i32 {
        let most = self.prefetched_at_most(class);
        if most == 0 {
            return 0;
        }
        let mut part = limits::PREFETCH_TOGETHER / self.fleet.members(group).max(1);
        if part < limits::PREFETCH_EACH {
            let share = usize::try_from(self.even_share(class)).unwrap_or(usize::MAX);
            part = part.max(share.min(limits::PREFETCH_EACH));
        }
        most.min(i32::try_from(part).unwrap_or(i32::MAX))
    }

    /// As many jobs of a class as are over within the time below which prefetching is allowed at all.
    fn prefetched_at_most(&self, class: ClassId) -> i32 {
        let below = micros(self.options.prefetch_below) as f64;
        match self.classes.get(class).mean_run {
            Some(mean) if mean < below && self.classes.get(class).demand == 1 => {
                (below / mean.max(1.0)).min(f64::from(limits::PREFETCH)) as i32
            }
            Some(_) | None => 0,
        }
    }

    /// The worker that gets the job: the same as before while its portion lasts.
    pub(super) fn next_of_portion(&self, pick: &Pick, portions: &mut Portions) -> Option<u32> {
        if let Some(Portion { class, worker, level }) = portions.of(pick.class)
            && pick.reserved.is_none()
            && self.fleet.is_shown(worker)
            && self.in_use(worker) < level
            && self.has_room(worker, class)
        {
            return Some(worker);
        }
        let worker = self.worker_for(pick)?;
        let level = self.level(pick.class);
        portions.set(pick.class, level.map(|level| Portion { class: pick.class, worker, level }));
        Some(worker)
    }

    fn in_use(&self, worker: u32) -> u64 {
        let used = i32::from(self.fleet.threads(worker)) - self.fleet.free(worker);
        u64::try_from(used).unwrap_or(0)
    }

    /// Whether a worker may go on with its portion. It may be given jobs ahead while others have threads free, for
    /// they get as much; but nothing better may wait behind them.
    fn has_room(&self, worker: u32, class: ClassId) -> bool {
        let (free, demand) = (self.fleet.free(worker), i32::from(self.classes.get(class).demand));
        let group = self.fleet.group(worker);
        let is_best = || self.lines.top(group).is_some_and(|(_, best)| best == class);
        free >= demand || (is_best() && free >= demand - self.prefetch(group, class))
    }

    /// How many threads the least recently used worker may have in use before it is another one's turn: its even share of what waits and
    /// runs if the jobs are short, all that it has if every free thread will be taken anyway. Other jobs go out one by one.
    fn level(&self, id: ClassId) -> Option<u64> {
        if self.policy(&self.classes.get(id).key.queue) != Policy::LeastRecentlyUsed {
            return None;
        }
        if self.prefetched_at_most(id) == 0 {
            return self.takes_every_free_thread(id).then_some(u64::MAX);
        }
        Some(self.even_share(id))
    }

    /// What each worker would get if all jobs that wait and run were dealt out evenly; of jobs that something may hold back, those that
    /// stand in line.
    fn even_share(&self, id: ClassId) -> u64 {
        let class = self.classes.get(id);
        let jobs = match self.may_be_held_back(id) {
            true => self.in_line(id),
            // What is decided and not yet written counts as queued: the sum stays while jobs are handed out.
            false => self.counters.sum(&class.key.queue, &class.key.kind, [State::Queued, State::Running]),
        };
        let members: usize = class.groups.iter().map(|group| self.fleet.members(*group)).sum();
        jobs / members.max(1) as u64
    }

    /// Whether a limit of their queue, or keys of their own, may hold jobs of a class back.
    fn may_be_held_back(&self, id: ClassId) -> bool {
        self.classes.get(id).mixed.is_some() || self.flow_of(id).is_some()
    }

    /// Whether jobs of one thread wait for every free thread, and nothing holds any of them back.
    fn takes_every_free_thread(&self, id: ClassId) -> bool {
        let class = self.classes.get(id);
        let free = || class.groups.iter().map(|group| self.fleet.free_threads(*group)).sum::<u64>();
        class.demand == 1 && !self.may_be_held_back(id) && self.in_line(id) >= free()
    }
}
