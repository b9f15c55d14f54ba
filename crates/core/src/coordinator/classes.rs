//! Classes: jobs that any worker either fits or does not, all alike.
//!
//! A class is a queue, a kind, a number of threads and the labels required. Whatever keeps a whole
//! class from running, the limits of its queue among it, is a [`Gate`]: a gated class is **parked**, out of every line, and never looked
//! at again until the gate opens. [`gates`] is the one function that knows them; dispatch parks by it
//! and `explain` shows what it says.

use std::hash::BuildHasher;

use foldhash::HashMap;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::coordinator::fleet::{Fleet, GroupId, Ring};
use crate::coordinator::flow::Flow;
use crate::coordinator::levels::Mixed;
use crate::coordinator::lines::{Place, Standing};
use crate::coordinator::ready::StrandId;
use crate::coordinator::table::Newcomer;
use crate::coordinator::view::Gate;
use crate::coordinator::wheel::TimerId;
use crate::job::Fallback;
use crate::name::{Kind, Labels, QueueName};
use crate::queue::QueueSettings;
use crate::time::Mono;

/// A class of jobs, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassId(pub(crate) u32);

/// A queue that has, or had, a class, numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct QueueId(pub(crate) u32);

/// What all jobs of a class share.
#[derive(Clone, Debug)]
pub(crate) struct ClassKey {
    pub(crate) queue: QueueName,
    pub(crate) kind: Kind,
    pub(crate) threads: u16,
    pub(crate) min_threads: u16,
    pub(crate) fallback: Fallback,
    pub(crate) require: Labels,
}

/// A [`ClassKey`] that is looked at where it is, so that a job whose class is known costs no copy of it.
type Shared<'a> = (&'a QueueName, &'a Kind, u16, u16, Fallback, &'a Labels);

impl ClassKey {
    fn shared(&self) -> Shared<'_> {
        (&self.queue, &self.kind, self.threads, self.min_threads, self.fallback, &self.require)
    }
}

/// The key of a job's class.
fn shared<'a>(job: &Newcomer<'a>) -> Shared<'a> {
    let options = job.options;
    (job.queue, job.kind, options.threads, options.min_threads, options.fallback, &options.require)
}

/// A class and where it stands in the lines.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) key: ClassKey,
    /// The number of its queue.
    pub(crate) queue: QueueId,
    /// Groups of workers that can run it.
    pub(crate) groups: Vec<GroupId>,
    /// Threads it is given: what it asks for, or the fallback.
    pub(crate) demand: u16,
    /// Where its head stands in the lines of its groups; `None` while empty or parked.
    pub(crate) lined_up: Option<Place>,
    /// How often its waiting head was overtaken because it is wide.
    pub(crate) overtakes: u32,
    /// Runs out when the head has been overtaken for too long.
    pub(crate) patience: Option<TimerId>,
    /// The worker that is kept free for its head.
    pub(crate) reserved: Option<u32>,
    /// Its jobs without keys.
    pub(crate) plain: StrandId,
    /// Its jobs by their keys, if any has one.
    pub(crate) mixed: Option<Box<Mixed>>,
    /// Whether its queue has a [`Flow`].
    pub(crate) flows: bool,
    /// Mean run time of its attempts, in microseconds, newer ones weighing more.
    pub(crate) mean_run: Option<f64>,
}

impl Class {
    /// How it stands in a line with its head at this place.
    pub(crate) fn standing(&self, id: ClassId, place: Place) -> Standing {
        Standing { class: id, queue: self.queue, demand: self.demand, place }
    }
}

/// Every class there ever was; they are few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    all: Vec<Class>,
    /// By the hash of their keys, which are in the classes themselves.
    ids: HashTable<ClassId>,
    hasher: RandomState,
    by_queue: HashMap<QueueName, QueueClasses>,
    /// The names of the queues, by their numbers.
    queues: Vec<QueueName>,
}

/// The classes of one queue.
#[derive(Clone, Debug, Default)]
struct QueueClasses {
    id: QueueId,
    classes: Vec<ClassId>,
}

impl Classes {
    pub(crate) fn get(&self, id: ClassId) -> &Class {
        &self.all[id.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, id: ClassId) -> &mut Class {
        &mut self.all[id.0 as usize]
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..u32::try_from(self.all.len()).unwrap_or(u32::MAX)).map(ClassId)
    }

    pub(crate) fn of_queue(&self, queue: &QueueName) -> Vec<ClassId> {
        self.by_queue.get(queue).map(|of| of.classes.clone()).unwrap_or_default()
    }

    /// The name of a queue that has a class.
    pub(crate) fn queue_name(&self, id: QueueId) -> &QueueName {
        &self.queues[id.0 as usize]
    }

    /// The class of a job, and whether it is new.
    pub(crate) fn intern(&mut self, job: &Newcomer<'_>) -> (ClassId, bool) {
        let Classes { all, ids, hasher, .. } = self;
        let hash = hasher.hash_one(shared(job));
        if let Some(id) = ids.find(hash, |id| all[id.0 as usize].key.shared() == shared(job)) {
            return (*id, false);
        }
        let key = ClassKey {
            queue: job.queue.clone(),
            kind: job.kind.clone(),
            threads: job.options.threads,
            min_threads: job.options.min_threads,
            fallback: job.options.fallback,
            require: job.options.require.clone(),
        };
        let id = ClassId(u32::try_from(all.len()).expect("classes are fewer than jobs"));
        ids.insert_unique(hash, id, |id| hasher.hash_one(all[id.0 as usize].key.shared()));
        let of_queue = self.by_queue.entry(key.queue.clone()).or_insert_with(|| {
            let id = QueueId(u32::try_from(self.queues.len()).expect("queues are fewer than classes"));
            self.queues.push(key.queue.clone());
            QueueClasses { id, classes: Vec::new() }
        });
        of_queue.classes.push(id);
        self.all.push(Class {
            demand: key.threads,
            queue: of_queue.id,
            key,
            groups: Vec::new(),
            lined_up: None,
            overtakes: 0,
            patience: None,
            reserved: None,
            plain: StrandId(u32::MAX),
            mixed: None,
            flows: false,
            mean_run: None,
        });
        (id, true)
    }
}

/// Settings and turn of one queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueEntry {
    pub(crate) settings: QueueSettings,
    /// Whose turn it is under round robin.
    pub(crate) ring: Ring,
    /// What its limits and its tenants need; nothing for a queue that has neither.
    pub(crate) flow: Option<Box<Flow>>,
}

/// Groups of the fleet that can run a class.
pub(crate) fn eligible(key: &ClassKey, fleet: &Fleet) -> Vec<GroupId> {
    fleet
        .groups()
        .filter(|(_, signature)| signature.serves(&key.queue, &key.kind, &key.require))
        .map(|(id, _)| id)
        .collect()
}

/// The threads that a job of this class is given by the present fleet.
pub(crate) fn demand(key: &ClassKey, widest: u16) -> u16 {
    if widest >= key.threads {
        return key.threads;
    }
    match key.fallback {
        Fallback::Widest => widest.max(key.min_threads),
        Fallback::Single => 1,
    }
}

/// Everything that holds a whole class back, in the order in which it is checked.
pub(crate) fn gates(
    key: &ClassKey,
    groups: &[GroupId],
    fleet: &Fleet,
    queue: Option<&QueueEntry>,
    now: Mono,
) -> Vec<Gate> {
    let mut closed = Vec::new();
    if queue.is_some_and(|queue| queue.settings.paused) {
        closed.push(Gate::QueuePaused(key.queue.clone()));
    }
    if let Some(queue) = queue
        && let Some(flow) = &queue.flow
    {
        closed.extend(flow.gates(&key.queue, &queue.settings.limits, now));
    }
    if groups.is_empty() {
        let none = Labels::new();
        let count = |fits: &dyn Fn(&crate::coordinator::fleet::Signature) -> bool| {
            fleet.groups().filter(|(_, s)| fits(s)).map(|(id, _)| fleet.members(id)).sum()
        };
        closed.push(Gate::NoWorker {
            queue: key.queue.clone(),
            kind: key.kind.clone(),
            require: key.require.clone(),
            serving_queue: count(&|s| s.queues.is_empty() || s.queues.contains(&key.queue)),
            handling_kind: count(&|s| s.serves(&key.queue, &key.kind, &none)),
        });
        return closed;
    }
    let widest = widest(groups, fleet);
    if key.fallback == Fallback::Widest && widest < key.min_threads {
        closed.push(Gate::TooNarrow { min_threads: key.min_threads, widest });
    }
    closed
}

/// The largest capacity of any worker in these groups.
pub(crate) fn widest(groups: &[GroupId], fleet: &Fleet) -> u16 {
    groups.iter().map(|g| fleet.widest(*g)).max().unwrap_or(0)
}
