//! When a final job is no longer kept.

use ganger_core::Wall;
use ganger_core::job::State;
use ganger_core::queue::{Keep, Retention};

/// The rule that applies to jobs which ended in this state.
pub(crate) fn rule(retention: Retention, state: State) -> Keep {
    if state == State::Dead { retention.dead } else { retention.finished }
}

/// Jobs that ended at this moment or earlier are over; `None` if none is.
pub(crate) fn cutoff(keep: Keep, now: Wall) -> Option<Wall> {
    match keep {
        Keep::None => Some(Wall(i64::MAX)),
        Keep::For(age) => Some(now - age),
        Keep::Forever => None,
    }
}

/// Whether retention has run out for a job that ended like this.
pub(crate) fn is_over(retention: Retention, state: State, ended_at: Wall, now: Wall) -> bool {
    cutoff(rule(retention, state), now).is_some_and(|cutoff| ended_at <= cutoff)
}
