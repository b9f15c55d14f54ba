//! The head of a queue: which jobs are next, and what holds each of them back.
//!
//! The order is that of dispatch within the queue: priority, what a wait is worth included, then the tenant's turn, then arrival. It is what would
//! happen if every gate opened now and nothing new came; what holds a job back is what [`Coordinator::explain`] says of it,
//! from the same gate function.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use crate::coordinator::Coordinator;
use crate::coordinator::classes::ClassId;
use crate::coordinator::fair::Fair;
use crate::coordinator::ready::Order;
use crate::coordinator::turns::{Clock, Seat};
use crate::coordinator::view::{HeadShown, QueueHead};
use crate::name::QueueName;
use crate::queue::Ageing;
use crate::time::Now;

/// Strands of a class that are looked at. A queue with more tenants at once is told as not exact, and so is one whose tenants have jobs
/// of several classes: there every end may change whose turn it is.
const STRANDS: usize = 1_000;

/// The next job of a lane.
struct Cursor {
    order: Order,
    job: u32,
    class: ClassId,
    tenant: u32,
    /// Jobs of the lane have keys.
    keyed: bool,
}

/// Whose turn it is, as jobs are taken in thought.
struct Turns<'a> {
    fair: Option<&'a Fair>,
    clock: Clock,
    /// Those who were served.
    served: HashMap<u32, Seat>,
}

impl Turns<'_> {
    fn seat(&self, tenant: u32) -> Seat {
        let known = || self.fair.map_or_else(Seat::default, |fair| fair.seat(tenant));
        self.served.get(&tenant).copied().unwrap_or_else(known)
    }

    /// The turn of a tenant; one that does not wait in line for a turn has none before the present time.
    fn of(&self, tenant: u32, waits: bool) -> u64 {
        let turn = self.seat(tenant).turn();
        if waits { turn } else { turn.max(self.clock.now()) }
    }

    fn serve(&mut self, tenant: u32, weight: u16) {
        if self.fair.is_some_and(Fair::is_used) {
            let mut seat = self.seat(tenant);
            self.clock.serve(&mut seat, weight);
            self.served.insert(tenant, seat);
        }
    }
}

impl Coordinator {
    /// The next jobs of a queue, at most so many, and what holds each of them back.
    #[must_use]
    pub fn head(&self, queue: &QueueName, limit: usize, now: Now) -> QueueHead {
        let (mut lanes, exact) = self.lanes_of(queue);
        let flow = self.queues.get(queue).and_then(|entry| entry.flow.as_ref());
        let ageing = flow.and_then(|_| self.queues.get(queue)?.settings.ageing);
        let fair = flow.map(|flow| &flow.fair);
        let several = lanes.iter().any(|lane| lanes.first().is_some_and(|first| first.class != lane.class));
        let exact = exact && !(several && fair.is_some_and(Fair::is_used));
        let clock = fair.map(Fair::clock).unwrap_or_default();
        let mut turns = Turns { fair, clock, served: HashMap::new() };
        let mut items = Vec::new();
        while items.len() < limit {
            let Some(at) = self.next_of(&lanes, &turns, ageing.as_ref()) else { break };
            let (job, tenant) = (lanes[at].job, lanes[at].tenant);
            turns.serve(tenant, self.jobs.keys(job).map_or(1, |keys| keys.weight));
            match self.ready.behind(job) {
                Some((order, next)) => (lanes[at].order, lanes[at].job) = (order, next),
                None => drop(lanes.swap_remove(at)),
            }
            // One that is not in the store yet is nobody's business.
            if !self.jobs.get(job).provisional {
                items.push(self.head_shown(job, now));
            }
        }
        let first = items.first().and_then(|first: &HeadShown| self.jobs.slot(first.job));
        let others = first.map_or_else(Vec::new, |job| self.queues_before(self.jobs.get(job).class, 0).0);
        QueueHead { queue: queue.clone(), items, exact, others }
    }

    /// The lane whose job is next. As in dispatch: within a class and a priority the tenant
    /// decides, between the priorities of a class what a wait is worth, and between classes both.
    fn next_of(&self, lanes: &[Cursor], turns: &Turns<'_>, ageing: Option<&Ageing>) -> Option<usize> {
        let mixed: HashSet<ClassId> = lanes.iter().filter(|lane| lane.keyed).map(|lane| lane.class).collect();
        let in_line = lanes.iter().filter(|lane| mixed.contains(&lane.class));
        let waiting: HashSet<u32> = in_line.map(|lane| lane.tenant).collect();
        let turn = |lane: &Cursor| turns.of(lane.tenant, waiting.contains(&lane.tenant));
        let aged = |order: Order| ageing.map_or(order, |ageing| self.aged(ageing, order));
        let mut levels: BTreeMap<(ClassId, i8), usize> = BTreeMap::new();
        for (at, lane) in lanes.iter().enumerate() {
            let place = |at: usize| {
                let lane = &lanes[at];
                (turn(lane), lane.tenant, lane.order.arrival, lane.order.seq)
            };
            let best = levels.entry((lane.class, lane.order.priority)).or_insert(at);
            if place(at) < place(*best) {
                *best = at;
            }
        }
        let mut classes: BTreeMap<ClassId, usize> = BTreeMap::new();
        for ((class, _), at) in levels {
            let best = classes.entry(class).or_insert(at);
            if aged(lanes[at].order) < aged(lanes[*best].order) {
                *best = at;
            }
        }
        classes.into_values().min_by_key(|at| {
            let order = aged(lanes[*at].order);
            (Reverse(order.priority), turn(&lanes[*at]), order.arrival, order.seq)
        })
    }

    fn lanes_of(&self, queue: &QueueName) -> (Vec<Cursor>, bool) {
        let (mut lanes, mut exact) = (Vec::new(), true);
        for class in self.classes.of_queue(queue) {
            let plain = self.classes.get(class).plain;
            let mut strands = self.strands_of(class);
            for strand in strands.by_ref().take(STRANDS) {
                let (tenant, keyed) = (self.strands.get(strand).keys.1, strand != plain);
                let heads = self.ready.lanes(strand);
                lanes.extend(heads.map(|(order, job)| Cursor { order, job, class, tenant, keyed }));
            }
            exact &= strands.next().is_none();
        }
        (lanes, exact)
    }

    fn head_shown(&self, slot: u32, now: Now) -> HeadShown {
        let entry = self.jobs.get(slot);
        let held = self.gates_shown(slot, now).into_iter().find(|gate| gate.closed);
        HeadShown {
            job: entry.id,
            kind: self.classes.get(entry.class).key.kind.clone(),
            priority: entry.order().priority,
            attempt: entry.standing.attempt + 1,
            ready_since: entry.order().arrival,
            held,
        }
    }
}
