//! What the leader knows that the verdict is made of.

use std::collections::BTreeMap;

use crate::coordinator::Coordinator;
use crate::coordinator::classes::{Class, gates};
use crate::coordinator::explain::show_labels;
use crate::coordinator::view::Gate;
use crate::job::State;
use crate::name::QueueName;
use crate::time::Now;
use crate::verdict::{Facts, QueueFacts, Unserved, Verdict};

impl Coordinator {
    /// How things are, in one sentence, as far as the leader knows by itself: not what failed.
    #[must_use]
    pub fn verdict(&self, now: Now) -> Verdict {
        Verdict::of(&self.facts(now))
    }

    /// What the leader knows of how things are.
    #[must_use]
    pub fn facts(&self, now: Now) -> Facts {
        let counted = self.counters.iter().map(|(queue, ..)| queue);
        let names = counted.chain(self.queues.keys());
        let mut queues: BTreeMap<&QueueName, QueueFacts> =
            names.map(|name| (name, self.queue_facts(name, now))).collect();
        // Classes are few: everything that waits in one has the same gates.
        for id in self.classes.ids() {
            let class = self.classes.get(id);
            // What waits for its key to open waits by design.
            let Some(arrival) = self.oldest(id) else { continue };
            let Some(queue) = queues.get_mut(&class.key.queue) else { continue };
            let oldest = now.wall.since(arrival);
            match self.unserved(class, now) {
                Some(why) => {
                    let waiting = self.standing(id);
                    queue.unserved.push(Unserved { why, waiting, oldest });
                }
                None => queue.oldest = queue.oldest.max(Some(oldest)),
            }
        }
        Facts {
            store_trouble: self.commits.trouble().map(str::to_owned),
            queues: queues.into_values().collect(),
            failing: [].into(),
            now: now.wall,
        }
    }

    fn queue_facts(&self, name: &QueueName, now: Now) -> QueueFacts {
        let counts = self.counters.queue(name);
        let pace = self.paces.get(name);
        QueueFacts {
            queue: name.clone(),
            paused: self.queues.get(name).is_some_and(|queue| queue.settings.paused),
            waiting: counts[State::Queued.index()],
            running: counts[State::Running.index()],
            oldest: None,
            comes: pace.map_or(0.0, |pace| pace.comes(now.mono)),
            starts: pace.map_or(0.0, |pace| pace.starts(now.mono)),
            unserved: Vec::new(),
        }
    }

    /// Why nobody can run the jobs of a class, if so.
    fn unserved(&self, class: &Class, now: Now) -> Option<String> {
        let queue = self.queues.get(&class.key.queue);
        let closed = gates(&class.key, &class.groups, &self.fleet, queue, now.mono);
        closed.into_iter().find_map(|gate| match gate {
            Gate::QueuePaused(_)
            | Gate::QueueRunning { .. }
            | Gate::QueueRate { .. }
            | Gate::KeyClosed { .. }
            | Gate::KeyRunning { .. }
            | Gate::KeyRate { .. } => None,
            Gate::NoWorker { queue, serving_queue: 0, .. } => Some(format!("no worker serves queue {queue}")),
            Gate::NoWorker { kind, handling_kind: 0, .. } => Some(format!("no worker handles {kind}")),
            Gate::NoWorker { kind, require, .. } => {
                Some(format!("no worker that handles {kind} has the labels {}", show_labels(&require)))
            }
            Gate::TooNarrow { min_threads, widest } => Some(format!(
                "{} needs at least {min_threads} threads, the widest worker has {widest}",
                class.key.kind
            )),
        })
    }
}
