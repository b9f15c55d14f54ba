//! The head of a queue: which jobs are next, and what holds each of them back.
//!
//! The order is that of dispatch: priority, what a wait is worth included, then the tenant's turn, then arrival. It is what would
//! happen if every gate opened now and nothing new came; what holds a job back is what [`Coordinator::explain`] says of it,
//! from the same gate function.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::coordinator::Coordinator;
use crate::coordinator::fair::Fair;
use crate::coordinator::ready::Order;
use crate::coordinator::view::{HeadShown, QueueHead};
use crate::name::QueueName;
use crate::queue::Ageing;
use crate::time::Now;

/// Strands of a class that are looked at. A queue with more tenants at once is told as not exact.
const STRANDS: usize = 1_000;

/// The next job of a lane.
struct Cursor {
    order: Order,
    job: u32,
    tenant: u32,
    ageing: Option<Ageing>,
}

impl Coordinator {
    /// The next jobs of a queue, at most so many, and what holds each of them back.
    #[must_use]
    pub fn head(&self, queue: &QueueName, limit: usize, now: Now) -> QueueHead {
        let (mut lanes, exact) = self.lanes_of(queue);
        let fair = self.queues.get(queue).and_then(|entry| entry.flow.as_ref()).map(|flow| &flow.fair);
        let mut turns: HashMap<u32, u64> = HashMap::new();
        let mut items = Vec::new();
        while items.len() < limit {
            let turn = |tenant: u32| match turns.get(&tenant) {
                Some(turn) => *turn,
                None => fair.map_or(0, |fair| fair.turn(tenant)),
            };
            let place = |lane: &Cursor| {
                let order = lane.ageing.map_or(lane.order, |ageing| self.aged(&ageing, lane.order));
                (Reverse(order.priority), turn(lane.tenant), order.arrival, order.seq)
            };
            let Some(at) = (0..lanes.len()).min_by_key(|at| place(&lanes[*at])) else { break };
            let (job, tenant) = (lanes[at].job, lanes[at].tenant);
            let weight = self.jobs.keys(job).map_or(1, |keys| keys.weight);
            let next_turn = turn(tenant) + Fair::price(weight);
            turns.insert(tenant, next_turn);
            match self.ready.behind(job) {
                Some((order, next)) => (lanes[at].order, lanes[at].job) = (order, next),
                None => drop(lanes.swap_remove(at)),
            }
            // One that is not in the store yet is nobody's business.
            if !self.jobs.get(job).provisional {
                items.push(self.head_shown(job, now));
            }
        }
        QueueHead { queue: queue.clone(), items, exact }
    }

    fn lanes_of(&self, queue: &QueueName) -> (Vec<Cursor>, bool) {
        let (mut lanes, mut exact) = (Vec::new(), true);
        for class in self.classes.of_queue(queue) {
            let ageing = self.flow_of(class).and_then(|_| self.queues.get(queue)?.settings.ageing);
            let mut strands = self.strands_of(class);
            for strand in strands.by_ref().take(STRANDS) {
                let tenant = self.strands.get(strand).keys.1;
                let heads = self.ready.lanes(strand);
                lanes.extend(heads.map(|(order, job)| Cursor { order, job, tenant, ageing }));
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
