//! What is counted per queue and kind, looked up once per lane instead of once per number.
//!
//! A finished job moves five numbers. Each stands in a family of its own, where finding it takes the labels as text and
//! a hash of them; here a lane is found by its names as they are, and has its numbers at hand. What a panel or an alert
//! watches is there from the lane's first job on, at zero: of a counter that begins with its first failure, nobody sees it rise.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ganger_core::job::State;
use ganger_core::name::{Kind, QueueName};
use ganger_core::outcome::Outcome;
use ganger_core::reason::Reason;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

use super::Inner;
use super::labels::{LABEL_VALUES, Lane, LaneEnd, LaneOutcome, LaneReason, OTHER, QueueLabel};

/// How attempts usually end, and why.
const USUAL: [(Outcome, Reason); 4] = [
    (Outcome::Ok, Reason::Returned),
    (Outcome::Error, Reason::Failed),
    (Outcome::Timeout, Reason::TimedOut),
    (Outcome::Lost, Reason::SessionClosed),
];

/// The lanes seen so far. As many as labels allow, so their number is bounded.
#[derive(Default)]
pub(super) struct Lanes(Mutex<HashMap<QueueName, HashMap<Kind, Series>>>);

/// The numbers of one lane.
pub(super) struct Series {
    labels: Lane,
    pub(super) enqueued: Counter,
    pub(super) wait: Histogram,
    pub(super) run: Histogram,
    pub(super) end_to_end: Histogram,
    expired: Counter,
    finished: Vec<(State, Counter)>,
    attempts: Vec<((Outcome, Reason), Counter)>,
    retries: Vec<(Reason, Counter)>,
}

impl Series {
    fn new(inner: &Inner, labels: Lane) -> Series {
        let mut series = Series {
            enqueued: inner.enqueued.get_or_create_owned(&labels),
            wait: inner.wait.get_or_create_owned(&labels),
            run: inner.run.get_or_create_owned(&labels),
            end_to_end: inner.end_to_end.get_or_create_owned(&labels),
            expired: inner.leases_expired.get_or_create_owned(&QueueLabel { queue: labels.queue.clone() }),
            finished: Vec::new(),
            attempts: Vec::new(),
            retries: Vec::new(),
            labels,
        };
        for state in State::ALL.into_iter().filter(|state| state.is_final()) {
            series.finished(inner, state);
        }
        for (outcome, reason) in USUAL {
            series.attempts(inner, outcome, reason);
            if outcome.is_failure() {
                series.retries(inner, reason);
            }
        }
        series
    }

    /// Jobs that became final in this state.
    pub(super) fn finished(&mut self, inner: &Inner, state: State) -> &Counter {
        let Lane { queue, kind } = &self.labels;
        of(&mut self.finished, state, || {
            let (queue, kind) = (queue.clone(), kind.clone());
            inner.finished.get_or_create_owned(&LaneOutcome { queue, kind, outcome: state.as_str() })
        })
    }

    /// An attempt ended so. `again` tells whether its job runs again.
    pub(super) fn attempt_ended(&mut self, inner: &Inner, outcome: Outcome, reason: Reason, again: bool) {
        self.attempts(inner, outcome, reason).inc();
        if outcome == Outcome::Lost {
            self.expired.inc();
        }
        if again && outcome.is_failure() {
            self.retries(inner, reason).inc();
        }
    }

    fn attempts(&mut self, inner: &Inner, outcome: Outcome, reason: Reason) -> &Counter {
        let Lane { queue, kind } = &self.labels;
        of(&mut self.attempts, (outcome, reason), || {
            let (queue, kind) = (queue.clone(), kind.clone());
            let (outcome, reason) = (outcome.as_str(), reason.as_str());
            inner.attempts.get_or_create_owned(&LaneEnd { queue, kind, outcome, reason })
        })
    }

    fn retries(&mut self, inner: &Inner, reason: Reason) -> &Counter {
        let Lane { queue, kind } = &self.labels;
        of(&mut self.retries, reason, || {
            let (queue, kind) = (queue.clone(), kind.clone());
            inner.retries.get_or_create_owned(&LaneReason { queue, kind, reason: reason.as_str() })
        })
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
        let mut series = Series::new(self, labels);
        count(&mut series);
        if own {
            debug_assert!(lanes.len() <= LABEL_VALUES, "queues are bounded by their label");
            lanes.entry(queue.clone()).or_default().insert(kind.clone(), series);
        }
    }
}
