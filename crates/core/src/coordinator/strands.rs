//! Ready jobs by strand, and which of a class is next.
//!
//! Jobs without keys stand in the one plain strand of their class, as if there were nothing else. The first job with
//! a key makes its class *mixed*: then its strands take turns ([`super::levels`]). A strand with keys exists while it
//! holds a job.

use crate::coordinator::Coordinator;
use crate::coordinator::classes::ClassId;
use crate::coordinator::fair::NOBODY;
use crate::coordinator::levels::{Keys, Mixed};
use crate::coordinator::ready::{Order, StrandId};
use crate::queue::Ageing;
use crate::time::Wall;

/// What the jobs of a strand share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strand {
    pub(crate) class: ClassId,
    pub(crate) keys: Keys,
    /// Whether it stands in line: its key is not closed, nor at a limit.
    pub(crate) open: bool,
}

/// The strands, by their numbers in the ready index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strands {
    all: Vec<Option<Strand>>,
}

impl Strands {
    fn set(&mut self, id: StrandId, strand: Option<Strand>) {
        if self.all.len() <= id.0 as usize {
            self.all.resize(id.0 as usize + 1, None);
        }
        self.all[id.0 as usize] = strand;
    }

    pub(crate) fn get(&self, id: StrandId) -> Strand {
        self.all[id.0 as usize].expect("a strand in use: it is freed only when it is empty")
    }
}

/// The next job of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Its place, what its wait is worth included.
    pub(crate) order: Order,
    pub(crate) job: u32,
    /// Its tenant's turn, if the class is mixed.
    pub(crate) turn: Option<u64>,
}

impl Coordinator {
    /// Gives a new class the strand of its jobs without keys.
    pub(crate) fn add_plain_strand(&mut self, class: ClassId) {
        let plain = self.ready.add_strand();
        self.strands.set(plain, Some(Strand { class, keys: (None, NOBODY), open: true }));
        let flows = self.flow_of(class).is_some();
        let entry = self.classes.get_mut(class);
        entry.plain = plain;
        entry.flows = flows;
    }

    /// Puts a job into its strand.
    pub(crate) fn push_ready(&mut self, job: u32) {
        let (class, order) = (self.jobs.get(job).class, self.jobs.get(job).order());
        let strand = match self.jobs.keys(job) {
            Some(keys) => self.keyed_strand(class, (keys.key, keys.tenant)),
            None => self.classes.get(class).plain,
        };
        if self.classes.get(class).mixed.is_none() {
            self.ready.push(strand, order, job);
            // Behind the head of a class that is in line already, nothing else changes; where there are limits, it may.
            let class = self.classes.get(class);
            if !class.flows && class.lined_up.is_some_and(|head| head.order < order) {
                return;
            }
        } else {
            let before = self.ready.lane_head(strand, order.priority).map(|(order, _)| order);
            self.ready.push(strand, order, job);
            self.rehead(strand, order.priority, before);
            if self.strands.get(strand).open {
                self.count_standing(strand, |standing| standing + 1);
            }
        }
        self.line_up(class);
    }

    /// Takes a job out of its strand, without lining its class up again; `None` if it is not ready.
    pub(crate) fn pull(&mut self, job: u32) -> Option<ClassId> {
        let (strand, order) = self.ready.place_of(job)?;
        let class = self.strands.get(strand).class;
        if self.classes.get(class).mixed.is_none() {
            self.ready.remove(job);
            return Some(class);
        }
        let before = self.ready.lane_head(strand, order.priority).map(|(order, _)| order);
        self.ready.remove(job);
        self.rehead(strand, order.priority, before);
        if self.strands.get(strand).open {
            self.count_standing(strand, |standing| standing - 1);
        }
        self.drop_if_empty(strand);
        Some(class)
    }

    /// The next job of a class, whatever its gates say.
    pub(crate) fn class_head(&self, id: ClassId) -> Option<Head> {
        let class = self.classes.get(id);
        let ageing = self.flow_of(id).and_then(|_| self.queues.get(&class.key.queue)?.settings.ageing);
        let Some(mixed) = &class.mixed else {
            let head = |(order, job): (Order, u32)| Head { order, job, turn: None };
            let Some(ageing) = ageing else { return self.ready.head(class.plain).map(head) };
            let aged = self.ready.lanes(class.plain).map(|(order, job)| (self.aged(&ageing, order), job));
            return aged.min_by_key(|(order, _)| *order).map(head);
        };
        let next = match ageing {
            None => mixed.heads().next().map(|next| (next.order, next)),
            Some(ageing) => {
                let aged = mixed.heads().map(|next| (self.aged(&ageing, next.order), next));
                aged.min_by_key(|(order, _)| *order)
            }
        };
        let (order, next) = next?;
        let (_, job) = self.ready.lane_head(next.strand, next.order.priority)?;
        Some(Head { order, job, turn: Some(next.turn) })
    }

    /// What a place is worth after the wait so far.
    pub(crate) fn aged(&self, ageing: &Ageing, order: Order) -> Order {
        Order { priority: ageing.aged(order.priority, self.awake_wall.since(order.arrival)), ..order }
    }

    /// When the oldest job became ready that is first in line, in some priority, of a class.
    pub(crate) fn oldest(&self, id: ClassId) -> Option<Wall> {
        let class = self.classes.get(id);
        let first = |strand| self.ready.lanes(strand).map(|(order, _)| order.arrival).min();
        let oldest = match &class.mixed {
            Some(mixed) => mixed.oldest(),
            None => first(class.plain),
        };
        debug_assert_eq!(oldest, self.open_strands(id).filter_map(first).min(), "the oldest of class {id:?}");
        oldest
    }

    /// How many jobs of a class stand in line: those whose key is closed do not.
    pub(crate) fn standing(&self, id: ClassId) -> u64 {
        let jobs = self.in_line(id);
        debug_assert_eq!(
            jobs,
            self.open_strands(id).map(|strand| self.ready.len(strand) as u64).sum::<u64>()
        );
        jobs
    }

    /// The same, for whoever asks once a job.
    pub(crate) fn in_line(&self, id: ClassId) -> u64 {
        let class = self.classes.get(id);
        class.mixed.as_ref().map_or_else(|| self.ready.len(class.plain), |mixed| mixed.standing) as u64
    }

    /// The strands of a class that stand in line. Walked through by tests only: there may be as many as jobs.
    fn open_strands(&self, id: ClassId) -> impl Iterator<Item = StrandId> + '_ {
        self.strands_of(id).filter(|strand| self.strands.get(*strand).open)
    }

    /// The strands of a class with ready jobs.
    pub(crate) fn strands_of(&self, id: ClassId) -> impl Iterator<Item = StrandId> + '_ {
        let class = self.classes.get(id);
        let keyed = class.mixed.iter().flat_map(|mixed| mixed.strands.values().copied());
        std::iter::once(class.plain).chain(keyed)
    }

    fn keyed_strand(&mut self, class: ClassId, keys: Keys) -> StrandId {
        if self.classes.get(class).mixed.is_none() {
            self.classes.get_mut(class).mixed = Some(Box::default());
            self.stand(self.classes.get(class).plain, true);
        }
        if let Some(strand) = self.classes.get(class).mixed.as_ref().and_then(|m| m.strands.get(&keys)) {
            return *strand;
        }
        let strand = self.ready.add_strand();
        let open = keys.0.is_none_or(|key| self.keys.get(key).open);
        self.strands.set(strand, Some(Strand { class, keys, open }));
        if let Some(mixed) = &mut self.classes.get_mut(class).mixed {
            mixed.strands.insert(keys, strand);
        }
        if let Some(key) = keys.0 {
            self.keys.get_mut(key).strands.insert(strand);
        }
        strand
    }

    fn drop_if_empty(&mut self, id: StrandId) {
        let strand = self.strands.get(id);
        let plain = self.classes.get(strand.class).plain;
        if id == plain || !self.ready.is_empty(id) {
            return;
        }
        self.ready.free_strand(id);
        self.strands.set(id, None);
        if let Some(key) = strand.keys.0 {
            self.keys.get_mut(key).strands.remove(&id);
        }
        let Some(mixed) = &mut self.classes.get_mut(strand.class).mixed else { return };
        mixed.strands.remove(&strand.keys);
        if mixed.strands.is_empty() {
            self.stand(plain, false);
            self.classes.get_mut(strand.class).mixed = None;
        }
    }

    /// A strand opens or closes: all its lanes enter the levels of its class, or leave them.
    pub(crate) fn set_open(&mut self, id: StrandId, open: bool) {
        let strand = self.strands.get(id);
        if strand.open != open {
            self.strands.set(id, Some(Strand { open, ..strand }));
            self.stand(id, open);
        }
    }

    fn stand(&mut self, id: StrandId, stands: bool) {
        let jobs = self.ready.len(id);
        self.count_standing(id, |standing| if stands { standing + jobs } else { standing - jobs });
        let lanes: Vec<Order> = self.ready.lanes(id).map(|(order, _)| order).collect();
        for order in lanes {
            let (old, new) = if stands { (None, Some(order)) } else { (Some(order), None) };
            self.replace(id, old, new);
        }
    }

    /// As many jobs more or less stand in line with this strand.
    fn count_standing(&mut self, id: StrandId, count: impl Fn(usize) -> usize) {
        let class = self.strands.get(id).class;
        if let Some(mixed) = &mut self.classes.get_mut(class).mixed {
            mixed.standing = count(mixed.standing);
        }
    }

    /// The first job of a lane may be another one now.
    fn rehead(&mut self, id: StrandId, priority: i8, before: Option<Order>) {
        let after = self.ready.lane_head(id, priority).map(|(order, _)| order);
        if before != after && self.strands.get(id).open {
            self.replace(id, before, after);
        }
    }

    /// Replaces a place of a strand in the levels of its class. It enters before it leaves, so that its tenant waits without a
    /// break.
    fn replace(&mut self, id: StrandId, before: Option<Order>, after: Option<Order>) {
        let Strand { class, keys: (_, tenant), .. } = self.strands.get(id);
        let class = self.classes.get_mut(class);
        let flow = self.queues.get_mut(&class.key.queue).and_then(|queue| queue.flow.as_mut());
        let (Some(mixed), Some(flow)) = (&mut class.mixed, flow) else { return };
        if let Some(order) = after {
            Mixed::enter(mixed, &mut flow.fair, tenant, order, id);
        }
        if let Some(order) = before {
            Mixed::leave(mixed, &mut flow.fair, tenant, order, id);
        }
    }
}
