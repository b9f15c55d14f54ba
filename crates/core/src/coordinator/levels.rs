//! The strands of a class some of whose jobs have keys.
//!
//! Per priority the strands that are open stand by tenant, the tenants by their turns, and a tenant's strands by the arrival of
//! their first jobs. A strand whose key is closed or at its limit stands nowhere: however long it is, nothing looks at it
//! until its key opens. A class without keys has none of this.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use crate::coordinator::fair::Fair;
use crate::coordinator::ready::{Order, StrandId};
use crate::time::Wall;

/// A key, or none, and a tenant: what the jobs of a strand share besides their class.
pub(crate) type Keys = (Option<u32>, u32);

/// See the head of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixed {
    /// The strands with a job that has a key.
    pub(crate) strands: HashMap<Keys, StrandId>,
    levels: BTreeMap<Reverse<i8>, Level>,
    /// The first jobs of all that stand, by arrival: strands may be as many as jobs, and whoever asks for the oldest asks often.
    firsts: BTreeSet<(Wall, u64)>,
    /// Jobs of the strands that stand.
    pub(crate) standing: usize,
}

/// One priority.
#[derive(Clone, Debug, Default)]
struct Level {
    turns: BTreeSet<(u64, u32)>,
    tenants: HashMap<u32, Standing>,
}

#[derive(Clone, Debug, Default)]
struct Standing {
    turn: u64,
    strands: BTreeSet<(Wall, u64, StrandId)>,
}

/// The strand that is next within one priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) order: Order,
    pub(crate) strand: StrandId,
    pub(crate) turn: u64,
}

impl Mixed {
    /// A strand of this tenant stands with a first job of this order.
    pub(crate) fn enter(&mut self, fair: &mut Fair, tenant: u32, order: Order, strand: StrandId) {
        let level = self.levels.entry(Reverse(order.priority)).or_default();
        let standing = level.tenants.entry(tenant).or_default();
        if standing.strands.is_empty() {
            standing.turn = fair.enter(tenant);
            level.turns.insert((standing.turn, tenant));
        }
        standing.strands.insert((order.arrival, order.seq, strand));
        self.firsts.insert((order.arrival, order.seq));
    }

    /// It does not any more.
    pub(crate) fn leave(&mut self, fair: &mut Fair, tenant: u32, order: Order, strand: StrandId) {
        self.firsts.remove(&(order.arrival, order.seq));
        let Some(level) = self.levels.get_mut(&Reverse(order.priority)) else { return };
        let Some(standing) = level.tenants.get_mut(&tenant) else { return };
        standing.strands.remove(&(order.arrival, order.seq, strand));
        if standing.strands.is_empty() {
            level.turns.remove(&(standing.turn, tenant));
            level.tenants.remove(&tenant);
            fair.leave(tenant);
            if level.tenants.is_empty() {
                self.levels.remove(&Reverse(order.priority));
            }
        }
    }

    /// A tenant was served: its turn is another. Whether it stands here.
    pub(crate) fn set_turn(&mut self, tenant: u32, turn: u64) -> bool {
        let mut stands = false;
        for level in self.levels.values_mut() {
            if let Some(standing) = level.tenants.get_mut(&tenant) {
                level.turns.remove(&(standing.turn, tenant));
                level.turns.insert((turn, tenant));
                standing.turn = turn;
                stands = true;
            }
        }
        stands
    }

    /// When the oldest of those that are first in their lanes arrived.
    pub(crate) fn oldest(&self) -> Option<Wall> {
        self.firsts.first().map(|(arrival, _)| *arrival)
    }

    /// Who is next in each priority, best first.
    pub(crate) fn heads(&self) -> impl Iterator<Item = Next> + '_ {
        self.levels.iter().filter_map(|(Reverse(priority), level)| {
            let (turn, tenant) = *level.turns.first()?;
            let (arrival, seq, strand) = *level.tenants.get(&tenant)?.strands.first()?;
            Some(Next { order: Order { priority: *priority, arrival, seq }, strand, turn })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(priority: i8, arrival: i64) -> Order {
        Order { priority, arrival: Wall(arrival), seq: 0 }
    }

    #[test]
    fn the_earliest_strand_of_the_tenant_whose_turn_it_is_comes_first() {
        let (mut mixed, mut fair) = (Mixed::default(), Fair::default());
        let (a, b) = (fair.intern("a"), fair.intern("b"));
        mixed.enter(&mut fair, a, order(0, 1), StrandId(1));
        mixed.enter(&mut fair, a, order(0, 2), StrandId(2));
        mixed.enter(&mut fair, b, order(0, 3), StrandId(3));
        mixed.enter(&mut fair, b, order(-1, 0), StrandId(3));
        let heads = |mixed: &Mixed| mixed.heads().map(|next| next.strand.0).collect::<Vec<_>>();
        assert_eq!(heads(&mixed), [1, 3]);
        let turn = fair.serve(a, 1);
        assert!(mixed.set_turn(a, turn));
        assert_eq!(heads(&mixed), [3, 3], "it is the other's turn");
        mixed.leave(&mut fair, b, order(0, 3), StrandId(3));
        mixed.leave(&mut fair, a, order(0, 1), StrandId(1));
        assert_eq!(heads(&mixed), [2, 3]);
        mixed.leave(&mut fair, a, order(0, 2), StrandId(2));
        mixed.leave(&mut fair, b, order(-1, 0), StrandId(3));
        assert_eq!(mixed.heads().count(), 0);
        assert!(mixed.levels.is_empty() && mixed.oldest().is_none(), "nothing is left of an empty class");
    }
}
