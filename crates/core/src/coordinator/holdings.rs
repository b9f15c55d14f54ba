//! The leases of one session, by fence.
//!
//! Fences grow, so a new lease comes to the end; and attempts end about in the order in which they were given, so one that is over
//! is near the front. A queue in order of fences does both at next to no cost. A lease stays in its place while its end is being
//! committed, so that it comes and goes once. A session has few thousand leases at the most (`limits::THREADS`, `limits::PREFETCH`):
//! one that leaves from the middle moves no more than half of them.

use std::collections::VecDeque;

use crate::lease::Fence;

/// What a session holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holdings {
    /// In order of fences; the slot of the lease, or `None` while its end is being committed.
    all: VecDeque<(Fence, Option<u32>)>,
}

impl Holdings {
    /// The session has this lease from now on.
    pub(crate) fn insert(&mut self, fence: Fence, slot: u32) {
        match self.place(fence) {
            Ok(place) => self.all[place].1 = Some(slot),
            Err(place) => self.all.insert(place, (fence, Some(slot))),
        }
    }

    /// The end of this lease is decided.
    pub(crate) fn ends(&mut self, fence: Fence) {
        match self.place(fence) {
            Ok(place) => self.all[place].1 = None,
            Err(place) => self.all.insert(place, (fence, None)),
        }
    }

    /// The end of this lease is written, or it never was.
    pub(crate) fn remove(&mut self, fence: Fence) {
        if let Ok(place) = self.place(fence) {
            self.all.remove(place);
        }
    }

    /// The slot of a lease that has not ended.
    pub(crate) fn lease(&self, fence: Fence) -> Option<u32> {
        self.place(fence).ok().and_then(|place| self.all[place].1)
    }

    /// Whether the end of this lease is being committed.
    pub(crate) fn is_ending(&self, fence: Fence) -> bool {
        self.place(fence).is_ok_and(|place| self.all[place].1.is_none())
    }

    /// The slots of the leases that have not ended, in order of fences.
    pub(crate) fn leases(&self) -> impl Iterator<Item = u32> + '_ {
        self.all.iter().filter_map(|(_, slot)| *slot)
    }

    /// Whether there is nothing, neither a lease nor an end of one that is being committed.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn place(&self, fence: Fence) -> Result<usize, usize> {
        // What comes is mostly the last, and what leaves mostly the first.
        match (self.all.front(), self.all.back()) {
            (_, Some((last, _))) if *last < fence => Err(self.all.len()),
            (Some((first, _)), _) if *first == fence => Ok(0),
            _ => self.all.binary_search_by(|(other, _)| other.cmp(&fence)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::Term;

    fn fence(seq: u64) -> Fence {
        Fence { term: Term { number: 1, id: 7 }, seq }
    }

    #[test]
    fn a_lease_is_held_until_its_end_is_decided_and_known_until_that_is_written() {
        let mut holdings = Holdings::default();
        holdings.insert(fence(1), 10);
        assert_eq!((holdings.lease(fence(1)), holdings.is_ending(fence(1))), (Some(10), false));
        holdings.ends(fence(1));
        assert_eq!((holdings.lease(fence(1)), holdings.is_ending(fence(1))), (None, true));
        assert_eq!((holdings.leases().count(), holdings.is_empty()), (0, false));
        holdings.remove(fence(1));
        holdings.remove(fence(1));
        assert!(holdings.is_empty() && !holdings.is_ending(fence(1)));
    }

    #[test]
    fn leases_are_in_order_of_fences_however_they_come_and_go() {
        let mut holdings = Holdings::default();
        for seq in [5, 9, 2, 7, 1] {
            holdings.insert(fence(seq), u32::try_from(seq).unwrap());
        }
        assert_eq!(holdings.leases().collect::<Vec<_>>(), [1, 2, 5, 7, 9]);
        holdings.ends(fence(5));
        holdings.remove(fence(1));
        holdings.remove(fence(7));
        holdings.insert(fence(8), 8);
        assert_eq!(holdings.leases().collect::<Vec<_>>(), [2, 8, 9]);
        assert!(holdings.is_ending(fence(5)));
    }
}
