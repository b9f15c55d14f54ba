//! What is counted per queue and kind, looked up once per lane instead of once per number.
//!
//! A finished job moves five numbers. Each stands in a family of its own, where finding it takes the labels as text and
//! a hash of them; here a lane is found by its names as they are, and has its numbers at hand.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ganger_core::job::State;
use ganger_core::name::{Kind, QueueName};
use ganger_core::outcome::Outcome;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

use super::{Inner, LABEL_VALUES, LaneOutcome, OTHER};

/// The lanes seen so far. As many as labels allow, so their number is bounded.
#[derive(Default)]
pub(super) struct Lanes(Mutex<HashMap<QueueName, HashMap<Kind, Series>>>);

/// The numbers of one lane. A counter begins to exist when it first counts.
#[derive(Clone)]
pub(super) struct Series {
    labels: super::Lane,
    pub(super) wait: Histogram,
    pub(super) run: Histogram,
    pub(super) end_to_end: Histogram,
    finished: Vec<(State, Counter)>,
    attempts: Vec<(Outcome, Counter)>,
}

impl Series {
    /// Jobs that became final in this state.
    pub(super) fn finished(&mut self, inner: &Inner, state: State) -> &Counter {
        let labels = &self.labels;
        of(&mut self.finished, state, || inner.finished.get_or_create_owned(&labels.with(state.as_str())))
    }

    /// Attempts that ended so.
    pub(super) fn attempts(&mut self, inner: &Inner, outcome: Outcome) -> &Counter {
        let labels = &self.labels;
        of(&mut self.attempts, outcome, || inner.attempts.get_or_create_owned(&labels.with(outcome.as_str())))
    }
}

impl super::Lane {
    fn with(&self, outcome: &'static str) -> LaneOutcome {
        LaneOutcome { queue: self.queue.clone(), kind: self.kind.clone(), outcome }
    }
}

fn of<K: PartialEq>(known: &mut Vec<(K, Counter)>, key: K, make: impl FnOnce() -> Counter) -> &Counter {
    let at = known.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
        known.push((key, make()));
        known.len() - 1
    });
    &known[at].1
}

impl Inner {
    /// Hands over the numbers of a lane.
    pub(super) fn in_lane(&self, queue: &QueueName, kind: &Kind, count: impl FnOnce(&mut Series)) {
        let mut lanes = self.lanes.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = lanes.get_mut(queue).and_then(|kinds| kinds.get_mut(kind)) {
            return count(series);
        }
        let labels = self.lane(queue.as_str(), kind.as_str());
        // Names past the bound share a series; remembering each of them would have no bound.
        let own = labels.queue != OTHER && labels.kind != OTHER;
        let mut series = Series {
            wait: self.wait.get_or_create_owned(&labels),
            run: self.run.get_or_create_owned(&labels),
            end_to_end: self.end_to_end.get_or_create_owned(&labels),
            finished: Vec::new(),
            attempts: Vec::new(),
            labels,
        };
        count(&mut series);
        if own {
            debug_assert!(lanes.len() <= LABEL_VALUES, "queues are bounded by their label");
            lanes.entry(queue.clone()).or_default().insert(kind.clone(), series);
        }
    }
}
