//! The ready index: which job of a class is next.
//!
//! Jobs that any worker would treat alike form a *class*. Within a class larger priority goes first, then
//! arrival, then the intake sequence ([`Order`]). Each priority in use is a *lane*: a doubly linked list
//! in order, its links kept in one array indexed by the caller's job number. So a job that arrives last in
//! its lane, the next job of a class, and the removal of any job all cost the same with ten jobs
//! queued as with a million, and nothing is allocated per job.
//!
//! A job that goes back to its old place (handed back unstarted, or replayed at a takeover) is found a place
//! from the nearer end of its lane. Both cases lie close to an end; only a job that belongs in the
//! middle of a long lane walks far.
//!
//! Lanes exist while they hold a job. They lie side by side, best first; a bitmap of the priorities in
//! use tells the position of each, so a class that uses one priority pays for one lane.

use std::cmp::{Ordering, Reverse};

use crate::time::Wall;

/// The place of a job in its class: larger priority first, then arrival, then intake sequence. The
/// smaller comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Larger runs first.
    pub priority: i8,
    /// The later of intake and due time.
    pub arrival: Wall,
    /// The leader's intake sequence.
    pub seq: u64,
}

/// A class of jobs, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

/// How many jobs come before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// So many; at least so many if it is not exact.
    pub count: usize,
    /// Whether the count is complete.
    pub exact: bool,
}

/// The jobs that could run now, by class.
#[derive(Debug, Default)]
pub struct Ready {
    classes: Vec<Class>,
    /// Indexed by job.
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Class {
    /// Priorities in use, one bit per rank.
    ranks: [u64; 4],
    /// One per bit of `ranks`, in that order.
    lanes: Vec<Lane>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    head: u32,
    tail: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    arrival: Wall,
    seq: u64,
    /// `NIL` while the job is not here.
    class: u32,
    prev: u32,
    next: u32,
    priority: i8,
}

/// No job: the end of a lane.
const NIL: u32 = u32::MAX;
const ABSENT: Node = Node { arrival: Wall(0), seq: 0, class: NIL, prev: NIL, next: NIL, priority: 0 };

impl Ord for Order {
    fn cmp(&self, other: &Order) -> Ordering {
        let key = |order: &Order| (Reverse(order.priority), order.arrival, order.seq);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Order {
    fn partial_cmp(&self, other: &Order) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ready {
    /// No classes and no jobs.
    #[must_use]
    pub fn new() -> Ready {
        Ready::default()
    }

    /// A further class, without jobs.
    pub fn add_class(&mut self) -> ClassId {
        let id = u32::try_from(self.classes.len()).expect("memory ends long before four billion classes");
        self.classes.push(Class::default());
        ClassId(id)
    }

    /// Adds a job, a number of the caller's choice that is not here yet. It costs the same always if it comes
    /// last in its lane; otherwise it walks from the nearer end.
    pub fn push(&mut self, class: ClassId, order: Order, job: u32) {
        debug_assert!(!self.contains(job), "job {job} is ready already");
        debug_assert!(job != NIL, "job number {job} is reserved");
        self.remove(job);
        if self.nodes.len() <= job as usize {
            self.nodes.resize(job as usize + 1, ABSENT);
        }
        let at = self.classes[class.0 as usize].open_lane(rank(order.priority));
        let lane = self.classes[class.0 as usize].lanes[at];
        let (prev, next) = self.neighbours(lane, order);
        let Order { priority, arrival, seq } = order;
        self.nodes[job as usize] = Node { arrival, seq, class: class.0, prev, next, priority };
        self.join(class.0, at, prev, job);
        self.join(class.0, at, job, next);
        let class = &mut self.classes[class.0 as usize];
        class.lanes[at].len += 1;
        class.len += 1;
    }

    /// The next job of a class.
    #[must_use]
    pub fn head(&self, class: ClassId) -> Option<(Order, u32)> {
        let lane = self.classes[class.0 as usize].lanes.first()?;
        Some((self.nodes[lane.head as usize].order(), lane.head))
    }

    /// Takes the next job of a class.
    pub fn pop(&mut self, class: ClassId) -> Option<(Order, u32)> {
        let head = self.head(class)?;
        self.remove(head.1);
        Some(head)
    }

    /// Takes a job out, wherever it stands; `None` if it is not here.
    pub fn remove(&mut self, job: u32) -> Option<ClassId> {
        if !self.contains(job) {
            return None;
        }
        let Node { class, prev, next, priority, .. } = self.nodes[job as usize];
        let rank = rank(priority);
        let at = self.classes[class as usize].lane_index(rank);
        self.join(class, at, prev, next);
        self.nodes[job as usize] = ABSENT;
        let owner = &mut self.classes[class as usize];
        owner.lanes[at].len -= 1;
        owner.len -= 1;
        if owner.lanes[at].len == 0 {
            owner.close_lane(rank);
        }
        Some(ClassId(class))
    }

    /// Whether the job is here.
    #[must_use]
    pub fn contains(&self, job: u32) -> bool {
        self.nodes.get(job as usize).is_some_and(|node| node.class != NIL)
    }

    /// Jobs of a class.
    #[must_use]
    pub fn len(&self, class: ClassId) -> usize {
        self.classes[class.0 as usize].len
    }

    /// Whether a class has no job.
    #[must_use]
    pub fn is_empty(&self, class: ClassId) -> bool {
        self.len(class) == 0
    }

    /// How many jobs of a class come before `order`. Better lanes count by their length; of its own lane at most
    /// `walk` jobs are looked at, from both ends, so that the first and the last know their place exactly.
    #[must_use]
    pub fn ahead(&self, class: ClassId, order: Order, walk: usize) -> Ahead {
        let class = &self.classes[class.0 as usize];
        let rank = rank(order.priority);
        let at = class.lane_index(rank);
        let better: usize = class.lanes[..at].iter().map(|lane| lane.len as usize).sum();
        if !class.has_lane(rank) {
            return Ahead { count: better, exact: true };
        }
        let lane = class.lanes[at];
        let len = lane.len as usize;
        let (mut front, mut back) = (lane.head, lane.tail);
        let (mut before, mut behind) = (0, 0);
        for step in 0..walk.min(len) {
            if step % 2 == 0 {
                let node = &self.nodes[back as usize];
                if node.order() < order {
                    return Ahead { count: better + len - behind, exact: true };
                }
                behind += 1;
                back = node.prev;
            } else {
                let node = &self.nodes[front as usize];
                if node.order() >= order {
                    return Ahead { count: better + before, exact: true };
                }
                before += 1;
                front = node.next;
            }
        }
        Ahead { count: better + before, exact: before + behind == len }
    }

    /// The jobs of a class, in order.
    pub fn iter(&self, class: ClassId) -> impl Iterator<Item = (Order, u32)> + '_ {
        let following = |job: u32| (job != NIL).then_some(job);
        self.classes[class.0 as usize].lanes.iter().flat_map(move |lane| {
            std::iter::successors(following(lane.head), move |job| following(self.nodes[*job as usize].next))
                .map(|job| (self.nodes[job as usize].order(), job))
        })
    }

    /// Between which two jobs of a lane `order` belongs. Equal orders keep the sequence of their pushes. The two
    /// searches meet in the middle at the latest, so neither leaves the lane.
    fn neighbours(&self, lane: Lane, order: Order) -> (u32, u32) {
        let comes_after = |job: u32| self.nodes[job as usize].order() <= order;
        let (mut front, mut back) = (lane.head, lane.tail);
        for _ in 0..lane.len {
            if comes_after(back) {
                return (back, self.nodes[back as usize].next);
            }
            if !comes_after(front) {
                return (self.nodes[front as usize].prev, front);
            }
            back = self.nodes[back as usize].prev;
            front = self.nodes[front as usize].next;
        }
        (NIL, NIL)
    }

    /// Makes two jobs of a lane neighbours; `NIL` on a side makes the other one an end of the lane.
    fn join(&mut self, class: u32, lane: usize, prev: u32, next: u32) {
        let lane = &mut self.classes[class as usize].lanes[lane];
        match prev {
            NIL => lane.head = next,
            job => self.nodes[job as usize].next = next,
        }
        match next {
            NIL => lane.tail = prev,
            job => self.nodes[job as usize].prev = prev,
        }
    }
}

impl Node {
    fn order(&self) -> Order {
        Order { priority: self.priority, arrival: self.arrival, seq: self.seq }
    }
}

impl Class {
    fn has_lane(&self, rank: u8) -> bool {
        let (word, bit) = place(rank);
        self.ranks[word] & bit != 0
    }

    /// How many lanes come before that of `rank`, which is where it is or would be.
    fn lane_index(&self, rank: u8) -> usize {
        let (word, bit) = place(rank);
        let whole: u32 = self.ranks[..word].iter().map(|ranks| ranks.count_ones()).sum();
        (whole + (self.ranks[word] & (bit - 1)).count_ones()) as usize
    }

    fn open_lane(&mut self, rank: u8) -> usize {
        let at = self.lane_index(rank);
        if !self.has_lane(rank) {
            let (word, bit) = place(rank);
            self.ranks[word] |= bit;
            self.lanes.insert(at, Lane { head: NIL, tail: NIL, len: 0 });
        }
        at
    }

    fn close_lane(&mut self, rank: u8) {
        let at = self.lane_index(rank);
        let (word, bit) = place(rank);
        self.ranks[word] &= !bit;
        self.lanes.remove(at);
    }
}

/// The best priority has rank 0.
fn rank(priority: i8) -> u8 {
    i8::MAX.abs_diff(priority)
}

/// Word and bit of a rank in the bitmap.
fn place(rank: u8) -> (usize, u64) {
    (usize::from(rank / 64), 1 << (rank % 64))
}

#[cfg(test)]
mod tests;
