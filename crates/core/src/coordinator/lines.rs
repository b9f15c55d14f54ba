//! The lines: for each group of workers, the classes that wait for it, and which of them is next.
//!
//! A class stands in the line of every group that can run it, under the threads it needs. Queues of a larger
//! precedence come first. Queues of the same precedence take turns by weight ([`super::turns`]), so that no queue
//! waits for the backlog of another. Within a queue the best head comes first. "The next job for f free threads"
//! is that of the first queue among demands up to f: the cost grows with the logarithm of the queues that wait, and
//! never with the number of jobs.
//!
//! The turns belong to the group: a queue is charged for what the workers of this group start of it. They live in
//! memory alone; a new leader begins with everybody even.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use crate::coordinator::classes::{ClassId, QueueId};
use crate::coordinator::fleet::GroupId;
use crate::coordinator::ready::Order;
use crate::coordinator::turns::{Clock, Seat, price};
use crate::sabotage::{self, Bug};

/// Where the head of a class stands: larger precedence first, then the queue's turn, then the order within the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The precedence of its queue.
    pub(crate) precedence: i8,
    /// Its order within its queue.
    pub(crate) order: Order,
}

/// A class that waits: who it is, and where its head stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) class: ClassId,
    pub(crate) queue: QueueId,
    /// The threads that its head needs.
    pub(crate) demand: u16,
    pub(crate) place: Place,
}

/// How many jobs of another queue start before a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) queue: QueueId,
    /// At most so many.
    pub(crate) jobs: u64,
}

/// The turn of a queue, and since when it waits: of equal turns, the one that waits longer is first.
type Rank = (u64, u64, QueueId);

/// A queue's place among those of its precedence.
#[derive(Clone, Copy, Debug, Default)]
struct QueueSeat {
    seat: Seat,
    since: u64,
}

impl QueueSeat {
    fn rank(&self, queue: QueueId) -> Rank {
        (self.seat.turn(), self.since, queue)
    }
}

/// The queues of one precedence.
#[derive(Clone, Debug, Default)]
struct Level {
    /// The heads of each queue, by the threads they need and by turn.
    by_demand: BTreeMap<u16, BTreeMap<Rank, BTreeSet<(Order, ClassId)>>>,
    /// The queues that wait, and those whose turn is still to come.
    seats: HashMap<QueueId, QueueSeat>,
    clock: Clock,
    /// Queues that do not wait, by the turn until which they are remembered.
    idle: BTreeSet<(u64, QueueId)>,
    entered: u64,
}

/// One group's line.
#[derive(Clone, Debug, Default)]
struct Line {
    /// By precedence, the largest first. There are few, and mostly one.
    levels: Vec<(i8, Level)>,
    /// The worker kept free in this group, and for which class.
    reservation: Option<(u32, ClassId)>,
}

/// All lines, and which of them have news.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// By the numbers of their groups: one for each sort of worker that there ever was.
    lines: Vec<Line>,
    dirty: BTreeSet<GroupId>,
}

impl Line {
    /// The levels of at least this precedence.
    fn at_least(&self, precedence: i8) -> impl Iterator<Item = &(i8, Level)> {
        self.levels.iter().take_while(move |(level, _)| *level >= precedence)
    }
}

impl Level {
    fn enter(&mut self, demand: u16, queue: QueueId, order: Order, class: ClassId) {
        let Level { by_demand, seats, clock, idle, entered } = self;
        let seat = seats.entry(queue).or_default();
        if !seat.seat.waits() {
            idle.remove(&(seat.seat.turn(), queue));
            *entered += 1;
            seat.since = *entered;
            // It must wait somewhere to have a rank.
            clock.enter(&mut seat.seat);
            by_demand.entry(demand).or_default().entry(seat.rank(queue)).or_default().insert((order, class));
            return;
        }
        let queues = by_demand.entry(demand).or_default();
        let heads = queues.entry(seat.rank(queue)).or_default();
        if heads.is_empty() {
            clock.enter(&mut seat.seat);
        }
        heads.insert((order, class));
    }

    /// The heads of a queue that need so many threads.
    fn heads_mut(&mut self, demand: u16, queue: QueueId) -> Option<&mut BTreeSet<(Order, ClassId)>> {
        let queues = self.by_demand.get_mut(&demand)?;
        if queues.len() > 1 {
            return queues.get_mut(&self.seats.get(&queue)?.rank(queue));
        }
        // Most of the time there is one queue, and its turn need not be looked up.
        queues.iter_mut().next().filter(|(rank, _)| rank.2 == queue).map(|(_, heads)| heads)
    }

    fn leave(&mut self, demand: u16, queue: QueueId, order: Order, class: ClassId) {
        let Level { by_demand, seats, clock, idle, .. } = self;
        let (Some(seat), Some(queues)) = (seats.get_mut(&queue), by_demand.get_mut(&demand)) else { return };
        let rank = seat.rank(queue);
        let Some(heads) = queues.get_mut(&rank) else { return };
        heads.remove(&(order, class));
        if !heads.is_empty() {
            return;
        }
        queues.remove(&rank);
        if queues.is_empty() {
            by_demand.remove(&demand);
        }
        clock.leave(&mut seat.seat);
        if !seat.seat.waits() {
            idle.insert((seat.seat.turn(), queue));
            self.forget();
        }
    }

    /// Whether nobody but one queue waits, and nobody is remembered: then there are no turns.
    fn is_alone(&self) -> bool {
        self.clock.waiting() <= 1 && self.idle.is_empty()
    }

    /// A job of this queue starts.
    fn serve(&mut self, queue: QueueId, weight: u16) {
        let Some(seat) = self.seats.get_mut(&queue) else { return };
        if !seat.seat.waits() || sabotage::active(Bug::QueuesTakeNoTurns) {
            return;
        }
        let before = seat.rank(queue);
        self.clock.serve(&mut seat.seat, weight);
        let after = seat.rank(queue);
        for queues in self.by_demand.values_mut() {
            if let Some(heads) = queues.remove(&before) {
                queues.insert(after, heads);
            }
        }
        self.forget();
    }

    /// A queue that does not wait and whose turn has passed is as if it had never been.
    fn forget(&mut self) {
        while let Some((turn, queue)) = self.idle.first().copied()
            && turn <= self.clock.now()
        {
            self.idle.remove(&(turn, queue));
            self.seats.remove(&queue);
        }
    }

    /// The rank at which a queue starts the job that has so many of its own before it.
    fn start(&self, queue: QueueId, ahead: u64, weight: u16) -> Rank {
        let own = self.seats.get(&queue).copied().unwrap_or_default();
        // One that does not wait yet comes last among equals.
        let since = if own.seat.waits() { own.since } else { u64::MAX };
        (self.clock.nth_turn(&own.seat, weight, ahead), since, queue)
    }

    /// How many jobs another queue starts before a rank.
    fn starts_before(&self, start: Rank, other: QueueId, seat: &QueueSeat, weight: u16) -> u64 {
        if seat.rank(other) >= start {
            return 0;
        }
        // The turn of its second job, and those after it at equal distances.
        let second = self.clock.nth_turn(&seat.seat, weight, 1);
        let further = match start.0.checked_sub(second) {
            None => 0,
            Some(rest) => {
                let (whole, tie) = (rest / price(weight), rest % price(weight) == 0);
                whole + u64::from(!tie || (seat.since, other) < (start.1, start.2))
            }
        };
        1 + further
    }

    /// The next head that needs at most so many threads, with the rank of its queue.
    fn best(&self, most: u16) -> Option<(Rank, Order, ClassId)> {
        let first = |queues: &BTreeMap<Rank, BTreeSet<(Order, ClassId)>>| {
            let (rank, heads) = queues.first_key_value()?;
            let (order, class) = *heads.first()?;
            Some((*rank, order, class))
        };
        self.by_demand.range(..=most).filter_map(|(_, queues)| first(queues)).min()
    }
}

impl Lines {
    pub(crate) fn enter(&mut self, group: GroupId, standing: Standing) {
        let Standing { class, queue, demand, place } = standing;
        self.level_mut(group, place.precedence).enter(demand, queue, place.order, class);
        self.dirty.insert(group);
    }

    /// The head of a class that stands here is another one. It enters before it leaves: a set that is empty in between
    /// would be given up, only to be made again.
    pub(crate) fn shift(&mut self, group: GroupId, standing: Standing, to: Place) {
        let Standing { class, queue, demand, place } = standing;
        let same = place.precedence == to.precedence;
        let level = self.level_mut(group, place.precedence);
        match level.heads_mut(demand, queue).filter(|_| same) {
            Some(heads) => {
                heads.insert((to.order, class));
                heads.remove(&(place.order, class));
                self.dirty.insert(group);
            }
            None => {
                self.enter(group, Standing { place: to, ..standing });
                self.leave(group, standing);
            }
        }
    }

    pub(crate) fn leave(&mut self, group: GroupId, standing: Standing) {
        let Standing { class, queue, demand, place } = standing;
        self.level_mut(group, place.precedence).leave(demand, queue, place.order, class);
    }

    /// A worker of this group was given a job of a queue: the turn goes on.
    pub(crate) fn serve(&mut self, group: GroupId, precedence: i8, queue: QueueId, weight: u16) {
        let level = self.level_mut(group, precedence);
        if !level.is_alone() {
            level.serve(queue, weight);
        }
    }

    /// Something changed for this group: capacity, or a head.
    pub(crate) fn touch(&mut self, group: GroupId) {
        self.dirty.insert(group);
    }

    pub(crate) fn pop_dirty(&mut self) -> Option<GroupId> {
        self.dirty.pop_first()
    }

    pub(crate) fn has_news(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The next head that needs at most `free` threads.
    pub(crate) fn best(&self, group: GroupId, free: i32) -> Option<(Place, ClassId)> {
        let most = u16::try_from(free).ok()?;
        self.line(group)?.levels.iter().find_map(|(precedence, level)| {
            let (_, order, class) = level.best(most)?;
            Some((Place { precedence: *precedence, order }, class))
        })
    }

    /// The next head of all.
    pub(crate) fn top(&self, group: GroupId) -> Option<(Place, ClassId)> {
        self.best(group, i32::from(u16::MAX))
    }

    /// The best head of one queue that needs at most `free` threads.
    pub(crate) fn best_of(&self, group: GroupId, free: i32, precedence: i8, queue: QueueId) -> Option<Order> {
        let most = u16::try_from(free).ok()?;
        let (_, level) = self.line(group)?.levels.iter().find(|(level, _)| *level == precedence)?;
        let rank = level.seats.get(&queue)?.rank(queue);
        let heads = level.by_demand.range(..=most).filter_map(|(_, queues)| queues.get(&rank)?.first());
        heads.min().map(|(order, _)| *order)
    }

    /// Heads that need more than `free` threads and stand before a head: those that are overtaken when it is given to a worker.
    pub(crate) fn overtaken(&self, group: GroupId, free: i32, place: Place, queue: QueueId) -> Vec<ClassId> {
        let above = u16::try_from(free.max(0)).unwrap_or(u16::MAX).saturating_add(1);
        let Some(line) = self.line(group) else { return Vec::new() };
        let mut overtaken = Vec::new();
        for (precedence, level) in line.at_least(place.precedence) {
            if level.by_demand.last_key_value().is_none_or(|(widest, _)| *widest < above) {
                continue;
            }
            let own = (*precedence == place.precedence)
                .then(|| level.seats.get(&queue).map(|seat| (seat.rank(queue), place.order)))
                .flatten();
            for queues in level.by_demand.range(above..).map(|(_, queues)| queues) {
                let Some((rank, heads)) = queues.first_key_value() else { continue };
                let Some((order, class)) = heads.first() else { continue };
                if own.is_none_or(|own| (*rank, *order) < own) {
                    overtaken.push(*class);
                }
            }
        }
        overtaken
    }

    /// How many jobs of each other queue start before one that has `ahead` jobs of its own queue before it, if the
    /// others have jobs enough. At most `most` queues are named; whether all were is said as well.
    pub(crate) fn before(
        &self,
        group: GroupId,
        (precedence, queue): (i8, QueueId),
        ahead: u64,
        weight: impl Fn(QueueId) -> u16,
        most: usize,
    ) -> (Vec<Before>, bool) {
        let mut before = Vec::new();
        let Some(line) = self.line(group) else { return (before, true) };
        for (higher, level) in line.at_least(precedence) {
            let is_own = *higher == precedence;
            let start = is_own.then(|| level.start(queue, ahead, weight(queue)));
            for (other, seat) in level.seats.iter().filter(|(id, other)| **id != queue && other.seat.waits())
            {
                let jobs =
                    start.map_or(u64::MAX, |start| level.starts_before(start, *other, seat, weight(*other)));
                if jobs > 0 && before.len() == most {
                    return (before, false);
                }
                if jobs > 0 {
                    before.push(Before { queue: *other, jobs });
                }
            }
        }
        (before, true)
    }

    pub(crate) fn reservation(&self, group: GroupId) -> Option<(u32, ClassId)> {
        self.line(group).and_then(|line| line.reservation)
    }

    pub(crate) fn set_reservation(&mut self, group: GroupId, reservation: Option<(u32, ClassId)>) {
        self.line_mut(group).reservation = reservation;
        self.dirty.insert(group);
    }

    fn line(&self, group: GroupId) -> Option<&Line> {
        self.lines.get(group.0 as usize)
    }

    fn line_mut(&mut self, group: GroupId) -> &mut Line {
        let place = group.0 as usize;
        if self.lines.len() <= place {
            self.lines.resize_with(place + 1, Line::default);
        }
        &mut self.lines[place]
    }

    fn level_mut(&mut self, group: GroupId, precedence: i8) -> &mut Level {
        let levels = &mut self.line_mut(group).levels;
        let at = match levels.iter().position(|(level, _)| *level <= precedence) {
            Some(at) if levels[at].0 == precedence => at,
            Some(at) => {
                levels.insert(at, (precedence, Level::default()));
                at
            }
            None => {
                levels.push((precedence, Level::default()));
                levels.len() - 1
            }
        };
        &mut levels[at].1
    }
}
