//! The coordinator: the pure scheduling state machine of the leader.

pub mod counters;
pub mod fleet;
pub mod ready;
pub mod wheel;
