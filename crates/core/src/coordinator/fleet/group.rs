//! Workers of one signature, in every order a policy may ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lineup::{Lineup, UNSEEN};
use super::shelves::Shelves;
use super::{Member, Signature};

#[derive(Debug)]
pub(super) struct Group {
    pub(super) signature: Arc<Signature>,
    pub(super) members: usize,
    /// Free threads of those that may be chosen, together.
    pub(super) free: u64,
    /// How many members there are of each capacity.
    pub(super) capacities: BTreeMap<u16, usize>,
    /// In order of joining.
    pub(super) ring: Lineup,
    /// Those never assigned anything, in order of joining.
    pub(super) fresh: Recency,
    /// The others, in order of their last assignment.
    pub(super) used: Recency,
}

/// A line in order of use, which also answers by free threads.
#[derive(Debug, Default)]
pub(super) struct Recency {
    pub(super) line: Lineup,
    by_free: Shelves,
}

/// When a worker last got an assignment; the smaller is less recent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Used {
    /// Never; it joined as the so-many-eth.
    Never(u64),
    /// With the so-many-eth assignment.
    At(u64),
}

impl Group {
    pub(super) fn new(signature: Signature) -> Group {
        Group {
            signature: Arc::new(signature),
            members: 0,
            free: 0,
            capacities: BTreeMap::new(),
            ring: Lineup::default(),
            fresh: Recency::default(),
            used: Recency::default(),
        }
    }

    /// A member stands in its lines from now on, hidden.
    pub(super) fn add(&mut self, member: &mut Member, worker: u32, members: &mut [Option<Member>]) {
        self.members += 1;
        *self.capacities.entry(member.threads).or_default() += 1;
        if self.ring.is_full() {
            self.ring.close_up(|moved, place| renumber(members, moved, |m| m.ring_place = place));
        }
        member.ring_place = self.ring.push(member.joined, worker);
        self.line_up(member, worker, members);
    }

    /// A member was used at that moment, later than any other: it goes to the end of the line of those that were ever used. A worker
    /// that is given many jobs in a row stands there already, and keeps its place.
    pub(super) fn stamp(
        &mut self,
        member: &mut Member,
        worker: u32,
        at: u64,
        members: &mut [Option<Member>],
    ) {
        let is_used = matches!(member.used, Used::At(_));
        if !(is_used && self.used.line.stamp_last(member.used_place, at)) {
            self.recency(member.used).remove(member.used_place);
            member.used = Used::At(at);
            self.line_up(member, worker, members);
        }
        member.used = Used::At(at);
    }

    /// Puts a member at the end of the line in order of use that it belongs to, hidden.
    pub(super) fn line_up(&mut self, member: &mut Member, worker: u32, members: &mut [Option<Member>]) {
        let (Used::Never(key) | Used::At(key)) = member.used;
        let recency = self.recency(member.used);
        if recency.line.is_full() {
            recency.close_up(|moved, place| renumber(members, moved, |m| m.used_place = place));
        }
        member.used_place = recency.line.push(key, worker);
    }

    /// A member is gone.
    pub(super) fn remove(&mut self, member: &Member) {
        self.members -= 1;
        self.free -= member.on_offer();
        if let Some(count) = self.capacities.get_mut(&member.threads) {
            *count -= 1;
            if *count == 0 {
                self.capacities.remove(&member.threads);
            }
        }
        self.ring.remove(member.ring_place);
        self.recency(member.used).remove(member.used_place);
        if self.members == 0 {
            // Nobody may come back: keep nothing that grew with the number of members.
            (self.ring, self.fresh, self.used) = Default::default();
        }
    }

    /// Brings every order up to date with the free threads of a member.
    pub(super) fn see(&mut self, member: &Member) {
        let value = if member.shown { member.free } else { UNSEEN };
        self.ring.set(member.ring_place, value);
        self.recency(member.used).set(member.used_place, value);
    }

    pub(super) fn recency(&mut self, used: Used) -> &mut Recency {
        match used {
            Used::Never(_) => &mut self.fresh,
            Used::At(_) => &mut self.used,
        }
    }

    pub(super) fn most_free(&self) -> Option<i32> {
        Some(self.ring.best()).filter(|most| *most != UNSEEN)
    }

    pub(super) fn least_recently_used(&self, at_least: i32) -> Option<(Used, u32)> {
        let fresh = self.fresh.line.find(0, at_least).map(|(joined, worker)| (Used::Never(joined), worker));
        fresh.or_else(|| self.used.line.find(0, at_least).map(|(at, worker)| (Used::At(at), worker)))
    }

    /// The first in the ring after the position `last`, or from its beginning.
    pub(super) fn next_in_ring(&self, last: Option<u64>, at_least: i32) -> Option<(u64, u32)> {
        self.ring.find(last.map_or(0, |last| self.ring.after(last)), at_least)
    }

    /// The fewest free threads that fit, then the least recently used.
    pub(super) fn best_fit(&self, at_least: i32) -> Option<(i32, Used, u32)> {
        let fresh = self.fresh.smallest(at_least).map(|(free, key, worker)| (free, Used::Never(key), worker));
        let used = self.used.smallest(at_least).map(|(free, key, worker)| (free, Used::At(key), worker));
        fresh.into_iter().chain(used).min()
    }

    /// The most free threads among those who please, then the least recently used.
    pub(super) fn roomiest(&self, pleases: impl Fn(u32) -> bool) -> Option<u32> {
        let fresh = self.fresh.largest_first().find(|(_, worker)| pleases(*worker));
        let used = self.used.largest_first().find(|(_, worker)| pleases(*worker));
        match (fresh, used) {
            (Some((fewer, _)), Some((more, worker))) if fewer < more => Some(worker),
            (Some((_, worker)), _) | (None, Some((_, worker))) => Some(worker),
            (None, None) => None,
        }
    }
}

impl Recency {
    pub(super) fn remove(&mut self, place: usize) {
        self.set(place, UNSEEN);
        self.line.remove(place);
    }

    fn set(&mut self, place: usize, value: i32) {
        let before = self.line.get(place);
        if before == value {
            return;
        }
        if before != UNSEEN {
            self.by_free.take(before, place);
        }
        if value != UNSEEN {
            self.by_free.put(value, place);
        }
        self.line.set(place, value);
    }

    fn close_up(&mut self, moved: impl FnMut(u32, usize)) {
        self.line.close_up(moved);
        self.by_free.clear();
        for place in 0..self.line.len() {
            let value = self.line.get(place);
            if value != UNSEEN {
                self.by_free.put(value, place);
            }
        }
    }

    fn smallest(&self, at_least: i32) -> Option<(i32, u64, u32)> {
        let (free, place) = self.by_free.smallest(at_least)?;
        self.line.at(place).map(|(key, worker)| (free, key, worker))
    }

    fn largest_first(&self) -> impl Iterator<Item = (i32, u32)> + '_ {
        let places = self.by_free.largest_first();
        places.filter_map(|(free, place)| self.line.at(place).map(|(_, worker)| (free, worker)))
    }
}

fn renumber(members: &mut [Option<Member>], worker: u32, change: impl FnOnce(&mut Member)) {
    if let Some(member) = &mut members[worker as usize] {
        change(member);
    }
}
