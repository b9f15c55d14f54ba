//! The worker's threads: all or nothing, first come first served.
//!
//! Work begins when all the threads it was granted are free. The head of the line waits for them and
//! nobody passes it, so a wide one is not starved by the narrow ones behind it.

use std::collections::VecDeque;

use ganger_core::Fence;

/// Threads in use, and who waits for some.
#[derive(Debug)]
pub(crate) struct Threads {
    capacity: u16,
    free: u16,
    line: VecDeque<(Fence, u16)>,
}

/// Threads taken by one unit of work; handed back with [`Threads::release`].
#[must_use = "threads that are not released are lost"]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Grant(u16);

impl Threads {
    pub(crate) fn new(capacity: u16) -> Threads {
        Threads { capacity, free: capacity, line: VecDeque::new() }
    }

    /// Waits at the end of the line. More than there are counts as all of them.
    pub(crate) fn queue(&mut self, fence: Fence, wanted: u16) {
        self.line.push_back((fence, wanted.clamp(1, self.capacity)));
    }

    /// Leaves the line.
    pub(crate) fn withdraw(&mut self, fence: Fence) {
        self.line.retain(|(waiting, _)| *waiting != fence);
    }

    /// The head of the line, if its threads are free; they are taken.
    pub(crate) fn next(&mut self) -> Option<(Fence, Grant)> {
        let (fence, wanted) = *self.line.front()?;
        self.free = self.free.checked_sub(wanted)?;
        self.line.pop_front();
        Some((fence, Grant(wanted)))
    }

    pub(crate) fn release(&mut self, Grant(threads): Grant) {
        self.free += threads;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fence(seq: u64) -> Fence {
        Fence { seq, ..Fence::default() }
    }

    #[test]
    fn a_wide_one_is_not_passed_by_the_narrow_ones_behind_it() {
        let mut threads = Threads::new(4);
        threads.queue(fence(1), 1);
        threads.queue(fence(2), 4);
        threads.queue(fence(3), 1);
        let (first, grant) = threads.next().unwrap();
        assert_eq!(first, fence(1));
        assert_eq!(threads.next(), None, "three are free, and the head wants four");
        threads.release(grant);
        let (second, grant) = threads.next().unwrap();
        assert_eq!(second, fence(2));
        assert_eq!(threads.next(), None);
        threads.release(grant);
        assert_eq!(threads.next().unwrap().0, fence(3));
    }

    #[test]
    fn a_withdrawn_one_makes_way() {
        let mut threads = Threads::new(2);
        threads.queue(fence(1), 1);
        threads.queue(fence(2), 2);
        threads.queue(fence(3), 1);
        let _first = threads.next().unwrap();
        threads.withdraw(fence(2));
        assert_eq!(threads.next().unwrap().0, fence(3));
    }

    proptest! {
        #[test]
        fn threads_are_never_oversubscribed_and_all_work_runs_in_order(
            capacity in 1u16..9,
            wanted in proptest::collection::vec(0u16..12, 1..40),
            releases in proptest::collection::vec(any::<prop::sample::Index>(), 200),
        ) {
            let mut threads = Threads::new(capacity);
            for (i, n) in wanted.iter().enumerate() {
                threads.queue(fence(i as u64), *n);
            }
            let (mut held, mut order): (Vec<Grant>, Vec<Fence>) = (Vec::new(), Vec::new());
            for pick in releases {
                while let Some((fence, grant)) = threads.next() {
                    order.push(fence);
                    held.push(grant);
                }
                prop_assert!(held.iter().map(|g| g.0).sum::<u16>() <= capacity);
                if !held.is_empty() {
                    let grant = held.swap_remove(pick.index(held.len()));
                    threads.release(grant);
                }
            }
            prop_assert_eq!(order, (0..wanted.len() as u64).map(fence).collect::<Vec<_>>());
        }
    }
}
