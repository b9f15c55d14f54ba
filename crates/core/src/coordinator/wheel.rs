//! Timers: O(1) insert, cancel and fire, for due times, retries, timeouts and sessions.
//!
//! A hierarchical timing wheel: level 0 has 64 slots of one tick (1 ms), each further level has 64
//! slots of 64 times that span, so six levels reach 2³⁶ ms, a little over two years. A timer sits in the
//! lowest level whose slots tell its tick from the present one, and moves down as its time comes near.
//!
//! Three things differ from the textbook:
//!
//! - *Never early.* Timers are exact to the microsecond. A timer's tick is its moment rounded **up**, and the
//!   timers of the tick that is passing now (the *open* one) are kept apart, sorted, so that those of one
//!   millisecond fire one by one as their microsecond comes.
//! - *A jump is cheap.* Advancing empties only slots that hold something, found by bitmaps, and puts each
//!   timer it meets straight where it belongs after the jump. Nothing turns the wheel tick by tick, so
//!   a week costs the same as a millisecond.
//! - *Ids are safe.* A [`TimerId`] carries the generation of its place: an id kept after its timer fired
//!   cancels nothing, whoever has the place now.

use std::collections::BTreeSet;

use crate::time::Mono;

/// Timers that carry a `T` each.
#[derive(Debug)]
pub struct Wheel<T> {
    nodes: Vec<Node<T>>,
    /// First place that is free, linked through `next`.
    vacant: u32,
    len: usize,
    /// Timers ever inserted; breaks ties between equal moments.
    inserted: u64,
    /// The tick that is passing: the first one that is not wholly over.
    open: u64,
    /// Timers of the open tick and of the past, in the order in which they fire.
    near: BTreeSet<Due>,
    /// First timer of each slot.
    slots: [[u32; SLOTS]; LEVELS],
    /// Which slots hold a timer: one bit each.
    occupied: [u64; LEVELS],
    /// Emptied by every advance; kept for its memory.
    due: Vec<Due>,
}

/// A timer that was set. It stays unique: once the timer fired or was cancelled, the id means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId {
    place: u32,
    generation: u32,
}

/// Moment, number of insertion, place.
type Due = (Mono, u64, u32);

#[derive(Debug)]
struct Node<T> {
    at: Mono,
    inserted: u64,
    /// `None` while the place is vacant.
    item: Option<T>,
    generation: u32,
    prev: u32,
    next: u32,
    home: Home,
}

/// Where a timer is kept.
#[derive(Clone, Copy, Debug)]
enum Home {
    /// Among the timers of the open tick.
    Near,
    /// In a slot of the wheel.
    Slot { level: u8, slot: u8 },
}

const SLOTS: usize = 64;
const SLOT_BITS: u32 = SLOTS.trailing_zeros();
const LEVELS: usize = 6;
const TICK: u64 = 1_000;
/// No timer: the end of a list.
const NIL: u32 = u32::MAX;

impl<T> Wheel<T> {
    /// A wheel without timers.
    #[must_use]
    pub fn new(now: Mono) -> Wheel<T> {
        Wheel {
            nodes: Vec::new(),
            vacant: NIL,
            len: 0,
            inserted: 0,
            open: open_tick(now),
            near: BTreeSet::new(),
            slots: [[NIL; SLOTS]; LEVELS],
            occupied: [0; LEVELS],
            due: Vec::new(),
        }
    }

    /// Sets a timer. One whose moment has passed fires at the next advance.
    pub fn insert(&mut self, at: Mono, item: T) -> TimerId {
        let place = self.vacant_place();
        self.inserted += 1;
        self.len += 1;
        let node = &mut self.nodes[place as usize];
        node.at = at;
        node.inserted = self.inserted;
        node.item = Some(item);
        let id = TimerId { place, generation: node.generation };
        self.settle(place);
        id
    }

    /// Takes a timer back; `None` if it has fired or was cancelled.
    pub fn cancel(&mut self, id: TimerId) -> Option<T> {
        let node = self.nodes.get(id.place as usize)?;
        if node.generation != id.generation || node.item.is_none() {
            return None;
        }
        match node.home {
            Home::Near => {
                self.near.remove(&(node.at, node.inserted, id.place));
            }
            Home::Slot { level, slot } => self.unlink(id.place, level, slot),
        }
        self.vacate(id.place)
    }

    /// When to call [`Wheel::advance`] next: never later than the earliest timer's moment rounded up to a
    /// tick. It may be earlier than any timer, when far ones have to move down.
    #[must_use]
    pub fn next(&self) -> Option<Mono> {
        if let Some((at, ..)) = self.near.first() {
            return Some(tick_end(tick_of(*at)));
        }
        // A slot of a level begins only after all the slots below it are over.
        let level = self.occupied.iter().position(|slots| *slots != 0)?;
        let shift = SLOT_BITS * level as u32;
        let unit = self.open >> shift;
        let after = ring_slot(unit + 1);
        let ahead = self.occupied[level].rotate_right(after).trailing_zeros();
        Some(tick_end((unit + 1 + u64::from(ahead)) << shift))
    }

    /// Appends every timer whose moment has come, in order of moment, then of insertion.
    pub fn advance(&mut self, now: Mono, fired: &mut Vec<(Mono, T)>) {
        let mut due = std::mem::take(&mut self.due);
        while self.near.first().is_some_and(|(at, ..)| *at <= now) {
            due.extend(self.near.pop_first());
        }
        let target = open_tick(now);
        if target > self.open {
            let mut moved = self.detach_until(target);
            self.open = target;
            while moved != NIL {
                let place = moved;
                let node = &self.nodes[place as usize];
                moved = node.next;
                if node.at <= now {
                    due.push((node.at, node.inserted, place));
                } else {
                    self.settle(place);
                }
            }
        }
        due.sort_unstable();
        for (at, _, place) in due.drain(..) {
            fired.extend(self.vacate(place).map(|item| (at, item)));
        }
        self.due = due;
    }

    /// Timers that are set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no timer is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Empties every slot that begins up to the tick `target` and returns its timers as one list.
    fn detach_until(&mut self, target: u64) -> u32 {
        let mut all = NIL;
        for level in 0..LEVELS {
            let shift = SLOT_BITS * level as u32;
            let mut passed = self.occupied[level] & passed_slots(self.open >> shift, target >> shift);
            self.occupied[level] &= !passed;
            while passed != 0 {
                let slot = passed.trailing_zeros() as usize;
                passed &= passed - 1;
                let mut place = std::mem::replace(&mut self.slots[level][slot], NIL);
                while place != NIL {
                    let next = std::mem::replace(&mut self.nodes[place as usize].next, all);
                    all = std::mem::replace(&mut place, next);
                }
            }
        }
        all
    }

    /// Puts a timer where it belongs now.
    fn settle(&mut self, place: u32) {
        let node = &mut self.nodes[place as usize];
        let tick = tick_of(node.at);
        if tick <= self.open {
            node.home = Home::Near;
            self.near.insert((node.at, node.inserted, place));
            return;
        }
        let differing = u64::BITS - 1 - (tick ^ self.open).leading_zeros();
        let level = ((differing / SLOT_BITS) as usize).min(LEVELS - 1);
        let shift = SLOT_BITS * level as u32;
        // What lies beyond the last level waits there too, and is put back each time its slot comes round.
        let slot = ring_slot(tick >> shift) as usize;
        let head = std::mem::replace(&mut self.slots[level][slot], place);
        self.occupied[level] |= 1 << slot;
        node.home = Home::Slot { level: level as u8, slot: slot as u8 };
        node.prev = NIL;
        node.next = head;
        if head != NIL {
            self.nodes[head as usize].prev = place;
        }
    }

    fn unlink(&mut self, place: u32, level: u8, slot: u8) {
        let Node { prev, next, .. } = self.nodes[place as usize];
        if next != NIL {
            self.nodes[next as usize].prev = prev;
        }
        if prev != NIL {
            self.nodes[prev as usize].next = next;
            return;
        }
        self.slots[usize::from(level)][usize::from(slot)] = next;
        if next == NIL {
            self.occupied[usize::from(level)] &= !(1 << slot);
        }
    }

    fn vacant_place(&mut self) -> u32 {
        if self.vacant != NIL {
            let place = self.vacant;
            self.vacant = self.nodes[place as usize].next;
            return place;
        }
        let place = u32::try_from(self.nodes.len()).ok().filter(|place| *place != NIL);
        let place = place.expect("memory ends long before four billion timers");
        self.nodes.push(Node {
            at: Mono(0),
            inserted: 0,
            item: None,
            generation: 0,
            prev: NIL,
            next: NIL,
            home: Home::Near,
        });
        place
    }

    /// Ends a timer that is in no list any more.
    fn vacate(&mut self, place: u32) -> Option<T> {
        let node = &mut self.nodes[place as usize];
        let item = node.item.take()?;
        self.len -= 1;
        // A place that used up its generations is retired: no old id can ever fit it again.
        if let Some(generation) = node.generation.checked_add(1) {
            node.generation = generation;
            node.next = std::mem::replace(&mut self.vacant, place);
        }
        Some(item)
    }
}

/// The tick of a moment: the first that does not end before it.
fn tick_of(at: Mono) -> u64 {
    at.0.div_ceil(TICK)
}

/// The tick that is passing at `now`.
fn open_tick(now: Mono) -> u64 {
    now.0 / TICK + 1
}

/// The last moment of a tick.
fn tick_end(tick: u64) -> Mono {
    Mono(tick.saturating_mul(TICK))
}

fn ring_slot(unit: u64) -> u32 {
    (unit % SLOTS as u64) as u32
}

/// The slots of a level that begin after the unit `from` and up to the unit `to`.
fn passed_slots(from: u64, to: u64) -> u64 {
    match to - from {
        units if units < SLOTS as u64 => ((1 << units) - 1_u64).rotate_left(ring_slot(from + 1)),
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests;
