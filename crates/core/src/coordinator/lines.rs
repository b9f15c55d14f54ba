//! The lines: for each group of workers, the classes that wait for it, best head first.
//!
//! A class stands in the line of every group that can run it, under the threads it needs. "The best
//! job for f free threads" is the best head among demands up to f, whatever the number of jobs.

use std::collections::{BTreeMap, BTreeSet};

use crate::coordinator::classes::ClassId;
use crate::coordinator::fleet::GroupId;
use crate::coordinator::ready::Order;

/// One group's line.
#[derive(Clone, Debug, Default)]
struct Line {
    by_demand: BTreeMap<u16, BTreeSet<(Order, ClassId)>>,
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

impl Lines {
    pub(crate) fn enter(&mut self, group: GroupId, demand: u16, order: Order, class: ClassId) {
        self.line_mut(group).by_demand.entry(demand).or_default().insert((order, class));
        self.dirty.insert(group);
    }

    pub(crate) fn leave(&mut self, group: GroupId, demand: u16, order: Order, class: ClassId) {
        let line = self.line_mut(group);
        if let Some(set) = line.by_demand.get_mut(&demand) {
            set.remove(&(order, class));
            if set.is_empty() {
                line.by_demand.remove(&demand);
            }
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

    /// The best head that needs at most `free` threads.
    pub(crate) fn best(&self, group: GroupId, free: i32) -> Option<(Order, ClassId)> {
        let upper = u16::try_from(free).ok()?;
        let line = self.line(group)?;
        line.by_demand.range(..=upper).filter_map(|(_, set)| set.first().copied()).min()
    }

    /// The best head of all.
    pub(crate) fn top(&self, group: GroupId) -> Option<(Order, ClassId)> {
        self.best(group, i32::from(u16::MAX))
    }

    /// Heads that need more than `free` threads and stand before `order`: those that are overtaken when
    /// a job of that order is placed.
    pub(crate) fn overtaken(&self, group: GroupId, free: i32, order: Order) -> Vec<ClassId> {
        let above = u16::try_from(free.max(0)).unwrap_or(u16::MAX).saturating_add(1);
        let Some(line) = self.line(group) else { return Vec::new() };
        line.by_demand
            .range(above..)
            .filter_map(|(_, set)| set.first().copied())
            .filter(|(head, _)| *head < order)
            .map(|(_, class)| class)
            .collect()
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
}
