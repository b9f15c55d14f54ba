//! The counters of final jobs, changed once per batch and sort instead of once per job.

use std::collections::HashMap;

use ganger_core::job::State;
use rusqlite::Connection;

use super::error::Failure;
use super::{codec, sql};

/// How the counters changed so far: by queue, then kind, then final state.
#[derive(Debug, Default)]
pub(super) struct Counts(HashMap<String, HashMap<String, [i64; 3]>>);

impl Counts {
    /// Counts a job that became final (1) or is so no longer (−1).
    pub(super) fn add(&mut self, queue: &str, kind: &str, state: State, change: i64) {
        let Some(slot) = codec::state_code(state).and_then(|code| usize::try_from(code).ok()) else { return };
        // Looked up by borrowed names first: a batch has many jobs of few sorts.
        if let Some(counts) = self.0.get_mut(queue).and_then(|kinds| kinds.get_mut(kind)) {
            counts[slot] += change;
        } else {
            let kinds = self.0.entry(queue.to_owned()).or_default();
            kinds.entry(kind.to_owned()).or_default()[slot] += change;
        }
    }

    /// Writes what has changed and begins anew.
    pub(super) fn write(&mut self, conn: &Connection) -> Result<(), Failure> {
        let mut add = conn.prepare_cached(sql::ADD_COUNT)?;
        let mut take = conn.prepare_cached(sql::TAKE_COUNT)?;
        for (queue, kinds) in self.0.drain() {
            for (kind, counts) in kinds {
                for (code, change) in (0i64..).zip(counts).filter(|(_, change)| *change != 0) {
                    let statement = if change > 0 { &mut add } else { &mut take };
                    statement.execute((&queue, &kind, code, change.abs()))?;
                }
            }
        }
        Ok(())
    }
}
