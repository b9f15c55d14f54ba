//! The place of a job in line: what starts before it, of its own queue and of others.

use crate::coordinator::Coordinator;
use crate::coordinator::classes::ClassId;
use crate::coordinator::fleet::GroupId;
use crate::coordinator::table::Entry;
use crate::coordinator::view::{Position, QueueAhead};
use crate::name::QueueName;

/// Links of a lane that are walked to find a position.
const WALK: usize = 10_000;
/// Strands of a class that are looked at to find a position.
const STRANDS: usize = 1_000;
/// Other queues that are named.
const QUEUES: usize = 100;

/// A position, and which classes the jobs before it are of.
pub(crate) struct Ahead {
    pub(crate) position: Position,
    /// Jobs of its own queue, by class.
    pub(crate) own: Vec<(ClassId, usize)>,
}

impl Coordinator {
    /// The place of a job that is ready.
    pub(crate) fn place(&self, entry: &Entry) -> Ahead {
        let mut position = Position { ahead: 0, exact: true, others: Vec::new() };
        let mut own = Vec::new();
        for id in self.classes.of_queue(&self.classes.get(entry.class).key.queue) {
            // Where jobs have keys, turns and limits decide as well.
            position.exact &= self.classes.get(id).mixed.is_none();
            let mut count = 0;
            for strand in self.strands_of(id).take(STRANDS) {
                let ahead = self.ready.ahead(strand, entry.order(), WALK);
                count += ahead.count;
                position.exact &= ahead.exact;
            }
            position.ahead += count;
            own.push((id, count));
        }
        let (others, all) = self.queues_before(entry.class, position.ahead);
        position.others = others;
        position.exact &= all;
        Ahead { position, own }
    }

    /// Jobs of other queues that start before one of this class with so many of its own queue before it, and whether all
    /// queues are named. It starts with the group of workers in which the fewest come first.
    pub(crate) fn queues_before(&self, id: ClassId, ahead: usize) -> (Vec<QueueAhead>, bool) {
        let class = self.classes.get(id);
        let precedence = class.lined_up.map_or_else(
            || self.queues.get(&class.key.queue).map_or(0, |queue| queue.settings.precedence),
            |place| place.precedence,
        );
        let groups = class.groups.iter().filter(|group| self.fleet.members(**group) > 0);
        let of_groups = groups.map(|group| {
            let ahead = u64::try_from(ahead).unwrap_or(u64::MAX);
            let weight = |queue| self.weight(self.classes.queue_name(queue));
            let (before, all) = self.lines.before(*group, (precedence, class.queue), ahead, weight, QUEUES);
            let named = before.into_iter().map(|before| {
                let queue = self.classes.queue_name(before.queue);
                let jobs = before.jobs.min(self.in_line_for(queue, *group));
                QueueAhead { queue: Some(queue.clone()), jobs }
            });
            (named.filter(|other| other.jobs > 0).collect::<Vec<_>>(), all)
        });
        let fewest = of_groups.min_by_key(|(named, _)| named.iter().map(|other| other.jobs).sum::<u64>());
        let (mut named, all) = fewest.unwrap_or((Vec::new(), true));
        named.sort_by(|a, b| b.jobs.cmp(&a.jobs).then_with(|| a.queue.cmp(&b.queue)));
        (named, all)
    }

    fn weight(&self, queue: &QueueName) -> u16 {
        self.queues.get(queue).map_or(1, |entry| entry.settings.weight)
    }

    /// Jobs of a queue that wait for this group of workers.
    fn in_line_for(&self, queue: &QueueName, group: GroupId) -> u64 {
        let classes = self.classes.of_queue(queue).into_iter();
        let waiting = classes.filter(|id| {
            let class = self.classes.get(*id);
            class.lined_up.is_some() && class.groups.contains(&group)
        });
        waiting.map(|id| self.in_line(id)).sum()
    }
}
