//! Exact counts of jobs per queue, kind and state, so that no page ever counts rows.
//!
//! Every change of a job's state is one [`Counters::shift`]. The counts are exact because there is one
//! thread that changes states and this is the only place it counts; a count that would fall below zero
//! is therefore a bug of the caller, caught in tests and clamped at zero in production.

use std::collections::BTreeMap;

use crate::job::State;
use crate::name::{Kind, QueueName};

/// How many jobs there are of each queue and kind, by state in the order of [`State::ALL`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Rows exist only while they count something, so names that went out of use cost nothing.
    rows: BTreeMap<QueueName, BTreeMap<Kind, Row>>,
    totals: Row,
}

type Row = [u64; State::ALL.len()];

impl Counters {
    /// No jobs at all.
    #[must_use]
    pub fn new() -> Counters {
        Counters::default()
    }

    /// `n` jobs appeared in this state.
    pub fn add(&mut self, queue: &QueueName, kind: &Kind, state: State, n: u64) {
        if n == 0 {
            return;
        }
        self.totals[state.index()] += n;
        if let Some(row) = self.row(queue, kind) {
            row[state.index()] += n;
        } else {
            let kinds = self.rows.entry(queue.clone()).or_default();
            kinds.entry(kind.clone()).or_default()[state.index()] += n;
        }
    }

    /// `n` jobs of this state are gone. More than there are is a bug; the count stays at zero.
    pub fn sub(&mut self, queue: &QueueName, kind: &Kind, state: State, n: u64) {
        let row = self.row(queue, kind);
        let there = row.as_ref().map_or(0, |row| row[state.index()]);
        debug_assert!(there >= n, "taking {n} {} jobs of {queue} {kind}, there are {there}", state.as_str());
        let n = n.min(there);
        if let Some(row) = row {
            row[state.index()] -= n;
            if *row == Row::default() {
                self.drop_row(queue, kind);
            }
        }
        self.totals[state.index()] -= n;
    }

    /// One job went from one state to another.
    pub fn shift(&mut self, queue: &QueueName, kind: &Kind, from: State, to: State) {
        // The row would not survive its last job, only to be made again.
        match self.row(queue, kind) {
            Some(row) if row[from.index()] > 0 => {
                row[from.index()] -= 1;
                row[to.index()] += 1;
                self.totals[from.index()] -= 1;
                self.totals[to.index()] += 1;
            }
            Some(_) | None => {
                self.sub(queue, kind, from, 1);
                self.add(queue, kind, to, 1);
            }
        }
    }

    /// Jobs of this queue and kind in this state.
    #[must_use]
    pub fn get(&self, queue: &QueueName, kind: &Kind, state: State) -> u64 {
        self.sum(queue, kind, [state])
    }

    /// Jobs of this queue and kind in any of these states.
    #[must_use]
    pub fn sum<const N: usize>(&self, queue: &QueueName, kind: &Kind, states: [State; N]) -> u64 {
        let row = self.rows.get(queue).and_then(|kinds| kinds.get(kind));
        row.map_or(0, |row| states.iter().map(|state| row[state.index()]).sum())
    }

    /// Jobs of this queue, all kinds together.
    #[must_use]
    pub fn queue(&self, queue: &QueueName) -> [u64; State::ALL.len()] {
        let mut sum = Row::default();
        for row in self.rows.get(queue).into_iter().flat_map(BTreeMap::values) {
            for (sum, n) in sum.iter_mut().zip(row) {
                *sum += n;
            }
        }
        sum
    }

    /// Every row that counts something, by queue, then kind.
    pub fn iter(&self) -> impl Iterator<Item = (&QueueName, &Kind, [u64; State::ALL.len()])> {
        self.rows.iter().flat_map(|(queue, kinds)| kinds.iter().map(move |(kind, row)| (queue, kind, *row)))
    }

    /// Jobs in this state, everywhere.
    #[must_use]
    pub fn total(&self, state: State) -> u64 {
        self.totals[state.index()]
    }

    fn row(&mut self, queue: &QueueName, kind: &Kind) -> Option<&mut Row> {
        self.rows.get_mut(queue)?.get_mut(kind)
    }

    fn drop_row(&mut self, queue: &QueueName, kind: &Kind) {
        if let Some(kinds) = self.rows.get_mut(queue) {
            kinds.remove(kind);
            if kinds.is_empty() {
                self.rows.remove(queue);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn queue(n: u8) -> QueueName {
        format!("queue-{n}").parse().unwrap()
    }

    fn kind(n: u8) -> Kind {
        format!("kind-{n}").parse().unwrap()
    }

    #[test]
    fn a_job_is_counted_in_one_state_at_a_time() {
        let mut counters = Counters::new();
        counters.add(&queue(0), &kind(0), State::Queued, 2);
        counters.shift(&queue(0), &kind(0), State::Queued, State::Running);
        assert_eq!(counters.get(&queue(0), &kind(0), State::Queued), 1);
        assert_eq!(counters.queue(&queue(0)), [0, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!(counters.total(State::Running), 1);
        counters.shift(&queue(0), &kind(0), State::Running, State::Running);
        assert_eq!(counters.queue(&queue(0)), [0, 0, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_row_of_zeros_disappears() {
        let mut counters = Counters::new();
        counters.add(&queue(0), &kind(0), State::Dead, 3);
        counters.add(&queue(0), &kind(1), State::Dead, 0);
        assert_eq!(counters.iter().count(), 1);
        counters.sub(&queue(0), &kind(0), State::Dead, 3);
        assert_eq!(counters, Counters::new());
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "taking 2 queued jobs of queue-0 kind-0, there are 1")]
    fn counting_below_zero_is_a_bug() {
        let mut counters = Counters::new();
        counters.add(&queue(0), &kind(0), State::Queued, 1);
        counters.sub(&queue(0), &kind(0), State::Queued, 2);
    }

    #[test]
    #[cfg(not(debug_assertions))]
    fn a_bug_that_counts_below_zero_stays_at_zero() {
        let mut counters = Counters::new();
        counters.add(&queue(0), &kind(0), State::Queued, 1);
        counters.sub(&queue(0), &kind(0), State::Queued, 2);
        assert_eq!(counters, Counters::new());
    }

    proptest! {
        /// The model is one counted state per job; steps that the model cannot take are skipped.
        #[test]
        fn the_counts_are_those_of_the_jobs_themselves(
            steps in prop::collection::vec((0u8..3, 0u8..3, 0usize..8, 0usize..8, 0u8..3, 1u64..4), 0..200),
        ) {
            let mut counters = Counters::new();
            let mut model: BTreeMap<(u8, u8, State), u64> = BTreeMap::new();
            for (q, k, from, to, action, n) in steps {
                let (from, to) = (State::ALL[from], State::ALL[to]);
                let there = model.get(&(q, k, from)).copied().unwrap_or(0);
                match action {
                    0 => {
                        counters.add(&queue(q), &kind(k), from, n);
                        *model.entry((q, k, from)).or_default() += n;
                    }
                    1 if there >= n => {
                        counters.sub(&queue(q), &kind(k), from, n);
                        *model.entry((q, k, from)).or_default() -= n;
                    }
                    2 if there > 0 => {
                        counters.shift(&queue(q), &kind(k), from, to);
                        *model.entry((q, k, from)).or_default() -= 1;
                        *model.entry((q, k, to)).or_default() += 1;
                    }
                    _ => {}
                }
                model.retain(|_, n| *n > 0);
            }
            for state in State::ALL {
                let of_state = model.iter().filter(|((_, _, s), _)| *s == state);
                prop_assert_eq!(counters.total(state), of_state.map(|(_, n)| n).sum::<u64>());
            }
            let mut seen = BTreeMap::new();
            for q in 0..3 {
                for k in 0..3 {
                    for state in State::ALL {
                        seen.insert((q, k, state), counters.get(&queue(q), &kind(k), state));
                    }
                }
                let by_kind = (0..3).map(|k| seen[&(q, k, State::Queued)]).sum::<u64>();
                prop_assert_eq!(counters.queue(&queue(q))[State::Queued.index()], by_kind);
            }
            seen.retain(|_, n| *n > 0);
            prop_assert_eq!(&seen, &model);
            prop_assert!(counters.iter().all(|(_, _, row)| row != Row::default()));
        }
    }
}
