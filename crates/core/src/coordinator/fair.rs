//! Whose turn it is: the tenants of a queue share it by weight ([`super::turns`]).
//!
//! A tenant is a `fair_key`. Jobs without a key are one tenant together. The turns are those of the whole queue: a
//! tenant's jobs of all kinds and priorities count together.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};

use crate::coordinator::Slab;
use crate::coordinator::turns::{Clock, Seat};

/// The tenant of jobs without a key.
pub(crate) const NOBODY: u32 = 0;

/// The tenants of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Fair {
    clock: Clock,
    tenants: Slab<Tenant>,
    ids: HashMap<Arc<str>, u32>,
    /// Tenants without a job, by the turn until which they are remembered.
    idle: BTreeSet<(u64, u32)>,
}

#[derive(Clone, Debug, Default)]
struct Tenant {
    name: Option<Arc<str>>,
    /// Live jobs.
    jobs: u32,
    seat: Seat,
}

impl Default for Fair {
    fn default() -> Fair {
        let mut tenants = Slab::default();
        // Nobody is always there.
        tenants.insert(Tenant { jobs: 1, ..Tenant::default() });
        Fair { clock: Clock::default(), tenants, ids: HashMap::new(), idle: BTreeSet::new() }
    }
}

impl Fair {
    /// Whether there are tenants at all.
    pub(crate) fn is_used(&self) -> bool {
        !self.ids.is_empty()
    }

    /// A further job of this tenant.
    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            let tenant = self.tenants.get_mut(*id);
            tenant.jobs += 1;
            self.idle.remove(&(tenant.seat.turn(), *id));
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
            self.idle.insert((tenant.seat.turn(), id));
            self.forget();
        }
    }

    /// The time that its tenants share.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    pub(crate) fn seat(&self, id: u32) -> Seat {
        self.tenants.get(id).seat
    }

    /// Its turn, if it were to wait from now.
    pub(crate) fn turn(&self, id: u32) -> u64 {
        self.clock.turn(&self.tenants.get(id).seat)
    }

    /// It waits in one more place. Its turn.
    pub(crate) fn enter(&mut self, id: u32) -> u64 {
        self.clock.enter(&mut self.tenants.get_mut(id).seat)
    }

    /// It waits in one place less.
    pub(crate) fn leave(&mut self, id: u32) {
        self.clock.leave(&mut self.tenants.get_mut(id).seat);
        if self.clock.waiting() == 0 {
            self.forget();
        }
    }

    /// One of its jobs starts. Its next turn.
    pub(crate) fn serve(&mut self, id: u32, weight: u16) -> u64 {
        let turn = self.clock.serve(&mut self.tenants.get_mut(id).seat, weight);
        self.forget();
        turn
    }

    /// Tenants without a job whose turn has passed are as if they had never been.
    fn forget(&mut self) {
        while let Some((turn, id)) = self.idle.first().copied()
            && turn <= self.clock.now()
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
