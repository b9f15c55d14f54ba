//! Whose turn it is: the tenants of a queue share it by weight.
//!
//! Every tenant (`fair_key`) has a *turn*: a number that grows by the price of each job it starts, one divided by
//! the job's weight. The smallest turn is next. So over any stretch in which two tenants wait they start jobs in proportion
//! to their weights, however many either has and whoever came first. Jobs without a key are one tenant together.
//!
//! Who has not waited does not save up: a tenant that begins to wait starts at the queue's own time, the turn of whoever was
//! served last. Who was served is not let off either: its turn is remembered, after its last job, until the
//! queue's time has passed it.
//!
//! The turns are those of the whole queue: a tenant's jobs of all kinds and priorities count together.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};

use crate::coordinator::Slab;

/// The tenant of jobs without a key.
pub(crate) const NOBODY: u32 = 0;
/// The price of a job of weight 1. Divisible by most weights, and 2⁶⁴ of it is more jobs than ever run.
const PRICE: u64 = 720_720;

/// The tenants of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Fair {
    /// The queue's own time: the turn of whoever was served last.
    now: u64,
    /// The largest turn of all.
    latest: u64,
    tenants: Slab<Tenant>,
    ids: HashMap<Arc<str>, u32>,
    /// Tenants without a job, by the turn until which they are remembered.
    idle: BTreeSet<(u64, u32)>,
    /// Tenants that wait.
    waiting: usize,
}

#[derive(Clone, Debug, Default)]
struct Tenant {
    name: Option<Arc<str>>,
    /// Live jobs.
    jobs: u32,
    /// Places in which it waits.
    places: u32,
    turn: u64,
}

impl Default for Fair {
    fn default() -> Fair {
        let mut tenants = Slab::default();
        // Nobody is always there.
        tenants.insert(Tenant { jobs: 1, ..Tenant::default() });
        Fair { now: 0, latest: 0, tenants, ids: HashMap::new(), idle: BTreeSet::new(), waiting: 0 }
    }
}

impl Fair {
    /// What a job of that weight costs its tenant.
    pub(crate) fn price(weight: u16) -> u64 {
        PRICE / u64::from(weight.max(1))
    }

    /// Whether there are tenants at all.
    pub(crate) fn is_used(&self) -> bool {
        !self.ids.is_empty()
    }

    /// A further job of this tenant.
    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            let tenant = self.tenants.get_mut(*id);
            tenant.jobs += 1;
            self.idle.remove(&(tenant.turn, *id));
            return *id;
        }
        let name: Arc<str> = name.into();
        let id = self.tenants.insert(Tenant { name: Some(name.clone()), jobs: 1, ..Tenant::default() });
        self.ids.insert(name, id);
        id
    }

    /// A job of this tenant is gone.
    pub(crate) fn release(&mut self, id: u32) {
        if id == NOBODY {
            return;
        }
        let tenant = self.tenants.get_mut(id);
        tenant.jobs -= 1;
        if tenant.jobs == 0 {
            self.idle.insert((tenant.turn, id));
            self.forget();
        }
    }

    /// Its turn, if it were to wait from now.
    pub(crate) fn turn(&self, id: u32) -> u64 {
        let tenant = self.tenants.get(id);
        if tenant.places > 0 { tenant.turn } else { tenant.turn.max(self.now) }
    }

    /// It waits in one more place.
    pub(crate) fn enter(&mut self, id: u32) -> u64 {
        let turn = self.turn(id);
        let tenant = self.tenants.get_mut(id);
        tenant.turn = turn;
        tenant.places += 1;
        self.waiting += usize::from(tenant.places == 1);
        turn
    }

    /// It waits in one place less.
    pub(crate) fn leave(&mut self, id: u32) {
        let tenant = self.tenants.get_mut(id);
        tenant.places -= 1;
        self.waiting -= usize::from(tenant.places == 0);
        if self.waiting == 0 {
            // Whatever was owed among those who waited is settled.
            self.now = self.now.max(self.latest);
            self.forget();
        }
    }

    /// One of its jobs starts. Its next turn.
    pub(crate) fn serve(&mut self, id: u32, weight: u16) -> u64 {
        let turn = self.turn(id);
        let next = turn + Fair::price(weight);
        self.tenants.get_mut(id).turn = next;
        self.now = self.now.max(turn);
        self.latest = self.latest.max(next);
        self.forget();
        next
    }

    /// Tenants without a job whose turn has passed are as if they had never been.
    fn forget(&mut self) {
        while let Some((turn, id)) = self.idle.first().copied()
            && turn <= self.now
        {
            self.idle.remove(&(turn, id));
            if let Some(name) = self.tenants.remove(id).name {
                self.ids.remove(&name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tenants that wait, served in turn.
    fn served(fair: &mut Fair, waiting: &[(u32, u16)], count: usize) -> HashMap<u32, usize> {
        let mut starts = HashMap::new();
        for _ in 0..count {
            let (id, weight) = *waiting.iter().min_by_key(|(id, _)| fair.turn(*id)).unwrap();
            fair.serve(id, weight);
            *starts.entry(id).or_default() += 1;
        }
        starts
    }

    #[test]
    fn tenants_that_wait_are_served_by_weight() {
        let mut fair = Fair::default();
        let (a, b) = (fair.intern("a"), fair.intern("b"));
        fair.enter(a);
        fair.enter(b);
        let starts = served(&mut fair, &[(a, 3), (b, 1)], 400);
        assert_eq!((starts[&a], starts[&b]), (300, 100));
    }

    #[test]
    fn a_latecomer_neither_catches_up_nor_waits_for_what_was_before() {
        let mut fair = Fair::default();
        let (a, b) = (fair.intern("a"), fair.intern("b"));
        fair.enter(a);
        served(&mut fair, &[(a, 1)], 1_000);
        fair.enter(b);
        let starts = served(&mut fair, &[(a, 1), (b, 1)], 100);
        assert_eq!((starts[&a], starts[&b]), (50, 50));
    }

    /// Weight 100 against weight 1, and the light one never has more than one job at a time.
    #[test]
    fn coming_back_with_every_job_gains_nothing() {
        let mut fair = Fair::default();
        let heavy = fair.intern("heavy");
        fair.enter(heavy);
        let (mut of_heavy, mut of_light) = (0, 0);
        for _ in 0..1_010 {
            let light = fair.intern("light");
            fair.enter(light);
            if fair.turn(light) < fair.turn(heavy) {
                fair.serve(light, 1);
                of_light += 1;
            } else {
                fair.serve(heavy, 100);
                of_heavy += 1;
            }
            fair.leave(light);
            fair.release(light);
        }
        assert!((8..=12).contains(&of_light), "{of_heavy} and {of_light}");
    }

    #[test]
    fn a_million_tenants_cost_nothing_when_idle() {
        let mut fair = Fair::default();
        for name in 0..10_000 {
            let id = fair.intern(&name.to_string());
            fair.enter(id);
            fair.serve(id, 1);
            fair.leave(id);
            fair.release(id);
        }
        assert!(!fair.is_used() && fair.idle.is_empty());
        assert_eq!(fair.tenants.iter().count(), 1, "nobody alone is left");
    }
}
