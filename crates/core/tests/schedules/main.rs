//! Schedules as users meet them: the right instants, once each, whatever clocks and servers do.

mod jumps;
mod oracle;
mod policies;
mod stage;
