//! Events on their way from the leader to whoever listens.

use ganger_core::event::Event;

/// Events in a row, as one step of the leader brings them about. They travel together: an allocation and a
/// handover for each would cost as much as what they tell.
#[derive(Clone, Debug)]
pub struct Run {
    /// The number of the first, from 1. Numbers only grow within one life of the leader.
    pub first: u64,
    /// What happened, numbered without gaps; never empty.
    pub events: Vec<Event>,
}

impl Run {
    /// The number of the event after this run.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }
}
