//! The ready index: which job of a strand is next.
//!
//! A *strand* is all that waits of one class (jobs that any worker would treat alike) with the same keys, if
//! they have any. Within a strand larger priority goes first, then
//! arrival, then the intake sequence ([`Order`]). Each priority in use is a *lane*: a doubly linked list
//! in order, its links kept in one array indexed by the caller's job number. So a job that arrives last in
//! its lane, the next job of a strand, and the removal of any job all cost the same with ten jobs
//! queued as with a million, and nothing is allocated per job.
//!
//! A job that goes back to its old place (handed back unstarted, or replayed at a takeover) is found a place
//! from the nearer end of its lane. Both cases lie close to an end; only a job that belongs in the
//! middle of a long lane walks far.
//!
//! Lanes exist while they hold a job. They lie side by side, best first; a bitmap of the priorities in
//! use tells the position of each, so a strand that uses one priority pays for one lane.

use std::cmp::{Ordering, Reverse};

use crate::coordinator::chunks::Chunks;
use crate::time::Wall;

/// The place of a job in its strand: larger priority first, then arrival, then intake sequence. The
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

/// A strand of jobs, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StrandId(pub u32);

/// How many jobs come before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// So many; at least so many if it is not exact.
    pub count: usize,
    /// Whether the count is complete.
    pub exact: bool,
}

/// The jobs that could run now, by strand.
#[derive(Debug, Default)]
pub struct Ready {
    strands: Vec<Strand>,
    /// Numbers of strands that may be used again.
    free: Vec<u32>,
    /// Indexed by job.
    nodes: Chunks<Node>,
}

#[derive(Debug, Default)]
struct Strand {
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
    strand: u32,
    prev: u32,
    next: u32,
    priority: i8,
}

/// No job: the end of a lane.
const NIL: u32 = u32::MAX;
const ABSENT: Node = Node { arrival: Wall(0), seq: 0, strand: NIL, prev: NIL, next: NIL, priority: 0 };

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
    /// No strands and no jobs.
    #[must_use]
    pub fn new() -> Ready {
        Ready::default()
    }

    /// A further strand, without jobs.
    pub fn add_strand(&mut self) -> StrandId {
        if let Some(id) = self.free.pop() {
            return StrandId(id);
        }
        let id = u32::try_from(self.strands.len()).expect("memory ends long before four billion strands");
        self.strands.push(Strand::default());
        StrandId(id)
    }

    /// Gives back a strand that holds no job.
    pub fn free_strand(&mut self, strand: StrandId) {
        debug_assert!(self.is_empty(strand), "strand {} is in use", strand.0);
        // What it allocated goes with it.
        self.strands[strand.0 as usize] = Strand::default();
        self.free.push(strand.0);
    }

    /// Adds a job, a number of the caller's choice that is not here yet. It costs the same always if it comes
    /// last in its lane; otherwise it walks from the nearer end.
    pub fn push(&mut self, strand: StrandId, order: Order, job: u32) {
        debug_assert!(!self.contains(job), "job {job} is ready already");
        debug_assert!(job != NIL, "job number {job} is reserved");
        self.remove(job);
        while self.nodes.len() <= job {
            self.nodes.push(ABSENT);
        }
        let at = self.strands[strand.0 as usize].open_lane(rank(order.priority));
        let lane = self.strands[strand.0 as usize].lanes[at];
        let (prev, next) = self.neighbours(lane, order);
        let Order { priority, arrival, seq } = order;
        self.nodes[job] = Node { arrival, seq, strand: strand.0, prev, next, priority };
        self.join(strand.0, at, prev, job);
        self.join(strand.0, at, job, next);
        let strand = &mut self.strands[strand.0 as usize];
        strand.lanes[at].len += 1;
        strand.len += 1;
    }

    /// The next job of a strand.
    #[must_use]
    pub fn head(&self, strand: StrandId) -> Option<(Order, u32)> {
        let lane = self.strands[strand.0 as usize].lanes.first()?;
        Some((self.nodes[lane.head].order(), lane.head))
    }

    /// The first job of each priority in use, best first.
    pub fn lanes(&self, strand: StrandId) -> impl Iterator<Item = (Order, u32)> + '_ {
        self.strands[strand.0 as usize].lanes.iter().map(|lane| (self.nodes[lane.head].order(), lane.head))
    }

    /// The first job of one priority.
    #[must_use]
    pub fn lane_head(&self, strand: StrandId, priority: i8) -> Option<(Order, u32)> {
        let (strand, rank) = (&self.strands[strand.0 as usize], rank(priority));
        let lane = strand.has_lane(rank).then(|| strand.lanes[strand.lane_index(rank)])?;
        Some((self.nodes[lane.head].order(), lane.head))
    }

    /// The job behind another in its lane.
    #[must_use]
    pub fn behind(&self, job: u32) -> Option<(Order, u32)> {
        let next = self.nodes.get(job).filter(|node| node.strand != NIL)?.next;
        (next != NIL).then(|| (self.nodes[next].order(), next))
    }

    /// The strand and the place of a job; `None` if it is not here.
    #[must_use]
    pub fn place_of(&self, job: u32) -> Option<(StrandId, Order)> {
        let node = self.nodes.get(job).filter(|node| node.strand != NIL)?;
        Some((StrandId(node.strand), node.order()))
    }

    /// Takes the next job of a strand.
    pub fn pop(&mut self, strand: StrandId) -> Option<(Order, u32)> {
        let head = self.head(strand)?;
        self.remove(head.1);
        Some(head)
    }

    /// Takes a job out, wherever it stands; `None` if it is not here.
    pub fn remove(&mut self, job: u32) -> Option<StrandId> {
        if !self.contains(job) {
            return None;
        }
        let Node { strand, prev, next, priority, .. } = self.nodes[job];
        let rank = rank(priority);
        let at = self.strands[strand as usize].lane_index(rank);
        self.join(strand, at, prev, next);
        self.nodes[job] = ABSENT;
        let owner = &mut self.strands[strand as usize];
        owner.lanes[at].len -= 1;
        owner.len -= 1;
        if owner.lanes[at].len == 0 {
            owner.close_lane(rank);
        }
        Some(StrandId(strand))
    }

    /// Whether the job is here.
    #[must_use]
    pub fn contains(&self, job: u32) -> bool {
        self.nodes.get(job).is_some_and(|node| node.strand != NIL)
    }

    /// Jobs of a strand.
    #[must_use]
    pub fn len(&self, strand: StrandId) -> usize {
        self.strands[strand.0 as usize].len
    }

    /// Whether a strand has no job.
    #[must_use]
    pub fn is_empty(&self, strand: StrandId) -> bool {
        self.len(strand) == 0
    }

    /// How many jobs of a strand come before `order`. Better lanes count by their length; of its own lane at most
    /// `walk` jobs are looked at, from both ends, so that the first and the last know their place exactly.
    #[must_use]
    pub fn ahead(&self, strand: StrandId, order: Order, walk: usize) -> Ahead {
        let strand = &self.strands[strand.0 as usize];
        let rank = rank(order.priority);
        let at = strand.lane_index(rank);
        let better: usize = strand.lanes[..at].iter().map(|lane| lane.len as usize).sum();
        if !strand.has_lane(rank) {
            return Ahead { count: better, exact: true };
        }
        let lane = strand.lanes[at];
        let len = lane.len as usize;
        let (mut front, mut back) = (lane.head, lane.tail);
        let (mut before, mut behind) = (0, 0);
        for step in 0..walk.min(len) {
            if step % 2 == 0 {
                let node = &self.nodes[back];
                if node.order() < order {
                    return Ahead { count: better + len - behind, exact: true };
                }
                behind += 1;
                back = node.prev;
            } else {
                let node = &self.nodes[front];
                if node.order() >= order {
                    return Ahead { count: better + before, exact: true };
                }
                before += 1;
                front = node.next;
            }
        }
        Ahead { count: better + before, exact: before + behind == len }
    }

    /// The jobs of a strand, in order.
    pub fn iter(&self, strand: StrandId) -> impl Iterator<Item = (Order, u32)> + '_ {
        let following = |job: u32| (job != NIL).then_some(job);
        self.strands[strand.0 as usize].lanes.iter().flat_map(move |lane| {
            std::iter::successors(following(lane.head), move |job| following(self.nodes[*job].next))
                .map(|job| (self.nodes[job].order(), job))
        })
    }

    /// Between which two jobs of a lane `order` belongs. Equal orders keep the sequence of their pushes. The two
    /// searches meet in the middle at the latest, so neither leaves the lane.
    fn neighbours(&self, lane: Lane, order: Order) -> (u32, u32) {
        let comes_after = |job: u32| self.nodes[job].order() <= order;
        let (mut front, mut back) = (lane.head, lane.tail);
        for _ in 0..lane.len {
            if comes_after(back) {
                return (back, self.nodes[back].next);
            }
            if !comes_after(front) {
                return (self.nodes[front].prev, front);
            }
            back = self.nodes[back].prev;
            front = self.nodes[front].next;
        }
        (NIL, NIL)
    }

    /// Makes two jobs of a lane neighbours; `NIL` on a side makes the other one an end of the lane.
    fn join(&mut self, strand: u32, lane: usize, prev: u32, next: u32) {
        let lane = &mut self.strands[strand as usize].lanes[lane];
        match prev {
            NIL => lane.head = next,
            job => self.nodes[job].next = next,
        }
        match next {
            NIL => lane.tail = prev,
            job => self.nodes[job].prev = prev,
        }
    }
}

impl Node {
    fn order(&self) -> Order {
        Order { priority: self.priority, arrival: self.arrival, seq: self.seq }
    }
}

impl Strand {
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
