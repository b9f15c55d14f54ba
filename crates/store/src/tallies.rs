//! Counting jobs by queue, kind and state.

use std::collections::BTreeMap;

use ganger_core::change::Tally;
use ganger_core::job::State;
use ganger_core::name::{Kind, QueueName};

/// Counts that grow and shrink, in a fixed order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(BTreeMap<(QueueName, Kind, State), i64>);

impl Tallies {
    /// Adds so many, or takes them away.
    pub(crate) fn add(&mut self, queue: &QueueName, kind: &Kind, state: State, count: i64) {
        *self.0.entry((queue.clone(), kind.clone(), state)).or_default() += count;
    }

    /// The counts above zero.
    pub(crate) fn into_vec(self) -> Vec<Tally> {
        self.0
            .into_iter()
            .filter_map(|((queue, kind, state), count)| {
                let count = u64::try_from(count).ok().filter(|count| *count > 0)?;
                Some(Tally { queue, kind, state, count })
            })
            .collect()
    }
}
